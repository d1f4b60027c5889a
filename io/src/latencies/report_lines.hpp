#pragma once

#include "latencies/sample_builder.hpp"
#include "tables/cell_text.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom::io {

/// Text behind a word at the start of a line: "Average:" of "Average:  0.02 secs"; empty where it starts otherwise.
std::optional<std::string_view> behind(std::string_view line, std::string_view word);

/// States a quantile; what is no time is counted. False where it was stated before.
/// Errors: InputError{unreadable} where it was stated before with another value.
bool state_quantile(SampleBuilder& samples, double q, std::optional<double> seconds, std::uint64_t line);

/// "50%", "99.9%%", "p(95)", "p99", "p99_9", "99th", "50": a share from 0 to 1; "min", "med" and "max", too. "p999" is 0.999.
std::optional<double> share_of(std::string_view word);

/// A statistic by its name, whatever its case: a share of the requests ("p99", "Median", "MAXIMUM"), or their mean or standard
/// deviation.
struct Statistic {
    std::optional<double> share = {};
    bool is_mean = false, is_deviation = false;
    [[nodiscard]] bool is_known() const { return share || is_mean || is_deviation; }
};
Statistic statistic_of(std::string_view name);

/// Counts requests that failed and whose times are among those of the report.
void count_failed_among(SampleBuilder& samples, std::uint64_t count, std::uint64_t line = 0);

/// Counts responses of one status, "503" or "Unavailable": those below 100 and from 400 on failed, and of words all but
/// "OK" and "SERVING".
void count_status(SampleBuilder& samples, std::string_view status, std::uint64_t count, std::uint64_t line = 0);

/// A whole number at the start of a text.
std::optional<std::uint64_t> leading_count(std::string_view text);

} // namespace headroom::io
