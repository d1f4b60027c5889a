#include "headroom/memory.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

struct BlockActivations {
    double kept; ///< bytes kept for the backward pass
    double all;  ///< bytes alive while one block is recomputed
};

/// Tensor by tensor, bytes per token: inputs of both norms and of both linear pairs are h wide, the
/// rest is split over tensor ranks.
BlockActivations block_activations(Model const& model, LayerShape const& shape, Framework const& framework) {
    double const t = shape.tp;
    double const e = element_bytes(shape.precision);
    double const tokens = static_cast<double>(shape.micro_batch) * shape.sequence_length / shape.cp;
    double const h = model.hidden;
    double const query = static_cast<double>(model.heads) * model.head_dim / t;
    double const keys = std::max(1.0, model.kv_heads / t) * model.head_dim;
    double const branches = model.feed_forward == FeedForward::gated ? 2.0 : 1.0;
    double const h_split = shape.sequence_parallel ? t : 1.0;

    double const wide = 4.0 * e * h / h_split;
    double const attention = e * (2.0 * query + 2.0 * keys);
    double const feed_forward = e * (branches + 1.0) * model.ffn / t;
    double scores = 0.0;
    double statistics = 4.0 * model.heads / t;
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

/// Logits in 16 bits, their 32-bit copy and its gradient.
double logit_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    double const tokens = static_cast<double>(shape.micro_batch) * shape.sequence_length / shape.cp;
    return tokens * laid_out_vocabulary(model, shape.tp, framework) / shape.tp * (element_bytes(shape.precision) + 4.0);
}

struct StageParameters {
    double local, blocks;
};

StageParameters stage_parameters(Model const& model, ParameterCount const& count, Strategy const& strategy, int stage) {
    double const blocks = count.layer * model.layers / strategy.pp;
    bool const first = stage == 0;
    bool const last = stage == strategy.pp - 1;
    double ends = 0.0;
    if (first) { ends += count.embedding; }
    if (last) {
        ends += count.final_norm +
                (first ? count.head
                       : std::max(count.head,
                                  model.tied_embeddings ? static_cast<double>(model.vocab) * model.hidden : 0.0));
    }
    return {(blocks + ends) / strategy.tp, count.layer / strategy.tp};
}

MemoryUse stage_memory(StepSetting const& setting, Strategy const& strategy, ParameterCount const& count,
                       BlockActivations const& block, double logits, int stage, int micro_batches) {
    auto const& framework = setting.framework;
    auto const parameters = stage_parameters(setting.model, count, strategy, stage);
    double const data = static_cast<double>(strategy.dp) * strategy.cp;
    double const shards = strategy.zero == 3 ? (strategy.shard > 0 ? strategy.shard : data) : 1.0;
    double const trained = strategy.trained == Trained::adapters ? 0.005 : 1.0;
    double const n = parameters.local;

    MemoryUse use;
    use.stage = stage;
    use.weights = Bytes{framework.parameter_bytes * n / shards};
    use.gradients = Bytes{framework.gradient_bytes * trained * n / (strategy.zero == 2 ? data : shards)};
    use.optimizer = Bytes{framework.optimizer_bytes * trained * n /
                          (strategy.zero == 3   ? shards
                           : strategy.zero >= 1 ? data
                                                : 1.0)};
    double const blocks_here = static_cast<double>(setting.model.layers) / strategy.pp;
    double const in_flight = micro_batches_in_flight(strategy, stage, micro_batches);
    double activations = block.kept * blocks_here * in_flight;
    if (strategy.recompute != Recompute::none) { activations += block.all - block.kept; } // the block being recomputed
    if (stage == strategy.pp - 1) { activations += logits; }
    use.activations = Bytes{activations};
    if (strategy.zero == 3) { // the block in use and the next one, gathered, and one block's gradients
        use.buffers =
            Bytes{parameters.blocks * (2.0 * std::min(framework.parameter_bytes, element_bytes(strategy.precision)) +
                                       framework.reduced_bytes)};
    } else if (data > 1.0) {
        constexpr double bucket_elements = 40e6; // Megatron's default bucket
        use.buffers = Bytes{std::min(n, bucket_elements) * framework.reduced_bytes};
    }
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
    int const micro_batches = static_cast<int>(micro_batch_count(strategy, setting.workload));
    auto const first = stage_memory(setting, strategy, count, block, logits, 0, micro_batches);
    if (strategy.pp == 1) { return first; }
    auto const last = stage_memory(setting, strategy, count, block, logits, strategy.pp - 1, micro_batches);
    return last.total() > first.total() ? last : first;
}

Bytes usable_memory(Accelerator const& accelerator) {
    // A CUDA context, NCCL's buffers and cuBLAS workspaces take 2 GiB on a large part, and the caching
    // allocator loses some 3 % to fragmentation; see docs/guide/step-model.md.
    Bytes const fixed = accelerator.memory > 24.0 * units::GiB ? 2.0 * units::GiB : 1.0 * units::GiB;
    return (accelerator.memory - fixed) * 0.97;
}

} // namespace headroom
