#include "support/training.hpp"

#include "headroom/training/host_launches.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/optimizer.hpp"

#include <gtest/gtest.h>

#include <numeric>

// Facts of software that a few records state, each counted by hand from the dimensions of the model.

namespace headroom {

using namespace headroom::training;

namespace {

using training::Priced;

constexpr double tokens = 4 * 4096.0, hidden = 4096.0, blocks = 32.0, words = 32000.0;

/// Llama-2-7B, four sequences of 4,096 tokens a rank.
Question seven(char const* framework, Strategy strategy) {
    strategy.micro_batch = 4;
    auto question = training::question(training::catalog().model("llama-2-7b"), training::catalog().cluster("dgx-h100"),
                                       training::catalog().framework(framework), strategy,
                                       {.sequence_length = 4096, .global_batch = 4 * strategy.dp});
    question.framework = with_state(question.framework, {}, question.model);
    return question;
}

TEST(MemoryFacts, CacheAndOutputsLiveThroughTheBackwardPass) {
    // Expectation: of 32 checkpointed blocks the 32-bit inputs, and keys and values of 16 bits as for generation; of the
    // logits a 32-bit copy, next to which the loss makes its own. Without the two facts only what the loss needs beyond the
    // recomputed block.
    Strategy const strategy{.dp = 8, .zero = 3, .recompute = Recompute::full};
    auto question = seven("atorch", strategy);
    auto const with = Priced{question}.memory();
    EXPECT_NEAR(with.activations.base(), blocks * tokens * hidden * 4, 1.0);
    double const cache = blocks * tokens * 2 * hidden * 2, loss = tokens * words * 12;
    double const returned = tokens * words * 4;
    EXPECT_NEAR(with.logits.base(), cache + returned + std::max(0.0, loss - with.temporaries.base()), 1.0);
    question.framework.holds_outputs = false;
    auto const freed = Priced{question}.memory();
    EXPECT_NEAR(freed.logits.base(), std::max(0.0, cache + loss - freed.temporaries.base()), 1.0);
    question.framework.keeps_cache = false;
    EXPECT_NEAR(Priced{question}.memory().logits.base(), std::max(0.0, loss - freed.temporaries.base()), 1.0);
}

TEST(MemoryFacts, BatchesOfOtherLengthsLeaveSegmentsOfTheLoss) {
    // Expectation: one and a half times the tensors of the loss, 12 bytes a logit, on top of what eager software loses; no more
    // than fits in 99 % of the memory, for the allocator gives such segments back before it runs out.
    auto question = seven("ms-swift", {.recompute = Recompute::full, .trained = Trained::lora});
    auto const mixed = Priced{question}.memory();
    auto alike = question;
    alike.framework.mixed_loss = 0.0;
    auto const plain = Priced{alike}.memory();
    EXPECT_EQ(mixed.total(), plain.total());
    EXPECT_NEAR((mixed.fragmentation - plain.fragmentation).base(), 1.5 * 12 * tokens * words, 1.0);
    question.strategy.micro_batch = question.workload.global_batch = 16;
    auto const full = Priced{question}.memory();
    EXPECT_NEAR(full.footprint() / (80.0 * units::GiB), 0.99, 1e-9);
    question.framework.mixed_loss = 8.0;
    EXPECT_EQ(Priced{question}.memory().footprint(), full.footprint());
    question.strategy.micro_batch = question.workload.global_batch = 64; // too much without such segments
    alike.strategy = question.strategy, alike.workload = question.workload;
    EXPECT_EQ(Priced{question}.memory().footprint(), Priced{alike}.memory().footprint());
}

TEST(MemoryFacts, FrozenWeightsAreAsWideAsTheyWereLoaded) {
    // Expectation: 4 bytes over 8 ranks of weights that were loaded in 32 bits, else 2; a quantised base is as narrow in
    // either.
    Strategy const strategy{.dp = 8, .zero = 3, .recompute = Recompute::full, .trained = Trained::lora};
    auto const wide = seven("atorch", strategy), narrow = seven("hf-fsdp", strategy);
    double const all = count_parameters(wide.model).total;
    EXPECT_NEAR(wide.framework.frozen_bytes, 4.0, 1e-12);
    EXPECT_NEAR((Priced{wide}.memory().weights - Priced{narrow}.memory().weights).base(), all * 2 / 8, 1.0);
    StateChoice const quantised{.frozen = FrozenFormat::nf4};
    EXPECT_LT(with_state(training::catalog().framework("atorch"), quantised, wide.model).frozen_bytes, 0.8);
}

TEST(MemoryFacts, EagerScoresAreWide) {
    // Expectation: with dropout off an eager attention keeps of each score the 32-bit softmax and its 16-bit copy, and
    // holds two 32-bit gradients; a fused softmax keeps 5 bytes.
    auto question = seven("llama-recipes", {.dp = 8, .zero = 3});
    double const scores = blocks * tokens * 32 * 4096.0;
    auto const eager = Priced{question}.memory();
    question.framework.attention = AttentionKernel::flash2;
    auto const flash = Priced{question}.memory();
    double const statistics = blocks * tokens * 32 * 4.0;
    EXPECT_NEAR((eager.activations - flash.activations).base(), 6.0 * scores - statistics, 1.0);
    // all of the widest gradients: of the scores and of queries, keys and values, where the feed-forward part had them before
    double const before = tokens * std::max(3 * 2 * hidden, 2 * 2 * 11008.0);
    double const now = 8.0 * scores / blocks + tokens * 3 * 2 * hidden;
    EXPECT_NEAR((eager.temporaries - flash.temporaries).base(), now - before, 1.0);
}

TEST(MemoryFacts, DeepSpeedKeepsBothGradientsInBf16) {
    // Expectation: 2 + 6 bytes unsharded and 12 over the replicas in bf16, 2 + 2 and 12 in fp16.
    auto question = seven("megatron-deepspeed", {.dp = 4, .tp = 2, .zero = 1, .recompute = Recompute::full});
    double const held = count_parameters(question.model).total / 2;
    EXPECT_NEAR(Priced{question}.memory().state().base(), held * (8 + 12 / 4.0), 1.0);
    question.strategy.precision = Precision::fp16;
    EXPECT_NEAR(Priced{question}.memory().state().base(), held * (4 + 12 / 4.0), 1.0);
}

TEST(MemoryFacts, AnUpdateOnListsOfTensorsCopiesTheWeights) {
    // Expectation: at 16 tokens activations are nothing, and the update is the peak: weights, gradients and the copy of 4
    // bytes a parameter, states of 8; a second copy before PyTorch 2.1. Copies lose 3 % to the allocator, as state does. The
    // optimizer in host memory copies nothing here.
    auto question = seven("pytorch", {.dp = 1, .recompute = Recompute::full});
    question.workload = {.sequence_length = 16, .global_batch = 4};
    double const all = count_parameters(question.model).total;
    auto const use = Priced{question}.memory();
    EXPECT_NEAR(use.total().base(), 20 * all, 1e-9 * all);
    EXPECT_NEAR(use.fragmentation.base(), 20 * all * 3 / 97, 0.02 * all);
    EXPECT_EQ(use.host, Bytes{});
    auto older = question;
    older.framework = as_of(question.framework, "python 3.11, torch 2.0.1");
    EXPECT_NEAR(Priced{older}.memory().total().base(), 24 * all, 1e-9 * all);
    EXPECT_EQ(as_of(question.framework, "torch 2.13").update_copies, 1.0) << "13 is more than 1";
    EXPECT_EQ(as_of(question.framework, "jax 0.4").update_copies, 1.0);
    question.strategy.offload = Offload::optimizer;
    auto const away = Priced{question}.memory();
    EXPECT_EQ(away.update_copies, Bytes{});
    EXPECT_NEAR(away.host.base(), 8 * all, 1.0);
}

TEST(MemoryFacts, DeepSpeedWidensGradientsToUpdate) {
    // Expectation: activations of 16 tokens are nothing, and the update is the peak: 4 bytes for each parameter of the rank's
    // partition, in ZeRO 3 for no more than sub_group_size of 10^9 at once. None in 32 bits, and none in host memory.
    auto const made = [](int dp, int zero, Precision precision, Offload offload) {
        auto question = seven("hf-deepspeed", {.dp = dp, .zero = zero, .recompute = Recompute::full});
        question.workload = {.sequence_length = 16, .global_batch = 4 * dp};
        question.strategy.precision = precision, question.strategy.offload = offload;
        auto const use = Priced{question}.memory();
        return use.update_copies > Bytes{} ? (use.update_copies + use.all_activations()).base() : 0.0;
    };
    double const all = count_parameters(training::catalog().model("llama-2-7b")).total;
    EXPECT_NEAR(made(8, 3, Precision::bf16, Offload::none), 4 * all / 8, 1.0);
    EXPECT_NEAR(made(2, 3, Precision::bf16, Offload::none), 4e9, 1.0);
    EXPECT_NEAR(made(2, 2, Precision::bf16, Offload::none), 4 * all / 2, 1.0);
    EXPECT_EQ(made(8, 3, Precision::fp32, Offload::none), 0.0);
    EXPECT_EQ(made(8, 3, Precision::bf16, Offload::optimizer), 0.0);
}

TEST(MemoryFacts, ACompiledLossKeepsFewerCopies) {
    // Expectation: chunks of torchtune's loss keep 4 bytes of log-softmax a logit; compiled, a 16-bit gradient of one in eight.
    auto const torchtune = training::catalog().framework("torchtune");
    auto const compiled = with_kernels(torchtune, {.compiled = true, .fused = {}, .attention = {}, .fp8_recipe = {}});
    EXPECT_EQ(torchtune.logit_copy_bytes, 4.0);
    EXPECT_EQ(compiled.logit_copy_bytes, 2.0 / 8.0);
    auto const eager = training::catalog().framework("pytorch");
    EXPECT_EQ(with_kernels(eager, {.compiled = true, .fused = {}, .attention = {}, .fp8_recipe = {}}).logit_copy_bytes,
              4.0);
}

TEST(MemoryFacts, TrainedTablesBesideAdaptersAreNarrow) {
    // Expectation: copies of 16-bit tables have 2 + 2 + 4 bytes, half of 4 + 4 + 8; with a second micro-batch gradients stay.
    Strategy const lora{.dp = 1, .recompute = Recompute::full, .trained = Trained::lora};
    auto tables = lora;
    tables.adapter_modules |= adapter_module::tables;
    auto const state = [](Strategy const& strategy) {
        auto question = seven("hf-trainer", strategy);
        question.workload.global_batch = 8;
        return Priced{question}.memory();
    };
    auto const without = state(lora), with = state(tables);
    EXPECT_NEAR((with.state() - without.state()).base(), 8.0 * 2 * words * hidden, 1.0);
}

TEST(MemoryFacts, GradientsComeAsActivationsGo) {
    // Expectation: with one micro-batch gradients are made from the last block to the first, while the blocks' activations are
    // freed: the peak has the larger of the two. A second micro-batch finds them there; so does the first where they are kept.
    auto question = seven("pytorch-fsdp", {.dp = 8, .zero = 3});
    double const all = count_parameters(question.model).total;
    auto const once = Priced{question}.memory();
    EXPECT_GT(once.activations.base(), 4 * all / 8);
    EXPECT_EQ(once.gradients, Bytes{});
    question.workload.global_batch = 64;
    auto const again = Priced{question}.memory();
    EXPECT_NEAR((again.total() - once.total()).base(), 4 * all / 8, 1.0);
    question.workload = {.sequence_length = 16, .global_batch = 32};
    auto const few = Priced{question}.memory();
    double const others = (few.activations * (31.0 / 32.0) + few.logits).base(); // than the block that is the last
    EXPECT_NEAR(few.gradients.base() + others, 4 * all / 8, 1.0);
    EXPECT_NEAR(Priced{seven("maxtext", {.dp = 8, .zero = 3})}.memory().gradients.base(), 4 * all / 8, 1.0);
}

TEST(MemoryFacts, AutocastNarrowsWeights) {
    // Expectation: 2 bytes of every weight but the embedding table, through the step where blocks are kept; where all are
    // computed again until the forward pass has ended, as the logits. Not of weights that are 16-bit.
    auto question = seven("pytorch", {.dp = 1});
    auto narrow = question;
    narrow.framework.wide_residual = false;
    double const matrices = count_parameters(question.model).total - words * hidden;
    EXPECT_NEAR((Priced{question}.memory().buffers - Priced{narrow}.memory().buffers).base(), 2 * matrices, 1.0);
    question.strategy.recompute = narrow.strategy.recompute = Recompute::full;
    auto const with = Priced{question}.memory(), without = Priced{narrow}.memory();
    EXPECT_NEAR((with.logits + with.temporaries - without.logits - without.temporaries).base(), 2 * matrices, 1.0);
    EXPECT_NEAR((with.activations - without.activations).base(), blocks * tokens * hidden * 2, 1.0) << "block inputs";
}

TEST(MemoryFacts, BlockInputsAreAsWideAsTheEmbedding) {
    // Expectation: under autocast 2 bytes where frozen weights are 16-bit or GPTQ's, 4 where PEFT widens what bitsandbytes does
    // not quantise: tables of 2 x 131 million words, too.
    Strategy const lora{.dp = 1, .recompute = Recompute::full, .trained = Trained::lora};
    auto const with = [&](FrozenFormat format, char const* framework) {
        auto question = seven(framework, lora);
        question.framework = with_state(training::catalog().framework(framework), {.frozen = format}, question.model);
        return Priced{question}.memory();
    };
    double const inputs = blocks * tokens * hidden;
    EXPECT_NEAR(with(FrozenFormat::sixteen_bit, "hf-trainer").activations.base(), 2 * inputs, 1.0);
    EXPECT_NEAR(with(FrozenFormat::int4, "hf-trainer").activations.base(), 2 * inputs, 1.0);
    auto const widened = with(FrozenFormat::nf4, "hf-trainer"), kept = with(FrozenFormat::nf4, "fsdp-qlora");
    EXPECT_NEAR(widened.activations.base(), 4 * inputs, 1.0);
    EXPECT_NEAR(kept.activations.base(), 2 * inputs, 1.0);
    EXPECT_NEAR((widened.weights - kept.weights).base(), 2 * 2 * words * hidden, 1e6);
}

TEST(MemoryFacts, QuantisedMatricesAreReadInTheWorkingFormat) {
    // Expectation: the largest matrix of Llama-2-7B is 11008 x 4096; its product reads 2 bytes an element. GPTQ's base and a
    // 16-bit one differ by that in temporaries.
    Strategy const lora{.dp = 1, .recompute = Recompute::full, .trained = Trained::lora};
    auto wide = seven("fsdp-qlora", lora), quantised = wide;
    quantised.framework =
        with_state(training::catalog().framework("fsdp-qlora"), {.frozen = FrozenFormat::int4}, wide.model);
    EXPECT_NEAR((Priced{quantised}.memory().temporaries - Priced{wide}.memory().temporaries).base(),
                2 * 11008.0 * hidden, 1.0);
}

TEST(MemoryFacts, DataParallelismKeepsBucketsOfAllGradients) {
    // Expectation: 4 bytes of every trained parameter on two ranks, none on one; of LoRA those of its matrices.
    auto one = seven("pytorch", {.dp = 1, .recompute = Recompute::full}),
         two = seven("pytorch", {.dp = 2, .recompute = Recompute::full});
    double const all = count_parameters(two.model).total;
    EXPECT_NEAR((Priced{two}.memory().buffers - Priced{one}.memory().buffers).base(), 4 * all, 1.0);
    auto lora = seven("hf-trainer", {.dp = 2, .recompute = Recompute::full, .trained = Trained::lora});
    EXPECT_LT(Priced{lora}.memory().buffers.base(), 0.01 * all);
    EXPECT_GT(Priced{lora}.memory().buffers, Bytes{});
}

TEST(MemoryFacts, AMaskOfEveryScoreIsMadeOnce) {
    // Expectation: four sequences of 4,096 x 4,096 scores, 4 bytes each with a 32-bit sum.
    auto question = seven("atorch", {.dp = 8, .zero = 3, .recompute = Recompute::full});
    auto const with = Priced{question}.memory();
    question.framework.score_mask = false;
    EXPECT_NEAR((with.buffers - Priced{question}.memory().buffers).base(), 4 * 4096.0 * 4096 * 4, 1.0);
}

TEST(MemoryFacts, DeepSpeedFillsTheFirstStages) {
    // Expectation: 70 blocks on 8 stages are 9 each and 7 on the last; the first holds the embedding and most micro-batches.
    auto question = seven("megatron-deepspeed", {.dp = 1, .pp = 8, .zero = 1, .recompute = Recompute::full});
    question.model.layers = 70;
    question.workload.global_batch = 64;
    Priced const priced{question};
    auto const fullest = priced.memory();
    EXPECT_EQ(fullest.stage, 0);
    EXPECT_NEAR(fullest.activations.base(), 9 * 8 * tokens * hidden * 2, 1.0);
    auto const stages = memory_by_stage(priced.setting(), question.strategy);
    double const block = (stages[1].weights - stages[7].weights).base() + 2 * words * hidden + 2 * hidden;
    EXPECT_NEAR(block, 2 * 2 * (count_parameters(question.model).layer), 1.0) << "two blocks of 2 bytes a parameter";
}

TEST(MemoryFacts, GeluInPythonKeepsThreeTensors) {
    // Expectation: of BERT's feed-forward width, in the working format, with the containers of early 2020 and not since.
    auto const& model = training::catalog().model("bert-large");
    auto question = training::question(
        model, training::catalog().cluster("dgx-v100"), training::catalog().framework("pytorch-apex"),
        {.micro_batch = 8, .precision = Precision::fp16}, {.sequence_length = 384, .global_batch = 8});
    auto const later = Priced{question}.memory();
    question.framework = as_of(question.framework, "torch 1.4.0");
    auto const before = Priced{question}.memory();
    EXPECT_NEAR((before.activations - later.activations).base(), 24 * 8 * 384.0 * 4096 * 3 * 2, 1.0);
}

TEST(MemoryFacts, NarrowCachesKeepBytes) {
    // Expectation: DeepSeek-V3 in FP8, bytes a token. Attention's output of 128 heads of 128 in 12 bits for itself and the
    // product behind it, not in 16 and 8; of 8 routed experts and a shared one the two inputs of the gated product in 8
    // bits, not these in 16 and their product in 8.
    auto question =
        training::question(training::catalog().model("deepseek-v3"), training::catalog().cluster("dgx-h100"),
                           training::catalog().framework("hai-llm"), {.precision = Precision::fp8},
                           {.sequence_length = 4096, .global_batch = 64});
    auto const narrow = Priced{question}.memory();
    question.framework.narrow_caches = false;
    double const saved = 61 * 128 * 128 * (3 - 1.5) + 58 * 9 * 2048.0 * (5 - 2);
    EXPECT_NEAR((Priced{question}.memory().activations - narrow.activations).base(), 4096 * saved, 1.0);
}

TEST(MemoryFacts, Llama405FitsWithoutRecomputation) {
    // Expectation: as its report runs it, on tp 8 and pp 16 with 8,192 tokens: optimizer and gradients, 16 bytes a parameter,
    // over 128 replicas and 2 on every rank. It ran on 80 GB.
    Strategy const strategy{.dp = 128, .tp = 8, .pp = 16, .zero = 1, .sequence_parallel = true};
    auto const question = training::question(
        training::catalog().model("llama-3-405b"), training::catalog().cluster("dgx-h100"),
        training::catalog().framework("llama3-stack"), strategy, {.sequence_length = 8192, .global_batch = 2048});
    Priced const priced{question};
    auto const use = priced.memory();
    EXPECT_LE(use.footprint(), question.cluster.accelerator.memory);
    EXPECT_NEAR((use.gradients + use.optimizer) / use.weights, 16 / 128.0 / 2, 1e-9);
}

TEST(MemoryPlacement, ExpertsAreWhereTheirLayersAre) {
    // Expectation: of four layers of DeepSeek-V3 the first three are dense: 256 experts of 3 x 7168 x 2048 are on the last
    // of two stages alone, with 18 bytes a parameter over 4 expert ranks; all stages hold the model.
    auto question =
        training::question(training::catalog().model("deepseek-v3"), training::catalog().cluster("dgx-h100"),
                           training::catalog().framework("megatron-core"), {.dp = 4, .pp = 2, .ep = 4},
                           {.sequence_length = 4096, .global_batch = 64});
    question.model.layers = 4;
    Priced const priced{question};
    auto const stages = memory_by_stage(priced.setting(), question.strategy);
    double const experts = 256 * 3.0 * 7168 * 2048, all = count_parameters(question.model).total;
    double const state = (stages[0].state() + stages[1].state()).base();
    EXPECT_NEAR(state, 18 * (all - experts + experts / 4), 1e-9 * state);
    double const dense = 18 * (all - experts);
    EXPECT_GT(stages[1].state().base(), 18 * experts / 4);
    EXPECT_LT(stages[0].state().base(), dense);
}

TEST(MemoryPlacement, StagesAreAsTheUserStates) {
    // Expectation: 32 blocks cut in 10, 6, 6 and 10: each stage's inputs are those of its blocks and micro-batches.
    auto question = seven("megatron-core", {.dp = 2, .pp = 4, .recompute = Recompute::full});
    question.workload.global_batch = 64;
    question.model.layers_per_stage = {10, 6, 6, 10};
    Priced const priced{question};
    auto const stages = memory_by_stage(priced.setting(), question.strategy);
    int const sizes[] = {10, 6, 6, 10};
    for (int stage = 0; stage < 4; ++stage) {
        auto const at = static_cast<std::size_t>(stage);
        EXPECT_NEAR(stages[at].activations.base(), (4 - stage) * sizes[at] * tokens * hidden * 2, 1.0) << stage;
    }
    double const block = count_parameters(question.model).layer;
    EXPECT_NEAR((stages[1].state() - stages[2].state()).base(), 0.0, 1.0);
    EXPECT_NEAR(stages[1].weights.base(), 2 * 6 * block, 1.0);
}

} // namespace
} // namespace headroom
