#include "headroom/issue.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

constexpr Field rows[] = {
    {"kind", "Fault of the input, or the content that was not used.", member<&Issue::kind>},
    {"count", "How often it occurs.", member<&Issue::count>},
    {"first_at", "Place of the first one; null where it has none.",
     [](Issue const& issue) -> std::optional<std::string> {
         std::string place = place_of(issue);
         return place.empty() ? std::nullopt : std::optional{std::move(place)};
     }},
    {"file", "The file; null where the place names it.", [](Issue const& issue) { return if_known(issue.file); }},
    {"first_line", "Line of the first one; null where it has none.",
     [](Issue const& issue) { return issue.line > 0 ? std::optional{issue.line} : std::nullopt; }},
    {"column", "Column of the first one; null where it has none.",
     [](Issue const& issue) { return if_known(issue.column); }},
    {"example", "Text of the first one, shortened; null where it was not kept.",
     [](Issue const& issue) { return if_known(issue.text); }},
    {"kept", "Whether the value counts all the same; else it was left out.", member<&Issue::kept>},
};
constexpr FieldTable issue_table = field_table<Issue>("issue", rows);

bool is_alike(Issue const& one, Issue const& other) { return one.kind == other.kind && one.file == other.file; }

} // namespace

FieldTable const& field_table_of(Issue const*) { return issue_table; }

std::string place_of(Issue const& issue) {
    if (!issue.first_at.empty()) { return issue.first_at; }
    std::string place = issue.file;
    if (issue.line > 0) { place += (place.empty() ? "line " : ":") + std::to_string(issue.line); }
    if (!issue.column.empty()) { place += (place.empty() ? "" : ": ") + quoted(issue.column); }
    return place;
}

std::string words_of(Issue const& issue) {
    std::string words = std::to_string(issue.count) + (issue.kept ? ": " : " left out: ") + issue.kind;
    std::string where;
    if (!issue.first_at.empty() || !issue.file.empty()) {
        where = place_of(issue);
    } else if (issue.line > 0) {
        where = (issue.count > 1 ? "first in line " : "line ") + std::to_string(issue.line);
    }
    if (!issue.column.empty() && issue.file.empty()) {
        where += (where.empty() ? "" : ", ") + ("column " + quoted(issue.column));
    }
    if (!issue.text.empty()) { where += (where.empty() ? "" : ": ") + quoted(issue.text); }
    return where.empty() ? words : words + " (" + where + ")";
}

std::uint64_t count_of(std::vector<Issue> const& issues) {
    std::uint64_t count = 0;
    for (Issue const& one : issues) { count += one.count; }
    return count;
}

std::uint64_t lines_of(std::vector<Issue> const& issues) {
    std::uint64_t count = 0;
    for (Issue const& one : issues) { count += one.line > 0 ? one.count : 0; }
    return count;
}

void count_issue(std::vector<Issue>& issues, Issue issue) {
    auto const known = std::ranges::find_if(issues, [&](Issue const& one) { return is_alike(one, issue); });
    if (known == issues.end()) {
        issues.push_back(std::move(issue));
    } else {
        known->count += issue.count;
    }
}

void count_issue(std::vector<Issue>& issues, std::string_view kind, std::string first_at, std::uint64_t count) {
    count_issue(issues, Issue{.kind = std::string{kind}, .count = count, .first_at = std::move(first_at)});
}

void add_issues(std::vector<Issue>& all, std::vector<Issue> const& of_file, std::string_view file) {
    for (Issue one : of_file) {
        if (one.file.empty() && one.first_at.empty()) { one.file = file; }
        count_issue(all, std::move(one));
    }
}

std::string shortened(std::string_view text) {
    std::string const between = quoted(text);
    return between.substr(1, between.size() - 2);
}

} // namespace headroom
