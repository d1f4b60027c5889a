#include "memory_terms.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {
namespace {

/// Bytes that one block keeps for the backward pass, and would keep without recomputation; what its backward pass holds
/// besides, and its widest tensor.
struct BlockBytes {
    double kept = 0.0, all = 0.0, gradients = 0.0, widest = 0.0, cache = 0.0;
};

/// Row statistics of fused attention: the logarithm of a sum in 32 bits. Source: [Dao2022]
constexpr double statistics_bytes = 4.0;

/// Sizes that all blocks of a model share, on one rank.
struct ActivationSizes {
    double tokens, hidden, element, linear, tensor_ranks, branches;
    double spread;   ///< ranks that h-wide tensors are split over
    double masks;    ///< bytes an element of a dropout mask
    double residual; ///< bytes an element of a block's input
    bool in_place;   ///< gradients of a gated product are written over its inputs
    double norm; ///< bytes an element that an unfused norm keeps besides its input: a 32-bit copy of it for the input,
                 ///< and where its weight is trained the normalised one
    double product; ///< bytes an element of gated blocks whose activation is a kernel of its own: its output
    bool trains_attention, trains_feed_forward; ///< weights of their linear layers, which then keep their inputs
};

/// Whether the weights of these projections are trained, or LoRA matrices of one of them.
bool trains(LayerShape const& shape, unsigned modules) {
    return shape.trained != Trained::adapters || (shape.adapter_modules & modules) != 0;
}

double unfused_norm_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    if (framework.fused_elementwise || model.norm != Normalisation::rms) { return 0.0; }
    double const e = element_bytes(shape.precision);
    return std::max(0.0, 4.0 - e) + (shape.trained == Trained::adapters ? 0.0 : e);
}

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
            .residual = framework.wide_residual ? 4.0 : element_bytes(shape.precision),
            .in_place = framework.in_place_gradients,
            .norm = unfused_norm_bytes(model, shape, framework),
            .product = !framework.fused_elementwise && model.feed_forward == FeedForward::gated
                           ? element_bytes(shape.precision)
                           : 0.0,
            .trains_attention = trains(shape, adapter_module::query | adapter_module::key | adapter_module::value),
            .trains_feed_forward = trains(shape, adapter_module::gate | adapter_module::up)};
}

/// Bytes a token that the parts of a block keep, and what of it selective recomputation spares; the widest tensor, and
/// what the backward pass holds at its peak besides: gradients of the widest tensors. `parts` is what recomputation by
/// parts of a block, or of every second product, spares of both.
struct TokenBytes {
    double kept = 0.0, spared = 0.0, widest = 0.0, gradients = 0.0, parts = 0.0;
    double cache = 0.0; ///< keys and values
    void add(TokenBytes const& part) {
        parts += part.parts;
        cache += part.cache;
        kept += part.kept;
        spared += part.spared;
        widest = std::max(widest, part.widest);
        gradients = std::max(gradients, part.gradients);
    }
};

/// Input of the norm and of the linear layers behind it, and the mask of what is dropped at their end.
double wide_bytes(ActivationSizes const& a, bool trains = true) {
    return (a.element + a.norm + (trains ? a.linear : 0.0) + a.masks) * a.hidden / a.spread;
}

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

/// Bytes of a score that unfused attention keeps, and holds in its backward pass. Fused softmax: its output, a mask and the
/// dropped copy. Eager: the output in 32 bits, the copy that the product reads, a mask where the framework drops out; two
/// 32-bit gradients.
struct ScoreBytes {
    double kept, gradients;
};
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
    if (a.linear < e) { bytes.kept += a.linear * output; } // attention keeps its output besides
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
    bytes.gradients = e * (query + keys_and_values);
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
    double const vector = a.element * a.hidden / a.spread;
    double const kept = wide_bytes(a, a.trains_feed_forward) +
                        (a.element * a.branches + a.product + (product ? a.linear : 0.0)) * width;
    double parts = normalised_bytes(shape, a, a.trains_feed_forward);
    if (recomputes(shape, recompute_module::mlp)) { parts = kept - vector; }
    // the first product's output and the last one's are kept
    if (shape.recompute == Recompute::alternate) { parts = kept - (a.element * width + vector); }
    return {.kept = kept,
            .widest = a.element * std::max(width, a.hidden / a.spread),
            .gradients = between_gradients(a, width),
            .parts = parts};
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
    double const between = a.element * a.branches + a.product + a.linear;
    double const kept =
        wide_bytes(a) + copies * (inputs + between * f) / t + between * shared / t + a.element * moe.experts / t;
    double parts = normalised_bytes(shape, a);
    if (shape.recompute == Recompute::alternate || recomputes(shape, recompute_module::moe_act)) {
        parts += copies * (a.linear + a.product) * f / t;
    }
    if (recomputes(shape, recompute_module::shared_experts)) { parts += between * shared / t; }
    if (recomputes(shape, recompute_module::moe)) { parts = kept - a.element * a.hidden / a.spread; }
    return {.kept = kept,
            .widest = a.element * std::max(copies * std::max(f, width * shape.etp) / t, a.hidden / a.spread),
            .gradients = between_gradients(a, copies * f / t),
            .parts = parts};
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
    double const all = tokens * (bytes.kept + bytes.spared);
    double kept = all;
    if (shape.recompute == Recompute::selective) { kept = tokens * bytes.kept; }
    if (by_parts(shape)) { kept = all - tokens * bytes.parts; }
    if (shape.recompute == Recompute::full) { kept = tokens * a.residual * a.hidden / a.spread; }
    double const gradients = tokens * (a.element * a.hidden / a.spread + bytes.gradients);
    bool const cache = framework.keeps_cache && shape.recompute == Recompute::full;
    return {.kept = kept,
            .all = all,
            .gradients = gradients,
            .widest = tokens * bytes.widest,
            .cache = cache ? tokens * bytes.cache : 0.0};
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
        mean.cache += one.cache * run.count / layers;
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
            .widest = all_again ? mean.widest : 0.0,
            .cache = recomputed * mean.cache};
}

Bytes block_activation_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    return Bytes{block_activations(model, block_runs(model), shape, framework).kept};
}

// ---- explanation ----------------------------------------------------------------------------------------------------

namespace {

/// Adds what the blocks of a model keep to the terms of an explanation.
class ActivationTerms {
public:
    ActivationTerms(TermBook& book, StepSetting const& setting, LayerShape const& shape)
        : book_{book},
          model_{setting.model},
          framework_{setting.framework},
          shape_{shape},
          sizes_{activation_sizes(setting.model, shape, setting.framework)} {
        auto const& a = sizes_;
        book_.add(TermKind::model, "hidden", "", "hidden size of " + model_.name, a.hidden);
        book_.add(TermKind::model, "branches", "", "2 of gated feed-forward blocks, else 1", a.branches);
        book_.add(TermKind::option, "linear_input_bytes", "B", "--precision", a.linear);
        book_.add(TermKind::framework, "mask_bytes", "B", "dropout of framework " + framework_.name, a.masks);
        book_.add(TermKind::option, "hidden_ranks", "", "tp with --sequence-parallel, else 1", a.spread);
        book_.add(TermKind::framework, "norm_copy_bytes", "B",
                  "copies that unfused norms of framework " + framework_.name + " keep", a.norm);
        book_.add(TermKind::framework, "activation_copy_bytes", "B",
                  "output of an unfused activation of framework " + framework_.name, a.product);
        book_.add(TermKind::framework, "block_input_bytes", "B", "framework " + framework_.name, a.residual);
        if (framework_.attention == AttentionKernel::unfused) {
            book_.add(TermKind::framework, "score_bytes", "B",
                      "of a score that framework " + framework_.name + " keeps",
                      score_bytes(framework_, a.element).kept);
        }
        wide(true);
    }

    /// Adds one kind of block: NAME_kept_bytes, NAME_all_bytes and NAME_gradient_bytes.
    void add(std::string const& name, BlockKind const& kind) {
        TokenBytes sum;
        std::string kept, spared, gradients;
        auto const part = [&](char const* which, TokenBytes const& bytes, std::string const& formula) {
            std::string const of = name + "_" + which;
            book_.formula(of + "_token_bytes", "B", formula, bytes.kept);
            book_.add(TermKind::shape, of + "_gradient_token_bytes", "B", "gradients of the part's widest tensors",
                      bytes.gradients);
            kept += (kept.empty() ? "" : " + ") + of + "_token_bytes";
            gradients += ", " + of + "_gradient_token_bytes";
            if (bytes.spared > 0.0) {
                book_.formula(of + "_scores_token_bytes", "B", "score_bytes * " + of + "_heads / tp * attended",
                              bytes.spared);
                spared += " + " + of + "_scores_token_bytes";
            }
            sum.add(bytes);
        };
        if (scans(kind.mixer)) { part("scan", scan_token_bytes(model_, sizes_), scan(name)); }
        auto const attention = [&] { return attention_token_bytes(model_, kind, shape_, framework_, sizes_); };
        if (attends(kind.mixer)) { part("attention", attention(), attention_formula(name, "attention", kind)); }
        if (kind.cross) { part("cross_attention", attention(), attention_formula(name, "cross_attention", kind)); }
        if (kind.channel == Channel::dense) {
            dimension(name + "_width", ffn_of(model_, kind) / sizes_.tensor_ranks);
            std::string const product = trains(shape_, adapter_module::down) ? " + linear_input_bytes" : "";
            part("feed_forward", dense_token_bytes(model_, kind, shape_, sizes_),
                 wide(sizes_.trains_feed_forward) + " + (element_bytes * branches + activation_copy_bytes" + product +
                     ") * " + name + "_width");
        }
        if (kind.channel == Channel::experts) {
            part("experts", expert_token_bytes(model_, shape_, sizes_), experts(name));
        }
        auto const one = one_block(model_, kind, shape_, framework_);
        book_.add(TermKind::model, name + "_tokens_over_tokens", "", "length of the decoder over the encoder's, else 1",
                  kind.decoder ? model_.decoder_length : 1.0);
        std::string const tokens = "tokens * " + name + "_tokens_over_tokens * ";
        book_.formula(name + "_all_bytes", "B", tokens + "(" + (kept.empty() ? "0" : kept) + spared + ")", one.all);
        if (by_parts(shape_)) {
            dimension(name + "_recomputed_token_bytes", sum.parts);
            book_.formula(name + "_kept_bytes", "B", name + "_all_bytes - " + tokens + name + "_recomputed_token_bytes",
                          one.kept);
        } else {
            book_.formula(name + "_kept_bytes", "B",
                          shape_.recompute == Recompute::none ? name + "_all_bytes"
                          : shape_.recompute == Recompute::selective
                              ? tokens + "(" + (kept.empty() ? "0" : kept) + ")"
                              : tokens + "block_input_bytes * hidden / hidden_ranks",
                          one.kept);
        }
        book_.formula(name + "_gradient_bytes", "B",
                      tokens + "(element_bytes * hidden / hidden_ranks + max(0" + gradients + "))", one.gradients);
    }

private:
    /// Name of the term of a norm's and its linear layers' inputs; these are kept where their weights are trained.
    std::string wide(bool trained) {
        std::string const name = trained ? "wide_token_bytes" : "frozen_wide_token_bytes";
        if (!book_.has(name)) {
            book_.formula(name, "B",
                          "(element_bytes + norm_copy_bytes" + std::string{trained ? " + linear_input_bytes" : ""} +
                              " + mask_bytes) * hidden / hidden_ranks",
                          wide_bytes(sizes_, trained));
        }
        return name;
    }

    void dimension(std::string const& name, double value) {
        book_.add(TermKind::shape, name, "", "from model and strategy", value);
    }

    std::string scan(std::string const& name) {
        auto const scan = scan_sizes(model_);
        double between = 0.0;
        for (auto const& one : scan.between) { between += one.out; }
        dimension(name + "_scan_width", scan.projected + between + 2.0 * scan.inner);
        return "wide_token_bytes + element_bytes * " + name + "_scan_width / tp";
    }

    std::string attention_formula(std::string const& block, std::string const& part, BlockKind const& kind) {
        auto const sum = attention_token_bytes(model_, kind, shape_, framework_, sizes_);
        std::string const name = block + "_" + part;
        auto const shape = attention_shape(model_, kind);
        bool const unfused = framework_.attention == AttentionKernel::unfused,
                   latent = kind.mixer == Mixer::latent_attention;
        double const output =
            (latent ? model_.heads * static_cast<double>(model_.latent.value_dim) : shape.heads * shape.value_dim) /
            sizes_.tensor_ranks;
        bool const copies = sizes_.linear < sizes_.element;
        double const rest = wide_bytes(sizes_, sizes_.trains_attention) + (copies ? sizes_.linear * output : 0.0) +
                            (unfused ? 0.0 : statistics_bytes * shape.heads / sizes_.tensor_ranks);
        dimension(name + "_heads", shape.heads);
        book_.add(TermKind::shape, "attended", "", "tokens that one token could see", shape_.attended);
        dimension(name + "_width", (sum.kept - rest) / sizes_.element); // of queries, keys, values and outputs
        std::string formula = wide(sizes_.trains_attention) + " + element_bytes * " + name + "_width";
        if (copies) {
            dimension(name + "_output", output);
            formula += " + linear_input_bytes * " + name + "_output";
        }
        return unfused ? formula : formula + " + 4 * " + name + "_heads / tp";
    }

    std::string experts(std::string const& name) {
        auto const& moe = model_.moe;
        double const f = moe.ffn > 0 ? moe.ffn : model_.ffn;
        dimension(name + "_expert_copies", moe.top_k * shape_.expert_load);
        dimension(name + "_expert_input", moe.latent > 0 ? moe.latent : sizes_.hidden);
        dimension(name + "_expert_width", f);
        dimension(name + "_shared_width",
                  moe.shared_experts * static_cast<double>(moe.shared_ffn > 0 ? moe.shared_ffn : f));
        dimension(name + "_experts", moe.experts);
        return "wide_token_bytes + (" + name + "_expert_copies * (linear_input_bytes * " + name +
               "_expert_input * etp + (element_bytes * branches + activation_copy_bytes + linear_input_bytes) * " +
               name + "_expert_width) + (element_bytes * branches + activation_copy_bytes + linear_input_bytes) * " +
               name + "_shared_width + element_bytes * " + name + "_experts) / tp";
    }

    TermBook& book_;
    Model const& model_;
    Framework const& framework_;
    LayerShape const& shape_;
    ActivationSizes sizes_;
};

} // namespace

void explain_activations(TermBook& book, StepSetting const& setting, LayerShape const& shape,
                         ShapeActivations const& kept) {
    Model const& model = setting.model;
    auto const& block = kept.block;
    ActivationTerms terms{book, setting, shape};
    explain_logits(book, setting, shape, kept);
    if (!model.operators.empty()) {
        book.add(TermKind::algorithm, "operator_output_bytes", "B", "outputs that the operators of a micro-batch keep",
                 block.kept, {"micro_batch", "element_bytes"});
        book.formula("kept_block_bytes", "B", "operator_output_bytes", block.kept);
        return;
    }
    double const layers = depth_of(model);
    double const trained = shape.trained == Trained::last_layers ? std::min(1.0, shape.trained_layers / layers) : 1.0;
    book.add(TermKind::option, "trained_blocks_share", "", "blocks with a backward pass, by --train", trained);
    book.add(TermKind::option, "recomputed_blocks_share", "", "blocks that --recompute is for", block.recomputed);
    std::string kept_sum, all_sum, again = "0", gradients = "0";
    BlockBytes mean;
    for (std::size_t i = 0; i < setting.blocks.size(); ++i) {
        auto const& run = setting.blocks[i];
        std::string const name = setting.blocks.size() == 1 ? "activations" : "activations_" + std::to_string(i + 1);
        terms.add(name, run.kind);
        book.add(TermKind::model, name + "_blocks_share", "", "blocks of this kind over all", run.count / layers);
        kept_sum += (i > 0 ? " + " : "") + name + "_blocks_share * " + name + "_kept_bytes";
        all_sum += (i > 0 ? " + " : "") + name + "_blocks_share * " + name + "_all_bytes";
        again += ", " + name + "_all_bytes - " + name + "_kept_bytes";
        gradients += ", " + name + "_gradient_bytes";
        auto const one = one_block(model, run.kind, shape, setting.framework);
        mean.kept += one.kept * run.count / layers, mean.all += one.all * run.count / layers;
    }
    book.formula("mean_kept_bytes", "B", kept_sum, mean.kept);
    book.formula("mean_all_bytes", "B", all_sum, mean.all);
    book.formula("kept_block_bytes", "B",
                 "recomputed_blocks_share * mean_kept_bytes + (trained_blocks_share - recomputed_blocks_share) * "
                 "mean_all_bytes",
                 block.kept);
    book.formula("recomputed_block_bytes", "B", "max(" + again + ")", block.again);
    book.formula("spared_block_bytes", "B", "mean_all_bytes - mean_kept_bytes", block.spared);
    if (setting.framework.keeps_cache) {
        book.add(TermKind::shape, "cached_block_bytes", "B",
                 "keys and values that stay until the forward pass has ended", block.cache);
    }
    book.formula("gradient_block_bytes", "B", trained > 0.0 ? "max(" + gradients + ")" : "0", block.gradients);
    if (model.prediction_layers > 0 && model.layers > 0) {
        terms.add("later_tokens", last_block(model));
        book.add(TermKind::model, "prediction_blocks", "", "blocks that predict later tokens", model.prediction_layers);
        book.formula(
            "later_tokens_bytes", "B",
            "prediction_blocks * (later_tokens_kept_bytes + tokens * element_bytes * 2 * hidden / hidden_ranks)",
            block.ahead);
    }
}

} // namespace headroom::training
