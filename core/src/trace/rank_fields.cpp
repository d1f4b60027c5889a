#include "trace/seconds.hpp"

#include "headroom/trace/trace_report.hpp"

#include <vector>

namespace headroom::trace {

FieldTable const& field_table_of(IdleShares const*);

namespace {

constexpr Field idle_rows[] = {
    {"host_bound_seconds", "Idle because the host launched too late.", seconds<&IdleShares::host_bound>},
    {"waiting_seconds", "Idle because the next work waited for a stream, an event, a copy or a rank.",
     seconds<&IdleShares::waiting>},
    {"other_seconds", "Idle for reasons that the trace does not show.", seconds<&IdleShares::other>},
};
constexpr FieldTable idle_table = field_table<IdleShares>("idle_reasons", idle_rows);

/// Times of a window of a rank.
struct WindowTimes {
    DeviceTimes const* times;
    IdleShares const* idle;
    bool known; ///< whether times of day are
};

template <auto Member> constexpr auto window_seconds() {
    return [](WindowTimes const& window) { return seconds_from(window.times->*Member); };
}
template <auto Member> constexpr auto window_seconds_if_known() {
    return [](WindowTimes const& window) { return seconds_when(window.known, window.times->*Member); };
}

constexpr Field window_rows[] = {
    {"wall_seconds", "Length of the window; null without times of day, as are the other nulls.",
     window_seconds_if_known<&DeviceTimes::window>()},
    {"compute_seconds", "Time in which a stream computes.", window_seconds<&DeviceTimes::compute>()},
    {"communication_seconds", "Time in which a stream communicates.", window_seconds<&DeviceTimes::communication>()},
    {"exposed_communication_seconds", "Communication that no computation hides.",
     window_seconds_if_known<&DeviceTimes::exposed>()},
    {"overlapped_communication_seconds", "Communication that overlaps with computation.",
     window_seconds_if_known<&DeviceTimes::overlap>()},
    {"memory_seconds", "Time of copies and fills alone.", window_seconds_if_known<&DeviceTimes::memory_only>()},
    {"idle_seconds", "Time in which the device does nothing.", window_seconds_if_known<&DeviceTimes::idle>()},
    {"busy_seconds", "Time in which the device does anything.", window_seconds_if_known<&DeviceTimes::busy>()},
    {"copies_seconds", "Time of copies and fills, also where they overlap.", window_seconds<&DeviceTimes::memory>()},
    {"idle", "Idle time by reason.", [](WindowTimes const& window) { return window.known ? window.idle : nullptr; }},
};
constexpr FieldTable window_table = field_table<WindowTimes>("window_times", window_rows);
FieldTable const& field_table_of(WindowTimes const*) { return window_table; }

struct RankStep {
    StepShares const* step;
    bool known;
};

constexpr Field rank_step_rows[] = {
    {"step", "Number of the step.", [](RankStep const& s) { return s.step->step.number; }},
    {"begin_seconds", "Begin on the rank's clock, from its first event.",
     [](RankStep const& s) { return seconds_from(s.step->step.begin); }},
    {"detected", "Whether repetition shows the step, without an annotation.",
     [](RankStep const& s) { return s.step->detected; }},
    {"*", "Its times.",
     [](RankStep const& s) {
         return WindowTimes{&s.step->shares, &s.step->idle, s.known};
     }},
};
constexpr FieldTable rank_step_table = field_table<RankStep>("rank_step", rank_step_rows);
FieldTable const& field_table_of(RankStep const*) { return rank_step_table; }

std::vector<RankStep> steps_of_rank(RankDigest const& rank) {
    std::vector<RankStep> steps;
    for (StepShares const& step : rank.breakdown.steps) { steps.push_back({&step, knows_when(rank)}); }
    return steps;
}

/// Numbers of intervals, as `DeviceTimes::count` has them.
struct IntervalCounts {
    DeviceTimes const* times;
};
constexpr Field interval_rows[] = {
    {"compute", "Kernels that compute.", [](IntervalCounts const& c) { return c.times->count[0]; }},
    {"communication", "Kernels that communicate.", [](IntervalCounts const& c) { return c.times->count[1]; }},
    {"memory", "Copies and fills.", [](IntervalCounts const& c) { return c.times->count[2]; }},
};
constexpr FieldTable interval_table = field_table<IntervalCounts>("interval_counts", interval_rows);
FieldTable const& field_table_of(IntervalCounts const*) { return interval_table; }

WindowTimes whole_of(RankDigest const& rank) { return {&rank.breakdown.whole, &rank.breakdown.idle, knows_when(rank)}; }

constexpr Field rank_rows[] = {
    {"rank", "Number of the rank.", member<&RankDigest::rank>},
    {"steps", "Number of its steps.", [](RankDigest const& r) { return r.breakdown.steps.size(); }},
    {"*", "Times of the whole file.", from<whole_of>},
    {"steps_detail", "Steps, each within its window on the host.", from<steps_of_rank>},
    {"on_host", "Whether threads of the host stand for a device.",
     [](RankDigest const& r) { return r.breakdown.on_host; }},
    {"intervals", "Intervals by type.", [](RankDigest const& r) { return IntervalCounts{&r.breakdown.whole}; }},
    {"without_launch", "Device intervals whose launch is not in the file.",
     [](RankDigest const& r) { return r.breakdown.without_launch; }},
    {"without_work", "Launches of kernels whose device work is not in the file.",
     [](RankDigest const& r) { return r.breakdown.without_work; }},
    {"source", "File.", member<&RankDigest::source>},
    {"format", "Format of the file.", member<&RankDigest::format>},
    {"rank_from", "Source of the rank's number; null where the file has none.",
     [](RankDigest const& r) { return if_known(r.rank_from); }},
    {"host_name", "Name of the host; null where it is not stated.",
     [](RankDigest const& r) { return if_known(r.host_name); }},
    {"device", "Name of the device; null where it is not stated.",
     [](RankDigest const& r) { return if_known(r.device.name); }},
    {"events", "Events in the file.", member<&RankDigest::events>},
    {"bytes_read", "Size of the file.", member<&RankDigest::bytes_read>, Unit{"B"}},
};
constexpr FieldTable rank_table = field_table<RankDigest>("traced_rank", rank_rows);

constexpr Field times_row_rows[] = {
    {"rank", "Number of the rank.", [](TraceTimesRow const& row) { return row.rank->rank; }},
    {"step", "Number of the step; null for the whole file.",
     [](TraceTimesRow const& row) {
         return row.step == nullptr ? std::nullopt : std::optional{row.step->step.number};
     }},
    {"*", "Times of the step or of the whole file.",
     [](TraceTimesRow const& row) {
         return row.step == nullptr ? whole_of(*row.rank)
                                    : WindowTimes{&row.step->shares, &row.step->idle, knows_when(*row.rank)};
     }},
    {"source", "File.", [](TraceTimesRow const& row) -> std::string const& { return row.rank->source; }},
};
constexpr FieldTable times_row_table = field_table<TraceTimesRow>("trace_times", times_row_rows);

} // namespace

FieldTable const& field_table_of(IdleShares const*) { return idle_table; }
FieldTable const& field_table_of(RankDigest const*) { return rank_table; }
FieldTable const& field_table_of(TraceTimesRow const*) { return times_row_table; }

} // namespace headroom::trace
