// Terms that the speed-up laws leave out: off, they are not there; on, they only lengthen.

#include "support/planning.hpp"
#include "support/training.hpp"

#include "headroom/training/left_out.hpp"
#include "headroom/training/plan.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace headroom {

using namespace headroom::training;

namespace {

using training::for_some_questions;
using training::name_of;
using training::Priced;

constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(LeftOutProperty, TermsThatAreOffChangeNoBit) {
    for_some_questions([](Question const& question) {
        auto off = question;
        off.disturbance = {
            .imbalance = 1.0, .uneven = UnevenSequences{.spread = 0.0}, .spread = 0.0, .congestion = 0.0};
        auto const with = Priced{off}.time, without = Priced{question}.time;
        EXPECT_EQ(with.imbalance, Seconds{}) << name_of(question);
        EXPECT_EQ(with.stragglers, Seconds{}) << name_of(question);
        auto same = without;
        same.stragglers = {}; // of stacks of their own the one term that is on by default
        EXPECT_EQ(with.total(), same.total()) << name_of(question);
    });
}

TEST(LeftOutProperty, TermsOnlyLengthenTheStep) {
    for_some_questions([](Question const& question) {
        auto quiet = question;
        quiet.disturbance.spread = 0.0;
        Seconds const least = Priced{quiet}.time.total();
        for (Disturbance const& one :
             {Disturbance{.imbalance = 1.3, .spread = 0.0}, Disturbance{.spread = 0.05},
              Disturbance{.spread = 0.0, .congestion = 0.2},
              Disturbance{.uneven = UnevenSequences{.spread = 0.7, .per_replica = 4.0}, .spread = 0.0}}) {
            auto louder = question;
            louder.disturbance = one;
            // up to rounding: exposed traffic hides what goes to the host, and the sum of both stays
            EXPECT_GE(Priced{louder}.time.total(), least * (1.0 - 1e-14)) << name_of(question);
        }
    });
}

PlanQuestion question() {
    auto asked = planning::small_question();
    asked.tokens = 1e12;
    return asked;
}

TEST(LeftOutProperty, NothingFailsIsTheSamePlanBitForBit) {
    auto asked = question();
    auto const plain = make_plan(asked, planning::calibration());
    asked.failures = Failures{.device_mtbf = Seconds{infinite}};
    asked.critical_batch = infinite;
    auto const safe = make_plan(asked, planning::calibration());
    ASSERT_EQ(safe.curve.size(), plain.curve.size());
    EXPECT_EQ(safe.recommended, plain.recommended);
    EXPECT_EQ(safe.stop.workers, plain.stop.workers);
    EXPECT_EQ(safe.pareto, plain.pareto);
    for (std::size_t i = 0; i < plain.curve.size(); ++i) {
        CurvePoint const &a = plain.curve[i], &b = safe.curve[i];
        EXPECT_EQ(a.pace, a.prediction->step());
        EXPECT_EQ(b.pace, a.pace);
        EXPECT_EQ(b.duration, a.duration);
        EXPECT_EQ(b.productive, a.duration);
        EXPECT_EQ(b.cost, a.cost);
        EXPECT_EQ(b.speedup, a.speedup);
        EXPECT_EQ(b.dollars_per_million_tokens, a.dollars_per_million_tokens);
        EXPECT_EQ(b.prediction->goodput->shares.work, 1.0);
        EXPECT_EQ(b.prediction->goodput->time_over_work, 1.0);
        EXPECT_EQ(b.prediction->statistics->efficiency, 1.0);
    }
}

TEST(LeftOutProperty, ASmallBatchTrainsTheFewestTokensAtFullThroughput) {
    auto asked = question();
    asked.critical_batch = 1e9 * asked.workload.global_batch;
    for (auto const& point : make_plan(asked, planning::calibration()).curve) {
        double const at_full_rate = *asked.tokens / point.prediction->tokens_per_second;
        EXPECT_NEAR(point.duration->base() / at_full_rate, 1.0, 2e-9);
    }
}

TEST(LeftOutProperty, FailuresAndBatchOnlyLengthenTheRun) {
    auto asked = question();
    auto const plain = make_plan(asked, planning::calibration());
    Seconds before{};
    for (double const hours : {1e6, 1e5, 1e4, 1e3}) { // failing ever more often
        asked.failures = Failures{.device_mtbf = hours * units::hour};
        auto const plan = make_plan(asked, planning::calibration());
        EXPECT_GT(*plan.curve.back().duration, *plain.curve.back().duration);
        EXPECT_GT(*plan.curve.back().duration, before);
        before = *plan.curve.back().duration;
        EXPECT_EQ(*plan.curve.back().productive, *plain.curve.back().duration);
    }
}

} // namespace
} // namespace headroom
