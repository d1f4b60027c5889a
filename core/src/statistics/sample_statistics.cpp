#include "headroom/sample_statistics.hpp"

#include "statistics/sample_values.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace headroom {

namespace {

constexpr double normal_consistency = 1.4826; ///< standard deviation of a normal over its median deviation

/// l of `summarize`, from 1, and what its interval covers.
struct MedianRanks {
    std::size_t rank = 1;
    double coverage = 0.0;
};

MedianRanks median_ranks(std::size_t n, double coverage) {
    double const count = static_cast<double>(n);
    auto const probability = [count](double successes) { // by logarithms: 2^-n has no double for large n
        return std::exp(std::lgamma(count + 1) - std::lgamma(successes + 1) - std::lgamma(count - successes + 1) -
                        count * std::log(2.0));
    };
    double below = probability(0.0);
    MedianRanks ranks{1, std::max(0.0, 1.0 - 2.0 * below)};
    for (std::size_t rank = 2; 2 * rank <= n; ++rank) {
        below += probability(static_cast<double>(rank - 1));
        if (1.0 - 2.0 * below < coverage) { break; }
        ranks = {rank, 1.0 - 2.0 * below};
    }
    return ranks;
}

} // namespace

SampleSummary summarize(std::span<double const> samples, double coverage) {
    check_samples(samples, 1);
    if (!(coverage > 0.0 && coverage < 1.0)) {
        throw InputError{Fault::usage,
                         {.where = "coverage", .problem = "it lies between 0 and 1", .hint = "give 0.95"}};
    }
    std::vector<double> const values = in_order(samples);
    auto const [rank, covered] = median_ranks(values.size(), coverage);
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
    summary.coverage = covered;
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
