#include "../../core/src/training/stage.hpp"
#include "support/planning.hpp"
#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/optimizer.hpp"

#include <gtest/gtest.h>

namespace headroom::training {
namespace {

Model seven_billion() {
    Model model = catalog().model("llama-2-7b");
    return model;
}

TEST(Optimizer, KeepsTheRecordsBytesBesideTheMasterCopy) {
    Model const model = seven_billion();
    auto const core = catalog().framework("megatron-core");
    auto const bytes = [&](char const* name, bool pure) {
        return with_state(core, {.optimizer = catalog().optimizer(name), .pure = pure, .frozen = {}}, model);
    };
    EXPECT_DOUBLE_EQ(bytes("adamw", false).optimizer_bytes, core.optimizer_bytes) << "the record's own";
    EXPECT_DOUBLE_EQ(bytes("adamw", false).updated_bytes, 1.0);
    EXPECT_DOUBLE_EQ(bytes("adamw-8bit", false).optimizer_bytes, 4.0 + 2.03);
    EXPECT_DOUBLE_EQ(bytes("sgd", false).optimizer_bytes, 4.0);
    auto const pure = bytes("adamw", true);
    EXPECT_DOUBLE_EQ(pure.parameter_bytes + pure.gradient_bytes + pure.optimizer_bytes, 8.0)
        << "weights, gradients and two moments of two bytes";
    EXPECT_LT(bytes("sgd", false).updated_bytes, bytes("lion", false).updated_bytes);
}

TEST(Optimizer, RecordsOfSixteenBitsAloneGetNoMasterCopy) {
    // Expectation: fine-tuning Llama-2-7B in 16 bits holds 27, 40.5 and 54 GB of weights, gradients and states with SGD, 8-bit
    // AdamW and AdamW (torchtune, pull request 389): 4, 6 and 8 bytes a parameter. A master copy is there where it is asked for.
    Model const model = seven_billion();
    auto const bytes = [&](char const* name, std::optional<bool> pure) {
        auto const one = with_state(catalog().framework("torchtune"),
                                    {.optimizer = catalog().optimizer(name), .pure = pure, .frozen = {}}, model);
        return one.parameter_bytes + one.gradient_bytes + one.optimizer_bytes;
    };
    EXPECT_DOUBLE_EQ(bytes("sgd", {}), 4.0);
    EXPECT_DOUBLE_EQ(bytes("adamw-8bit", {}), 6.03);
    EXPECT_DOUBLE_EQ(bytes("adamw", {}), 8.0);
    EXPECT_DOUBLE_EQ(bytes("adamw", false), 2.0 + 2.0 + 4.0 + 8.0);
    EXPECT_NEAR(bytes("adamw", {}) * count_parameters(model).total / 1e9, 54.0, 0.1);
}

TEST(Optimizer, PagedStateIsTheHosts) {
    // Expectation: two moments of a byte and a scale leave the accelerator; weights and gradients of two bytes stay.
    Model const model = seven_billion();
    double const all = count_parameters(model).total;
    auto const asked = [&](char const* name) {
        auto const framework = with_state(catalog().framework("torchtune"),
                                          {.optimizer = catalog().optimizer(name), .pure = {}, .frozen = {}}, model);
        Strategy strategy;
        strategy.recompute = Recompute::full;
        return Priced{question(model, catalog().cluster("dgx-h100"), framework, strategy,
                               {.sequence_length = 512, .global_batch = 2})}
            .memory();
    };
    auto const paged = asked("paged-adamw-8bit"), whole = asked("adamw-8bit");
    EXPECT_NEAR(whole.optimizer.base(), 2.03 * all, 1.0);
    EXPECT_EQ(paged.optimizer, Bytes{});
    EXPECT_NEAR(paged.host.base(), 2.03 * all, 1.0);
    EXPECT_NEAR((whole.total() - paged.total()).base(), 2.03 * all, 1.0);
}

TEST(Optimizer, MuonUpdatesTablesByAdamW) {
    Model const model = seven_billion();
    auto const count = count_parameters(model);
    double const blocks = count.layer * model.layers / count.total;
    auto const muon = with_state(catalog().framework("megatron-core"),
                                 {.optimizer = catalog().optimizer("muon"), .pure = {}, .frozen = {}}, model);
    EXPECT_NEAR(muon.optimizer_bytes, 4.0 + 4.0 * blocks + 8.0 * (1.0 - blocks), 1e-9);
}

TEST(Optimizer, MuonsProductsCostTheUpdate) {
    Model const model = seven_billion();
    double const h = 4096, f = 11008;
    double const block = 4.0 * 6.0 * h * h * h + 3.0 * (4.0 * h * h * f + 2.0 * h * h * h);
    double const expected = 5.0 * 32.0 * block / count_parameters(model).total;
    auto const with = [&](char const* name) {
        return with_state(catalog().framework("pytorch-fsdp"),
                          {.optimizer = catalog().optimizer(name), .pure = {}, .frozen = {}}, model);
    };
    EXPECT_NEAR(with("muon").update_flops / expected, 1.0, 1e-12);
    EXPECT_EQ(with("adamw").update_flops, 0.0);
    Strategy whole, shared;
    whole.dp = shared.dp = 8;
    whole.zero = 0, shared.zero = 3;
    auto const seconds = [&](Strategy const& strategy, char const* name) {
        auto const asked = question(model, catalog().cluster("dgx-h100"), with(name), strategy,
                                    {.sequence_length = 2048, .global_batch = 8});
        return predict(asked, planning::calibration()).step().base();
    };
    double const alone = seconds(whole, "muon") - seconds(whole, "lion");
    double const eighth = seconds(shared, "muon") - seconds(shared, "lion");
    double const peak = 989.4e12;
    EXPECT_GT(alone, expected * count_parameters(model).total / peak) << "no product runs beyond the peak";
    EXPECT_LT(alone, expected * count_parameters(model).total / (0.5 * peak));
    EXPECT_NEAR(eighth / alone, 1.0 / 8.0, 0.02);
}

TEST(Optimizer, EveryRecordIsReadAndPureIsNoMore) {
    for (auto const& name : catalog().names(io::RecordKind::optimizer)) {
        auto const optimizer = catalog().optimizer(name);
        EXPECT_LE(optimizer.pure, optimizer.mixed) << name;
        EXPECT_GE(optimizer.pure, 0.0) << name;
    }
    EXPECT_THROW(static_cast<void>(catalog().optimizer("adamv")), InputError);
}

TEST(FrozenWeights, HaveNoMasterCopyWhateverTheFrameworkKeeps) {
    Model const model = seven_billion();
    double const parameters = count_parameters(model).total;
    for (char const* framework : {"hf-trainer", "pytorch-fsdp", "megatron-core"}) {
        Strategy strategy;
        strategy.trained = Trained::lora;
        auto const asked =
            question(model, catalog().cluster("dgx-h100"), with_state(catalog().framework(framework), {}, model),
                     strategy, {.sequence_length = 512, .global_batch = 1});
        auto const use = Priced{asked}.memory();
        EXPECT_NEAR(use.weights.base(), 2.0 * parameters, 0.02 * parameters) << framework;
        EXPECT_LT(use.gradients.base() + use.optimizer.base(), 0.1 * parameters) << framework;
    }
}

TEST(FrozenWeights, TakeTheBytesOfTheirFormatInBlocks) {
    Model const model = seven_billion();
    auto const count = count_parameters(model);
    double const in_blocks = count.layer * model.layers, ends = count.total - in_blocks;
    auto const nf4 = with_state(catalog().framework("hf-trainer"),
                                {.optimizer = {}, .pure = {}, .frozen = FrozenFormat::nf4}, model);
    double const quantised = (0.5 + 1.0 / 64.0 + 4.0 / 16384.0) * in_blocks;
    EXPECT_NEAR(nf4.frozen_bytes * count.total, quantised + 4.0 * ends, 1e-6 * count.total)
        << "a scale of a byte for 64 weights, one of four bytes for 256 of these; PEFT makes tables 32-bit";
    auto const kept =
        with_state(catalog().framework("axolotl"), {.optimizer = {}, .pure = {}, .frozen = FrozenFormat::nf4}, model);
    EXPECT_NEAR(kept.frozen_bytes * count.total, quantised + 2.0 * ends, 1e-6 * count.total)
        << "here tables stay in 16 bits";
}

/// An eager block of Llama-2-7B, tensor by tensor: two norms with a 32-bit copy, the normalised input and the linear
/// layers' input; queries, keys, values and output; gate, its activation, up and their product.
TEST(EagerBlock, KeepsWhatItsKernelsKeep) {
    Model const model = seven_billion();
    LayerShape const shape{.sequence_length = 1.0, .attended = 1.0};
    double const h = model.hidden, f = model.ffn, heads = model.heads;
    auto const kept = [&](char const* framework, LayerShape const& of) {
        return block_activation_bytes(model, of, catalog().framework(framework)).base();
    };
    EXPECT_DOUBLE_EQ(kept("hf-deepspeed", shape), 2.0 * (4.0 + 2.0 + 2.0) * h + 8.0 * h + 8.0 * f + 4.0 * heads);
    EXPECT_DOUBLE_EQ(kept("hf-trainer", shape), 2.0 * (4.0 + 4.0 + 2.0) * h + 8.0 * h + 8.0 * f + 4.0 * heads)
        << "beside a 32-bit sum the normalised input is 32-bit, too";
    EXPECT_DOUBLE_EQ(kept("megatron-core", shape), 2.0 * (2.0 + 2.0) * h + 8.0 * h + 6.0 * f + 4.0 * heads);
    LayerShape adapters = shape;
    adapters.trained = Trained::lora;
    EXPECT_DOUBLE_EQ(kept("hf-trainer", adapters), (4.0 + 2.0) * h + 4.0 * h + 8.0 * h + 6.0 * f + 4.0 * heads)
        << "frozen norms keep no normalised input, frozen products no input";
    LayerShape again = shape;
    again.recompute = Recompute::full;
    EXPECT_DOUBLE_EQ(kept("hf-trainer", again), 4.0 * h) << "autocast adds up in 32 bits";
    EXPECT_DOUBLE_EQ(kept("hf-fsdp", again), 2.0 * h);
}

TEST(Adapters, AreOnTheProjectionsThatAreNamed) {
    Model const model = seven_billion();
    auto const count = count_parameters(model);
    double const h = model.hidden, f = model.ffn, layers = model.layers;
    Strategy strategy;
    strategy.trained = Trained::lora;
    strategy.adapter_rank = 8;
    auto const parameters = [&](unsigned modules) {
        strategy.adapter_modules = modules;
        return trained_share(strategy, model, count) * count.total;
    };
    EXPECT_NEAR(parameters(adapter_module::query | adapter_module::value), 8.0 * layers * 4.0 * h, 1.0);
    EXPECT_NEAR(parameters(adapter_module::attention), 8.0 * layers * 8.0 * h, 1.0);
    EXPECT_NEAR(parameters(adapter_module::linear), 8.0 * layers * (8.0 * h + 3.0 * (h + f)), 1.0);
}

} // namespace
} // namespace headroom::training
