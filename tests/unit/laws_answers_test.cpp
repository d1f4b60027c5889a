#include "headroom/laws/laws_answers.hpp"
#include "headroom/training/step_laws_answers.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::training;

namespace {

using namespace units;

TEST(LawsAnswers, DoublingsReachTheLastCountAndHoldAnother) {
    EXPECT_EQ(doubling_workers(8.0), (std::vector<int>{1, 2, 4, 8}));
    EXPECT_EQ(doubling_workers(9.0, 3), (std::vector<int>{1, 2, 3, 4, 8, 16}));
    EXPECT_EQ(doubling_workers(1e30).back(), 1 << 30) << "the largest count";
    EXPECT_EQ(doubling_workers(UniversalScalability{.alpha = 0.0, .beta = 0.01}).back(), 32) << "twice the peak of 10";
}

// Speedups 1, 1.9, 3.4, 5: the doublings gave 1.9, 1.79 and 1.47.
TEST(LawsAnswers, KneeIsTheLastDoublingWorthIt) {
    SpeedupCurve const curve{.workers = {1, 2, 4, 8}, .speedup = {1.0, 1.9, 3.4, 5.0}};
    auto const gains = doubling_gains(curve);
    EXPECT_FALSE(gains[0]);
    EXPECT_DOUBLE_EQ(*gains[1], 1.9);
    EXPECT_EQ(knee_of(curve), 4);
    EXPECT_FALSE(knee_of({.workers = {8}, .speedup = {5.0}}));
}

TEST(LawsAnswers, SerialFractionWithAFasterMachine) {
    SerialAnswer const answer =
        speedups_of(SerialQuestion{.fractions = {0.1},
                                   .workers = {1, 9},
                                   .share = 0.5,
                                   .memory_growth = {},
                                   .scale_up = ScaleUpQuestion{2.0, 5.0 * dollar / hour, 2.0 * dollar / hour}});
    ASSERT_EQ(answer.rows.size(), 2U);
    EXPECT_DOUBLE_EQ(answer.rows[1].amdahl, 5.0); // 1 / (0.1 + 0.9/9)
    EXPECT_DOUBLE_EQ(*answer.rows[1].share_of_ceiling, 0.5);
    EXPECT_EQ(answer.ceilings[0].for_share, 9);
    ASSERT_TRUE(answer.scale_up);
    ScaleUpRow const& nine = answer.scale_up->rows[1];
    EXPECT_EQ(nine.faster, UpOrOut::out);
    EXPECT_EQ(nine.cheaper, UpOrOut::up) << "5/2 $ an hour of work against 9 x 2/5 $";
    EXPECT_DOUBLE_EQ(nine.tie_price_ratio, 2.0 * 9.0 / 5.0);
    EXPECT_EQ(answer.scale_up->matches[0].workers, 3) << "1 / (0.1 + 0.9/3) = 2.5, of two workers 1.82";
}

TEST(LawsAnswers, ProfileAndMeasuredGain) {
    Profile const profile{.compute = 240.0 * ms, .communication = 60.0 * ms, .workers = Ranks{8}};
    CurveAnswer const answer =
        steps_of({.curve = curve_of(profile, Growth::fixed, 0.0), .k0 = 8, .workers = {8, 16}, .share = 0.9});
    EXPECT_DOUBLE_EQ(answer.share_at_k0, 0.2);
    EXPECT_DOUBLE_EQ(answer.rows[1].speedup, 300.0 / 180.0);
    EXPECT_DOUBLE_EQ(*answer.serial_fraction, 60.0 / 1980.0);
    EXPECT_DOUBLE_EQ(*answer.ceiling_over_k0, 5.0);
    MeasuredGain const gain = measured_gain(answer, 4, 8, 1.8); // T(4) = 540 ms, T(8) = 300 ms
    EXPECT_DOUBLE_EQ(gain.profile, 1.8);
    EXPECT_FALSE(gain.contradicts);
    EXPECT_TRUE(measured_gain(answer, 4, 8, 1.2).contradicts);
    EXPECT_TRUE(measured_gain(answer, 4, 8, 2.5).super_linear);
}

TEST(LawsAnswers, TrendOfSerialFractions) {
    auto const trend = [](double first, double last) {
        return serial_fractions({{16, last, {}}, {2, first, {}}}).trend;
    };
    EXPECT_EQ(trend(1.0 / 0.55, 16.0 / 2.5), FractionTrend::flat) << "0.1 at both";
    EXPECT_EQ(trend(1.9, 6.0), FractionTrend::rising);
    EXPECT_EQ(trend(1.5, 13.0), FractionTrend::falling);
    EXPECT_EQ(serial_fractions({{2, 1.5, {}}}).trend, FractionTrend::unknown);
    EXPECT_EQ(serial_fractions({{16, 9.0, {}}, {2, 1.5, {}}}).rows.front().workers, 2) << "in rising order";
}

// Expectation: of 3 counts all 3 pairs must agree, of 4 at least 5 of 6 (3/4 of 6 is 4.5); the line decides what is flat.
TEST(LawsAnswers, TrendOfFractionsThatScatter) {
    auto const trend = [](std::vector<FractionPoint> const& points) { return trend_of(points); };
    EXPECT_EQ(trend({{2, 0.02}, {4, 0.09}, {8, 0.14}}), FractionTrend::rising);
    EXPECT_EQ(trend({{2, 0.02}, {4, 0.14}, {8, 0.09}}), FractionTrend::unclear) << "2 of 3 pairs";
    EXPECT_EQ(trend({{2, 0.02}, {4, 0.14}, {8, 0.09}, {16, 0.2}}), FractionTrend::rising) << "5 of 6 pairs";
    EXPECT_EQ(trend({{2, 0.2}, {4, 0.1}, {8, 0.05}}), FractionTrend::falling);
    EXPECT_EQ(trend({{2, 0.1}, {4, 0.11}, {8, 0.1}}), FractionTrend::flat);
    EXPECT_EQ(trend({{4, 0.1}, {4, 0.2}}), FractionTrend::unknown) << "one count";
    EXPECT_EQ(trend({}), FractionTrend::unknown);
}

// Expectation: E = 1/(s K + 1 - s) >= e up to K = 1 + (1/e - 1)/s; 1.25 at K = 6 is a tie.
TEST(LawsAnswers, WorkersThatKeepAnEfficiency) {
    SerialAnswer const answer =
        speedups_of(SerialQuestion{.fractions = {0.05, 0.0}, .workers = {1, 2}, .efficiency = 0.8});
    EXPECT_EQ(answer.ceilings[0].most_efficient, 6);
    EXPECT_EQ(answer.ceilings[1].most_efficient, std::nullopt) << "nothing is serial";
    EXPECT_EQ(speedups_of(UslQuestion{.law = {.alpha = 0.05}, .workers = {1}, .efficiency = 0.8}).most_efficient, 6);
    EXPECT_EQ(speedups_of(UslQuestion{.law = {.alpha = -0.01}, .workers = {1}, .efficiency = 0.8}).most_efficient,
              std::nullopt);
}

// 7 tokens of 2 workers are 3 each; gamma = 2 (K-1)/K g P / B over 6 P b / R.
TEST(LawsAnswers, DataParallelStepByHand) {
    DataParallelAnswer const answer = gammas_of({.parameters = {1e9},
                                                 .rate = FlopsPerSecond{6e12},
                                                 .link = {.latency = {}, .bandwidth = BytesPerSecond{1e9}},
                                                 .per_parameter = Bytes{2.0},
                                                 .global_batch = 7.0,
                                                 .local_batch = {},
                                                 .workers = {2}});
    ASSERT_EQ(answer.rows.size(), 1U);
    EXPECT_EQ(answer.rows[0].local_batch, 3.0);
    EXPECT_DOUBLE_EQ(answer.rows[0].compute.base(), 6e9 * 3.0 / 6e12);
    EXPECT_DOUBLE_EQ(answer.rows[0].gamma, 2.0 / 0.003);
    EXPECT_FALSE(answer.rows[0].latency_bound_below);
    EXPECT_DOUBLE_EQ(*break_even(answer.question, 1e9), 1.0 + 3.0 * 7.0 * 1e9 / (2.0 * 6e12));
}

} // namespace
} // namespace headroom
