#pragma once

#include "training_logs/training_log_builder.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Quantity of a column in a table of metrics.
enum class MetricsKind { step, micro, time, clock, memory, batch };

/// Meaning of a head.
struct MetricsName {
    int rank = 0; ///< the lower the surer, of several columns alike
    double scale = 1.0;
    StepFigure figure = StepFigure::seconds;
    bool unit_stated = true;  ///< false: "step_time", which may be in seconds or in milliseconds
    bool either = false;      ///< "time", "elapsed": a clock where it rises, else the time of a step
    bool scope_stated = true; ///< false: "tokens/s", which may be of all accelerators or of one
};
/// Empty where a head does not name it. Runs and groups of metrics in it are passed over: "big - perf/step_time_s".
std::optional<MetricsName> metrics_name(MetricsKind kind, std::string_view head);

/// Whether a group of metrics says nothing about what is timed: "perf", "train".
bool is_metrics_group(std::string_view name);
/// The head of a forward or a backward pass that goes with the head of a step: "fwdtimes" with "step_time_s"; `normalised`.
std::vector<std::string> heads_of_pass(std::string_view step, bool backward);
/// Whether a head is of a forward or a backward pass: "fwd_time".
bool is_of_pass(std::string_view head);
/// Whether a head is of losses or learning rates, which are far below a thousand.
bool is_small(std::string_view head);
/// Whether a head is a metric of an evaluation: "val_loss", "eval/runtime"; "value" and "valid_tokens" are none.
bool is_evaluation(std::string_view head);
/// Whether a head names the part of the data that a row is about: "split", "phase".
bool is_part_of_data(std::string_view head);
/// Whether a cell of such a column is of an evaluation: "val", "test".
bool is_evaluated_part(std::string_view cell);
/// Unit of the values of a TensorBoard file, by its name: "run-1-tag-perf_step_time_ms.csv". Empty where the name has any other
/// word than groups of metrics: "forward-step-time.csv".
std::optional<MetricsName> metrics_tag(std::string_view file);
/// Value of a clock: a number, "1:23:45", or the seconds since 1970 of "2025-03-04T10:00:22.5Z". Empty for all else.
std::optional<PrintedNumber> clock_value(std::string_view cell);

/// Exports of W&B's charts: "run-7 - train/step_time", and columns of extremes behind each.
inline constexpr std::string_view run_mark = " - ";
std::string_view metric_of(std::string_view head);
std::string_view run_of(std::string_view head);
bool is_extreme(std::string_view head);
/// Runs whose times or clocks a table has.
std::vector<std::string> runs_of(std::vector<std::string> const& heads);

} // namespace headroom::io
