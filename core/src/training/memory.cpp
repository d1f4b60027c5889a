#include "headroom/memory.hpp"

#include "stage.hpp"

#include "headroom/compression.hpp"
#include "headroom/local_updates.hpp"

#include <algorithm>

namespace headroom {
namespace {

/// Bytes that one block keeps for the backward pass, and would keep without recomputation.
struct BlockBytes {
    double kept, all;
};

/// The same of all blocks.
struct BlockActivations {
    double kept = 0.0;       ///< the mean of all blocks
    double trained = 0.0;    ///< of those that have a backward pass
    double again = 0.0;      ///< alive besides while the largest of them is recomputed
    double spared = 0.0;     ///< of the mean block, what is computed again
    double recomputed = 0.0; ///< share of the blocks that are
    double ahead = 0.0;      ///< of the blocks that predict later tokens, on the last stage
};

/// Bytes of the cross entropy's 32-bit copy of a logit, in whose place its gradient is written.
constexpr double loss_bytes = 4.0;
/// Row statistics of fused attention: the logarithm of a sum in 32 bits. Source: [Dao2022]
constexpr double statistics_bytes = 4.0;
/// Elements of a gradient bucket: Megatron's default. Source: [MegatronLM]
constexpr double bucket_elements = 40e6;

/// Blocks whose activations are on their way to the host, or back, and still here. A guess.
constexpr double offloaded_blocks = 2.0;

/// A process takes a context, the buffers of the collective library and workspaces: about 2 GiB on a data-centre
/// part, less on a small one. Guesses; docs/guide/step-model.md shows them as such.
constexpr Bytes runtime_bytes = 2.0 * units::GiB;
constexpr Bytes runtime_bytes_of_small_parts = 1.0 * units::GiB;
constexpr Bytes largest_small_part = 24.0 * units::GiB;
/// What a caching allocator can hand out of the rest: 3 % is lost to fragmentation, a guess as well.
constexpr double allocator_yield = 0.97;

/// What every block of a model shares: sizes on one rank.
struct ActivationSizes {
    double tokens, hidden, element, linear, tensor_ranks, branches;
    double spread; ///< ranks that h-wide tensors are split over
};

ActivationSizes activation_sizes(Model const& model, LayerShape const& shape) {
    return {.tokens = tokens_of(shape),
            .hidden = static_cast<double>(model.hidden),
            .element = element_bytes(shape.precision),
            // inputs of linear layers are kept as the products read them
            .linear = std::max(1.0, operand_bytes(shape.precision)),
            .tensor_ranks = static_cast<double>(shape.tp),
            .branches = model.feed_forward == FeedForward::gated ? 2.0 : 1.0,
            .spread = shape.sequence_parallel ? static_cast<double>(shape.tp) : 1.0};
}

/// Bytes a token that the parts of a block keep, and what of it selective recomputation spares.
struct TokenBytes {
    double kept = 0.0, spared = 0.0;
};

/// Input of the norm and of the linear layers behind it.
double wide_bytes(ActivationSizes const& a) { return (a.element + a.linear) * a.hidden / a.spread; }

TokenBytes attention_token_bytes(Model const& model, LayerShape const& shape, Framework const& framework,
                                 ActivationSizes const& a) {
    double const t = a.tensor_ranks, e = a.element;
    auto const& latent = model.latent;
    double query = static_cast<double>(model.heads) * model.head_dim / t;
    double keys_and_values = 2.0 * std::max(1.0, model.kv_heads / t) * model.head_dim;
    double output = query;
    if (latent.used()) { // queries, keys and values of every head, and the narrow vectors that they came from
        query = model.heads * static_cast<double>(latent.nope_dim + latent.rope_dim) / t;
        output = model.heads * static_cast<double>(latent.value_dim) / t;
        keys_and_values = query + output + latent.q_rank + latent.kv_rank + latent.rope_dim;
    }
    TokenBytes bytes;
    bytes.kept = wide_bytes(a) + e * (query + output + keys_and_values);
    if (a.linear < e) { bytes.kept += a.linear * output; } // attention keeps its output besides
    if (framework.attention == AttentionKernel::unfused) {
        bytes.spared = (2.0 * e + 1.0) * (model.heads / t) * shape.attended; // softmax, its mask, its dropped copy
    } else {
        bytes.kept += statistics_bytes * model.heads / t;
    }
    return bytes;
}

double scan_token_bytes(Model const& model, ActivationSizes const& a) {
    auto const& m = model.state_space;
    double const inner = static_cast<double>(m.heads) * m.head_dim;
    double const projected = 2.0 * inner + 2.0 * m.groups * m.state + m.heads;
    return wide_bytes(a) + a.element * (projected + 2.0 * inner) / a.tensor_ranks;
}

/// Copies of a token at its experts, their inner widths, and the shared experts.
double expert_token_bytes(Model const& model, LayerShape const& shape, ActivationSizes const& a) {
    auto const& moe = model.moe;
    double const f = moe.ffn > 0 ? moe.ffn : model.ffn;
    double const shared = moe.shared_experts * static_cast<double>(moe.shared_ffn > 0 ? moe.shared_ffn : f);
    double const width = moe.latent > 0 ? moe.latent : a.hidden;
    double const copies = moe.top_k * shape.expert_load;
    double const t = a.tensor_ranks;
    // ranks that share an expert's products each keep its inputs whole, and a slice of what lies between the products
    double const inputs = a.linear * width * shape.etp;
    return wide_bytes(a) + copies * (inputs + (a.element * a.branches + a.linear) * f) / t +
           (a.element * a.branches + a.linear) * shared / t + a.element * moe.experts / t;
}

/// Tensor by tensor, bytes per token: inputs of norms and of the linear layers behind them are h wide, the rest is
/// split over tensor ranks.
BlockBytes one_block(Model const& model, BlockKind const& kind, LayerShape const& shape, Framework const& framework) {
    auto const a = activation_sizes(model, shape);
    double const tokens = a.tokens * (kind.decoder ? model.decoder_length : 1.0);
    TokenBytes bytes;
    auto const add = [&bytes](TokenBytes const& part) {
        bytes.kept += part.kept;
        bytes.spared += part.spared;
    };
    if (kind.mixer == Mixer::state_space) { bytes.kept += scan_token_bytes(model, a); }
    if (kind.mixer == Mixer::attention || kind.mixer == Mixer::latent_attention) {
        add(attention_token_bytes(model, shape, framework, a));
    }
    if (kind.cross) { add(attention_token_bytes(model, shape, framework, a)); }
    if (kind.channel == Channel::dense) {
        bytes.kept += wide_bytes(a) + (a.element * a.branches + a.linear) * model.ffn / a.tensor_ranks;
    }
    if (kind.channel == Channel::experts) { bytes.kept += expert_token_bytes(model, shape, a); }
    double const all = tokens * (bytes.kept + bytes.spared);
    double kept = all;
    if (shape.recompute == Recompute::selective) { kept = tokens * bytes.kept; }
    if (shape.recompute == Recompute::full) { kept = tokens * a.element * a.hidden / a.spread; }
    return {kept, all};
}

/// Outputs of the products and norms of an operator list; in-place layers keep nothing of their own.
BlockActivations operator_activations(Model const& model, LayerShape const& shape) {
    double const samples = tokens_of(shape) / std::max(1, model.nominal_length);
    double elements = 0.0;
    for (auto const& one : model.operators) {
        bool const keeps = one.kind != OperatorKind::elementwise && one.kind != OperatorKind::embedding;
        double const gates = one.kind == OperatorKind::recurrent ? 5.0 * one.height : one.positions();
        if (keeps) { elements += one.repeats * gates * one.out; }
    }
    double const bytes = samples * elements * element_bytes(shape.precision);
    return {.kept = bytes, .trained = bytes, .again = 0.0, .spared = 0.0, .recomputed = 0.0, .ahead = 0.0};
}

/// The mean block. Frozen blocks keep nothing; of a partly recomputed stack the others keep everything.
BlockActivations block_activations(Model const& model, std::span<BlockRun const> runs, LayerShape const& shape,
                                   Framework const& framework) {
    if (!model.operators.empty()) { return operator_activations(model, shape); }
    double const layers = depth_of(model);
    BlockBytes mean{.kept = 0.0, .all = 0.0};
    double again = 0.0, ahead = 0.0;
    if (model.prediction_layers > 0 && model.layers > 0) {
        auto const one = one_block(model, last_block(model), shape, framework);
        auto const a = activation_sizes(model, shape);
        double const joined = a.tokens * a.element * 2.0 * a.hidden / a.spread; // inputs of the product that joins them
        ahead = model.prediction_layers * (one.kept + joined);
    }
    for (auto const& run : runs) {
        auto const one = one_block(model, run.kind, shape, framework);
        again = std::max(again, one.all - one.kept);
        mean.kept += one.kept * run.count / layers;
        mean.all += one.all * run.count / layers;
    }
    double const trained = shape.trained == Trained::last_layers ? std::min(1.0, shape.trained_layers / layers) : 1.0;
    double const recomputed = shape.recompute_layers > 0 ? std::min(trained, shape.recompute_layers / layers) : trained;
    double const kept = recomputed * mean.kept + (trained - recomputed) * mean.all;
    return {.kept = kept,
            .trained = trained > 0.0 ? kept / trained : 0.0,
            .again = again,
            .spared = mean.all - mean.kept,
            .recomputed = recomputed,
            .ahead = ahead};
}

/// Logits of the last stage in the working format, and what the loss keeps beside them.
double logit_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    double const share = model.head_share * (model.encoder_layers > 0 ? model.decoder_length : 1.0);
    return tokens_of(shape) * share * laid_out_vocabulary(model, shape.tp, framework) / shape.tp *
           (element_bytes(shape.precision) + loss_bytes) * (1.0 + model.prediction_layers);
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

/// State of the optimizer, and what the strategy keeps besides: an outer optimizer of local updates (parameters of the
/// last exchange and a momentum, 32 bits each), the error of compressed gradients.
void add_state(MemoryUse& use, StepSetting const& setting, Strategy const& strategy, StageParameters const& held) {
    auto const& framework = setting.framework;
    auto const trained = trained_parts(strategy, setting.model, setting.count);
    auto const shards = shards_of(strategy), apart = expert_shards_of(strategy);
    auto const kept = [&](double Shards::*part, TrainedParts const& share) {
        return share.dense * held.dense / shards.*part + share.experts * held.experts / apart.*part;
    };
    use.weights = Bytes{framework.parameter_bytes * kept(&Shards::weights, {})};
    use.gradients = Bytes{framework.gradient_bytes * kept(&Shards::gradients, trained)};
    if (!offloads_optimizer(strategy.offload)) {
        use.optimizer = Bytes{framework.optimizer_bytes * kept(&Shards::optimizer, trained)};
    }
    if (strategy.local_steps > 1) {
        double const updated = kept(&Shards::weights, trained);
        use.optimizer += local_updates(updated, {.period = strategy.local_steps}).outer_state;
    }
    if (strategy.compression.kind != Compression::none && strategy.data_ranks() > 1) {
        double const sending = kept(&Shards::gradients, trained); // all that is trained: ZeRO 0
        auto const sent =
            compressed_gradients(strategy.compression, sending, framework.reduced_bytes, Ranks{strategy.data_ranks()});
        use.buffers += Bytes{sent.kept_per_parameter * sending};
    }
}

/// What every stage of a strategy is made from.
struct StageActivations {
    BlockActivations block;
    double logits = 0.0;
    int micro_batches = 1;
};

MemoryUse stage_memory(StepSetting const& setting, Strategy const& strategy, StageActivations const& of,
                       StagePlace place) {
    auto const held = stage_parameters(setting, strategy, place);
    bool const last = place == StagePlace::last || place == StagePlace::whole;
    MemoryUse use;
    use.stage = place == StagePlace::last ? strategy.pp - 1 : place == StagePlace::middle ? 1 : 0;
    add_state(use, setting, strategy, held);
    double const blocks = stage_layers(depth_of(setting.model), strategy.pp, place);
    double const in_flight = micro_batches_in_flight(strategy, use.stage, of.micro_batches);
    double activations = of.block.kept * blocks * in_flight + (last ? of.block.ahead : 0.0);
    if (offloads_activations(strategy.offload)) {
        activations = std::min(activations, offloaded_blocks * of.block.trained);
    }
    // the block being recomputed; where few are counted by their mean, no more than those would keep
    double few = blocks * of.block.recomputed;
    if (offloads_activations(strategy.offload)) { few = 1.0; }
    activations += std::min(of.block.again, std::max(1.0, few) * of.block.spared);
    if (last) { activations += of.logits; }
    use.activations = Bytes{activations};
    auto const& count = setting.count;
    double const block =
        (count.layer - count.experts) / strategy.tp + count.experts / (static_cast<double>(strategy.ep) * strategy.etp);
    use.buffers += buffer_bytes(setting.framework, strategy, held.all(), block);
    return use;
}

} // namespace

Bytes block_activation_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    return Bytes{block_activations(model, block_runs(model), shape, framework).kept};
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
    auto const shape = shape_of(strategy, setting.workload);
    StageActivations const of{.block = block_activations(setting.model, setting.blocks, shape, setting.framework),
                              .logits = logit_bytes(setting.model, shape, setting.framework),
                              .micro_batches = whole_micro_batches(strategy, setting.workload)};
    if (strategy.pp == 1) { return stage_memory(setting, strategy, of, StagePlace::whole); }
    auto fullest = stage_memory(setting, strategy, of, StagePlace::first);
    auto const keep = [&](MemoryUse const& other) {
        if (other.total() > fullest.total()) { fullest = other; }
    };
    if (depth_of(setting.model) % strategy.pp != 0) { keep(stage_memory(setting, strategy, of, StagePlace::middle)); }
    keep(stage_memory(setting, strategy, of, StagePlace::last));
    return fullest;
}

Bytes usable_memory(Accelerator const& accelerator) {
    bool const small = accelerator.memory <= largest_small_part;
    return (accelerator.memory - (small ? runtime_bytes_of_small_parts : runtime_bytes)) * allocator_yield;
}

} // namespace headroom
