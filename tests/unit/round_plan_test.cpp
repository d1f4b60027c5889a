#include "headroom/measure/round_plan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace headroom::measure {
namespace {

using Costs = std::vector<PointCost>;

TEST(RoundPlan, TakesAsManyRoundsAsFit) {
    // Expectation: a round takes 1 s, so 9 s are 9 rounds, and never more than what is asked.
    Costs const costs{{0.25}, {0.75}};
    EXPECT_EQ(plan_rounds(costs, 9.5, 6, 30).repetitions, 9U);
    EXPECT_EQ(plan_rounds(costs, 1000.0, 6, 30).repetitions, 30U);
    EXPECT_EQ(plan_rounds(costs, 9.5, 6, 30).taken, (std::vector{true, true}));
}

TEST(RoundPlan, LeavesOutTheCostliestAndWhatIsEssentialLast) {
    Costs const costs{{0.5, true}, {0.25}, {2.0}};
    RoundPlan const plan = plan_rounds(costs, 6.0, 6, 30);
    EXPECT_EQ(plan.taken, (std::vector{true, true, false}));
    EXPECT_EQ(plan.repetitions, 8U);
    EXPECT_EQ(plan_rounds(costs, 3.0, 6, 30).taken, (std::vector{true, false, false}));
    EXPECT_EQ(plan_rounds(costs, 0.0, 6, 30).taken, (std::vector{false, false, false}));
}

TEST(RoundPlan, OfNothingIsNothing) { EXPECT_TRUE(plan_rounds({}, 1.0, 6, 30).taken.empty()); }

} // namespace
} // namespace headroom::measure
