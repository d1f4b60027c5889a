#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/trace/trace_answer.hpp"
#include "headroom/trace/trace_report.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// Quantities of --require, without values where `report` is null.
std::vector<Metric> metrics_of(trace::TraceReport const* report);

/// Quantities of --require with the values of a baseline.
std::vector<Metric> metrics_beside(trace::TraceReport const& report, trace::TraceReport const& baseline);

/// Sentences that say what changed from the baseline, and why; empty without one.
std::vector<std::string> change_sentences(trace::TraceReport const& report);

/// Titles of the tables that sentences of the verdict rest on.
inline constexpr char const* what_if_title = "What if";
inline constexpr char const* path_kinds_title = "The critical path by kind";
inline constexpr char const* rank_bars_title = "Where each rank's time goes";
inline constexpr char const* arrivals_title = "Who arrives last";
inline constexpr char const* sharing_title = "If computation alone were shared out further";
inline constexpr char const* issues_title = "Issues of the input";
std::string baseline_title(trace::TraceComparison const& comparison);

/// Sentences of the verdict, with the tables that they rest on.
std::vector<Sentence> verdict_sentences(trace::TraceReport const& report);
std::vector<std::string> verdict_words(trace::TraceReport const& report);

Document document_of(trace::TraceReport const& report, std::string footer);
/// Document of --html: its drawings have more lanes than a terminal has room for.
Document page_of(trace::TraceReport const& report, std::string footer);

// ---- blocks of the document ------------------------------------------------------------------------------------------

std::vector<Block> rank_blocks(trace::TraceAnswer const& answer);
std::vector<Block> scaling_blocks(trace::TraceAnswer const& answer);
std::vector<Block> collective_blocks(trace::TraceAnswer const& answer);
std::vector<Block> path_blocks(trace::TraceAnswer const& answer);
std::vector<Block> kernel_blocks(trace::TraceReport const& report);
/// Rates and intensity of kernels, and how near they are to the roofline of --machine.
std::vector<Block> shaped_blocks(trace::TraceReport const& report);
std::vector<Block> comparison_blocks(trace::TraceReport const& report);
std::vector<Block> issue_blocks(trace::TraceReport const& report);

/// Lanes of the step below its critical path; nothing without a step. Of many ranks at most `most_lanes` lanes, evenly
/// spread.
std::optional<Gantt> step_drawing(trace::TraceAnswer const& answer, std::size_t most_lanes);
/// Every task of the step on the threads and streams of all ranks, and its critical path; nothing without a step. Of more
/// than `most_tasks` the longest.
std::optional<SpanTimeline> step_timeline(trace::TraceAnswer const& answer, std::size_t most_tasks);
/// The step as a Chrome trace: lanes of every rank, the critical path as a process of its own, arrows along it.
std::string analysis_trace(trace::TraceAnswer const& answer);

/// "12.3 ms", "0 s"
std::string time_words(double ns);

/// A unit of time that a whole table has.
struct TimeUnit {
    char const* name; ///< "ms"
    double ns;        ///< of one
};
/// The unit in which the longest of a table's times is at least one.
TimeUnit unit_for(double longest_ns);
/// A time in a table's unit, without the unit.
std::string in_unit(double ns, TimeUnit unit);

/// "0", "0 and 6", "0, 3 and 6", and of many the first few: "0, 1, 2 and 61 more".
std::string list_words(std::vector<std::int64_t> const& numbers);
/// "rank 3", "ranks 0 and 6"
std::string rank_words(std::vector<std::int64_t> const& ranks);

/// A name of a kernel that fits: control characters replaced, its middle left out where it is longer.
std::string kernel_words(std::string const& name, std::size_t width);

/// Name of a trace's kind in tables and drawings.
std::string_view kind_words(trace::SpanKind kind);

} // namespace headroom::cli
