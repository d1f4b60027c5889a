#include "headroom/model.hpp"

#include <gtest/gtest.h>

namespace headroom {
namespace {

/// Two layers small enough to count by hand: h = 4, two heads of 2, one key head, f = 6, V = 10.
Model tiny() {
    Model model;
    model.layers = 2;
    model.hidden = 4;
    model.heads = 2;
    model.kv_heads = 1;
    model.head_dim = 2;
    model.ffn = 6;
    model.vocab = 10;
    model.max_positions = 8;
    return model;
}

TEST(CountParameters, CountsAGatedBlockByHand) {
    // Expectation: Q and O 4x4 each, K and V 4x2 each, three 4x6 matrices, two norms of 4:
    // 16 + 16 + 8 + 8 + 72 + 8 = 128 a layer; tables of 40; a final norm of 4.
    ParameterCount const count = count_parameters(tiny());
    EXPECT_EQ(count.layer, 128.0);
    EXPECT_EQ(count.embedding, 40.0);
    EXPECT_EQ(count.head, 40.0);
    EXPECT_EQ(count.final_norm, 4.0);
    EXPECT_EQ(count.total, 2 * 128.0 + 84.0);
    EXPECT_EQ(count.active, count.total); // every token passes through all of a dense model
}

TEST(CountParameters, CountsTiedTablesOnce) {
    Model model = tiny();
    model.tied_embeddings = true;
    EXPECT_EQ(count_parameters(model).head, 0.0);
    EXPECT_EQ(count_parameters(model).total, count_parameters(tiny()).total - 40.0);
}

TEST(CountParameters, CountsBiasesWherePresent) {
    Model model = tiny();
    model.feed_forward = FeedForward::plain;
    model.norm = Normalisation::layer;
    model.norm_bias = model.qkv_bias = model.out_bias = model.mlp_bias = model.head_bias = true;
    // Expectation: matrices 16 + 16 + 8 + 8 + 2*24; biases Q 4, K 2, V 2, O 4, up 6, down 4; norms 2*8.
    EXPECT_EQ(count_parameters(model).layer, 96.0 + 22.0 + 16.0);
    EXPECT_EQ(count_parameters(model).head, 50.0);
    EXPECT_EQ(count_parameters(model).final_norm, 8.0);
    model.feed_forward = FeedForward::gated;
    EXPECT_EQ(count_parameters(model).layer, 120.0 + 28.0 + 16.0); // a third matrix with its bias of 6
}

TEST(CountParameters, CountsPositionsAndNormsOfTheTable) {
    Model model = tiny();
    model.positions = Positions::learned;
    model.extra_positions = 2;
    model.embedding_norm = true;
    EXPECT_EQ(count_parameters(model).embedding, 40.0 + (8 + 2) * 4.0 + 4.0);
    model.norms_per_layer = 1; // a parallel block shares one
    model.final_norm = false;
    EXPECT_EQ(count_parameters(model).layer, 124.0);
    EXPECT_EQ(count_parameters(model).final_norm, 0.0);
}

TEST(CountParameters, CountsExpertsAndTheRouter) {
    Model model = tiny();
    model.moe = {.experts = 4, .top_k = 2, .ffn = 3, .shared_experts = 1};
    // Expectation: five experts of 3*4*3 = 36 are held, three touched; the router is 4x4.
    EXPECT_EQ(count_parameters(model).layer, 128.0 - 72.0 + 5 * 36.0 + 16.0);
    EXPECT_EQ(count_parameters(model).total - count_parameters(model).active, 2 * 2 * 36.0);
}

TEST(CountParameters, Gpt2IsExact) {
    // Expectation: 124 439 808, as the published checkpoint has it.
    Model const gpt2{.name = "gpt2",
                     .layers = 12,
                     .hidden = 768,
                     .heads = 12,
                     .kv_heads = 12,
                     .head_dim = 64,
                     .ffn = 3072,
                     .vocab = 50257,
                     .max_positions = 1024,
                     .feed_forward = FeedForward::plain,
                     .activation = "gelu",
                     .norm = Normalisation::layer,
                     .norm_bias = true,
                     .positions = Positions::learned,
                     .tied_embeddings = true,
                     .qkv_bias = true,
                     .out_bias = true,
                     .mlp_bias = true,
                     .moe = {},
                     .latent = {},
                     .state_space = {},
                     .pattern = {},
                     .operators = {}};
    EXPECT_EQ(count_parameters(gpt2).total, 124439808.0);
}

TEST(ForwardFlops, CountsTwoForEachWeightAndToken) {
    // Expectation: matrices of 120 weights a layer, two layers, two operations, 5 tokens: 2400; the head 2*40*5;
    // scores 4 s a d = 4*5*2*2 = 80 a token and layer, so 800, half of it behind a causal mask.
    SequenceFlops const full = forward_flops(tiny(), 5, AttentionConvention::full);
    EXPECT_EQ(full.matrix.base(), 2400.0);
    EXPECT_EQ(full.head.base(), 400.0);
    EXPECT_EQ(full.attention.base(), 800.0);
    EXPECT_EQ(full.total().base(), 3600.0);
    SequenceFlops const causal = forward_flops(tiny(), 5, AttentionConvention::causal);
    EXPECT_EQ(causal.attention.base(), 400.0);
    EXPECT_EQ(causal.matrix, full.matrix);
}

TEST(ForwardFlops, WithoutAttentionIsTwoNT) {
    // Expectation: the rule of thumb counts all 340 parameters, tables and norms too: 2 * 340 * 5.
    SequenceFlops const none = forward_flops(tiny(), 5, AttentionConvention::none);
    EXPECT_EQ(none.total().base(), 2.0 * 340.0 * 5.0);
    EXPECT_EQ(none.attention, Flops{});
}

TEST(ForwardFlops, ExpertsCountByWhatATokenTouches) {
    Model model = tiny();
    model.moe = {.experts = 4, .top_k = 2, .ffn = 3};
    // Expectation: attention 48 weights, two experts of 36 and the router of 16.
    EXPECT_EQ(forward_flops(model, 1, AttentionConvention::full).matrix.base(), 2 * 2 * (48.0 + 72.0 + 16.0));
}

TEST(ForwardFlops, MatchesLlama3AtEightThousandTokens) {
    // Expectation: 57.9 GFLOP a trained token with full attention, 51.5 causal, 48.2 by 6N.
    Model const llama{.name = "llama-3.1-8b",
                      .layers = 32,
                      .hidden = 4096,
                      .heads = 32,
                      .kv_heads = 8,
                      .head_dim = 128,
                      .ffn = 14336,
                      .vocab = 128256,
                      .moe = {},
                      .latent = {},
                      .state_space = {},
                      .pattern = {},
                      .operators = {}};
    auto const per_token = [&](AttentionConvention convention) {
        return 3.0 * forward_flops(llama, 8192, convention).total().in(units::GFLOP) / 8192.0;
    };
    EXPECT_NEAR(per_token(AttentionConvention::full), 57.9, 0.05);
    EXPECT_NEAR(per_token(AttentionConvention::causal), 51.5, 0.05);
    EXPECT_NEAR(per_token(AttentionConvention::none), 48.2, 0.05);
}

TEST(AttentionConventionName, IsWhatResultsSay) {
    EXPECT_EQ(name_of(AttentionConvention::full), "full");
    EXPECT_EQ(name_of(AttentionConvention::causal), "causal");
    EXPECT_EQ(name_of(AttentionConvention::none), "6n");
}

} // namespace
} // namespace headroom
