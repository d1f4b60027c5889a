#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/training/step_roofline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom {

using namespace headroom::laws;

namespace {

using namespace training;

Question llama(Strategy strategy, int sequence_length = 4096) {
    return question(catalog().model("llama-3-8b"), catalog().cluster("dgx-h100"), catalog().framework("megatron-core"),
                    strategy, {.sequence_length = sequence_length, .global_batch = strategy.dp * strategy.micro_batch});
}

StepKernel kernel_named(StepKernels const& step, std::string_view name, Phase phase) {
    for (auto const& one : step.kernels) {
        if (one.name == name && one.phase == phase) { return one; }
    }
    ADD_FAILURE() << name;
    return {};
}

TEST(DemandOf, AgreesWithCountsByHand) {
    KernelRates rates;
    rates.operand = 1.0;
    rates.element = 2.0;
    Operation product{.name = "product", .m = 10, .n = 20, .k = 30};
    EXPECT_DOUBLE_EQ(demand_of(product, rates).work.base(), 12'000.0);
    EXPECT_DOUBLE_EQ(demand_of(product, rates).moved.base(), 300.0 + 600.0 + 2.0 * 200.0);
    product.kind = OperationKind::grouped_gemm;
    product.times = 3;
    EXPECT_DOUBLE_EQ(demand_of(product, rates).work.base(), 36'000.0);
    EXPECT_DOUBLE_EQ(demand_of(product, rates).moved.base(), 3.0 * 1300.0);
    // Expectation: 4 heads, 8 queries of 8 keys of which each sees half, 16 wide; two heads share keys and values.
    Operation core{.name = "core", .kind = OperationKind::attention, .m = 4, .n = 8, .k = 8, .d = 16, .keys = 4};
    EXPECT_DOUBLE_EQ(demand_of(core, rates, 2.0).work.base(), 4.0 * 4 * 8 * 4 * 16);
    EXPECT_DOUBLE_EQ(demand_of(core, rates, 2.0).moved.base(), 2.0 * 4 * 16 * (8 + 8 + 4 + 4));
    core.phase = Phase::backward;
    EXPECT_DOUBLE_EQ(demand_of(core, rates).work.base(), 2.5 * 4.0 * 4 * 8 * 4 * 16);
    EXPECT_DOUBLE_EQ(demand_of(core, rates).moved.base(), 2.0 * 2.0 * 4 * 16 * 32);
    Operation const norm{.name = "norm", .kind = OperationKind::memory, .bytes = Bytes{100.0}};
    EXPECT_DOUBLE_EQ(demand_of(norm, rates).moved.base(), 100.0);
    EXPECT_TRUE(demand_of(norm, rates).nominal);
    // Expectation: the scores of 4 heads, 8 x 8, are written and read: 512 elements in addition to the 2048 of the
    // ends.
    Operation square{.name = "core", .kind = OperationKind::unfused_attention, .m = 4, .n = 8, .k = 8, .d = 16};
    EXPECT_DOUBLE_EQ(demand_of(square, rates).moved.base(), 2.0 * (2048 + 512));
    EXPECT_DOUBLE_EQ(demand_of(square, rates, 2.0).moved.base(), 2.0 * (1536 + 512));
    // Expectation: the loss reads 100 logits and writes their gradient, 2 bytes each; scores are read and written.
    Operation loss{.name = "loss", .kind = OperationKind::memory, .bytes = Bytes{100.0}};
    loss.memory = MemoryClass::logits;
    EXPECT_DOUBLE_EQ(demand_of(loss, rates).moved.base(), 400.0);
    loss.memory = MemoryClass::scores;
    EXPECT_DOUBLE_EQ(demand_of(loss, rates).moved.base(), 200.0);
    Operation const sent{.name = "sum", .kind = OperationKind::collective, .bytes = Bytes{100.0}};
    EXPECT_EQ(demand_of(sent, rates).moved.base(), 0.0);
}

TEST(StepKernels, WorkOfALayerIsThatOfTheModel) {
    // Expectation: products and cores of one pass are three times the forward operations of the model's own count,
    // attention 3.5 times: its fused backward pass computes scores again.
    auto const asked = llama({.dp = 1});
    auto const step = step_kernels(asked, fitted());
    double products = 0.0, cores = 0.0;
    for (auto const& one : step.kernels) {
        if (one.group == "matrix products") { products += one.kernel.work.base() * one.count; }
        if (one.group == "attention") { cores += one.kernel.work.base() * one.count; }
    }
    auto const flops = forward_flops(asked.model, 4096, AttentionConvention::causal);
    EXPECT_NEAR(products, 3.0 * (flops.matrix + flops.head).base(), 1e-9 * products);
    EXPECT_NEAR(cores, 3.5 * flops.attention.base(), 1e-9 * cores);
}

TEST(StepKernels, GrowWithTheBatchAsTheySay) {
    // Expectation: work and bytes of a product with three times the tokens, from one program and from its own law.
    auto const one = step_kernels(llama({.dp = 1, .micro_batch = 1}), fitted());
    auto const three = step_kernels(llama({.dp = 1, .micro_batch = 3}), fitted());
    ASSERT_EQ(one.kernels.size(), three.kernels.size());
    for (std::size_t i = 0; i < one.kernels.size(); ++i) {
        auto const& batched = one.kernels[i].kernel.batched;
        if (!batched) { continue; }
        double const rows = 3.0 * batched->rows;
        auto const& then = three.kernels[i].kernel;
        EXPECT_NEAR(then.work.base(), rows * batched->work.base(), 1e-9 * then.work.base());
        EXPECT_NEAR(then.moved.base(), (rows * batched->moved + batched->fixed).base(), 1e-9 * then.moved.base());
    }
}

TEST(StepKernels, OneShortSequenceWaitsForWeights) {
    // Expectation: with 64 tokens a product does 2 x 64 operations for each 2-byte weight: below the ridge of 295.
    auto const step = step_kernels(llama({.dp = 1}, 64), fitted());
    auto const product = kernel_named(step, "feed-forward in", Phase::forward);
    auto const at = attained(product.kernel, step.processor);
    EXPECT_EQ(at.bound, Bound::memory);
    EXPECT_LT(at.intensity.base(), 64.0);
    EXPECT_GT(at.intensity.base(), 60.0);
    auto const gains = gains_of(product, step.processor);
    auto const batch = std::ranges::find(gains, GainBy::batch, &Gain::by);
    ASSERT_NE(batch, gains.end());
    // Expectation: m = r e k n / (2 k n - r e (k + n)) with k = 4096, n = 28672, e = 2, r = 989 / 3.35.
    double const r = 2.0 * 989e12 / 3350e9, k = 4096, n = 28'672;
    EXPECT_NEAR(batch->rows.value_or(0.0), r * k * n / (2.0 * k * n - r * (k + n)), 1e-6);
    auto const narrow = std::ranges::find(gains, GainBy::precision, &Gain::by);
    ASSERT_NE(narrow, gains.end());
    EXPECT_EQ(narrow->format, NumberFormat::fp8);
    EXPECT_GT(narrow->speedup, 1.9); // weights are nearly all that moves
    EXPECT_LT(narrow->speedup, 2.0);
}

TEST(StepKernels, ActivationIsFusedWithTheProductBeforeIt) {
    // Expectation: SwiGLU reads two tensors of 14336 a token that the product wrote, and writes one.
    auto const step = step_kernels(llama({.dp = 1}), fitted());
    auto const activation = kernel_named(step, "activation function", Phase::forward);
    EXPECT_DOUBLE_EQ(activation.kernel.moved.base(), 4096.0 * 2 * 3 * 14'336);
    EXPECT_DOUBLE_EQ(activation.kernel.handed_over.base(), 4096.0 * 2 * 2 * 14'336);
    // Expectation: the norms at the start of a block have no product before them.
    EXPECT_EQ(kernel_named(step, "norms and residuals", Phase::forward).kernel.handed_over.base(), 0.0);
    // Expectation: backward the input gradient of the product is meant, not the weight gradient in between.
    auto const back = kernel_named(step, "activation function", Phase::backward);
    EXPECT_DOUBLE_EQ(back.kernel.handed_over.base(), 4096.0 * 2 * 14'336);
}

TEST(StepKernels, KeysAreReadOnceForTheHeadsThatShareThem) {
    // Expectation: 32 query heads and 8 of keys and values, 128 wide: (2 x 32 + 2 x 8) 128 elements a token.
    auto const step = step_kernels(llama({.dp = 1}), fitted());
    EXPECT_DOUBLE_EQ(kernel_named(step, "attention core", Phase::forward).kernel.moved.base(), 4096.0 * 2 * 80 * 128);
    // Expectation: over 16 tensor ranks a rank has two query heads and one head of keys.
    auto const split = step_kernels(llama({.dp = 1, .tp = 16}), fitted());
    EXPECT_DOUBLE_EQ(kernel_named(split, "attention core", Phase::forward).kernel.moved.base(),
                     4096.0 * 2 * (4 + 2) * 128);
}

TEST(StepKernels, GroupsAddUp) {
    auto const step = step_kernels(llama({.dp = 2, .zero = 1, .recompute = Recompute::full}), fitted());
    Seconds attainable, predicted;
    for (auto const& group : group_times(step)) {
        attainable += group.attainable;
        predicted += group.predicted;
    }
    EXPECT_NEAR(attainable.base(), step.attainable().base(), 1e-12 * attainable.base());
    EXPECT_NEAR(predicted.base(), step.predicted().base(), 1e-12 * predicted.base());
}

TEST(StepKernels, RefusesPipelineStages) {
    EXPECT_THROW(step_kernels(llama({.dp = 1, .pp = 2}), fitted()), InputError);
}

} // namespace
} // namespace headroom
