// Coverage of the errors that a fit of a tail states, over hundreds of sets of samples that are drawn.

#include "support/latencies.hpp"

#include "headroom/fit/tail_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace headroom::fit {

using namespace headroom::serving;

namespace {

using test::CounterRandom;
using test::drawn;
using test::histogram_of;

TEST(FitTails, StatesErrorsThatHold) {
    // Expectation: over 200 seeds the coefficients lie within two standard errors in 95 % of the cases: 190 +- 3.1, here
    // within four of these.
    using Family = TailFamily;
    for (TailDistribution const& from :
         std::vector<TailDistribution>{{.family = Family::normal, .a = 10.0, .b = 1.0},
                                       {.family = Family::lognormal, .a = -3.0, .b = 0.8},
                                       {.family = Family::weibull, .a = 0.02, .b = 1.7},
                                       {.family = Family::exponential, .a = 0.5, .b = 0.1}}) {
        for (int const count : {200, 3000}) {
            int a_within = 0, b_within = 0;
            for (std::uint64_t seed = 1; seed <= 200; ++seed) {
                CounterRandom random{seed};
                auto const draw = [&from](CounterRandom& one) { return from.quantile_above(one.uniform()); };
                std::vector<TailFit> const fits =
                    fit_tails(histogram_of(drawn(static_cast<std::size_t>(count), random, draw)));
                auto const fit =
                    std::ranges::find(fits, from.family, [](auto const& one) { return one.distribution.family; });
                ASSERT_NE(fit, fits.end());
                a_within += std::abs(fit->distribution.a - from.a) < 2.0 * fit->a_error ? 1 : 0;
                b_within += std::abs(fit->distribution.b - from.b) < 2.0 * fit->b_error ? 1 : 0;
            }
            EXPECT_NEAR(a_within, 190, 12) << name_of(from.family) << ' ' << count;
            EXPECT_NEAR(b_within, 190, 12) << name_of(from.family) << ' ' << count;
        }
    }
}

} // namespace
} // namespace headroom::fit
