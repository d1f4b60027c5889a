#include "collective_summaries.hpp"

#include "wide_time.hpp"

#include "headroom/network/comparison.hpp"

#include <algorithm>
#include <map>

namespace headroom::trace {

using namespace headroom::network;

namespace {

std::string summary_name(std::optional<Collective> const& collective, std::string const& what,
                         std::string const& kernel) {
    if (collective) { return std::string(name_of(*collective)); }
    return what.empty() ? kernel : what;
}

struct SummaryKey {
    std::string name;
    std::int32_t ranks = 0;
    std::int64_t bytes = 0;
    auto operator<=>(SummaryKey const&) const = default;
};

struct SummaryParts {
    std::optional<Collective> collective;
    std::int64_t count = 0;
    Ticks sum = 0, transfer = 0;
    std::vector<double> durations, transfers;
};

/// Median of bytes over time; a median of times has the same place, however many are zero.
std::optional<double> bandwidth(SummaryKey const& key, SummaryParts const& parts, std::vector<double> times) {
    if (!parts.collective || key.bytes <= 0 || key.ranks < 2 || times.empty()) { return {}; }
    double const factor = bus_bandwidth_factor(*parts.collective, Ranks{key.ranks});
    auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    double median = *middle;
    if (times.size() % 2 == 0) { median = (median + *std::max_element(times.begin(), middle)) / 2.0; }
    if (!(median > 0.0) || factor <= 0.0) { return {}; }
    return factor * static_cast<double>(key.bytes) / (median * 1e-9);
}

using Parts = std::map<SummaryKey, SummaryParts>;

void add_matched(MatchedCollective const& one, SummaryParts& parts) {
    parts.collective = one.collective;
    ++parts.count;
    parts.transfer = wide_sum(parts.transfer, one.transfer);
    parts.transfers.push_back(static_cast<double>(one.transfer));
    for (std::size_t m = 0; m < one.members.size(); ++m) {
        Ticks const duration = wide_difference(one.end[m], one.begin[m]);
        parts.sum = wide_sum(parts.sum, duration);
        parts.durations.push_back(static_cast<double>(duration));
    }
}

Parts parts_of(std::vector<MatchedCollective> const& matched, std::vector<LoneRun> const& lone,
               std::span<RankRuns const* const> order) {
    Parts result;
    for (auto const& one : matched) {
        add_matched(one, result[{summary_name(one.collective, one.what, one.name), one.ranks, one.bytes}]);
    }
    for (LoneRun const& one : lone) {
        CollectiveRuns const& runs = order[one.rank]->runs;
        CollectiveRun const& run = runs.runs[one.run];
        CollectiveLabel const& label = runs.label_of(run);
        auto& parts = result[{summary_name(label.collective, label.what, label.name), one.ranks, run.bytes}];
        Ticks const duration = wide_difference(run.end, run.begin);
        parts.collective = label.collective;
        ++parts.count;
        parts.sum = wide_sum(parts.sum, duration);
        parts.durations.push_back(static_cast<double>(duration));
    }
    return result;
}

RankWaiting& waiting_rank(std::vector<RankWaiting>& ranks, std::int64_t rank) {
    return *std::ranges::lower_bound(ranks, rank, {}, &RankWaiting::rank);
}

/// The rank whose begin is last (of equal ones the lowest), and what the others waited.
void add_waiting(MatchedCollective const& one, std::vector<RankWaiting>& ranks) {
    Ticks const last = *std::ranges::max_element(one.begin);
    Ticks before_last = std::numeric_limits<Ticks>::min();
    for (std::size_t m = 0; m < one.members.size(); ++m) {
        auto& rank = waiting_rank(ranks, one.members[m]);
        rank.waited = wide_sum(rank.waited, wide_difference(last, one.begin[m]));
        if (one.members[m] != one.last_arriver) { before_last = std::max(before_last, one.begin[m]); }
    }
    auto& late = waiting_rank(ranks, one.last_arriver);
    ++late.last;
    late.kept_waiting = wide_sum(late.kept_waiting, wide_difference(last, before_last));
}

} // namespace

std::vector<CollectiveSummary> summaries_of(std::vector<MatchedCollective> const& matched,
                                            std::vector<LoneRun> const& lone, std::span<RankRuns const* const> order) {
    std::vector<CollectiveSummary> result;
    for (auto& [key, parts] : parts_of(matched, lone, order)) {
        result.push_back({.name = key.name,
                          .collective = parts.collective,
                          .ranks = key.ranks,
                          .bytes = key.bytes,
                          .count = parts.count,
                          .seconds_of_ranks = parts.sum,
                          .transfer = parts.transfer,
                          .bus_bandwidth = bandwidth(key, parts, std::move(parts.durations)),
                          .transfer_bandwidth = bandwidth(key, parts, std::move(parts.transfers))});
    }
    std::ranges::stable_sort(result, std::ranges::greater{}, &CollectiveSummary::seconds_of_ranks);
    return result;
}

std::vector<RankWaiting> waiting_of(std::vector<MatchedCollective> const& matched,
                                    std::span<RankRuns const* const> order) {
    std::vector<RankWaiting> result;
    for (RankRuns const* const rank : order) {
        if (result.empty() || result.back().rank != rank->rank) { result.push_back({.rank = rank->rank}); }
    }
    for (auto const& one : matched) { add_waiting(one, result); }
    return result;
}

Percentiles percentiles_of(std::vector<Ticks> values) {
    if (values.empty()) { return {}; }
    std::ranges::sort(values);
    auto const at = [&](double share) {
        double const position = share * static_cast<double>(values.size() - 1);
        auto const below = static_cast<std::size_t>(position);
        auto const low = static_cast<double>(values[below]);
        auto const high = static_cast<double>(values[std::min(below + 1, values.size() - 1)]);
        return low + (high - low) * (position - static_cast<double>(below));
    };
    return {at(0.5), at(0.9), at(0.95), at(0.99), static_cast<double>(values.back())};
}

} // namespace headroom::trace
