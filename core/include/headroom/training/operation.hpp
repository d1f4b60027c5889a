#pragma once

#include "headroom/network/collective.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/model.hpp"
#include "headroom/training/strategy.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace headroom::training {

/// Resource that bounds an operation and selects its cost model.
enum class OperationKind {
    gemm,              ///< a matrix product
    grouped_gemm,      ///< `times` products of equal shape in one launch: the experts of a rank
    attention,         ///< a fused attention core
    unfused_attention, ///< the two batched products of an attention core
    memory,            ///< element-wise work: reading and writing
    collective,        ///< communication
    exchange,          ///< tokens to experts or back
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
    experts, ///< the ranks that share the experts of a layer
};
/// Class of element-wise memory traffic, by which the ratio of moved to counted bytes is chosen.
enum class MemoryClass {
    hidden,       ///< h-wide tensors: norms and residuals
    sharded,      ///< queries, keys and values, split over tensor ranks
    feed_forward, ///< activations between the two products, split over tensor ranks
    logits,       ///< the loss over the vocabulary
    cast,         ///< conversions to 8 bits
    scores,       ///< the score matrix of unfused attention
    adapter,      ///< thin products of low-rank adapters, and 16-bit copies of quantised weights
    routing,      ///< sorting tokens by expert and back
    scan,         ///< a state-space scan and the convolution in front of it
    image,        ///< element-wise layers of an operator list
    count_,
};
inline constexpr std::size_t memory_class_count = static_cast<std::size_t>(MemoryClass::count_);

/// One piece of work of one layer and one micro-batch on one rank.
struct Operation {
    std::string_view name;
    OperationKind kind = OperationKind::gemm;
    Phase phase = Phase::forward;
    // gemm: an m x k by k x n product, `times` of them; `bytes` it moves when not those of three plain matrices
    double m = 0, n = 0, k = 0, times = 1;
    // attention: `m` independent heads, n queries against k keys of which each sees `keys`, head dimension d
    double d = 0, keys = 0;
    double limit = 0;
    // memory: bytes moved, counted once for each read and write; collective: total bytes;
    // exchange: `m` tokens of `bytes` each to `n` of `k` experts, in at most `limit` groups of ranks (0: any)
    Bytes bytes = Bytes{};
    MemoryClass memory = MemoryClass::hidden;
    network::Collective collective = network::Collective::all_reduce;
    Traffic traffic = Traffic::none;
    bool weight_gradient = false; ///< backward: nothing waits for it before the update
};

/// The operations of one kind of layer, in their order.
class LayerProgram {
public:
    void add(Operation const& operation) {
        if (operations_.empty()) { operations_.reserve(usual); }
        operations_.push_back(operation);
    }
    [[nodiscard]] std::span<Operation const> operations() const { return operations_; }

private:
    static constexpr std::size_t usual = 32; ///< a dense block's
    std::vector<Operation> operations_;
};

/// Fields of a strategy and a workload that determine the work inside one layer: the key of the layer-cost table.
struct LayerShape {
    double sequence_length = 0; ///< tokens that are computed
    double attended = 0;        ///< tokens that one token could see: the sequence, or a packed document
    int micro_batch = 1;
    int tp = 1;
    int cp = 1;
    int ep = 1, etp = 1;
    double expert_load = 1.0;
    bool sequence_parallel = false;
    ContextExchange exchange = ContextExchange::gather;
    Recompute recompute = Recompute::none;
    int recompute_layers = 0;
    unsigned recomputed = 0;
    Precision precision = Precision::bf16;
    bool gathers = false; ///< weights are gathered block by block: ZeRO-3
    bool alone = false;   ///< by one rank, which FSDP runs as if it were not sharded and DeepSpeed as if it were
    Trained trained = Trained::all;
    int trained_layers = 0;
    unsigned adapter_modules = adapter_module::attention;
    int adapter_rank = 16;
    Overlaps overlap = Overlap::on;
};
LayerShape shape_of(Strategy const& strategy, Workload const& workload);

/// Tokens of one micro-batch that a rank works on: b s / cp.
double tokens_of(LayerShape const& shape);

/// Program of one kind of block, the number of such blocks in the model, and the CPU launch time of one relative to a
/// transformer block.
struct BlockProgram {
    LayerProgram program;
    double count = 0.0;
    std::size_t kind = 0; ///< entries of one kind differ in their recomputation; frozen blocks are kinds of their own
    double issue = 1.0;
    double launches = 0.0;        ///< of a forward pass, where lines of PyTorch issue kernels one by one
    bool routed = false;          ///< has experts: the host handles their counts
    bool recomputes_core = false; ///< the attention core runs again in the backward pass
    double passes = 3.0;          ///< of the forward pass's kernels: 1 forward, 2 backward, 1 more when recomputed
};

/// A training step as a short program: the one list that the closed form adds up, and that a simulation could
/// unroll. Block work is per layer and micro-batch; embedding and head once a micro-batch.
struct StepProgram {
    LayerProgram embedding, head;
    std::vector<BlockProgram> blocks;
    std::vector<BlockProgram> prediction;   ///< multi-token-prediction blocks; computed on the head's stage
    double depth = 1.0;                     ///< layers that share the work of `blocks`
    std::vector<std::size_t> kind_of_block; ///< first to last, where there are several kinds
    std::size_t frozen = 0;                 ///< of the first blocks: they have no backward pass
    double heads_run = 1.0;                 ///< output projections: one, and one for each prediction block
    int heads = 0;                          ///< attention heads of the whole model
};

/// Writes the program of one micro-batch from the model and the shape of the strategy.
StepProgram step_program(Model const& model, LayerShape const& shape, Framework const& framework);

/// Layers that a pipeline can be cut between: those of the model, one for an operator list.
int depth_of(Model const& model);

/// Vocabulary size as the framework allocates it: padded to a multiple of 128 tp if it pads.
double laid_out_vocabulary(Model const& model, int tp, Framework const& framework);

} // namespace headroom::training
