#include "traces/stream_overlaps.hpp"

#include <algorithm>
#include <vector>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr Ticks rounding = 2000; ///< of clocks that count whole microseconds

bool runs_on_stream(RankTrace const& trace, std::uint32_t span) {
    return occupies_device(trace.kind[span]) && trace.lanes[trace.timeline.lane[span]].device;
}

} // namespace

void clip_overlaps(RankTrace& trace) {
    auto& line = trace.timeline;
    std::vector<std::vector<std::uint32_t>> spans(trace.lanes.size());
    for (std::uint32_t span = 0; span < trace.size(); ++span) {
        bool const lasts = runs_on_stream(trace, span) && line.end[span] > line.begin[span];
        if (lasts) { spans[line.lane[span]].push_back(span); }
    }
    for (std::size_t lane = 0; lane < spans.size(); ++lane) {
        auto& order = spans[lane];
        std::ranges::stable_sort(order, {}, [&](std::uint32_t span) { return line.begin[span]; });
        for (std::size_t i = 0; i < order.size(); ++i) {
            auto const span = order[i];
            auto const same_launch = [&](std::uint32_t other) {
                return trace.correlation[span] != 0 && trace.correlation[other] == trace.correlation[span];
            };
            std::size_t next = i + 1;
            while (next < order.size() && (same_launch(order[next]) || line.begin[order[next]] == line.begin[span])) {
                ++next;
            }
            if (next == order.size() || line.end[span] <= line.begin[order[next]] + rounding) { continue; }
            line.end[span] = line.begin[order[next]];
            count_issue(trace.issues, "kernels overlap on one stream",
                        trace.source + ": " + line.names[line.name[span]].substr(0, 80) + " on " + line.lanes[lane]);
        }
    }
}

} // namespace headroom::io
