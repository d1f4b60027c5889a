#include "headroom/training/model.hpp"
#include "headroom/training/operation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::training {
namespace {

/// One block of a single part, without norms of a width that hides the rest.
double scan_block(StateSpace const& scan, int hidden) {
    Model model;
    model.hidden = hidden;
    model.layers = 1;
    model.norm_affine = false;
    model.state_space = scan;
    return block_parameters(model, {.mixer = Mixer::state_space, .channel = Channel::none}).all;
}

TEST(ModelScans, EveryRecurrenceIsCountedAsByHand) {
    // 8 (2 x 8 + 2 x 6 + 2 x 4) into, 8 x 8 out, (8 + 12) x 4 taps, decay and step size of 4 heads, a norm of 2
    EXPECT_EQ(scan_block({.kind = ScanKind::gated_delta,
                          .heads = 4,
                          .head_dim = 2,
                          .groups = 2,
                          .state = 3,
                          .convolution_bias = false},
                         8),
              288 + 64 + 80 + 8 + 2);
    // 4 x 16 into, 8 x 4 out, 8 x (1 + 4) and 1 x 8 between, 8 x 5 taps and bias, decay 8 x 2, skip and step size 8 each
    EXPECT_EQ(scan_block({.kind = ScanKind::mamba1, .heads = 8, .head_dim = 1, .state = 2, .rank = 1}, 4),
              64 + 32 + 48 + 40 + 16 + 16);
    // with norms of step size, input and output: 1 + 2 + 2
    EXPECT_EQ(
        scan_block(
            {.kind = ScanKind::mamba1, .heads = 8, .head_dim = 1, .state = 2, .rank = 1, .parameter_norms = true}, 4),
        216 + 5);
    // 8 (8 + 16 + 2 + 8) into, 4 x 8 twice between, 8 x 8 out, 24 x 4 taps, decay 2, step size 8, a norm of 4
    EXPECT_EQ(scan_block({.kind = ScanKind::kimi_delta,
                          .heads = 2,
                          .head_dim = 4,
                          .groups = 2,
                          .state = 4,
                          .rank = 4,
                          .convolution_bias = false},
                         8),
              272 + 64 + 64 + 96 + 14);
    // queries, keys, values and a gate of 8 each, 8 x 8 out, a norm of 8
    EXPECT_EQ(scan_block({.kind = ScanKind::lightning, .heads = 2, .head_dim = 4, .state = 4, .convolution = 0}, 8),
              256 + 64 + 8);
    // 8 x 24 into, 8 x 8 out, 8 x 3 taps
    EXPECT_EQ(
        scan_block(
            {.kind = ScanKind::convolution, .heads = 2, .head_dim = 4, .convolution = 3, .convolution_bias = false}, 8),
        192 + 64 + 24);
}

Model small() {
    Model model;
    model.layers = 4;
    model.hidden = 64;
    model.heads = 8;
    model.kv_heads = 2;
    model.head_dim = 8;
    model.ffn = 128;
    model.vocab = 1000;
    return model;
}

TEST(ModelScans, AttentionOfEveryKindIsCountedAsByHand) {
    Model model = small();
    model.norm_affine = false;
    auto const attention = [&](BlockKind kind = {}) {
        kind.channel = Channel::none;
        return block_parameters(model, kind).all;
    };
    double const common = 64.0 * 64 + 2 * 64 * 16 + 64 * 64;
    EXPECT_EQ(attention(), common);
    EXPECT_EQ(attention({.borrows_keys = true}), 2 * 64.0 * 64);
    EXPECT_EQ(attention({.keys_are_values = true}), common - 64 * 16);
    EXPECT_EQ(attention({.heads = 4, .kv_heads = 1, .head_dim = 16}), 2 * 64.0 * 64 + 2 * 64 * 16);
    EXPECT_EQ(attention({.sinks = true}), common + 8);
    model.output_gate = OutputGate::element;
    EXPECT_EQ(attention(), common + 64 * 64);
    model.output_gate = OutputGate::head;
    EXPECT_EQ(attention(), common + 64 * 8);
    model.output_gate = OutputGate::none;
    model.value_dim = 4; // of 8 heads out, of 2 in
    EXPECT_EQ(attention(), 64.0 * 64 + 64 * 16 + 64 * 8 + 32 * 64);
    model.value_dim = 0;
    model.qkv_bias = true;
    EXPECT_EQ(attention(), common + 64 + 32);
    model.key_bias = false;
    EXPECT_EQ(attention(), common + 64 + 16);
    model.qkv_bias = false;
    model.norm_affine = model.qk_norm = true;
    EXPECT_EQ(attention(), common + 2 * 8 + 64);
    model.qk_norm_whole = true; // a weight for each feature of all heads
    EXPECT_EQ(attention(), common + 64 + 16 + 64);
}

TEST(ModelScans, AnIndexerAddsItsProductsAndLimitsTheKeys) {
    Model model = small();
    double const before = block_parameters(model, {}).all;
    model.indexer = {.heads = 4, .head_dim = 16, .top_k = 100};
    // queries from the input, keys, a weight a head, the layer norm of keys
    EXPECT_EQ(block_parameters(model, {}).all - before, 64 * 64 + 64 * 16 + 64 * 4 + 32);
    EXPECT_EQ(mean_keys(model, {}, 50), 25);
    EXPECT_EQ(mean_keys(model, {}, 200), 100 - 100.0 * 100 / 400);
    EXPECT_EQ(mean_keys(model, {.window = 10}, 200), 10 - 100.0 / 400);
}

TEST(ModelScans, APlanPlacesEachLayerAndNothingElseCounts) {
    Model model = small();
    model.plan = {{}, {.channel = Channel::none}, {}, {.mixer = Mixer::none, .ffn = 32}};
    auto const runs = block_runs(model);
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_EQ(runs[0].count, 2);
    double const attention = 2 * 64.0 * 64 + 2 * 64 * 16, dense = 3 * 64.0 * 128, narrow = 3 * 64.0 * 32;
    EXPECT_EQ(count_parameters(model).total, 3 * attention + 2 * dense + narrow + (2 + 1 + 2 + 1) * 64 + 64 + 128'000);
    model.has_head = false;
    EXPECT_EQ(count_parameters(model).head, 0.0);
    EXPECT_EQ(forward_flops(model, 16, AttentionConvention::causal).head, Flops{});
}

/// Weights of the products of one forward pass.
double weights_of(BlockProgram const& program) {
    double weights = 0.0;
    for (Operation const& one : program.program.operations()) {
        if (one.phase == Phase::forward && one.kind == OperationKind::gemm) { weights += one.n * one.k; }
    }
    return weights;
}

TEST(ModelScans, AProgramMultipliesWithTheWeightsThatAreCounted) {
    // Expectation: two ways to one number: the products that are timed, and the matrices that are counted.
    LayerShape const shape{.sequence_length = 256, .attended = 256};
    auto const agree = [&](Model const& model, char const* what) {
        auto const runs = block_runs(model);
        auto const programs = step_program(model, shape, {}).blocks;
        ASSERT_EQ(runs.size(), programs.size()) << what;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            EXPECT_DOUBLE_EQ(weights_of(programs[i]), block_work(model, runs[i].kind, 1.0).matrix) << what << " " << i;
        }
    };
    for (ScanKind const kind : {ScanKind::mamba2, ScanKind::mamba1, ScanKind::gated_delta, ScanKind::kimi_delta,
                                ScanKind::lightning, ScanKind::convolution}) {
        Model model = small();
        model.state_space = {.kind = kind, .heads = 8, .head_dim = 8, .groups = 2, .state = 16, .rank = 4};
        model.plan = {{.mixer = Mixer::state_space}, {}, {.mixer = Mixer::attention_and_scan}};
        agree(model, "scan");
    }
    Model gated = small();
    gated.output_gate = OutputGate::element;
    gated.value_dim = 4;
    gated.indexer = {.heads = 4, .head_dim = 16, .top_k = 100};
    gated.per_layer_input = 16;
    agree(gated, "gate, indexer, per-layer input");
    Model mixed = small();
    mixed.plan = {{.heads = 4, .kv_heads = 1, .head_dim = 16, .ffn = 64},
                  {.keys_are_values = true},
                  {.borrows_keys = true},
                  {.mixer = Mixer::none}};
    agree(mixed, "layers of several widths");
}

} // namespace
} // namespace headroom::training
