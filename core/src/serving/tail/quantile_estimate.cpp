#include "base/statistics/binomial.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::serving {
namespace {

void check_share(double share, char const* what, char const* hint) {
    if (share > 0.0 && share < 1.0) { return; }
    refuse(what, "it lies between 0 and 1", {}, hint);
}

/// The rank among `all` that stands where `rank` does among `worth` of them, towards the nearer end.
std::uint64_t spread_rank(std::uint64_t rank, std::uint64_t worth, std::uint64_t all) {
    if (worth == all) { return rank; }
    double const place = static_cast<double>(rank - 1) / static_cast<double>(worth) * static_cast<double>(all);
    return std::min(all, static_cast<std::uint64_t>(place) + 1);
}

} // namespace

QuantileEstimate quantile_estimate(LatencyHistogram const& samples, double q, double coverage, double worth) {
    check_share(q, "quantile", "give 0.99");
    check_share(coverage, "coverage", "give 0.95");
    if (!(worth > 0.0 && worth <= 1.0)) { refuse("worth of samples", "it lies above 0, and is at most 1"); }
    QuantileEstimate estimate;
    estimate.q = q;
    estimate.value = q == 0.5 ? samples.median() : samples.quantile(q);
    std::uint64_t const n = samples.count();
    double const independent = std::max(1.0, std::round(worth * static_cast<double>(n)));
    std::uint64_t const counted = worth == 1.0 ? n : std::min(n, static_cast<std::uint64_t>(independent));
    QuantileRanks const ranks = ranks_around_quantile(counted, q, coverage);
    constexpr double error = LatencyHistogram::relative_error; // of a value: of what was read, it is over 1 +- error
    if (ranks.low > 0) {
        double const low = samples.ranked(spread_rank(ranks.low, counted, n));
        estimate.low = std::max(samples.least(), low / (1.0 + error));
    }
    if (ranks.high <= counted) {
        double const high = samples.ranked(n + 1 - spread_rank(counted + 1 - ranks.high, counted, n));
        estimate.high = std::min(samples.most(), high / (1.0 - error));
    }
    if (estimate.low && estimate.high) { estimate.coverage = ranks.coverage; }
    estimate.samples_beyond = static_cast<std::uint64_t>((1.0 - q) * static_cast<double>(n) * (1.0 + 1e-12));
    return estimate;
}

std::uint64_t samples_for_quantile(double q, double coverage) {
    check_share(q, "quantile", "give 0.99");
    check_share(coverage, "coverage", "give 0.95");
    double const missed = 0.5 * (1.0 - coverage);
    auto const has_ends = [&](std::uint64_t n) {
        QuantileRanks const ranks = ranks_around_quantile(n, q, coverage);
        return ranks.low > 0 && ranks.high <= n;
    };
    auto count = static_cast<std::uint64_t>(std::log(missed) / std::log(std::max(q, 1.0 - q)));
    count = std::max<std::uint64_t>(2, count) - 1;
    while (!has_ends(count)) { ++count; } // what rounds in the line above costs a step or two
    return count;
}

} // namespace headroom::serving
