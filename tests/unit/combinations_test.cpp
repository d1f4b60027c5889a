#include "support/training.hpp"

#include "headroom/training/combinations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headroom::training {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A prediction with these figures: of a step of one token.
Combination combination(std::string const& cluster, double step_seconds, std::optional<double> dollars_per_hour) {
    Prediction p;
    p.question.model.name = "a-model";
    p.question.cluster.name = cluster;
    p.question.workload.sequence_length = 1;
    p.time.compute = Seconds{step_seconds};
    p.interval = {.low = 0.95 * p.step(), .high = 1.05 * p.step()};
    p.tokens_per_second = 1.0 / step_seconds;
    if (dollars_per_hour) { p.question.cluster.price = *dollars_per_hour * units::dollar / units::hour; }
    Combination one = combination_of(std::move(p));
    one.values = {{"cluster", cluster}};
    return one;
}

Combination impossible(std::string const& cluster) {
    Combination one;
    one.values = {{"cluster", cluster}};
    one.why_not = "no";
    return one;
}

CombinationsAnswer compared(std::vector<Combination> all, CombinationOrder order = CombinationOrder::by_time) {
    CombinationsAnswer answer{.combinations = std::move(all)};
    answer.asked = answer.combinations.size();
    compare_combinations(answer, order);
    return answer;
}

std::vector<std::string> clusters(CombinationsAnswer const& answer) {
    std::vector<std::string> names;
    for (Combination const& one : answer.combinations) { names.push_back(label_of(one)); }
    return names;
}

TEST(CompareCombinations, TheSoonestAndTheCheapestAreNamed) {
    // a takes 2 s at 1 $/h, b 1 s at 3 $/h: b is sooner, a token of a costs two thirds of one of b
    auto const answer = compared({combination("a", 2.0, 1.0), combination("b", 1.0, 3.0), impossible("c")});
    EXPECT_THAT(clusters(answer), ElementsAre("b", "a", "c"));
    EXPECT_TRUE(answer.combinations[0].soonest && answer.combinations[1].cheapest);
    EXPECT_FALSE(answer.combinations[0].cheapest || answer.combinations[1].soonest || answer.combinations[2].soonest);
    EXPECT_THAT(answer.verdict, StartsWith("a-model: b is fastest: 1.00 tokens/s at $833 a million"));
    EXPECT_THAT(answer.verdict, HasSubstr("; a is cheapest: 0.500 tokens/s at $556 a million"));
    EXPECT_THAT(answer.verdict, HasSubstr("1 of 3 cannot run."));
    EXPECT_THAT(answer.verdict, Not(HasSubstr("overlap")));
}

TEST(CompareCombinations, ByCostTheCheapestIsFirst) {
    auto const answer = compared({combination("b", 1.0, 3.0), combination("a", 2.0, 1.0)}, CombinationOrder::by_cost);
    EXPECT_THAT(clusters(answer), ElementsAre("a", "b"));
    EXPECT_THAT(answer.verdict, StartsWith("a-model: a is cheapest"));
}

TEST(CompareCombinations, AsAskedKeepsTheOrder) {
    auto const answer =
        compared({impossible("c"), combination("a", 2.0, 1.0), combination("b", 1.0, 3.0)}, CombinationOrder::as_asked);
    EXPECT_THAT(clusters(answer), ElementsAre("c", "a", "b"));
    EXPECT_TRUE(answer.combinations[2].soonest);
}

TEST(CompareCombinations, WithoutAPriceOfEachNothingIsCheapest) {
    auto const answer = compared({combination("a", 2.0, 1.0), combination("b", 1.0, std::nullopt)});
    EXPECT_FALSE(answer.combinations[0].cheapest || answer.combinations[1].cheapest);
    EXPECT_THAT(answer.verdict, StartsWith("a-model: b is fastest"));
}

TEST(CompareCombinations, IntervalsThatOverlapAreSaid) {
    // 1 s reaches to 1.05 s, 1.08 s begins at 1.026 s; 2 s is out of reach
    auto const answer = compared({combination("a", 1.0, 1.0), combination("b", 1.08, 1.0), combination("c", 2.0, 1.0)});
    EXPECT_THAT(answer.verdict, HasSubstr("The interval of another one overlaps with that of the fastest."));
}

TEST(CompareCombinations, ATieNamesNothingSoonest) {
    auto const answer = compared({combination("a", 1.0, 2.0), combination("b", 1.0, 1.0)});
    EXPECT_THAT(answer.verdict, StartsWith("a-model: all that run are equally fast; b is cheapest"));
    EXPECT_THAT(answer.verdict, Not(HasSubstr("overlap")));
}

TEST(CompareCombinations, TokensAndSamplesAreNotCompared) {
    auto picture = combination("a", 1.0, 1.0);
    picture.prediction->question.model.operators.resize(1);
    ASSERT_TRUE(picture.prediction->question.model.works_on_samples());
    auto const answer = compared({picture, combination("b", 2.0, 1.0)});
    EXPECT_FALSE(answer.combinations[0].soonest || answer.combinations[1].soonest);
    EXPECT_THAT(answer.verdict, HasSubstr("tokens and samples are not compared"));
}

TEST(CompareCombinations, WhatDoesNotFitDoesNotRun) {
    auto full = combination("a", 1.0, 1.0);
    full.prediction->fits = false;
    full.prediction->why_not = "8 GiB too much";
    full = [&] {
        auto values = full.values;
        Combination one = combination_of(*full.prediction);
        one.values = values;
        return one;
    }();
    EXPECT_FALSE(full.runs());
    auto const answer = compared({full, combination("b", 2.0, 1.0)});
    EXPECT_THAT(clusters(answer), ElementsAre("b", "a"));
    EXPECT_THAT(answer.verdict, StartsWith("a-model: b is the only one that runs"));
    auto const none = compared({full});
    EXPECT_THAT(none.verdict, HasSubstr("none of 1 combination runs: does not fit: 8 GiB too much."));
}

TEST(ComparePlans, PartsAreTheDifferenceOfTheSteps) {
    auto first = combination("a", 2.0, 1.0), second = combination("a", 1.5, 1.0);
    second.prediction->time.pipeline_bubble = Seconds{0.25};
    auto const answer = compare_plans(first, second);
    ASSERT_EQ(answer.parts.size(), 2U);
    EXPECT_EQ(answer.parts[0].part, "compute");
    EXPECT_EQ(answer.parts[1].part, "pipeline bubble");
    EXPECT_EQ(answer.parts[1].second - answer.parts[1].first, Seconds{0.25});
    EXPECT_THAT(answer.verdict, HasSubstr("14.3 % more than")); // 2 s over 1.75 s
    EXPECT_THAT(answer.verdict, HasSubstr("The largest difference is in compute: 2 s against 1.5 s."));
}

TEST(ComparePlans, ADifferenceWithinTheScatterIsNone) {
    auto const answer = compare_plans(combination("a", 1.0, 1.0), combination("a", 1.02, 1.0));
    EXPECT_THAT(answer.verdict, HasSubstr("the two are equally fast"));
}

} // namespace
} // namespace headroom::training
