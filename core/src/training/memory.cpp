#include "headroom/memory.hpp"

#include "stage.hpp"

#include <algorithm>

namespace headroom {
namespace {

struct BlockActivations {
    double kept; ///< bytes kept for the backward pass
    double all;  ///< bytes alive while one block is recomputed
};

/// Bytes of the cross entropy's 32-bit copy of a logit, in whose place its gradient is written.
constexpr double loss_bytes = 4.0;
/// Row statistics of fused attention: the logarithm of a sum in 32 bits. Source: [Dao2022]
constexpr double statistics_bytes = 4.0;
/// Elements of a gradient bucket: Megatron's default. Source: [MegatronLM]
constexpr double bucket_elements = 40e6;

/// A process takes a context, the buffers of the collective library and workspaces: about 2 GiB on a data-centre
/// part, less on a small one. Guesses; docs/guide/step-model.md shows them as such.
constexpr Bytes runtime_bytes = 2.0 * units::GiB;
constexpr Bytes runtime_bytes_of_small_parts = 1.0 * units::GiB;
constexpr Bytes largest_small_part = 24.0 * units::GiB;
/// What a caching allocator can hand out of the rest: 3 % is lost to fragmentation, a guess as well.
constexpr double allocator_yield = 0.97;

/// Tensor by tensor, bytes per token: inputs of both norms and of both linear pairs are h wide, the
/// rest is split over tensor ranks.
BlockActivations block_activations(Model const& model, LayerShape const& shape, Framework const& framework) {
    double const t = shape.tp;
    double const e = element_bytes(shape.precision);
    double const tokens = tokens_of(shape);
    double const h = model.hidden;
    double const query = static_cast<double>(model.heads) * model.head_dim / t;
    double const keys = std::max(1.0, model.kv_heads / t) * model.head_dim;
    double const branches = model.feed_forward == FeedForward::gated ? 2.0 : 1.0;
    double const h_split = shape.sequence_parallel ? t : 1.0;

    // inputs of linear layers are kept as the products read them; attention keeps its output besides
    double const linear = std::max(1.0, operand_bytes(shape.precision));
    double const wide = (2.0 * e + 2.0 * linear) * h / h_split;
    double const attention = e * (2.0 * query + 2.0 * keys) + (linear < e ? linear * query : 0.0);
    double const feed_forward = (e * branches + linear) * model.ffn / t;
    double scores = 0.0;
    double statistics = statistics_bytes * model.heads / t;
    if (framework.attention == AttentionKernel::unfused) {
        scores = (2.0 * e + 1.0) * (model.heads / t) * shape.sequence_length; // softmax, its mask, its dropped copy
        statistics = 0.0;
    }
    double const all = tokens * (wide + attention + feed_forward + scores + statistics);
    double kept = all;
    if (shape.recompute == Recompute::selective) { kept = all - tokens * scores; }
    if (shape.recompute == Recompute::full) { kept = tokens * e * h / h_split; }
    return {kept, all};
}

/// Logits of the last stage in the working format, and what the loss keeps beside them.
double logit_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    return tokens_of(shape) * laid_out_vocabulary(model, shape.tp, framework) / shape.tp *
           (element_bytes(shape.precision) + loss_bytes);
}

/// Parameters of one rank of a stage before any data-parallel sharding. A single stage keeps a tied table once.
double stage_parameters(Model const& model, ParameterCount const& count, Strategy const& strategy, int stage) {
    double const blocks = count.layer * model.layers / strategy.pp;
    bool const first = stage == 0;
    bool const last = stage == strategy.pp - 1;
    double ends = 0.0;
    if (first) { ends += count.embedding; }
    if (last) { ends += count.final_norm + (first ? count.head : output_parameters(model, count)); }
    return (blocks + ends) / strategy.tp;
}

/// ZeRO-3: the block in use and the next one, gathered, and one block's gradients. Else a gradient bucket, where
/// there is anyone to send it to.
Bytes buffer_bytes(Framework const& framework, Strategy const& strategy, double stage_parameters,
                   double block_parameters) {
    if (strategy.zero == 3) {
        return Bytes{block_parameters *
                     (2.0 * gathered_bytes(framework, strategy.precision) + framework.reduced_bytes)};
    }
    if (strategy.data_ranks() == 1) { return Bytes{}; }
    return Bytes{std::min(stage_parameters, bucket_elements) * framework.reduced_bytes};
}

MemoryUse stage_memory(StepSetting const& setting, Strategy const& strategy, ParameterCount const& count,
                       BlockActivations const& block, double logits, int stage, int micro_batches) {
    auto const& framework = setting.framework;
    double const n = stage_parameters(setting.model, count, strategy, stage);
    double const trained = trained_share(strategy);
    auto const shards = shards_of(strategy);

    MemoryUse use;
    use.stage = stage;
    use.weights = Bytes{framework.parameter_bytes * n / shards.weights};
    use.gradients = Bytes{framework.gradient_bytes * trained * n / shards.gradients};
    use.optimizer = Bytes{framework.optimizer_bytes * trained * n / shards.optimizer};
    double const blocks_here = static_cast<double>(setting.model.layers) / strategy.pp;
    double const in_flight = micro_batches_in_flight(strategy, stage, micro_batches);
    double activations = block.kept * blocks_here * in_flight;
    if (strategy.recompute != Recompute::none) { activations += block.all - block.kept; } // the block being recomputed
    if (stage == strategy.pp - 1) { activations += logits; }
    use.activations = Bytes{activations};
    use.buffers = buffer_bytes(framework, strategy, n, count.layer / strategy.tp);
    return use;
}

} // namespace

Bytes block_activation_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    return Bytes{block_activations(model, shape, framework).kept};
}

double micro_batches_in_flight(Strategy const& strategy, int stage, int micro_batches) {
    double const p = strategy.pp;
    double const held = std::min<double>(micro_batches, p - stage);
    if (strategy.pp == 1 || strategy.virtual_pp == 1) { return held; }
    // interleaved: the first stage holds p (1 + (p-1)/(p v)); a later one two chunks less a stage
    double const v = strategy.virtual_pp;
    double const chunks = (v - 1.0) * p + 1.0 + 2.0 * (p - 1.0 - stage);
    return std::min<double>(micro_batches, std::max(1.0, chunks / v));
}

MemoryUse memory_use(StepSetting const& setting, Strategy const& strategy) {
    auto const count = count_parameters(setting.model);
    auto const shape = shape_of(strategy, setting.workload.sequence_length);
    auto const block = block_activations(setting.model, shape, setting.framework);
    double const logits = logit_bytes(setting.model, shape, setting.framework);
    int const micro_batches = whole_micro_batches(strategy, setting.workload);
    auto const first = stage_memory(setting, strategy, count, block, logits, 0, micro_batches);
    if (strategy.pp == 1) { return first; }
    auto const last = stage_memory(setting, strategy, count, block, logits, strategy.pp - 1, micro_batches);
    return last.total() > first.total() ? last : first;
}

Bytes usable_memory(Accelerator const& accelerator) {
    bool const small = accelerator.memory <= largest_small_part;
    return (accelerator.memory - (small ? runtime_bytes_of_small_parts : runtime_bytes)) * allocator_yield;
}

} // namespace headroom
