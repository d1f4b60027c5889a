#pragma once

#include "latencies/sample_builder.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom::io {

/// Lines of a report, numbered from 1, without blanks at their ends.
class ReportLines {
public:
    explicit ReportLines(std::string_view text) : text_{text} {}
    bool next(std::string_view& line);
    [[nodiscard]] std::uint64_t number() const { return number_; }

private:
    std::string_view text_;
    std::uint64_t number_ = 0;
};

/// What stands behind a word at the start of a line: "Average:" of "Average:  0.02 secs"; empty where it starts otherwise.
std::optional<std::string_view> behind(std::string_view line, std::string_view word);

/// States a quantile; what is no time is counted as dirt.
void state_quantile(SampleBuilder& samples, double q, std::optional<double> seconds, std::uint64_t line);

/// "50%", "99.9%%", "p(95)", "99th", "50": a share from 0 to 1; "min", "med" and "max", too.
std::optional<double> share_of(std::string_view word);

/// A whole number at the start of a text.
std::optional<std::uint64_t> leading_count(std::string_view text);

} // namespace headroom::io
