#include "support/measured_collectives.hpp"

#include "headroom/fit/communication_fit.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace headroom::fit {

using namespace headroom::network;

namespace {

using headroom::test::measured;
using headroom::test::Protocol;
using headroom::test::protocol_time;

double between(double low, double high, int share) { return low * std::pow(high / low, share / 1000.0); }

/// Two or three protocols of a library: each later one starts later and carries bytes faster, by a jump upwards.
std::vector<Protocol> any_protocols() {
    auto const share = rc::gen::inRange(0, 1001);
    double const alpha = between(2e-6, 5e-5, *share);
    double const beta = between(2e-11, 2e-9, *share);
    double const first = std::exp2(*rc::gen::inRange(12, 16)), second = first * std::exp2(*rc::gen::inRange(6, 10));
    std::vector<Protocol> protocols{{0.0, alpha, beta}};
    double const steeper = between(3.0, 20.0, *share);
    double const at_first = protocol_time(protocols, first) * between(1.3, 2.5, *share);
    protocols.push_back({first, std::max(at_first - first * beta / steeper, alpha), beta / steeper});
    if (*rc::gen::arbitrary<bool>()) {
        double const at_second = protocol_time(protocols, second) * between(1.3, 2.5, *share);
        double const last = protocols.back().beta / between(2.0, 6.0, *share);
        protocols.push_back({second, std::max(at_second - second * last, alpha), last});
    }
    return protocols;
}

CommunicationFit the_fit(std::vector<MeasuredCollective> const& rows) {
    CommunicationFits fits = fit_communication(rows);
    RC_ASSERT(fits.fits.size() == 1U);
    return fits.fits.front();
}

bool holds(Fitted const& fitted, double value, double slack) {
    return fitted.low * (1.0 - slack) <= value && value <= fitted.high * (1.0 + slack);
}

RC_GTEST_PROP(CommunicationFit, WithoutNoiseItIsTheProtocols, ()) {
    auto const protocols = any_protocols();
    auto const rows = measured(protocols, 64.0, 24, 0.0, 1);
    auto const fit = the_fit(rows);
    for (FitResidual const& one : fit.residuals) {
        double const bytes = rows[one.row].size.size.base();
        RC_ASSERT(std::abs(one.relative_error) < 0.05); // pieces of few per cent may be merged: the rule allows 2 %
        RC_ASSERT(!one.outlier);
        RC_ASSERT(bytes > 0.0);
    }
    RC_ASSERT(fit.median_relative_error < 0.01);
    RC_ASSERT(std::abs(fit.segments.back().beta_seconds_per_byte.value / protocols.back().beta - 1.0) < 0.02);
    RC_ASSERT(std::abs(fit.segments.front().alpha_seconds.value / protocols.front().alpha - 1.0) < 0.02);
}

RC_GTEST_PROP(CommunicationFit, TheTimeNeverFalls, ()) {
    auto const rows = measured(any_protocols(), 8.0, *rc::gen::inRange(6, 30), 0.05, *rc::gen::arbitrary<unsigned>());
    auto const fit = the_fit(rows);
    double before = 0.0;
    for (double bytes = 4.0; bytes < 1e11; bytes *= 1.1) {
        double const now = fit.time({Bytes{bytes}}).base();
        RC_ASSERT(now >= before * (1.0 - 1e-9));
        before = now;
    }
    for (FittedSegment const& one : fit.segments) {
        RC_ASSERT(one.alpha_seconds.value >= 0.0);
        RC_ASSERT(one.beta_seconds_per_byte.value >= 0.0);
        RC_ASSERT(holds(one.alpha_seconds, one.alpha_seconds.value, 0.0));
        RC_ASSERT(holds(one.beta_seconds_per_byte, one.beta_seconds_per_byte.value, 0.0));
    }
}

RC_GTEST_PROP(CommunicationFit, ABadRowDoesNotMoveIt, ()) {
    auto const protocols = any_protocols();
    auto rows = measured(protocols, 64.0, 24, 0.01, *rc::gen::arbitrary<unsigned>());
    std::size_t const bad = *rc::gen::inRange<std::size_t>(0, rows.size());
    rows[bad].time *= *rc::gen::arbitrary<bool>() ? 10.0 : 0.1;
    auto const fit = the_fit(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double const bytes = rows[i].size.size.base(), truth = protocol_time(protocols, bytes);
        double const found = fit.time({Bytes{bytes}}).base();
        // A bad row next to a switch may go to either segment: the later one's line is at most 2.5 times higher a
        // doubling further on, where the earlier one has at most doubled.
        RC_ASSERT(found / truth < (i == bad ? 5.1 : 1.4));
        RC_ASSERT(found / truth > (i == bad ? 0.38 : 0.7));
    }
    auto const residual = std::ranges::find(fit.residuals, bad, &FitResidual::row);
    RC_ASSERT(residual->outlier);
    RC_ASSERT(fit.median_relative_error < 0.03);
}

RC_GTEST_PROP(CommunicationFit, TwoBadRowsOfThirtyDoNotMoveIt, ()) {
    std::vector<Protocol> const protocols{{0.0, 1e-5, 1e-9}, {65536.0, 8e-5, 1e-10}};
    auto rows = measured(protocols, 8.0, 30, 0.01, *rc::gen::arbitrary<unsigned>());
    std::size_t const first = *rc::gen::inRange<std::size_t>(2, 9), second = *rc::gen::inRange<std::size_t>(18, 28);
    rows[first].time *= *rc::gen::arbitrary<bool>() ? 10.0 : 0.1;
    rows[second].time *= *rc::gen::arbitrary<bool>() ? 10.0 : 0.1;
    auto const fit = the_fit(rows);
    RC_ASSERT(std::abs(fit.segments.front().alpha_seconds.value / 1e-5 - 1.0) < 0.05);
    RC_ASSERT(std::abs(fit.segments.back().beta_seconds_per_byte.value / 1e-10 - 1.0) < 0.05);
    for (FitResidual const& one : fit.residuals) { RC_ASSERT(one.outlier == (one.row == first || one.row == second)); }
}

RC_GTEST_PROP(CommunicationFit, TimesThatAreScaledScaleIt, ()) {
    auto const rows = measured(any_protocols(), 8.0, 26, 0.03, *rc::gen::arbitrary<unsigned>());
    auto scaled = rows;
    for (MeasuredCollective& row : scaled) { row.time *= 1024.0; }
    auto const one = the_fit(rows), other = the_fit(scaled);
    RC_ASSERT(one.segments.size() == other.segments.size());
    for (std::size_t i = 0; i < one.segments.size(); ++i) {
        auto const near = [](double a, double b) { return std::abs(a - 1024.0 * b) <= 1e-6 * a; };
        RC_ASSERT(near(other.segments[i].alpha_seconds.value, one.segments[i].alpha_seconds.value));
        RC_ASSERT(near(other.segments[i].beta_seconds_per_byte.value, one.segments[i].beta_seconds_per_byte.value));
        RC_ASSERT(one.segments[i].from == other.segments[i].from);
    }
}

RC_GTEST_PROP(CommunicationFit, TheOrderOfRowsDoesNotMatter, ()) {
    auto rows = measured(any_protocols(), 8.0, 20, 0.03, *rc::gen::arbitrary<unsigned>());
    auto const again = measured(any_protocols(), 8.0, 20, 0.03, 7);
    rows.insert(rows.end(), again.begin(), again.end()); // repeated sizes
    auto const one = the_fit(rows);
    auto turned = rows;
    std::ranges::reverse(turned);
    auto const other = the_fit(turned);
    RC_ASSERT(one.segments.size() == other.segments.size());
    for (std::size_t i = 0; i < one.segments.size(); ++i) {
        RC_ASSERT(one.segments[i].alpha_seconds.value == other.segments[i].alpha_seconds.value);
        RC_ASSERT(one.segments[i].beta_seconds_per_byte.high == other.segments[i].beta_seconds_per_byte.high);
    }
}

/// Nine in ten of the 90 % intervals should hold the truth; splitting where it looks best costs some of that.
TEST(CommunicationFitCoverage, IntervalsHoldTheTruthAboutAsOftenAsTheySay) {
    std::vector<Protocol> const protocols{{0.0, 1e-5, 1e-9}, {131072.0, 1.6e-4, 1e-10}};
    int alpha = 0, beta = 0, at = 0, split = 0;
    constexpr int trials = 400;
    for (int trial = 0; trial < trials; ++trial) {
        auto const rows = measured(protocols, 256.0, 24, 0.03, 1000U + static_cast<unsigned>(trial));
        auto const fit = fit_communication(rows).fits.front();
        alpha += holds(fit.segments.front().alpha_seconds, 1e-5, 0.0) ? 1 : 0;
        beta += holds(fit.segments.back().beta_seconds_per_byte, 1e-10, 0.0) ? 1 : 0;
        if (fit.segments.size() != 2) { continue; }
        ++split;
        at += holds(fit.switches.front().bytes, 131072.0 / 1.41421356, 0.42) ? 1 : 0; // somewhere in that doubling
    }
    RecordProperty("alpha", alpha);
    std::printf("coverage of %d trials: alpha %d, beta %d; switch %d of %d\n", trials, alpha, beta, at, split);
    EXPECT_GE(alpha, trials * 80 / 100);
    EXPECT_LE(alpha, trials * 97 / 100);
    EXPECT_GE(beta, trials * 80 / 100);
    EXPECT_LE(beta, trials * 97 / 100);
    EXPECT_GE(at, split * 90 / 100);
    EXPECT_GE(split, trials * 60 / 100);
}

} // namespace
} // namespace headroom::fit
