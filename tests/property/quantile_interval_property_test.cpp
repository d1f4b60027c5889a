// Coverage of intervals of quantiles, over hundreds of sets of samples that are drawn.

#include "support/latencies.hpp"

#include "headroom/serving/latency_statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::CounterRandom;
using test::drawn;
using test::histogram_of;

struct Distribution {
    std::string name;
    test::Drawing draw;
    std::function<double(double)> quantile;
};

std::vector<Distribution> distributions() {
    auto const exponential = [](CounterRandom& random) { return random.exponential(); };
    return {{"exponential", exponential, [](double q) { return -std::log(1.0 - q); }},
            {"lognormal", [](CounterRandom& random) { return std::exp(1.5 * normal_exceeded_by(random.uniform())); },
             [](double q) { return std::exp(1.5 * normal_exceeded_by(1.0 - q)); }},
            {"ties", [](CounterRandom& random) { return std::ceil(5.0 * random.exponential()); },
             [](double q) { return std::ceil(-5.0 * std::log(1.0 - q)); }},
            {"equal", [](CounterRandom&) { return 0.1; }, [](double) { return 0.1; }}};
}

/// Share of intervals that held their quantile, and the coverage that they state.
struct Held {
    unsigned stated = 0, held = 0;
    double coverage = 0.0;
};

TEST(QuantileInterval, CoversWhatItStates) {
    constexpr std::array levels{0.5, 0.9, 0.99, 0.999};
    for (Distribution const& one : distributions()) {
        for (unsigned const n : {30U, 400U, 4000U}) {
            unsigned const runs = n > 1000U ? 250U : 1000U;
            std::array<Held, levels.size()> counts;
            for (unsigned run = 0; run < runs; ++run) {
                CounterRandom random{7919ULL * run + n + one.name.size() * 1'000'003};
                auto const samples = histogram_of(drawn(n, random, one.draw));
                for (std::size_t level = 0; level < levels.size(); ++level) {
                    auto const found = quantile_estimate(samples, levels[level]);
                    if (!found.low || !found.high) { continue; }
                    double const truth = one.quantile(levels[level]);
                    counts[level].coverage = found.coverage;
                    counts[level].held += *found.low <= truth && truth <= *found.high ? 1U : 0U;
                    ++counts[level].stated;
                }
            }
            for (std::size_t level = 0; level < levels.size(); ++level) {
                auto const& [stated, held, coverage] = counts[level];
                double const q = levels[level];
                ASSERT_EQ(stated, n >= samples_for_quantile(q) ? runs : 0U) << one.name << " " << n << " " << q;
                if (stated == 0U) { continue; }
                EXPECT_GE(coverage, 0.95);
                double const error = std::sqrt(coverage * (1.0 - coverage) / stated);
                EXPECT_GE(static_cast<double>(held) / stated, coverage - 3.5 * error)
                    << one.name << " " << n << " " << q;
            }
        }
    }
}

} // namespace
} // namespace headroom
