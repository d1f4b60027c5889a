#include "models/config_parts.hpp"

#include "records/records.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

using namespace headroom::training;

namespace {

void read_shared_experts(JsonKeys& keys, Model& model) {
    auto& moe = model.moe;
    moe.shared_experts =
        keys.whole({"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"},
                   {0, limits::experts.high})
            .value_or(0);
    auto const width = keys.whole({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                                   "shared_intermediate_size", "share_expert_dim"},
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

/// Sparse attention: an indexer chooses the keys that each query reads.
void read_indexer(JsonKeys& keys, Model& model) {
    auto const heads = keys.whole("index_n_heads", limits::heads);
    if (!heads) { return; }
    constexpr std::string_view why = "an indexer states its dimensions";
    model.indexer.heads = *heads;
    model.indexer.head_dim = due(keys, "index_head_dim", limits::head_dim, why);
    model.indexer.top_k = due(keys, "index_topk", limits::positions, why);
}

} // namespace

int due(JsonKeys& keys, std::string_view key, Range range, std::string_view why) {
    if (auto const value = keys.whole(key, range)) { return *value; }
    keys.fail(key, "missing", std::string{why});
}

void read_biases(JsonKeys& keys, Model& model, Notes&) {
    if (auto const bias = keys.flag("attention_bias")) { model.qkv_bias = model.out_bias = *bias; }
    if (auto const bias = keys.flag("mlp_bias")) { model.mlp_bias = *bias; }
}

void read_input_biases(JsonKeys& keys, Model& model, Notes&) {
    for (auto const key : {"attention_bias", "use_qkv_bias"}) {
        if (auto const bias = keys.flag(key)) { model.qkv_bias = *bias; }
    }
}

void read_one_bias(JsonKeys& keys, Model& model, Notes&) {
    if (auto const bias = keys.flag("bias")) { model.qkv_bias = model.out_bias = *bias; }
}

void read_experts(JsonKeys& keys, Model& model, Notes& notes) {
    read_biases(keys, model, notes);
    auto& moe = model.moe;
    auto const experts = keys.whole({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"},
                                    {0, limits::experts.high});
    if (!experts) { keys.fail("num_local_experts", "missing", "a mixture of experts states how many there are"); }
    moe.experts = *experts;
    if (moe.experts == 0) { return; }
    auto const top_k = keys.whole({"num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_topk",
                                   "moe_top_k", "moe_k", "top_k_experts", "num_selected_experts"},
                                  limits::experts);
    if (!top_k) { keys.fail("num_experts_per_tok", "missing", "a mixture of experts states how many a token visits"); }
    moe.top_k = *top_k;
    moe.ffn = keys.whole({"moe_intermediate_size", "expert_intermediate_size", "moe_ffn_hidden_size"}, limits::ffn)
                  .value_or(model.ffn);
    auto const first = keys.whole({"first_k_dense_replace", "num_dense_layers"}, {0, limits::layers.high});
    moe.first_dense = first.value_or(0);
    auto const every = keys.whole({"decoder_sparse_step", "interleave_moe_layer_step"}, limits::layers);
    moe.every = every.value_or(1);
    read_shared_experts(keys, model);
    read_expert_groups(keys, model);
    // the bias that balances experts without a loss
    if (keys.text("topk_method").value_or("") == "noaux_tc") { moe.router_bias = true; }
}

void read_latent_attention(JsonKeys& keys, Model& model, Notes&) {
    constexpr std::string_view why = "latent attention states its dimensions";
    auto& latent = model.latent;
    latent.q_rank = keys.whole("q_lora_rank", {0, limits::hidden.high}).value_or(0);
    latent.kv_rank = due(keys, "kv_lora_rank", limits::hidden, why);
    latent.nope_dim = due(keys, "qk_nope_head_dim", limits::head_dim, why);
    latent.rope_dim = due(keys, "qk_rope_head_dim", {0, limits::head_dim.high}, why);
    latent.value_dim = due(keys, "v_head_dim", limits::head_dim, why);
    auto const whole_head = keys.whole("qk_head_dim", limits::head_dim);
    if (whole_head && *whole_head != latent.nope_dim + latent.rope_dim) {
        keys.fail("qk_head_dim", fmt::format("{} is not {} + {}", *whole_head, latent.nope_dim, latent.rope_dim),
                  "a head of queries and keys has a part with positions and one without");
    }
    model.kv_heads = model.heads;
    model.head_dim = latent.value_dim;
}

void read_deepseek(JsonKeys& keys, Model& model, Notes& notes) {
    bool const latent = keys.flag("use_mla").value_or(true); // the smallest vision-language model has common attention
    if (latent) { read_latent_attention(keys, model, notes); }
    read_indexer(keys, model);
    if (keys.has("n_routed_experts")) { read_experts(keys, model, notes); }
}

void read_any_part(JsonKeys& keys, Model& model, Notes& notes) {
    bool const latent = keys.has("kv_lora_rank") && keys.has("qk_nope_head_dim");
    bool const experts = keys.has("num_local_experts") || keys.has("num_experts") || keys.has("n_routed_experts") ||
                         keys.has("moe_num_experts");
    read_biases(keys, model, notes);
    if (latent) { read_latent_attention(keys, model, notes); }
    if (latent) { read_indexer(keys, model); }
    if (experts) { read_experts(keys, model, notes); }
    model.qk_norm = keys.flag("use_qk_norm").value_or(false);
    notes.push_back(fmt::format("assumed {}{} attention, feed-forward layers{}, root-mean-square norms, {}",
                                model.qkv_bias ? "biased " : "", latent ? "latent" : "grouped",
                                experts ? " in experts" : "", "no biases but those stated"));
}

} // namespace headroom::io
