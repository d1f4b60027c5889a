#include "trace/trace_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace headroom::cli {
namespace {

constexpr std::size_t most_issues = 12, most_changes = 12;

Table kernel_table(TraceReport const& report, std::vector<NameTotal> const& kernels) {
    Ticks all = 0;
    for (NameTotal const& one : kernels) { all += one.total; }
    TimeUnit const unit = unit_for(kernels.empty() ? 0.0 : static_cast<double>(kernels.front().total));
    Table table{.title = "Top kernels of all ranks",
                .columns = {wrapped("kernel"), left("kind"), "count", unit.name, "%", "mean"}};
    for (NameTotal const& one : kernels) {
        if (table.rows.size() == report.question.top) { break; }
        auto const total = static_cast<double>(one.total);
        table.rows.push_back({kernel_words(one.name, 34), std::string{name_of(one.kind)}, std::to_string(one.count),
                              in_unit(total, unit), percent(total / static_cast<double>(std::max<Ticks>(1, all))),
                              time_words(total / static_cast<double>(std::max<std::int64_t>(1, one.count)))});
    }
    return table;
}

/// "+12.3", "-4"; of what was nothing before there is no ratio.
std::string change_words(double before, double after) {
    if (before <= 0.0) { return after > 0.0 ? "new" : "0"; }
    double const change = after / before - 1.0;
    return (change > 0.0 ? "+" : change < 0.0 ? "-" : "") + percent(std::abs(change));
}

std::vector<std::string> change_row(TraceChange const& change, TimeUnit unit, std::size_t width) {
    double const more = change.after_ns - change.before_ns;
    return {kernel_words(change.name, width), in_unit(change.before_ns, unit), in_unit(change.after_ns, unit),
            (more > 0.0   ? "+"
             : more < 0.0 ? "-"
                          : "") +
                in_unit(std::abs(more), unit),
            change_words(change.before_ns, change.after_ns)};
}

Table change_table(std::string title, std::vector<TraceChange> const& changes, std::size_t width) {
    double longest = 0.0;
    for (TraceChange const& one : changes) { longest = std::max({longest, one.before_ns, one.after_ns}); }
    TimeUnit const unit = unit_for(longest);
    Table table{.title = std::move(title) + ", " + unit.name,
                .columns = {wrapped(""), "before", "after", "change", "%"}};
    for (TraceChange const& one : changes) {
        if (table.rows.size() == most_changes) { break; }
        table.rows.push_back(change_row(one, unit, width));
    }
    return table;
}

Table issue_table(std::vector<TraceIssue> const& issues) {
    Table table{.title = issues_title, .columns = {wrapped("what"), "count", wrapped("first at")}};
    for (TraceIssue const& one : issues) {
        if (table.rows.size() == most_issues) { break; }
        table.rows.push_back({kernel_words(one.kind, 60), std::to_string(one.count), kernel_words(one.first_at, 120)});
    }
    return table;
}

} // namespace

std::vector<Block> kernel_blocks(TraceReport const& report) {
    std::vector<Block> blocks;
    std::vector<NameTotal> const& kernels = report.kernels;
    if (!kernels.empty() && report.question.top > 0) {
        blocks.emplace_back(kernel_table(report, kernels));
        if (kernels.size() > report.question.top) {
            blocks.emplace_back(Paragraph{std::to_string(kernels.size() - report.question.top) +
                                              " more kernels: a larger --top lists them, in json as well",
                                          "and"});
        }
    }
    std::ranges::move(shaped_blocks(report), std::back_inserter(blocks));
    return blocks;
}

std::string baseline_title(TraceComparison const& comparison) {
    return std::string{"Against the baseline, "} + (comparison.per_step ? "a step" : "the whole file");
}

std::vector<Block> comparison_blocks(TraceReport const& report) {
    std::vector<Block> blocks;
    if (!report.baseline) { return blocks; }
    TraceComparison const& comparison = *report.baseline;
    std::string const each = comparison.per_step ? "a step" : "the whole file";
    blocks.emplace_back(as(Part::answer, change_table(baseline_title(comparison), comparison.parts, 40)));
    if (!comparison.collectives.empty()) {
        blocks.emplace_back(change_table("Collectives that changed most, " + each, comparison.collectives, 40));
    }
    if (!comparison.kernels.empty()) {
        blocks.emplace_back(change_table("Kernels that changed most, " + each, comparison.kernels, 40));
    }
    return blocks;
}

std::vector<Block> issue_blocks(TraceReport const& report) {
    std::vector<Block> blocks;
    TraceAnswer const& answer = report.answer;
    if (!answer.issues.empty()) { blocks.emplace_back(as(Part::warning, issue_table(answer.issues))); }
    for (std::string const& note : answer.notes) { blocks.emplace_back(Paragraph{note, "note", false, Part::warning}); }
    for (std::string const& note : answer.collectives.notes) {
        blocks.emplace_back(Paragraph{note, "collectives", false, Part::warning});
    }
    if (!report.left_out.empty()) {
        blocks.emplace_back(Paragraph{counted(report.left_out.size(), "file") + " in the folders: no traces, first " +
                                          printable(report.left_out.front()),
                                      "left out", false, Part::warning});
    }
    return blocks;
}

} // namespace headroom::cli
