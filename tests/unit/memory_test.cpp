#include "../../core/src/training/stage.hpp"
#include "support/training.hpp"

#include "headroom/training/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using namespace units;
using training::Priced;

Question asked(Strategy const& strategy, char const* framework = "megatron-core", int global_batch = 64) {
    return training::question(training::catalog().model("llama-3-70b"), training::catalog().cluster("dgx-h100"),
                              training::catalog().framework(framework), strategy,
                              {.sequence_length = 4096, .global_batch = global_batch});
}

MemoryUse memory(Strategy const& strategy, char const* framework = "megatron-core", int global_batch = 64) {
    return Priced{asked(strategy, framework, global_batch)}.memory();
}

TEST(MemoryUse, PartsOfOneRankAreCounted) {
    // Expectation: 70.6 billion parameters in 2 + 4 + 12 bytes each, and nothing in buffers: there is nobody to send to.
    auto const use = memory({});
    double const n = count_parameters(training::catalog().model("llama-3-70b")).total;
    EXPECT_DOUBLE_EQ(use.weights.base(), 2.0 * n);
    EXPECT_DOUBLE_EQ(use.gradients.base(), 4.0 * n);
    EXPECT_DOUBLE_EQ(use.optimizer.base(), 12.0 * n);
    EXPECT_EQ(use.buffers, Bytes{});
    EXPECT_EQ(use.total(),
              use.weights + use.gradients + use.optimizer + use.activations + use.logits + use.temporaries);
    EXPECT_EQ(use.stage, 0);
}

TEST(MemoryUse, ThirtyTwoBitWeightsAreTheirOwnMasterCopy) {
    // Expectation: the 16 bytes of [MegatronLM]'s table for 32-bit training, 4 weights + 4 gradients + 8 moments, and 8
    // + 8/d with a sharded optimizer, whatever a record keeps in 16-bit training; frameworks with 32-bit weights as
    // before.
    auto const model = training::catalog().model("llama-3-70b");
    double const n = count_parameters(model).total;
    for (char const* const framework : {"megatron-core", "megatron-2021", "deepspeed-zero", "pytorch-fsdp"}) {
        for (Precision const precision : {Precision::fp32, Precision::tf32}) {
            auto const alone = memory({.zero = 1, .precision = precision}, framework);
            EXPECT_DOUBLE_EQ(alone.weights.base(), 4.0 * n) << framework;
            EXPECT_DOUBLE_EQ(alone.gradients.base(), 4.0 * n) << framework;
            EXPECT_DOUBLE_EQ(alone.optimizer.base(), 8.0 * n) << framework;
            auto const shared = memory({.dp = 8, .zero = 1, .precision = precision}, framework);
            EXPECT_DOUBLE_EQ(shared.optimizer.base(), n) << framework;
        }
    }
    Strategy const gathering{.dp = 8, .zero = 3, .precision = Precision::fp32};
    EXPECT_DOUBLE_EQ(gathered_bytes(training::catalog().framework("megatron-core"), gathering), 4.0);
    EXPECT_DOUBLE_EQ(state_widths(training::catalog().framework("megatron-2021"), gathering.precision).reduced, 4.0);
    EXPECT_DOUBLE_EQ(state_widths(training::catalog().framework("megatron-2021"), Precision::fp16).reduced, 2.0);
    // Apex keeps 32-bit weights and gradients and sends 16-bit ones where it computes in 16 bits
    EXPECT_DOUBLE_EQ(state_widths(training::catalog().framework("pytorch-apex"), Precision::tf32).reduced, 4.0);
    EXPECT_DOUBLE_EQ(state_widths(training::catalog().framework("pytorch-apex"), Precision::fp16).reduced, 2.0);
}

TEST(MemoryUse, StagesAndTensorRanksDivideTheParameters) {
    // Expectation: the first of 4 stages holds a quarter of the blocks and the embedding, cut over 8 tensor ranks.
    auto const model = training::catalog().model("llama-3-70b");
    auto const count = count_parameters(model);
    auto const use = memory({.tp = 8, .pp = 4});
    ASSERT_EQ(use.stage, 0);
    EXPECT_DOUBLE_EQ(use.weights.base(), 2.0 * (20.0 * count.layer + count.embedding) / 8.0);
}

TEST(MemoryUse, TheFullestStageIsTheFirstUnlessTheHeadIsHeavier) {
    // Expectation: the first stage holds the activations of p micro-batches, the last one those of one and the logits.
    EXPECT_EQ(memory({.tp = 8, .pp = 4}).stage, 0);
    auto question = asked({.tp = 8, .pp = 4, .recompute = Recompute::full});
    question.model.vocab = 4'000'000; // a head larger than all activations
    EXPECT_EQ(Priced{question}.memory().stage, 3);
}

TEST(MemoryUse, TiedEmbeddingsAreHeldTwiceInAPipeline) {
    // Expectation: with one stage the table is stored once; the last of two stages keeps a copy for the head.
    auto question = asked({.pp = 2, .recompute = Recompute::full});
    question.model.tied_embeddings = true;
    question.model.vocab = 4'000'000;
    auto const use = Priced{question}.memory();
    auto const count = count_parameters(question.model);
    ASSERT_EQ(use.stage, 1);
    EXPECT_DOUBLE_EQ(use.weights.base(), 2.0 * (40.0 * count.layer + count.embedding + count.final_norm));
    question.strategy.pp = 1;
    EXPECT_DOUBLE_EQ(Priced{question}.memory().weights.base(), 2.0 * count.total);
}

TEST(MemoryUse, AMicroBatchOfTwoHoldsTwice) {
    auto const one = memory({.dp = 8, .zero = 1}), two = memory({.dp = 8, .zero = 1, .micro_batch = 2});
    EXPECT_DOUBLE_EQ(two.activations / one.activations, 2.0);
    EXPECT_EQ(two.weights, one.weights);
}

TEST(MemoryUse, RecomputationKeepsLayerInputs) {
    // Expectation: 80 inputs of two bytes a token and hidden unit; one block (its input counted once) while it is recomputed,
    // with the gradients of its output, of gate and of input to the activation; and the logits in 16 and 32 bits.
    auto const use = memory({.recompute = Recompute::full});
    auto const model = training::catalog().model("llama-3-70b");
    auto const framework = training::catalog().framework("megatron-core");
    auto const shape = shape_of({}, {.sequence_length = 4096});
    double const block = block_activation_bytes(model, shape, framework).base();
    double const logits = 4096.0 * laid_out_vocabulary(model, 1, framework) * 6.0;
    double const input = 4096.0 * 8192 * 2, gradients = 4096.0 * 2 * (8192 + 2.0 * 28672);
    EXPECT_DOUBLE_EQ(use.activations.base(), 80.0 * input);
    EXPECT_DOUBLE_EQ(use.temporaries.base(), block - input + gradients);
    EXPECT_DOUBLE_EQ(use.logits.base(), logits - use.temporaries.base()) << "gone before the block is computed again";
}

TEST(MemoryUse, SelectiveRecomputationHoldsTheScoresOfOneBlock) {
    // Expectation: while attention of one block is recomputed, that block's scores exist: unfused attention needs more
    // than the kept activations by one block's scores.
    auto question = asked({.tp = 8, .recompute = Recompute::selective}, "megatron-2021");
    auto const use = Priced{question}.memory();
    LayerShape shape = shape_of(question.strategy, question.workload);
    double const kept = block_activation_bytes(question.model, shape, question.framework).base();
    shape.recompute = Recompute::none;
    double const all = block_activation_bytes(question.model, shape, question.framework).base();
    double const gradients = 4096.0 * 2 * (8192 + 2.0 * 28672 / 8);
    EXPECT_NEAR(use.activations.base(), 80.0 * kept, 1e-6 * use.activations.base());
    EXPECT_NEAR(use.temporaries.base(), all - kept + gradients, 1e-6 * use.temporaries.base());
    EXPECT_LT(4096.0 * laid_out_vocabulary(question.model, 8, question.framework) / 8.0 * 6.0, use.temporaries.base());
    EXPECT_EQ(use.logits, Bytes{}) << "they need no more than the block that is computed again after them";
}

TEST(MemoryUse, Zero3GathersTwoBlocks) {
    // Expectation: the block in use and the next one in 16 bits, and the gradients of one, whatever the shards.
    auto const count = count_parameters(training::catalog().model("llama-3-70b"));
    auto const framework = training::catalog().framework("megatron-core");
    for (int const ranks : {8, 64}) {
        EXPECT_DOUBLE_EQ(memory({.dp = ranks, .zero = 3}).buffers.base(),
                         count.layer * (2.0 * framework.parameter_bytes + framework.reduced_bytes));
    }
}

TEST(MemoryUse, AdaptersKeepNoStateOfFrozenWeights) {
    auto const all = memory({.dp = 8}), adapters = memory({.dp = 8, .trained = Trained::lora});
    EXPECT_NEAR(adapters.weights / all.weights, 1.0, 0.01) << "and the adapters'";
    EXPECT_LT(adapters.optimizer, all.optimizer * 0.01);
    EXPECT_LT(adapters.gradients, all.gradients * 0.01);
}

TEST(MemoryUse, MagnitudesOfDoraAreALengthOfEachRowAndTwoResults) {
    // Expectation: 80 blocks of Llama-3-70B, attention adapted: rows 8192 + 1024 + 1024 + 8192; 4 bytes of gradient each. A
    // block keeps the results of frozen and LoRA matrices, 16 bits each. W + s B A takes three 16-bit copies of the largest.
    double const rows = 8192.0 + 1024.0 + 1024.0 + 8192.0;
    auto question = asked({.dp = 8, .trained = Trained::lora});
    Priced const lora{question};
    question.strategy.adapter_modules |= adapter_module::magnitudes;
    Priced const dora{question};
    EXPECT_NEAR((dora.memory().gradients - lora.memory().gradients).base(), 4.0 * 80 * rows, 1.0);
    EXPECT_NEAR((dora.memory().buffers - lora.memory().buffers).base(), 6.0 * 8192 * 8192, 1.0);
    auto const shape = shape_of(question.strategy, question.workload);
    auto plain = shape;
    plain.adapter_modules &= ~adapter_module::magnitudes;
    EXPECT_NEAR((block_activation_bytes(question.model, shape, question.framework) -
                 block_activation_bytes(question.model, plain, question.framework))
                    .base(),
                4.0 * rows * question.workload.sequence_length, 1.0);
}

TEST(MemoryUse, DoesNotDependOnTimes) {
    auto const question = asked({.dp = 2, .tp = 4, .pp = 2});
    EXPECT_EQ(Priced(question, Calibration{}).memory().total(), Priced{question}.memory().total());
}

TEST(MemoryUse, AnOptimizerWithTheHostIsNotHere) {
    auto const here = memory({.dp = 8}), there = memory({.dp = 8, .offload = Offload::optimizer});
    EXPECT_EQ(there.optimizer, Bytes{});
    EXPECT_EQ(there.total(), here.total() - here.optimizer);
}

TEST(MemoryUse, ActivationsWithTheHostLeaveTwoBlocks) {
    // Expectation: the one on its way out and the one in use; the logits stay.
    auto const question = asked({.offload = Offload::activations});
    auto const shape = shape_of(question.strategy, question.workload);
    double const block = block_activation_bytes(question.model, shape, question.framework).base();
    EXPECT_NEAR(Priced{question}.memory().activations.base(), 2.0 * block, 1.0);
    double const logits = 4096.0 * laid_out_vocabulary(question.model, 1, question.framework) * 6.0;
    auto const use = Priced{question}.memory();
    EXPECT_NEAR((use.logits + use.temporaries).base(), logits, 1.0);
    // Expectation: of a model whose last 8 of 80 blocks are trained, two of those.
    auto part = asked({.offload = Offload::activations, .trained = Trained::last_layers, .trained_layers = 8});
    EXPECT_NEAR(Priced{part}.memory().activations.base(), 2.0 * block, 1.0);
}

TEST(MemoryUse, FrozenBlocksKeepNothing) {
    // Expectation: 8 of 80 blocks are trained: a tenth of the activations, and state for them, the head and its norm.
    auto const all = asked({}), last = asked({.trained = Trained::last_layers, .trained_layers = 8});
    auto const count = count_parameters(all.model);
    EXPECT_NEAR(Priced{last}.memory().activations / Priced{all}.memory().activations, 0.1, 1e-12);
    double const updated = 8.0 * count.layer + count.head + count.final_norm;
    EXPECT_NEAR(Priced{last}.memory().optimizer.base(), 12.0 * updated, 1e-9 * updated);
    EXPECT_EQ(Priced{last}.memory().weights, Priced{all}.memory().weights);
}

TEST(MemoryUse, PartOfTheBlocksComputedAgainKeepsTheRest) {
    // Expectation: 20 of 80 blocks keep their input only, the others everything; one of the 20 is whole at a time. Where the
    // last 20 are the only ones trained, 30 to compute again are those 20.
    auto const of = [](Strategy const& strategy) { return asked(strategy); };
    auto const part = of({.recompute = Recompute::full, .recompute_layers = 20});
    double const input = 4096.0 * 8192 * 2;
    auto const shape = shape_of({}, part.workload);
    double const block = block_activation_bytes(part.model, shape, part.framework).base();
    EXPECT_NEAR(Priced{part}.memory().activations.base(), 20 * input + 60 * block, 1e-9 * 80 * block);
    double const gradients = Priced{of({})}.memory().temporaries.base(); // where nothing is computed again
    EXPECT_NEAR(Priced{part}.memory().temporaries.base(), block - input + gradients, 1e-9 * block);
    auto const both = of(
        {.recompute = Recompute::full, .recompute_layers = 30, .trained = Trained::last_layers, .trained_layers = 20});
    EXPECT_NEAR(Priced{both}.memory().activations.base(), 20 * input, 1e-9 * 80 * block);
}

TEST(MemoryUse, ExpertsAreSharedOutOverTheirOwnRanks) {
    // Expectation: 8 experts over 8 ranks leave one each; what is not routed is on every rank. Their optimizer state has no
    // rank to share it with, that of the rest has 8.
    auto question = asked({.dp = 8, .ep = 8, .zero = 1});
    question.model = training::catalog().model("mixtral-8x7b");
    auto const use = Priced{question}.memory();
    auto const count = count_parameters(question.model);
    double const routed = count.experts * question.model.layers, rest = count.total - routed;
    EXPECT_NEAR(use.weights.base(), 2.0 * (rest + routed / 8.0), 1e-6 * use.weights.base());
    EXPECT_NEAR(use.optimizer.base(), 12.0 * (rest / 8.0 + routed / 8.0), 1e-6 * use.optimizer.base());
}

TEST(MemoryUse, AdaptersOfAMixtureAreOnEveryExpertRank) {
    // Expectation: LoRA adapters are in attention, which ranks that share out experts all hold: 16 (2 (4096 + 4096) + 2
    // (4096 + 1024)) parameters in each of 32 blocks, 4 bytes of gradient each, whatever the experts.
    auto question = asked({.dp = 8, .ep = 8, .trained = Trained::lora});
    question.model = training::catalog().model("mixtral-8x7b");
    double const adapters = 16.0 * (2.0 * (4096 + 4096) + 2.0 * (4096 + 1024)) * 32;
    EXPECT_NEAR(Priced{question}.memory().gradients.base(), 4.0 * adapters, 1e-6 * adapters);
    for (auto const& row : Priced{question}.rows()) { EXPECT_NE(row.dimension, "expert data"); }
}

TEST(MemoryUse, CompressionKeepsTheErrorOfWhatIsTrained) {
    // Expectation: the error of the gradients that are sent, not of frozen weights: as much smaller as the gradients are.
    // One rank alone sends nothing and keeps no error.
    auto const error = [](Trained trained, int dp) {
        auto const plain = memory({.dp = dp, .trained = trained});
        auto const sparse = memory({.dp = dp, .trained = trained, .compression = {.kind = Compression::top_k}});
        return (sparse.buffers - plain.buffers).base();
    };
    auto const gradients = [](Trained trained) { return memory({.dp = 2, .trained = trained}).gradients.base(); };
    EXPECT_NEAR(error(Trained::lora, 2) / error(Trained::all, 2), gradients(Trained::lora) / gradients(Trained::all),
                1e-6);
    EXPECT_EQ(error(Trained::all, 1), 0.0);
}

TEST(MemoryUse, RanksThatShareAnExpertEachKeepItsInputs) {
    // Expectation: of 4096 tokens' two copies a rank with whole experts keeps half; two that share one keep all of them,
    // 4096 numbers of 2 bytes each in 32 blocks, and as much between the products as before.
    auto question = asked({.dp = 8, .tp = 2, .ep = 4, .etp = 1, .sequence_parallel = true});
    question.model = training::catalog().model("mixtral-8x7b");
    double const whole = Priced{question}.memory().activations.base();
    question.strategy.etp = 2;
    double const cut = Priced{question}.memory().activations.base();
    EXPECT_NEAR(cut - whole, 32.0 * 4096 * 2 * 4096 * 2 / 2, 1e-9 * cut);
}

TEST(MemoryUse, BlocksAheadKeepActivationsAndTheirTable) {
    // Expectation: a block that predicts a second token keeps what the last block does, two inputs of the product that
    // joins it, and logits. Behind other stages it needs the token table besides.
    auto question = asked({.zero = 1});
    question.model = training::catalog().model("deepseek-v3-mtp");
    question.model.layers = 4;
    question.model.moe.first_dense = 0;
    auto const with = Priced{question};
    double const block = block_activation_bytes(question.model, with.shape, question.framework).base();
    double const logits = 4096.0 * laid_out_vocabulary(question.model, 1, question.framework) * 6.0;
    question.model.prediction_layers = 0;
    auto const without = Priced{question};
    EXPECT_NEAR((with.memory().all_activations() - without.memory().all_activations()).base(),
                block + 4096.0 * 2 * 7168 * 2 + logits, 1e-9 * block);
    Strategy const two_stages{.pp = 2};
    auto const last = [&](Priced const& of) { return stage_parameters(of.setting(), two_stages, StagePlace::last); };
    auto const ahead = count_parameters(with.question.model);
    EXPECT_NEAR(last(with).all() - last(without).all(), ahead.prediction + 129280.0 * 7168, 1.0);
}

TEST(MemoryUse, TheLargestBlockIsComputedAgain) {
    // Expectation: of unlike blocks one is alive at a time while it is computed again, in its turn the largest.
    auto question = asked({.recompute = Recompute::full});
    question.model = training::catalog().model("nemotron-3-nano");
    LayerShape kept = shape_of({}, question.workload);
    double largest = 0.0;
    for (char const* letter : {"M", "E", "*"}) {
        Model alone = question.model;
        alone.pattern = letter;
        largest = std::max(largest, block_activation_bytes(alone, kept, question.framework).base());
    }
    double const input = 4096.0 * 2688 * 2;
    auto const use = Priced{question}.memory();
    EXPECT_NEAR(use.activations.base(), 52.0 * input, 1.0);
    question.strategy.recompute = Recompute::none;
    EXPECT_NEAR((use.temporaries - Priced{question}.memory().temporaries).base(), largest - input, 1e-9 * largest);
}

TEST(MemoryUse, UnequalStagesAreEachLookedAt) {
    // Expectation: 126 layers on 16 stages are 7 on the first and 8 on those behind it: the first holds 16 micro-batches of
    // 7 layers, 112, the second 15 of 8, 120.
    auto question = asked({.tp = 8, .pp = 16});
    question.model = training::catalog().model("llama-3-405b");
    ASSERT_EQ(question.model.layers, 126);
    EXPECT_EQ(Priced{question}.memory().stage, 1);
    question.model.layers = 128;
    EXPECT_EQ(Priced{question}.memory().stage, 0);
}

TEST(MicroBatchesInFlight, AreBoundedByWhatThereIs) {
    for (int const p : {1, 2, 4, 8}) {
        for (int const v : {1, 2, 3}) {
            if (p == 1 && v > 1) { continue; }
            for (int const m : {1, 4, 8, 64}) {
                double last = 1e9;
                for (int stage = 0; stage < p; ++stage) {
                    double const held = micro_batches_in_flight({.pp = p, .virtual_pp = v}, stage, m);
                    EXPECT_GT(held, 0.0);
                    EXPECT_LE(held, m);
                    EXPECT_LE(held, last) << "a later stage never holds more";
                    last = held;
                }
            }
        }
    }
    EXPECT_EQ(micro_batches_in_flight({.pp = 8}, 0, 64), 8.0);
    EXPECT_DOUBLE_EQ(micro_batches_in_flight({.pp = 8, .virtual_pp = 2}, 0, 64), 8.0 * (1.0 + 7.0 / 16.0));
}

TEST(UsableMemory, IsLessThanTheCapacity) {
    for (auto const& name : training::catalog().names(io::RecordKind::accelerator)) {
        auto const chip = training::catalog().accelerator(name);
        EXPECT_LT(usable_memory(chip), chip.memory) << name;
        EXPECT_GT(usable_memory(chip), chip.memory * 0.8) << name;
    }
    Accelerator chip;
    chip.memory = 80.0 * GiB;
    EXPECT_NEAR(usable_memory(chip).in(GiB), 75.66, 1e-9); // (80 - 2) x 0.97
}

TEST(UsableMemory, FitsWhenTheFootprintIsNoMoreThanTheCapacity) {
    // Expectation: one decision in two ways: what tensors hold against what is usable, and all there is against the
    // capacity. A megabyte on either side of the edge decides it.
    Accelerator chip;
    chip.memory = 80.0 * GiB;
    for (double const cut : {0.0, 1.0, 6.0}) {
        MemoryUse use;
        use.runtime = 2.0 * GiB;
        for (double const beyond : {-0.001, 0.001}) {
            double const edge = std::min(78.0 * 0.97, 78.0 - cut);
            use.weights = (edge + beyond) * GiB;
            use.fragmentation = std::max(use.weights * (1.0 / 0.97 - 1.0), cut * GiB);
            EXPECT_EQ(use.total() <= usable_memory(chip, use), beyond < 0.0) << cut;
            EXPECT_EQ(use.footprint() <= chip.memory, beyond < 0.0) << cut;
        }
    }
}

TEST(MemoryUse, ATiledLossKeepsNoLogits) {
    // Expectation: 128,256 words of 4,096 numbers make 32 tiles: a tile is as large as the hidden vectors of all tokens and
    // is gone before a block is computed again, which needs more.
    auto question = asked({.recompute = Recompute::full});
    EXPECT_GT(Priced{question}.memory().logits, Bytes{});
    question.framework.tiled_loss = true;
    EXPECT_EQ(Priced{question}.memory().logits, Bytes{});
}

TEST(MemoryUse, GradientsGoWithAnOffloadedOptimizerThatIsSharded) {
    // Expectation: ZeRO-Offload averages gradients into the host's memory from stage 2 on.
    EXPECT_GT(memory({.dp = 8, .zero = 1, .offload = Offload::optimizer}).gradients, Bytes{});
    EXPECT_EQ(memory({.dp = 8, .zero = 2, .offload = Offload::optimizer}).gradients, Bytes{});
    EXPECT_GT(memory({.dp = 8, .zero = 2}).gradients, Bytes{});
}

TEST(MemoryUse, GradientsWrittenInPlaceNeedNoRoomOfTheirOwn) {
    // Expectation: one of the two gradients of a gated product is there at a time: 28672 numbers of 2 bytes a token less.
    auto question = asked({.recompute = Recompute::full});
    auto const before = Priced{question}.memory().temporaries;
    question.framework.in_place_gradients = true;
    EXPECT_NEAR((before - Priced{question}.memory().temporaries).base(), 4096.0 * 2 * 28672, 1.0);
}

TEST(MemoryUse, DualPipeHoldsTwoStagesAndPipeDreamSeveralVersions) {
    // Expectation: a stage of DualPipe has its own 20 of 80 blocks and 20 of the other direction; PipeDream's first of 4
    // stages keeps 4 versions of its weights and one gradient.
    auto const plain = memory({.tp = 8, .pp = 4}),
               dual = memory({.tp = 8, .pp = 4, .pipeline = PipelineSchedule::dualpipe}),
               dream = memory({.tp = 8, .pp = 4, .pipeline = PipelineSchedule::pipedream});
    auto const count = count_parameters(training::catalog().model("llama-3-70b"));
    EXPECT_NEAR(dual.weights.base(), 2.0 * (40.0 * count.layer + count.embedding + count.head + count.final_norm) / 8.0,
                1.0);
    EXPECT_DOUBLE_EQ(dream.weights / plain.weights, 4.0);
    // ranks of both directions hold the same parameters: they share the optimizer's state where anyone does
    auto const sharing = memory({.dp = 2, .tp = 8, .pp = 4, .pipeline = PipelineSchedule::dualpipe, .zero = 1});
    EXPECT_DOUBLE_EQ(dual.optimizer / sharing.optimizer, 4.0);
    EXPECT_EQ(dream.gradients, plain.gradients);
}

TEST(MemoryUse, SchedulesHoldWhatTheyArePublishedToHold) {
    // Expectation: in micro-batches of the first of 4 stages: GPipe all 64, 1F1B, ZB-H1 and ZBV 4, ZB-2P 7 of its 2p - 1,
    // V-Half about half, V-Min about a third, DualPipe 5.
    auto const held = [](PipelineSchedule schedule) {
        return micro_batches_in_flight({.pp = 4, .pipeline = schedule}, 0, 64);
    };
    EXPECT_EQ(held(PipelineSchedule::gpipe), 64.0);
    EXPECT_EQ(held(PipelineSchedule::one_f_one_b), 4.0);
    EXPECT_EQ(held(PipelineSchedule::zb_h1), 4.0);
    EXPECT_EQ(held(PipelineSchedule::zbv), 4.0);
    EXPECT_EQ(held(PipelineSchedule::dualpipe), 5.0);
    EXPECT_EQ(held(PipelineSchedule::pipedream), 4.0);
    EXPECT_LT(held(PipelineSchedule::v_half), 4.0);
    EXPECT_LT(held(PipelineSchedule::v_min), held(PipelineSchedule::v_half));
    EXPECT_GE(held(PipelineSchedule::zb_2p), 7.0);
}

} // namespace
} // namespace headroom
