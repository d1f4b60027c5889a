#include "trace/seconds.hpp"

#include "headroom/trace/trace_answer.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace headroom::trace {
namespace {

constexpr std::size_t most_listed_pieces = 10'000;

using NamedTimes = std::vector<std::pair<std::string, double>>;

constexpr Field path_piece_rows[] = {
    {"rank", "Rank on which the tasks ran.", member<&PathPiece::rank>},
    {"name", "Name with most of the time.", member<&PathPiece::name>},
    {"lane", "Stream or thread.", member<&PathPiece::lane>},
    {"kind", "Type of task.", member<&PathPiece::kind>},
    {"after", "Dependency that the first task waited for.", member<&PathPiece::why>},
    {"begin_seconds", "Begin, from the begin of the step.", seconds<&PathPiece::begin>},
    {"seconds", "Time of the tasks.", seconds<&PathPiece::duration>},
    {"delay_seconds", "Delays before and between the tasks.", seconds<&PathPiece::delay>},
    {"tasks", "Number of tasks.", member<&PathPiece::tasks>},
};
constexpr FieldTable path_piece_table = field_table<PathPiece>("path_segment", path_piece_rows);

constexpr Field path_name_rows[] = {
    {"name", "Name of the tasks.", member<&PathName::name>},
    {"kind", "Type of task.", member<&PathName::kind>},
    {"count", "Calls of this name on the path.", member<&PathName::count>},
    {"seconds", "Their time on the path.", seconds<&PathName::duration>},
};
constexpr FieldTable path_name_table = field_table<PathName>("path_name", path_name_rows);

constexpr Field step_change_rows[] = {
    {"what", "Change of the step.", [](StepIf const& one) { return words_of(one); }},
    {"step_seconds", "Length of the critical path with it.", seconds<&StepIf::step>},
    {"speedup", "Length of the critical path without the change over its length with it.", member<&StepIf::speedup>},
};
constexpr FieldTable step_change_table = field_table<StepIf>("step_change", step_change_rows);

constexpr Field advice_rows[] = {
    {"rule", "Cause.", member<&Advice::rule>},
    {"subject", "Call, collective, kernel or ranks that have most of it.", member<&Advice::subject>},
    {"path_seconds", "Time of the cause on the critical path; 0 for waits.", seconds<&Advice::on_path>},
    {"step_seconds", "Length of the critical path without it; of launches, a kernel and operators with half of it.",
     seconds<&Advice::step>},
    {"speedup", "Length of the critical path over its length without the cause.", member<&Advice::speedup>},
    {"remedy", "Remedy, in words.", [](Advice const& one) { return remedy_words(one); }},
};
constexpr FieldTable advice_table = field_table<Advice>("advice", advice_rows);

NamedTimes times_by_kind(PathAnswer const& path) {
    NamedTimes times;
    for (SpanKind const kind : span_kinds) {
        times.emplace_back(name_of(kind), seconds_from(path.by_kind[static_cast<std::size_t>(kind)]));
    }
    times.emplace_back("delay", seconds_from(path.delays));
    return times;
}

NamedTimes delays_by_edge(PathAnswer const& path) {
    NamedTimes times;
    for (TraceEdge const edge : trace_edges) {
        times.emplace_back(name_of(edge), seconds_from(path.delays_by[static_cast<std::size_t>(edge)]));
    }
    return times;
}

constexpr Field critical_path_rows[] = {
    {"work_seconds", "Time of all tasks together.", seconds<&PathAnswer::work>},
    {"depth_seconds", "Length of the longest chain of tasks and delays.", seconds<&PathAnswer::depth>},
    {"parallelism", "Work over depth.", member<&PathAnswer::parallelism>},
    {"step_seconds", "Measured time of the step, on all ranks.", seconds<&PathAnswer::measured>},
    {"tasks", "Tasks of the step.", member<&PathAnswer::tasks>},
    {"edges", "Dependencies between tasks.", member<&PathAnswer::edges>},
    {"by_kind", "Time on the path by type of task, delays included; the sum is the depth.", from<times_by_kind>,
     Unit{"s"}},
    {"delays", "Delays on the path by the dependency that was waited for.", from<delays_by_edge>, Unit{"s"}},
    {"by_name", "Time on the path by name, longest first.", member<&PathAnswer::names>},
    {"what_if", "Changes of the step and their speedups, measured on the same graph.", member<&PathAnswer::what_if>},
    {"advice", "Causes of the step's length, largest gain first.", member<&PathAnswer::advice>},
    {"piece_count", "Number of segments of the path.", [](PathAnswer const& path) { return path.pieces.size(); }},
    {"pieces", "Tasks of one lane that follow each other on the path; the first 10,000.",
     [](PathAnswer const& path) {
         return std::span{path.pieces}.first(std::min(path.pieces.size(), most_listed_pieces));
     }},
    {"notes", "Assumptions of the path, in words.", member<&PathAnswer::notes>},
};
constexpr FieldTable critical_path_table = field_table<PathAnswer>("critical_path", critical_path_rows);

constexpr Field trace_change_rows[] = {
    {"name", "Part of the time, or kernel.", member<&TraceChange::name>},
    {"count_before", "Steps or files of the baseline; runs of a kernel.", member<&TraceChange::count_before>},
    {"count_after", "Steps or files now; runs of a kernel.", member<&TraceChange::count_after>},
    {"before_seconds", "Mean time of the baseline.", seconds<&TraceChange::before_ns>},
    {"after_seconds", "Mean time now.", seconds<&TraceChange::after_ns>},
};
constexpr FieldTable trace_change_table = field_table<TraceChange>("trace_change", trace_change_rows);

constexpr Field trace_comparison_rows[] = {
    {"per_step", "Whether times are means of a step; else of the whole file.", member<&TraceComparison::per_step>},
    {"matched_steps", "Numbers of steps that both have, which alone are compared; 0 where all steps are.",
     member<&TraceComparison::matched_steps>},
    {"ranks_before", "Ranks of the baseline.", member<&TraceComparison::ranks_before>},
    {"ranks_after", "Ranks now.", member<&TraceComparison::ranks_after>},
    {"speedup", "Time of the baseline over time now; null where the numbers of ranks differ.",
     member<&TraceComparison::speedup>},
    {"parts", "Change of the whole time and of its parts.", member<&TraceComparison::parts>},
    {"idle", "Change of idle time by its reason; empty without times of day.", member<&TraceComparison::idle>},
    {"collectives", "Change of each collective, time of a rank; largest first.", member<&TraceComparison::collectives>},
    {"kernels", "Change of each kernel, largest first.", member<&TraceComparison::kernels>},
};
constexpr FieldTable trace_comparison_table = field_table<TraceComparison>("trace_comparison", trace_comparison_rows);

} // namespace

FieldTable const& field_table_of(PathPiece const*) { return path_piece_table; }
FieldTable const& field_table_of(PathName const*) { return path_name_table; }
FieldTable const& field_table_of(StepIf const*) { return step_change_table; }
FieldTable const& field_table_of(Advice const*) { return advice_table; }
FieldTable const& field_table_of(PathAnswer const*) { return critical_path_table; }
FieldTable const& field_table_of(TraceChange const*) { return trace_change_table; }
FieldTable const& field_table_of(TraceComparison const*) { return trace_comparison_table; }

} // namespace headroom::trace
