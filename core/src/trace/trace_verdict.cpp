#include "headroom/trace/trace_report.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::trace {
namespace {

constexpr double much_exposed = 0.1, much_idle = 0.25; ///< of the time: every trace is idle for some of it
constexpr std::size_t most_late_ranks = 3;

void find_idle_reason(TraceAnswer const& answer, TraceVerdict& verdict) {
    IdleShares const idle = idle_sum(answer.ranks);
    std::array<std::pair<IdleReason, Ticks>, 3> const reasons{{{IdleReason::host_bound, idle.host_bound},
                                                               {IdleReason::waiting, idle.waiting},
                                                               {IdleReason::other, idle.other}}};
    auto const& [reason, time] = *std::ranges::max_element(reasons, {}, &std::pair<IdleReason, Ticks>::second);
    auto const all = static_cast<double>(std::max<Ticks>(1, idle.host_bound + idle.waiting + idle.other));
    verdict.idle_reason = reason;
    verdict.idle_reason_share = static_cast<double>(time) / all;
}

TimeFinding finding_of(TraceAnswer const& answer, TraceVerdict const& verdict) {
    if (!knows_when(answer)) { return TimeFinding::totals; }
    if (answer.work_missing) { return TimeFinding::missing_work; }
    if (verdict.shares.exposed >= much_exposed) { return TimeFinding::exposed_communication; }
    return verdict.shares.idle >= much_idle && !verdict.on_host ? TimeFinding::idle : TimeFinding::computation;
}

std::optional<LateRanks> late_ranks_of(TraceAnswer const& answer) {
    LateRanks late;
    for (Straggler const& one : answer.stragglers) {
        bool const counts = one.reason == StragglerReason::arrives_last && late.ranks.size() < most_late_ranks;
        if (counts) { late.ranks.push_back(one.rank); }
    }
    if (late.ranks.empty()) { return std::nullopt; }
    std::ranges::sort(late.ranks);
    for (RankWaiting const& one : answer.collectives.waiting) {
        if (!std::ranges::binary_search(late.ranks, one.rank)) { continue; }
        late.last += one.last;
        late.kept_waiting += one.kept_waiting;
    }
    return late;
}

std::optional<PathFinding> path_finding_of(std::optional<PathAnswer> const& path) {
    if (!path || path->depth <= 0) { return std::nullopt; }
    auto const of_kind = [&](SpanKind kind) { return path->by_kind[static_cast<std::size_t>(kind)]; };
    auto const of_edge = [&](TraceEdge edge) { return path->delays_by[static_cast<std::size_t>(edge)]; };
    Ticks const host = of_kind(SpanKind::host) + of_kind(SpanKind::launch) + of_kind(SpanKind::annotation) +
                       of_edge(TraceEdge::program) + of_edge(TraceEdge::handover);
    Ticks const starts = of_edge(TraceEdge::launch) + of_edge(TraceEdge::stream) + of_edge(TraceEdge::wait) +
                         of_kind(SpanKind::synchronization) + of_kind(SpanKind::device_wait);
    std::array<std::pair<PathPart, Ticks>, 4> const parts{{{PathPart::computation, of_kind(SpanKind::compute)},
                                                           {PathPart::communication, of_kind(SpanKind::communication)},
                                                           {PathPart::host, host},
                                                           {PathPart::starts, starts}}};
    auto const& [part, time] = *std::ranges::max_element(parts, {}, &std::pair<PathPart, Ticks>::second);
    return PathFinding{part, static_cast<double>(time) / static_cast<double>(path->depth)};
}

} // namespace

TraceVerdict trace_verdict(TraceAnswer const& answer) {
    TraceVerdict verdict;
    verdict.shares = device_shares_of(answer).value_or(DeviceShares{});
    verdict.on_host = std::ranges::all_of(answer.ranks, [](RankDigest const& rank) { return rank.breakdown.on_host; });
    verdict.finding = finding_of(answer, verdict);
    find_idle_reason(answer, verdict);
    verdict.late = late_ranks_of(answer);
    if (!answer.work_missing) { verdict.path = path_finding_of(answer.path); }
    auto const next =
        std::ranges::find_if(answer.expected, [&](ExpectedSpeedup const& one) { return one.workers > answer.workers; });
    if (answer.ceiling && next != answer.expected.end()) { verdict.next = *next; }
    return verdict;
}

} // namespace headroom::trace
