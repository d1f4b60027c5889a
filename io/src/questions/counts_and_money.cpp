#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>
#include <cstdint>

namespace headroom::io {
namespace {

constexpr std::size_t most_counts = 4096;
constexpr char const* count_forms = "write counts like 8, 8,16,64, 8..1024 (doubling) or 8..64:8 (steps of 8)";

std::vector<int> parse_range(std::string_view text, std::string_view where) {
    auto const dots = text.find("..");
    auto const colon = text.find(':', dots);
    int const first = parse_whole(text.substr(0, dots), where);
    int const last =
        parse_whole(text.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2), where);
    if (last < first) {
        refuse(where, headroom::quoted(text) + " runs backwards", "", "write the smaller count first");
    }
    int const step = colon == std::string_view::npos ? 0 : parse_whole(text.substr(colon + 1), where);
    std::vector<int> counts;
    for (std::int64_t count = first; count <= last; count = step > 0 ? count + step : count * 2) {
        if (counts.size() >= most_counts) {
            refuse(where, headroom::quoted(text) + " names more than 4096 counts", "", "use a larger step");
        }
        counts.push_back(static_cast<int>(count));
    }
    return counts;
}

/// "8..64" of "8-64", "8:64" and "8 to 64", ranges in other spellings; empty for other texts.
std::string range_meant(std::string_view text) {
    auto const digits = [](std::string_view part) { return part.substr(0, part.find_first_not_of("0123456789kK")); };
    std::string_view const first = digits(text);
    for (std::string_view const between : {"-", ":", "to", "\u2013", "...", "~"}) {
        std::string const rest = words::trimmed(text.substr(first.size()));
        if (!rest.starts_with(between)) { continue; }
        std::string const last = words::trimmed(std::string_view{rest}.substr(between.size()));
        if (first.empty() || last.empty() || digits(last) != last) { continue; }
        return std::string{first} + ".." + last;
    }
    return {};
}

/// A bare number with the unit that the option's name gives it: "1M" of dollars is "1 M$", "2.95/hr" of a price "2.95 $/h".
std::string with_unit(std::string_view text, std::string_view unit) {
    std::string given = spelled_short(text);
    for (std::string_view const word : {"dollars", "dollar", "USD", "usd"}) {
        auto const at = given.find(word);
        if (at == std::string::npos) { continue; }
        given = words::trimmed(given.substr(0, at)) + words::trimmed(given.substr(at + word.size()));
        given = spelled_short(given);
        break;
    }
    if (given.starts_with('$')) { given = words::trimmed(given.substr(1)); }
    for (std::string_view const word : {"/hour", "/hr"}) {
        if (unit.ends_with("/h") && given.ends_with(word)) {
            given.replace(given.size() - word.size(), word.size(), "/h");
        }
    }
    if (unit.ends_with("/h") && given.ends_with("/h") && given.find('$') == std::string::npos) {
        given.resize(given.size() - 2);
    }
    auto const end = given.find_first_not_of("0123456789.eE+-");
    if (given.empty() || end == 0) { return std::string{text}; }
    if (end == std::string::npos) { return given + " " + std::string{unit}; }
    bool const scaled =
        end + 1 == given.size() && std::string_view{"kKMB"}.find(given.back()) != std::string_view::npos;
    if (!scaled) { return given.find('$') == std::string::npos ? std::string{text} : given; }
    char const letter = given.back();
    std::string const number = given.substr(0, end);
    if (letter == 'B') { return number + "e9 " + std::string{unit}; }
    return number + " " + (letter == 'M' ? "M" : "k") + std::string{unit};
}

} // namespace

std::vector<int> parse_counts(std::string_view text, std::string_view where) {
    std::vector<int> counts;
    for (std::string const& part : words::split(text, ',')) {
        if (std::string const meant = range_meant(part); !meant.empty()) {
            refuse(where, "cannot read " + headroom::quoted(part), "it is no count",
                   "did you mean '" + meant + "' (doubling) or '" + meant + ":8' (steps of 8)?");
        }
        bool const open = part.starts_with("..") || part.ends_with("..") || part.ends_with(':');
        bool const is_range = part.find("..") != std::string::npos;
        if (part.empty() || open || (!is_range && part.find(':') != std::string::npos)) {
            refuse(where, "cannot read " + headroom::quoted(text), "a count is missing", count_forms);
        }
        bool const grouped = part.size() > 1 && part[0] == '0' && part.find_first_not_of("0123456789") == part.npos;
        if (grouped && text.find(',') != text.npos) { // "1,024"
            std::string one{text};
            std::erase(one, ',');
            refuse(where, headroom::quoted(text) + " names two counts", headroom::quoted(part) + " begins with a zero",
                   "for one count write " + one);
        }
        if (!is_range) {
            counts.push_back(parse_whole(part, where));
        } else {
            std::vector<int> const range = parse_range(part, where);
            counts.insert(counts.end(), range.begin(), range.end());
        }
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    if (counts.size() > most_counts) {
        refuse(where, std::to_string(counts.size()) + " counts", "at most 4096 are planned at once",
               "use a larger step");
    }
    return counts;
}

Dollars parse_dollars(std::string_view text, std::string_view where) {
    return parse<Dollars>(with_unit(text, "$"), where);
}

DollarsPerSecond parse_price(std::string_view text, std::string_view where) {
    return parse<DollarsPerSecond>(with_unit(text, "$/h"), where);
}

} // namespace headroom::io
