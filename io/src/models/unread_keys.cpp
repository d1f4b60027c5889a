#include "models/unread_keys.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {

namespace {

/// Parts of the names of keys that shape layers, and of keys that hold one of these and shape none.
constexpr std::array<std::string_view, 34> telling{
    "expert",  "moe",       "lora",     "ssm",       "mamba",  "conv",     "linear", "hybrid", "layer_types",
    "cross",   "per_layer", "bias",     "norm",      "state",  "head",     "group",  "rank",   "shared",
    "index_",  "compress",  "pattern",  "gate",      "block_", "other_",   "layers", "_dim",   "cla_",
    "sliding", "tie_emb",   "tied_emb", "share_emb", "loop",   "ut_steps", "recurr"};
constexpr std::array<std::string_view, 77> harmless{"_eps",
                                                    "epsilon",
                                                    "dropout",
                                                    "initializer",
                                                    "rope",
                                                    "norm_topk_prob",
                                                    "loss",
                                                    "router_jitter",
                                                    "coef",
                                                    "scoring_func",
                                                    "token",
                                                    "scaling",
                                                    "residual_in",
                                                    "time_step",
                                                    "hidden_act",
                                                    "chunk_size",
                                                    "use_mamba",
                                                    "num_logits",
                                                    "rescale",
                                                    "rotary",
                                                    "normalizer",
                                                    "router_dtype",
                                                    "router_activation",
                                                    "output_router",
                                                    "position_bias",
                                                    "logits",
                                                    "head_scale",
                                                    "ep_size",
                                                    "fused",
                                                    "state_dict",
                                                    "kv_cache",
                                                    "gradient",
                                                    "routing_bias",
                                                    "moe_router_bias",
                                                    "expert_capacity",
                                                    "cache_implementation",
                                                    "query_key_layer_scaling",
                                                    "layerdrop",
                                                    "pruned_heads",
                                                    "seq_aux",
                                                    "index_rope",
                                                    "indexer_rope",
                                                    "_dtype",
                                                    "gated_act",
                                                    "interleaved_layers",
                                                    "sliding_window_pattern",
                                                    "use_rmsnorm",
                                                    "beam",
                                                    "gqa_groups",
                                                    "normalization_layer",
                                                    "block_dim",
                                                    "conv_dim",
                                                    "renormalize",
                                                    "expert_group",
                                                    "grouped_topk",
                                                    "moe_capacity",
                                                    "mixed_mlp",
                                                    "layernorm_full",
                                                    "layernorm_linear",
                                                    "layernorm_mlp",
                                                    "postnorm",
                                                    "moe_mode",
                                                    "mamba_use_mlp",
                                                    "max_window_layers",
                                                    "init_scale",
                                                    "xavier",
                                                    "skip_bias",
                                                    "norm_before_gate",
                                                    "moe_gate",
                                                    "normalization_function",
                                                    "normalize_before",
                                                    "normalize_embedding",
                                                    "add_final_layer_norm",
                                                    "_fp32",
                                                    "fp32_residual",
                                                    "route_norm",
                                                    "grouped_mm"};

/// Names of an unknown type: tables of other sizes, parts with a configuration of their own, experts that are switched off.
constexpr std::array<std::string_view, 5> telling_unknown{"embedding_size", "emb_size", "codebook", "_vocab_size",
                                                          "is_moe"};
constexpr std::array<std::string_view, 4> harmless_parts{"quantization_config", "generation_config", "peft_config",
                                                         "type_vocab_size"};

bool any_in(auto const& words, std::string_view key) {
    return std::ranges::any_of(words,
                               [key](std::string_view word) { return key.find(word) != std::string_view::npos; });
}

} // namespace

bool may_change_counts(std::string_view key) { return any_in(telling, key) && !any_in(harmless, key); }

bool names_another_part(JsonKeys const& keys, std::string_view key) {
    if (std::ranges::find(harmless_parts, key) != harmless_parts.end()) { return false; }
    return (key.ends_with("_config") && keys.has_object(key)) || any_in(telling_unknown, key);
}

} // namespace headroom::io
