#include "trace/busy_intervals.hpp"

#include "trace/begin_order.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace headroom::trace {
namespace {

std::vector<std::uint32_t> device_spans(RankTrace const& trace) {
    std::vector<std::uint32_t> spans;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (occupies_device(trace.kind[i]) && trace.lanes[trace.timeline.lane[i]].device) { spans.push_back(i); }
    }
    return spans;
}

std::vector<BusyInterval> in_order(std::vector<BusyInterval> const& intervals) {
    std::vector<Ticks> begin(intervals.size());
    for (std::size_t i = 0; i < intervals.size(); ++i) { begin[i] = intervals[i].begin; }
    std::vector<std::uint32_t> order(intervals.size());
    std::iota(order.begin(), order.end(), 0U);
    order_by_begin(order, begin);
    std::vector<BusyInterval> sorted;
    sorted.reserve(intervals.size());
    for (auto const i : order) { sorted.push_back(intervals[i]); }
    return sorted;
}

} // namespace

BusyIntervals busy_intervals(RankTrace const& trace) {
    auto const& timeline = trace.timeline;
    auto spans = device_spans(trace);
    if (spans.empty()) { return {true, in_order(host_work(trace))}; }
    order_by_begin(spans, timeline.begin);
    BusyIntervals busy;
    busy.intervals.reserve(spans.size());
    for (auto const i : spans) {
        // an interval that ends before it begins is none, but it was there
        busy.intervals.push_back({timeline.begin[i], std::max(timeline.begin[i], timeline.end[i]), i, trace.kind[i]});
    }
    return busy;
}

} // namespace headroom::trace
