#include "trace/step_draft.hpp"

#include <algorithm>
#include <string_view>

namespace headroom::trace::path {
namespace {

constexpr Ticks microsecond = 1000;
/// A launch that takes longer is no launch alone.
constexpr Ticks long_launch = 100 * microsecond;
/// Within which a call returns when there is room again.
constexpr Ticks return_time = 20 * microsecond;
/// Launches that wait before a queue can be full; drivers have room for 1024.
constexpr std::size_t deep_queue = 256;

std::uint32_t slot_of_call(StepDraft const& draft, LaneWork const& work) {
    if (work.caller == none) { return none; }
    auto const slot = draft.host_slot[draft.trace.timeline.lane[work.caller]];
    bool const in_window = work.launched >= draft.window.begin && work.launched < draft.window.host_end;
    return in_window ? slot : none;
}

/// Smallest delay from a launch to its work on an idle stream: work that waits in a queue does not show the delay.
Ticks smallest_launch_delay(StepDraft const& draft) {
    Ticks least = -1;
    for (auto const& lane : draft.window.work) {
        Ticks busy_until = draft.window.begin;
        for (auto const& work : lane) {
            Ticks const delay = work.begin - work.launched;
            bool const idle = busy_until <= work.launched && delay >= 0;
            if (idle && slot_of_call(draft, work) != none) { least = least < 0 ? delay : std::min(least, delay); }
            busy_until = std::max(busy_until, work.end);
        }
    }
    return std::max(least, Ticks{0});
}

/// A copy that its own call waits for. Launches of graphs may last longer than the first copies in them.
bool is_awaited_copy(StepDraft const& draft, LaneWork const& work) {
    auto const& trace = draft.trace;
    std::string_view const call = trace.timeline.names[trace.timeline.name[work.caller]];
    return trace.kind[work.span] == SpanKind::memory && call.find("Launch") == std::string_view::npos &&
           work.begin > work.launched && work.end <= trace.timeline.end[work.caller] + draft.rounding;
}

/// The call needs as long as any launch to hand its copy over; from then on it waits, for what the stream does before
/// the copy as well as for the copy.
void tie_awaited_copy(StepDraft& draft, std::uint32_t thread, std::uint32_t lane, std::size_t index, Ticks least) {
    auto& work = draft.window.work[lane][index];
    work.end = std::min(work.end, std::max(work.begin, draft.trace.timeline.end[work.caller]));
    Ticks const handed_over = work.launched + std::min(least, work.begin - work.launched);
    draft.hosts[thread].cut(handed_over);
    draft.ties.push_back({thread_at(thread, handed_over), work_at(lane, index), TraceEdge::launch, 0});
    draft.hosts[thread].wait(handed_over, work.end);
    draft.ties.push_back({work_at(lane, index), thread_at(thread, work.end), TraceEdge::wait, 0});
}

void tie_launch(StepDraft& draft, std::uint32_t lane, std::size_t index, Ticks least) {
    auto const& work = draft.window.work[lane][index];
    auto const thread = slot_of_call(draft, work);
    if (thread == none) { return; }
    if (work.begin < work.launched) {
        ++draft.counts.early;
        return;
    }
    if (is_awaited_copy(draft, work)) { return tie_awaited_copy(draft, thread, lane, index, least); }
    Ticks const returned = std::min(draft.trace.timeline.end[work.caller], draft.window.host_end);
    if (work.begin >= returned) {
        Ticks const rest = std::max(Ticks{0}, least - (returned - work.launched));
        draft.ties.push_back({thread_at(thread, returned), work_at(lane, index), TraceEdge::launch, rest});
        return;
    }
    draft.hosts[thread].cut(work.begin);
    draft.ties.push_back({thread_at(thread, work.begin), work_at(lane, index), TraceEdge::launch, 0});
}

/// Launches that a device has not finished.
struct Queue {
    std::vector<Ticks> launched, ended; ///< sorted
    struct End {
        Ticks end = 0;
        std::uint32_t slot = 0, index = 0;
    };
    std::vector<End> ends; ///< sorted

    explicit Queue(StepDraft const& draft) {
        for (std::uint32_t slot = 0; slot < draft.window.work.size(); ++slot) {
            auto const& lane = draft.window.work[slot];
            for (std::uint32_t i = 0; i < lane.size(); ++i) {
                if (lane[i].transfer || lane[i].caller == none) { continue; }
                launched.push_back(lane[i].launched);
                ends.push_back({lane[i].end, slot, i});
            }
        }
        std::sort(launched.begin(), launched.end());
        std::sort(ends.begin(), ends.end(), [](End const& a, End const& b) { return a.end < b.end; });
        for (auto const& end : ends) { ended.push_back(end.end); }
    }
    [[nodiscard]] std::size_t depth(Ticks at) const {
        auto const in = std::lower_bound(launched.begin(), launched.end(), at) - launched.begin();
        auto const out = std::upper_bound(ended.begin(), ended.end(), at) - ended.begin();
        return in > out ? static_cast<std::size_t>(in - out) : 0;
    }
    /// The last to end by a moment; null where there is none.
    [[nodiscard]] End const* last_by(Ticks at) const {
        auto const next = std::upper_bound(ended.begin(), ended.end(), at) - ended.begin();
        return next == 0 ? nullptr : &ends[static_cast<std::size_t>(next - 1)];
    }
};

} // namespace

void tie_launches(StepDraft& draft) {
    Ticks const least = smallest_launch_delay(draft);
    for (std::uint32_t lane = 0; lane < draft.window.work.size(); ++lane) {
        for (std::size_t i = 0; i < draft.window.work[lane].size(); ++i) { tie_launch(draft, lane, i, least); }
    }
}

void tie_full_queues(StepDraft& draft) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> calls; // thread, span
    for (std::uint32_t slot = 0; slot < draft.window.spans.size(); ++slot) {
        for (auto const span : draft.window.spans[slot]) {
            Ticks const time = draft.trace.timeline.end[span] - draft.trace.timeline.begin[span];
            if (draft.trace.kind[span] == SpanKind::launch && time >= long_launch) { calls.emplace_back(slot, span); }
        }
    }
    if (calls.empty()) { return; }
    Queue const queue(draft);
    for (auto const& [slot, span] : calls) {
        Ticks const begin = std::max(draft.trace.timeline.begin[span], draft.window.begin);
        Ticks const end = std::min(draft.trace.timeline.end[span], draft.window.host_end);
        auto const* const last = queue.last_by(end);
        if (last == nullptr || last->end <= begin || last->end + return_time < end) { continue; }
        if (queue.depth(begin) < deep_queue) { continue; }
        draft.hosts[slot].wait(begin, last->end);
        draft.ties.push_back({work_at(last->slot, last->index), thread_at(slot, last->end), TraceEdge::wait, 0});
        ++draft.counts.full_queues;
    }
}

} // namespace headroom::trace::path
