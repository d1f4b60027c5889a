#pragma once

#include "headroom/training/logged_steps.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Time at which a line was printed, seconds since 1970 in the zone of the log.
struct LineStamp {
    double seconds = 0.0;
    double half_unit = 0.5;
};
/// The date and time near the beginning of a line: "[2026-03-04 10:00:00]", "2026-03-04T10:00:00,123", "03/04/2026 10:00:00".
std::optional<LineStamp> stamp_of(std::string_view line);
/// Whether a line reports a checkpoint that is written.
bool saves_checkpoint(std::string_view line);
/// A stamp at the beginning of a line that begins anew after a day or a year; seconds since 1970 have no period.
struct RepeatedStamp {
    LineStamp stamp;
    double period = 0.0; ///< seconds
};
/// "10:00:43", "[10:00:43.123", "10:00:43 PM", "Mar 04 10:00:43", "I0304 10:00:43.123456", "1741082443.12"; empty without one.
std::optional<RepeatedStamp> stamp_without_year(std::string_view line);

/// Number of kinds of rates that lines print in addition to times.
inline constexpr std::size_t rate_kinds = 4;
/// Rates of a line by their kind; 0: it prints none.
using LineRates = std::array<double, rate_kinds>;

/// A rate with the label that stands before it.
struct RateLabel {
    training::LogRateKind kind;
    std::string_view label;
};
/// The rates that stand behind labels in a line; of several of one kind the first.
LineRates rates_after(std::string_view line, std::initializer_list<RateLabel> labels);

/// A step with what its line states in addition.
struct CheckedStep {
    training::LoggedStep step;
    std::optional<LineStamp> stamp;
    LineRates rates = {};
};

/// Times of a step over the times that the stamps of their lines show, median over windows in which rounding of stamps is at most
/// 5 % (one window of at most 25 % where the log is shorter). Empty where the stamps do not show a time.
std::optional<double> ratio_to_stamps(std::span<CheckedStep const> steps);

/// Work of a step by each rate that lines print: median of rate times seconds (tokens, samples; FLOP of an accelerator).
std::vector<training::LogRate> works_by_rates(std::span<CheckedStep const> steps);

} // namespace headroom::io
