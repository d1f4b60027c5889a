#include "trace/busy_intervals.hpp"
#include "trace/idle_gaps.hpp"
#include "trace/repetition.hpp"
#include "trace/wide_time.hpp"
#include "trace/window_times.hpp"
#include "trace/with_launches.hpp"

#include "headroom/trace/trace_breakdown.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace headroom::trace {
namespace {

/// How often what an interval stands for ran.
std::int64_t runs_of(RankTrace const& trace, std::uint32_t span) {
    return span < trace.calls.size() ? std::max<std::int64_t>(trace.calls[span], 1) : 1;
}

/// Sums by name and kind, in the order in which they come.
std::vector<NameTotal> totals_in_order(RankTrace const& trace, BusyIntervals const& busy) {
    auto const& names = trace.timeline.names;
    std::vector<std::array<std::uint32_t, 3>> place(names.size()); // in `totals`, and one more; 0: not yet there
    std::vector<NameTotal> totals;
    for (auto const& interval : busy.intervals) {
        auto const name = trace.timeline.name[interval.span];
        auto& known = place[name][static_cast<std::size_t>(interval.kind)];
        auto const duration = interval.end - interval.begin;
        if (known == 0) {
            totals.push_back({names[name], interval.kind, 0, 0, duration, duration});
            known = static_cast<std::uint32_t>(totals.size());
        }
        auto& total = totals[known - 1];
        total.shortest = std::min(total.shortest, duration);
        total.longest = std::max(total.longest, duration);
        total.total = wide_sum(total.total, duration);
        total.count = wide_sum(total.count, runs_of(trace, interval.span));
    }
    return totals;
}

std::vector<NameTotal> totals_by_name(RankTrace const& trace, BusyIntervals const& busy) {
    auto totals = totals_in_order(trace, busy);
    std::sort(totals.begin(), totals.end(), [](auto const& a, auto const& b) {
        if (a.total != b.total) { return a.total > b.total; }
        return a.name != b.name ? a.name < b.name : a.kind < b.kind;
    });
    return totals;
}

std::array<std::int64_t, 3> counts_by_kind(std::vector<NameTotal> const& names) {
    std::array<std::int64_t, 3> counts{};
    for (auto const& name : names) {
        auto& count = counts[static_cast<std::size_t>(name.kind)];
        count = wide_sum(count, name.count);
    }
    return counts;
}

std::int64_t count_without_launch(RankTrace const& trace, BusyIntervals const& busy, Launches const& launches) {
    Launches::Walk launch_of(launches);
    return std::count_if(busy.intervals.begin(), busy.intervals.end(),
                         [&](auto const& interval) { return launch_of[trace.correlation[interval.span]] == none; });
}

bool has_times_of_day(RankTrace const& trace) { return !trace.only_sums && !trace.no_times; }

/// From the first moment that anybody asks for to the last.
TraceWindow extent_of(DeviceTimes const& whole, std::vector<TraceWindow> const& windows) {
    TraceWindow extent{whole.begin, whole.end};
    for (auto const& window : windows) {
        extent.begin = std::min(extent.begin, window.begin);
        extent.end = std::max(extent.end, window.end);
    }
    return extent;
}

std::vector<TraceWindow> windows_of(std::vector<TraceStep> const& steps) {
    std::vector<TraceWindow> windows;
    windows.reserve(steps.size());
    for (auto const& step : steps) { windows.push_back({step.begin, step.end}); }
    return windows;
}

} // namespace

DeviceTimes device_times(RankTrace const& trace) { return times_of_all(busy_intervals(trace).intervals); }

DeviceTimes device_times(RankTrace const& trace, Ticks begin, Ticks end) {
    TraceWindow const window{begin, end};
    return times_in(busy_intervals(trace).intervals, {&window, 1}).front();
}

RankBreakdown breakdown_of(RankTrace const& trace, std::string_view step_name) {
    auto draft = draft_breakdown(trace, step_name);
    finish_breakdown(trace, Launches{trace}, draft);
    return std::move(draft.breakdown);
}

BreakdownDraft draft_breakdown(RankTrace const& trace, std::string_view step_name) {
    BreakdownDraft draft{.busy = busy_intervals(trace), .windows = {}, .breakdown = {}};
    auto& breakdown = draft.breakdown;
    breakdown.on_host = draft.busy.on_host;
    breakdown.only_sums = trace.only_sums;
    breakdown.whole = times_of_all(draft.busy.intervals);
    auto steps = has_times_of_day(trace) ? annotated_steps(trace, step_name) : std::vector<TraceStep>{};
    if (steps.empty() && step_name.empty() && has_times_of_day(trace)) {
        steps = repeated_steps(trace, draft.busy);
        breakdown.steps_detected = !steps.empty();
    }
    draft.windows = windows_of(steps);
    auto const times = times_in(draft.busy.intervals, draft.windows);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        breakdown.steps.push_back({steps[i], breakdown.steps_detected, times[i], {}});
    }
    return draft;
}

void finish_breakdown(RankTrace const& trace, Launches const& launches, BreakdownDraft& draft) {
    auto& [busy, windows, breakdown] = draft;
    auto const gaps = idle_gaps(trace, busy, launches, extent_of(breakdown.whole, windows));
    IdleSums const idle{gaps};
    breakdown.idle = idle.in({breakdown.whole.begin, breakdown.whole.end});
    for (std::size_t i = 0; i < windows.size(); ++i) { breakdown.steps[i].idle = idle.in(windows[i]); }
    breakdown.names = totals_by_name(trace, busy);
    if (!trace.calls.empty()) { breakdown.whole.count = counts_by_kind(breakdown.names); }
    if (!busy.on_host && has_times_of_day(trace)) {
        breakdown.without_launch = count_without_launch(trace, busy, launches);
    }
}

std::vector<TraceStep> detected_steps(RankTrace const& trace) {
    if (!has_times_of_day(trace)) { return {}; }
    auto steps = annotated_steps(trace);
    if (!steps.empty()) { return steps; }
    return repeated_steps(trace, busy_intervals(trace));
}

} // namespace headroom::trace
