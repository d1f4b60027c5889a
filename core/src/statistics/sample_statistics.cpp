#include "headroom/sample_statistics.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace headroom {

namespace {

constexpr double normal_consistency = 1.4826; ///< standard deviation of a normal over its median deviation

void check(std::span<double const> samples, std::size_t least) {
    if (samples.size() < least) {
        throw InputError{Fault::insufficient,
                         {.where = "samples",
                          .problem = std::to_string(samples.size()) + " are too few",
                          .why = "at least " + std::to_string(least) + " are needed",
                          .hint = "measure more repetitions"}};
    }
    if (!std::ranges::all_of(samples, [](double value) { return std::isfinite(value); })) {
        throw InputError{Fault::usage, {.where = "samples", .problem = "one of them is no finite number"}};
    }
}

std::vector<double> sorted(std::span<double const> samples) {
    std::vector<double> values(samples.begin(), samples.end());
    std::ranges::sort(values);
    return values;
}

/// Of values in order; the mean of the middle two, halved before they are added, so that none overflows.
double median_of(std::span<double const> values) {
    std::size_t const half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : 0.5 * values[half - 1] + 0.5 * values[half];
}

/// How far `l` may go inwards: P(Binomial(n, 1/2) < l) stays within half of what may be missed. At least 1.
struct MedianRanks {
    std::size_t rank = 1; ///< l, from 1
    double coverage = 0.0;
};

MedianRanks median_ranks(std::size_t n, double coverage) {
    double const count = static_cast<double>(n);
    auto const probability = [count](double successes) { // by logarithms: 2^-n has no double for large n
        return std::exp(std::lgamma(count + 1) - std::lgamma(successes + 1) - std::lgamma(count - successes + 1) -
                        count * std::log(2.0));
    };
    double below = probability(0.0);
    MedianRanks ranks{1, 1.0 - 2.0 * below};
    for (std::size_t rank = 2; 2 * rank <= n; ++rank) {
        below += probability(static_cast<double>(rank - 1));
        if (1.0 - 2.0 * below < coverage) { break; }
        ranks = {rank, 1.0 - 2.0 * below};
    }
    return {ranks.rank, std::max(0.0, ranks.coverage)};
}

} // namespace

SampleSummary summarize(std::span<double const> samples, double coverage) {
    check(samples, 1);
    std::vector<double> const values = sorted(samples);
    SampleSummary summary;
    summary.count = values.size();
    summary.least = values.front();
    summary.most = values.back();
    double const count = static_cast<double>(values.size());
    summary.mean = std::accumulate(values.begin(), values.end(), 0.0,
                                   [count](double mean, double value) { return mean + value / count; });
    summary.median = median_of(values);
    auto const [rank, covered] = median_ranks(values.size(), coverage);
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

} // namespace headroom
