#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/training/prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

namespace headroom {

using namespace headroom::training;

namespace {

using namespace units;
using ::testing::HasSubstr;

Question llama_70b(Strategy const& strategy, int global_batch = 128) {
    return training::question(training::catalog().model("llama-3-70b"), training::catalog().cluster("dgx-h100"),
                              training::catalog().framework("megatron-core"), strategy,
                              {.sequence_length = 8192, .global_batch = global_batch});
}

Strategy good_plan() { return {.dp = 2, .tp = 8, .pp = 4, .virtual_pp = 5, .zero = 1, .sequence_parallel = true}; }

Prediction predicted(Question const& question) { return predict(question, training::fitted()); }

TEST(Predict, AGoodPlanReachesTheUtilizationThatOthersReport) {
    // Expectation: published runs of 70B models on such nodes report 35 to 50 % of the dense peak.
    auto const p = predicted(llama_70b(good_plan()));
    EXPECT_GT(p.mfu, 0.25);
    EXPECT_LT(p.mfu, 0.60);
    EXPECT_TRUE(p.fits) << p.why_not;
    EXPECT_EQ(p.why_not, "");
    EXPECT_EQ(p.workers, 64);
    EXPECT_EQ(p.micro_batches, 64);
    EXPECT_EQ(p.peak, training::catalog().accelerator("h100-sxm-80gb").peak.bf16);
    EXPECT_LT(p.memory_usable, p.memory_capacity);
}

TEST(Predict, TokensAndUtilizationFollowFromTheStep) {
    auto const p = predicted(llama_70b(good_plan()));
    EXPECT_DOUBLE_EQ(p.tokens_per_second, 128 * 8192 / p.step().base());
    auto const sequence = forward_flops(p.question.model, 8192, AttentionConvention::causal);
    EXPECT_DOUBLE_EQ(p.model_flops.base(), 3.0 * 128 * sequence.total().base());
    EXPECT_NEAR(p.mfu, p.model_flops.base() / (p.step().base() * 64 * p.peak.base()), 1e-12);
    EXPECT_NEAR(p.hfu, p.hardware_flops.base() / (p.step().base() * 64 * p.peak.base()), 1e-12);
    EXPECT_EQ(p.convention, AttentionConvention::causal);
    // Expectation: counting the masked half of attention too makes the same step look busier.
    double const full = 3.0 * 128 * forward_flops(p.question.model, 8192, AttentionConvention::full).total().base();
    EXPECT_NEAR(p.mfu_full_attention / p.mfu, full / p.model_flops.base(), 1e-12);
    EXPECT_GT(p.mfu_full_attention, p.mfu);
}

TEST(Predict, HardwareWorkIsModelWorkAndWhatIsDoneAgain) {
    auto const sequence = forward_flops(training::catalog().model("llama-3-70b"), 8192, AttentionConvention::causal);
    auto const extra = [&](Recompute recompute) {
        Strategy strategy = good_plan();
        strategy.recompute = recompute;
        auto const p = predicted(llama_70b(strategy));
        EXPECT_GE(p.hfu, p.mfu);
        return (p.hardware_flops - p.model_flops).base() / 128;
    };
    EXPECT_EQ(extra(Recompute::none), 0.0);
    EXPECT_NEAR(extra(Recompute::selective) / sequence.attention.base(), 1.0, 1e-9);
    EXPECT_NEAR(extra(Recompute::full) / (sequence.matrix + sequence.attention).base(), 1.0, 1e-9);
}

TEST(Predict, AdaptersDoTwoThirdsOfTheWork) {
    // Expectation: frozen weights have no gradient: forward and the gradient of inputs, not three passes of products.
    Strategy strategy{.dp = 8, .tp = 8};
    strategy.trained = Trained::lora;
    auto const p = predicted(llama_70b(strategy));
    auto const sequence = forward_flops(p.question.model, 8192, AttentionConvention::causal);
    double const expected = 128 * (2.0 * (sequence.matrix + sequence.head) + 3.0 * sequence.attention).base();
    EXPECT_NEAR(p.model_flops.base() / expected, 1.0, 0.02); // the matrices of LoRA themselves are small

    // Expectation: at rank 1024 on all matrices they are 6 FLOPs a parameter and token, and the step pays for them.
    strategy.adapter_rank = 1024;
    strategy.adapter_modules = adapter_module::attention | adapter_module::linear;
    auto const wide = predicted(llama_70b(strategy));
    double const h = 8192, kv = 1024, f = 28672;
    double const matrices = 80 * 1024 * (2.0 * (h + h) + 2.0 * (h + kv) + 3.0 * (h + f));
    EXPECT_NEAR(wide.model_flops.base(), expected + 6.0 * matrices * 128 * 8192, 1e-9 * expected);
    EXPECT_GT(wide.time.compute / p.time.compute, 1.2);
}

TEST(Predict, WhatDoesNotFitSaysByHowMuchAndWhatFits) {
    Strategy strategy{.dp = 8, .tp = 8, .zero = 0};
    auto const p = predicted(llama_70b(strategy));
    ASSERT_FALSE(p.fits);
    EXPECT_GT(p.memory.total(), p.memory_usable);
    EXPECT_THAT(p.why_not, HasSubstr("needs " + format_binary(p.memory.footprint()) + " of 80 GiB ("));
    EXPECT_THAT(p.why_not, HasSubstr(" too much)"));
    EXPECT_EQ(p.why_not.find('\n'), std::string::npos);
    EXPECT_GT(p.step(), Seconds{}) << "it is answered all the same";
}

TEST(Predict, NamesWhatIsLeftWhereNoChangeHelps) {
    // Expectation: one card without neighbours; LoRA is no remedy where it is used already.
    Question question = llama_70b({.recompute = Recompute::full, .offload = Offload::both});
    question.framework = training::catalog().framework("hf-trainer");
    question.cluster = training::catalog().cluster("rtx-4090-pcie-8");
    EXPECT_THAT(predicted(question).why_not, HasSubstr("; more memory is needed, or LoRA (headroom finetune)"));
    question.strategy.trained = Trained::lora;
    EXPECT_THAT(predicted(question).why_not, HasSubstr("; more memory is needed"));
}

TEST(Predict, NamesChangesThatFitCheapestFirst) {
    // Expectation: every change that is named is legal on as many accelerators, fits, takes the step and the memory that it is
    // stated to, in words too, and none before it takes longer.
    int named = 0;
    for (Strategy const& strategy :
         {Strategy{.dp = 8, .tp = 8}, Strategy{.dp = 64, .zero = 1, .micro_batch = 2},
          Strategy{.dp = 2, .tp = 8, .pp = 4, .micro_batch = 4},
          Strategy{.dp = 4, .tp = 8, .pp = 2, .zero = 1, .micro_batch = 2},
          Strategy{.dp = 1, .tp = 8, .pp = 8, .micro_batch = 2}, Strategy{.dp = 32, .tp = 2, .zero = 1}}) {
        auto const question = llama_70b(strategy);
        auto const p = predicted(question);
        if (p.fits) {
            EXPECT_TRUE(p.remedies.empty());
            continue;
        }
        if (p.remedies.empty()) { EXPECT_THAT(p.why_not, HasSubstr("more tensor or pipeline ranks are needed")); }
        Seconds before;
        for (auto const& remedy : p.remedies) {
            Question changed = question;
            changed.strategy = remedy.strategy;
            EXPECT_EQ(illegal_because(changed.strategy, changed.model, changed.workload), "");
            EXPECT_EQ(changed.strategy.workers(), strategy.workers()) << remedy.change;
            auto const cured = predicted(changed);
            EXPECT_TRUE(cured.fits) << short_name(strategy) << ": " << remedy.change;
            EXPECT_EQ(cured.step(), remedy.step) << remedy.change;
            EXPECT_EQ(cured.memory.total(), remedy.memory) << remedy.change;
            EXPECT_GE(remedy.step, before) << remedy.change;
            EXPECT_THAT(p.why_not, HasSubstr(remedy.change + " ("));
            before = remedy.step;
            ++named;
        }
    }
    EXPECT_GE(named, 3) << "the strategies above must need cures";
}

TEST(Predict, CombinesChangesOnlyWhereFewerAreNotEnough) {
    // Expectation: a combination that holds a change which is enough, or a weaker one of its kind, is not named with it.
    auto const p = predicted(llama_70b({.dp = 4, .tp = 8, .pp = 2, .zero = 1, .micro_batch = 2}));
    ASSERT_FALSE(p.fits) << "the case must need a cure";
    ASSERT_FALSE(p.remedies.empty());
    for (auto const& one : p.remedies) {
        for (auto const& other : p.remedies) {
            bool const more = &one != &other && one.change.find(other.change) != std::string::npos;
            EXPECT_FALSE(more) << one.change << " with " << other.change;
        }
    }
}

TEST(Predict, NamesUpToThreeChangesAtOnce) {
    // Expectation: 70 billion parameters on 8 accelerators of 80 GB without any sharding need several changes; what is named
    // fits, with its new peak in the words.
    auto const p = predicted(llama_70b({.dp = 8, .micro_batch = 2}));
    ASSERT_FALSE(p.fits);
    for (auto const& remedy : p.remedies) {
        EXPECT_THAT(p.why_not, HasSubstr(remedy.change + " ("));
        EXPECT_THAT(p.why_not, HasSubstr(format_binary(remedy.footprint) + ")"));
        EXPECT_LE(remedy.footprint, p.memory_capacity) << remedy.change;
        EXPECT_LE(std::ranges::count(remedy.change, ','), 1) << remedy.change;
    }
    auto const several = [](MemoryRemedy const& one) { return one.change.find(" and ") != std::string::npos; };
    EXPECT_TRUE(std::ranges::any_of(p.remedies, several)) << p.why_not;
}

TEST(Predict, TimesMixturesOfExperts) {
    // Expectation: the work is that of the two experts of eight that a token passes: 12.9 of 46.7 billion parameters.
    auto question = llama_70b({.dp = 8, .ep = 8, .zero = 1});
    question.model = training::catalog().model("mixtral-8x7b");
    auto const p = predicted(question);
    EXPECT_GT(p.time.expert_communication, Seconds{});
    EXPECT_GT(p.mfu, 0.1);
    EXPECT_LT(p.mfu, 0.6);
    auto const count = count_parameters(question.model);
    double const by_rule_of_thumb = 6.0 * count.active * 128 * 8192;
    EXPECT_NEAR(p.model_flops.base() / by_rule_of_thumb, 1.0, 0.15); // attention adds, embeddings do not count
    EXPECT_GT(count.total / count.active, 3.5);
    // Expectation: the same tokens through as much dense work need no exchange.
    question.strategy.ep = 1;
    EXPECT_EQ(predicted(question).time.expert_communication, Seconds{});
}

TEST(Predict, RefusesArithmeticThatTheChipLacks) {
    auto question = llama_70b({.dp = 8});
    question.strategy.precision = Precision::nvfp4;
    try {
        static_cast<void>(predicted(question));
        FAIL() << "an H100 has no 4-bit products";
    } catch (InputError const& error) {
        EXPECT_THAT(error.what(), HasSubstr("h100-sxm-80gb: has no nvfp4 arithmetic"));
    }
}

TEST(Predict, TheIntervalHoldsTheStepAndWidensWithGuesses) {
    auto question = llama_70b(good_plan());
    auto const stated = predicted(question);
    EXPECT_LT(stated.interval.low, stated.step());
    EXPECT_GT(stated.interval.high, stated.step());
    EXPECT_EQ(stated.interval.coverage, 0.9);
    question.assumptions.push_back({.field = "price", .value = "2 $/h", .reason = "median", .structural = false});
    EXPECT_EQ(predicted(question).interval.high, stated.interval.high);
    question.assumptions.push_back({.field = "tp", .value = "8", .reason = "smallest that fits", .structural = true});
    auto const guessed = predicted(question);
    EXPECT_EQ(guessed.step(), stated.step());
    EXPECT_LE(guessed.interval.low, stated.interval.low);
    EXPECT_GE(guessed.interval.high, stated.interval.high);
    EXPECT_GT(guessed.interval.high - guessed.interval.low, stated.interval.high - stated.interval.low);
}

TEST(Predict, AFasterNetworkNarrowsGamma) {
    auto question = llama_70b({.dp = 8, .tp = 8});
    double const before = predicted(question).gamma;
    question.cluster.scale_out.bandwidth *= 4.0;
    EXPECT_LT(predicted(question).gamma, before);
}

TEST(FlopsUtilization, IsZeroWhereThereIsNothingToShare) {
    EXPECT_EQ(flops_utilization(1.0 * TFLOP, Seconds{}, 8, 1.0 * TFLOP / s), 0.0);
    EXPECT_EQ(flops_utilization(1.0 * TFLOP, 1.0 * s, 8, FlopsPerSecond{}), 0.0);
    EXPECT_DOUBLE_EQ(flops_utilization(4.0 * TFLOP, 1.0 * s, 8, 1.0 * TFLOP / s), 0.5);
}

TEST(RecomputedShare, IsOfTheBlocksThatAreTrained) {
    Model model;
    model.layers = 40;
    EXPECT_EQ(recomputed_share({.recompute = Recompute::full}, model), 1.0);
    EXPECT_EQ(recomputed_share({.recompute = Recompute::full, .recompute_layers = 10}, model), 0.25);
    // Expectation: of 20 trained layers 10 are half, and 30 are all of them.
    Strategy last{
        .recompute = Recompute::full, .recompute_layers = 10, .trained = Trained::last_layers, .trained_layers = 20};
    EXPECT_EQ(recomputed_share(last, model), 0.5);
    last.recompute_layers = 30;
    EXPECT_EQ(recomputed_share(last, model), 1.0);
}

TEST(PaceOfFramework, LetsNoProductOfVectorUnitsOutrunTheirPeak) {
    // Expectation: factors are fitted to 16-bit runs; in fp32 none makes products faster than the chip, but for the
    // twentieth that published runs are.
    auto const& model = training::catalog().model("mask-rcnn-r50-fpn");
    for (char const* machine : {"dgx-a100", "dgx-v100", "dgx-h100"}) {
        auto const cluster = training::catalog().cluster(machine);
        for (char const* name : {"mxnet-mlperf", "mxnet-horovod", "pytorch-mlperf-bert"}) {
            SCOPED_TRACE(std::string{machine} + " " + name);
            auto const& framework = training::catalog().framework(name);
            auto const& chip = cluster.accelerator;
            auto const rates = kernel_rates(chip, Precision::fp32, framework, training::fitted().values());
            double const pace = pace_of(framework, model, training::fitted(), chip, Precision::fp32);
            EXPECT_LE(rates.gemm / pace, peak_rate(chip, Precision::fp32) * 1.05 * (1.0 + 1e-12));
            Strategy strategy{.dp = 1, .micro_batch = 16, .precision = Precision::fp32};
            EXPECT_LT(predicted(training::question(model, cluster, framework, strategy,
                                                   {.sequence_length = 1, .global_batch = 16}))
                          .hfu,
                      1.0);
        }
    }
}

TEST(ExpertLoad, IsTheCapacityOrTheSkewOfSpreadExperts) {
    Workload workload;
    workload.expert_skew = 1.5;
    EXPECT_EQ(expert_load({.ep = 8}, workload), 1.5);
    EXPECT_EQ(expert_load({.ep = 8, .capacity = 1.25}, workload), 1.25);
    EXPECT_EQ(expert_load({.ep = 1}, workload), 1.0); // the one rank has all tokens
}

} // namespace
} // namespace headroom
