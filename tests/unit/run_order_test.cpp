// Rounds that each take every point once, the same for the same seed, and their remainder after an interruption.

#include "headroom/measure/run_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace {

using headroom::measure::PlannedRun;
using headroom::measure::Sample;

TEST(RunOrder, EveryRoundTakesEveryPointOnceAndWarmUpsComeFirst) {
    auto const order = headroom::measure::planned_order(5, 2, 3, 7);
    ASSERT_EQ(order.size(), 25U);
    for (std::size_t round = 0; round < 5; ++round) {
        std::set<std::uint32_t> points;
        for (std::size_t i = 5 * round; i < 5 * round + 5; ++i) {
            points.insert(order[i].point);
            EXPECT_EQ(order[i].repetition, round);
            EXPECT_EQ(order[i].warm_up, round < 2);
        }
        EXPECT_EQ(points.size(), 5U);
    }
}

TEST(RunOrder, DependsOnItsSeedAndOnNothingElse) {
    EXPECT_EQ(headroom::measure::planned_order(6, 1, 9, 3), headroom::measure::planned_order(6, 1, 9, 3));
    EXPECT_NE(headroom::measure::planned_order(6, 1, 9, 3), headroom::measure::planned_order(6, 1, 9, 4));
    auto const few = headroom::measure::planned_order(6, 1, 4, 3), many = headroom::measure::planned_order(6, 1, 9, 3);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin())) << "more repeats go on where fewer ended";
}

TEST(RunOrder, NoPointIsFavouredInAnyPlace) {
    std::map<std::uint32_t, int> first;
    constexpr int rounds = 4000;
    auto const order = headroom::measure::planned_order(4, 0, rounds, 11);
    for (std::size_t i = 0; i < order.size(); i += 4) { ++first[order[i].point]; }
    for (auto const& [point, count] : first) { // 1000 expected, standard deviation 27
        EXPECT_NEAR(count, rounds / 4, 110) << "point " << point;
    }
    std::set<std::array<std::uint32_t, 4>> permutations;
    for (std::size_t i = 0; i < order.size(); i += 4) {
        permutations.insert({order[i].point, order[i + 1].point, order[i + 2].point, order[i + 3].point});
    }
    EXPECT_EQ(permutations.size(), 24U);
}

TEST(RunOrder, RoundsOfNeighbouringSeedsAreNotEachOthers) {
    auto const one = headroom::measure::planned_order(8, 0, 40, 1), two = headroom::measure::planned_order(8, 0, 40, 2);
    int shared = 0;
    for (std::size_t shift = 0; shift < 39; ++shift) {
        bool same = true;
        for (std::size_t i = 0; i < 8; ++i) {
            same = same && one[8 * (shift + 1) + i].point == two[8 * shift + i].point;
        }
        shared += same ? 1 : 0;
    }
    EXPECT_EQ(shared, 0);
}

TEST(RunOrder, WhatIsLeftAfterAnyInterruptionCompletesTheSameSet) {
    auto const order = headroom::measure::planned_order(4, 1, 5, 2);
    for (std::size_t cut = 0; cut <= order.size(); ++cut) {
        std::vector<Sample> taken;
        for (std::size_t i = 0; i < cut; ++i) {
            taken.push_back({.point = order[i].point, .repetition = order[i].repetition});
        }
        auto const left = headroom::measure::runs_left(order, taken);
        ASSERT_EQ(left.size(), order.size() - cut);
        EXPECT_TRUE(std::equal(left.begin(), left.end(), order.begin() + static_cast<std::ptrdiff_t>(cut)));
    }
}

TEST(RunOrder, FailedRunsAreTaken) {
    auto const order = headroom::measure::planned_order(1, 0, 2, 2);
    std::vector<Sample> const taken{{.point = 0, .repetition = 0, .outcome = headroom::measure::SampleOutcome::failed}};
    EXPECT_EQ(headroom::measure::runs_left(order, taken).size(), 1U);
    EXPECT_TRUE(headroom::measure::planned_order(0, 1, 1, 1).empty());
}

} // namespace
