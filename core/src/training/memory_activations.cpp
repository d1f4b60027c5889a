#include "lora_matrices.hpp"
#include "memory_blocks.hpp"

#include "headroom/training/optimizer.hpp"

#include <algorithm>

namespace headroom::training {

/// Output of attention in 12 bits: five of exponent, six of mantissa. Source: [DeepSeek2024]
constexpr double narrow_output_bytes = 1.5;

/// Whether the weights of these projections are trained, or LoRA matrices of one of them.
bool trains(LayerShape const& shape, unsigned modules) {
    return shape.trained != Trained::lora || (shape.adapter_modules & modules) != 0;
}

namespace {

constexpr double wide = 4.0;

/// Bytes an element of what blocks add to. Under autocast it is 32-bit where the embedding table is.
double residual_bytes(LayerShape const& shape, Framework const& framework) {
    bool const wide_table = shape.trained != Trained::lora || framework.wide_frozen || widens_rest(framework);
    double const e = element_bytes(shape.precision);
    return framework.wide_residual && wide_table ? std::max(wide, e) : e;
}

double unfused_norm_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    if (framework.fused_elementwise || model.norm != Normalisation::rms) { return 0.0; }
    double const input = residual_bytes(shape, framework);
    return std::max(0.0, wide - input) + (shape.trained == Trained::lora ? 0.0 : input);
}

/// Bytes an element that an activation function keeps in addition to its input: in gated blocks its output, where it is a kernel of its
/// own; what it keeps where it is written in Python.
double activation_function_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    bool const own = !framework.fused_elementwise && model.feed_forward == FeedForward::gated;
    return ((own ? 1.0 : 0.0) + framework.activation_copies) * element_bytes(shape.precision);
}

} // namespace

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
            .residual = residual_bytes(shape, framework),
            .narrow = framework.narrow_caches && operand_bytes(shape.precision) < element_bytes(shape.precision),
            .in_place = framework.in_place_gradients,
            .norm = unfused_norm_bytes(model, shape, framework),
            .product = activation_function_bytes(model, shape, framework),
            .trains_attention = trains(shape, adapter_module::query | adapter_module::key | adapter_module::value),
            .trains_feed_forward = trains(shape, adapter_module::gate | adapter_module::up)};
}

double score_mask_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    bool const made = framework.score_mask && model.operators.empty();
    return made ? residual_bytes(shape, framework) * tokens_of(shape) * shape.attended : 0.0;
}

double dequantised_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    bool const quantised = shape.trained == Trained::lora && framework.frozen != FrozenFormat::sixteen_bit;
    if (!quantised || !model.operators.empty()) { return 0.0; }
    return element_bytes(shape.precision) * largest_adapted(model, adapter_module::linear) / shape.tp;
}

/// Input of the norm and of the linear layers behind it, and the mask of what is dropped at their end.
double wide_bytes(ActivationSizes const& a, bool trains) {
    return (a.residual + a.norm + (trains ? a.linear : 0.0) + a.masks) * a.hidden / a.spread;
}

namespace {

/// Whether a part of a block is recomputed alone.
bool recomputes(LayerShape const& shape, unsigned part) {
    return shape.recompute == Recompute::modules && (shape.recomputed & part) != 0;
}

/// Bytes that a norm makes of a part's input, where it is made again.
double normalised_bytes(LayerShape const& shape, ActivationSizes const& a, bool trains = true) {
    bool const again = shape.recompute == Recompute::alternate || recomputes(shape, recompute_module::layernorm);
    return again ? (a.norm + (trains ? a.linear : 0.0)) * a.hidden / a.spread : 0.0;
}

/// Gradients of what lies between the two products: the output's comes in as those of gate and input go out, unless these
/// are written over them.
double between_gradients(ActivationSizes const& a, double width) {
    return a.element * width * (a.in_place ? 1.0 : a.branches);
}

/// A linear layer's input that tensor ranks gather with sequence parallelism, and its gradient before it is scattered.
double gathered_gradients(ActivationSizes const& a) { return 2.0 * a.element * a.hidden * (1.0 - 1.0 / a.spread); }

} // namespace

ScoreBytes score_bytes(Framework const& framework, double element) {
    if (framework.fused_elementwise) { return {.kept = 2.0 * element + 1.0, .gradients = 0.0}; }
    double const copy = element < 4.0 || framework.dropout ? element : 0.0;
    return {.kept = 4.0 + copy + (framework.dropout ? 1.0 : 0.0), .gradients = 8.0};
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
    bytes.kept = wide_bytes(a, a.trains_attention) + e * (query + output + keys_and_values);
    if (a.narrow) {
        bytes.kept -= (e - narrow_output_bytes) * output; // one copy for attention and the product behind it
    } else if (a.linear < e) {
        bytes.kept += a.linear * output; // attention keeps its output as well
    }
    if (framework.attention == AttentionKernel::unfused) {
        bytes.spared = score_bytes(framework, e).kept * (attention.heads / t) * shape.attended;
    } else {
        bytes.kept += statistics_bytes * attention.heads / t;
    }
    bool const alternate = shape.recompute == Recompute::alternate, latent_here = kind.mixer == Mixer::latent_attention;
    bytes.parts = normalised_bytes(shape, a, a.trains_attention);
    if (alternate || recomputes(shape, recompute_module::core_attn)) { bytes.parts += bytes.spared; }
    if (latent_here && (alternate || recomputes(shape, recompute_module::mla_up_proj))) {
        bytes.parts += e * (2.0 * query + output);
    }
    if (alternate && !latent_here) { bytes.parts += e * std::max(1.0, attention.kv_heads / t) * attention.head_dim; }
    bytes.widest = e * std::max({query, output, a.hidden / a.spread});
    bytes.gradients = e * (query + keys_and_values) + gathered_gradients(a);
    if (shape.cp > 1 && shape.exchange == ContextExchange::gather) { // those of all ranks, and their gradients
        bytes.gradients += 2.0 * e * (shape.cp - 1.0) * (latent_here ? query + output : keys_and_values);
    }
    if (framework.attention == AttentionKernel::unfused) {
        bytes.gradients += score_bytes(framework, e).gradients * (attention.heads / t) * shape.attended;
    }
    bytes.cache = e * (latent_here ? query + output : keys_and_values);
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

TokenBytes dense_token_bytes(Model const& model, BlockKind const& kind, LayerShape const& shape,
                             ActivationSizes const& a) {
    double const width = ffn_of(model, kind) / a.tensor_ranks;
    bool const product = trains(shape, adapter_module::down); // its input is kept
    double const vector = a.residual * a.hidden / a.spread;
    double const kept = wide_bytes(a, a.trains_feed_forward) +
                        (a.element * a.branches + a.product + (product ? a.linear : 0.0)) * width;
    double parts = normalised_bytes(shape, a, a.trains_feed_forward);
    if (recomputes(shape, recompute_module::mlp)) { parts = kept - vector; }
    // the first product's output and the last one's are kept
    if (shape.recompute == Recompute::alternate) { parts = kept - (a.element * width + vector); }
    return {.kept = kept,
            .widest = a.element * std::max(width, a.hidden / a.spread),
            .gradients = between_gradients(a, width) + gathered_gradients(a),
            .parts = parts};
}

namespace {

/// Bytes an element between the products of experts: with narrow caches the inputs of the gated product in 8 bits, of which
/// it is made again.
double between_bytes(ActivationSizes const& a) {
    return a.narrow ? a.linear * a.branches : a.element * a.branches + a.product + a.linear;
}

} // namespace

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
    double const between = between_bytes(a);
    double const kept =
        wide_bytes(a) + copies * (inputs + between * f) / t + between * shared / t + a.element * moe.experts / t;
    double parts = normalised_bytes(shape, a);
    if (shape.recompute == Recompute::alternate || recomputes(shape, recompute_module::moe_act)) {
        parts += a.narrow ? 0.0 : copies * (a.linear + a.product) * f / t;
    }
    if (recomputes(shape, recompute_module::shared_experts)) { parts += between * shared / t; }
    if (recomputes(shape, recompute_module::moe)) { parts = kept - a.residual * a.hidden / a.spread; }
    return {.kept = kept,
            .widest = a.element * std::max(copies * std::max(f, width * shape.etp) / t, a.hidden / a.spread),
            .gradients = between_gradients(a, copies * f / t),
            .parts = parts};
}

TokenBytes magnitude_token_bytes(Model const& model, BlockKind const& kind, LayerShape const& shape,
                                 ActivationSizes const& a) {
    if (!trains_magnitudes(shape.trained, shape.adapter_modules)) { return {}; }
    double width = 0.0;
    for (auto const& matrix : adapted_matrices(model, kind, shape.adapter_modules)) {
        width += matrix.out_of(a.tensor_ranks);
    }
    double const kept = magnitude_cost::kept_bytes * width;
    return {.kept = kept, .parts = shape.recompute == Recompute::alternate ? kept : 0.0};
}

bool by_parts(LayerShape const& shape) {
    return shape.recompute == Recompute::alternate || shape.recompute == Recompute::modules;
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
    if (kind.channel == Channel::dense) { bytes.add(dense_token_bytes(model, kind, shape, a)); }
    if (kind.channel == Channel::experts) { bytes.add(expert_token_bytes(model, shape, a)); }
    bytes.add(magnitude_token_bytes(model, kind, shape, a));
    double const all = tokens * (bytes.kept + bytes.spared);
    double kept = all;
    if (shape.recompute == Recompute::selective) { kept = tokens * bytes.kept; }
    if (by_parts(shape)) { kept = all - tokens * bytes.parts; }
    if (shape.recompute == Recompute::full) { kept = tokens * a.residual * a.hidden / a.spread; }
    double const gradients = tokens * (a.residual * a.hidden / a.spread + bytes.gradients);
    return {.kept = kept,
            .all = all,
            .gradients = gradients,
            .widest = tokens * bytes.widest,
            .cache = framework.keeps_cache ? tokens * bytes.cache : 0.0};
}

namespace {

/// Outputs of the products and norms of an operator list; in-place layers keep nothing of their own.
BlockActivations operator_activations(Model const& model, LayerShape const& shape) {
    double const samples = tokens_of(shape) / std::max(1, model.nominal_length);
    double elements = 0.0;
    for (auto const& one : model.operators) {
        bool const keeps = one.backward && one.kind != OperatorKind::elementwise && one.kind != OperatorKind::embedding;
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
        mean.cache += one.cache * run.count / layers;
    }
    double const trained = shape.trained == Trained::last_layers ? std::min(1.0, shape.trained_layers / layers) : 1.0;
    double const recomputed = shape.recompute_layers > 0 ? std::min(trained, shape.recompute_layers / layers) : trained;
    double const kept = recomputed * mean.kept + (trained - recomputed) * mean.all;
    bool const all_again = shape.recompute == Recompute::full && recomputed >= trained;
    return {.kept = kept,
            .trained = trained > 0.0 ? kept / trained : 0.0,
            .again = again,
            .spared = mean.all - mean.kept,
            .recomputed = recomputed,
            .ahead = ahead,
            .gradients = trained > 0.0 ? mean.gradients : 0.0,
            .widest = all_again ? mean.widest : 0.0,
            .cache = shape.recompute == Recompute::full ? recomputed * mean.cache : 0.0};
}

Bytes block_activation_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    return Bytes{block_activations(model, block_runs(model), shape, framework).kept};
}

} // namespace headroom::training
