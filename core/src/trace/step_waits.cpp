#include "trace/step_draft.hpp"

#include <algorithm>
#include <string_view>

namespace headroom::trace::path {
namespace {

/// Wait of a call of the host, as the rows of its streams state it.
struct StatedWait {
    std::uint32_t caller = none; ///< span of the call
    std::uint32_t own = none;    ///< lane of the row
    std::uint32_t lane = none;   ///< that is waited for; `none`: not stated
    std::uint32_t record = 0;
};

/// Rows of waiting whose call is known, by call.
std::vector<StatedWait> stated_waits(StepDraft const& draft) {
    auto const& trace = draft.trace;
    std::vector<StatedWait> found;
    Launches::Walk caller_of(draft.launches);
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (trace.kind[i] != SpanKind::device_wait) { continue; }
        auto const caller = caller_of[trace.correlation[i]];
        if (caller == none) { continue; }
        StatedWait wait{.caller = caller, .own = trace.timeline.lane[i]};
        while (next < trace.waits.size() && trace.waits[next].span < i) { ++next; }
        if (next < trace.waits.size() && trace.waits[next].span == i && trace.waits[next].lane < trace.lanes.size()) {
            wait.lane = trace.waits[next].lane;
            wait.record = trace.waits[next].record;
        }
        found.push_back(wait);
    }
    std::stable_sort(found.begin(), found.end(), [](auto const& a, auto const& b) { return a.caller < b.caller; });
    return found;
}

/// The last work of a lane that had been launched before a moment.
std::size_t launched_before(std::vector<LaneWork> const& lane, Ticks at) {
    auto const before = [&](LaneWork const& work) { return work.launched < at; };
    return static_cast<std::size_t>(std::partition_point(lane.begin(), lane.end(), before) - lane.begin());
}

/// Last work of a lane that had ended by `end` and had been launched by `launched`; the lane's size if there is none.
std::size_t done_by(std::vector<LaneWork> const& lane, Ticks end, Ticks launched) {
    constexpr std::size_t most_looks = 32;
    auto const begun = [&](LaneWork const& work) { return work.begin <= end; };
    auto const after = static_cast<std::size_t>(std::partition_point(lane.begin(), lane.end(), begun) - lane.begin());
    for (std::size_t i = after; i > 0 && after - i < most_looks; --i) {
        if (lane[i - 1].end <= end && lane[i - 1].launched <= launched) { return i - 1; }
    }
    return lane.size();
}

/// A call that waits, and which of its thread's time that is.
struct WaitingCall {
    std::uint32_t thread = 0;
    Ticks begin = 0, end = 0;
};

/// Adds what the call waits for; the latest of them shows where it really waited.
void tie_call(StepDraft& draft, WaitingCall const& call, std::vector<TieEnd> const& for_these) {
    Ticks until = call.begin;
    for (auto const& from : for_these) {
        auto& work = draft.window.work[from.slot][from.index];
        work.end = std::max(work.begin, std::min(work.end, call.end)); // no more than clocks round
        until = std::max(until, std::min(work.end, call.end));
    }
    draft.hosts[call.thread].wait(call.begin, until);
    for (auto const& from : for_these) {
        draft.ties.push_back({from, thread_at(call.thread, until), TraceEdge::wait, 0});
    }
}

/// Work that a call without a stated stream waited for: of the stream whose work ended last during the call, or, for
/// the whole device, of each stream.
std::vector<TieEnd> unstated(StepDraft const& draft, WaitingCall const& call, bool whole_device) {
    std::vector<TieEnd> all;
    TieEnd last{};
    Ticks latest = call.begin;
    for (std::uint32_t slot = 0; slot < draft.window.work.size(); ++slot) {
        auto const& lane = draft.window.work[slot];
        auto const done = done_by(lane, call.end + draft.rounding, call.begin);
        if (done == lane.size() || lane[done].transfer) { continue; }
        all.push_back(work_at(slot, done));
        if (lane[done].end > latest) {
            latest = lane[done].end;
            last = work_at(slot, done);
        }
    }
    if (whole_device) { return all; }
    return latest > call.begin ? std::vector{last} : std::vector<TieEnd>{};
}

std::vector<TieEnd> stated(StepDraft const& draft, WaitingCall const& call, StatedWait const& wait) {
    auto const slot = draft.work_slot[wait.lane != none ? wait.lane : wait.own];
    if (slot == none) { return {}; }
    Ticks launched = call.begin;
    if (wait.record != 0) {
        auto const record = draft.launches[wait.record];
        if (record != none) { launched = draft.trace.timeline.begin[record]; }
    }
    auto const& lane = draft.window.work[slot];
    auto const done = done_by(lane, call.end + draft.rounding, launched);
    return done == lane.size() ? std::vector<TieEnd>{} : std::vector{work_at(slot, done)};
}

/// The computation that one thread launched last before a moment, on another lane than `own`; `none` as slot: none.
TieEnd launched_last(StepDraft const& draft, std::uint32_t own, std::uint32_t thread, Ticks at) {
    constexpr std::size_t most_looks = 32;
    TieEnd last{.work = true, .slot = none};
    Ticks latest = draft.window.begin;
    for (std::uint32_t slot = 0; slot < draft.window.work.size(); ++slot) {
        if (slot == own) { continue; }
        auto const& lane = draft.window.work[slot];
        auto const after = launched_before(lane, at);
        for (std::size_t i = after; i > 0 && after - i < most_looks; --i) {
            LaneWork const& work = lane[i - 1];
            if (work.transfer || work.caller == none || draft.trace.kind[work.span] != SpanKind::compute) { continue; }
            bool const same = draft.trace.timeline.lane[work.caller] == thread;
            if (same && work.launched >= latest) {
                latest = work.launched;
                last = work_at(slot, i - 1);
            }
            break;
        }
    }
    return last;
}

/// Lanes that wait for others by events that the trace states.
std::vector<bool> lanes_with_events(StepDraft const& draft) {
    std::vector<bool> known(draft.window.work.size(), false);
    for (auto const& tie : draft.ties) {
        bool const waits = tie.why == TraceEdge::wait && tie.from.work && tie.to.work;
        if (waits && tie.from.slot != tie.to.slot) { known[tie.to.slot] = true; }
    }
    return known;
}

} // namespace

void tie_collectives(StepDraft& draft) {
    auto const known = lanes_with_events(draft);
    for (std::uint32_t slot = 0; slot < draft.window.work.size(); ++slot) {
        for (std::size_t i = 0; !known[slot] && i < draft.window.work[slot].size(); ++i) {
            LaneWork const& work = draft.window.work[slot][i];
            bool const sends = draft.trace.kind[work.span] == SpanKind::communication && !work.transfer;
            if (!sends || work.caller == none) { continue; }
            auto const last = launched_last(draft, slot, draft.trace.timeline.lane[work.caller], work.launched);
            if (last.slot == none) { continue; }
            auto& before = draft.window.work[last.slot][last.index];
            if (before.end > work.begin + draft.rounding) { continue; } // they overlap: it did not wait
            before.end = std::max(before.begin, std::min(before.end, work.begin));
            draft.ties.push_back({last, work_at(slot, i), TraceEdge::wait, 0});
            ++draft.counts.by_order;
        }
    }
}

void tie_stated_waits(StepDraft& draft) {
    for (auto const& wait : stated_waits(draft)) {
        if (wait.lane == none || draft.trace.kind[wait.caller] == SpanKind::synchronization) { continue; }
        auto const from_slot = draft.work_slot[wait.lane], to_slot = draft.work_slot[wait.own];
        if (from_slot == none || to_slot == none) { continue; }
        Ticks const asked = draft.trace.timeline.begin[wait.caller];
        auto const record = wait.record == 0 ? none : draft.launches[wait.record];
        Ticks const recorded = record == none ? asked : draft.trace.timeline.begin[record];
        auto const before = launched_before(draft.window.work[from_slot], recorded);
        auto const after = launched_before(draft.window.work[to_slot], asked);
        if (before == 0 || after == draft.window.work[to_slot].size()) { continue; }
        auto const from = work_at(from_slot, before - 1), to = work_at(to_slot, after);
        auto& earlier = draft.window.work[from_slot][before - 1];
        Ticks const begin = draft.window.work[to_slot][after].begin;
        if (earlier.end > begin && earlier.end <= begin + draft.rounding) {
            earlier.end = std::max(earlier.begin, begin);
        }
        draft.ties.push_back({from, to, TraceEdge::wait, 0});
    }
}

void tie_synchronizations(StepDraft& draft) {
    auto const rows = stated_waits(draft);
    auto const& trace = draft.trace;
    for (std::uint32_t thread = 0; thread < draft.window.spans.size(); ++thread) {
        for (auto const span : draft.window.spans[thread]) {
            if (trace.kind[span] != SpanKind::synchronization) { continue; }
            WaitingCall const call{.thread = thread,
                                   .begin = std::max(trace.timeline.begin[span], draft.window.begin),
                                   .end = std::min(trace.timeline.end[span], draft.window.host_end)};
            std::string_view const name = trace.timeline.names[trace.timeline.name[span]];
            bool const whole =
                name.find("Device") != std::string_view::npos || name.find("Ctx") != std::string_view::npos;
            auto const row = std::lower_bound(rows.begin(), rows.end(), span,
                                              [](StatedWait const& wait, auto s) { return wait.caller < s; });
            bool const known = !whole && row != rows.end() && row->caller == span &&
                               (row->lane != none || draft.work_slot[row->own] != none);
            tie_call(draft, call, known ? stated(draft, call, *row) : unstated(draft, call, whole));
        }
    }
}

} // namespace headroom::trace::path
