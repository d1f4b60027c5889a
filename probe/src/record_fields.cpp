#include "headroom/probe/record_fields.hpp"

namespace headroom::probe {

FieldTable const& field_table_of(SpawnCosts const*);
FieldTable const& field_table_of(CurvePoint const*);

namespace {

constexpr Field cost_rows[] = {
    {"clock_seconds", "Time of reading the steady clock.", member<&SpawnCosts::clock_seconds>},
    {"spawn_seconds", "Time of a spawn with its share of the sync on one worker, not recorded.",
     member<&SpawnCosts::plain_seconds>},
    {"recorded_spawn_seconds", "Time of such a spawn, recorded.", member<&SpawnCosts::recorded_seconds>},
    {"queued_spawn_seconds", "Time of a spawn through the queue of a worker and back to it.",
     member<&SpawnCosts::queued_seconds>},
    {"handover_seconds", "Time from one worker to another that is awake.", member<&SpawnCosts::handover_seconds>},
};
constexpr FieldTable cost_table = field_table<SpawnCosts>("spawn_costs", cost_rows);

template <auto Member> constexpr auto predicted() {
    return [](CurvePoint const& p) { return p.predicted ? finite(*p.predicted.*Member) : std::nullopt; };
}
template <auto Member> constexpr auto timed() {
    return [](CurvePoint const& p) { return p.timing ? finite(*p.timing.*Member) : std::nullopt; };
}
constexpr Field curve_rows[] = {
    {"workers", "Number of workers K.", member<&CurvePoint::workers>},
    {"speedup_at_most", "Bound min(K, W/D) of every schedule; null where no work was measured.",
     predicted<&SpeedupRange::at_most>()},
    {"speedup_at_least", "Bound W / (W/K + (1 - 1/K) D) of greedy schedules without costs.",
     predicted<&SpeedupRange::at_least>()},
    {"speedup_burdened", "Estimate by that formula with the burdened span.", predicted<&SpeedupRange::burdened>()},
    {"measured_speedup", "Least time on one worker over that on K; null where either was not measured.",
     member<&CurvePoint::speedup>},
    {"measured_seconds", "Least time on K workers, not recorded; null where not measured.", timed<&Timing::seconds>()},
    {"measured_median_seconds", "Median time of these runs.", timed<&Timing::median_seconds>()},
    {"repeats", "Number of timed runs on K workers; 0 where only predicted.",
     [](CurvePoint const& p) { return p.timing ? p.timing->repeats : 0; }},
};
constexpr FieldTable curve_table = field_table<CurvePoint>("speedup_point", curve_rows);

template <auto Member> constexpr auto recorded() {
    return [](Study const& s) { return s.record.*Member; };
}
template <auto Member> constexpr auto seconds() {
    return [](Study const& s) { return finite(s.record.*Member); };
}
constexpr Field study_rows[] = {
    {"schema", "Name and version of this format.", [](Study const&) { return "headroom.record/1"; }},
    {"name", "Name of the program.", member<&Study::name>},
    {"problem", "Problem that was solved, in words.", member<&Study::problem>},
    {"clock", "Clock of the strands: steady (wall time) or cpu (time that the thread ran).", member<&Study::clock>},
    {"work_seconds", "Work W: sum of all strands, code without a spawn or a sync in it.",
     seconds<&Record::work_seconds>()},
    {"span_seconds", "Span D: longest chain of strands that wait for each other.", seconds<&Record::span_seconds>()},
    {"burdened_span_seconds", "Longest chain where each edge takes burden_seconds.",
     seconds<&Record::burdened_span_seconds>()},
    {"elapsed_seconds", "Time of the recorded run, with all that recording adds.", seconds<&Record::elapsed_seconds>()},
    {"parallelism", "Parallelism W / D; null where no work was measured.",
     [](Study const& s) { return parallelism(s.record); }},
    {"burdened_parallelism", "Work over burdened span.", [](Study const& s) { return burdened_parallelism(s.record); }},
    {"spawns", "Number of children that were spawned.", recorded<&Record::spawns>()},
    {"syncs", "Number of syncs that had children to wait for.", recorded<&Record::syncs>()},
    {"strands", "Number of strands: 1 + 2 spawns + syncs.", [](Study const& s) { return strands(s.record); }},
    {"average_strand_seconds", "Work over strands.", [](Study const& s) { return average_strand_seconds(s.record); }},
    {"burden_seconds", "Time of an edge of the burdened chain.", recorded<&Record::burden_seconds>()},
    {"clock_seconds", "Time of reading the clock, which is taken off every strand.",
     recorded<&Record::clock_seconds>()},
    {"workers", "Number of workers of the recorded runs.", recorded<&Record::workers>()},
    {"repeats", "Number of recorded runs; each time is the least of them.", recorded<&Record::repeats>()},
    {"running_share",
     "Share of its time in which the thread of the least disturbed run ran; null where that is not known.",
     recorded<&Record::running_share>()},
    {"structure_varies", "Whether the recorded runs differ in their spawns or syncs.",
     recorded<&Record::structure_varies>()},
    {"hardware_threads", "Threads that this machine runs at once; 0 where that is not known.",
     [](Study const&) { return std::thread::hardware_concurrency(); }},
    {"serial_seconds", "Least time of the best serial program for the problem; null without one.",
     member<&Study::serial_seconds>},
    {"costs", "Costs of spawning on this machine.", member<&Study::costs>},
    {"curve", "Predicted and measured speedup, by number of workers.", from<speedup_curve>},
};
constexpr FieldTable study_table = field_table<Study>("record", study_rows);

} // namespace

FieldTable const& field_table_of(SpawnCosts const*) { return cost_table; }
FieldTable const& field_table_of(CurvePoint const*) { return curve_table; }
FieldTable const& field_table_of(Study const*) { return study_table; }

} // namespace headroom::probe
