// Memory, counted tensor by tensor in the library, against the closed forms of the literature.

#include "support/training.hpp"

#include "headroom/laws/laws.hpp"
#include "headroom/training/laws.hpp"
#include "headroom/training/memory.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::training;

namespace {

constexpr double s = 2048, b = 1; // sequence and micro-batch of the published example

Model gpt3() { return training::catalog().model("gpt3-175b"); }

Framework software(AttentionKernel attention) {
    Framework framework;
    framework.attention = attention;
    return framework;
}

double ours(int tp, bool sequence_parallel, Recompute recompute, AttentionKernel attention, bool dropout = false) {
    Strategy const strategy{
        .tp = tp, .micro_batch = static_cast<int>(b), .sequence_parallel = sequence_parallel, .recompute = recompute};
    auto const shape = shape_of(strategy, {.sequence_length = static_cast<int>(s)});
    auto framework = software(attention);
    framework.dropout = dropout;
    return block_activation_bytes(gpt3(), shape, framework).base();
}

TEST(ActivationBytes, AreThoseOfKorthikantiWithoutTheDropoutMasks) {
    // Expectation: the published rows count a one-byte dropout mask after attention and one after the feed-forward part:
    // 2 s b h, split by sequence parallelism. This library trains without dropout outside the scores, so each row is
    // smaller by exactly these masks.
    double const h = gpt3().hidden, a = gpt3().heads;
    double const sbh = s * b * h, scores = 5.0 * a * s / h;
    ASSERT_EQ(scores, 80.0);
    for (int const tp : {1, 2, 4, 8}) {
        double const t = tp;
        double const masks = 2.0 * sbh;
        auto const unfused = AttentionKernel::unfused;
        EXPECT_DOUBLE_EQ(ours(tp, false, Recompute::none, unfused), sbh * (10.0 + 24.0 / t + scores / t) - masks);
        EXPECT_DOUBLE_EQ(ours(tp, false, Recompute::selective, unfused), sbh * (10.0 + 24.0 / t) - masks);
        EXPECT_DOUBLE_EQ(ours(tp, false, Recompute::full, unfused), 2.0 * sbh);
        if (tp == 1) { continue; }
        EXPECT_DOUBLE_EQ(ours(tp, true, Recompute::none, unfused), sbh / t * (34.0 + scores) - masks / t);
        EXPECT_DOUBLE_EQ(ours(tp, true, Recompute::selective, unfused), 34.0 * sbh / t - masks / t);
        EXPECT_DOUBLE_EQ(ours(tp, true, Recompute::full, unfused), 2.0 * sbh / t);
    }
}

TEST(ActivationBytes, AreThoseOfKorthikantiToTheByte) {
    // Expectation: the table of the paper for a framework that drops out: nothing split, tensor parallel, with sequence
    // parallelism; everything kept, selective, full.
    double const h = gpt3().hidden, a = gpt3().heads;
    double const sbh = s * b * h, scores = 5.0 * a * s / h;
    auto const unfused = AttentionKernel::unfused;
    EXPECT_EQ(ours(1, false, Recompute::none, unfused, true), sbh * (34.0 + scores));
    EXPECT_EQ(ours(1, false, Recompute::selective, unfused, true), sbh * 34.0);
    for (int const tp : {2, 4, 8}) {
        double const t = tp;
        EXPECT_EQ(ours(tp, false, Recompute::none, unfused, true), sbh * (10.0 + 24.0 / t + scores / t));
        EXPECT_EQ(ours(tp, true, Recompute::none, unfused, true), sbh / t * (34.0 + scores));
        EXPECT_EQ(ours(tp, false, Recompute::selective, unfused, true), sbh * (10.0 + 24.0 / t));
        EXPECT_EQ(ours(tp, true, Recompute::selective, unfused, true), sbh / t * 34.0);
        EXPECT_EQ(ours(tp, false, Recompute::full, unfused, true), 2.0 * sbh);
        EXPECT_EQ(ours(tp, true, Recompute::full, unfused, true), 2.0 * sbh / t);
    }
    // the published sizes of GPT-3
    EXPECT_NEAR(ours(1, false, Recompute::none, unfused, true) / 1e9, 2.87, 0.005);
    EXPECT_NEAR(ours(1, false, Recompute::selective, unfused, true) / 1e9, 0.86, 0.005);
    EXPECT_NEAR(ours(8, true, Recompute::selective, unfused, true) / 1e9, 0.107, 0.0005);
}

TEST(ActivationBytes, AreThoseOfMegatronsOwnEstimate) {
    // Expectation: s b h (18 + 4 f/h) / t with sequence parallelism and selective recomputation: any width of a plain block.
    for (int const width : {2, 3, 4, 6}) {
        for (int const tp : {2, 8}) {
            auto model = gpt3();
            model.ffn = width * model.hidden;
            auto framework = software(AttentionKernel::unfused);
            framework.dropout = true;
            Strategy const strategy{.tp = tp, .sequence_parallel = true, .recompute = Recompute::selective};
            auto const shape = shape_of(strategy, {.sequence_length = static_cast<int>(s)});
            EXPECT_EQ(block_activation_bytes(model, shape, framework).base(),
                      s * b * model.hidden * (18.0 + 4.0 * width) / tp);
        }
    }
}

TEST(ActivationBytes, OfAPipelineAreThoseOfItsMicroBatchesInFlight) {
    // Expectation: the first stage of 1F1B keeps L blocks' worth whatever the depth, never more than m micro-batches; v chunks
    // a stage keep 1 + (p-1)/(p v) times that.
    Framework const framework = software(AttentionKernel::flash2);
    auto const model = gpt3();
    Cluster const cluster;
    Calibration const constants;
    StepSetting const setting{model, cluster, framework, constants, {.sequence_length = 2048, .global_batch = 64}};
    auto const first = [&](Strategy const& strategy) { return memory_by_stage(setting, strategy).front().activations; };
    double const block = ours(1, false, Recompute::none, AttentionKernel::flash2);
    for (int const p : {2, 4, 8, 16}) {
        EXPECT_NEAR(first({.pp = p}).base(), model.layers * block, 1.0);
        EXPECT_NEAR(first({.dp = 64, .pp = p}).base(), model.layers / p * block, 1.0);
        for (int const v : {2, 3}) {
            double const more = 1.0 + (p - 1.0) / (static_cast<double>(p) * v);
            EXPECT_NEAR(first({.pp = p, .virtual_pp = v}) / first({.pp = p}), more, 1e-12);
        }
        auto const stages = memory_by_stage(setting, {.pp = p});
        for (auto const& use : stages) {
            EXPECT_NEAR(use.activations / stages.front().activations, static_cast<double>(p - use.stage) / p, 1e-12);
        }
    }
}

TEST(ActivationBytes, FusedAttentionKeepsOneNumberAQueryAndHead) {
    // Expectation: as with selective recomputation, and 4 bytes of softmax statistics for each head and query.
    double const sbh = s * b * gpt3().hidden, a = gpt3().heads;
    for (int const tp : {1, 2, 4, 8}) {
        for (auto const recompute : {Recompute::none, Recompute::selective}) {
            EXPECT_DOUBLE_EQ(ours(tp, false, recompute, AttentionKernel::flash2),
                             sbh * (8.0 + 24.0 / tp) + 4.0 * s * b * a / tp);
        }
    }
}

TEST(ActivationBytes, OfGpt3AreThePublishedSizes) {
    // Expectation: 2.87 GB a layer with everything kept, 0.86 GB selective, 0.107 GB on 8 sequence-parallel ranks; without
    // the two masks 2.82, 0.81 and 0.101.
    double const masks = 2.0 * s * b * gpt3().hidden;
    EXPECT_NEAR((ours(1, false, Recompute::none, AttentionKernel::unfused) + masks) / 1e9, 2.87, 0.005);
    EXPECT_NEAR((ours(1, false, Recompute::selective, AttentionKernel::unfused) + masks) / 1e9, 0.856, 0.0005);
    EXPECT_NEAR((ours(8, true, Recompute::selective, AttentionKernel::unfused) + masks / 8) / 1e9, 0.107, 0.0005);
}

TEST(ActivationBytes, OfAGatedBlockAreItsTensors) {
    // Expectation: inputs of two norms and two linear pairs (4 h), queries and context (2 a d), keys and values (2 g d),
    // gate, up and their product (3 f), all of two bytes, and the softmax statistics.
    auto const model = training::catalog().model("llama-3-70b");
    double const h = model.hidden, width = static_cast<double>(model.heads) * model.head_dim;
    double const kv_width = static_cast<double>(model.kv_heads) * model.head_dim;
    double const per_token = 2.0 * (4.0 * h + 2.0 * width + 2.0 * kv_width + 3.0 * model.ffn) + 4.0 * model.heads;
    auto const shape = shape_of({.micro_batch = 2}, {.sequence_length = 4096});
    EXPECT_DOUBLE_EQ(block_activation_bytes(model, shape, software(AttentionKernel::flash3)).base(),
                     2.0 * 4096 * per_token);
}

/// Weights, gradients and optimizer state for each parameter.
double state_bytes(double parameter, double gradient, double optimizer, Strategy const& strategy) {
    Framework framework;
    framework.parameter_bytes = parameter;
    framework.gradient_bytes = gradient;
    framework.optimizer_bytes = optimizer;
    auto const model = gpt3();
    Cluster const cluster;
    Calibration const constants;
    StepSetting const setting{model, cluster, framework, constants, {.sequence_length = 2048, .global_batch = 64}};
    auto const use = memory_use(setting, strategy);
    return (use.weights + use.gradients + use.optimizer).base() / count_parameters(model).total;
}

TEST(StateBytes, AreThoseOfTheZeroPaper) {
    for (int const d : {1, 2, 8, 64}) {
        double const over = d;
        EXPECT_NEAR(state_bytes(2, 2, 12, {.dp = d}), 16.0, 1e-9);
        EXPECT_NEAR(state_bytes(2, 2, 12, {.dp = d, .zero = 1}), 4.0 + 12.0 / over, 1e-9);
        EXPECT_NEAR(state_bytes(2, 2, 12, {.dp = d, .zero = 2}), 2.0 + 14.0 / over, 1e-9);
        EXPECT_NEAR(state_bytes(2, 2, 12, {.dp = d, .zero = 3}), 16.0 / over, 1e-9);
    }
}

TEST(StateBytes, AreThoseOfMegatronWithMainGradients) {
    // Expectation: 32-bit gradients with 16-bit weights: 18 bytes, 6 + 12/d with the distributed optimizer.
    for (int const d : {1, 2, 8, 64}) {
        EXPECT_NEAR(state_bytes(2, 4, 12, {.dp = d}), 18.0, 1e-9);
        EXPECT_NEAR(state_bytes(2, 4, 12, {.dp = d, .zero = 1}), 6.0 + 12.0 / d, 1e-9);
        EXPECT_NEAR(state_bytes(4, 4, 8, {.dp = d, .zero = 1}), 8.0 + 8.0 / d, 1e-9);
    }
    // Expectation: Adam wholly in 32 bits, 4 + 4 + 4 + 4 bytes; ZeRO-3 divides all of them by the 8 ranks.
    EXPECT_EQ(state_bytes(4, 4, 8, {.dp = 8}), 16.0);
    EXPECT_NEAR(state_bytes(4, 4, 8, {.dp = 8, .zero = 3}), 16.0 / 8, 1e-12);
}

TEST(StateBytes, AreThoseOfMegatronWith16BitGradients) {
    // Expectation: 16-bit weights and gradients, 32-bit main weights and gradients and two moments: 20 bytes, 4 + 16/d.
    for (int const d : {1, 2, 8, 64}) {
        EXPECT_NEAR(state_bytes(2, 2, 16, {.dp = d}), 20.0, 1e-9);
        EXPECT_NEAR(state_bytes(2, 2, 16, {.dp = d, .zero = 1}), 4.0 + 16.0 / d, 1e-9);
        EXPECT_NEAR(state_bytes(4, 4, 8, {.dp = d}), 16.0, 1e-9);
    }
}

TEST(StateBytes, AreThoseOfTheEstimatorsOfDeepSpeed) {
    // Expectation: of 2851 million parameters on 8 ranks ZeRO-3 counts 18/8 bytes each and 4 for the largest layer of 32
    // million, 6.09 GiB; ZeRO-2, as the code has it, 2 + 18/8: 11.29 GiB. The 18: gradients in 16 and 32 bits, a 32-bit
    // copy, two moments.
    constexpr double parameters = 2851e6, largest = 32e6, gib = 1024.0 * 1024.0 * 1024.0;
    Strategy const three{.dp = 8, .zero = 3}, two{.dp = 8, .zero = 2};
    EXPECT_NEAR((state_bytes(0, 2, 16, three) * parameters + 4.0 * largest) / gib, 6.09, 0.01);
    EXPECT_NEAR(state_bytes(2, 2, 16, two) * parameters / gib, 11.29, 0.01);
}

TEST(StateBytes, OfExpertsAreSharedOverTheirOwnRanks) {
    // Expectation: experts are divided by ep etp, not by tp, and their optimizer state by dp cp tp / (ep etp).
    auto const model = training::catalog().model("mixtral-8x7b");
    Framework const framework;
    Cluster const cluster;
    Calibration const constants;
    StepSetting const setting{model, cluster, framework, constants, {.sequence_length = 2048, .global_batch = 64}};
    auto const count = count_parameters(model);
    double const routed = count.experts * model.layers, rest = count.total - routed;
    for (auto const& one :
         {Strategy{.dp = 4, .tp = 2, .ep = 4, .etp = 2, .zero = 1}, Strategy{.dp = 4, .tp = 2, .ep = 8, .zero = 1},
          Strategy{.dp = 8, .tp = 2, .ep = 2, .zero = 1}}) {
        double const cut = static_cast<double>(one.ep) * one.etp, same = one.dp * one.tp / cut;
        auto const use = memory_use(setting, one);
        EXPECT_NEAR(use.weights / Bytes{2.0 * (rest / one.tp + routed / cut)}, 1.0, 1e-12);
        EXPECT_NEAR(use.optimizer / Bytes{12.0 * (rest / one.tp / one.dp + routed / cut / same)}, 1.0, 1e-12);
    }
}

TEST(StateBytes, OfAShardGroupAreThoseOfItsRanks) {
    // Expectation: 8 of 64 ranks hold one copy: an eighth each, not a sixty-fourth.
    EXPECT_NEAR(state_bytes(2, 2, 12, {.dp = 64, .zero = 3, .shard = 8}), 16.0 / 8.0, 1e-9);
    EXPECT_NEAR(state_bytes(2, 2, 12, {.dp = 64, .zero = 2, .shard = 8}), 2.0 + 14.0 / 8.0, 1e-9);
    EXPECT_NEAR(state_bytes(2, 2, 12, {.dp = 64, .zero = 1, .shard = 8}), 4.0 + 12.0 / 8.0, 1e-9);
}

TEST(StateBytes, CountContextRanksAsData) {
    EXPECT_NEAR(state_bytes(2, 4, 12, {.dp = 4, .cp = 2, .zero = 1}), 6.0 + 12.0 / 8.0, 1e-9);
}

} // namespace
} // namespace headroom
