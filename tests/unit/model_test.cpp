#include "headroom/training/model.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::training;

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

TEST(MeanKeys, AreWhatQueriesSeeOnAverage) {
    // Expectation: causal queries see half; of a window of 4 in 8 tokens the first four see 1, 2, 3, 4 halves (a triangle of
    // 8) and the others 4 each (16): 24 / 8. Tokens kept from before are seen by all.
    Model model = tiny();
    EXPECT_EQ(mean_keys(model, {.causal = true}, 8), 4.0);
    EXPECT_EQ(mean_keys(model, {.causal = false}, 8), 8.0);
    EXPECT_EQ(mean_keys(model, {.window = 4, .causal = true}, 8), 3.0);
    EXPECT_EQ(mean_keys(model, {.window = 4, .causal = false}, 8), 4.0);
    EXPECT_EQ(mean_keys(model, {.window = 9, .causal = true}, 8), 4.0);
    // Expectation: of 10 tokens in chunks of 4 those of a chunk see 2 keys on average, those of the last one, of 2, see 1.
    model.chunked = true;
    EXPECT_EQ(mean_keys(model, {.window = 4, .causal = true}, 10), 1.8);
    EXPECT_EQ(mean_keys(model, {.window = 4, .causal = false}, 10), 3.6);
    EXPECT_EQ(mean_keys(model, {.window = 9, .causal = true}, 8), 4.0);
    model.chunked = false;
    model.memory_tokens = 5;
    EXPECT_EQ(mean_keys(model, {.causal = true}, 8), 9.0);
}

TEST(BlockRuns, CountEveryKindOnce) {
    Model model = tiny();
    model.layers = 7;
    model.moe = {.experts = 4, .top_k = 2, .ffn = 3, .first_dense = 1, .every = 2};
    model.window = 3;
    model.full_every = 3;
    // Expectation: layers 2, 4 and 6 (counted from 0) are routed, 2 and 5 see everything: dense in a window 0, 1, 3; routed
    // and whole 2; routed in a window 4, 6; dense and whole 5.
    auto const runs = block_runs(model);
    ASSERT_EQ(runs.size(), 4U);
    auto const expect = [&](std::size_t i, Channel channel, int window, int count) {
        EXPECT_EQ(runs[i].kind.channel, channel) << i;
        EXPECT_EQ(runs[i].kind.window, window) << i;
        EXPECT_EQ(runs[i].count, count) << i;
    };
    expect(0, Channel::dense, 3, 3);
    expect(1, Channel::experts, 0, 1);
    expect(2, Channel::experts, 3, 2);
    expect(3, Channel::dense, 0, 1);
    EXPECT_EQ(last_block(model).channel, Channel::experts);
}

TEST(BlockRuns, OfAHybridFollowItsPattern) {
    Model model = tiny();
    model.layers = 6;
    model.pattern = "M-*E";
    auto const runs = block_runs(model); // M - * E M -
    ASSERT_EQ(runs.size(), 4U);
    EXPECT_EQ(runs[0].kind.mixer, Mixer::state_space);
    EXPECT_EQ(runs[0].kind.channel, Channel::none);
    EXPECT_EQ(runs[0].count, 2);
    EXPECT_EQ(runs[1].kind.mixer, Mixer::none);
    EXPECT_EQ(runs[1].kind.channel, Channel::dense);
    EXPECT_EQ(runs[1].count, 2);
    EXPECT_EQ(runs[2].kind.mixer, Mixer::attention);
    EXPECT_EQ(runs[3].kind.channel, Channel::experts);
    EXPECT_EQ(last_block(model).channel, Channel::dense);
}

TEST(Operators, CountProductsAndNotTheirSums) {
    // Expectation: 3 x 3 taps over 4 of 8 channels for each of 16: 576 weights and 16 biases; at 5 x 5 positions twice 576
    // operations each. An LSTM of 6 on 4 inputs has four gates: 240 weights, two biases each.
    Model model;
    model.nominal_length = 1;
    model.operators = {{.name = "conv",
                        .kind = OperatorKind::convolution,
                        .in = 8,
                        .out = 16,
                        .kernel = 3,
                        .height = 5,
                        .groups = 2,
                        .bias = true},
                       {.name = "lstm", .kind = OperatorKind::recurrent, .in = 4, .out = 6, .height = 7, .bias = true}};
    EXPECT_EQ(count_parameters(model).total, 576.0 + 16.0 + 240.0 + 48.0);
    EXPECT_EQ(forward_flops(model, 1, AttentionConvention::causal).total().base(), 2.0 * 576 * 25 + 2.0 * 240 * 7);
}

TEST(AttentionConventionName, IsWhatResultsSay) {
    EXPECT_EQ(name_of(AttentionConvention::full), "full");
    EXPECT_EQ(name_of(AttentionConvention::causal), "causal");
    EXPECT_EQ(name_of(AttentionConvention::none), "6n");
}

} // namespace
} // namespace headroom
