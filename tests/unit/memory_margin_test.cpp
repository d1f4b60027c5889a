// A plan keeps what fits with a probability: the search compares bytes, the prediction says the probability.

#include "support/training.hpp"

#include "headroom/training/plan.hpp"
#include "headroom/training/prediction.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headroom::training {
namespace {

constexpr Bytes G = 1.0 * units::GiB;

MemorySpread const& wide() {
    static MemorySpread const spread{
        .state_share = 0.05, .seen = {0.1, 0.15, 30, 5}, .unseen = {0.2, 0.3, 30, 5}, .frameworks = {"megatron-core"}};
    return spread;
}

CalibrationSet with_spread() {
    CalibrationSet set = fitted();
    set.memory = wide();
    return set;
}

Question question(int workers, Strategy const& strategy) {
    Question asked;
    asked.model = catalog().model("llama-3-70b");
    asked.cluster = catalog().cluster("dgx-h100");
    asked.framework = catalog().framework("megatron-core");
    asked.workload = {.sequence_length = 8192, .global_batch = 256};
    asked.strategy = strategy;
    EXPECT_EQ(strategy.workers(), workers);
    return asked;
}

TEST(MemoryMargin, ComparesBytesAsProbabilitiesWould) {
    for (double const risk : {0.01, 0.05, 0.2, 0.5}) {
        auto const margin = memory_margin(wide(), wide().seen, risk);
        for (double footprint = 40.0; footprint < 90.0; footprint += 0.7) {
            for (double const state : {0.0, 20.0, 39.0}) {
                bool const fits = margin.needed(footprint * G, state * G) <= 80.0 * G;
                double const probability = margin.fits(footprint * G, state * G, 80.0 * G);
                EXPECT_EQ(fits, probability >= 1.0 - risk) << footprint << " GiB, state " << state << ", risk " << risk;
            }
        }
    }
}

TEST(MemoryMargin, OfAGuessedFrameworkIsWider) {
    auto const set = with_spread();
    auto const framework = catalog().framework("megatron-core");
    std::vector<Assumption> const guess{{"framework", "megatron-core", "default"}};
    EXPECT_EQ(memory_margin(set, framework, {}).scale, wide().seen);
    EXPECT_EQ(memory_margin(set, framework, guess).scale, wide().unseen);
    EXPECT_GT(memory_margin(set, framework, guess).factor, memory_margin(set, framework, {}).factor);
    EXPECT_EQ(memory_margin(fitted().memory ? CalibrationSet{} : fitted(), framework, {}).factor, 0.0);
}

TEST(MemoryOdds, AreOfTheFootprint) {
    Strategy strategy;
    strategy.dp = 2;
    strategy.tp = 8;
    strategy.zero = 1;
    auto const set = with_spread();
    auto const p = predict(question(16, strategy), set);
    ASSERT_TRUE(p.odds);
    Bytes const footprint = p.memory.footprint();
    EXPECT_LT(p.odds->footprint.low, footprint);
    EXPECT_GT(p.odds->footprint.high, footprint);
    EXPECT_EQ(p.fits, p.odds->fits >= 0.5);
    CalibrationSet none = set;
    none.memory.reset();
    EXPECT_FALSE(predict(question(16, strategy), none).odds);
}

TEST(MemoryOdds, InWords) {
    EXPECT_EQ(fits_words(1.0), "yes");
    EXPECT_EQ(fits_words(0.95), "yes");
    EXPECT_EQ(fits_words(0.78), "probably (78 %)");
    EXPECT_EQ(fits_words(0.5), "probably (50 %)");
    EXPECT_EQ(fits_words(0.22), "probably not (22 %)");
    EXPECT_EQ(fits_words(0.04), "no");
    EXPECT_EQ(odds_words({{61.25 * G, 70.5 * G}, 0.99}, 80.0 * G),
              "yes, " + format_binary(61.25 * G) + " to " + format_binary(70.5 * G) + " of " + format_binary(80.0 * G));
}

SearchResult searched(MemoryMargin const& margin, int workers) {
    auto const asked = question(workers, [&] {
        Strategy strategy;
        strategy.dp = workers;
        return strategy;
    }());
    Calibration const constants = fitted().values();
    StepSetting const setting{asked.model, asked.cluster, asked.framework, constants, asked.workload};
    return search(setting, {.workers = {workers}, .fixed = {}, .run = {}, .pace = 1.0, .margin = margin}, 5).front();
}

TEST(SearchWithMargin, KeepsWhatFitsWithTheProbability) {
    auto const set = with_spread();
    auto const plain = searched({}, 32);
    auto const margin = memory_margin(wide(), wide().seen, 0.05);
    auto const careful = searched(margin, 32);
    ASSERT_FALSE(careful.best.empty());
    EXPECT_LT(careful.counts.feasible, plain.counts.feasible);
    for (auto const& strategy : careful.best) { EXPECT_GE(predict(question(32, strategy), set).odds->fits, 0.95); }
    // half the risk is what is predicted to fit
    EXPECT_EQ(searched(memory_margin(wide(), wide().seen, 0.5), 32).best, plain.best);
    EXPECT_FALSE(plain.given_up);
}

TEST(SearchWithMargin, SaysWhatItGaveUp) {
    auto const set = with_spread();
    auto const plain = searched({}, 32);
    auto const careful = searched(memory_margin(wide(), wide().unseen, 0.01), 32);
    ASSERT_FALSE(careful.best.empty());
    ASSERT_TRUE(careful.given_up) << "the fastest that fits fills the accelerator";
    EXPECT_LT(careful.given_up->step, careful.step.front());
    EXPECT_GE(careful.given_up->step, plain.fastest);
    EXPECT_GE(careful.given_up->fits, 0.5);
    EXPECT_LT(careful.given_up->fits, 0.99);
    EXPECT_EQ(careful.counts.infeasible_by_reason.at("fit with too small a probability"),
              plain.counts.feasible - careful.counts.feasible);
}

TEST(PlanWithMargin, NamesTheRiskThatTakesIt) {
    auto const set = with_spread();
    auto const asked = question(32, [] {
        Strategy strategy;
        strategy.dp = 32;
        return strategy;
    }());
    PlanQuestion plan{.model = asked.model,
                      .cluster = asked.cluster,
                      .framework = asked.framework,
                      .workload = asked.workload,
                      .space = {.workers = {16, 32}, .fixed = {}, .run = {}}};
    plan.memory_risk = 0.01;
    auto const careful = make_plan(plan, set);
    ASSERT_TRUE(careful.recommended);
    auto const& point = careful.curve[*careful.recommended];
    EXPECT_GE(point.prediction->odds->fits, 0.99);
    ASSERT_TRUE(point.given_up);
    bool named = false;
    for (auto const& reason : careful.reasons) {
        named = named || (reason.find("Given up: ") == 0 && reason.find("--memory-risk ") != std::string::npos);
    }
    EXPECT_TRUE(named);
}

} // namespace
} // namespace headroom::training
