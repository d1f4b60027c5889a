#include "support/serving.hpp"

#include "headroom/error.hpp"

#include <gmock/gmock.h>

namespace headroom {

using namespace headroom::training;

namespace {

using namespace serving;
using testing::DoubleNear;

ServingMemory memory_of(char const* model, ServingPlan const& plan = {}) {
    return serving_memory(training::catalog().model(model), dgx(), plan);
}

TEST(ServingMemory, CachePerTokenIsThatOfKeysAndValues) {
    EXPECT_EQ(memory_of("llama-3-8b").cache_per_token, Bytes{131072.0});
    EXPECT_EQ(memory_of("llama-3-70b").cache_per_token, 320.0 * units::KiB);
    EXPECT_EQ(memory_of("llama-3-70b", {.tp = 4}).cache_per_token, 80.0 * units::KiB);
    EXPECT_EQ(memory_of("llama-3-8b", {.cache = Precision::fp8}).cache_per_token, Bytes{65536.0});
}

TEST(ServingMemory, RanksBeyondTheHeadsOfKeysHoldCopies) {
    EXPECT_EQ(memory_of("llama-3-70b", {.tp = 8}).cache_per_token, 40.0 * units::KiB);
    EXPECT_EQ(memory_of("llama-3-70b", {.tp = 16}).cache_per_token, 40.0 * units::KiB);
}

TEST(ServingMemory, LatentCacheIsWholeOnEveryRank) {
    EXPECT_EQ(memory_of("deepseek-v3", {.tp = 16}).cache_per_token, Bytes{70272.0});
    EXPECT_EQ(memory_of("deepseek-v3", {.tp = 32}).cache_per_token, Bytes{(512.0 + 64.0) * 2.0 * 61.0});
}

TEST(ServingMemory, WeightsAreAllParametersInTheirFormat) {
    for (auto const* name :
         {"llama-3-8b", "mixtral-8x7b", "gpt-oss-20b", "nemotron-h-8b", "gemma-3-12b", "olmoe-1b-7b"}) {
        auto const model = training::catalog().model(name);
        double const all = count_parameters(model).total;
        EXPECT_NEAR(memory_of(name).weights.base() / (2.0 * all), 1.0, 1e-12) << name;
        double const split = memory_of(name, {.tp = 2}).weights.base();
        EXPECT_GE(split, all) << name; // some is on both
        EXPECT_LE(split, 1.02 * all) << name;
    }
    EXPECT_NEAR(memory_of("llama-3-8b").weights.in(units::GB), 16.06, 0.005);
}

TEST(ServingMemory, EveryDecoderOfTheCatalogIsServedOrRefusedInWords) {
    int served = 0;
    for (auto const& name : training::catalog().names(io::RecordKind::model)) {
        auto const model = training::catalog().model(name);
        ServingMemory memory;
        try {
            memory = serving_memory(model, dgx(), {});
        } catch (InputError const& error) {
            EXPECT_FALSE(error.text().problem.empty()) << name;
            continue;
        }
        ++served;
        EXPECT_NEAR(memory.weights.base() / (2.0 * count_parameters(model).total), 1.0, 1e-12) << name;
        EXPECT_GT(memory.of_sequence(1.0), Bytes{}) << name;
        auto const pricer = pricer_of(model);
        auto const one = pricer.price({.decoding = 1, .decode_context = 100.0});
        EXPECT_GE(one.total, one.read / dgx().accelerator.memory_bandwidth) << name;
        EXPECT_LE(one.read.base(),
                  memory.weights.base() + 100.0 * memory.cache_per_token.base() + memory.state_per_sequence.base())
            << name;
        auto const prompt = pricer.price({.prefill_tokens = 512.0, .prefill_context = 512.0 * 256.5});
        EXPECT_GT(prompt.total, one.total) << name;
        EXPECT_GE(prompt.total, prompt.flops / dgx().accelerator.peak.bf16) << name;
    }
    EXPECT_GT(served, 100);
}

TEST(ServingMemory, NarrowWeightsLeaveTablesAndNormsInSixteenBits) {
    auto const model = training::catalog().model("llama-3-8b");
    auto const count = count_parameters(model);
    double const norms = 2.0 * 32 * 4096, matrices = 32.0 * count.layer - norms;
    double const rest = 2.0 * (count.embedding + count.head + count.final_norm + norms);
    EXPECT_DOUBLE_EQ(memory_of("llama-3-8b", {.weights = Precision::fp8}).weights.base(), matrices + rest);
    EXPECT_DOUBLE_EQ(memory_of("llama-3-8b", {.weights = Precision::nvfp4}).weights.base(), 0.5625 * matrices + rest);
}

TEST(ServingMemory, WindowsBoundTheCache) {
    auto const memory = memory_of("gemma-3-12b"); // 40 of 48 layers see 1024 tokens
    double const layer = 2.0 * 8 * 256 * 2.0;
    EXPECT_EQ(memory.window, 1024);
    EXPECT_EQ(memory.cache_per_token, Bytes{48.0 * layer});
    EXPECT_EQ(memory.window_per_token, Bytes{40.0 * layer});
    EXPECT_EQ(memory.of_sequence(1000.0), Bytes{48.0 * layer * 1000.0});
    EXPECT_EQ(memory.of_sequence(10000.0), Bytes{8.0 * layer * 10000.0 + 40.0 * layer * 1024.0});
}

TEST(ServingMemory, ScansHoldAStateOfOneSize) {
    auto const memory = memory_of("nemotron-h-8b"); // 4 layers of attention, 24 scans
    double const inner = 128.0 * 64, scan = 4.0 * inner * 128 + 2.0 * 3 * (inner + 2.0 * 8 * 128);
    EXPECT_EQ(memory.cache_per_token, Bytes{4.0 * 2.0 * 8 * 128 * 2.0});
    EXPECT_EQ(memory.state_per_sequence, Bytes{24.0 * scan});
    EXPECT_EQ(memory.of_sequence(0.0), memory.state_per_sequence);
}

TEST(ServingMemory, WhatIsLeftIsCache) {
    auto const memory = memory_of("llama-3-8b");
    EXPECT_TRUE(memory.fits);
    EXPECT_EQ(memory.usable, 72.0 * units::GiB);
    EXPECT_DOUBLE_EQ((memory.weights + memory.activations + memory.runtime + memory.cache).base(),
                     memory.usable.base());
    EXPECT_DOUBLE_EQ(memory.cache_tokens, memory.cache / memory.cache_per_token);
}

TEST(ServingMemory, CacheIsWhatAnEngineLogs) {
    // Expectation: vLLM 0.6.4 on an H100 logs 53.29 GiB of cache next to 14.96 GiB of weights of this model, of 90 % of 79.22 GiB.
    auto const memory = memory_of("llama-3-8b", {.prefill_chunk = 8192});
    EXPECT_NEAR(memory.weights / units::GiB, 14.96, 0.01);
    EXPECT_NEAR(memory.cache / units::GiB, 53.29, 0.03 * 53.29);
}

TEST(ServingMemory, SaysWhyItDoesNotFit) {
    auto const memory = memory_of("llama-3-70b");
    EXPECT_FALSE(memory.fits);
    EXPECT_EQ(memory.cache, Bytes{});
    EXPECT_TRUE(memory.weights_alone_exceed());
}

TEST(ServingMemory, RefusesWhatIsNoPlan) {
    auto const refused = [](char const* model, ServingPlan const& plan) {
        EXPECT_THROW(memory_of(model, plan), InputError) << model << " " << plan.tp;
    };
    refused("llama-3-8b", {.tp = 0});
    refused("llama-3-8b", {.tp = 3});
    refused("llama-3-8b", {.tp = 64});
    refused("llama-3-8b", {.most_sequences = 0});
    refused("llama-3-8b", {.prefill_chunk = 0});
    refused("llama-3-8b", {.memory_share = 0.0});
    refused("llama-3-8b", {.memory_share = 1.5});
    refused("bert-base", {});
    refused("t5-small", {});
    refused("vgg-16", {});
    refused("transformer-xl-base", {});
}

} // namespace
} // namespace headroom
