#include "headroom/training/logged_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace {

using namespace headroom;
using namespace headroom::training;

/// Lines of single steps from 1 on.
std::vector<LoggedStep> lines(std::vector<double> const& seconds) {
    std::vector<LoggedStep> all;
    for (double const one : seconds) {
        auto const number = static_cast<std::int64_t>(all.size() + 1);
        all.push_back({.number = number, .seconds = one, .line = static_cast<std::uint64_t>(number)});
    }
    return all;
}

TEST(LoggedSteps, WarmUpIsThePrefixAboveTheLaterSteps) {
    // 20 and 3 s are far above 1 s; the two behind them are not
    auto const steady = steady_step(lines({20, 3, 1.0, 1.0, 1.01, 0.99, 1.0, 1.0, 1.01, 0.99})).value();
    EXPECT_EQ(steady.counts.warm_up, 2);
    EXPECT_EQ(steady.counts.steady, 8);
    EXPECT_DOUBLE_EQ(steady.step.base(), 1.0);
}

TEST(LoggedSteps, ASlowLineAmongWarmUpStepsIsWarmUp) {
    auto const steady = steady_step(lines({9, 1.0, 4, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0})).value();
    EXPECT_EQ(steady.counts.warm_up, 3);
}

TEST(LoggedSteps, MarkedLinesAndOutliersDoNotCount) {
    auto all = lines(std::vector<double>(20, 2.0));
    all[7].seconds = 30.0;
    all[7].evaluation = true;
    all[12].seconds = 12.0;
    all[12].checkpoint = true;
    all[15].seconds = 5.0; // nobody says why
    auto const steady = steady_step(all).value();
    EXPECT_EQ(steady.counts.evaluation, 1);
    EXPECT_EQ(steady.counts.checkpoint, 1);
    EXPECT_EQ(steady.counts.outliers, 1);
    EXPECT_EQ(steady.counts.warm_up, 1);
    EXPECT_DOUBLE_EQ(steady.step.base(), 2.0);
    // 17 x 2 + 30 + 12 + 5 = 81 s are covered, 20 steps of 2 s are 40
    EXPECT_NEAR(steady.steady_share, 40.0 / 81.0, 1e-12);
}

TEST(LoggedSteps, MarksInMostLinesTellNothingApart) {
    auto all = lines(std::vector<double>(8, 2.0));
    for (auto& one : all) { one.checkpoint = true; }
    auto const steady = steady_step(all).value();
    EXPECT_TRUE(steady.marked_everywhere);
    EXPECT_EQ(steady.counts.checkpoint, 0);
    EXPECT_EQ(steady.counts.steady, 7);
}

TEST(LoggedSteps, EveryRunWarmsUp) {
    auto all = lines({9, 1, 1, 1, 1, 1});
    for (auto one : lines({8, 1, 1, 1, 1, 1})) {
        one.run = 1;
        all.push_back(one);
    }
    auto const steady = steady_step(all).value();
    EXPECT_EQ(steady.runs, 2);
    EXPECT_EQ(steady.counts.warm_up, 2);
}

TEST(LoggedSteps, TheSlowestRankIsTheStep) {
    std::vector<LoggedStep> all;
    for (int step = 1; step <= 6; ++step) {
        all.push_back({.number = step, .seconds = 1.0, .rank = 0});
        all.push_back({.number = step, .seconds = 1.25, .rank = 1});
    }
    auto const steady = steady_step(all).value();
    EXPECT_EQ(steady.ranks, 2);
    EXPECT_EQ(steady.counts.read, 6);
    EXPECT_DOUBLE_EQ(steady.step.base(), 1.25);
}

TEST(LoggedSteps, TheBatchOfMostLinesCounts) {
    auto all = lines({5, 1, 1, 1, 2, 2, 2, 2, 2, 2});
    for (std::size_t i = 0; i < all.size(); ++i) { all[i].batch = i < 4 ? 32 : 64; }
    auto const steady = steady_step(all).value();
    EXPECT_EQ(steady.batch, 64);
    EXPECT_EQ(steady.counts.other_batch, 4);
    EXPECT_DOUBLE_EQ(steady.step.base(), 2.0);
}

TEST(LoggedSteps, DriftWidensTheIntervalToBothEnds) {
    std::vector<double> seconds{9.0};
    for (int i = 0; i < 60; ++i) { seconds.push_back(1.0 + 0.002 * i); } // + 11 % over the run
    auto const steady = steady_step(lines(seconds)).value();
    ASSERT_TRUE(steady.drift);
    EXPECT_NEAR(steady.drift->change, 0.11, 0.01);
    EXPECT_NEAR(steady.low.base(), 1.019, 0.003);  // median of the first 20
    EXPECT_NEAR(steady.high.base(), 1.099, 0.003); // of the last 20
    EXPECT_FALSE(steady_step(lines(std::vector<double>(60, 1.0)))->drift);
}

std::vector<double> stretches(std::vector<std::pair<int, double>> const& parts) {
    std::vector<double> seconds;
    for (auto const& [count, value] : parts) {
        for (int i = 0; i < count; ++i) { seconds.push_back(value * (1.0 + 0.002 * (i % 3 - 1))); }
    }
    return seconds;
}

TEST(LoggedSteps, MoreSlowStepsThanAWarmUpAreARegime) {
    for (auto const& order : {std::pair{8.2, 6.8}, std::pair{6.8, 8.2}}) {
        auto const steady = steady_step(lines(stretches({{20, order.first}, {20, order.second}}))).value();
        ASSERT_EQ(steady.regimes.size(), 2) << order.first;
        EXPECT_NEAR(steady.regimes[0].step.base(), order.first, 0.02);
        EXPECT_NEAR(steady.regimes[1].step.base(), order.second, 0.02);
        EXPECT_EQ(steady.regimes[0].last_step, 20);
        EXPECT_EQ(steady.regimes[1].first_step, 21);
        EXPECT_NEAR(steady.step.base(), order.second, 0.02); // not between the two
        EXPECT_EQ(steady.counts.other_regime, 19);
        EXPECT_EQ(steady.counts.warm_up, 1);
        EXPECT_EQ(steady.counts.outliers, 0);
        EXPECT_LE(steady.low.base(), 6.8);
        EXPECT_GE(steady.high.base(), 8.2);
    }
    // The shorter regime is not far off: neither before nor after the longer one.
    for (auto const& parts : {stretches({{12, 8.2}, {40, 6.8}}), stretches({{40, 6.8}, {12, 8.2}})}) {
        auto const steady = steady_step(lines(parts)).value();
        ASSERT_EQ(steady.regimes.size(), 2);
        EXPECT_EQ(steady.counts.outliers, 0);
        EXPECT_GE(steady.high.base(), 8.2);
        EXPECT_NEAR(steady.step.base(), 6.8, 0.02);
    }
}

TEST(LoggedSteps, AStretchInTheMiddleIsARegime) {
    for (double const other : {8.2, 5.0}) {
        auto const steady = steady_step(lines(stretches({{20, 6.8}, {15, other}, {20, 6.8}}))).value();
        ASSERT_EQ(steady.regimes.size(), 3) << other;
        EXPECT_NEAR(steady.regimes[1].step.base(), other, 0.02);
        EXPECT_EQ(steady.regimes[1].first_step, 21);
        EXPECT_EQ(steady.regimes[1].last_step, 35);
        EXPECT_EQ(steady.counts.outliers, 0);
        EXPECT_EQ(steady.counts.other_regime, 15);
        EXPECT_NEAR(steady.step.base(), 6.8, 0.02);
        EXPECT_LE(steady.low.base(), std::min(6.8, other) * 1.001);
        EXPECT_GE(steady.high.base(), std::max(6.8, other) * 0.999);
    }
    // Four of them, the longest of which is the third.
    auto const four = steady_step(lines(stretches({{20, 1.0}, {15, 2.0}, {40, 3.0}, {15, 1.5}}))).value();
    ASSERT_EQ(four.regimes.size(), 4);
    EXPECT_NEAR(four.step.base(), 3.0, 0.02);
    // Three slow steps are outliers.
    auto const three = steady_step(lines(stretches({{20, 6.8}, {3, 8.2}, {20, 6.8}}))).value();
    EXPECT_TRUE(three.regimes.empty());
    EXPECT_EQ(three.counts.outliers, 3);
}

/// Lines of several runs, each with as many steps from 1 on.
std::vector<LoggedStep> runs_of(int steps, std::vector<double> const& seconds) {
    std::vector<LoggedStep> all;
    for (std::size_t run = 0; run < seconds.size(); ++run) {
        for (auto one : lines(std::vector<double>(static_cast<std::size_t>(steps), seconds[run]))) {
            one.run = static_cast<int>(run);
            all.push_back(one);
        }
    }
    return all;
}

TEST(LoggedSteps, TwoRunsOfDifferentSpeedsAreNotAveraged) {
    for (int const steps : {1, 2, 5, 8, 40}) {
        auto const steady = steady_step(runs_of(steps, {3.5, 7.0})).value();
        EXPECT_DOUBLE_EQ(steady.step.base(), 7.0) << steps;
        ASSERT_EQ(steady.earlier_runs.size(), 1) << steps;
        EXPECT_DOUBLE_EQ(steady.earlier_runs[0].base(), 3.5);
        EXPECT_EQ(steady.counts.other_run, steps);
        EXPECT_GT(steady.low.base(), 6.0);
    }
    auto const three = steady_step(runs_of(6, {3.5, 7.0, 3.6})).value(); // the first is like the last
    EXPECT_EQ(three.earlier_runs.size(), 1);
    EXPECT_EQ(three.counts.other_run, 6);
    EXPECT_TRUE(steady_step(runs_of(6, {3.5, 3.55}))->earlier_runs.empty());
    // The batch of most lines is that of the run that counts.
    auto batches = runs_of(6, {3.5, 7.0});
    batches.resize(10);
    for (auto& one : batches) { one.batch = one.run == 0 ? 32 : 64; }
    EXPECT_EQ(steady_step(batches)->batch, 64);
    for (auto& one : batches) { one.seconds = 3.5; } // at the same speed
    EXPECT_EQ(steady_step(batches)->batch, 64);
    EXPECT_EQ(steady_step(batches)->counts.other_run, 6);
}

TEST(LoggedSteps, TheLastRunNeedsThreeLines) {
    auto all = runs_of(20, {3.5});
    all.push_back({.number = 1, .seconds = 40.0, .run = 1}); // a restart that has hardly begun
    auto const steady = steady_step(all).value();
    EXPECT_DOUBLE_EQ(steady.step.base(), 3.5);
    EXPECT_TRUE(steady.earlier_runs.empty());
}

TEST(LoggedSteps, LinesAboutOneStepWithoutARankAreCounted) {
    std::vector<LoggedStep> all;
    for (int step = 1; step <= 6; ++step) {
        for (int line = 0; line < 4; ++line) { all.push_back({.number = step, .seconds = 1.0}); }
    }
    EXPECT_DOUBLE_EQ(steady_step(all)->lines_a_step, 4.0);
    for (std::size_t i = 0; i < all.size(); ++i) { all[i].rank = static_cast<int>(i % 4); }
    EXPECT_DOUBLE_EQ(steady_step(all)->lines_a_step, 1.0);
}

TEST(LoggedSteps, ARegimeWarmsUpToo) {
    auto const steady = steady_step(lines(stretches({{1, 30.0}, {2, 12.0}, {17, 8.2}, {20, 6.8}}))).value();
    EXPECT_EQ(steady.counts.warm_up, 3);
    ASSERT_EQ(steady.regimes.size(), 2);
    EXPECT_NEAR(steady.regimes[0].step.base(), 8.2, 0.02);
}

TEST(LoggedSteps, TenStepsMayBeWarmUp) {
    auto const steady = steady_step(lines(stretches({{10, 9.0}, {40, 6.8}}))).value();
    EXPECT_EQ(steady.counts.warm_up, 10);
    EXPECT_TRUE(steady.regimes.empty());
    // Lines that cover ten steps each: three of them are more than a warm-up.
    auto some = lines(stretches({{3, 9.0}, {9, 6.8}}));
    for (auto& one : some) {
        one.number *= 10;
        one.steps = 10;
    }
    auto const coarse = steady_step(some).value();
    EXPECT_EQ(coarse.counts.warm_up, 1);
    EXPECT_NEAR(coarse.share_left_out(), 0.25, 1e-12); // the first, and two that are too few for a regime
}

TEST(LoggedSteps, ScatterAndDriftAreNoRegimes) {
    std::vector<double> seconds;
    for (int i = 0; i < 80; ++i) { seconds.push_back(1.0 + 0.06 * std::sin(7.0 * i)); }
    EXPECT_TRUE(steady_step(lines(seconds))->regimes.empty());
    seconds.clear();
    for (int i = 0; i < 60; ++i) { seconds.push_back(1.0 + 0.004 * i); }
    EXPECT_TRUE(steady_step(lines(seconds))->regimes.empty());
}

TEST(LoggedSteps, AMeanIsNoSurerThanRunsScatter) {
    auto const one =
        steady_step(std::vector{LoggedStep{.number = 80, .steps = 80, .seconds = 13.0, .half_unit = 5e-4}});
    EXPECT_NEAR(one->low.base(), 13.0 * 0.97, 1e-9);
    EXPECT_NEAR(one->high.base(), 13.0 * 1.03, 1e-9);
}

TEST(LoggedSteps, FewLinesHaveAWiderInterval) {
    // Two of three lines are left; of two the interval covers a half: 1.6449 / 0.6745 = 2.44 times as wide on logarithms.
    auto const steady = steady_step(lines({9.0, 1.0, 1.02})).value();
    EXPECT_EQ(steady.counts.steady, 2);
    EXPECT_NEAR(std::log(steady.high / steady.step), 2.4387 * std::log(1.02 / 1.01), 1e-4);
    EXPECT_NEAR(steady.deviation(), std::log(steady.high / steady.low) / 3.2898, 1e-6);
}

TEST(LoggedSteps, OneLineHasTheIntervalOfItsRounding) {
    auto const one = steady_step(std::vector{LoggedStep{.number = 1, .seconds = 2.0, .half_unit = 0.1}}).value();
    EXPECT_DOUBLE_EQ(one.low.base(), 1.9);
    EXPECT_DOUBLE_EQ(one.high.base(), 2.1);
    EXPECT_FALSE(steady_step({}));
}

TEST(LoggedSteps, ThreeLinesWithoutAMarkAreEnough) {
    auto all = lines(std::vector<double>(12, 5.0));
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].evaluation = i % 3 != 0;
        if (i % 3 == 0) { all[i].seconds = 2.0; }
    }
    auto const steady = steady_step(all).value();
    EXPECT_FALSE(steady.marked_everywhere);
    EXPECT_EQ(steady.counts.evaluation, 8);
    EXPECT_DOUBLE_EQ(steady.step.base(), 2.0);
}

TEST(LoggedSteps, StepsOfSeveralTimesHaveTheirMean) {
    std::vector<double> thirds, halves, blocks, shares;
    for (int i = 0; i < 160; ++i) {
        double const scatter = 1.0 + 0.002 * (i % 7 - 3);
        thirds.push_back((i % 3 == 2 ? 12.0 : 6.0) * scatter);
        halves.push_back((i * 7 % 16 < 9 ? 6.0 : 10.0) * scatter);
        blocks.push_back((i / 20 % 2 == 0 ? 10.0 : 6.0) * scatter);
        bool const middle = i > 53 && i < 106; // a third of it takes 10 s, of the others two thirds
        shares.push_back(((i % 3 == 0) == middle ? 10.0 : 6.0) * scatter);
    }
    for (auto const& [seconds, mean] :
         {std::pair{thirds, 8.0}, std::pair{halves, 7.75}, std::pair{blocks, 8.0}, std::pair{shares, 8.23}}) {
        auto const steady = steady_step(lines(seconds)).value();
        EXPECT_TRUE(steady.mixed);
        EXPECT_EQ(steady.counts.other_regime, 0);
        EXPECT_NEAR(steady.step.base(), mean, 0.02 * mean);
        EXPECT_LT(steady.low, steady.step);
        EXPECT_GT(steady.high, steady.step);
    }
    auto stalls = std::vector<double>(60, 8.0); // one of four
    for (std::size_t i = 0; i < stalls.size(); i += 4) { stalls[i] = 38.0; }
    auto const steady = steady_step(lines(stalls)).value();
    EXPECT_FALSE(steady.mixed);
    EXPECT_DOUBLE_EQ(steady.step.base(), 8.0);
}

TEST(LoggedSteps, MeansSinceTheFirstStepAreNamed) {
    std::vector<double> means, slower;
    double sum = 0.0;
    for (int step = 1; step <= 60; ++step) {
        sum += step == 1 ? 25.0 : 3.6;
        means.push_back(sum / step);
        slower.push_back(4.0 - 0.01 * step); // a drift that is none of a mean
    }
    auto const steady = steady_step(lines(means)).value();
    ASSERT_TRUE(steady.mean_at_end);
    EXPECT_NEAR(steady.mean_at_end->base(), 3.6, 1e-6);
    EXPECT_LE(steady.low.base(), 3.6001);
    EXPECT_FALSE(steady_step(lines(slower)).value().mean_at_end);
}

TEST(LoggedSteps, TheMeanWithOutliersIsKept) {
    std::vector<double> seconds(101, 2.0);
    for (std::size_t i = 10; i < seconds.size(); i += 10) { seconds[i] = 8.0; }
    auto const steady = steady_step(lines(seconds)).value();
    EXPECT_EQ(steady.counts.outliers, 10);
    EXPECT_NEAR(steady.with_outliers.base(), 2.6, 1e-9);
}

} // namespace
