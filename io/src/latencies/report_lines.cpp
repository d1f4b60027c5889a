#include "latencies/report_lines.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace headroom::io {

using namespace headroom::serving;

std::optional<std::string_view> behind(std::string_view line, std::string_view word) {
    if (!line.starts_with(word)) { return std::nullopt; }
    return trimmed_line(line.substr(word.size()));
}

bool state_quantile(SampleBuilder& samples, double q, std::optional<double> seconds, std::uint64_t line) {
    if (!seconds || !std::isfinite(*seconds) || *seconds < 0.0) {
        samples.leave_out(seconds && *seconds < 0.0 ? SampleIssue::negative : SampleIssue::text, line);
        return true;
    }
    auto& stated = samples.found().stated;
    auto const at = std::ranges::lower_bound(stated, q, {}, &StatedQuantile::q);
    if (at == stated.end() || at->q != q) {
        stated.insert(at, {q, *seconds});
        return true;
    }
    // Writers round the greatest and the least differently where they state them twice.
    constexpr double rounding = 0.02;
    if (std::abs(at->value - *seconds) <= rounding * std::max(at->value, *seconds)) { return false; }
    unreadable_error(fmt::format("{}:{}", samples.where(), line), "a second report in this file",
                     fmt::format("p{:.6g} is {:.4g} s here, and {:.4g} s before", 100.0 * q, *seconds, at->value),
                     "give each report in a file of its own");
}

std::optional<double> share_of(std::string_view word) {
    word = trimmed_line(word);
    if (word == "min") { return 0.0; }
    if (word == "med" || word == "median") { return 0.5; }
    if (word == "max") { return 1.0; }
    if (word.starts_with("p(") && word.ends_with(')')) { word = word.substr(2, word.size() - 3); }
    if (word.size() > 1 && lowered(word[0]) == 'p' && is_decimal_digit(word[1])) { word.remove_prefix(1); }
    while (word.ends_with('%')) { word.remove_suffix(1); }
    if (word.ends_with("th")) { word.remove_suffix(2); }
    std::string digits{trimmed_line(word)};
    std::ranges::replace(digits, '_', '.');                                                                 // "p99_9"
    if (digits.size() > 2 && digits.find_first_not_of('9') == std::string::npos) { digits.insert(2, "."); } // "p999"
    auto const percent = decimal_number(digits);
    constexpr double hundred = 100.0;
    if (!percent || *percent < 0.0 || *percent > hundred) { return std::nullopt; }
    return *percent / hundred;
}

Statistic statistic_of(std::string_view name) {
    std::string word;
    for (char const c : name) { word += lowered(c); }
    if (word == "minimum" || word == "maximum") { word.resize(3); }
    return {.share = share_of(word),
            .is_mean = is_word_of("mean avg average", word),
            .is_deviation = is_word_of("std stddev stdev std_dev", word)};
}

void count_failed_among(SampleBuilder& samples, std::uint64_t count, std::uint64_t line) {
    if (count == 0) { return; }
    count_issue(samples.found().issues,
                Issue{.kind = "failure among the times of the report", .count = count, .line = line, .kept = true});
}

void count_status(SampleBuilder& samples, std::string_view status, std::uint64_t count, std::uint64_t line) {
    constexpr double first_answer = 100.0, first_failure = 400.0;
    auto const code = decimal_number(status);
    bool const answered = code ? *code >= first_answer && *code < first_failure : status == "OK" || status == "SERVING";
    if (!answered) { count_failed_among(samples, count, line); }
}

std::optional<std::uint64_t> leading_count(std::string_view text) {
    std::uint64_t count = 0;
    text = trimmed_line(text);
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || stop == text.data()) { return std::nullopt; }
    return count;
}

} // namespace headroom::io
