// Parameters and forward operations of mixtures, latent attention, state spaces and pairs, against the arithmetic of
// their papers in a few lines each and the totals that their checkpoints have.

#include "support/counting.hpp"

#include "headroom/training/model.hpp"
#include "headroom/training/operation.hpp"

#include <gtest/gtest.h>

#include <array>

namespace headroom {

using namespace headroom::training;

namespace {

/// RMS norms without biases, gated feed-forward parts: common to all of these unless stated otherwise.
Model stack(int layers, int hidden, int heads, int kv_heads, int head_dim, int ffn, int vocab) {
    Model model;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.kv_heads = kv_heads;
    model.head_dim = head_dim;
    model.ffn = ffn;
    model.vocab = vocab;
    return model;
}

// ---- DeepSeek-V3 --------------------------------------------------------------------------------------------------

Model deepseek_v3() {
    Model model = stack(61, 7168, 128, 128, 128, 18432, 129280);
    model.latent = {.q_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .value_dim = 128};
    model.moe = {.experts = 256, .top_k = 8, .ffn = 2048, .shared_experts = 1, .first_dense = 3, .router_bias = true};
    model.prediction_layers = 1;
    return model;
}

constexpr double h = 7168, matrices_of_attention = h * 1536 + 1536 * 128 * (128 + 64) + h * (512 + 64) +
                                                   512 * 128 * (128 + 128) + 128 * 128 * h;
constexpr double expert = 3 * h * 2048, router = h * 256;

TEST(DeepSeekV3, HasThePublishedParameters) {
    // Expectation: 671 026 419 200, the sum of the checkpoint's tensors without the block that predicts a later token.
    double const attention = matrices_of_attention + 1536 + 512; // and the norms of both narrow vectors
    double const blocks = 61 * (attention + 2 * h) + 3 * (3 * h * 18432) + 58 * (257 * expert + router + 256);
    auto const count = count_parameters(deepseek_v3());
    EXPECT_EQ(count.total, blocks + 2 * 129280.0 * h + h);
    EXPECT_EQ(count.total, 671026419200.0);
    // Expectation: 8 routed experts of 256 are touched: 37 billion and the embedding.
    EXPECT_EQ(count.total - count.active, 58 * 248 * expert);
    EXPECT_NEAR(count.active / 1e9, 37.5, 0.1);
    // Expectation: "11.5B unique parameters" of the prediction module: a block, a product of 2 h by h and norms.
    EXPECT_EQ(count.prediction, attention + 2 * h + 257 * expert + router + 256 + 2 * h * h + 3 * h);
    EXPECT_NEAR(count.prediction / 1e9, 11.5, 0.15);
    EXPECT_EQ(count.experts * 61, 58 * 256 * expert);
    EXPECT_EQ(count.prediction_experts, 256 * expert);
}

TEST(DeepSeekV3, MultipliesWhatATokenTouches) {
    // Expectation: a block more than the 61 for prediction, with its head and the product that joins it; queries and keys
    // of 192, values of 128, half of the square.
    double const s = 4096;
    auto const flops = forward_flops(deepseek_v3(), 4096, AttentionConvention::causal);
    double const weights = 62 * matrices_of_attention + 3 * (3 * h * 18432) + 59 * (9 * expert + router) + 2 * h * h;
    EXPECT_DOUBLE_EQ(flops.matrix.base(), 2 * s * weights);
    EXPECT_DOUBLE_EQ(flops.attention.base(), 62 * 2 * s * (s / 2) * 128 * (192 + 128));
    EXPECT_DOUBLE_EQ(flops.head.base(), 2 * (2 * s * h * 129280));
    // Expectation: about six operations a token for each of the active parameters without embedding.
    EXPECT_NEAR(3 * flops.matrix.base() / s / (6 * 36.6e9), 1.0, 0.05);
}

// ---- other mixtures -----------------------------------------------------------------------------------------------

TEST(Mixtral8x7B, HasThePublishedParameters) {
    Model model = stack(32, 4096, 32, 8, 128, 14336, 32000);
    model.moe = {.experts = 8, .top_k = 2, .ffn = 14336};
    auto const count = count_parameters(model);
    EXPECT_EQ(count.total, 46702792704.0);
    EXPECT_NEAR(count.active / 1e9, 12.9, 0.05);
    // Expectation: without experts it is a Mistral 7B with six more feed-forward parts a layer, and routers.
    double const feed_forward = 3.0 * 4096 * 14336;
    Model dense = model;
    dense.moe = {};
    EXPECT_EQ(count.total - count_parameters(dense).total, 32 * (7 * feed_forward + 4096 * 8));
}

TEST(Qwen3Mixture, HasThePublishedParameters) {
    // Expectation: 30 532 122 624, with a norm of 128 for queries and one for keys in each layer.
    Model model = stack(48, 2048, 32, 4, 128, 6144, 151936);
    model.moe = {.experts = 128, .top_k = 8, .ffn = 768};
    model.qk_norm = true;
    EXPECT_EQ(count_parameters(model).total, 30532122624.0);
    EXPECT_NEAR(count_parameters(model).active / 1e9, 3.3, 0.1);
}

// ---- state spaces -------------------------------------------------------------------------------------------------

TEST(Mamba2, HasThePublishedParameters) {
    // Expectation: 2 702 599 680 of the 2.7B checkpoint: 64 scans, no feed-forward part, tied tables.
    Model model = stack(64, 2560, 80, 80, 64, 0, 50288);
    model.pattern = "M";
    model.state_space = {.heads = 80, .head_dim = 64, .groups = 1, .state = 128, .convolution = 4};
    model.tied_embeddings = true;
    EXPECT_EQ(count_parameters(model).total, 2702599680.0);
    // Expectation: 7 c n operations a token and layer in the scan, and two products.
    double const s = 2048, inner = 5120;
    auto const flops = forward_flops(model, 2048, AttentionConvention::causal);
    EXPECT_DOUBLE_EQ(flops.attention.base(), 64 * s * 7 * inner * 128);
    EXPECT_DOUBLE_EQ(flops.matrix.base(), 64 * 2 * s * (2560 * (2 * inner + 2 * 128 + 80) + inner * 2560));
}

Model nemotron_h_8b() {
    Model model = stack(52, 4096, 32, 8, 128, 21504, 131072);
    model.pattern = "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-";
    model.state_space = {.heads = 128, .head_dim = 64, .groups = 8, .state = 128, .convolution = 4};
    model.feed_forward = FeedForward::plain;
    model.positions = Positions::none;
    return model;
}

TEST(NemotronH, HasThePublishedParameters) {
    // Expectation: 24 scans, 24 feed-forward parts of two matrices and 4 of attention, each with one norm: 8.1 billion.
    double const width = 4096, inner = 8192, groups = 2.0 * 8 * 128;
    double const scan = width * (2 * inner + groups + 128) + inner * width + (inner + groups) * 5 + 3 * 128 + inner;
    double const feed_forward = 2 * width * 21504, attention = 2 * width * 4096 + 2 * width * 1024;
    double const blocks = 24 * scan + 24 * feed_forward + 4 * attention + 52 * width;
    auto const model = nemotron_h_8b();
    EXPECT_EQ(count_parameters(model).total, blocks + 2 * 131072 * width + width);
    EXPECT_NEAR(count_parameters(model).total / 1e9, 8.1, 0.01);
    auto const runs = block_runs(model);
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_EQ(runs[0].count, 24);
    EXPECT_EQ(runs[1].count, 24);
    EXPECT_EQ(runs[2].count, 4);
}

TEST(NemotronH, MultipliesWhatItsPatternSays) {
    double const width = 4096, inner = 8192, s = 8192;
    auto const flops = forward_flops(nemotron_h_8b(), 8192, AttentionConvention::causal);
    double const weights = 24 * (width * (2 * inner + 2 * 8 * 128 + 128) + inner * width) + 24 * 2 * width * 21504 +
                           4 * (2 * width * 4096 + 2 * width * 1024);
    EXPECT_DOUBLE_EQ(flops.matrix.base(), 2 * s * weights);
    EXPECT_DOUBLE_EQ(flops.attention.base(), 4 * (4 * s * (s / 2) * 32 * 128) + 24 * s * 7 * inner * 128);
}

// ---- pairs --------------------------------------------------------------------------------------------------------

/// T5: plain feed-forward parts without biases, one table, positions in 32 buckets a head for encoder and decoder each,
/// two final norms.
Model t5(int layers_of_a_stack, int hidden, int heads, int head_dim, int ffn) {
    Model model = stack(2 * layers_of_a_stack, hidden, heads, heads, head_dim, ffn, 32128);
    model.encoder_layers = layers_of_a_stack;
    model.feed_forward = FeedForward::plain;
    model.tied_embeddings = true;
    model.positions = Positions::none;
    model.other_parameters = hidden + 2.0 * 32 * heads;
    model.decoder_length = 0.25;
    return model;
}

TEST(T5, HasThePublishedParameters) {
    EXPECT_EQ(count_parameters(t5(6, 512, 8, 64, 2048)).total, 60506624.0);
    EXPECT_EQ(count_parameters(t5(12, 768, 12, 64, 3072)).total, 222903552.0);
    EXPECT_EQ(count_parameters(t5(24, 1024, 16, 64, 4096)).total, 737668096.0);
    EXPECT_EQ(count_parameters(t5(24, 1024, 32, 128, 16384)).total, 2851598336.0);
    EXPECT_EQ(count_parameters(t5(24, 1024, 128, 128, 65536)).total, 11307321344.0);
}

TEST(T5, MultipliesBothOfItsSequences) {
    // Expectation: 512 tokens in, 128 out: an encoder layer has 4 matrices of attention, a decoder layer 4 and queries and
    // outputs of the second attention on its tokens, keys and values of it on the encoder's.
    double const d = 768, f = 3072, in = 512, out = 128;
    auto const flops = forward_flops(t5(12, 768, 12, 64, 3072), 512, AttentionConvention::causal);
    double const encoder = 12 * in * (4 * d * d + 2 * d * f);
    double const decoder = 12 * (out * (6 * d * d + 2 * d * f) + in * 2 * d * d);
    EXPECT_DOUBLE_EQ(flops.matrix.base(), 2 * (encoder + decoder));
    // Expectation: the encoder sees everything, the decoder half of its own and all of the encoder's.
    EXPECT_DOUBLE_EQ(flops.attention.base(), 12 * 4 * d * (in * in + out * out / 2 + out * in));
    EXPECT_DOUBLE_EQ(flops.head.base(), 2 * out * d * 32128);
}

// ---- the programs of them -----------------------------------------------------------------------------------------

TEST(Programs, OfTheseModelsAskForTheirFlops) {
    // Expectation: one rank's program of a sequence multiplies what the closed forms count; cores too where there is no
    // scan, which moves bytes.
    for (auto const& model : {deepseek_v3(), nemotron_h_8b(), t5(12, 768, 12, 64, 3072)}) {
        auto const program = step_program(model, shape_of({}, {.sequence_length = 2048}), {});
        auto const flops = forward_flops(model, 2048, AttentionConvention::causal);
        double const products = counting::over_model(
            program, [](LayerProgram const& one) { return counting::product_flops(one, Phase::forward); });
        double const cores = counting::over_model(
            program, [](LayerProgram const& one) { return counting::core_flops(one, Phase::forward); });
        EXPECT_NEAR(products / (flops.matrix + flops.head).base(), 1.0, 1e-12) << model.hidden;
        if (model.state_space.heads == 0) { EXPECT_NEAR(cores / flops.attention.base(), 1.0, 1e-12) << model.hidden; }
    }
}

} // namespace
} // namespace headroom
