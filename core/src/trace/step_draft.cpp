#include "trace/step_draft.hpp"

#include <algorithm>

namespace headroom::trace::path {
namespace {

constexpr Ticks microsecond = 1000;
/// Overlapping work of one stream that is kept in sight.
constexpr std::size_t most_at_once = 64;

bool whole_microseconds(RankTrace const& trace, StepWindow const& window) {
    for (auto const& lane : window.work) {
        for (auto const& work : lane) {
            if (trace.timeline.begin[work.span] % microsecond != 0) { return false; }
        }
    }
    return true;
}

} // namespace

StepDraft step_draft(RankTrace const& trace, TraceStep const& step, Launches const& launches) {
    StepDraft draft{.trace = trace,
                    .launches = launches,
                    .window = step_window(trace, step, launches),
                    .hosts = {},
                    .host_slot = std::vector<std::uint32_t>(trace.lanes.size(), none),
                    .work_slot = std::vector<std::uint32_t>(trace.lanes.size(), none),
                    .ties = {}};
    auto& window = draft.window;
    for (std::uint32_t slot = 0; slot < window.host_lanes.size(); ++slot) {
        draft.hosts.emplace_back(trace, window.spans[slot], window.begin, window.host_end);
        draft.host_slot[window.host_lanes[slot]] = slot;
    }
    for (std::uint32_t slot = 0; slot < window.work_lanes.size(); ++slot) {
        draft.work_slot[window.work_lanes[slot]] = slot;
    }
    draft.rounding = whole_microseconds(trace, window) ? 2 * microsecond : microsecond / 4;
    return draft;
}

void tie_streams(StepDraft& draft) {
    for (std::uint32_t slot = 0; slot < draft.window.work.size(); ++slot) {
        auto& lane = draft.window.work[slot];
        std::vector<std::size_t> running; // that nothing of the stream waits for yet
        for (std::size_t i = 0; i < lane.size(); ++i) {
            std::size_t left = 0;
            for (auto const before : running) {
                auto& earlier = lane[before];
                if (earlier.end > lane[i].begin + draft.rounding) {
                    running[left++] = before;
                    continue;
                }
                // what clocks round is no overlap
                earlier.end = std::max(earlier.begin, std::min(earlier.end, lane[i].begin));
                draft.ties.push_back({work_at(slot, before), work_at(slot, i), TraceEdge::stream, 0});
            }
            draft.counts.beside += left > 0 ? 1 : 0;
            running.resize(left);
            if (left == most_at_once) { running.erase(running.begin()); }
            running.push_back(i);
        }
    }
}

} // namespace headroom::trace::path
