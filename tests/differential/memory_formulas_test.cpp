// Memory, counted tensor by tensor in the library, against the closed forms of the literature.

#include "support/training.hpp"

#include "headroom/laws.hpp"
#include "headroom/memory.hpp"

#include <gtest/gtest.h>

namespace headroom {
namespace {

constexpr double s = 2048, b = 1; // sequence and micro-batch of the published example

Model gpt3() { return training::catalog().model("gpt3-175b"); }

Framework software(AttentionKernel attention) {
    Framework framework;
    framework.attention = attention;
    return framework;
}

double ours(int tp, bool sequence_parallel, Recompute recompute, AttentionKernel attention) {
    Strategy const strategy{
        .tp = tp, .micro_batch = static_cast<int>(b), .sequence_parallel = sequence_parallel, .recompute = recompute};
    auto const shape = shape_of(strategy, {.sequence_length = static_cast<int>(s)});
    return block_activation_bytes(gpt3(), shape, software(attention)).base();
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
    // Expectation: 32-bit gradients beside 16-bit weights: 18 bytes, 6 + 12/d with the distributed optimizer.
    for (int const d : {1, 2, 8, 64}) {
        EXPECT_NEAR(state_bytes(2, 4, 12, {.dp = d}), 18.0, 1e-9);
        EXPECT_NEAR(state_bytes(2, 4, 12, {.dp = d, .zero = 1}), 6.0 + 12.0 / d, 1e-9);
        EXPECT_NEAR(state_bytes(4, 4, 8, {.dp = d, .zero = 1}), 8.0 + 8.0 / d, 1e-9);
    }
    EXPECT_EQ(state_bytes(4, 4, 8, {.dp = 8}), adam_fp32_bytes_per_parameter().total().base());
    EXPECT_NEAR(state_bytes(4, 4, 8, {.dp = 8, .zero = 3}),
                zero3_state_bytes(adam_fp32_bytes_per_parameter(), 1.0, Ranks{8}).base(), 1e-12);
}

TEST(StateBytes, OfAShardGroupAreThoseOfItsRanks) {
    // Expectation: 8 of 64 ranks hold one copy: an eighth each, not a sixty-fourth.
    EXPECT_NEAR(state_bytes(2, 2, 12, {.dp = 64, .zero = 3, .shard = 8}), 16.0 / 8.0, 1e-9);
}

TEST(StateBytes, CountContextRanksAsData) {
    EXPECT_NEAR(state_bytes(2, 4, 12, {.dp = 4, .cp = 2, .zero = 1}), 6.0 + 12.0 / 8.0, 1e-9);
}

} // namespace
} // namespace headroom
