#include "serving/tail/greatest.hpp"
#include "serving/tail/none_drawn.hpp"
#include "support/tails.hpp"

#include "headroom/error.hpp"
#include "headroom/order_statistics.hpp"
#include "headroom/serving/fan_out.hpp"
#include "headroom/serving/tail_distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::examples;
using test::pareto;

TEST(TailDistribution, KnowsItsValues) {
    // Expectation: closed forms by hand.
    TailDistribution const normal{.family = TailFamily::normal, .a = 10.0, .b = 2.0};
    EXPECT_DOUBLE_EQ(normal.share_above(10.0), 0.5);
    EXPECT_NEAR(normal.quantile(0.975), 10.0 + 2.0 * 1.959963984540054, 1e-12);
    TailDistribution const weibull{.family = TailFamily::weibull, .a = 2.0, .b = 3.0};
    EXPECT_DOUBLE_EQ(weibull.share_above(2.0), std::exp(-1.0));
    TailDistribution const exponential{.family = TailFamily::exponential, .a = 1.0, .b = 0.5};
    EXPECT_DOUBLE_EQ(exponential.share_above(2.0), std::exp(-2.0));
    EXPECT_EQ(exponential.share_above(0.9), 1.0);
    EXPECT_DOUBLE_EQ(pareto(1.0, 0.5, 3.0, 0.1).share_above(5.0), 0.1 / 4.0);
    EXPECT_DOUBLE_EQ(pareto(1.0, -0.5, 3.0, 0.1).share_above(6.0), 0.0);
    EXPECT_EQ(pareto(1.0, 0.5, 3.0, 0.1).quantile(0.2), 3.0);
    EXPECT_EQ(pareto(1.0, 0.5, 3.0, 0.1).share_above(1.0), 0.1);
    EXPECT_EQ(name_of(TailFamily::pareto_tail), "pareto tail");
    EXPECT_THROW(static_cast<void>(normal.quantile(1.1)), InputError);
    EXPECT_THROW(static_cast<void>(normal.quantile_above(-0.1)), InputError);
}

TEST(TailDistribution, QuantilesAreTheInverseFarOut) {
    for (TailDistribution const& tail : examples()) {
        for (double p : {1e-250, 1e-100, 1e-20, 1e-9, 0.01, 0.3, 0.5, 0.7, 0.999}) {
            double const x = tail.quantile_above(p), slope = tail.family == TailFamily::normal ? 1e3 : 1e2;
            if (tail.b < 0.0 && p < 1e-9) { continue; } // at the end of what it reaches
            EXPECT_NEAR(tail.share_above(x) / p, 1.0, 1e-12 * slope * (1.0 - std::log(p))) << name_of(tail.family) << p;
            EXPECT_NEAR(test::share_up_to(tail, x) + tail.share_above(x), 1.0, 1e-14);
        }
        for (double q : {1e-30, 1e-9, 0.2, 0.5}) {
            bool const shifted = tail.family == TailFamily::exponential; // a + x holds no small x
            if (tail.family == TailFamily::pareto_tail || (shifted && q < 1e-10)) { continue; }
            EXPECT_NEAR(test::share_up_to(tail, tail.quantile(q)) / q, 1.0, 1e-6) << name_of(tail.family) << q;
        }
    }
}

TEST(ExpectedMaximum, OfNormalAndExponentialAreTheTextbooks) {
    // Expectation: 1.4236, 2.3437, 3.0439, 3.4418 deviations; the harmonic numbers. Also by quadrature, which has no
    // closed form to lean on.
    TailDistribution const normal{.family = TailFamily::normal, .a = 5.0, .b = 2.0};
    TailDistribution const exponential{.family = TailFamily::exponential, .a = 1.0, .b = 3.0};
    for (auto const& [k, z] : {std::pair{8, 1.4236}, {64, 2.3437}, {512, 3.0439}, {2048, 3.4418}}) {
        EXPECT_NEAR((expected_maximum(normal, Ranks{k}) - 5.0) / 2.0, z, 5e-5);
        EXPECT_NEAR((mean_from_highest(normal, Ranks{k}, 1.0) - 5.0) / 2.0, z, 5e-5);
        EXPECT_NEAR(fan_out(normal, Ranks{k}, 9.0).mean, 5.0 + 2.0 * z, 1e-4);
    }
    for (int k : {1, 2, 3, 10, 1000, 10'000'000}) {
        double const waits = expected_maximum_exponential(Ranks{k});
        EXPECT_NEAR(expected_maximum(exponential, Ranks{k}), 1.0 + 3.0 * waits, 1e-13 * waits);
        EXPECT_NEAR(mean_from_highest(exponential, Ranks{k}, 1.0), 1.0 + 3.0 * waits, 1e-12 * waits);
        EXPECT_NEAR(expected_maximum(pareto(3.0, 0.0, 1.0), Ranks{k}), 1.0 + 3.0 * waits, 1e-12 * waits);
        EXPECT_NEAR(mean_from_highest(normal, Ranks{k}, 1.0), expected_maximum(normal, Ranks{k}), 1e-12);
    }
}

TEST(ExpectedMaximum, HasClosedFormsOfOtherFamilies) {
    // Expectation: Pareto (K! Gamma(1-b) / Gamma(K+1-b) - 1) a/b; Weibull of one a Gamma(1 + 1/b), of two that twice
    // less the least of two, which is as one with scale a 2^(-1/b); lognormal of one exp(a + b^2/2).
    for (double const b : {-0.9, -0.3, 0.2, 0.5, 0.95}) {
        for (int k : {1, 5, 100}) {
            double const exact =
                2.0 * std::expm1(std::lgamma(k + 1.0) + std::lgamma(1.0 - b) - std::lgamma(k + 1.0 - b)) / b;
            EXPECT_NEAR(expected_maximum(pareto(2.0, b), Ranks{k}) / exact, 1.0, 1e-11) << b << ' ' << k;
        }
    }
    for (double const b : {0.1, 0.5, 1.0, 2.0, 30.0}) {
        TailDistribution const weibull{.family = TailFamily::weibull, .a = 3.0, .b = b};
        double const one = 3.0 * std::tgamma(1.0 + 1.0 / b);
        EXPECT_NEAR(expected_maximum(weibull, Ranks{1}) / one, 1.0, 1e-12);
        EXPECT_NEAR(expected_maximum(weibull, Ranks{2}) / (one * (2.0 - std::pow(2.0, -1.0 / b))), 1.0, 1e-12);
    }
    for (double const b : {0.01, 1.0, 5.0, 15.0}) {
        TailDistribution const lognormal{.family = TailFamily::lognormal, .a = 1.0, .b = b};
        EXPECT_NEAR(expected_maximum(lognormal, Ranks{1}) / std::exp(1.0 + 0.5 * b * b), 1.0, 1e-11);
    }
    EXPECT_TRUE(std::isinf(expected_maximum(pareto(1.0, 1.0), Ranks{2})));
}

TEST(NoneDrawn, IsTheProduct) {
    for (double n : {10.0, 200.0, 5000.0}) {
        for (double m : {0.0, 1.0, 70.0, 400.0}) {
            for (double k : {1.0, 64.0, 65.0, 100.0, 3000.0}) {
                if (k > n || m > n) { continue; }
                double exact = 1.0;
                for (double j = 0.0; j < m; ++j) { exact *= std::max(0.0, (n - k - j) / (n - j)); }
                EXPECT_NEAR(none_drawn(m, k, n), exact, 1e-12 * exact + 1e-36) << n << ' ' << m << ' ' << k;
            }
        }
    }
}

} // namespace
} // namespace headroom
