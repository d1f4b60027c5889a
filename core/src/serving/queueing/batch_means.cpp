#include "batch_means.hpp"

#include "checks.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom::serving::queueing {
namespace {

/// Student's t of 97.5 % by Cornish and Fisher's expansion about the normal quantile: to a thousandth from 5 on.
/// Source: [AbramowitzStegun1964] (26.7.5)
double student(double freedom) {
    constexpr double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, z9 = z7 * z * z;
    double const g1 = (z3 + z) / 4.0, g2 = (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0;
    double const g3 = (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0;
    double const g4 = (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * z) / 92160.0;
    return z + (g1 + (g2 + (g3 + g4 / freedom) / freedom) / freedom) / freedom;
}

} // namespace

SimulatedMean batch_mean(std::span<BatchSum const> batches) {
    constexpr double most_alike = 0.9;
    double sum = 0.0, over = 0.0;
    for (BatchSum const& batch : batches) { sum += batch.sum, over += batch.over; }
    if (!(over > 0.0)) { return {}; }
    double const mean = sum / over, count = static_cast<double>(batches.size());
    double squares = 0.0, products = 0.0, before = 0.0;
    for (BatchSum const& batch : batches) {
        double const off = batch.sum - mean * batch.over;
        squares += off * off;
        products += off * before;
        before = off;
    }
    if (batches.size() < 2 || squares == 0.0) { return {mean, mean, mean}; }
    double const seen = products / squares;
    double const alike = std::clamp(seen + (1.0 + 3.0 * seen) / count, 0.0, most_alike);
    double const half =
        student(count - 1.0) * std::sqrt(count / (count - 1.0) * squares * (1.0 + alike) / (1.0 - alike)) / over;
    return {mean, mean - half, mean + half};
}

} // namespace headroom::serving::queueing

namespace headroom::serving {

SimulatedQuantile simulated_quantile(SimulatedQueue const& run, double q) {
    if (!(q > 0.0 && q < 1.0)) { refuse("quantile", "not between 0 and 1", "", "give e.g. 0.99"); }
    SimulatedQuantile quantile{.value = run.latency.quantile(q), .low = {}, .high = {}};
    double const up_to = LatencyHistogram::cell_of(quantile.value).high;
    std::vector<queueing::BatchSum> shares;
    for (LatencyHistogram const& batch : run.batches) {
        auto const count = static_cast<double>(batch.count());
        shares.push_back({count > 0.0 ? count - batch.share_above(up_to) * count : 0.0, count});
    }
    SimulatedMean const share = queueing::batch_mean(shares);
    double const half = 0.5 * (share.high - share.low), least = 1.0 / static_cast<double>(run.latency.count());
    if (q - half >= least) { quantile.low = run.latency.quantile(q - half); }
    if (q + half <= 1.0 - least) { quantile.high = run.latency.quantile(q + half); }
    return quantile;
}

} // namespace headroom::serving
