#include "headroom/error.hpp"
#include "headroom/laws/step_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headroom {

using namespace headroom::laws;

namespace {

using namespace units;

StepCurve on_eight(Growth growth, double overlap = 0.0) {
    return curve_of({.compute = 240.0 * ms, .communication = 60.0 * ms, .workers = Ranks{8}}, growth, overlap);
}

TEST(StepCurve, GoesThroughItsProfile) {
    for (Growth const growth : {Growth::fixed, Growth::logarithmic, Growth::linear}) {
        StepCurve const curve = on_eight(growth);
        EXPECT_NEAR(step_at(curve, 8).in(ms), 300.0, 1e-9);
        EXPECT_NEAR(communication_at(curve, 8).in(ms), 60.0, 1e-9);
        EXPECT_NEAR(exposed_share_at(curve, 8), 0.2, 1e-12);
    }
    // Expectation: at 64 workers a tree has twice the levels, a chain 63 links in place of 7.
    EXPECT_NEAR(step_at(on_eight(Growth::fixed), 64).in(ms), 30.0 + 60.0, 1e-9);
    EXPECT_NEAR(step_at(on_eight(Growth::logarithmic), 64).in(ms), 30.0 + 120.0, 1e-9);
    EXPECT_NEAR(step_at(on_eight(Growth::linear), 64).in(ms), 30.0 + 540.0, 1e-9);
}

TEST(StepCurve, OneWorkerTellsNoGrowth) {
    Profile const profile{.compute = 1.0 * s, .communication = 1.0 * ms, .workers = Ranks{1}};
    EXPECT_THROW(curve_of(profile, Growth::logarithmic, 0.0), InputError);
    EXPECT_THROW(curve_of(profile, Growth::linear, 0.0), InputError);
    // c (K - 1): 2 ms on three workers are 1 ms a link, 9 ms on ten and nothing on one
    StepCurve const chain =
        curve_of({.compute = 1.0 * s, .communication = 2.0 * ms, .workers = Ranks{3}}, Growth::linear, 0.0);
    EXPECT_EQ(communication_at(chain, 10), 9.0 * ms);
    EXPECT_EQ(communication_at(chain, 1), 0.0 * ms);
}

TEST(StepCurve, HidesNoMoreThanTheComputationLasts) {
    // Expectation: 36 of 60 ms hide at 8 workers (264 ms); at 64 the computation lasts 30 ms and hides 30: 60 ms.
    StepCurve const curve = on_eight(Growth::fixed, 0.6);
    EXPECT_NEAR(step_at(curve, 8).in(ms), 264.0, 1e-9);
    EXPECT_NEAR(exposed_share_at(curve, 8), 24.0 / 264.0, 1e-12);
    EXPECT_NEAR(step_at(curve, 64).in(ms), 60.0, 1e-9);
    // Expectation: 1920/K = 36 at 53.3; from 54 on the step is the communication, and stays.
    EXPECT_NEAR(best_real_workers(curve).value(), 1920.0 / 36.0, 1e-9);
    EXPECT_EQ(best_workers(curve), 54);
    EXPECT_EQ(first_slower_workers(curve), std::nullopt);
    EXPECT_EQ(least_step(curve), 60.0 * ms);
}

TEST(StepCurve, FixedCommunicationNeverSlowsTheStep) {
    StepCurve const curve = on_eight(Growth::fixed);
    EXPECT_EQ(best_real_workers(curve), std::nullopt);
    EXPECT_EQ(best_workers(curve), std::nullopt);
    EXPECT_EQ(first_slower_workers(curve), std::nullopt);
    EXPECT_EQ(workers_for_share_of_ceiling(curve, 0.9), 288); // a tie
    EXPECT_EQ(workers_for_step(curve, 59.0 * ms), std::nullopt);
}

TEST(StepCurve, TreeAndChainHaveTheirValleys) {
    // Expectation: W ln 2 / c of the textbook; sqrt(W/d) = 100, where T(100) is below both neighbours.
    StepCurve const tree{.work = Seconds{1e6}, .fixed = {}, .per_level = Seconds{50.0}, .per_worker = {}};
    EXPECT_NEAR(best_real_workers(tree).value(), 1e6 * std::log(2.0) / 50.0, 1e-8);
    EXPECT_EQ(best_workers(tree), 13863);
    EXPECT_EQ(first_slower_workers(tree), 13864);
    StepCurve const chain{.work = Seconds{1e4}, .fixed = {}, .per_level = {}, .per_worker = Seconds{1.0}};
    EXPECT_NEAR(best_real_workers(chain).value(), 100.0, 1e-10);
    EXPECT_EQ(best_workers(chain), 100);
    EXPECT_EQ(least_step(chain), Seconds{200.0});
}

TEST(StepCurve, EqualStepsAreNotSlower) {
    // Expectation: 12/K + K is 7 at 3 and at 4: 3 is the best, 5 the first that is slower.
    StepCurve const chain{.work = Seconds{12.0}, .fixed = {}, .per_level = {}, .per_worker = Seconds{1.0}};
    EXPECT_EQ(best_workers(chain), 3);
    EXPECT_EQ(first_slower_workers(chain), 5);
}

TEST(StepCurve, WithoutWorkMoreWorkersOnlyHurt) {
    StepCurve const curve{.work = {}, .fixed = {}, .per_level = 1.0 * s, .per_worker = {}};
    EXPECT_EQ(best_workers(curve), 1);
    EXPECT_EQ(best_real_workers(curve), 1.0);
    EXPECT_EQ(first_slower_workers(curve), 2);
}

TEST(StepCurve, WeakScalingKeepsTheComputation) {
    EXPECT_NEAR(weak_step_at(on_eight(Growth::fixed), Ranks{8}, Ranks{64}).in(ms), 300.0, 1e-9);
    EXPECT_NEAR(weak_step_at(on_eight(Growth::linear), Ranks{8}, Ranks{64}).in(ms), 780.0, 1e-9);
    EXPECT_NEAR(weak_step_at(on_eight(Growth::fixed, 0.6), Ranks{8}, Ranks{64}).in(ms), 264.0, 1e-9);
}

TEST(IndexPeak, TurnsOverWhileTheStepFalls) {
    StepCurve const curve =
        curve_of({.compute = 1800.0 * ms, .communication = 20.0 * ms, .workers = Ranks{1}}, Growth::fixed, 0.0);
    IndexPeak const peak = index_peak(curve).value();
    EXPECT_NEAR(peak.workers, 1.0 + std::sqrt(91.0), 1e-12);
    EXPECT_EQ(peak.integer, 11);
    EXPECT_NEAR(peak.value, 1111.0 / 211.0, 1e-12);
    EXPECT_NEAR(amdahl_of_share_at(curve, Ranks{11}), peak.value, 1e-12);
    EXPECT_EQ(index_peak(on_eight(Growth::linear)), std::nullopt);
    EXPECT_EQ(index_peak(on_eight(Growth::fixed, 0.5)), std::nullopt);
}

TEST(StepCurve, AWeakStepIsNoShorterThanItsCommunication) {
    // Expectation: 8 workers compute 30 ms each; of 540 ms that a chain of 64 takes, 60 % could overlap with 540, not
    // 30.
    StepCurve const curve = on_eight(Growth::linear, 0.6);
    EXPECT_NEAR(weak_step_at(curve, Ranks{64}, Ranks{64}).in(ms), 540.0, 1e-9);
    EXPECT_NEAR(weak_step_at(curve, Ranks{8}, Ranks{8}).in(ms), 264.0, 1e-9);
}

TEST(StepCurve, TiesAreKept) {
    // Expectation: 0.1 / 2 + 0.1 = 0.15 s, which comes out above it in doubles.
    StepCurve const curve{.work = Seconds{0.1}, .fixed = Seconds{0.1}, .per_level = {}, .per_worker = {}};
    EXPECT_EQ(workers_for_step(curve, Seconds{0.15}), 2);
    // Expectation: with W = a the index is 6/5 at two workers and 12/10 at three.
    IndexPeak const peak = index_peak(curve).value();
    EXPECT_EQ(peak.integer, 2);
    EXPECT_DOUBLE_EQ(peak.value, 1.2);
}

} // namespace
} // namespace headroom
