#include "support/counting.hpp"
#include "support/training.hpp"

#include "headroom/training/operation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using counting::core_flops;
using counting::product_flops;
using counting::wire_bytes;

/// The one kind of block of a uniform model.
LayerProgram const& block_of(StepProgram const& program) {
    EXPECT_EQ(program.blocks.size(), 1U);
    return program.blocks.front().program;
}
LayerProgram const& block_of(StepProgram&&) = delete;

LayerShape of(Strategy const& strategy, int sequence_length = 2048) {
    return shape_of(strategy, {.sequence_length = sequence_length});
}

std::vector<Operation> operations_of(LayerProgram const& program, Phase phase) {
    std::vector<Operation> result;
    for (auto const& operation : program.operations()) {
        if (operation.phase == phase) { result.push_back(operation); }
    }
    return result;
}

int collectives(LayerProgram const& program, Phase phase, Collective kind) {
    return static_cast<int>(std::ranges::count_if(program.operations(), [&](Operation const& operation) {
        return operation.kind == OperationKind::collective && operation.phase == phase && operation.collective == kind;
    }));
}

Framework fused() { return training::catalog().framework("megatron-core"); }
Framework unfused() { return training::catalog().framework("megatron-2021"); }

TEST(Program, ForwardProductsAreThoseOfTheModel) {
    // Expectation: tp ranks together multiply exactly what `forward_flops` counts for one layer, and that is two
    // operations for each matrix weight and token.
    constexpr int length = 2048, micro_batch = 3;
    for (auto const& model : training::dense_models()) {
        auto const one_sequence = forward_flops(model, length, AttentionConvention::causal);
        for (int const tp : {1, 2, 4, 8}) {
            if (model.kv_heads % tp != 0 || model.heads % tp != 0 || model.ffn % tp != 0) { continue; }
            auto const shape = of({.tp = tp, .micro_batch = micro_batch}, length);
            auto const program = step_program(model, shape, fused());
            double const counted = product_flops(block_of(program), Phase::forward) * tp * model.layers;
            EXPECT_NEAR(counted / (one_sequence.matrix.base() * micro_batch), 1.0, 1e-12) << model.name << " tp " << tp;
            double const h = model.hidden, width = static_cast<double>(model.heads) * model.head_dim;
            double const kv_width = static_cast<double>(model.kv_heads) * model.head_dim;
            double const weights =
                2.0 * h * width + 2.0 * h * kv_width +
                (model.feed_forward == FeedForward::gated ? 3.0 : 2.0) * h * static_cast<double>(model.ffn);
            EXPECT_NEAR(product_flops(block_of(program), Phase::forward) * tp / (2.0 * weights * length * micro_batch),
                        1.0, 1e-12)
                << model.name;
            EXPECT_NEAR(core_flops(block_of(program), Phase::forward) * tp * model.layers /
                            (one_sequence.attention.base() * micro_batch),
                        1.0, 1e-12)
                << model.name;
            EXPECT_EQ(program.blocks.front().count, model.layers);
            EXPECT_EQ(program.depth, model.layers);
        }
    }
}

TEST(Program, TheHeadIsOneProductWithTheVocabulary) {
    Framework framework = fused();
    framework.pads_vocabulary = false;
    for (auto const& model : training::dense_models()) {
        auto const program = step_program(model, of({}, 1024), framework);
        double const expected = forward_flops(model, 1024, AttentionConvention::full).head.base();
        EXPECT_DOUBLE_EQ(product_flops(program.head, Phase::forward), expected) << model.name;
        EXPECT_DOUBLE_EQ(product_flops(program.head, Phase::backward), 2.0 * expected) << model.name;
    }
}

TEST(Program, BackwardIsTwiceForward) {
    // Expectation: each product has one for the gradient of its input and one for that of its weight.
    for (auto const& framework : training::frameworks()) {
        for (auto const& model : training::some_models()) {
            auto const program = step_program(model, of({.micro_batch = 2}), framework);
            EXPECT_DOUBLE_EQ(product_flops(block_of(program), Phase::backward),
                             2.0 * product_flops(block_of(program), Phase::forward))
                << framework.name << " " << model.name;
        }
    }
}

TEST(Program, FullRecomputationRepeatsTheForwardPass) {
    // Expectation: the recomputed operations are the forward ones, each once and in order, and nothing else changes.
    for (auto const& framework : training::frameworks()) {
        LayerShape shape = of({.tp = 2, .cp = 2});
        auto const model = training::catalog().model("llama-3-8b");
        auto const plain = step_program(model, shape, framework);
        shape.recompute = Recompute::full;
        auto const full = step_program(model, shape, framework);
        auto const forward = operations_of(block_of(full), Phase::forward);
        auto const again = operations_of(block_of(full), Phase::recompute);
        ASSERT_EQ(forward.size(), again.size()) << framework.name;
        for (std::size_t i = 0; i < forward.size(); ++i) {
            EXPECT_EQ(forward[i].name, again[i].name);
            EXPECT_EQ(forward[i].m * forward[i].n * forward[i].k, again[i].m * again[i].n * again[i].k);
            EXPECT_EQ(forward[i].bytes, again[i].bytes);
        }
        EXPECT_EQ(block_of(full).operations().size(), block_of(plain).operations().size() + forward.size());
        EXPECT_EQ(full.head.operations().size(), plain.head.operations().size()) << "the head is never recomputed";
    }
}

TEST(Program, SelectiveRecomputationRepeatsOnlyAttention) {
    for (auto const& framework : {fused(), unfused()}) {
        auto const shape = of({.tp = 2, .cp = 2, .recompute = Recompute::selective});
        auto const program = step_program(training::catalog().model("gpt3-13b"), shape, framework);
        EXPECT_EQ(product_flops(block_of(program), Phase::recompute), 0.0) << framework.name;
        EXPECT_EQ(core_flops(block_of(program), Phase::recompute), core_flops(block_of(program), Phase::forward));
        EXPECT_EQ(wire_bytes(block_of(program), Phase::recompute, Traffic::tensor, Ranks{2}), 0.0);
        for (auto const& operation : operations_of(block_of(program), Phase::recompute)) {
            bool const softmax = operation.kind == OperationKind::memory && operation.memory == MemoryClass::scores;
            EXPECT_TRUE(softmax || operation.kind != OperationKind::memory) << operation.name;
        }
    }
}

TEST(Program, AdaptersNeedNoWeightGradients) {
    // Expectation: frozen weights leave the gradient of the input: backward multiplies as much as forward.
    auto const shape = of({.trained = Trained::lora});
    auto const program = step_program(training::catalog().model("llama-3-70b"), shape, fused());
    EXPECT_DOUBLE_EQ(product_flops(block_of(program), Phase::backward),
                     product_flops(block_of(program), Phase::forward));
    EXPECT_DOUBLE_EQ(product_flops(program.head, Phase::backward), product_flops(program.head, Phase::forward));
    auto const is_adapter = [](Operation const& operation) { return operation.memory == MemoryClass::adapter; };
    EXPECT_TRUE(std::ranges::any_of(block_of(program).operations(), is_adapter));
    auto const all = step_program(training::catalog().model("llama-3-70b"), of({}), fused());
    EXPECT_FALSE(std::ranges::any_of(block_of(all).operations(), is_adapter));
}

TEST(Program, ColumnRowPairsReduceTwiceAPass) {
    // Expectation: one all-reduce after attention and one after the feed-forward part, in each direction; sequence
    // parallelism cuts each into a gather and a scatter with the same bytes on the wire, and gathers both kept inputs
    // of column-parallel layers once more for their weight gradients: half again as much backward.
    auto const model = training::catalog().model("gpt3-13b");
    for (int const tp : {2, 4, 8}) {
        LayerShape shape = of({.tp = tp, .micro_batch = 2});
        auto const whole_program = step_program(model, shape, fused());
        shape.sequence_parallel = true;
        auto const split_program = step_program(model, shape, fused());
        auto const& whole = block_of(whole_program);
        auto const& split = block_of(split_program);
        double const vector = 2.0 * 2048 * 2 * model.hidden;
        for (auto const phase : {Phase::forward, Phase::backward}) {
            EXPECT_EQ(collectives(whole, phase, Collective::all_reduce), 2);
            EXPECT_EQ(collectives(split, phase, Collective::all_reduce), 0);
            EXPECT_EQ(collectives(split, phase, Collective::all_gather), phase == Phase::backward ? 4 : 2);
            EXPECT_EQ(collectives(split, phase, Collective::reduce_scatter), 2);
            double const on_the_wire = wire_bytes(whole, phase, Traffic::tensor, Ranks{tp});
            EXPECT_DOUBLE_EQ(on_the_wire, 2.0 * 2.0 * (tp - 1.0) / tp * vector);
            double const again = phase == Phase::backward ? 1.5 : 1.0;
            EXPECT_DOUBLE_EQ(wire_bytes(split, phase, Traffic::tensor, Ranks{tp}), again * on_the_wire);
        }
    }
}

TEST(Program, OneRankSendsNothing) {
    for (auto const& framework : training::frameworks()) {
        auto const program = step_program(training::catalog().model("llama-3-8b"), of({}), framework);
        for (auto const* layer : {&program.embedding, &block_of(program), &program.head}) {
            for (auto const& operation : layer->operations()) {
                EXPECT_NE(operation.kind, OperationKind::collective) << framework.name << ": " << operation.name;
            }
        }
    }
}

TEST(Program, ContextParallelismDividesTheWork) {
    auto const model = training::catalog().model("llama-3-70b");
    LayerShape shape = of({.tp = 2}, 8192);
    auto const whole = step_program(model, shape, fused());
    for (int const cp : {2, 4, 8}) {
        shape.cp = cp;
        auto const part = step_program(model, shape, fused());
        for (auto const phase : {Phase::forward, Phase::backward}) {
            EXPECT_NEAR(product_flops(block_of(part), phase) * cp / product_flops(block_of(whole), phase), 1.0, 1e-12);
            EXPECT_NEAR(core_flops(block_of(part), phase) * cp / core_flops(block_of(whole), phase), 1.0, 1e-12);
            EXPECT_NEAR(product_flops(part.head, phase) * cp / product_flops(whole.head, phase), 1.0, 1e-12);
        }
        // Expectation: each rank receives the keys and values of the c - 1 other parts: 2 s g d w / t of them in all.
        double const keys_and_values = 8192.0 * 2.0 * model.kv_heads * model.head_dim * 2.0 / shape.tp;
        EXPECT_DOUBLE_EQ(wire_bytes(block_of(part), Phase::forward, Traffic::context, Ranks{cp}),
                         (cp - 1.0) / cp * keys_and_values);
        EXPECT_DOUBLE_EQ(wire_bytes(block_of(part), Phase::backward, Traffic::context, Ranks{cp}),
                         2.0 * (cp - 1.0) / cp * keys_and_values);
    }
}

TEST(Program, EightBitProductsConvertTheirInputs) {
    auto const model = training::catalog().model("llama-3-8b");
    auto const casts = [&](Precision precision) {
        auto const program = step_program(model, of({.precision = precision}), fused());
        return std::ranges::count(block_of(program).operations(), MemoryClass::cast, &Operation::memory);
    };
    for (auto const precision : {Precision::fp8, Precision::mxfp8, Precision::nvfp4}) {
        EXPECT_EQ(casts(precision), 2);
    }
    for (auto const precision : {Precision::bf16, Precision::fp16, Precision::tf32}) { EXPECT_EQ(casts(precision), 0); }
}

TEST(Program, UnfusedAttentionWritesTheScores) {
    // Expectation: a score for each head, query and key, of two bytes; fused attention never writes them.
    auto const model = training::catalog().model("gpt3-13b");
    double bytes = 0.0;
    auto const scored = step_program(model, of({.tp = 4}), unfused());
    for (auto const& operation : block_of(scored).operations()) {
        if (operation.memory == MemoryClass::scores && operation.phase == Phase::forward) {
            bytes += operation.bytes.base();
        }
    }
    EXPECT_DOUBLE_EQ(bytes, 2.0 * model.heads / 4.0 * 2048 * 2048);
    auto const program = step_program(model, of({}), fused());
    EXPECT_EQ(std::ranges::count(block_of(program).operations(), MemoryClass::scores, &Operation::memory), 0);
}

TEST(Program, PadsTheVocabularyToATileOfEachRank) {
    // Expectation: 50257 words on 8 ranks fill up to a multiple of 1024, 50 of them.
    Model model;
    model.vocab = 50257;
    Framework framework;
    framework.pads_vocabulary = true;
    EXPECT_EQ(laid_out_vocabulary(model, 1, framework), 50304.0);
    EXPECT_EQ(laid_out_vocabulary(model, 8, framework), 51200.0);
    framework.pads_vocabulary = false;
    EXPECT_EQ(laid_out_vocabulary(model, 8, framework), 50257.0);
}

TEST(Program, TokensGoToTheirExpertsAndBack) {
    // Expectation: a router over 8, two of 8 experts of 14336 for each of 2048 tokens, four experts on each of two ranks: a
    // rank multiplies 1024 x 2 rows of each of its own tokens' copies, sent by either rank, and sends 4096 numbers a copy.
    auto const model = training::catalog().model("mixtral-8x7b");
    auto const program = step_program(model, of({.dp = 2, .ep = 2}), fused());
    int exchanges = 0;
    for (auto const& o : operations_of(block_of(program), Phase::forward)) {
        if (o.kind == OperationKind::grouped_gemm) {
            EXPECT_EQ(o.m, 2048.0 * 2 * 2 / 8); // tokens x copies x ranks / experts
            EXPECT_EQ(o.times, 4.0);
        }
        if (o.kind == OperationKind::exchange) {
            ++exchanges;
            EXPECT_EQ(o.m, 2048.0);
            EXPECT_EQ(o.n, 2.0);
            EXPECT_EQ(o.bytes.base(), 4096.0 * 2);
        }
        if (o.name == "router") { EXPECT_EQ(o.n, 8.0); }
    }
    EXPECT_EQ(exchanges, 2);
    EXPECT_TRUE(program.blocks.front().routed);
}

TEST(Program, SlicesOfTokensComeTogetherAgain) {
    // Expectation: tensor ranks that do not split the sequence send a slice of the tokens each and need the outputs of all,
    // forward and backward, whether experts are whole or cut; where no token is sent the sum of outputs is on all of them.
    auto const model = training::catalog().model("mixtral-8x7b");
    auto const gathers = [&](Strategy const& strategy, Phase phase) {
        auto const program = step_program(model, of(strategy), fused());
        auto const operations = operations_of(block_of(program), phase);
        return std::ranges::count(operations, "put slices of tokens together", &Operation::name);
    };
    for (Phase const phase : {Phase::forward, Phase::backward}) {
        EXPECT_EQ(gathers({.dp = 2, .tp = 2, .ep = 2}, phase), 1);
        EXPECT_EQ(gathers({.dp = 2, .tp = 2, .ep = 2, .etp = 2}, phase), 1);
        EXPECT_EQ(gathers({.dp = 2, .tp = 2, .etp = 2}, phase), 0);
        EXPECT_EQ(gathers({.dp = 2, .tp = 2, .ep = 2, .etp = 2, .sequence_parallel = true}, phase), 0);
    }
}

TEST(Program, DecodersReadTheEncoder) {
    // Expectation: a quarter as many tokens in the decoder; its second attention has their queries and all keys of the
    // encoder, and is computed again where only cores are.
    Model model = training::catalog().model("gpt3-13b");
    model.layers = 2;
    model.encoder_layers = 1;
    model.decoder_length = 0.25;
    auto const program = step_program(model, of({.recompute = Recompute::selective}), fused());
    ASSERT_EQ(program.blocks.size(), 2U);
    int cores = 0, again = 0;
    for (auto const& o : program.blocks.back().program.operations()) {
        if (o.kind != OperationKind::attention) { continue; }
        bool const cross = o.name == "cross attention core";
        EXPECT_EQ(o.n, 512.0) << o.name;
        EXPECT_EQ(o.keys, cross ? 2048.0 : 256.0) << o.name;
        cores += o.phase == Phase::forward ? 1 : 0;
        again += o.phase == Phase::recompute ? 1 : 0;
    }
    EXPECT_EQ(cores, 2);
    EXPECT_EQ(again, 2);
    for (auto const& o : program.blocks.front().program.operations()) {
        if (o.kind == OperationKind::attention) { EXPECT_EQ(o.keys, 2048.0) << "an encoder sees everything"; }
    }
}

TEST(Program, FrozenBlocksRunForwardOnly) {
    // Expectation: of 80 layers 20 are trained: the same block three times over, 60 of it without a backward pass.
    Strategy strategy{.recompute = Recompute::full, .recompute_layers = 5, .trained = Trained::last_layers};
    strategy.trained_layers = 20;
    auto const program = step_program(training::catalog().model("llama-3-70b"), of(strategy), fused());
    ASSERT_EQ(program.blocks.size(), 3U);
    double count = 0.0;
    for (auto const& run : program.blocks) {
        bool const backward = product_flops(run.program, Phase::backward) > 0.0;
        bool const again = product_flops(run.program, Phase::recompute) > 0.0;
        EXPECT_NEAR(run.count, again ? 5.0 : backward ? 15.0 : 60.0, 1e-9);
        EXPECT_EQ(run.passes, again ? 4.0 : backward ? 3.0 : 1.0);
        count += run.count;
    }
    EXPECT_NEAR(count, 80.0, 1e-9);
}

TEST(Program, TheShapeIsThatOfTheStrategy) {
    Strategy const strategy{.dp = 3,
                            .tp = 4,
                            .pp = 5,
                            .cp = 2,
                            .ep = 6,
                            .etp = 4,
                            .micro_batch = 7,
                            .sequence_parallel = true,
                            .recompute = Recompute::selective,
                            .recompute_layers = 9,
                            .precision = Precision::fp8,
                            .overlap = Overlap::off,
                            .exchange = ContextExchange::ring,
                            .trained = Trained::lora,
                            .capacity = 1.5};
    auto const shape =
        shape_of(strategy, {.sequence_length = 4096, .documents = 1000.0, .fill = 0.5, .expert_skew = 3.0});
    EXPECT_EQ(shape.sequence_length, 2048); // what is not padding
    EXPECT_EQ(shape.attended, 1000);
    EXPECT_EQ(shape.micro_batch, 7);
    EXPECT_EQ(shape.tp, 4);
    EXPECT_EQ(shape.cp, 2);
    EXPECT_EQ(shape.ep, 6);
    EXPECT_EQ(shape.etp, 4);
    EXPECT_EQ(shape.expert_load, 1.5);
    EXPECT_TRUE(shape.sequence_parallel);
    EXPECT_EQ(shape.exchange, ContextExchange::ring);
    EXPECT_EQ(shape.recompute, Recompute::selective);
    EXPECT_EQ(shape.recompute_layers, 9);
    EXPECT_EQ(shape.precision, Precision::fp8);
    EXPECT_EQ(shape.overlap, Overlap::off);
    EXPECT_EQ(shape.trained, Trained::lora);
    EXPECT_EQ(tokens_of(shape), 7 * 2048.0 / 2);
}

} // namespace
} // namespace headroom
