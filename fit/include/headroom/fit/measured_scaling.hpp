#pragma once

#include "headroom/fields.hpp"
#include "headroom/fit/scaling_answer.hpp"
#include "headroom/measure/measured_scaling.hpp"
#include "headroom/sample_statistics.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::fit {

/// Runs at one worker count.
struct MeasuredScalingRow {
    int workers = 1;
    std::string command = {}; ///< as it was run
    std::optional<std::string> size = {};
    std::size_t planned = 0, taken = 0; ///< runs, warm-ups apart
    std::size_t warm_ups = 0, failed = 0, timed_out = 0, unreadable = 0;
    std::string first_message = {};                            ///< of the first of those three
    std::vector<double> values = {};                           ///< in the order in which they were taken
    std::optional<SampleSummary> summary = {};                 ///< of them
    std::optional<double> speedup = {}, efficiency = {};       ///< over the smallest count that has a value
    std::optional<double> speedup_low = {}, speedup_high = {}; ///< 95 %; where both have four values or more
};
FieldTable const& field_table_of(MeasuredScalingRow const*);

/// Something that makes the numbers less than they look.
struct ScalingWarning {
    std::string kind, text;
};
FieldTable const& field_table_of(ScalingWarning const*);

/// Answer of `headroom measure scaling`: a campaign and the laws fitted to it.
struct MeasuredScaling {
    measure::ScalingQuestion question;
    measure::Campaign campaign = {};
    std::string store = {}; ///< where it is kept; empty: nowhere
    std::size_t resumed = 0;
    measure::RunsNoticed noticed = {};
    std::vector<MeasuredScalingRow> rows = {};
    std::vector<ScalingWarning> warnings = {};
    std::optional<FitAnswer> fit = {}; ///< empty: too few counts have a value
    std::string why_no_fit = {};

    [[nodiscard]] bool complete() const { return !noticed.interrupted; }
    [[nodiscard]] std::size_t failures() const;
    [[nodiscard]] std::size_t values() const;
    /// Message of the first run that failed, whatever its count.
    [[nodiscard]] std::string first_message() const;
};
FieldTable const& field_table_of(MeasuredScaling const*);

/// Data without samples, by which options of a fit are checked before anything is run.
ScalingData data_of(measure::ScalingQuestion const& question);
/// Fills the rows, the warnings and the fit; `cores` of this machine, `others` where another campaign is being measured.
void work_out(MeasuredScaling& answer, FitQuestion const& question, int cores, bool others);
/// Warnings about the runs and their values.
std::vector<ScalingWarning> warnings_of(MeasuredScaling const& answer, int cores, bool others);
/// Every so many of many values, in their order: for what looks at each pair of them.
std::vector<double> thinned(std::vector<double> const& values);
/// Last Karp-Flatt point of the fit; null without one.
KarpFlattPoint const* last_serial_fraction(MeasuredScaling const& answer);
/// Worker count from which on more are not worth it, in a sentence; empty where the values are not of steps.
std::optional<std::string> stop_words(MeasuredScaling const& answer);

} // namespace headroom::fit
