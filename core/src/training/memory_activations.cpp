#include "memory_terms.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {
namespace {

/// Bytes that one block keeps for the backward pass, and would keep without recomputation; what its backward pass holds
/// besides, and its widest tensor.
struct BlockBytes {
    double kept = 0.0, all = 0.0, gradients = 0.0, widest = 0.0;
};

/// Bytes of the cross entropy's 32-bit copy of a logit, in whose place its gradient is written.
constexpr double loss_bytes = 4.0;
/// Row statistics of fused attention: the logarithm of a sum in 32 bits. Source: [Dao2022]
constexpr double statistics_bytes = 4.0;

/// Sizes that all blocks of a model share, on one rank.
struct ActivationSizes {
    double tokens, hidden, element, linear, tensor_ranks, branches;
    double spread; ///< ranks that h-wide tensors are split over
    double masks;  ///< bytes an element of a dropout mask
    bool in_place; ///< gradients of a gated product are written over its inputs
};

ActivationSizes activation_sizes(Model const& model, LayerShape const& shape, Framework const& framework) {
    return {.tokens = tokens_of(shape),
            .hidden = static_cast<double>(model.hidden),
            .element = element_bytes(shape.precision),
            // inputs of linear layers are kept as the products read them
            .linear = std::max(1.0, operand_bytes(shape.precision)),
            .tensor_ranks = static_cast<double>(shape.tp),
            .branches = model.feed_forward == FeedForward::gated ? 2.0 : 1.0,
            .spread = shape.sequence_parallel ? static_cast<double>(shape.tp) : 1.0,
            .masks = framework.dropout ? 1.0 : 0.0,
            .in_place = framework.in_place_gradients};
}

/// Bytes a token that the parts of a block keep, and what of it selective recomputation spares; the widest tensor, and
/// what the backward pass holds at its peak besides: gradients of the widest tensors.
struct TokenBytes {
    double kept = 0.0, spared = 0.0, widest = 0.0, gradients = 0.0;
    void add(TokenBytes const& part) {
        kept += part.kept;
        spared += part.spared;
        widest = std::max(widest, part.widest);
        gradients = std::max(gradients, part.gradients);
    }
};

/// Input of the norm and of the linear layers behind it, and the mask of what is dropped at their end.
double wide_bytes(ActivationSizes const& a) { return (a.element + a.linear + a.masks) * a.hidden / a.spread; }

/// Gradients of what lies between the two products: the output's comes in as those of gate and input go out, unless these
/// are written over them.
double between_gradients(ActivationSizes const& a, double width) {
    return a.element * width * (a.in_place ? 1.0 : a.branches);
}

TokenBytes attention_token_bytes(Model const& model, BlockKind const& kind, LayerShape const& shape,
                                 Framework const& framework, ActivationSizes const& a) {
    double const t = a.tensor_ranks, e = a.element;
    auto const& latent = model.latent;
    auto const attention = attention_shape(model, kind);
    double query = attention.heads * attention.head_dim / t;
    double keys_and_values = std::max(1.0, attention.kv_heads / t) * (attention.head_dim + attention.value_dim);
    double output = attention.heads * attention.value_dim / t;
    if (kind.mixer ==
        Mixer::latent_attention) { // queries, keys and values of every head, and the narrow vectors that they came from
        query = model.heads * static_cast<double>(latent.nope_dim + latent.rope_dim) / t;
        output = model.heads * static_cast<double>(latent.value_dim) / t;
        keys_and_values = query + output + latent.q_rank + latent.kv_rank + latent.rope_dim;
    }
    TokenBytes bytes;
    bytes.kept = wide_bytes(a) + e * (query + output + keys_and_values);
    if (a.linear < e) { bytes.kept += a.linear * output; } // attention keeps its output besides
    if (framework.attention == AttentionKernel::unfused) {
        bytes.spared = (2.0 * e + 1.0) * (attention.heads / t) * shape.attended; // softmax, its mask, its dropped copy
    } else {
        bytes.kept += statistics_bytes * attention.heads / t;
    }
    bytes.widest = e * std::max({query, output, a.hidden / a.spread});
    bytes.gradients = e * (query + keys_and_values);
    return bytes;
}

TokenBytes scan_token_bytes(Model const& model, ActivationSizes const& a) {
    auto const scan = scan_sizes(model);
    double const widest = a.element * scan.projected / a.tensor_ranks;
    double between = 0.0;
    for (auto const& one : scan.between) { between += one.out; }
    return {.kept = wide_bytes(a) + a.element * (scan.projected + between + 2.0 * scan.inner) / a.tensor_ranks,
            .widest = widest,
            .gradients = widest};
}

TokenBytes dense_token_bytes(Model const& model, BlockKind const& kind, ActivationSizes const& a) {
    double const width = ffn_of(model, kind) / a.tensor_ranks;
    return {.kept = wide_bytes(a) + (a.element * a.branches + a.linear) * width,
            .widest = a.element * std::max(width, a.hidden / a.spread),
            .gradients = between_gradients(a, width)};
}

/// Copies of a token at its experts, their inner widths, and the shared experts.
TokenBytes expert_token_bytes(Model const& model, LayerShape const& shape, ActivationSizes const& a) {
    auto const& moe = model.moe;
    double const f = moe.ffn > 0 ? moe.ffn : model.ffn;
    double const shared = moe.shared_experts * static_cast<double>(moe.shared_ffn > 0 ? moe.shared_ffn : f);
    double const width = moe.latent > 0 ? moe.latent : a.hidden;
    double const copies = moe.top_k * shape.expert_load;
    double const t = a.tensor_ranks;
    // ranks that share an expert's products each keep its inputs whole, and a slice of what lies between the products
    double const inputs = a.linear * width * shape.etp;
    double const between = a.element * a.branches + a.linear;
    return {.kept = wide_bytes(a) + copies * (inputs + between * f) / t + between * shared / t +
                    a.element * moe.experts / t,
            .widest = a.element * std::max(copies * std::max(f, width * shape.etp) / t, a.hidden / a.spread),
            .gradients = between_gradients(a, copies * f / t)};
}

/// Tensor by tensor, bytes per token: inputs of norms and of the linear layers behind them are h wide, the rest is
/// split over tensor ranks.
BlockBytes one_block(Model const& model, BlockKind const& kind, LayerShape const& shape, Framework const& framework) {
    auto const a = activation_sizes(model, shape, framework);
    double const tokens = a.tokens * (kind.decoder ? model.decoder_length : 1.0);
    TokenBytes bytes;
    if (scans(kind.mixer)) { bytes.add(scan_token_bytes(model, a)); }
    if (attends(kind.mixer)) { bytes.add(attention_token_bytes(model, kind, shape, framework, a)); }
    if (kind.cross) { bytes.add(attention_token_bytes(model, kind, shape, framework, a)); }
    if (kind.channel == Channel::dense) { bytes.add(dense_token_bytes(model, kind, a)); }
    if (kind.channel == Channel::experts) { bytes.add(expert_token_bytes(model, shape, a)); }
    double const all = tokens * (bytes.kept + bytes.spared);
    double kept = all;
    if (shape.recompute == Recompute::selective) { kept = tokens * bytes.kept; }
    if (shape.recompute == Recompute::full) { kept = tokens * a.element * a.hidden / a.spread; }
    double const gradients = tokens * (a.element * a.hidden / a.spread + bytes.gradients);
    return {.kept = kept, .all = all, .gradients = gradients, .widest = tokens * bytes.widest};
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
    return {.kept = bytes, .trained = bytes};
}

} // namespace

/// Activations of the average block. Frozen blocks keep nothing; with partial recomputation the other blocks keep
/// everything.
BlockActivations block_activations(Model const& model, std::span<BlockRun const> runs, LayerShape const& shape,
                                   Framework const& framework) {
    if (!model.operators.empty()) { return operator_activations(model, shape); }
    double const layers = depth_of(model);
    BlockBytes mean;
    double again = 0.0, ahead = 0.0;
    if (model.prediction_layers > 0 && model.layers > 0) {
        auto const one = one_block(model, last_block(model), shape, framework);
        auto const a = activation_sizes(model, shape, framework);
        double const joined = a.tokens * a.element * 2.0 * a.hidden / a.spread; // inputs of the product that joins them
        ahead = model.prediction_layers * (one.kept + joined);
    }
    for (auto const& run : runs) {
        auto const one = one_block(model, run.kind, shape, framework);
        again = std::max(again, one.all - one.kept);
        mean.gradients = std::max(mean.gradients, one.gradients);
        mean.widest = std::max(mean.widest, one.widest);
        mean.kept += one.kept * run.count / layers;
        mean.all += one.all * run.count / layers;
    }
    double const trained = shape.trained == Trained::last_layers ? std::min(1.0, shape.trained_layers / layers) : 1.0;
    double const recomputed = shape.recompute_layers > 0 ? std::min(trained, shape.recompute_layers / layers) : trained;
    double const kept = recomputed * mean.kept + (trained - recomputed) * mean.all;
    bool const all_again = shape.recompute == Recompute::full && shape.recompute_layers == 0;
    return {.kept = kept,
            .trained = trained > 0.0 ? kept / trained : 0.0,
            .again = again,
            .spared = mean.all - mean.kept,
            .recomputed = recomputed,
            .ahead = ahead,
            .gradients = trained > 0.0 ? mean.gradients : 0.0,
            .widest = all_again ? mean.widest : 0.0};
}

double logit_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    if (!model.has_head) { return 0.0; }
    double const share = model.head_share * (model.encoder_layers > 0 ? model.decoder_length : 1.0);
    double const tokens = tokens_of(shape) * share, element = element_bytes(shape.precision);
    double const words = laid_out_vocabulary(model, shape.tp, framework);
    double const heads = 1.0 + model.prediction_layers;
    if (!framework.tiled_loss || model.hidden == 0) {
        return tokens * words / shape.tp * (element + loss_bytes) * heads;
    }
    // a tile of logits is as large as the hidden vectors of all tokens, whose gradients are kept, too
    double const tiles = std::max(1.0, std::ceil(words / model.hidden));
    return tokens * (words / shape.tp / tiles * element + element * model.hidden) * heads;
}

Bytes block_activation_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    return Bytes{block_activations(model, block_runs(model), shape, framework).kept};
}

} // namespace headroom::training
