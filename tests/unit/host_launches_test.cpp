#include "support/training.hpp"

#include "headroom/training/host_launches.hpp"
#include "headroom/training/kernel.hpp"
#include "headroom/training/step.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headroom {

using namespace headroom::training;

namespace {

Framework software(char const* name) { return training::catalog().framework(name); }

double launches_of(Model const& model, LayerShape const& shape, Framework const& framework) {
    return forward_launches(model, block_runs(model).front().kind, shape, framework);
}

} // namespace

TEST(Launches, AreThoseOfALlamaBlockInTransformers) {
    // Expectation, counted in the source of the block: two norms of 7 and two sums; query, key, value and output; rotary
    // positions 10; a fused core with its layout 3; gate, up, activation, product, down 5; autocast converts seven
    // matrices and their inputs.
    auto const model = training::catalog().model("llama-2-7b");
    auto const trainer = software("hf-trainer");
    EXPECT_EQ(launches_of(model, {}, trainer), 2 * (7 + 1) + 4 + 10 + 3 + 5 + 14);
    Framework whole = trainer;
    whole.attention = AttentionKernel::unfused; // eight more for products, scale, mask, softmax, conversion, dropout
    EXPECT_EQ(launches_of(model, {}, whole), launches_of(model, {}, trainer) + 8);
}

TEST(Launches, OfAdaptersAndQuantisedWeightsComeOnTop) {
    // Expectation: eight for each of the seven adapted matrices, three for each that is made of 4 bits, twelve by GPTQ.
    auto const model = training::catalog().model("llama-2-7b");
    auto const trainer = software("hf-trainer");
    LayerShape shape;
    shape.trained = Trained::lora;
    shape.adapter_modules = adapter_module::linear;
    double const plain = launches_of(model, {}, trainer) - 14, adapted = launches_of(model, shape, trainer); // no casts
    EXPECT_EQ(adapted, plain + 7 * 8);
    shape.adapter_modules = adapter_module::query | adapter_module::value;
    EXPECT_EQ(launches_of(model, shape, trainer), plain + 2 * 8);
    Framework quantised = trainer;
    quantised.frozen = FrozenFormat::nf4;
    EXPECT_EQ(launches_of(model, shape, quantised), plain + 2 * 8 + 7 * 3);
    quantised.frozen = FrozenFormat::int4;
    EXPECT_EQ(launches_of(model, shape, quantised), plain + 2 * 8 + 7 * 6);
    EXPECT_EQ(dequantised_bytes(trainer), 0.0);
    EXPECT_EQ(dequantised_bytes(quantised), 4.5 + 5 + 2 + 2 + 3);
    EXPECT_TRUE(keeps_dequantised(quantised));
}

TEST(Launches, OfAutocastConvertBiasesAndNothingThatFsdpGathered) {
    // Expectation: BERT has six matrices a block, each with a bias: 18 conversions. FSDP gathers 16-bit weights, DeepSpeed
    // keeps them in 16 bits: neither has any.
    auto const model = training::catalog().model("bert-large");
    Framework const trainer = software("hf-trainer");
    Framework narrow = trainer;
    narrow.parameter_bytes = 2.0;
    EXPECT_EQ(launches_of(model, {}, trainer) - launches_of(model, {}, narrow), 18);
    EXPECT_TRUE(autocasts(trainer, Precision::bf16));
    EXPECT_FALSE(autocasts(trainer, Precision::fp32));
    EXPECT_FALSE(autocasts(software("hf-fsdp"), Precision::bf16));
    EXPECT_FALSE(autocasts(software("hf-deepspeed"), Precision::bf16));
    EXPECT_TRUE(autocasts(software("atorch"), Precision::bf16)); // gathers 32-bit weights
}

TEST(Launches, OfExpertsThatPythonCallsInTurn) {
    // Expectation: twelve kernels for each of the eight experts of a block; fused kernels run them together.
    auto const model = training::catalog().model("mixtral-8x7b");
    Framework one_by_one = software("hf-fsdp");
    auto dense = training::catalog().model("llama-2-7b");
    EXPECT_EQ(launches_of(model, {}, one_by_one) - launches_of(dense, {}, one_by_one), 8 * 12);
}

TEST(Update, TensorByTensorWaitsWhereLossesAreScaled) {
    // Expectation: a block of BERT has two norms and six matrices, each with a bias: 16 tensors, 11 kernels each.
    auto const model = training::catalog().model("bert-large");
    auto const old = software("hf-trainer-2022");
    EXPECT_EQ(update_launches(model, old, Precision::fp16), 24 * 16 * 11);
    EXPECT_EQ(update_launches(model, old, Precision::bf16), 0.0); // issued during the backward pass
    EXPECT_EQ(update_launches(model, software("hf-trainer"), Precision::fp16), 0.0);
}

TEST(Kernels, OfFp8WithFinerScalesAreSlower) {
    auto const constants = training::fitted().values();
    auto const chip = training::catalog().accelerator("h100-sxm-80gb");
    auto const rate = [&](Precision precision, Fp8Recipe recipe) {
        return kernel_rates(chip, precision, with_kernels(software("torchtitan"), {.fp8_recipe = recipe}), constants)
            .gemm.base();
    };
    double const one = rate(Precision::fp8, Fp8Recipe::tensorwise);
    EXPECT_NEAR(rate(Precision::fp8, Fp8Recipe::rowwise) / one, 0.87, 1e-12);
    EXPECT_NEAR(rate(Precision::fp8, Fp8Recipe::block) / one, 0.87, 1e-12);
    EXPECT_EQ(rate(Precision::bf16, Fp8Recipe::block), rate(Precision::bf16, Fp8Recipe::tensorwise));
}

TEST(Fabric, OfCardsWithoutPeerToPeerGoesThroughTheHost) {
    // Expectation: in a host of 2019 each card of a ring has the same rate, however many there are, as bus bandwidth is measured; a
    // host of 2023 carries what PCIe does.
    auto const constants = training::fitted().values();
    auto const rate = [&](char const* name, int workers) {
        return calibrated_fabric(congested(training::catalog().cluster(name), 0.0, workers), constants)
            .scale_up.bandwidth.base();
    };
    for (int const workers : {2, 8, 16}) {
        EXPECT_NEAR(rate("rtx-3090-pcie-8", workers), constants[Constant::host_path], 1.0);
        EXPECT_EQ(rate("rtx-4090-pcie-8", workers), rate("rtx-4090-pcie-8", 2));
    }
    EXPECT_GT(rate("rtx-a5000-pcie-8", 8), rate("rtx-3090-pcie-8", 2));
    EXPECT_FALSE(training::catalog().cluster("rtx-2080-ti-nvlink-2").through_host); // its link is a bridge
}

TEST(Fabric, OfGeForceGoesWithRatesOfGeForce) {
    // Expectation: one silicon, GA102; the card that sums at half the rate sustains more of it.
    auto const constant = [](char const* name) { return gemm_constant(training::catalog().cluster(name).accelerator); };
    EXPECT_EQ(constant("rtx-3090-pcie-8"), Constant::gemm_consumer);
    EXPECT_EQ(constant("rtx-4090-pcie-8"), Constant::gemm_consumer);
    // cut for export: 2.7 watts for each TFLOP/s where an H100 has 0.71, 2.3 where an L40S has 0.97
    EXPECT_EQ(constant("hgx-h20"), Constant::gemm_consumer);
    EXPECT_EQ(constant("l20-pcie-8"), Constant::gemm_consumer);
    EXPECT_EQ(constant("hgx-h800"), Constant::gemm_hopper);
    EXPECT_EQ(constant("l40-pcie-8"), Constant::gemm_ada); // 1.7 times the watts of the L40S
    EXPECT_EQ(constant("rtx-a6000-pcie-8"), Constant::gemm_ampere);
}

TEST(Launches, AreWhatAShortStepTakes) {
    // Two ways to one number: layers x passes x launches x their cost, and what 32 more layers add to the step that the
    // model prices: ends, update and fixed time are in both. A micro-batch of 64 tokens takes the chip a tenth of that.
    auto framework = software("hf-trainer");
    framework.updated_bytes = 0.0; // of 7 billion parameters an update takes a twentieth of this
    Calibration constants = training::fitted().values();
    constants[Constant::host_launch] = 1e-3; // so that nothing else counts
    auto model = training::catalog().model("llama-2-7b");
    auto const cluster = training::catalog().cluster("dgx-a100");
    StepSetting const setting{.model = model,
                              .cluster = cluster,
                              .framework = framework,
                              .constants = constants,
                              .workload = {.sequence_length = 64, .global_batch = 1}};
    Strategy strategy;
    strategy.recompute = Recompute::none;
    auto const shape = shape_of(strategy, setting.workload);
    auto const priced = [&] {
        auto const costs =
            layer_costs(step_program(setting.model, shape, framework), shape, setting.cluster, framework, constants);
        return price_step(setting, strategy, costs).total().base();
    };
    double const counted =
        32 * 3 * launches_of(setting.model, shape, framework) * 1e-3 * launch_cost(setting.cluster.host_year);
    double const step = priced();
    model.layers *= 2;
    EXPECT_NEAR((priced() - step) / counted, 1.0, 0.02);
}

TEST(Launches, OfEndsAndLoopAreSharedByTheBlocks) {
    // Expectation: 201 launches a pass besides the blocks, whatever their number.
    auto const framework = software("hf-trainer");
    for (char const* name : {"llama-2-7b", "llama-3.2-1b"}) {
        auto const model = training::catalog().model(name);
        auto const program = step_program(model, {}, framework);
        double all = 0.0;
        for (auto const& run : program.blocks) { all += run.count * run.launches; }
        EXPECT_NEAR(all - model.layers * launches_of(model, {}, framework), 201.0, 1e-9) << name;
    }
}

TEST(Launches, CostLessOnYoungerHosts) {
    EXPECT_EQ(launch_cost(2019), 1.0);
    EXPECT_NEAR(launch_cost(2023), std::pow(1.06, -4), 1e-12);
    EXPECT_EQ(training::catalog().cluster("dgx-a100").host_year, 2019);
    EXPECT_EQ(training::catalog().cluster("dgx-h100").host_year, 2023);
}

TEST(Kernels, OfACompilerAreFewerAndFused) {
    auto const eager = software("hf-trainer");
    auto const compiled = with_kernels(eager, {.compiled = true});
    EXPECT_EQ(compiled.host, HostPace::modern);
    EXPECT_TRUE(compiled.fused_elementwise);
    EXPECT_EQ(compiled.loss_bytes, 10.0);
    EXPECT_EQ(with_kernels(compiled, {.compiled = false}).host, HostPace::eager);
    // Expectation: Megatron is not made of lines that torch.compile compiles; "off" says nothing about it.
    auto const megatron = software("megatron-core");
    EXPECT_EQ(with_kernels(megatron, {.compiled = false}).host, megatron.host);
    EXPECT_EQ(with_kernels(eager, {.attention = AttentionKernel::unfused}).attention, AttentionKernel::unfused);
    EXPECT_TRUE(with_kernels(eager, {.fused = true}).fused_elementwise);
    EXPECT_EQ(with_kernels(eager, {.fused = true}).host, HostPace::eager);
}

TEST(Kernels, OfPrimitivesAreIssuedByPython) {
    auto const stated = with_kernels(software("colossalai"), {.fused = false});
    EXPECT_FALSE(stated.fused_elementwise);
    EXPECT_EQ(stated.host, HostPace::eager);
}

TEST(Update, OfSeparateOperationsReadsAndWritesMoreOften) {
    // Expectation: 20 passes over arrays in the place of 7, and 3 for clipping and zeroing with both.
    Framework framework = software("hf-deepspeed");
    double const fused = update_share(framework);
    framework.foreach_update = true;
    EXPECT_NEAR(update_share(framework) / fused, 2.3, 1e-12);
}

TEST(Power, OfACardBelowItsPeakLowersTheSustainedRate) {
    // Expectation: an A100 behind PCIe has 250 W for the 312 TFLOP/s that the other has 400 for.
    auto const constants = training::fitted().values();
    auto const framework = software("pytorch");
    auto const rate = [&](Accelerator const& chip) {
        return kernel_rates(chip, Precision::bf16, framework, constants).gemm.base();
    };
    auto sxm = training::catalog().accelerator("a100-sxm-40gb"),
         pcie = training::catalog().accelerator("a100-pcie-40gb");
    sxm.measured_gemm = pcie.measured_gemm = {};
    double const exponent = constants[Constant::power_exponent];
    EXPECT_NEAR(rate(pcie) / rate(sxm), std::pow(pcie.tdp / sxm.tdp, exponent), 1e-9);
    Accelerator limited = sxm;
    limited.power_limit = 0.5 * sxm.tdp;
    EXPECT_NEAR(rate(limited) / rate(sxm), std::pow(0.5, exponent), 1e-9);
    limited.power_limit = 2.0 * sxm.tdp; // a limit above what the card draws changes nothing
    EXPECT_EQ(rate(limited), rate(sxm));
}

TEST(UntunedShare, LowersTheProductsOfAChipFasterThanAnA100) {
    // Expectation: an H100 has 989.5 / 312 of an A100's peak; software that its users put together loses that ratio to the power of
    // the constant. Memory is as fast for all.
    auto const constants = training::fitted().values();
    auto const rates = [&](char const* chip, char const* framework) {
        return kernel_rates(training::catalog().accelerator(chip), Precision::bf16, software(framework), constants);
    };
    auto const loose = rates("h100-sxm-80gb", "pytorch"), tuned = rates("h100-sxm-80gb", "llm-foundry");
    double const share = std::pow(312.0 / 989.0, constants[Constant::untuned_exponent]);
    EXPECT_LT(share, 0.95);
    EXPECT_NEAR(loose.gemm / tuned.gemm, share, 1e-3);
    EXPECT_NEAR(loose.head_gemm / tuned.head_gemm, share, 1e-3);
    EXPECT_NEAR(loose.unfused / tuned.unfused, share, 1e-3);
    EXPECT_EQ(loose.memory, tuned.memory);
    for (char const* chip : {"a100-sxm-80gb", "v100-sxm2-32gb"}) {
        EXPECT_EQ(rates(chip, "pytorch").gemm, rates(chip, "llm-foundry").gemm) << chip;
    }
}

TEST(UntunedShare, IsAFactorOfEachRateThatAnExplanationPrints) {
    auto const& chip = training::catalog().accelerator("h100-sxm-80gb");
    auto const constants = training::fitted().values();
    TermBook book;
    auto const bf16 = Precision::bf16;
    EXPECT_EQ(explain_untuned(book, chip, bf16, software("pytorch"), constants), " * untuned_share");
    EXPECT_EQ(book["untuned_share"], untuned_share(chip, bf16, software("pytorch"), constants));
    EXPECT_EQ(explain_untuned(book, chip, bf16, software("megatron-core"), constants), "");
}

TEST(UntunedShare, LeavesVectorUnitsAlone) {
    // Expectation: a chip with faster tensor units and the same vector units is no slower in fp32.
    auto const constants = training::fitted().values();
    auto chip = training::catalog().accelerator("h100-sxm-80gb");
    auto const rate = [&] { return kernel_rates(chip, Precision::fp32, software("pytorch"), constants).gemm; };
    auto const before = rate();
    chip.peak.bf16 *= 2.0, chip.peak.fp16 *= 2.0, chip.peak.tf32 *= 2.0, chip.tdp = chip.tdp * 2.0;
    EXPECT_GE(rate(), before);
    TermBook book;
    EXPECT_EQ(explain_untuned(book, chip, Precision::fp32, software("pytorch"), constants), "");
}

TEST(LikelyFramework, FollowsModelMachineAndJob) {
    auto const& catalog = training::catalog();
    auto const likely = [&](char const* model, char const* node, PartialStrategy const& given = {},
                            std::optional<int> year = {}) {
        return likely_framework(catalog.model(model), catalog.cluster(node), given, year);
    };
    PartialStrategy lora, sharded, split, compiled;
    compiled.compiled = true;
    lora.trained = Trained::lora;
    sharded.zero = 3;
    split.tp = 2;
    EXPECT_EQ(likely("llama-3-8b", "dgx-h100"), "megatron-core");
    EXPECT_EQ(likely("llama-3-8b", "dgx-h100", sharded), "pytorch-fsdp");
    EXPECT_EQ(likely("llama-3-8b", "dgx-h100", lora), "hf-trainer");
    EXPECT_EQ(likely("llama-3-8b", "dgx-a100", {}, 2021), "megatron-2021");
    EXPECT_EQ(likely("llama-3-8b", "dgx-a100", {}, 2024), "megatron-core");
    EXPECT_EQ(likely("llama-3-8b", "dgx-v100"), "megatron-2021");
    for (char const* cards : {"rtx-4090-pcie-8", "rtx-2080-ti-nvlink-2", "h100-nvl-pcie-8"}) {
        EXPECT_EQ(likely("llama-3-8b", cards), "pytorch") << cards;
        EXPECT_EQ(likely("llama-3-8b", cards, sharded), "hf-fsdp") << cards;
    }
    for (char const* model : {"bert-large", "resnet-50", "gnmt-v2"}) {
        EXPECT_EQ(likely(model, "dgx-h100"), "pytorch") << model;
    }
    EXPECT_EQ(likely("bert-large", "dgx-h100", split), "megatron-core");
    EXPECT_EQ(likely("llama-3-8b", "dgx-h100", compiled), "pytorch-fsdp");
    EXPECT_EQ(likely("gpt2-124m", "dgx-h100", compiled), "pytorch");
    EXPECT_EQ(likely("llama-3-8b", "tpu-v5p-host", sharded, 2020), "maxtext");
    EXPECT_EQ(likely("resnet-50", "tpu-v3-host"), "maxtext");
    EXPECT_EQ(likely("llama-3-8b", "gaudi2-node"), "optimum-habana");
    EXPECT_EQ(likely("llama-3-8b", "aws-trn2"), "neuronx-distributed");
}

TEST(LikelyFramework, IsForEveryMachine) {
    auto const& catalog = training::catalog();
    for (auto const& name : catalog.names(io::RecordKind::node)) {
        for (int const zero : {0, 1, 3}) {
            PartialStrategy given;
            given.zero = zero;
            for (char const* model : {"llama-3-8b", "bert-large", "resnet-50"}) {
                Cluster const cluster = catalog.cluster(name);
                Framework const likely = catalog.framework(likely_framework(catalog.model(model), cluster, given));
                auto const& vendors = likely.vendors;
                EXPECT_TRUE(vendors.empty() || std::ranges::count(vendors, cluster.accelerator.vendor) == 1)
                    << name << " " << model << " " << likely.name;
            }
        }
    }
}

TEST(ImageKernels, AreThoseOfARecordWithAFittedFactor) {
    auto const& catalog = training::catalog();
    auto const& fitted = training::fitted();
    Accelerator const chip = catalog.accelerator("h100-sxm-80gb");
    auto const pace = [&](Framework const& framework, char const* model) {
        return pace_of(framework, catalog.model(model), fitted, chip, Precision::bf16);
    };
    int sharing = 0;
    for (auto const& name : catalog.names(io::RecordKind::framework)) {
        Framework const framework = catalog.framework(name);
        if (framework.image_kernels.empty()) { continue; }
        ++sharing;
        EXPECT_FALSE(framework.paced) << name;
        EXPECT_TRUE(catalog.framework(framework.image_kernels).paced) << name;
        EXPECT_EQ(pace(framework, "resnet-50"), fitted.pace.at(framework.image_kernels).factor);
        EXPECT_EQ(pace(framework, "bert-large"), 1.0) << name;
        EXPECT_EQ(pace(framework, "llama-3-8b"), 1.0) << name;
    }
    EXPECT_GT(sharing, 5);
}

} // namespace headroom
