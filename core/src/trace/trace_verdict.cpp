#include "headroom/trace/trace_report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace headroom::trace {
namespace {

constexpr double much_exposed = 0.1, much_idle = 0.25; ///< of the time: every trace is idle for some of it
constexpr std::size_t most_late_ranks = 5;

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

/// Nodes by rank; empty where a trace names none.
std::map<std::int64_t, std::string> nodes_of(TraceAnswer const& answer) {
    std::map<std::int64_t, std::string> nodes;
    for (RankDigest const& rank : answer.ranks) {
        if (rank.host_name.empty()) { return {}; }
        nodes.emplace(rank.rank, rank.host_name);
    }
    return nodes;
}

/// One node, or one place in every node, which is one rail of the network.
std::string node_pattern(TraceAnswer const& answer, std::vector<std::int64_t> const& late) {
    auto const nodes = nodes_of(answer);
    std::map<std::string, std::int64_t> sizes, firsts; // of each node: ranks, and the smallest
    for (auto const& [rank, node] : nodes) {
        ++sizes[node];
        firsts.try_emplace(node, rank);
    }
    if (sizes.size() < 2) { return {}; }
    std::string const& node = nodes.at(late.front());
    auto const in_it = [&](std::int64_t rank) { return nodes.at(rank) == node; };
    if (std::ranges::all_of(late, in_it)) { return "on node " + node; }
    auto const place = [&](std::int64_t rank) { return rank - firsts.at(nodes.at(rank)); };
    bool const one_place =
        std::ranges::all_of(late, [&](std::int64_t rank) { return place(rank) == place(late.front()); });
    return one_place ? "local rank " + std::to_string(place(late.front())) + " of their nodes, one rail"
                     : std::string{};
}

/// The smallest process group that holds all of them and not all ranks: a pipeline stage, tensor or expert ranks.
std::string group_pattern(TraceAnswer const& answer, std::vector<std::int64_t> const& late) {
    CollectiveLabel const* smallest = nullptr;
    for (RankDigest const& rank : answer.ranks) {
        for (CollectiveLabel const& label : rank.runs.labels) {
            auto const holds = [&](std::int64_t one) {
                return std::ranges::find(label.group_ranks, one) != label.group_ranks.end();
            };
            bool const is_part =
                label.group_ranks.size() > late.size() && label.group_ranks.size() < answer.ranks.size();
            bool const smaller = smallest == nullptr || label.group_ranks.size() < smallest->group_ranks.size();
            if (is_part && smaller && std::ranges::all_of(late, holds)) { smallest = &label; }
        }
    }
    if (smallest == nullptr) { return {}; }
    return "in process group " + smallest->group + " of " + std::to_string(smallest->group_ranks.size()) + " ranks";
}

std::string pattern_of(TraceAnswer const& answer, std::vector<std::int64_t> const& late) {
    std::string node = node_pattern(answer, late);
    return !node.empty() || late.size() < 2 ? node : group_pattern(answer, late);
}

std::optional<LateRanks> late_ranks_of(TraceAnswer const& answer) {
    LateRanks late;
    for (Straggler const& one : answer.stragglers) {
        bool const counts = one.reason == StragglerReason::arrives_last && late.ranks.size() < most_late_ranks;
        if (counts) { late.ranks.push_back(one.rank); }
    }
    if (late.ranks.empty()) { return std::nullopt; }
    std::ranges::sort(late.ranks);
    late.pattern = pattern_of(answer, late.ranks);
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

bool is_on_host(TraceAnswer const& answer) {
    return std::ranges::all_of(answer.ranks, [](RankDigest const& rank) { return rank.breakdown.on_host; });
}

} // namespace

std::optional<double> waiting_share(TraceAnswer const& answer) {
    // a host's transfers may wait for each other
    if (answer.collectives.matched.empty() || is_on_host(answer)) { return std::nullopt; }
    double waited = 0.0;
    for (RankWaiting const& one : answer.collectives.waiting) { waited += static_cast<double>(one.waited); }
    double all = 0.0;
    for (CollectiveSummary const& one : answer.collectives.summaries) {
        all += static_cast<double>(one.seconds_of_ranks);
    }
    return all > 0.0 ? std::optional{std::min(1.0, waited / all)} : std::nullopt;
}

std::optional<double> gamma_without_waiting(TraceAnswer const& answer) {
    auto const waiting = waiting_share(answer);
    return waiting && answer.gamma ? std::optional{*answer.gamma * (1.0 - *waiting)} : std::nullopt;
}

TraceVerdict trace_verdict(TraceAnswer const& answer) {
    TraceVerdict verdict;
    verdict.shares = device_shares_of(answer).value_or(DeviceShares{});
    verdict.on_host = is_on_host(answer);
    verdict.finding = finding_of(answer, verdict);
    find_idle_reason(answer, verdict);
    verdict.late = late_ranks_of(answer);
    verdict.waiting = waiting_share(answer);
    if (!answer.work_missing) { verdict.path = path_finding_of(answer.path); }
    auto const next =
        std::ranges::find_if(answer.expected, [&](ExpectedSpeedup const& one) { return one.workers > answer.workers; });
    if (answer.ceiling && next != answer.expected.end()) { verdict.next = *next; }
    return verdict;
}

} // namespace headroom::trace
