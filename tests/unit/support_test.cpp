#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/io/support.hpp"
#include "headroom/training/support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headroom::training {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Question llama(int workers, std::vector<Assumption> assumptions = {}) {
    Question asked =
        question(catalog().model("llama-3-8b"), catalog().cluster("dgx-h100"), catalog().framework("megatron-core"),
                 {.dp = workers / 2, .tp = 2, .zero = 1, .sequence_parallel = true},
                 {.sequence_length = 8192, .global_batch = 64});
    asked.assumptions = std::move(assumptions);
    return asked;
}

PublishedRun run_of(int workers, bool named = true) {
    PublishedRun run;
    run.question = llama(workers);
    run.framework_assumed = !named;
    return run;
}

TEST(RunGroups, CountRunsThatAreAlike) {
    std::vector<PublishedRun> runs{run_of(8), run_of(32), run_of(16, false)};
    runs.push_back(run_of(64));
    runs.back().dropped_by = "a rule";
    runs.emplace_back(); // cannot be predicted
    auto const groups = run_groups(runs);
    RunGroup const named{.generation = Generation::hopper,
                         .framework = "megatron-core",
                         .runs = 2,
                         .least_workers = 8,
                         .most_workers = 32};
    RunGroup const unnamed{.generation = Generation::hopper, .runs = 1, .least_workers = 16, .most_workers = 16};
    EXPECT_THAT(groups, ElementsAre(named, unnamed));
}

TEST(RunGroups, AreReadAsTheyAreWritten) {
    std::vector<RunGroup> const groups{{.generation = Generation::blackwell_ultra,
                                        .framework = "nemo \"x\"",
                                        .mixture = true,
                                        .precision = Precision::nvfp4,
                                        .runs = 3,
                                        .least_workers = 8,
                                        .most_workers = 512},
                                       {.generation = Generation::ada_consumer,
                                        .trained = Trained::lora,
                                        .runs = 1,
                                        .least_workers = 1,
                                        .most_workers = 1}};
    EXPECT_EQ(io::read_run_groups(io::write_run_groups(groups, {"a comment"}), "text"), groups);
    EXPECT_THROW(io::read_run_groups("[[runs]]\ngeneration = \"hoppper\"\n", "text"), InputError);
    EXPECT_THROW(io::read_run_groups("[[runs]]\ngeneration = \"hopper\"\nprecision = \"bf16\"\n", "text"), InputError);
}

std::vector<RunGroup> const three_groups{
    {.generation = Generation::hopper, .framework = "megatron-core", .runs = 5, .least_workers = 8, .most_workers = 64},
    {.generation = Generation::hopper, .framework = "nemo", .runs = 7, .least_workers = 16, .most_workers = 1024},
    {.generation = Generation::hopper,
     .framework = "megatron-core",
     .mixture = true,
     .runs = 2,
     .least_workers = 128,
     .most_workers = 256}};

TEST(Support, RunsAreCountedFromTheWidestRespectToTheNarrowest) {
    auto const answer = support_of(predict(llama(16), fitted()), fitted(), three_groups, {});
    std::vector<int> runs, most;
    for (SimilarRuns const& one : answer.evidence) {
        runs.push_back(one.runs);
        most.push_back(one.most_workers.value_or(0));
    }
    EXPECT_THAT(runs, ElementsAre(14, 7, 7, 5, 5)); // 5+7+2, 5+2, 5+2, dense: 5
    EXPECT_THAT(most, ElementsAre(1024, 256, 256, 64, 64));
    EXPECT_TRUE(answer.pair_seen);
    EXPECT_THAT(answer.never_seen, IsEmpty());
    EXPECT_THAT(answer.verdict, HasSubstr("7 measured runs of this accelerator generation and framework"));
}

TEST(Support, WhatWasNeverSeenIsListed) {
    Question low = llama(512);
    low.strategy.precision = Precision::fp8;
    low.workload.global_batch = 512;
    auto const answer = support_of(predict(low, fitted()), fitted(), three_groups, {});
    EXPECT_THAT(
        answer.never_seen,
        Contains(HasSubstr("no measured run of hopper with megatron-core, dense models, all weights trained, fp8")));
    EXPECT_THAT(answer.never_seen,
                Contains(HasSubstr("a scale of 512 accelerators: runs of hopper with megatron-core have 8 to 256")));
    auto const alone = support_of(predict(llama(16), fitted()), fitted(), std::span{three_groups}.subspan(1, 1), {});
    EXPECT_FALSE(alone.pair_seen);
    EXPECT_THAT(alone.verdict, HasSubstr("never measured together"));
    EXPECT_THAT(alone.verdict, HasSubstr("from published runs of hopper, and of megatron-core on other hardware."))
        << "the interval claims no runs of both";
    auto const both = support_of(predict(llama(16), fitted()), fitted(), three_groups, {});
    EXPECT_THAT(both.verdict, HasSubstr("from published runs of hopper and runs of megatron-core."));
    EXPECT_THAT(support_of(predict(llama(16), fitted()), fitted(), {}, {}).evidence, IsEmpty());
}

TEST(Support, ConstantsAreThoseOfTheStep) {
    auto const answer = support_of(predict(llama(16), fitted()), fitted(), {}, {});
    std::vector<std::string> keys;
    for (ConstantValue const& one : answer.constants) { keys.emplace_back(one.info->key); }
    EXPECT_THAT(keys, Contains("gemm_hopper"));
    EXPECT_THAT(keys, Not(Contains("gemm_ampere")));
    std::size_t counted = 0;
    for (Provenance const provenance : provenances) { counted += constants_of(answer, provenance).size(); }
    EXPECT_EQ(counted, answer.constants.size());
}

TEST(GuessEffects, AreTheScreenedStepsOfOtherValues) {
    Assumption const recompute{.field = "recompute", .value = "none", .reason = "it fits", .structural = true};
    Assumption const framework{.field = "framework", .value = "megatron-core", .reason = "by the machine"};
    Assumption const price{.field = "price", .value = "3 $/h", .reason = "list", .provenance = Provenance::cited};
    auto const taken = predict(llama(16, {recompute, framework, price}), fitted());
    auto const effects = guess_effects(taken, fitted());
    ASSERT_EQ(effects.size(), 2U) << "a price of a list is no guess";
    EXPECT_EQ(effects[0].option, "--recompute");
    Question full = llama(16);
    full.strategy.recompute = Recompute::full;
    EXPECT_EQ(effects[0].low, 1.0) << "nothing is faster than no recomputation";
    EXPECT_NEAR(*effects[0].high, predict(full, fitted()).step() / taken.step(), 0.03);
    EXPECT_FALSE(effects[1].low || effects[1].high) << "other frameworks are not tried";
}

} // namespace
} // namespace headroom::training
