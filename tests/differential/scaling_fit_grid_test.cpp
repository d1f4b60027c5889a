#include "support/random.hpp"

#include "headroom/fit/scaling_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

// The solver against a search that knows nothing of derivatives: the rate of one worker in closed form, the other
// coefficients on a grid that is laid again and again around its best point.

namespace headroom::fit {
namespace {

using test::CounterRandom;

struct Searched {
    double rss = INFINITY;
    Coefficients c{};
};

/// RSS with the best gamma >= 0 for the other coefficients: the curve is gamma times a shape.
void try_shape(ScalingLaw const& law, ScalingData const& data, Coefficients c, Searched& best) {
    Coefficients g{};
    double fy = 0.0, ff = 0.0;
    c[0] = 1.0;
    for (ScalingSample const& s : data.samples) {
        double const f = law.curve(s.workers, c, g, {});
        fy += s.weight * f * s.value;
        ff += s.weight * f * f;
    }
    c[0] = std::max(0.0, fy / ff);
    double rss = 0.0;
    for (ScalingSample const& s : data.samples) {
        double const error = law.curve(s.workers, c, g, {}) - s.value;
        rss += s.weight * error * error;
    }
    if (rss < best.rss) { best = {rss, c}; }
}

/// `low` and `high` bound the second and third coefficient; an axis without room is one point.
Searched search(ScalingLaw const& law, ScalingData const& data, Coefficients const& low, Coefficients const& high) {
    Searched best;
    Coefficients from = low, to = high;
    constexpr int steps = 24;
    for (int round = 0; round < 26; ++round) {
        for (int i = 0; i <= steps; ++i) {
            for (int j = 0; j <= (high[2] > low[2] ? steps : 0); ++j) {
                try_shape(law, data,
                          {0.0, from[1] + (to[1] - from[1]) * i / steps, from[2] + (to[2] - from[2]) * j / steps},
                          best);
            }
        }
        for (std::size_t a = 1; a < 3; ++a) { // half the size, around the best so far
            double const half = 0.25 * (to[a] - from[a]);
            from[a] = std::max(low[a], best.c[a] - half);
            to[a] = std::min(high[a], best.c[a] + half);
        }
    }
    return best;
}

ScalingData measurements(std::uint64_t seed, bool falls) {
    CounterRandom random{seed};
    double const serial = 0.3 * random.uniform(), coherency = falls ? 0.01 * random.uniform() : 0.0;
    ScalingData data{.samples = {}, .measured = Measured::throughput};
    for (double const k : {1, 2, 4, 6, 8, 12, 16, 24, 32, 48}) {
        double const rate = 50 * k / (1 + serial * (k - 1) + coherency * k * (k - 1));
        data.samples.push_back({k, rate * (0.85 + 0.3 * random.uniform()), 0.5 + random.uniform()});
    }
    double mean = 0.0;
    for (ScalingSample const& s : data.samples) { mean += s.weight / static_cast<double>(data.samples.size()); }
    for (ScalingSample& s : data.samples) { s.weight /= mean; }
    return data;
}

void expect_no_better(char const* name, Coefficients const& low, Coefficients const& high) {
    ScalingLaw const& law = *scaling_law(name);
    FitQuestion question;
    question.intervals = Intervals::asymptotic;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        ScalingData const data = measurements(seed, seed % 2 == 0);
        Searched const searched = search(law, data, low, high);
        LawFit const fit = fit_law(law, data, question);
        EXPECT_LE(fit.rss, searched.rss * (1 + 1e-9)) << name << ", seed " << seed;
        EXPECT_NEAR(fit.rss, searched.rss, 1e-4 * searched.rss) << name << ", seed " << seed << ": the grid missed it";
    }
}

TEST(ScalingFitGrid, NoAmdahlIsBetter) { expect_no_better("amdahl", {0, 0, 0}, {0, 1, 0}); }
TEST(ScalingFitGrid, NoGustafsonIsBetter) { expect_no_better("gustafson", {0, 0, 0}, {0, 1, 0}); }
TEST(ScalingFitGrid, NoSunNiIsBetter) { expect_no_better("sun_ni", {0, 0, 0}, {0, 1, 1}); }
TEST(ScalingFitGrid, NoUniversalLawIsBetter) { expect_no_better("usl", {0, 0, 0}, {0, 1, 0.05}); }

} // namespace
} // namespace headroom::fit
