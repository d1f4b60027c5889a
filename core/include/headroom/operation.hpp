#pragma once

#include "headroom/collective.hpp"
#include "headroom/framework.hpp"
#include "headroom/model.hpp"
#include "headroom/strategy.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace headroom {

/// What an operation is bound by, and so how it is priced.
enum class OperationKind {
    gemm,              ///< a matrix product
    attention,         ///< a fused attention core
    unfused_attention, ///< the two batched products of an attention core
    memory,            ///< element-wise work: reading and writing
    collective,        ///< communication
};
/// The pass that an operation belongs to.
enum class Phase {
    forward,
    recompute, ///< the forward pass again, inside the backward pass
    backward,
};
/// Whose group a collective runs over.
enum class Traffic {
    none,    ///< not a collective
    tensor,  ///< the ranks that share a layer's products
    context, ///< the ranks that share a sequence
};
/// What element-wise traffic belongs to: each class has a calibrated ratio to its counted minimum.
enum class MemoryClass {
    hidden,       ///< h-wide tensors: norms and residuals
    sharded,      ///< queries, keys and values, split over tensor ranks
    feed_forward, ///< activations between the two products, split over tensor ranks
    logits,       ///< the loss over the vocabulary
    cast,         ///< conversions to 8 bits
    scores,       ///< the score matrix of unfused attention
    adapter,      ///< thin products of low-rank adapters
    count_,
};
inline constexpr std::size_t memory_class_count = static_cast<std::size_t>(MemoryClass::count_);

/// One piece of work of one layer and one micro-batch on one rank.
struct Operation {
    std::string_view name;
    OperationKind kind = OperationKind::gemm;
    Phase phase = Phase::forward;
    // gemm: an m x k by k x n product, `times` of them
    double m = 0, n = 0, k = 0, times = 1;
    // attention: `m` independent heads, queries n against keys k, head dimension d; causal
    double d = 0;
    // memory: bytes moved, counted once for each read and write; collective: total bytes
    Bytes bytes = Bytes{};
    MemoryClass memory = MemoryClass::hidden;
    Collective collective = Collective::all_reduce;
    Traffic traffic = Traffic::none;
};

/// The operations of one kind of layer: a fixed array and a count, no heap.
class LayerProgram {
public:
    static constexpr int capacity = 56; ///< the longest: sequence and context parallel, unfused, 8 bits, adapters
    void add(Operation const& operation);
    [[nodiscard]] std::span<Operation const> operations() const {
        return {operation_.data(), static_cast<std::size_t>(count_)};
    }

private:
    std::array<Operation, capacity> operation_{};
    int count_ = 0;
};

/// What of a strategy shapes the work inside one layer: the key of the layer-cost table.
struct LayerShape {
    int sequence_length = 0;
    int micro_batch = 1;
    int tp = 1;
    int cp = 1;
    bool sequence_parallel = false;
    Recompute recompute = Recompute::none;
    Precision precision = Precision::bf16;
    Trained trained = Trained::all;
    Overlap overlap = Overlap::on;
};
LayerShape shape_of(Strategy const& strategy, int sequence_length);

/// Tokens of one micro-batch that a rank works on: b s / cp.
double tokens_of(LayerShape const& shape);

/// A training step as a short program: the one list that the closed form adds up, and that a simulation could
/// unroll. Block work is per layer and micro-batch; embedding and head once a micro-batch.
struct StepProgram {
    LayerProgram embedding, block, head;
    int blocks = 0; ///< of the whole model
    int heads = 0;  ///< attention heads of the whole model
};

/// Writes the program of one micro-batch from the model and the shape of the strategy.
StepProgram step_program(Model const& model, LayerShape const& shape, Framework const& framework);

/// The vocabulary as the stack lays it out: padded to a multiple of 128 tp where it pads.
double laid_out_vocabulary(Model const& model, int tp, Framework const& framework);

} // namespace headroom
