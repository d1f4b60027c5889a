#include "support/training.hpp"

#include "headroom/training/framework.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace headroom {

using namespace headroom::training;

namespace {

TEST(Frameworks, AreWhole) {
    EXPECT_GE(training::frameworks().size(), 20u);
    for (auto const& framework : training::frameworks()) {
        EXPECT_FALSE(framework.name.empty());
        EXPECT_FALSE(framework.title.empty()) << framework.name;
        EXPECT_GE(framework.year, 2018) << framework.name;
        EXPECT_GE(framework.zero, 0) << framework.name;
        EXPECT_LE(framework.zero, 3) << framework.name;
        EXPECT_GE(framework.extra_reduction, 1.0) << framework.name;
        for (double const bytes : {framework.gradient_bytes, framework.reduced_bytes, framework.parameter_bytes}) {
            EXPECT_TRUE(bytes == 2.0 || bytes == 4.0) << framework.name << " keeps " << bytes << " bytes";
        }
    }
}

TEST(Frameworks, KeepACopyThatAdamCanAddTo) {
    // Expectation: mixed precision with a 32-bit master copy and two 32-bit moments holds 14 bytes or more in addition
    // to the gradient; one that holds less says so by keeping its state in 16 bits.
    for (auto const& framework : training::frameworks()) {
        double const state = framework.parameter_bytes + framework.optimizer_bytes;
        if (framework.optimizer_bytes == 4.0) { // two moments in 16 bits, no master copy
            EXPECT_EQ(state, 6.0) << framework.name;
            continue;
        }
        if (framework.optimizer_bytes == 8.0 && framework.parameter_bytes == 2.0) { // a 32-bit copy, 16-bit moments
            EXPECT_EQ(state, 10.0) << framework.name;
            continue;
        }
        // Expectation: 16-bit weights bring a master copy of their own, 32-bit ones are it.
        EXPECT_EQ(state, framework.parameter_bytes == 4.0 ? 12.0 : 14.0) << framework.name;
    }
}

TEST(Frameworks, OldStacksHaveOldKernels) {
    for (auto const& framework : training::frameworks()) {
        // Expectation: FlashAttention was published in 2022; frameworks that pace the host by hand fuse their kernels.
        // Frameworks tuned for one benchmark had fused attention of their own before.
        if (framework.year < 2022 && !framework.paced) {
            EXPECT_EQ(framework.attention, AttentionKernel::unfused) << framework.name;
        }
        if (framework.host == HostPace::native) { EXPECT_TRUE(framework.fused_elementwise) << framework.name; }
        // those that call one kernel after the other from Python have unfused ones, of whatever year
        if (framework.host == HostPace::eager_2022 && framework.fused_elementwise) {
            EXPECT_TRUE(framework.year <= 2023 || framework.tiled_loss) << framework.name;
        }
        if (framework.sequence_parallel) { EXPECT_GE(framework.year, 2022) << framework.name; }
    }
}

TEST(Frameworks, ChangeTheStepTheWayTheyDiffer) {
    // Expectation: each feature of a modern framework, taken away alone, never makes the step shorter.
    auto question = training::question(training::catalog().model("gpt3-13b"), training::catalog().cluster("dgx-a100"),
                                       training::catalog().framework("megatron-core"),
                                       {.dp = 8, .tp = 8, .zero = 1, .recompute = Recompute::full},
                                       {.sequence_length = 2048, .global_batch = 64});
    Seconds const modern = training::step(question);
    auto const without = [&](auto change) {
        Question older = question;
        change(older.framework);
        return training::step(older);
    };
    EXPECT_GT(without([](Framework& f) { f.attention = AttentionKernel::unfused; }), modern);
    EXPECT_GE(without([](Framework& f) { f.attention = AttentionKernel::flash1; }), modern);
    EXPECT_GT(without([](Framework& f) { f.fused_elementwise = false; }), modern);
    EXPECT_LT(without([](Framework& f) { f.loss_bytes = 6.0; }), modern);
    EXPECT_GT(without([](Framework& f) { f.tensor_overlap = false; }), modern);
    EXPECT_GT(without([](Framework& f) { f.gradient_overlap = GradientOverlap::exposed; }), modern);
    EXPECT_GE(without([](Framework& f) { f.host = HostPace::eager_2022; }), modern);
    EXPECT_LE(without([](Framework& f) { f.host = HostPace::native; }), modern);
    EXPECT_GT(without([](Framework& f) { f.extra_reduction = 2.0; }), modern);
    EXPECT_LT(without([](Framework& f) { f.reduced_bytes = 2.0; }), modern);
}

TEST(Frameworks, ChangeTheMemoryTheWayTheyDiffer) {
    // Expectation: what a record says of its loss, gradients, masks, buckets and allocator is read, and each moves its own term
    // in its own direction; a record that says nothing of them has none.
    auto const told = training::catalog().framework("deepspeed-2024");
    EXPECT_TRUE(told.tiled_loss && told.in_place_gradients && told.cuts_segments && !told.dropout);
    EXPECT_EQ(told.bucket_elements, 5e8);
    EXPECT_EQ(told.bucket_copies, 4.5);
    EXPECT_EQ(told.live_elements, 1e9);
    auto question = training::question(
        training::catalog().model("llama-3-70b"), training::catalog().cluster("dgx-h100"),
        training::catalog().framework("megatron-core"), {.dp = 8, .zero = 3, .recompute = Recompute::full},
        {.sequence_length = 4096, .global_batch = 8});
    auto const plain = training::memory_of(question);
    auto const with = [&](auto change) {
        Question other = question;
        change(other.framework);
        return training::memory_of(other);
    };
    EXPECT_LT(with([](Framework& f) { f.tiled_loss = true; }).logits, plain.logits);
    EXPECT_LT(with([](Framework& f) { f.in_place_gradients = true; }).temporaries, plain.temporaries);
    EXPECT_GT(with([](Framework& f) { f.dropout = true; }).temporaries, plain.temporaries);
    EXPECT_GE(with([](Framework& f) { f.cuts_segments = true; }).fragmentation, plain.fragmentation);
    Bytes const gathered{(1e9 + 4.5 * 5e8) * 2.0};
    EXPECT_EQ(with([&](Framework& f) {
                  f.live_elements = 1e9;
                  f.bucket_elements = 5e8;
                  f.bucket_copies = 4.5;
                  f.reduced_bytes = 2.0;
              }).buffers,
              gathered);
}

} // namespace
} // namespace headroom
