#include "support/planning.hpp"
#include "support/term_formula.hpp"

#include "headroom/order_statistics.hpp"
#include "headroom/training/critical_batch.hpp"
#include "headroom/training/left_out.hpp"
#include "headroom/training/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {

using namespace headroom::training;

namespace {

using planning::calibration;
using planning::small_question;
using testing::HasSubstr;

Question question(int nodes = 4) {
    auto const asked = small_question();
    return {.model = asked.model,
            .cluster = asked.cluster,
            .framework = asked.framework,
            .workload = asked.workload,
            .strategy = {.dp = 8 * nodes, .micro_batch = 1},
            .assumptions = {},
            .tokens = 1e12};
}

Prediction predicted(Question const& asked) { return predict(asked, calibration()); }

LeftOutTerm row_of(Prediction const& prediction, LeftOut term) {
    for (auto const& row : left_out(prediction, calibration())) {
        if (row.term == term) { return row; }
    }
    ADD_FAILURE() << "no row of " << name_of(term);
    return {};
}

TEST(Run, AClusterAsOnceReportedFailsEveryThreeHours) {
    // Llama 3 405B: 419 interruptions in 54 days on 16384 accelerators, 54 x 24 h / 419 = 3.09 h.
    auto const goodput = goodput_of({.checkpoint = 60.0 * units::s}, {}, Ranks{16384}, Ranks{8});
    EXPECT_NEAR(goodput.model.mtbf.in(units::hour), 3.09, 0.005);
    EXPECT_EQ(goodput.interval, goodput.exact);
    EXPECT_TRUE(goodput.progresses());
    EXPECT_DOUBLE_EQ(goodput.shares.work * goodput.time_over_work, 1.0);
}

TEST(Run, ACheckpointIsWeightsAndOptimizerWrittenByEveryNode) {
    auto const asked = question();
    // 2 bytes of weights and 12 of optimizer state for each parameter.
    Bytes const state = checkpoint_state(asked.model, asked.framework, asked.strategy);
    EXPECT_DOUBLE_EQ(state.base(), 14.0 * count_parameters(asked.model).total);
    // 40 accelerators are 5 nodes of 8; 41 are 6. 100 GB over 5 x 5 GB/s is 4 s, of which a tenth blocks.
    Failures const tenth{.blocking_share = 0.1};
    EXPECT_DOUBLE_EQ(goodput_of(tenth, 100.0 * units::GB, Ranks{40}, Ranks{8}).model.checkpoint.base(), 0.4);
    EXPECT_DOUBLE_EQ(goodput_of(tenth, 120.0 * units::GB, Ranks{41}, Ranks{8}).model.checkpoint.base(), 0.4);
    // a stated time is the time
    EXPECT_EQ(goodput_of({.checkpoint = 7.0 * units::s}, state, Ranks{40}, Ranks{8}).model.checkpoint.base(), 7.0);
}

TEST(Run, WithoutProgressIsAValueWithItsReason) {
    auto asked = question();
    asked.failures = Failures{.cluster_mtbf = 1.0 * units::s, .checkpoint = 60.0 * units::s};
    auto const prediction = predicted(asked);
    EXPECT_FALSE(prediction.progresses());
    EXPECT_THAT(prediction.goodput->why_not, HasSubstr("no progress: a failure comes every 1 s"));
    EXPECT_FALSE(run_time(prediction));
    EXPECT_TRUE(productive_time(prediction));
    EXPECT_TRUE(std::isinf(row_of(prediction, LeftOut::failures).seconds.base()));
    // no work between two checkpoints
    asked.failures = Failures{.checkpoint = 1.0 * units::s, .rule = IntervalRule::given, .interval = {}};
    EXPECT_FALSE(predicted(asked).progresses());
}

TEST(Run, TheCriticalBatchTwiceTheSamples) {
    Workload const workload{.sequence_length = 1000, .global_batch = 64};
    auto const statistics = statistics_of(64.0, workload, 64e6);
    EXPECT_DOUBLE_EQ(statistics.efficiency, 0.5);
    EXPECT_DOUBLE_EQ(*statistics.tokens, 128e6);
    EXPECT_DOUBLE_EQ(*statistics.steps, 2000.0); // 128000 sequences in batches of 64
    EXPECT_FALSE(statistics_of(64.0, workload, std::nullopt).tokens);
}

TEST(LeftOut, ImbalanceAddsItsShareOfComputationAndTheDragOnIt) {
    auto asked = question();
    asked.disturbance = {.imbalance = 1.08, .spread = 0.0};
    auto const prediction = predicted(asked);
    auto const row = row_of(prediction, LeftOut::imbalance);
    EXPECT_TRUE(row.on);
    EXPECT_EQ(row.value, 1.08);
    EXPECT_NEAR(row.seconds / prediction.time.compute, 0.08, 1e-12);
}

TEST(LeftOut, UnevenSequencesFollowTheReplicas) {
    auto asked = question();
    asked.disturbance.uneven = UnevenSequences{.spread = 0.5, .per_replica = 16.0};
    // 32 replicas, 0.5 / sqrt(16) = 1/8 each: 1 + z_32 / 8, z_32 = 2.0697
    EXPECT_NEAR(row_of(predicted(asked), LeftOut::imbalance).value, 1.0 + 2.0697 / 8.0, 1e-5);
}

TEST(LeftOut, TheSlowestOfEightIsOnePointFourDeviationsLate) {
    auto asked = question(1);
    asked.disturbance.spread = 0.01;
    auto const prediction = predicted(asked);
    auto const row = row_of(prediction, LeftOut::stragglers);
    EXPECT_NEAR(*row.expected_maximum, 1.4236, 5e-5);
    EXPECT_NEAR(row.value, 0.014236, 5e-7);
    Seconds const busy = prediction.step() - prediction.time.stragglers - prediction.time.overhead;
    EXPECT_NEAR(row.seconds / busy, row.value, 1e-12);
}

TEST(LeftOut, CongestionSlowsLinksBetweenDomainsAlone) {
    auto asked = question();
    asked.disturbance.congestion = 0.05;
    EXPECT_GT(row_of(predicted(asked), LeftOut::congestion).seconds, Seconds{});
    asked = question(1); // one domain
    asked.disturbance.congestion = 0.05;
    EXPECT_EQ(row_of(predicted(asked), LeftOut::congestion).seconds, Seconds{});
}

TEST(LeftOut, EveryFormulaIsItsValue) {
    auto asked = question();
    asked.disturbance.congestion = 0.05;
    asked.failures = Failures{};
    asked.critical_batch = 100.0;
    TermBook book;
    explain_left_out(book, predicted(asked));
    int formulas = 0;
    for (auto const& term : book.terms()) {
        if (term.kind != TermKind::formula) { continue; }
        EXPECT_NEAR(test::evaluate(term.formula, term.inputs) / term.value, 1.0, 1e-9) << term.name;
        ++formulas;
    }
    EXPECT_EQ(formulas, 9);
    TermBook empty;
    explain_left_out(empty, predicted(question()));
    EXPECT_TRUE(empty.terms().empty());
}

// ---- in a plan ----------------------------------------------------------------------------------------------------

TEST(LeftOutOfAPlan, ASizeWithoutProgressIsInfeasible) {
    auto asked = small_question();
    // 8 accelerators fail every 300 s, 64 every 37.5 s, with 600 s to restart: exp(-2) and exp(-16) of the time is left
    asked.failures =
        Failures{.device_mtbf = 2400.0 * units::s, .checkpoint = 1.0 * units::s, .restart = 600.0 * units::s};
    asked.space.workers = {8, 64};
    auto const plan = make_plan(asked, calibration());
    EXPECT_TRUE(plan.curve[0].feasible);
    EXPECT_FALSE(plan.curve[1].feasible);
    EXPECT_FALSE(plan.curve[1].prediction);
    EXPECT_THAT(plan.curve[1].why_not, HasSubstr("no progress"));
    EXPECT_EQ(plan.recommended, 0U);
    asked.space.workers = {64};
    EXPECT_THAT(make_plan(asked, calibration()).verdict, HasSubstr("No size of the list is feasible"));
}

TEST(LeftOutOfAPlan, DurationAndCostHoldFailures) {
    auto asked = small_question();
    asked.tokens = 1e12;
    asked.failures = Failures{.device_mtbf = 1000.0 * units::hour};
    for (auto const& point : make_plan(asked, calibration()).curve) {
        double const lost = point.prediction->goodput->time_over_work;
        EXPECT_GT(lost, 1.0);
        EXPECT_DOUBLE_EQ(*point.duration / *point.productive, lost);
        EXPECT_DOUBLE_EQ(point.pace / point.prediction->step(), lost);
        EXPECT_DOUBLE_EQ(point.cost->base(), point.workers * asked.cluster.price->base() * point.duration->base());
        EXPECT_NEAR(point.dollars_per_million_tokens.value() * 1e6, point.cost->base(), 1e-6 * point.cost->base());
    }
}

PlanQuestion weak_question() {
    auto asked = small_question();
    asked.space.workers = {8, 16, 32, 64, 128, 256};
    asked.tokens = 1e12;
    asked.batch_per_worker = 4;
    asked.critical_batch = 4.0;
    return asked;
}

TEST(LeftOutOfAPlan, StopsWhereTheBatchIsPastTheCriticalOne) {
    auto const asked = weak_question();
    auto const plan = make_plan(asked, calibration());
    double const samples = *asked.tokens / asked.workload.sequence_length;
    auto const time = [&](CurvePoint const& point) {
        return time_to_target(point.prediction->step(), point.global_batch,
                              {.critical = 4.0, .fewest_samples = samples});
    };
    for (auto const& point : plan.curve) {
        EXPECT_EQ(point.global_batch, 4 * point.workers);
        ASSERT_TRUE(point.feasible);
    }
    // Expectation: the stop is the first size after which none shortens the time to the target by more than 2 %.
    auto const useful = std::ranges::find_if(plan.curve, [&](CurvePoint const& point) {
        return std::ranges::all_of(plan.curve, [&](CurvePoint const& later) {
            return later.workers <= point.workers || time(later) >= 0.98 * time(point);
        });
    });
    EXPECT_EQ(plan.stop.workers, useful->workers);
    EXPECT_LT(*plan.stop.workers, 256);
    EXPECT_THAT(plan.stop.reason, HasSubstr("the batch is past the critical one"));
    EXPECT_THAT(plan.stop.reason, HasSubstr("the time to the target"));
}

TEST(LeftOutOfAPlan, TimeToTargetIsStepsTimesTheirTime) {
    for (auto const& point : make_plan(weak_question(), calibration()).curve) {
        auto const& p = *point.prediction;
        EXPECT_NEAR(*point.duration / (p.step() * *p.statistics->steps), 1.0, 1e-12);
    }
}

TEST(LeftOutOfAPlan, PredictsWhatTheSearchFoundWithEveryTermOn) {
    auto asked = small_question();
    asked.top = 2;
    asked.disturbance = {
        .uneven = UnevenSequences{.spread = 0.4, .per_replica = 8.0}, .spread = 0.02, .congestion = 0.1};
    for (auto const& point : make_plan(asked, calibration()).curve) {
        ASSERT_TRUE(point.feasible);
        ASSERT_FALSE(point.runners_up.empty());
        auto again = point.prediction->question;
        again.strategy = point.runners_up.front();
        EXPECT_EQ(predict(again, calibration()).step(), point.runners_up_step.front());
        EXPECT_LE(point.prediction->step(), (1.0 + step_tie) * point.runners_up_step.front());
    }
}

} // namespace
} // namespace headroom
