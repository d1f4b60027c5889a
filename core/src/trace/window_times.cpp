#include "trace/window_times.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace headroom::trace {
namespace {

/// The length of a union whose intervals come by begin.
struct Coverage {
    Ticks covered = 0, until = std::numeric_limits<Ticks>::lowest();

    void add(Ticks begin, Ticks end) {
        if (end <= until) { return; }
        covered += end - std::max(begin, until);
        until = end;
    }
    /// Covered time before `now`, once everything that begins earlier has been added: only the last interval can reach
    /// beyond it, and that has no gap.
    [[nodiscard]] Ticks before(Ticks now) const { return until > now ? covered - (until - now) : covered; }
};

/// The unions from which everything else follows by inclusion and exclusion.
enum Union : std::size_t { compute, communication, memory, all, without_memory, without_communication, unions };
using Lengths = std::array<Ticks, unions>;

class UnionSweep {
public:
    void add(BusyInterval const& interval) {
        auto const kind = static_cast<std::size_t>(interval.kind);
        add(kind, interval);
        add(all, interval);
        if (kind != memory) { add(without_memory, interval); }
        if (kind != communication) { add(without_communication, interval); }
    }
    [[nodiscard]] Lengths before(Ticks now) const {
        Lengths lengths{};
        std::transform(sets_.begin(), sets_.end(), lengths.begin(), [&](auto const& set) { return set.before(now); });
        return lengths;
    }
    [[nodiscard]] Ticks busy_until() const { return sets_[all].until; }

private:
    std::array<Coverage, unions> sets_;
    void add(std::size_t set, BusyInterval const& interval) { sets_[set].add(interval.begin, interval.end); }
};

/// Count and sum of the intervals of one kind, of any length but none. Sums wrap instead of overflowing.
class CountSweep {
public:
    struct At {
        std::int64_t begun = 0, open = 0;
        std::uint64_t total = 0; ///< of what has passed
    };
    void add(Ticks begin, Ticks end) {
        close_until(begin);
        open_.emplace(end, begin);
        ++begun_;
        begins_ += static_cast<std::uint64_t>(begin);
    }
    At at(Ticks now) {
        close_until(now);
        auto const open = open_.size();
        return {begun_, static_cast<std::int64_t>(open), closed_ + open * static_cast<std::uint64_t>(now) - begins_};
    }

private:
    using Interval = std::pair<Ticks, Ticks>; ///< end first
    std::priority_queue<Interval, std::vector<Interval>, std::greater<>> open_;
    std::int64_t begun_ = 0;
    std::uint64_t closed_ = 0; ///< sum of the durations of what has ended
    std::uint64_t begins_ = 0; ///< sum of the begins of what has not

    void close_until(Ticks now) {
        while (!open_.empty() && open_.top().first <= now) {
            auto const [end, begin] = open_.top();
            open_.pop();
            closed_ += static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
            begins_ -= static_cast<std::uint64_t>(begin);
        }
    }
};

DeviceTimes from_lengths(Lengths const& length, Ticks window) {
    DeviceTimes times;
    times.window = window;
    times.busy = length[all];
    times.idle = window - times.busy;
    times.compute = length[compute];
    times.communication = length[communication];
    times.memory = length[memory];
    times.overlap =
        length[communication] - (length[without_memory] - length[compute]); // in an order that stays in range
    times.exposed = times.communication - times.overlap;
    times.memory_only = length[all] - length[without_memory];
    times.overlap_any = length[communication] - (length[all] - length[without_communication]);
    return times;
}

/// Either end of a window.
struct Boundary {
    Ticks at = 0;
    std::uint32_t window = 0;
    bool closes = false;
};

std::vector<Boundary> boundaries_of(std::span<TraceWindow const> windows) {
    std::vector<Boundary> boundaries;
    for (std::uint32_t i = 0; i < windows.size(); ++i) {
        if (windows[i].begin >= windows[i].end) { continue; }
        boundaries.push_back({windows[i].begin, i, false});
        boundaries.push_back({windows[i].end, i, true});
    }
    std::stable_sort(boundaries.begin(), boundaries.end(), [](auto const& a, auto const& b) { return a.at < b.at; });
    return boundaries;
}

/// One pass over intervals and windows.
class WindowSweep {
public:
    explicit WindowSweep(std::span<TraceWindow const> windows)
        : windows_(windows), opened_(windows.size()), first_work_(windows.size()), times_(windows.size()) {
        for (std::size_t i = 0; i < windows.size(); ++i) {
            first_work_[i] = times_[i].begin = times_[i].end = windows[i].begin;
        }
    }

    void add(BusyInterval const& interval) {
        if (interval.begin == interval.end) { return; }
        sets_.add(interval);
        counts_[static_cast<std::size_t>(interval.kind)].add(interval.begin, interval.end);
        for (auto const window : without_work_) { first_work_[window] = interval.begin; }
        without_work_.clear();
    }

    void pass(Boundary const& boundary) {
        auto const mark = mark_at(boundary.at);
        if (boundary.closes) {
            close(boundary.window, mark);
            return;
        }
        opened_[boundary.window] = mark;
        if (sets_.busy_until() <= boundary.at) { without_work_.push_back(boundary.window); }
    }

    std::vector<DeviceTimes> take() { return std::move(times_); }

private:
    struct Mark {
        Lengths lengths{};
        std::array<CountSweep::At, 3> counts;
    };
    std::span<TraceWindow const> windows_;
    UnionSweep sets_;
    std::array<CountSweep, 3> counts_;
    std::vector<Mark> opened_;      ///< by window, as it was at its begin
    std::vector<Ticks> first_work_; ///< by window
    std::vector<DeviceTimes> times_;
    std::vector<std::uint32_t> without_work_; ///< windows that are open and have seen none

    Mark mark_at(Ticks now) {
        Mark mark{sets_.before(now), {}};
        std::transform(counts_.begin(), counts_.end(), mark.counts.begin(), [&](auto& count) { return count.at(now); });
        return mark;
    }

    void close(std::uint32_t window, Mark const& closed) {
        auto const& opened = opened_[window];
        Lengths lengths{};
        std::transform(closed.lengths.begin(), closed.lengths.end(), opened.lengths.begin(), lengths.begin(),
                       std::minus<>{});
        auto const [begin, end] = windows_[window];
        auto times = from_lengths(lengths, end - begin);
        for (std::size_t kind = 0; kind < 3; ++kind) {
            auto const &before = opened.counts[kind], &after = closed.counts[kind];
            times.count[kind] = after.begun - before.begun + before.open;
            times.total[kind] = static_cast<Ticks>(after.total - before.total);
        }
        bool const worked = times.busy > 0;
        times.begin = worked ? first_work_[window] : begin;
        times.end = worked ? std::min(end, sets_.busy_until()) : begin;
        times_[window] = times;
    }
};

} // namespace

DeviceTimes times_of_all(std::span<BusyInterval const> intervals) {
    if (intervals.empty()) { return {}; }
    UnionSweep sets;
    std::array<std::int64_t, 3> count{};
    std::array<std::uint64_t, 3> total{};
    bool worked = false;
    Ticks begin = intervals.front().begin;
    for (auto const& interval : intervals) {
        // Intervals of no length open no window: a copy of nothing before the first kernel is no moment of work.
        if (interval.end > interval.begin) {
            begin = worked ? begin : interval.begin;
            worked = true;
            sets.add(interval);
        }
        auto const kind = static_cast<std::size_t>(interval.kind);
        ++count[kind];
        total[kind] += static_cast<std::uint64_t>(interval.end) - static_cast<std::uint64_t>(interval.begin);
    }
    auto const end = worked ? sets.busy_until() : begin;
    auto times = from_lengths(sets.before(end), end - begin);
    times.begin = begin;
    times.end = end;
    times.count = count;
    std::transform(total.begin(), total.end(), times.total.begin(), [](auto sum) { return static_cast<Ticks>(sum); });
    return times;
}

std::vector<DeviceTimes> times_in(std::span<BusyInterval const> intervals, std::span<TraceWindow const> windows) {
    WindowSweep sweep{windows};
    auto interval = intervals.begin();
    for (auto const& boundary : boundaries_of(windows)) {
        while (interval != intervals.end() && interval->begin < boundary.at) { sweep.add(*interval++); }
        sweep.pass(boundary);
    }
    return sweep.take();
}

} // namespace headroom::trace
