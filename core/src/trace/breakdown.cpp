#include "trace/busy_intervals.hpp"
#include "trace/launches.hpp"
#include "trace/repetition.hpp"
#include "trace/wide_time.hpp"
#include "trace/window_times.hpp"
#include "trace/with_launches.hpp"

#include "headroom/trace/trace_breakdown.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace headroom::trace {
namespace {

/// Why nothing ran: the members of `IdleShares`.
enum class IdleCause : std::uint8_t { host_bound, waiting, other };

/// Time without any work and why; a gap of two causes is two.
struct IdleGap {
    Ticks begin = 0, end = 0;
    IdleCause cause = IdleCause::other;
};

/// Sums of gaps by cause, for any window.
class IdleSums {
public:
    explicit IdleSums(std::span<IdleGap const> gaps);
    [[nodiscard]] IdleShares in(TraceWindow window) const;

private:
    using ByCause = std::array<Ticks, 3>;
    std::span<IdleGap const> gaps_;
    std::vector<ByCause> before_; ///< by gap: of those before it; one more than there are gaps
    [[nodiscard]] ByCause before(Ticks now) const;
};

/// Time that a kernel needs to start once it has been launched and nothing holds it back, nanoseconds.
constexpr Ticks start_of_kernel = 30'000;

/// Collects gaps and says why they are.
class GapCauses {
public:
    GapCauses(RankTrace const& trace, Launches const& launches, std::vector<IdleGap>& gaps)
        : trace_(trace), launches_(launches), gaps_(gaps) {}

    /// A gap that ends with `next`; `last` ran before it, if anything did.
    void before(Ticks begin, BusyInterval const& next, std::optional<std::uint32_t> last) {
        auto const call = launches_[trace_.correlation[next.span]];
        if (call == none) {
            add(begin, next.begin, IdleCause::other);
            return;
        }
        auto const& timeline = trace_.timeline;
        if (timeline.begin[call] > begin) {
            // the host is late by the whole of its call and what the kernel then needs; longer than that, it waits
            auto const ready = std::min(next.begin, std::max(begin, wide_sum(timeline.end[call], start_of_kernel)));
            add(begin, ready, IdleCause::host_bound);
            add(ready, next.begin, IdleCause::waiting);
            return;
        }
        bool const starts = wide_difference(next.begin, begin) <= start_of_kernel && last &&
                            timeline.lane[*last] == timeline.lane[next.span];
        add(begin, next.begin, starts ? IdleCause::other : IdleCause::waiting);
    }

    void add(Ticks begin, Ticks end, IdleCause cause) {
        if (begin < end) { gaps_.push_back({begin, end, cause}); }
    }

private:
    RankTrace const& trace_;
    Launches::Walk launches_;
    std::vector<IdleGap>& gaps_;
};

/// All gaps of an extent by begin: before the first interval, between intervals, and after the last.
std::vector<IdleGap> idle_gaps(RankTrace const& trace, BusyIntervals const& busy, Launches const& launches,
                               TraceWindow extent) {
    std::vector<IdleGap> gaps;
    GapCauses causes{trace, launches, gaps};
    if (busy.on_host) { // no launch ties what threads do to anything
        Ticks until = extent.begin;
        for (auto const& interval : busy.intervals) {
            causes.add(until, interval.begin, IdleCause::other);
            until = std::max(until, interval.end);
        }
        causes.add(until, extent.end, IdleCause::other);
        return gaps;
    }
    Ticks until = extent.begin;
    std::optional<std::uint32_t> last;
    for (auto const& interval : busy.intervals) {
        if (interval.begin > until) { causes.before(until, interval, last); }
        if (interval.end >= until || !last) {
            until = std::max(until, interval.end);
            last = interval.span;
        }
    }
    // the host launched nothing any more
    causes.add(until, extent.end, launches.empty() ? IdleCause::other : IdleCause::host_bound);
    return gaps;
}

IdleSums::IdleSums(std::span<IdleGap const> gaps) : gaps_(gaps), before_(1) {
    before_.reserve(gaps.size() + 1);
    for (auto const& gap : gaps) {
        auto sums = before_.back();
        auto& sum = sums[static_cast<std::size_t>(gap.cause)];
        sum = wide_sum(sum, wide_difference(gap.end, gap.begin));
        before_.push_back(sums);
    }
}

IdleSums::ByCause IdleSums::before(Ticks now) const {
    auto const gap =
        std::partition_point(gaps_.begin(), gaps_.end(), [&](auto const& known) { return known.end <= now; });
    auto sums = before_[static_cast<std::size_t>(gap - gaps_.begin())];
    if (gap != gaps_.end() && gap->begin < now) { sums[static_cast<std::size_t>(gap->cause)] += now - gap->begin; }
    return sums;
}

IdleShares IdleSums::in(TraceWindow window) const {
    if (window.begin >= window.end) { return {}; }
    auto const from = before(window.begin), to = before(window.end);
    return {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
}

/// Number of runs that an interval stands for.
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

/// Whether a call of this name starts kernels: cudaLaunchKernelExC, hipModuleLaunchKernel, cudaGraphLaunch.
bool names_kernel_launch(std::string_view name) {
    return std::ranges::any_of(std::array{"LaunchKernel", "LaunchCooperativeKernel", "GraphLaunch", "KernelLaunch"},
                               [&](char const* part) { return name.find(part) != std::string_view::npos; });
}

/// Ties device work and calls of the host: which of them has no other side. Without any number that ties them, or where
/// several ranks share a host, calls say nothing.
void count_untied(RankTrace const& trace, BusyIntervals const& busy, Launches const& launches,
                  RankBreakdown& breakdown) {
    constexpr std::int64_t share_that_matters = 10; // one in so many: the end of a recording loses a few
    std::vector<bool> has_work(trace.size());
    Launches::Walk launch_of(launches);
    std::int64_t tied = 0;
    if (!busy.on_host) {
        for (auto const& interval : busy.intervals) {
            auto const call = launch_of[trace.correlation[interval.span]];
            tied += call == none ? 0 : 1;
            if (call != none) { has_work[call] = true; }
        }
        breakdown.without_launch = static_cast<std::int64_t>(busy.intervals.size()) - tied;
        if (tied == 0) { return; }
    }
    if (trace.host_is_shared) { return; }
    auto const& names = trace.timeline.names;
    std::vector<bool> starts(names.size());
    std::transform(names.begin(), names.end(), starts.begin(), names_kernel_launch);
    launches.each([&](std::uint32_t call) {
        if (!starts[trace.timeline.name[call]]) { return; }
        ++breakdown.launches;
        breakdown.without_work += has_work[call] ? 0 : 1;
    });
    // Launches without work may be those of the work without a launch.
    if (breakdown.without_work <= breakdown.without_launch) { breakdown.without_work = 0; }
    bool const much = breakdown.without_work * share_that_matters > breakdown.launches;
    breakdown.work_missing = breakdown.work_missing || much;
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

/// Time that a set of windows covers, each moment once.
class CoveredTime {
public:
    explicit CoveredTime(std::vector<TraceWindow> windows) {
        std::sort(windows.begin(), windows.end(),
                  [](TraceWindow const& a, TraceWindow const& b) { return a.begin < b.begin; });
        Ticks sum = 0;
        for (auto const& window : windows) {
            Ticks const begin = parts_.empty() ? window.begin : std::max(window.begin, parts_.back().window.end);
            if (window.end <= begin) { continue; }
            parts_.push_back({{begin, window.end}, sum});
            sum += window.end - begin;
        }
    }
    /// Covered time between two moments; the first never falls from one call to the next.
    Ticks between(Ticks begin, Ticks end) {
        while (at_ < parts_.size() && parts_[at_].window.end <= begin) { ++at_; }
        if (at_ == parts_.size() || parts_[at_].window.begin >= end) { return 0; }
        auto const& first = parts_[at_];
        Ticks const from = std::max(begin, first.window.begin);
        if (end <= first.window.end) { return end - from; }
        return before(end) - first.before - (from - first.window.begin);
    }

private:
    struct Part {
        TraceWindow window;
        Ticks before = 0; ///< covered by those before this one
    };
    std::vector<Part> parts_;
    std::size_t at_ = 0;

    [[nodiscard]] Ticks before(Ticks now) const {
        auto const next = std::partition_point(parts_.begin(), parts_.end(),
                                               [&](Part const& part) { return part.window.begin < now; });
        auto const& last = *(next - 1);
        return last.before + std::min(now, last.window.end) - last.window.begin;
    }
};

/// Times before a step, since anything was recorded, where numbers of steps are missing: between cycles of a profiler. They
/// are at least as long as a step.
std::vector<TraceWindow> unrecorded_times(RankTrace const& trace, std::vector<TraceStep> const& steps,
                                          DeviceTimes const& whole) {
    std::vector<TraceWindow> gaps;
    Ticks shortest = std::numeric_limits<Ticks>::max();
    for (TraceStep const& step : steps) { shortest = std::min(shortest, step.end - step.begin); }
    for (std::size_t i = 1; i < steps.size(); ++i) {
        bool const jumps = steps[i].number > steps[i - 1].number + 1 && steps[i].begin > steps[i - 1].end;
        if (jumps) { gaps.push_back({steps[i - 1].end, std::min(steps[i].begin, whole.end)}); }
    }
    for (std::uint32_t span = 0; span < trace.size() && !gaps.empty(); ++span) {
        if (trace.kind[span] == SpanKind::annotation) { continue; } // a range around the whole loop
        Ticks const begin = trace.timeline.begin[span], end = trace.timeline.end[span];
        auto gap = std::ranges::partition_point(gaps, [&](TraceWindow const& one) { return one.end <= begin; });
        for (; gap != gaps.end() && gap->begin < end; ++gap) { gap->begin = end; }
    }
    std::erase_if(gaps, [&](TraceWindow const& gap) {
        return gap.end < gap.begin + std::max(shortest, Ticks{1}) || gap.begin < whole.begin;
    });
    return gaps;
}

/// Device work that no annotated step holds: recordings that miss their steps by clock, and what runs long after them.
void find_outside_work(BusyIntervals const& busy, std::vector<TraceWindow> const& windows, RankBreakdown& breakdown) {
    CoveredTime steps{windows};
    double all = 0.0, inside = 0.0;
    for (auto const& interval : busy.intervals) {
        Ticks const held = steps.between(interval.begin, interval.end);
        all += static_cast<double>(interval.end - interval.begin);
        inside += static_cast<double>(held);
        breakdown.outside_steps += held == 0 && interval.end > interval.begin ? 1 : 0;
    }
    breakdown.outside_share = all > 0.0 ? std::max(0.0, 1.0 - inside / all) : 0.0;
}

} // namespace

RankBreakdown breakdown_of(RankTrace const& trace, std::string_view step_name) {
    auto draft = draft_breakdown(trace, step_name);
    finish_breakdown(trace, Launches{trace}, draft);
    return std::move(draft.breakdown);
}

BreakdownDraft draft_breakdown(RankTrace const& trace, std::string_view step_name) {
    BreakdownDraft draft{.busy = busy_intervals(trace), .windows = {}, .unrecorded = {}, .breakdown = {}};
    auto& breakdown = draft.breakdown;
    breakdown.on_host = draft.busy.on_host;
    breakdown.only_sums = trace.only_sums;
    breakdown.work_missing = trace.work_missing;
    breakdown.whole = times_of_all(draft.busy.intervals);
    auto steps = has_times_of_day(trace) ? annotated_steps(trace, step_name) : std::vector<TraceStep>{};
    if (steps.empty() && step_name.empty() && has_times_of_day(trace)) {
        steps = repeated_steps(trace, draft.busy);
        breakdown.steps_detected = !steps.empty();
    }
    draft.windows = windows_of(steps);
    if (!breakdown.steps_detected) { draft.unrecorded = unrecorded_times(trace, steps, breakdown.whole); }
    for (TraceWindow const& gap : draft.unrecorded) {
        breakdown.whole.window -= gap.end - gap.begin;
        breakdown.whole.idle -= gap.end - gap.begin;
    }
    if (!steps.empty() && !breakdown.steps_detected && !breakdown.on_host) {
        find_outside_work(draft.busy, draft.windows, breakdown);
    }
    auto const times = times_in(draft.busy.intervals, draft.windows);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        breakdown.steps.push_back({steps[i], breakdown.steps_detected, times[i], {}});
    }
    return draft;
}

void finish_breakdown(RankTrace const& trace, Launches const& launches, BreakdownDraft& draft) {
    auto& [busy, windows, unrecorded, breakdown] = draft;
    auto const gaps = idle_gaps(trace, busy, launches, extent_of(breakdown.whole, windows));
    IdleSums const idle{gaps};
    breakdown.idle = idle.in({breakdown.whole.begin, breakdown.whole.end});
    for (TraceWindow const& gap : unrecorded) {
        IdleShares const none_recorded = idle.in(gap);
        breakdown.idle.host_bound -= none_recorded.host_bound;
        breakdown.idle.waiting -= none_recorded.waiting;
        breakdown.idle.other -= none_recorded.other;
    }
    for (std::size_t i = 0; i < windows.size(); ++i) { breakdown.steps[i].idle = idle.in(windows[i]); }
    breakdown.names = totals_by_name(trace, busy);
    if (!trace.calls.empty()) { breakdown.whole.count = counts_by_kind(breakdown.names); }
    if (has_times_of_day(trace)) { count_untied(trace, busy, launches, breakdown); }
}

} // namespace headroom::trace
