#include "headroom/error.hpp"
#include "headroom/serving/tail_answer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace headroom::serving {

using namespace headroom::trace;

namespace {

constexpr double rarely = 0.01;

double seconds_of_step(StepShares const& step) { return static_cast<double>(step.step.end - step.step.begin) / 1e9; }

/// P(X >= k) of n trials with success p, summed from the largest terms on.
double binomial_upper_tail(std::uint64_t n, std::uint64_t k, double p) {
    if (k == 0) { return 1.0; }
    double sum = 0.0;
    for (std::uint64_t i = k; i <= n; ++i) {
        auto const at = static_cast<double>(i), all = static_cast<double>(n);
        double const log_term = std::lgamma(all + 1.0) - std::lgamma(at + 1.0) - std::lgamma(all - at + 1.0) +
                                at * std::log(p) + (all - at) * std::log1p(-p);
        double const term = std::exp(log_term);
        sum += term;
        if (term < 1e-18 * sum && at > all * p) { break; }
    }
    return std::min(1.0, sum);
}

/// Step by step, the time that each rank took: only steps that every rank has.
using StepTable = std::map<std::int64_t, std::vector<double>>;

StepTable common_steps(std::vector<RankDigest const*> const& ranks) {
    StepTable table;
    for (RankDigest const* const rank : ranks) {
        for (StepShares const& step : rank->breakdown.steps) {
            table[step.step.number].push_back(seconds_of_step(step));
        }
    }
    std::erase_if(table, [&](auto const& row) { return row.second.size() != ranks.size(); });
    return table;
}

std::vector<SlowRank> slow_ranks(std::vector<RankDigest const*> const& ranks, StepTable const& table) {
    std::vector<SlowRank> all(ranks.size());
    for (auto const& [number, times] : table) {
        auto const slowest = static_cast<std::size_t>(std::ranges::max_element(times) - times.begin());
        ++all[slowest].slowest;
        for (std::size_t at = 0; at < times.size(); ++at) {
            all[at].mean_seconds += times[at] / static_cast<double>(table.size());
        }
    }
    auto const count = static_cast<double>(ranks.size());
    for (std::size_t at = 0; at < all.size(); ++at) {
        all[at].rank = ranks[at]->rank;
        all[at].probability = std::min(1.0, count * binomial_upper_tail(table.size(), all[at].slowest, 1.0 / count));
    }
    std::erase_if(all, [](SlowRank const& one) { return one.probability > rarely; });
    std::ranges::stable_sort(all, std::ranges::greater{}, &SlowRank::slowest);
    return all;
}

SynchronousSteps meet(std::vector<RankDigest const*> const& ranks, StepTable const& table,
                      LatencyHistogram const& values) {
    SynchronousSteps steps{.ranks = static_cast<int>(ranks.size()), .steps = table.size(), .slow = {}};
    for (auto const& [number, times] : table) {
        for (double const time : times) {
            steps.mean_seconds += time / static_cast<double>(table.size() * times.size());
        }
        steps.slowest_seconds += std::ranges::max(times) / static_cast<double>(table.size());
    }
    if (steps.mean_seconds > 0.0) { steps.slowdown = steps.slowest_seconds / steps.mean_seconds; }
    steps.independent_slowdown = fan_out(values, Ranks{steps.ranks}, values.most()).slowdown;
    steps.slow = slow_ranks(ranks, table);
    return steps;
}

} // namespace

TailPart steps_of(TraceAnswer const& answer) {
    TailPart part{.name = {}, .samples = {}};
    part.samples.format = "trace";
    part.samples.column = "step";
    part.samples.unit = "s";
    part.samples.unit_from = "format";
    std::vector<RankDigest const*> ranks;
    std::vector<std::pair<std::int64_t, double>> steps; // all ranks' first, then all ranks' second: order is time
    for (RankDigest const& rank : answer.ranks) {
        if (rank.breakdown.steps.empty()) { continue; }
        ranks.push_back(&rank);
        for (StepShares const& step : rank.breakdown.steps) {
            steps.emplace_back(step.step.number, seconds_of_step(step));
        }
    }
    std::ranges::stable_sort(steps, {}, [](auto const& one) { return one.first; });
    for (auto const& one : steps) { part.samples.digest.add(one.second); }
    part.samples.rows = steps.size();
    if (ranks.empty()) {
        too_little("trace", "it has no steps", "no range is called a step and nothing repeats",
                   "name the ranges that are steps: --step-name TEXT");
    }
    if (ranks.size() < answer.ranks.size()) {
        part.samples.notes.push_back(std::to_string(answer.ranks.size() - ranks.size()) + " ranks have no steps");
    }
    StepTable const table = common_steps(ranks);
    if (ranks.size() > 1 && !table.empty()) { part.steps = meet(ranks, table, part.samples.digest.values()); }
    return part;
}

} // namespace headroom::serving
