#include "joint_cells.hpp"

#include "headroom/error.hpp"
#include "headroom/sample_statistics.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace headroom::serving {
namespace {

constexpr std::uint64_t fewest = 20;
constexpr double stated_coverage = 0.95;
constexpr double infinite = std::numeric_limits<double>::infinity();

/// A run with what it is worth for a quantile.
struct Side {
    LatencyHistogram const& samples;
    SampleWorth worth;
};

/// ln of a quantile with how far its interval reaches to either side.
struct LogQuantile {
    double value = 0.0, down = 0.0, up = 0.0;
};

/// Values that count as zero are all the same: as small as the least one that does not.
double logarithm(double value) { return std::log(std::max(value, std::ldexp(1.0, LatencyHistogram::least_exponent))); }

LogQuantile log_quantile(Side const& side, double q, double coverage) {
    QuantileEstimate const estimate = quantile_estimate(side.samples, q, coverage, side.worth.at(q));
    double const value = logarithm(estimate.value);
    return {.value = value,
            .down = estimate.low ? value - logarithm(*estimate.low) : infinite,
            .up = estimate.high ? logarithm(*estimate.high) - value : infinite};
}

/// ln of the ratio of two quantiles, and its interval: the reach of both joined as those of independent errors are.
struct LogInterval {
    double ratio = 0.0, low = 0.0, high = 0.0;
};

LogInterval log_interval(Side const& first, Side const& second, double q, double coverage) {
    LogQuantile const one = log_quantile(first, q, coverage), other = log_quantile(second, q, coverage);
    double const ratio = other.value - one.value;
    return {
        .ratio = ratio, .low = ratio - std::hypot(other.down, one.up), .high = ratio + std::hypot(other.up, one.down)};
}

/// Back from logarithms: what only a zero can be so far from is without limit.
double ratio_of(double logarithmic) {
    constexpr double farthest = 60.0;
    return logarithmic > farthest ? infinite : logarithmic < -farthest ? 0.0 : std::exp(logarithmic);
}

/// 1 - the coverage of the widest interval that does not hold a ratio of one.
double probability_of_one(Side const& first, Side const& second, double q) {
    constexpr int halvings = 40;
    double outside = std::log(1e-15), inside = 0.0; // of what an interval misses: wide ones hold a one, narrow ones not
    auto const holds_one = [&](double missed) {
        LogInterval const interval = log_interval(first, second, q, 1.0 - missed);
        return interval.low <= 0.0 && interval.high >= 0.0;
    };
    if (holds_one(1.0 - 1e-9)) { return 1.0; }
    if (!holds_one(std::exp(outside))) { return std::exp(outside); }
    for (int i = 0; i < halvings && inside - outside > 1e-6; ++i) {
        double const middle = 0.5 * (outside + inside);
        (holds_one(std::exp(middle)) ? outside : inside) = middle;
    }
    return std::exp(inside);
}

void check_count(LatencyHistogram const& samples, char const* which) {
    if (samples.count() >= fewest) { return; }
    too_little(which, std::to_string(samples.count()) + " samples are too few",
               "at least " + std::to_string(fewest) + " are needed", "measure longer");
}

double share_larger(std::vector<JointCell> const& cells) {
    double pairs = 0.0, first = 0.0, second = 0.0;
    for (JointCell const& cell : cells) {
        pairs += cell.second * (first + 0.5 * cell.first);
        first += cell.first;
        second += cell.second;
    }
    return pairs / first / second;
}

std::vector<QuantileChange> quantile_changes(Side const& first, Side const& second, std::span<double const> quantiles) {
    std::vector<QuantileChange> changes;
    std::vector<double> probabilities;
    for (double const q : quantiles) {
        LogInterval const interval = log_interval(first, second, q, stated_coverage);
        if (std::isinf(interval.low) || std::isinf(interval.high)) { continue; }
        QuantileChange change;
        change.q = q;
        change.first = first.samples.quantile(q);
        change.second = second.samples.quantile(q);
        change.ratio = ratio_of(interval.ratio);
        change.low = ratio_of(interval.low);
        change.high = ratio_of(interval.high);
        changes.push_back(change);
        probabilities.push_back(probability_of_one(first, second, q));
    }
    std::vector<double> const adjusted = adjusted_for_many(probabilities);
    for (std::size_t i = 0; i < changes.size(); ++i) { changes[i].probability = adjusted[i]; }
    return changes;
}

} // namespace

TailComparison compare_tails(LatencyHistogram const& first_samples, LatencyHistogram const& second_samples,
                             std::span<double const> quantiles, SampleWorth first_worth, SampleWorth second_worth) {
    Side const first{first_samples, first_worth}, second{second_samples, second_worth};
    constexpr double middle = 0.5;
    check_count(first.samples, "first run");
    check_count(second.samples, "second run");
    std::vector<JointCell> const cells = joint_cells(first.samples, second.samples);
    double const of_first = 1.0 / static_cast<double>(first.samples.count());
    double const of_second = 1.0 / static_cast<double>(second.samples.count());
    double const inflation =
        (of_first / first.worth.at(middle) + of_second / second.worth.at(middle)) / (of_first + of_second);
    TailDistance const distance = tail_distance(cells, inflation);
    TailComparison comparison;
    comparison.quantiles = quantile_changes(first, second, quantiles);
    comparison.distance = distance.normalised;
    comparison.probability = distance.probability;
    comparison.larger = share_larger(cells);
    return comparison;
}

} // namespace headroom::serving
