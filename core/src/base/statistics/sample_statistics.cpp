#include "headroom/sample_statistics.hpp"

#include "binomial.hpp"
#include "sample_values.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace headroom {

namespace {

constexpr double normal_consistency = 1.4826; ///< standard deviation of a normal over its median deviation

} // namespace

SampleSummary summarize(std::span<double const> samples, double coverage) {
    check_samples(samples, 1);
    if (!(coverage > 0.0 && coverage < 1.0)) { refuse("coverage", "it lies between 0 and 1", {}, "give 0.95"); }
    std::vector<double> const values = in_order(samples);
    // with too few samples it is all of them
    std::size_t const rank = std::max<std::size_t>(1, rank_below_quantile(values.size(), 0.5, 0.5 * (1.0 - coverage)));
    double const count = static_cast<double>(values.size());
    SampleSummary summary;
    summary.count = values.size();
    summary.least = values.front();
    summary.most = values.back();
    summary.mean = std::accumulate(values.begin(), values.end(), 0.0,
                                   [count](double mean, double value) { return mean + value / count; });
    summary.median = median_of(values);
    summary.low = values[rank - 1];
    summary.high = values[values.size() - rank];
    summary.coverage = std::max(0.0, 1.0 - 2.0 * binomial_below(values.size(), 0.5, rank));
    std::vector<double> deviations(values.size());
    std::ranges::transform(values, deviations.begin(), [&](double value) { return std::abs(value - summary.median); });
    std::ranges::sort(deviations);
    double const deviation = normal_consistency * median_of(deviations);
    summary.spread = deviation == 0.0 ? 0.0 : deviation / std::abs(summary.median);
    return summary;
}

std::vector<double> adjusted_for_many(std::span<double const> probabilities) {
    std::vector<std::size_t> order(probabilities.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t at) { return probabilities[at]; });
    std::vector<double> adjusted(probabilities.size());
    double greatest = 0.0;
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        double const tests = static_cast<double>(order.size() - rank);
        greatest = std::max(greatest, std::min(1.0, tests * probabilities[order[rank]]));
        adjusted[order[rank]] = greatest;
    }
    return adjusted;
}

} // namespace headroom
