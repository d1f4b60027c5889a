#include "models/config_parts.hpp"
#include "records/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headroom::io {

using namespace headroom::training;

namespace {

/// A width computed from a factor of the file.
double within(JsonKeys const& keys, std::string_view key, double width) {
    if (!(width >= 0.0 && width <= limits::ffn.high / 2.0)) {
        keys.fail(key, fmt::format("a width of {:.4g} is out of range", width));
    }
    return width;
}

/// The next multiple of a step at or above a width.
int rounded_up(double width, int step) { return static_cast<int>(std::ceil(width / step)) * step; }

/// The multiple of a step next to a width, but not a tenth below it.
int nearest_multiple(double width, int step) {
    int const near = std::max(step, static_cast<int>(width + step / 2.0) / step * step);
    return near < 0.9 * width ? near + step : near;
}

/// Norms of queries and keys by a switch of several names.
void read_query_key_norm(JsonKeys& keys, Model& model) {
    for (auto const key : {"use_qk_norm", "qk_layernorm", "qk_norm"}) {
        if (auto const normed = keys.flag(key)) { model.qk_norm = *normed; }
    }
}

} // namespace

// ---- blocks as Llama's ----------------------------------------------------------------------------------------------

/// Its `intermediate_size` counts both products into the feed-forward layer, and `no_bias` leaves those of attention.
void read_qwen1(JsonKeys& keys, Model& model, Notes&) {
    if (keys.has("intermediate_size")) { model.ffn /= 2; }
    if (!keys.flag("no_bias").value_or(true)) { model.out_bias = model.mlp_bias = true; }
}

/// Embeddings of every layer: a table, the product and norm that mix it with the input.
void read_per_layer_inputs(JsonKeys& keys, Model& model) {
    model.per_layer_input = keys.whole("hidden_size_per_layer_input", {0, limits::hidden.high}).value_or(0);
    if (model.per_layer_input == 0) { return; }
    double const words = keys.whole("vocab_size_per_layer_input", limits::vocab).value_or(model.vocab);
    double const all = static_cast<double>(model.layers) * model.per_layer_input;
    model.other_parameters += words * all + model.hidden * all + model.per_layer_input;
}

void read_gemma3n(JsonKeys& keys, Model& model, Notes& notes) {
    read_biases(keys, model, notes);
    read_per_layer_inputs(keys, model);
    double const h = model.hidden;
    double const inputs = keys.whole("altup_num_inputs", {1, 64}).value_or(4);
    double const rank = keys.whole("laurel_rank", limits::hidden).value_or(64);
    // low-rank residual with its norm; of the updates coefficients, router, its norm and a scale
    double const a_layer = 2.0 * h * rank + h + inputs * inputs + inputs * inputs * inputs + inputs * h + 2.0 * h;
    model.other_parameters += model.layers * a_layer + 2.0 * (inputs - 1.0) * h * h;
    keys.whole("num_kv_shared_layers", {0, limits::layers.high}); // these have projections all the same
}

/// Layers that see everything have heads of their own size; the last ones borrow keys and values. Dense and routed
/// feed-forward layers stand side by side, each with norms.
void read_gemma4(JsonKeys& keys, Model& model, Notes& notes) {
    read_biases(keys, model, notes);
    read_per_layer_inputs(keys, model);
    if (!keys.flag("enable_moe_block").value_or(false)) { return; }
    read_experts(keys, model, notes);
    model.moe.shared_experts = 1;
    model.moe.shared_ffn = model.ffn;
    model.norms_per_layer = 7;
    // scales of the router's input and of each expert
    model.other_parameters += static_cast<double>(model.layers) * (model.hidden + model.moe.experts);
}

void read_stablelm(JsonKeys& keys, Model& model, Notes&) {
    model.qkv_bias = keys.flag("use_qkv_bias").value_or(false);
    if (keys.flag("use_parallel_residual").value_or(false)) {
        model.parallel_block = true;
        model.norms_per_layer = 1;
    }
    if (!keys.flag("qk_layernorm").value_or(false)) { return; }
    model.qk_norm = model.qk_norm_whole = true; // a norm for every head, without a bias
    double const weights = (model.heads + static_cast<double>(model.kv_heads)) * model.head_dim;
    model.other_parameters -= model.layers * weights;
}

void read_internlm3(JsonKeys& keys, Model& model, Notes&) {
    model.qkv_bias = keys.flag("qkv_bias").value_or(false);
    if (auto const bias = keys.flag("bias")) { model.out_bias = model.mlp_bias = *bias; }
}

void read_seed(JsonKeys& keys, Model& model, Notes&) {
    if (auto const bias = keys.flag("attention_bias")) { model.qkv_bias = *bias; }
    if (auto const bias = keys.flag("attention_out_bias")) { model.out_bias = *bias; }
    if (auto const bias = keys.flag("mlp_bias")) { model.mlp_bias = *bias; }
}

/// The 13B variants have no rotary positions, and another name for the longest sequence.
void read_baichuan(JsonKeys& keys, Model& model, Notes&) {
    if (!keys.has("max_position_embeddings") && keys.has("model_max_length")) { model.positions = Positions::alibi; }
}

void read_hyperclovax(JsonKeys& keys, Model& model, Notes& notes) {
    read_biases(keys, model, notes);
    if (keys.flag("use_post_norm").value_or(false)) { model.norms_per_layer = 4; }
}

void read_cohere(JsonKeys& keys, Model& model, Notes& notes) {
    read_biases(keys, model, notes);
    model.qk_norm = model.qk_norm_whole = keys.flag("use_qk_norm").value_or(false); // a norm for every head
}

void read_ernie(JsonKeys& keys, Model& model, Notes&) {
    if (auto const bias = keys.flag("use_bias")) { model.qkv_bias = model.out_bias = model.mlp_bias = *bias; }
}

void read_chatglm(JsonKeys& keys, Model& model, Notes&) {
    if (auto const bias = keys.flag("add_qkv_bias")) { model.qkv_bias = *bias; }
    if (auto const bias = keys.flag("add_bias_linear"); bias && *bias) {
        model.qkv_bias = model.out_bias = model.mlp_bias = true;
    }
    if (!keys.flag("rmsnorm").value_or(true)) {
        model.norm = Normalisation::layer;
        model.norm_bias = true;
    }
    model.final_norm = keys.flag("post_layer_norm").value_or(true);
    if (!keys.flag("multi_query_attention").value_or(true)) { model.kv_heads = model.heads; }
}

/// A learned activation: two numbers a layer.
void read_apertus(JsonKeys& keys, Model& model, Notes& notes) {
    read_biases(keys, model, notes);
    read_query_key_norm(keys, model);
    if (keys.text("hidden_act").value_or("xielu") == "xielu") { model.other_parameters += 2.0 * model.layers; }
}

/// Layers found by search: each states its key groups and feed-forward width, or that it has none.
void read_nas(JsonKeys& keys, Model& model, Notes& notes) {
    read_biases(keys, model, notes);
    auto const attention = keys.parts("block_configs", "attention", {"n_heads_in_group"});
    auto const ffn = keys.parts("block_configs", "ffn", {"ffn_mult"});
    if (attention.size() != static_cast<std::size_t>(model.layers)) {
        keys.fail("block_configs", fmt::format("{} entries for {} layers", attention.size(), model.layers),
                  "one entry is one layer");
    }
    for (std::size_t layer = 0; layer < attention.size(); ++layer) {
        if (attention[layer].linear || ffn[layer].linear) {
            keys.fail("block_configs", fmt::format("layer {} is replaced with a linear one", layer),
                      "such layers are not modelled");
        }
        BlockKind kind;
        double const stated = attention[layer].numbers.front();
        if (!(stated >= 0.0 && stated <= limits::heads.high)) {
            keys.fail("block_configs", fmt::format("n_heads_in_group of {:.4g} in layer {}", stated, layer),
                      fmt::format("from 1 to {:.0f}", limits::heads.high));
        }
        int const group = std::max(1, static_cast<int>(stated));
        kind.kv_heads = std::max(1, model.heads / group);
        kind.ffn = rounded_up(
            within(keys, "block_configs", std::floor(2.0 * ffn[layer].numbers.front() * model.hidden / 3.0)), 256);
        if (attention[layer].absent) { kind.mixer = Mixer::none, kind.kv_heads = 0; }
        if (ffn[layer].absent) { kind.channel = Channel::none, kind.ffn = 0; }
        model.plan.push_back(kind);
    }
    model.ffn = std::ranges::max(model.plan, {}, &BlockKind::ffn).ffn;
    model.kv_heads = std::ranges::max(model.plan, {}, &BlockKind::kv_heads).kv_heads;
}

/// Heads and feed-forward widths grow with depth.
void read_openelm(JsonKeys& keys, Model& model, Notes&) {
    auto const heads = keys.wholes("num_query_heads", limits::heads);
    auto const kv_heads = keys.wholes("num_kv_heads", limits::heads);
    auto const widths = keys.reals("ffn_multipliers");
    std::size_t const layers = static_cast<std::size_t>(model.layers);
    for (auto const& [key, entries] : {std::pair{"num_query_heads", heads.size()},
                                       {"num_kv_heads", kv_heads.size()},
                                       {"ffn_multipliers", widths.size()}}) {
        if (entries != layers) {
            keys.fail(key, fmt::format("{} entries for {} layers", entries, layers), "one entry is one layer");
        }
    }
    int const divisor = keys.whole("ffn_dim_divisor", limits::ffn).value_or(256);
    for (std::size_t layer = 0; layer < layers; ++layer) {
        model.plan.push_back(
            {.heads = heads[layer],
             .kv_heads = kv_heads[layer],
             .ffn = nearest_multiple(within(keys, "ffn_multipliers", widths[layer] * model.hidden), divisor)});
    }
    model.heads = std::ranges::max(heads);
    model.kv_heads = std::ranges::max(kv_heads);
    model.ffn = std::ranges::max(model.plan, {}, &BlockKind::ffn).ffn;
    model.tied_embeddings = keys.flag("share_input_output_layers").value_or(true);
    model.qk_norm = keys.flag("normalize_qk_projections").value_or(true);
    if (!keys.flag("ffn_with_glu").value_or(true)) { model.feed_forward = FeedForward::plain; }
}

// ---- blocks as GPT's ------------------------------------------------------------------------------------------------

void read_phi(JsonKeys& keys, Model& model, Notes&) { read_query_key_norm(keys, model); }

void read_falcon(JsonKeys& keys, Model& model, Notes&) {
    bool const grouped = keys.flag("new_decoder_architecture").value_or(keys.has("n_head_kv")); // unsaid in older files
    bool const multi = keys.flag("multi_query").value_or(true);
    bool const parallel = keys.flag("parallel_attn").value_or(true) || grouped;
    bool const bias = keys.flag("bias").value_or(false);
    if (!grouped) { model.kv_heads = multi ? 1 : model.heads; } // its key heads are stated for the grouped kind only
    if (keys.flag("alibi").value_or(false)) { model.positions = Positions::alibi; }
    model.parallel_block = parallel;
    int const norms = grouped ? keys.whole("num_ln_in_parallel_attn", {1, 2}).value_or(2) : 1;
    model.norms_per_layer = parallel ? norms : 2;
    model.qkv_bias = model.out_bias = model.mlp_bias = bias;
}

/// Norms also stand in front of the products out of attention and of the feed-forward layer.
void read_bitnet(JsonKeys& keys, Model& model, Notes& notes) {
    read_biases(keys, model, notes);
    model.other_parameters += static_cast<double>(model.layers) * (model.hidden + model.ffn);
}

void read_gpt2(JsonKeys& keys, Model& model, Notes&) {
    if (keys.text("attention_head_type").value_or("") == "multiquery") { model.kv_heads = 1; }
}

/// Layers in a list are global, or see a window.
void read_gpt_neo(JsonKeys& keys, Model& model, Notes& notes) {
    int const window = keys.whole("window_size", limits::positions).value_or(256);
    if (keys.has_list("attention_layers")) {
        model.window = window;
    } else {
        notes.emplace_back("the window of every second layer is not modelled: attention_layers is not stated");
    }
}

void read_neox(JsonKeys& keys, Model& model, Notes&) {
    model.parallel_block = keys.flag("use_parallel_residual").value_or(true);
    if (auto const bias = keys.flag("attention_bias")) { model.qkv_bias = model.out_bias = *bias; }
}

void read_opt(JsonKeys& keys, Model& model, Notes&) {
    auto const width = keys.whole("word_embed_proj_dim", {1, 1'000'000});
    if (width && *width != model.hidden) {
        keys.fail("word_embed_proj_dim", fmt::format("{} is not hidden_size {}", *width, model.hidden),
                  "projected embeddings are not modelled");
    }
    bool const before = keys.flag("do_layer_norm_before").value_or(true);
    model.final_norm = before && !keys.flag("_remove_final_layer_norm").value_or(false);
    if (auto const bias = keys.flag("enable_bias")) { model.qkv_bias = model.out_bias = model.mlp_bias = *bias; }
    if (auto const affine = keys.flag("layer_norm_elementwise_affine")) {
        model.norm_affine = model.norm_bias = *affine;
    }
}

void read_mpt(JsonKeys& keys, Model& model, Notes&) {
    if (keys.flag("no_bias").value_or(false)) {
        model.norm_bias = model.qkv_bias = model.out_bias = model.mlp_bias = false;
    }
    if (keys.flag("attn_config.alibi").value_or(false)) {
        model.positions = Positions::alibi;
    } else if (keys.flag("attn_config.rope").value_or(false)) {
        model.positions = Positions::rotary;
    } else if (!keys.flag("learned_pos_emb").value_or(true)) {
        model.positions = Positions::none;
    }
    auto const kind = keys.text("attn_config.attn_type").value_or("multihead_attention");
    if (kind == "multiquery_attention") { model.kv_heads = 1; }
    auto const norm = keys.text("norm_type").value_or("low_precision_layernorm");
    if (norm.ends_with("rmsnorm")) {
        model.norm = Normalisation::rms;
        model.norm_bias = false;
    }
    if (auto const ratio = keys.whole("expansion_ratio", {1, 64})) { model.ffn = model.hidden * *ratio; }
}

void read_bigcode(JsonKeys& keys, Model& model, Notes&) {
    model.kv_heads = keys.flag("multi_query").value_or(true) ? 1 : model.heads;
}

void read_starcoder2(JsonKeys& keys, Model& model, Notes&) {
    if (auto const norm = keys.text("norm_type"); norm && *norm == "rms_norm") {
        model.norm = Normalisation::rms;
        model.norm_bias = false;
    }
    if (auto const kind = keys.text("mlp_type"); kind && *kind == "gated") { model.feed_forward = FeedForward::gated; }
    if (auto const bias = keys.flag("use_bias")) { model.qkv_bias = model.out_bias = model.mlp_bias = *bias; }
}

// ---- experts --------------------------------------------------------------------------------------------------------

void read_glm_moe(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    model.out_bias = false; // attention_bias means queries, keys and values only
    read_query_key_norm(keys, model);
}

void read_phimoe(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    model.head_bias = keys.flag("lm_head_bias").value_or(false);
}

void read_dbrx(JsonKeys& keys, Model& model, Notes&) {
    constexpr std::string_view why = "a mixture of experts states how many there are, and how many a token visits";
    model.moe.experts = due(keys, "ffn_config.moe_num_experts", limits::experts, why);
    model.moe.top_k = due(keys, "ffn_config.moe_top_k", limits::experts, why);
    model.moe.ffn = model.ffn;
}

void read_qwen_moe(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    model.qkv_bias = keys.flag("qkv_bias").value_or(true);
    model.out_bias = false;
    model.moe.shared_gate = model.moe.shared_experts > 0;
}

void read_llama4(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    keys.flag("use_qk_norm"); // without weights
    model.moe.ffn = model.ffn;
    model.moe.shared_experts = 1;
    if (auto const dense = keys.whole("intermediate_size_mlp", limits::ffn)) { model.ffn = *dense; }
    if (auto const chunk = keys.whole("attention_chunk_size", limits::positions)) {
        model.window = *chunk;
        model.chunked = true;
        model.full_every = 4;
        notes.push_back(fmt::format("attention in chunks of {} tokens; each 4th layer sees everything", *chunk));
    }
}

void read_minimax_m2(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    model.moe.router_bias = keys.flag("use_routing_bias").value_or(true);
    model.qk_norm = keys.flag("use_qk_norm").value_or(true);
    model.qk_norm_whole = keys.text("qk_norm_type").value_or("per_layer") == "per_layer";
}

void read_hunyuan(JsonKeys& keys, Model& model, Notes& notes) {
    keys.text("norm_type");                         // its code has one kind
    keys.whole("cla_share_factor", limits::layers); // of layers that share keys and values
    if (keys.flag("use_cla").value_or(false)) {
        keys.fail("use_cla", "true", "keys and values that layers share are not modelled");
    }
    read_biases(keys, model, notes);
    read_query_key_norm(keys, model);
    if (keys.has("num_experts") && keys.whole("num_experts", limits::experts) > 1) { read_experts(keys, model, notes); }
}

void read_bailing(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    if (auto const bias = keys.flag("use_qkv_bias")) { model.qkv_bias = *bias; }
    if (auto const bias = keys.flag("use_bias")) { model.out_bias = *bias; }
    read_query_key_norm(keys, model);
    if (auto const bias = keys.flag("moe_router_enable_expert_bias")) { model.moe.router_bias = *bias; }
}

void read_ernie_moe(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    read_ernie(keys, model, notes);
    model.moe.router_bias = keys.flag("moe_use_aux_free").value_or(true);
}

/// Layers with a window have key heads of their own, and sinks.
void read_mimo_v2(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    model.value_dim = keys.whole("v_head_dim", limits::head_dim).value_or(model.head_dim);
    for (auto const& [key, same] : {std::pair{"swa_num_attention_heads", model.heads},
                                    {"swa_head_dim", model.head_dim},
                                    {"swa_v_head_dim", model.value_dim}}) {
        auto const other = keys.whole(key, limits::head_dim);
        if (other && *other != same) {
            keys.fail(key, fmt::format("{} against {} of full layers", *other, same), "both are modelled alike");
        }
    }
    model.sinks = keys.flag("add_full_attention_sink_bias").value_or(false);
}

} // namespace headroom::io
