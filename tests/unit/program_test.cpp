#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/operation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {
namespace {

double product_flops(LayerProgram const& program, Phase phase) {
    double sum = 0.0;
    for (auto const& operation : program.operations()) {
        if (operation.kind == OperationKind::gemm && operation.phase == phase) {
            sum += 2.0 * operation.m * operation.n * operation.k * operation.times;
        }
    }
    return sum;
}

/// Scores and context of the attention core over the whole square.
double attention_flops(LayerProgram const& program, Phase phase) {
    double sum = 0.0;
    for (auto const& operation : program.operations()) {
        bool const core =
            operation.kind == OperationKind::attention || operation.kind == OperationKind::unfused_attention;
        if (core && operation.phase == phase) { sum += 4.0 * operation.m * operation.n * operation.k * operation.d; }
    }
    return sum;
}

std::vector<Operation> operations_of(LayerProgram const& program, Phase phase) {
    std::vector<Operation> result;
    for (auto const& operation : program.operations()) {
        if (operation.phase == phase) { result.push_back(operation); }
    }
    return result;
}

/// Bytes that one rank puts on the wire for the collectives of one kind of traffic, by ring formulas.
double wire_bytes(LayerProgram const& program, Phase phase, Traffic traffic, Ranks ranks) {
    double sum = 0.0;
    for (auto const& operation : program.operations()) {
        if (operation.kind != OperationKind::collective || operation.phase != phase || operation.traffic != traffic) {
            continue;
        }
        double const both = ring_all_reduce_bytes({operation.bytes}, ranks).base();
        sum += operation.collective == Collective::all_reduce ? both : both / 2.0;
    }
    return sum;
}

int collectives(LayerProgram const& program, Phase phase, Collective kind) {
    return static_cast<int>(std::ranges::count_if(program.operations(), [&](Operation const& operation) {
        return operation.kind == OperationKind::collective && operation.phase == phase && operation.collective == kind;
    }));
}

Framework fused() { return training::catalog().framework("megatron-core"); }
Framework unfused() { return training::catalog().framework("megatron-2021"); }

TEST(Program, HoldsEveryShape) {
    // Expectation: no combination of features overflows the fixed array of operations, because each is legal.
    auto const model = training::catalog().model("llama-3-8b");
    for (auto const& framework : training::frameworks()) {
        for (auto const recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
            for (auto const precision : {Precision::bf16, Precision::fp8, Precision::nvfp4}) {
                for (auto const trained : {Trained::all, Trained::adapters}) {
                    LayerShape const shape{.sequence_length = 4096,
                                           .tp = 2,
                                           .cp = 2,
                                           .sequence_parallel = true,
                                           .recompute = recompute,
                                           .precision = precision,
                                           .trained = trained};
                    EXPECT_NO_THROW(step_program(model, shape, framework))
                        << framework.name << ", recompute " << name_of(recompute) << ", " << name_of(precision);
                }
            }
        }
    }
}

TEST(Program, AFullArrayRefusesMore) {
    LayerProgram program;
    for (int i = 0; i < LayerProgram::capacity; ++i) { program.add({}); }
    EXPECT_EQ(program.operations().size(), static_cast<std::size_t>(LayerProgram::capacity));
    EXPECT_THROW(program.add({}), ContractError);
}

TEST(Program, ForwardProductsAreThoseOfTheModel) {
    // Expectation: tp ranks together multiply exactly what `forward_flops` counts for one layer, and that is two
    // operations for each matrix weight and token.
    constexpr int length = 2048, micro_batch = 3;
    for (auto const& model : training::dense_models()) {
        auto const one_sequence = forward_flops(model, length, AttentionConvention::causal);
        for (int const tp : {1, 2, 4, 8}) {
            if (model.kv_heads % tp != 0 || model.heads % tp != 0 || model.ffn % tp != 0) { continue; }
            LayerShape const shape{.sequence_length = length, .micro_batch = micro_batch, .tp = tp};
            auto const program = step_program(model, shape, fused());
            double const counted = product_flops(program.block, Phase::forward) * tp * model.layers;
            EXPECT_NEAR(counted / (one_sequence.matrix.base() * micro_batch), 1.0, 1e-12) << model.name << " tp " << tp;
            double const h = model.hidden, width = static_cast<double>(model.heads) * model.head_dim;
            double const kv_width = static_cast<double>(model.kv_heads) * model.head_dim;
            double const weights =
                2.0 * h * width + 2.0 * h * kv_width +
                (model.feed_forward == FeedForward::gated ? 3.0 : 2.0) * h * static_cast<double>(model.ffn);
            EXPECT_NEAR(product_flops(program.block, Phase::forward) * tp / (2.0 * weights * length * micro_batch), 1.0,
                        1e-12)
                << model.name;
            EXPECT_NEAR(0.5 * attention_flops(program.block, Phase::forward) * tp * model.layers /
                            (one_sequence.attention.base() * micro_batch),
                        1.0, 1e-12)
                << model.name;
            EXPECT_EQ(program.blocks, model.layers);
        }
    }
}

TEST(Program, TheHeadIsOneProductWithTheVocabulary) {
    Framework framework = fused();
    framework.pads_vocabulary = false;
    for (auto const& model : training::dense_models()) {
        auto const program = step_program(model, {.sequence_length = 1024}, framework);
        double const expected = forward_flops(model, 1024, AttentionConvention::full).head.base();
        EXPECT_DOUBLE_EQ(product_flops(program.head, Phase::forward), expected) << model.name;
        EXPECT_DOUBLE_EQ(product_flops(program.head, Phase::backward), 2.0 * expected) << model.name;
    }
}

TEST(Program, BackwardIsTwiceForward) {
    // Expectation: each product has one for the gradient of its input and one for that of its weight.
    for (auto const& framework : training::frameworks()) {
        for (auto const& model : training::some_models()) {
            auto const program = step_program(model, {.sequence_length = 2048, .micro_batch = 2}, framework);
            EXPECT_DOUBLE_EQ(product_flops(program.block, Phase::backward),
                             2.0 * product_flops(program.block, Phase::forward))
                << framework.name << " " << model.name;
        }
    }
}

TEST(Program, FullRecomputationRepeatsTheForwardPass) {
    // Expectation: the recomputed operations are the forward ones, each once and in order, and nothing else changes.
    for (auto const& framework : training::frameworks()) {
        LayerShape shape{.sequence_length = 2048, .tp = 2, .cp = 2};
        auto const model = training::catalog().model("llama-3-8b");
        auto const plain = step_program(model, shape, framework);
        shape.recompute = Recompute::full;
        auto const full = step_program(model, shape, framework);
        auto const forward = operations_of(full.block, Phase::forward);
        auto const again = operations_of(full.block, Phase::recompute);
        ASSERT_EQ(forward.size(), again.size()) << framework.name;
        for (std::size_t i = 0; i < forward.size(); ++i) {
            EXPECT_EQ(forward[i].name, again[i].name);
            EXPECT_EQ(forward[i].m * forward[i].n * forward[i].k, again[i].m * again[i].n * again[i].k);
            EXPECT_EQ(forward[i].bytes, again[i].bytes);
        }
        EXPECT_EQ(full.block.operations().size(), plain.block.operations().size() + forward.size());
        EXPECT_EQ(full.head.operations().size(), plain.head.operations().size()) << "the head is never recomputed";
    }
}

TEST(Program, SelectiveRecomputationRepeatsOnlyAttention) {
    for (auto const& framework : {fused(), unfused()}) {
        LayerShape const shape{.sequence_length = 2048, .tp = 2, .cp = 2, .recompute = Recompute::selective};
        auto const program = step_program(training::catalog().model("gpt3-13b"), shape, framework);
        EXPECT_EQ(product_flops(program.block, Phase::recompute), 0.0) << framework.name;
        EXPECT_EQ(attention_flops(program.block, Phase::recompute), attention_flops(program.block, Phase::forward));
        EXPECT_EQ(wire_bytes(program.block, Phase::recompute, Traffic::tensor, Ranks{2}), 0.0);
        for (auto const& operation : operations_of(program.block, Phase::recompute)) {
            bool const softmax = operation.kind == OperationKind::memory && operation.memory == MemoryClass::scores;
            EXPECT_TRUE(softmax || operation.kind != OperationKind::memory) << operation.name;
        }
    }
}

TEST(Program, AdaptersNeedNoWeightGradients) {
    // Expectation: frozen weights leave the gradient of the input: backward multiplies as much as forward.
    LayerShape const shape{.sequence_length = 2048, .trained = Trained::adapters};
    auto const program = step_program(training::catalog().model("llama-3-70b"), shape, fused());
    EXPECT_DOUBLE_EQ(product_flops(program.block, Phase::backward), product_flops(program.block, Phase::forward));
    EXPECT_DOUBLE_EQ(product_flops(program.head, Phase::backward), product_flops(program.head, Phase::forward));
    auto const is_adapter = [](Operation const& operation) { return operation.memory == MemoryClass::adapter; };
    EXPECT_TRUE(std::ranges::any_of(program.block.operations(), is_adapter));
    auto const all = step_program(training::catalog().model("llama-3-70b"), {.sequence_length = 2048}, fused());
    EXPECT_FALSE(std::ranges::any_of(all.block.operations(), is_adapter));
}

TEST(Program, ColumnRowPairsReduceTwiceAPass) {
    // Expectation: one all-reduce after attention and one after the feed-forward part, in each direction; sequence
    // parallelism cuts each into a gather and a scatter with the same bytes on the wire, and gathers both kept inputs
    // of column-parallel layers once more for their weight gradients: half again as much backward.
    auto const model = training::catalog().model("gpt3-13b");
    for (int const tp : {2, 4, 8}) {
        LayerShape shape{.sequence_length = 2048, .micro_batch = 2, .tp = tp};
        auto const whole = step_program(model, shape, fused()).block;
        shape.sequence_parallel = true;
        auto const split = step_program(model, shape, fused()).block;
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
        for (auto const& program :
             {step_program(training::catalog().model("llama-3-8b"), {.sequence_length = 2048}, framework)}) {
            for (auto const* layer : {&program.embedding, &program.block, &program.head}) {
                for (auto const& operation : layer->operations()) {
                    EXPECT_NE(operation.kind, OperationKind::collective) << framework.name << ": " << operation.name;
                }
            }
        }
    }
}

TEST(Program, ContextParallelismDividesTheWork) {
    auto const model = training::catalog().model("llama-3-70b");
    LayerShape shape{.sequence_length = 8192, .tp = 2};
    auto const whole = step_program(model, shape, fused());
    for (int const cp : {2, 4, 8}) {
        shape.cp = cp;
        auto const part = step_program(model, shape, fused());
        for (auto const phase : {Phase::forward, Phase::backward}) {
            EXPECT_NEAR(product_flops(part.block, phase) * cp / product_flops(whole.block, phase), 1.0, 1e-12);
            EXPECT_NEAR(attention_flops(part.block, phase) * cp / attention_flops(whole.block, phase), 1.0, 1e-12);
            EXPECT_NEAR(product_flops(part.head, phase) * cp / product_flops(whole.head, phase), 1.0, 1e-12);
        }
        // Expectation: each rank receives the keys and values of the c - 1 other parts: 2 s g d w / t of them in all.
        double const keys_and_values = 8192.0 * 2.0 * model.kv_heads * model.head_dim * 2.0 / shape.tp;
        EXPECT_DOUBLE_EQ(wire_bytes(part.block, Phase::forward, Traffic::context, Ranks{cp}),
                         (cp - 1.0) / cp * keys_and_values);
        EXPECT_DOUBLE_EQ(wire_bytes(part.block, Phase::backward, Traffic::context, Ranks{cp}),
                         2.0 * (cp - 1.0) / cp * keys_and_values);
    }
}

TEST(Program, EightBitProductsConvertTheirInputs) {
    auto const model = training::catalog().model("llama-3-8b");
    auto const casts = [&](Precision precision) {
        auto const program = step_program(model, {.sequence_length = 2048, .precision = precision}, fused());
        return std::ranges::count(program.block.operations(), MemoryClass::cast, &Operation::memory);
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
    auto const scored = step_program(model, {.sequence_length = 2048, .tp = 4}, unfused());
    for (auto const& operation : scored.block.operations()) {
        if (operation.memory == MemoryClass::scores && operation.phase == Phase::forward) {
            bytes += operation.bytes.base();
        }
    }
    EXPECT_DOUBLE_EQ(bytes, 2.0 * model.heads / 4.0 * 2048 * 2048);
    auto const program = step_program(model, {.sequence_length = 2048}, fused());
    EXPECT_EQ(std::ranges::count(program.block.operations(), MemoryClass::scores, &Operation::memory), 0);
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

TEST(Program, TheShapeIsThatOfTheStrategy) {
    Strategy const strategy{.dp = 3,
                            .tp = 4,
                            .pp = 5,
                            .cp = 2,
                            .micro_batch = 7,
                            .sequence_parallel = true,
                            .recompute = Recompute::selective,
                            .precision = Precision::fp8,
                            .trained = Trained::adapters};
    auto const shape = shape_of(strategy, 4096);
    EXPECT_EQ(shape.sequence_length, 4096);
    EXPECT_EQ(shape.micro_batch, 7);
    EXPECT_EQ(shape.tp, 4);
    EXPECT_EQ(shape.cp, 2);
    EXPECT_TRUE(shape.sequence_parallel);
    EXPECT_EQ(shape.recompute, Recompute::selective);
    EXPECT_EQ(shape.precision, Precision::fp8);
    EXPECT_EQ(shape.trained, Trained::adapters);
}

} // namespace
} // namespace headroom
