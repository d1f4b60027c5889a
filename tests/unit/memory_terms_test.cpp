#include "support/training.hpp"

#include "headroom/training/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// Terms of the memory of blocks and stages that are not all alike, counted by hand from the dimensions of the model.

namespace headroom {

using namespace headroom::training;

namespace {

using training::Priced;

Question asked(char const* model, Strategy const& strategy, char const* framework = "megatron-core", int batch = 64) {
    return training::question(training::catalog().model(model), training::catalog().cluster("dgx-h100"),
                              training::catalog().framework(framework), strategy,
                              {.sequence_length = 4096, .global_batch = batch});
}

std::vector<MemoryUse> by_stage(Question const& question) {
    Priced const priced{question};
    return memory_by_stage(priced.setting(), priced.question.strategy);
}

TEST(MemoryTerms, LatentAttentionKeepsEveryHeadAndTheNarrowVectors) {
    // Expectation: DeepSeek-V3 on one rank, bytes a token of a block. Attention: input and normalised input, queries
    // and keys of 128 heads of 128 + 64, values and output of 128 heads of 128, latent vectors of 1536, 512 and 64, a
    // statistic a head in 32 bits. A dense layer (3 of 61): 3 tensors of 18432. Experts (58): 8 copies of 7168 and
    // of 3 x 2048, one shared expert of 3 x 2048, 256 scores of the router.
    double const h = 7168, tokens = 4096;
    double const attention = 4 * h + 2 * (2 * 128 * 192 + 2 * 128 * 128 + 1536 + 512 + 64) + 4 * 128;
    double const dense = 4 * h + 6 * 18432;
    double const experts = 4 * h + 8 * (2 * h + 6 * 2048) + 6 * 2048 + 2 * 256;
    double const kept = tokens * (61 * attention + 3 * dense + 58 * experts);
    auto const use = Priced{asked("deepseek-v3", {})}.memory();
    EXPECT_NEAR(use.activations.base(), kept, 1e-9 * kept);
}

TEST(MemoryTerms, ScoresOfTheRouterAreSharedOutWithTheTokens) {
    // Expectation: Mixtral over 4 tensor ranks with sequence parallelism keeps a quarter of everything that one rank
    // keeps, the 8 scores a token of the router included.
    auto const one = Priced{asked("mixtral-8x7b", {})}.memory();
    auto const four = Priced{asked("mixtral-8x7b", {.tp = 4, .sequence_parallel = true})}.memory();
    EXPECT_NEAR(one.activations / four.activations, 4.0, 1e-12);
    double const attention = 4.0 * 4096 + 2 * (2 * 4096 + 2 * 1024) + 4 * 32;
    double const experts = 4.0 * 4096 + 2 * (2 * 4096 + 6 * 14336) + 2 * 8;
    EXPECT_NEAR(one.activations.base(), 32 * 4096.0 * (attention + experts), 1.0);
}

TEST(MemoryTerms, NoMoreWeightsAreGatheredThanThereAre) {
    // Expectation: DeepSpeed may keep 10^9 parameters gathered; a model of 124 million has only those, 2 bytes each,
    // with four and a half buckets that hold no more either.
    auto const question = asked("gpt2-small", {.dp = 8, .zero = 3}, "deepspeed-2024");
    double const parameters = count_parameters(question.model).total;
    ASSERT_LT(parameters, 5e8);
    auto const use = Priced{question}.memory();
    EXPECT_NEAR(use.buffers.base(), parameters * (2.0 + 4.5 * 2.0), 1.0);
}

TEST(MemoryTerms, BothDirectionsKeepTheLongerOfTheirParts) {
    // Expectation: 7 blocks on 4 stages are 2, 2, 2, 1; a stage of two directions holds parts i and 3 - i, and a
    // micro-batch passes one of them: five are under way, each counted with the longer part, two blocks.
    auto question = asked("llama-3-8b", {.pp = 4, .pipeline = PipelineSchedule::dualpipe});
    auto one = asked("llama-3-8b", {});
    question.model.layers = 7;
    one.model.layers = 1;
    auto const stages = by_stage(question);
    auto const block = Priced{one}.memory().activations;
    ASSERT_EQ(stages.size(), 4U);
    for (auto const& use : stages) { EXPECT_NEAR(use.activations / block, 5 * 2.0, 1e-9) << use.stage; }
}

} // namespace
} // namespace headroom
