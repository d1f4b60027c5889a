#include "support/training.hpp"

#include "headroom/training/narrowing.hpp"
#include "headroom/training/warm_start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headroom {

using namespace headroom::training;

namespace {

using ::testing::HasSubstr;

Question llama(std::vector<Assumption> assumptions = {}) {
    Question question = training::question(
        training::catalog().model("llama-3-8b"), training::catalog().cluster("dgx-h100"),
        training::catalog().framework("megatron-core"), {.dp = 8, .tp = 2, .zero = 1, .sequence_parallel = true},
        {.sequence_length = 8192, .global_batch = 64});
    question.assumptions = std::move(assumptions);
    return question;
}

double half_width(Interval const& interval) { return std::sqrt(interval.high / interval.low); }

Assumption structural(std::string field, std::string value) {
    return {.field = std::move(field), .value = std::move(value), .reason = "guessed", .structural = true};
}

TEST(Narrowings, AMeasuredStepNarrowsAsPredictWouldOnceItIsThere) {
    auto set = training::fitted();
    auto const prediction = predict(llama(), set);
    auto const facts = narrowings(prediction, set);
    ASSERT_FALSE(facts.empty());
    EXPECT_LE(facts.size(), most_narrowings);
    EXPECT_THAT(facts.front().fact, HasSubstr("a measured step of this plan"));
    EXPECT_DOUBLE_EQ(facts.front().before, half_width(prediction.interval));
    set.warm.steps.push_back(measured_step(llama(), prediction.step(), set, "taken"));
    EXPECT_NEAR(facts.front().after, half_width(predict(llama(), set).interval), 1e-12);
}

TEST(Narrowings, TheLessAStepSharesTheLessItNarrows) {
    auto const& set = training::fitted();
    auto const facts = narrowings(predict(llama(), set), set);
    for (std::size_t i = 1; i < facts.size(); ++i) { EXPECT_LE(facts[i - 1].after, facts[i].after); }
    for (Narrowing const& one : facts) { EXPECT_LT(one.after, one.before); }
}

TEST(Narrowings, GuessedFieldsOfThePlanNarrowTogether) {
    // Expectation: one of two guesses alone leaves the interval as wide; both together make it that of a stated plan.
    auto const& set = training::fitted();
    auto const guessed = predict(llama({structural("recompute", "none"), structural("micro_batch", "1")}), set);
    ASSERT_EQ(guessed.interval.kind, Extrapolation::assumed);
    auto const facts = narrowings(guessed, set);
    auto const plan =
        std::ranges::find_if(facts, [](Narrowing const& one) { return one.option == "--recompute --micro-batch"; });
    ASSERT_NE(plan, facts.end());
    EXPECT_EQ(plan->fact, "the plan of the run: recompute (none is assumed), micro_batch (1 is assumed)");
    EXPECT_NEAR(plan->after, half_width(predict(llama(), set).interval), 1e-12);
}

TEST(Narrowings, AGuessThatLeavesTheIntervalIsNoFactButAnEffect) {
    // Expectation: the interval is that of the plan as it was filled in; another recomputation moves the step by what predict says.
    auto const& set = training::fitted();
    Assumption const guess{.field = "recompute", .value = "none", .reason = "chosen"};
    auto const prediction = predict(llama({guess}), set);
    for (Narrowing const& one : narrowings(prediction, set)) {
        EXPECT_DOUBLE_EQ(one.before, half_width(prediction.interval));
        EXPECT_NE(one.option, "--recompute");
    }
    Question full = llama();
    full.strategy.recompute = Recompute::full;
    auto const effects = guess_effects(prediction, set);
    ASSERT_EQ(effects.size(), 1U);
    EXPECT_DOUBLE_EQ(*effects.front().low, 1.0);
    // The screen gives the other steps; it is within some percent of the price.
    EXPECT_NEAR(*effects.front().high, predict(full, set).step() / prediction.step(), 0.03);
    EXPECT_THAT(words_of(effects), HasSubstr("recompute none: other values give x1.00 to x1."));
    EXPECT_THAT(words_of(effects), HasSubstr(" of this step (--recompute)"));
}

TEST(Narrowings, GuessesOfTheMachineAreTheStepsOfOthers) {
    // Expectation: half a network, five sevenths of the power and no overlap are what predict says of them.
    auto const& set = training::fitted();
    auto const guessed = [](char const* field) { return Assumption{.field = field, .value = "", .reason = ""}; };
    Question taken = training::question(
        training::catalog().model("llama-3-8b"), training::catalog().cluster("dgx-h100"),
        training::catalog().framework("hf-fsdp"), {.dp = 16, .zero = 3}, {.sequence_length = 2048, .global_batch = 16});
    taken.assumptions = {guessed("network"), guessed("power_limit"), guessed("overlap")};
    auto const prediction = predict(taken, set);
    auto const effects = guess_effects(prediction, set);
    ASSERT_EQ(effects.size(), 3U);
    std::vector<Question> others(3, taken);
    others[0].cluster.scale_out.bandwidth *= 0.5;
    others[1].cluster.accelerator.power_limit = 500.0 * units::watt;
    others[2].strategy.overlap = Overlap::off;
    for (std::size_t i = 0; i < others.size(); ++i) {
        double const ratio = predict(others[i], set).step() / prediction.step();
        EXPECT_GT(ratio, 1.0) << effects[i].field;
        EXPECT_DOUBLE_EQ(*effects[i].low, 1.0) << effects[i].field;
        EXPECT_NEAR(*effects[i].high, ratio, 1e-9) << effects[i].field;
    }
}

TEST(Narrowings, GuessesThatMoveTheStepMostAreNamedFirst) {
    std::vector<GuessEffect> effects;
    auto const add = [&effects](char const* field, std::optional<double> low, std::optional<double> high) {
        effects.push_back({.field = field,
                           .value = "1",
                           .reason = "",
                           .option = std::string{"--"} + field,
                           .low = low,
                           .high = high});
    };
    add("small", 1.0, 1.04);
    add("unknown", {}, {});
    add("second", 0.9, 1.0);
    add("first", 1.0, 1.5);
    EXPECT_EQ(words_of(effects),
              "first 1: other values give x1.00 to x1.50 of this step (--first); second 1: x0.900 to x1.00 (--second)");
    effects.resize(2);
    EXPECT_EQ(words_of(effects), "");
}

TEST(Narrowings, AnUnknownArchitectureIsAFact) {
    auto const& set = training::fitted();
    Question question = llama();
    question.model.range = {0.5, 2.0};
    auto const facts = narrowings(predict(question, set), set);
    auto const model = std::ranges::find(facts, std::string{"MODEL.toml"}, &Narrowing::option);
    ASSERT_NE(model, facts.end());
    EXPECT_NEAR(model->before / model->after, 2.0, 1e-12); // sqrt(2.0 / 0.5)
}

TEST(Narrowings, NothingIsListedWhereNothingIsKnownOfLikeness) {
    auto set = training::fitted();
    set.warm.dense = {.noise = 0.05};
    EXPECT_TRUE(narrowings(predict(llama(), set), set).empty());
}

TEST(Narrowings, RunsOfATableHaveTheMeanOfTheirWidths) {
    auto const& set = training::fitted();
    PublishedRun stated, guessed;
    stated.question = llama();
    guessed.question = llama({structural("recompute", "none")});
    std::vector<RunComparison> runs(2);
    runs[0].run = &stated;
    runs[1].run = &guessed;
    for (auto& one : runs) { one.predicted = predict(*one.run->question, set).step(); }
    auto const facts = narrowings(runs, set);
    double const narrow = half_width(predict(*stated.question, set).interval),
                 wide = half_width(predict(*guessed.question, set).interval);
    ASSERT_GE(facts.size(), 2U);
    EXPECT_NEAR(facts[0].before, std::sqrt(narrow * wide), 1e-12);
    auto const recompute = std::ranges::find(facts, std::string{"column recompute"}, &Narrowing::option);
    ASSERT_NE(recompute, facts.end());
    EXPECT_NEAR(recompute->after, narrow, 1e-12);
    EXPECT_EQ(recompute->fact, "recompute, guessed in 1 run");
}

} // namespace
} // namespace headroom
