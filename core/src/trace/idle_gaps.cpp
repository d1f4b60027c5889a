#include "trace/idle_gaps.hpp"

#include "trace/wide_time.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace headroom::trace {
namespace {

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

} // namespace

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

} // namespace headroom::trace
