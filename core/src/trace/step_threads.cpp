#include "trace/step_draft.hpp"

#include <algorithm>
#include <optional>

namespace headroom::trace::path {
namespace {

constexpr Ticks microsecond = 1000;
/// A thread that did nothing for so long may have waited for another.
constexpr Ticks quiet_time = 20 * microsecond;
/// Around the end of a transfer, in which a thread that waited for it goes on: before its span ends, as others tell the
/// thread, or after.
constexpr Ticks wake_time = 1000 * microsecond;

/// A call for a transfer of the host's own.
struct TransferCall {
    Ticks begin = 0, end = 0;
    std::uint32_t thread = 0;
};

std::vector<TransferCall> transfer_calls(StepDraft const& draft) {
    auto const& timeline = draft.trace.timeline;
    std::vector<bool> asks(timeline.names.size());
    for (std::size_t i = 0; i < asks.size(); ++i) { asks[i] = timeline.names[i].starts_with("c10d::"); }
    std::vector<TransferCall> calls;
    for (std::uint32_t thread = 0; thread < draft.window.spans.size(); ++thread) {
        for (auto const span : draft.window.spans[thread]) {
            if (!asks[timeline.name[span]] || timeline.begin[span] < draft.window.begin) { continue; }
            calls.push_back({timeline.begin[span], std::min(timeline.end[span], draft.window.host_end), thread});
        }
    }
    std::stable_sort(calls.begin(), calls.end(), [](auto const& a, auto const& b) { return a.begin < b.begin; });
    return calls;
}

/// A time in which a thread does nothing that is known but the one thing it is in.
struct Quiet {
    Ticks begin = 0, end = 0;
};

/// The longest quiet time of a thread that ends around a moment, and is long against the time between the two: a gap,
/// or the own time of an operator.
Quiet quiet_until(StepDraft const& draft, std::uint32_t thread, Ticks moment) {
    auto const& pieces = draft.hosts[thread].pieces();
    Quiet best{moment, moment};
    auto const consider = [&](Ticks begin, Ticks end) {
        Ticks const apart = end > moment ? end - moment : moment - end;
        bool const near = apart <= wake_time && 4 * apart <= end - begin && begin < moment;
        if (near && end - begin > std::max(quiet_time, best.end - best.begin)) { best = {begin, end}; }
    };
    auto next = draft.hosts[thread].ended_by(moment - wake_time);
    for (; next <= pieces.size(); ++next) {
        Ticks const before = next == 0 ? draft.window.begin : pieces[next - 1].end;
        bool const last = next == pieces.size();
        consider(before, last ? draft.window.host_end : pieces[next].begin);
        if (last || pieces[next].begin > moment + wake_time) { break; }
        if (draft.trace.kind[pieces[next].span] == SpanKind::host) { consider(pieces[next].begin, pieces[next].end); }
    }
    return best;
}

/// The thread that goes on when a transfer is done, if it had nothing to do until then. What its span has after that
/// is waited for by nobody.
void tie_back(StepDraft& draft, std::uint32_t thread, TieEnd const& transfer) {
    auto& work = draft.window.work[transfer.slot][transfer.index];
    auto const quiet = quiet_until(draft, thread, work.end);
    if (quiet.end <= quiet.begin || quiet.end <= work.begin) { return; }
    work.end = std::min(work.end, quiet.end);
    draft.hosts[thread].wait(quiet.begin, work.end);
    draft.ties.push_back({transfer, thread_at(thread, work.end), TraceEdge::wait, 0});
}

/// A stretch in which one thread does nothing and another works from its begin on.
struct Burst {
    std::size_t first = 0, last = 0; ///< pieces of the thread that works
};

/// The other thread's work inside of a quiet time, where that is what it was for: begun and done in it, idle before,
/// and most of it.
bool find_burst(HostLane const& other, Quiet const& quiet, Burst& burst) {
    auto const& pieces = other.pieces();
    burst.first = other.begun_before(quiet.begin);
    auto const ended = other.ended_by(quiet.end);
    if (ended <= burst.first) { return false; }
    burst.last = ended - 1;
    bool const idle_before = burst.first == 0 || pieces[burst.first - 1].end <= quiet.begin;
    bool const idle_after = ended == pieces.size() || pieces[ended].begin >= quiet.end;
    Ticks const busy = pieces[burst.last].end - pieces[burst.first].begin;
    return idle_before && idle_after && 2 * busy >= quiet.end - quiet.begin;
}

void tie_burst(StepDraft& draft, std::uint32_t main, std::uint32_t other, Burst const& burst) {
    auto const& pieces = draft.hosts[other].pieces();
    Ticks const begin = pieces[burst.first].begin, end = pieces[burst.last].end;
    draft.hosts[main].wait(begin, end);
    draft.ties.push_back({thread_at(other, end), thread_at(main, end), TraceEdge::handover, 0});
}

/// A thread waits for others where it is quiet and they work.
void tie_quiet(StepDraft& draft, std::uint32_t main, std::uint32_t other) {
    auto const& pieces = draft.hosts[main].pieces();
    auto const consider = [&](Quiet const& quiet) {
        Burst burst;
        if (quiet.end - quiet.begin < quiet_time || !find_burst(draft.hosts[other], quiet, burst)) { return; }
        tie_burst(draft, main, other, burst);
    };
    Ticks before = draft.window.begin;
    for (auto const& piece : pieces) {
        consider({before, piece.begin});
        if (draft.trace.kind[piece.span] == SpanKind::host) { consider({piece.begin, piece.end}); }
        before = piece.end;
    }
    consider({before, draft.window.host_end});
}

/// Where a thread begins after it was quiet, the main thread had handed over to it.
void tie_begins(StepDraft& draft, std::uint32_t main, std::uint32_t other) {
    Ticks before = draft.window.begin;
    for (auto const& piece : draft.hosts[other].pieces()) {
        if (piece.begin >= before + quiet_time) {
            draft.hosts[main].cut(piece.begin);
            draft.hosts[other].wait(before, piece.begin);
            draft.ties.push_back({thread_at(main, piece.begin), thread_at(other, piece.begin), TraceEdge::handover, 0});
        }
        before = piece.end;
    }
}

/// Calls for transfers, each given to one of them.
class TransferCalls {
public:
    TransferCalls(StepDraft const& draft, std::size_t transfers)
        : draft_(draft), calls_(transfer_calls(draft)), taken_(calls_.size()), in_order_(calls_.size() == transfers) {}

    /// Gives the call of a transfer: of as many calls the one of its number, else the last before it. A transfer of gloo, MPI, UCC or oneCCL without one of its
    /// own (exchanges of some versions) is asked for by the main thread as it begins.
    std::optional<TransferCall> call_for(std::size_t number, LaneWork const& work) {
        if (in_order_ && calls_[number].begin <= work.begin) { return calls_[number]; }
        auto const later = [](Ticks at, TransferCall const& call) { return at < call.begin; };
        auto const next = std::upper_bound(calls_.begin(), calls_.end(), work.begin, later) - calls_.begin();
        bool const has_one = next > 0 && !taken_[static_cast<std::size_t>(next - 1)];
        auto const& timeline = draft_.trace.timeline;
        bool const of_library = names_communication(timeline.names[timeline.name[work.span]]);
        if (!has_one && of_library && !draft_.hosts.empty()) { return TransferCall{work.begin, work.begin, 0}; }
        if (next == 0) { return std::nullopt; }
        taken_[static_cast<std::size_t>(next - 1)] = true;
        return calls_[static_cast<std::size_t>(next - 1)];
    }

private:
    StepDraft const& draft_;
    std::vector<TransferCall> calls_;
    std::vector<bool> taken_;
    bool in_order_;
};

} // namespace

void tie_transfers(StepDraft& draft) {
    std::vector<TieEnd> transfers;
    for (std::uint32_t slot = 0; slot < draft.window.work.size(); ++slot) {
        auto const& lane = draft.window.work[slot];
        for (std::size_t i = 0; i < lane.size(); ++i) {
            if (lane[i].transfer && lane[i].begin > draft.window.begin) { transfers.push_back(work_at(slot, i)); }
        }
    }
    if (transfers.empty()) { return; }
    auto const begin_of = [&](TieEnd const& end) { return draft.window.work[end.slot][end.index].begin; };
    std::stable_sort(transfers.begin(), transfers.end(),
                     [&](auto const& a, auto const& b) { return begin_of(a) < begin_of(b); });
    TransferCalls calls{draft, transfers.size()};
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        auto const call = calls.call_for(i, draft.window.work[transfers[i].slot][transfers[i].index]);
        if (!call) { continue; }
        Ticks const asked = std::min(call->end, begin_of(transfers[i]));
        draft.hosts[call->thread].cut(asked);
        draft.ties.push_back({thread_at(call->thread, asked), transfers[i], TraceEdge::launch, 0});
        tie_back(draft, call->thread, transfers[i]);
    }
}

void tie_threads(StepDraft& draft) {
    if (draft.hosts.empty() || draft.window.main_lane == none) { return; }
    constexpr std::uint32_t main = 0;
    for (std::uint32_t other = 1; other < draft.hosts.size(); ++other) {
        tie_quiet(draft, main, other);
        tie_begins(draft, main, other);
    }
}

} // namespace headroom::trace::path
