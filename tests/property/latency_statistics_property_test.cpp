#include "headroom/serving/latency_statistics.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

/// Latencies that span `decades` and more, some of them equal, some zero.
std::vector<double> latencies(int least) {
    auto const exponents = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-400, 1200));
    std::vector<double> values(static_cast<std::size_t>(least), 1.0);
    for (int const exponent : exponents) {
        values.push_back(exponent < -380 ? 0.0 : LatencyHistogram::cell_of(std::exp2(exponent / 100.0)).value);
    }
    return values;
}

LatencyHistogram histogram_of(std::vector<double> const& values, double factor = 1.0) {
    LatencyHistogram histogram;
    for (double const value : values) { histogram.record(factor * value); }
    return histogram;
}

RC_GTEST_PROP(LatencyStatistics, CorrectionEqualsOneByOne, ()) {
    auto const values = latencies(0);
    double const interval = std::exp2(*rc::gen::inRange(-300, 700) / 100.0);
    LatencyHistogram expected = histogram_of(values);
    for (double const value : values) {
        for (double number = 1.0; value - number * interval >= interval; number += 1.0) {
            expected.record(value - number * interval);
        }
    }
    RC_ASSERT(corrected_for_omission(histogram_of(values), interval) == expected);
}

RC_GTEST_PROP(LatencyStatistics, IntervalsHoldTheirQuantileAndNest, ()) {
    auto const samples = histogram_of(latencies(1));
    double const q = *rc::gen::inRange(1, 1000) / 1000.0, worth = *rc::gen::inRange(1, 11) / 10.0;
    auto const narrow = quantile_estimate(samples, q, 0.8), wide = quantile_estimate(samples, q, 0.99);
    auto const wider = quantile_estimate(samples, q, 0.99, worth);
    for (auto const& one : {narrow, wide, wider}) {
        RC_ASSERT(one.low.value_or(-INFINITY) <= one.value);
        RC_ASSERT(one.high.value_or(INFINITY) >= one.value);
        RC_ASSERT(one.coverage == 0.0 || one.coverage >= 0.8);
    }
    if (wide.low) { RC_ASSERT(narrow.low.value_or(-INFINITY) >= *wide.low); }
    if (wide.high) { RC_ASSERT(narrow.high.value_or(INFINITY) <= *wide.high); }
    if (wide.low && wide.high) { RC_ASSERT(samples.count() >= samples_for_quantile(q, 0.99)); }
}

RC_GTEST_PROP(LatencyStatistics, ComparisonIsTheSameInAnyUnitAndTurnsRound, ()) {
    auto const first = latencies(20), second = latencies(20);
    double const unit = std::exp2(*rc::gen::inRange(-20, 20));
    std::vector<double> const asked{0.1, 0.5, 0.9};
    auto const found = compare_tails(histogram_of(first), histogram_of(second), asked);
    auto const scaled = compare_tails(histogram_of(first, unit), histogram_of(second, unit), asked);
    auto const turned = compare_tails(histogram_of(second), histogram_of(first), asked);
    RC_ASSERT(found.probability == scaled.probability);
    RC_ASSERT(found.larger == scaled.larger);
    RC_ASSERT(std::abs(found.probability - turned.probability) <= 1e-9);
    RC_ASSERT(std::abs(found.larger + turned.larger - 1.0) <= 1e-12);
    RC_ASSERT(found.quantiles.size() == turned.quantiles.size());
    for (std::size_t i = 0; i < found.quantiles.size(); ++i) {
        auto const &one = found.quantiles[i], &other = turned.quantiles[i];
        RC_ASSERT(one.low <= one.ratio && one.ratio <= one.high);
        RC_ASSERT(one.probability > 0.0 && one.probability <= 1.0);
        RC_ASSERT(std::abs(one.probability - other.probability) <= 1e-6);
    }
}

RC_GTEST_PROP(LatencyStatistics, ChangesComeInOrderAndApart, ()) {
    auto const steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
    std::vector<DigestBlock> blocks;
    for (int const step : steps) { // each a level of some blocks, up and down by a little in turn
        for (int i = 0; i < 25; ++i) {
            DigestBlock block;
            block.count = 10;
            block.start = static_cast<double>(blocks.size());
            block.mean = 10.0 + step + 0.01 * (i * 7 % 25);
            blocks.push_back(block);
        }
    }
    auto const changes = find_changes(blocks);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        RC_ASSERT(changes[i].block > (i == 0 ? 0 : changes[i - 1].block));
        RC_ASSERT(changes[i].block < blocks.size());
        RC_ASSERT(changes[i].probability <= 0.01);
        RC_ASSERT(changes[i].at == static_cast<double>(changes[i].block));
        if (i > 0) { RC_ASSERT(changes[i].before == changes[i - 1].after); }
    }
}

} // namespace
} // namespace headroom
