#include "trace/begin_order.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <algorithm>

namespace headroom::trace {
namespace {

/// Puts the longer of intervals that begin together first, so that an interval comes after the one that contains it.
void longer_first(std::vector<std::uint32_t>& intervals, Timeline const& timeline) {
    auto const longer = [&](std::uint32_t a, std::uint32_t b) { return timeline.end[a] > timeline.end[b]; };
    for (auto first = intervals.begin(); first != intervals.end();) {
        auto const begin = timeline.begin[*first];
        auto const last = std::find_if(first + 1, intervals.end(),
                                       [&](std::uint32_t other) { return timeline.begin[other] != begin; });
        if (last - first > 1 && !std::is_sorted(first, last, longer)) { std::stable_sort(first, last, longer); }
        first = last;
    }
}

} // namespace

std::vector<std::vector<std::uint32_t>> spans_by_lane(RankTrace const& trace) {
    auto const& timeline = trace.timeline;
    std::vector<std::vector<std::uint32_t>> lanes(timeline.lanes.size());
    std::vector<std::uint32_t> count(lanes.size(), 0);
    for (auto const lane : timeline.lane) { ++count[lane]; }
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) { lanes[lane].reserve(count[lane]); }
    for (std::uint32_t i = 0; i < timeline.size(); ++i) { lanes[timeline.lane[i]].push_back(i); }
    for (auto& intervals : lanes) {
        order_by_begin(intervals, timeline.begin);
        longer_first(intervals, timeline);
    }
    return lanes;
}

} // namespace headroom::trace
