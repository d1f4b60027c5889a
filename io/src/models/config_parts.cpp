#include "models/config_parts.hpp"

#include "records/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {

using namespace headroom::training;

namespace {

/// The first of several names of one number.
std::optional<int> any_of(JsonKeys& keys, std::initializer_list<std::string_view> names, Range range) {
    std::optional<int> found;
    for (auto const name : names) {
        auto const value = keys.whole(name, range);
        if (!found) { found = value; }
    }
    return found;
}

int due(JsonKeys& keys, std::string_view key, Range range, std::string_view why) {
    if (auto const value = keys.whole(key, range)) { return *value; }
    keys.fail(key, "missing", std::string{why});
}

/// Layers listed as dense are modelled where they are the first ones.
void read_dense_layers(JsonKeys& keys, Model& model) {
    auto const listed = keys.wholes("mlp_only_layers", {0, limits::layers.high});
    for (std::size_t i = 0; i < listed.size(); ++i) {
        if (listed[i] != static_cast<int>(i)) {
            keys.fail("mlp_only_layers", fmt::format("layer {} is dense", listed[i]),
                      "dense layers are modelled before the routed ones, or between them at equal distances");
        }
    }
    model.moe.first_dense = static_cast<int>(listed.size());
    if (auto const first = keys.whole("first_k_dense_replace", {0, limits::layers.high})) {
        model.moe.first_dense = *first;
    }
}

void read_shared_experts(JsonKeys& keys, Model& model) {
    auto& moe = model.moe;
    moe.shared_experts = keys.whole("n_shared_experts", limits::experts).value_or(0);
    auto const width = any_of(
        keys, {"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"},
        {0, limits::ffn.high});
    if (!width || *width == 0) { return; }
    moe.shared_experts = std::max(1, moe.shared_experts);
    moe.shared_ffn = *width / moe.shared_experts; // stated for all of them together
}

/// Experts of a token may be limited to some groups of all.
void read_expert_groups(JsonKeys& keys, Model& model) {
    int const groups = keys.whole("n_group", limits::experts).value_or(1);
    int const taken = keys.whole("topk_group", limits::experts).value_or(0);
    if (groups > 1) { model.moe.group_limit = taken; }
}

} // namespace

void read_biases(JsonKeys& keys, Model& model, Notes&) {
    if (auto const bias = keys.flag("attention_bias")) { model.qkv_bias = model.out_bias = *bias; }
    if (auto const bias = keys.flag("mlp_bias")) { model.mlp_bias = *bias; }
}

void read_experts(JsonKeys& keys, Model& model, Notes& notes) {
    read_biases(keys, model, notes);
    auto& moe = model.moe;
    auto const experts = any_of(keys, {"num_local_experts", "num_experts", "n_routed_experts"}, limits::experts);
    if (!experts) { keys.fail("num_local_experts", "missing", "a mixture of experts states how many there are"); }
    moe.experts = *experts;
    if (moe.experts == 0) { return; }
    moe.top_k =
        due(keys, "num_experts_per_tok", limits::experts, "a mixture of experts states how many a token visits");
    moe.ffn = keys.whole("moe_intermediate_size", limits::ffn).value_or(model.ffn);
    moe.every = any_of(keys, {"decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step"}, limits::layers)
                    .value_or(1);
    read_dense_layers(keys, model);
    read_shared_experts(keys, model);
    read_expert_groups(keys, model);
}

void read_latent_attention(JsonKeys& keys, Model& model, Notes&) {
    constexpr std::string_view why = "latent attention states its dimensions";
    auto& latent = model.latent;
    latent.q_rank = keys.whole("q_lora_rank", {0, limits::hidden.high}).value_or(0);
    latent.kv_rank = due(keys, "kv_lora_rank", limits::hidden, why);
    latent.nope_dim = due(keys, "qk_nope_head_dim", limits::head_dim, why);
    latent.rope_dim = due(keys, "qk_rope_head_dim", {0, limits::head_dim.high}, why);
    latent.value_dim = due(keys, "v_head_dim", limits::head_dim, why);
    model.kv_heads = model.heads;
    model.head_dim = latent.value_dim;
}

void read_deepseek(JsonKeys& keys, Model& model, Notes& notes) {
    read_latent_attention(keys, model, notes);
    if (keys.has("n_routed_experts")) { read_experts(keys, model, notes); }
    // the bias that balances experts without a loss
    model.moe.router_bias = keys.text("topk_method").value_or("") == "noaux_tc";
}

void read_glm_moe(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    model.out_bias = false; // attention_bias means queries, keys and values only
    model.qk_norm = keys.flag("use_qk_norm").value_or(false);
    model.moe.router_bias = true;
}

void read_olmoe(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    // its norms reach over all heads together: more weights than head by head
    double const heads = model.heads + model.kv_heads - 2.0;
    model.other_parameters = model.layers * heads * model.head_dim;
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
    if (model.moe.shared_experts > 0) { // a gate of one output for the shared expert of each routed layer
        int const routed = (model.layers - model.moe.first_dense) / std::max(1, model.moe.every);
        model.other_parameters = static_cast<double>(routed) * model.hidden;
    }
}

void read_llama4(JsonKeys& keys, Model& model, Notes& notes) {
    read_experts(keys, model, notes);
    model.moe.ffn = model.ffn;
    model.moe.shared_experts = 1;
    if (auto const dense = keys.whole("intermediate_size_mlp", limits::ffn)) { model.ffn = *dense; }
    if (auto const chunk = keys.whole("attention_chunk_size", limits::positions)) {
        model.window = *chunk;
        model.full_every = 4;
        notes.push_back(
            fmt::format("chunks of {} tokens are counted as windows; each 4th layer sees everything", *chunk));
    }
}

void read_any_part(JsonKeys& keys, Model& model, Notes& notes) {
    bool const latent = keys.has("kv_lora_rank") && keys.has("qk_nope_head_dim");
    bool const experts = keys.has("num_local_experts") || keys.has("num_experts") || keys.has("n_routed_experts");
    read_biases(keys, model, notes);
    if (latent) { read_latent_attention(keys, model, notes); }
    if (experts) { read_experts(keys, model, notes); }
    model.qk_norm = keys.flag("use_qk_norm").value_or(false);
    notes.push_back(fmt::format("assumed {}{} attention, gated feed-forward layers{}, root-mean-square norms, {}",
                                model.qkv_bias ? "biased " : "", latent ? "latent" : "grouped",
                                experts ? " in experts" : "", "no biases but those stated"));
}

// ---- windows -------------------------------------------------------------------------------------------------------

namespace {

/// Each how-manieth layer is a full one, by a list of what each layer is; 0 when none is, nothing when irregular.
std::optional<int> full_every(std::vector<std::string> const& kinds) {
    auto const is_full = [&](std::size_t layer) { return kinds[layer].starts_with("full"); };
    std::size_t first = 0;
    while (first < kinds.size() && !is_full(first)) { ++first; }
    if (first == kinds.size()) { return 0; }
    for (std::size_t layer = 0; layer < kinds.size(); ++layer) {
        if (is_full(layer) != ((layer + 1) % (first + 1) == 0)) { return std::nullopt; }
    }
    return static_cast<int>(first) + 1;
}

} // namespace

void read_window(JsonKeys& keys, Architecture const& architecture, Model& model, Notes& notes) {
    auto const window = keys.whole("sliding_window", limits::positions);
    bool const used = keys.flag("use_sliding_window").value_or(true);
    if (window && used && *window > 0) {
        model.window = *window;
        model.full_every = architecture.full_every;
    }
    if (auto const pattern = keys.whole("sliding_window_pattern", limits::layers); pattern && model.window > 0) {
        model.full_every = *pattern;
    }
    auto const kinds = keys.texts("layer_types");
    if (model.window == 0) { return; }
    if (!kinds.empty()) {
        auto const every = full_every(kinds);
        if (every == 1 || !every) { model.window = 0; }
        model.full_every = model.window > 0 ? *every : 0;
        if (!every) { notes.emplace_back("layer_types has no period: every layer is counted as seeing everything"); }
    }
    if (model.max_positions == 0 || model.window < model.max_positions) { return; }
    notes.push_back(
        fmt::format("sliding_window of {} is not shorter than the longest sequence of {}: it is ignored, every "
                    "layer sees everything",
                    model.window, model.max_positions));
    model.window = model.full_every = 0;
}

} // namespace headroom::io
