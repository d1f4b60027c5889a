#include "support/training.hpp"

#include "headroom/training/memory.hpp"
#include "headroom/training/prediction.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::training;

namespace {

using training::Priced;

Bytes kept(Recompute recompute, unsigned parts, char const* model = "llama-2-7b",
           char const* framework = "torchtitan") {
    LayerShape shape{.sequence_length = 1.0, .attended = 1.0};
    shape.recompute = recompute;
    shape.recomputed = parts;
    return block_activation_bytes(training::catalog().model(model), shape, training::catalog().framework(framework));
}

/// The tensors that torchtitan's policy saves: the block's input, queries, values, the attention's output, the gate's product and
/// the last one's.
TEST(Recomputation, OfEverySecondProductKeepsTheOthers) {
    auto const model = training::catalog().model("llama-2-7b");
    double const h = model.hidden, f = model.ffn;
    EXPECT_DOUBLE_EQ(kept(Recompute::alternate, 0).base(), 2.0 * (5.0 * h + f) + 4.0 * model.heads);
}

TEST(Recomputation, OfPartsSparesWhatThePartsKeep) {
    auto const model = training::catalog().model("llama-2-7b");
    double const h = model.hidden, f = model.ffn;
    auto const spared = [&](unsigned parts) { return kept(Recompute::none, 0) - kept(Recompute::modules, parts); };
    EXPECT_DOUBLE_EQ(spared(recompute_module::layernorm).base(), 2.0 * 2.0 * h) << "outputs of both norms";
    EXPECT_DOUBLE_EQ(spared(recompute_module::mlp).base(), 2.0 * h + 6.0 * f) << "all but the input";
    EXPECT_DOUBLE_EQ(spared(recompute_module::mlp | recompute_module::layernorm).base(), 4.0 * h + 6.0 * f)
        << "the norm in front of it is counted once";
    EXPECT_EQ(spared(recompute_module::moe_act), Bytes{}) << "no experts";
    EXPECT_EQ(spared(recompute_module::core_attn), Bytes{}) << "a fused core keeps no scores";
}

TEST(Recomputation, OfLatentProjectionsKeepsTheNarrowVectors) {
    auto const model = training::catalog().model("deepseek-v3");
    auto const& latent = model.latent;
    double const heads = model.heads;
    auto const spared = kept(Recompute::none, 0, "deepseek-v3", "megatron-core") -
                        kept(Recompute::modules, recompute_module::mla_up_proj, "deepseek-v3", "megatron-core");
    EXPECT_DOUBLE_EQ(spared.base(), 2.0 * heads * (2.0 * (latent.nope_dim + latent.rope_dim) + latent.value_dim));
}

/// More is kept the less is done again; what is done again takes its time.
TEST(Recomputation, BuysMemoryWithTime) {
    auto const run = [](Recompute recompute, unsigned parts) {
        Strategy strategy{.dp = 8, .zero = 3};
        strategy.recompute = recompute;
        strategy.recomputed = parts;
        return Priced{training::question(
            training::catalog().model("llama-2-7b"), training::catalog().cluster("dgx-h100"),
            training::catalog().framework("torchtitan"), strategy, {.sequence_length = 4096, .global_batch = 8})};
    };
    std::vector<std::pair<Recompute, unsigned>> const kinds{{Recompute::none, 0},
                                                            {Recompute::modules, recompute_module::layernorm},
                                                            {Recompute::alternate, 0},
                                                            {Recompute::full, 0}};
    for (std::size_t i = 1; i < kinds.size(); ++i) {
        auto const less = run(kinds[i - 1].first, kinds[i - 1].second), more = run(kinds[i].first, kinds[i].second);
        EXPECT_LT(more.memory().activations, less.memory().activations) << i;
        EXPECT_GT(more.step.total(), less.step.total()) << i;
    }
}

TEST(Recomputation, CountsItsProductsAmongTheHardwares) {
    auto const model = training::catalog().model("llama-2-7b");
    double const h = model.hidden, f = model.ffn;
    auto const alternate = recomputed_work({.recompute = Recompute::alternate}, model);
    EXPECT_NEAR(alternate.matrix, (2.0 * h * h + h * f) / (4.0 * h * h + 3.0 * h * f), 1e-12);
    EXPECT_EQ(alternate.attention, 0.0);
    auto const full = recomputed_work({.recompute = Recompute::full}, model);
    EXPECT_EQ(full.matrix, 1.0);
    Strategy parts{.recompute = Recompute::modules};
    parts.recomputed = recompute_module::core_attn | recompute_module::mlp;
    EXPECT_NEAR(recomputed_work(parts, model).matrix, 3.0 * f / (4.0 * h + 3.0 * f), 1e-12);
    EXPECT_EQ(recomputed_work(parts, model).attention, 1.0);
}

} // namespace
} // namespace headroom
