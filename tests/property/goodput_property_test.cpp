#include "headroom/training/goodput.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace headroom {

using namespace headroom::training;

namespace {

constexpr double slack = 1e-12;
constexpr Seconds never{std::numeric_limits<double>::infinity()};

/// A time spread evenly over the powers of ten between two bounds, in seconds.
Seconds spread(double low, double high) {
    double const share = *rc::gen::inRange(0, 1 << 20) / static_cast<double>(1 << 20);
    return Seconds{std::pow(low, 1.0 - share) * std::pow(high, share)};
}

FailureModel any_failures() {
    return {.checkpoint = spread(1e-3, 1e5), .restart = spread(1e-3, 1e5), .mtbf = spread(1.0, 1e9)};
}

double best_goodput(FailureModel const& model) { return goodput(model, exact_interval(model)); }

/// Where progress is too small to compare in a double, the best of two intervals is not determined.
bool makes_progress(FailureModel const& model) { return best_goodput(model) > 1e-200; }

RC_GTEST_PROP(GoodputProperty, SharesAreSharesAndSumToOne, ()) {
    TimeShares const shares = time_shares(any_failures(), spread(1e-3, 1e9));
    for (double const part : {shares.work, shares.checkpoint, shares.redone, shares.restart}) {
        RC_ASSERT(part >= 0.0);
        RC_ASSERT(part <= 1.0);
    }
    RC_ASSERT(std::abs(shares.work + shares.lost() - 1.0) <= slack);
}

RC_GTEST_PROP(GoodputProperty, IsTheFormula, ()) {
    // M/tau exp(R/M) (exp((tau+C)/M) - 1), wherever it can be written down so.
    FailureModel const model{.checkpoint = spread(1.0, 1e3), .restart = spread(1.0, 1e3), .mtbf = spread(1e2, 1e6)};
    Seconds const interval = spread(1.0, 1e4);
    double const formula = model.mtbf / interval * std::exp(model.restart / model.mtbf) *
                           std::expm1((interval + model.checkpoint) / model.mtbf);
    RC_ASSERT(std::abs(time_over_work(model, interval) / formula - 1.0) <= slack);
}

RC_GTEST_PROP(GoodputProperty, NoIntervalBeatsTheExactOne, ()) {
    FailureModel const model = any_failures();
    RC_PRE(makes_progress(model));
    double const best = best_goodput(model) * (1.0 + slack);
    Seconds const exact = exact_interval(model);
    RC_LOG() << "C = " << model.checkpoint.base() << ", M = " << model.mtbf.base() << ", tau = " << exact.base()
             << '\n';
    RC_ASSERT(exact > Seconds{});
    RC_ASSERT(exact <= model.mtbf);
    RC_ASSERT(goodput(model, spread(1e-3, 1e9)) <= best);
    RC_ASSERT(goodput(model, 0.99 * exact) <= best);
    RC_ASSERT(goodput(model, 1.01 * exact) <= best);
    RC_ASSERT(goodput(model, young_interval(model)) <= best);
    RC_ASSERT(goodput(model, daly_interval(model)) <= best);
}

RC_GTEST_PROP(GoodputProperty, ExactSolvesItsEquation, ()) {
    FailureModel const model = any_failures();
    double const u = exact_interval(model) / model.mtbf, c = model.checkpoint / model.mtbf;
    RC_PRE(c < 30.0); // beyond, 1 - u has no digits left
    RC_ASSERT(std::abs((1.0 - u) * std::exp(u + c) - 1.0) <= 1e-15 * std::exp(u + c) + slack);
}

RC_GTEST_PROP(GoodputProperty, DalyIsCloseAndYoungIsLonger, ()) {
    FailureModel model = any_failures();
    model.mtbf = model.checkpoint * spread(2.0, 1e6).base();
    double const exact = time_over_work(model, exact_interval(model));
    RC_ASSERT(time_over_work(model, daly_interval(model)) <= exact * 1.00002);
    RC_ASSERT(young_interval(model) >= exact_interval(model));
}

RC_GTEST_PROP(GoodputProperty, WhatIsWorseNeverHelps, ()) {
    FailureModel const model = any_failures();
    double const best = best_goodput(model) * (1.0 + slack);
    FailureModel slower = model, restarts = model, fails = model;
    slower.checkpoint += spread(1e-3, 1e3);
    restarts.restart += spread(1e-3, 1e3);
    fails.mtbf /= spread(1.0, 1e3).base();
    RC_ASSERT(best_goodput(slower) <= best);
    RC_ASSERT(best_goodput(restarts) <= best);
    RC_ASSERT(best_goodput(fails) <= best);
}

RC_GTEST_PROP(GoodputProperty, WithoutFailuresNothingIsLost, ()) {
    FailureModel model = any_failures();
    model.mtbf = never;
    RC_ASSERT(best_goodput(model) == 1.0);
    model.mtbf = Seconds{1e30}; // and it is a limit, not a special case
    RC_ASSERT(best_goodput(model) > 1.0 - 1e-12);
    RC_ASSERT(best_goodput(model) <= 1.0);
}

RC_GTEST_PROP(GoodputProperty, AbsurdInputIsAValue, ()) {
    FailureModel const model{
        .checkpoint = spread(1e-300, 1e300), .restart = spread(1e-300, 1e300), .mtbf = spread(1e-300, 1e300)};
    Seconds const interval = *rc::gen::arbitrary<bool>() ? spread(1e-300, 1e300) : exact_interval(model);
    RC_ASSERT(time_over_work(model, interval) >= 1.0);
    TimeShares const shares = time_shares(model, interval);
    RC_ASSERT(std::abs(shares.work + shares.lost() - 1.0) <= slack);
    RC_ASSERT(exact_interval(model) <= model.mtbf);
    RC_ASSERT(daly_interval(model) > Seconds{});
}

RC_GTEST_PROP(GoodputProperty, TwiceTheDevicesFailTwiceAsOften, ()) {
    int const devices = *rc::gen::inRange(1, 1 << 20);
    Seconds const half = cluster_mtbf(default_device_mtbf, Ranks{2 * devices});
    RC_ASSERT(half == cluster_mtbf(default_device_mtbf, Ranks{devices}) / 2.0);
    RC_ASSERT(cluster_mtbf(default_device_mtbf, Ranks{devices}, Ranks{devices}) == default_device_mtbf);
}

} // namespace
} // namespace headroom
