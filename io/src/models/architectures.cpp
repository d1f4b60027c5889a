#include "models/architectures.hpp"

#include "models/config_parts.hpp"
#include "records/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace headroom::io {

using namespace headroom::training;

namespace {

// ---- traits that several types share -------------------------------------------------------------------------------

/// The default of Model: gated silu, root-mean-square norms, rotary positions, no biases, an output head of its own.
Model llama_traits() { return {}; }

/// Plain feed-forward, layer norms and biases everywhere.
Model gpt_traits() {
    Model model;
    model.feed_forward = FeedForward::plain;
    model.activation = "gelu_tanh";
    model.norm = Normalisation::layer;
    model.norm_bias = model.qkv_bias = model.out_bias = model.mlp_bias = true;
    return model;
}

Model with(Model model, void (*change)(Model&)) {
    change(model);
    return model;
}

constexpr std::string_view no_upper_windows = "windows of upper layers (max_window_layers) are not modelled";
constexpr std::string_view text_alone = "the language model alone is read: the vision tower is not counted";
constexpr std::string_view query_key_norms = "the norms of queries and keys are not modelled";

// ---- what the keys of a type change --------------------------------------------------------------------------------

void read_one_bias(JsonKeys& keys, Model& model, Notes&) {
    if (auto const bias = keys.flag("bias")) { model.qkv_bias = model.out_bias = *bias; }
}

void read_falcon(JsonKeys& keys, Model& model, Notes&) {
    bool const grouped = keys.flag("new_decoder_architecture").value_or(false);
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
    if (keys.flag("multi_query").value_or(true)) { model.kv_heads = 1; }
}

void read_starcoder2(JsonKeys& keys, Model& model, Notes&) {
    if (auto const bias = keys.flag("use_bias")) { model.qkv_bias = model.out_bias = model.mlp_bias = *bias; }
}

void read_stablelm(JsonKeys& keys, Model& model, Notes&) {
    model.qkv_bias = keys.flag("use_qkv_bias").value_or(false);
    if (keys.flag("use_parallel_residual").value_or(false)) {
        model.parallel_block = true;
        model.norms_per_layer = 1;
    }
    if (keys.flag("qk_layernorm").value_or(false)) { keys.fail("qk_layernorm", "true", std::string{query_key_norms}); }
}

void read_phi(JsonKeys& keys, Model&, Notes&) {
    if (keys.flag("qk_layernorm").value_or(false)) { keys.fail("qk_layernorm", "true", std::string{query_key_norms}); }
}

/// The 13B variants have no rotary positions, and another name for the longest sequence.
void read_baichuan(JsonKeys& keys, Model& model, Notes&) {
    if (!keys.has("max_position_embeddings") && keys.has("model_max_length")) { model.positions = Positions::alibi; }
}

// ---- the tables ----------------------------------------------------------------------------------------------------

/// Types whose blocks are those of Llama, but for what is said.
std::vector<Architecture> llama_like() {
    Model const llama = llama_traits();
    Model const gemma = with(llama, [](Model& model) {
        model.activation = "gelu_tanh";
        model.tied_embeddings = true;
    });
    Model const gemma2 = with(gemma, [](Model& model) { model.norms_per_layer = 4; });
    Model const qwen2 = with(llama, [](Model& model) { model.qkv_bias = true; });
    Model const internlm = with(llama, [](Model& model) { model.qkv_bias = model.out_bias = true; });
    Model const stablelm = with(llama, [](Model& model) {
        model.norm = Normalisation::layer;
        model.norm_bias = true;
    });
    Model const olmo = with(llama, [](Model& model) {
        model.norm = Normalisation::layer;
        model.norm_affine = false;
    });
    Model const cohere = with(llama, [](Model& model) {
        model.norm = Normalisation::layer;
        model.parallel_block = model.tied_embeddings = true;
        model.norms_per_layer = 1;
    });
    Model const qwen3 = with(llama, [](Model& model) { model.qk_norm = true; });
    Model const gemma3 = with(gemma2, [](Model& model) { model.qk_norm = true; });

    return {
        {.type = "llama", .traits = llama, .adjust = read_biases},
        {.type = "mistral", .traits = llama, .windowed = true},
        {.type = "qwen2", .traits = qwen2, .note = no_upper_windows},
        {.type = "qwen2_vl", .traits = qwen2, .note = text_alone, .vision_left_out = true},
        {.type = "qwen2_vl_text", .traits = qwen2},
        {.type = "qwen2_5_vl", .traits = qwen2, .note = text_alone, .vision_left_out = true},
        {.type = "qwen2_5_vl_text", .traits = qwen2},
        {.type = "qwen3", .traits = qwen3, .default_head_dim = 128, .adjust = read_biases},
        {.type = "gemma", .traits = gemma, .default_head_dim = 256, .adjust = read_biases},
        {.type = "gemma2",
         .traits = gemma2,
         .default_head_dim = 256,
         .adjust = read_biases,
         .windowed = true,
         .full_every = 2},
        {.type = "gemma3_text",
         .traits = gemma3,
         .default_head_dim = 256,
         .adjust = read_biases,
         .windowed = true,
         .full_every = 6,
         .default_heads = 8,
         .default_kv_heads = 4,
         .default_vocab = 262'208,
         .default_positions = 131'072},
        {.type = "phi3", .traits = llama, .windowed = true},
        {.type = "stablelm", .traits = stablelm, .adjust = read_stablelm},
        {.type = "internlm", .traits = internlm, .adjust = read_one_bias},
        {.type = "internlm2", .traits = llama, .adjust = read_one_bias},
        {.type = "baichuan", .traits = llama, .adjust = read_baichuan},
        {.type = "olmo", .traits = olmo, .adjust = read_biases},
        {.type = "granite", .traits = llama, .adjust = read_biases},
        {.type = "cohere", .traits = cohere, .adjust = read_biases},
    };
}

/// Types with experts, latent attention or state-space layers.
std::vector<Architecture> mixtures_and_hybrids() {
    Model const llama = llama_traits();
    Model const normed = with(llama, [](Model& model) { model.qk_norm = true; });
    Model const gpt_oss = with(llama, [](Model& model) {
        model.qkv_bias = model.out_bias = model.mlp_bias = model.sinks = model.moe.router_bias = true;
    });
    Model const phimoe = with(llama, [](Model& model) {
        model.norm = Normalisation::layer;
        model.norm_bias = true;
    });
    Model const dbrx = with(llama, [](Model& model) { model.norm = Normalisation::layer; });
    Model const hybrid = with(llama, [](Model& model) {
        model.feed_forward = FeedForward::plain;
        model.activation = "squared_relu";
        model.positions = Positions::none;
    });
    Model const mamba2 = with(hybrid, [](Model& model) { model.tied_embeddings = true; });

    return {
        {.type = "mixtral", .traits = llama, .adjust = read_experts, .windowed = true},
        {.type = "granitemoe", .traits = llama, .adjust = read_experts},
        {.type = "qwen2_moe", .traits = llama, .adjust = read_qwen_moe},
        {.type = "qwen3_moe", .traits = normed, .adjust = read_experts},
        {.type = "olmoe", .traits = normed, .adjust = read_olmoe},
        {.type = "phimoe", .traits = phimoe, .adjust = read_phimoe, .windowed = true},
        {.type = "dbrx", .traits = dbrx, .adjust = read_dbrx},
        {.type = "glm4_moe", .traits = llama, .adjust = read_glm_moe},
        {.type = "gpt_oss",
         .traits = gpt_oss,
         .default_head_dim = 64,
         .adjust = read_experts,
         .windowed = true,
         .full_every = 2},
        {.type = "llama4_text", .traits = llama, .default_head_dim = 128, .adjust = read_llama4},
        {.type = "llama4", .traits = llama, .default_head_dim = 128, .adjust = read_llama4},
        {.type = "deepseek", .traits = llama, .adjust = read_experts},
        {.type = "deepseek_v2", .traits = llama, .adjust = read_deepseek},
        {.type = "deepseek_v3", .traits = llama, .adjust = read_deepseek},
        {.type = "kimi_k2", .traits = llama, .adjust = read_deepseek},
        {.type = "nemotron_h", .traits = hybrid, .default_head_dim = 128, .adjust = read_nemotron_h},
        {.type = "mamba2", .traits = mamba2, .default_head_dim = 64, .adjust = read_mamba2, .has_ffn = false},
    };
}

/// Encoders, pairs of encoder and decoder, images.
std::vector<Architecture> other_stacks() {
    Model const bert = with(gpt_traits(), [](Model& model) {
        model.activation = "gelu";
        model.positions = Positions::learned;
        model.causal = model.final_norm = false;
        model.tied_embeddings = model.embedding_norm = model.head_bias = true;
    });
    Model const electra = with(bert, [](Model& model) { model.head_bias = false; });
    Model const bart = with(bert, [](Model& model) {
        model.extra_positions = 2;
        model.head_bias = false;
        model.causal = true;
    });
    Model const t5 = with(llama_traits(), [](Model& model) {
        model.positions = Positions::none;
        model.tied_embeddings = true;
    });
    Model const mt5 = with(t5, [](Model& model) { model.tied_embeddings = false; });
    Model const vit = with(bert, [](Model& model) {
        model.final_norm = true;
        model.embedding_norm = false;
    });

    return {
        {.type = "bert", .traits = bert, .adjust = read_bert},
        {.type = "roberta", .traits = bert, .adjust = read_roberta},
        {.type = "xlm-roberta", .traits = bert, .adjust = read_roberta},
        {.type = "electra", .traits = electra, .adjust = read_electra},
        {.type = "t5", .traits = t5, .adjust = read_t5, .pair = true},
        {.type = "mt5", .traits = mt5, .adjust = read_t5, .pair = true},
        {.type = "bart", .traits = bart, .adjust = read_bart, .pair = true},
        {.type = "mbart", .traits = bart, .adjust = read_bart, .pair = true},
        {.type = "vit", .traits = vit, .adjust = read_vit, .has_vocab = false},
    };
}

/// Types whose blocks are those of GPT, but for what is said.
std::vector<Architecture> gpt_like() {
    Model const gpt = gpt_traits();
    Model const gpt2 = with(gpt, [](Model& model) {
        model.positions = Positions::learned;
        model.tied_embeddings = true;
    });
    Model const gpt_neo = with(gpt2, [](Model& model) { model.qkv_bias = false; });
    Model const gptj = with(gpt, [](Model& model) {
        model.qkv_bias = model.out_bias = false;
        model.parallel_block = model.head_bias = true;
        model.norms_per_layer = 1;
    });
    Model const phi = with(gpt, [](Model& model) {
        model.parallel_block = model.head_bias = true;
        model.norms_per_layer = 1;
    });
    Model const bloom = with(gpt, [](Model& model) {
        model.positions = Positions::alibi;
        model.tied_embeddings = model.embedding_norm = true;
    });
    Model const opt = with(gpt2, [](Model& model) {
        model.activation = "relu";
        model.extra_positions = 2;
    });
    Model const neox = with(gpt, [](Model& model) { model.activation = "gelu"; });
    Model const tied = with(gpt, [](Model& model) {
        model.activation = "gelu";
        model.tied_embeddings = true;
    });
    Model const mpt = with(tied, [](Model& model) { model.positions = Positions::learned; });
    Model const starcoder = with(gpt, [](Model& model) { model.tied_embeddings = true; });
    Model const nemotron = with(gpt, [](Model& model) {
        model.activation = "squared_relu";
        model.qkv_bias = model.out_bias = model.mlp_bias = false;
    });

    return {
        {.type = "phi", .traits = phi, .adjust = read_phi},
        {.type = "nemotron", .traits = nemotron, .adjust = read_biases},
        {.type = "gpt2", .traits = gpt2, .ffn_from_hidden = true},
        {.type = "gpt_neo",
         .traits = gpt_neo,
         .ffn_from_hidden = true,
         .note = "the 256-token window of every second layer is not modelled"},
        {.type = "gpt_neox", .traits = neox, .adjust = read_neox},
        {.type = "gptj", .traits = gptj, .ffn_from_hidden = true},
        {.type = "gpt_bigcode", .traits = gpt2, .ffn_from_hidden = true, .adjust = read_bigcode},
        {.type = "starcoder2", .traits = starcoder, .adjust = read_starcoder2},
        {.type = "bloom", .traits = bloom, .ffn_from_hidden = true},
        {.type = "opt", .traits = opt, .adjust = read_opt},
        {.type = "mpt", .traits = mpt, .ffn_from_hidden = true, .adjust = read_mpt},
        {.type = "falcon", .traits = tied, .ffn_from_hidden = true, .adjust = read_falcon},
        {.type = "RefinedWeb", .traits = tied, .ffn_from_hidden = true, .adjust = read_falcon},
        {.type = "RefinedWebModel", .traits = tied, .ffn_from_hidden = true, .adjust = read_falcon},
    };
}

constexpr std::string_view encoder_decoder = "this pair of encoder and decoder is not modelled";
constexpr std::string_view encoder = "this kind of encoder is not modelled";
constexpr std::string_view state_space =
    "its state-space or recurrent layers are not modelled (Mamba-2 is, in nemotron_h and mamba2)";
constexpr std::string_view vision = "vision and speech models are not modelled";
constexpr std::string_view latent = "its attention is not modelled";
constexpr std::string_view images_in_between = "its layers that attend to images are not modelled";
constexpr std::string_view mixed = "its layers of several kinds are not modelled";

constexpr std::array unsupported{
    UnsupportedType{"umt5", encoder_decoder},
    UnsupportedType{"longt5", encoder_decoder},
    UnsupportedType{"pegasus", encoder_decoder},
    UnsupportedType{"marian", encoder_decoder},
    UnsupportedType{"m2m_100", encoder_decoder},
    UnsupportedType{"whisper", encoder_decoder},
    UnsupportedType{"distilbert", encoder},
    UnsupportedType{"albert", encoder},
    UnsupportedType{"deberta", encoder},
    UnsupportedType{"deberta-v2", encoder},
    UnsupportedType{"modernbert", encoder},
    UnsupportedType{"clip", vision},
    UnsupportedType{"siglip", vision},
    UnsupportedType{"swin", vision},
    UnsupportedType{"resnet", vision},
    UnsupportedType{"wav2vec2", vision},
    UnsupportedType{"hubert", vision},
    UnsupportedType{"mamba", state_space},
    UnsupportedType{"falcon_mamba", state_space},
    UnsupportedType{"rwkv", state_space},
    UnsupportedType{"jamba", state_space},
    UnsupportedType{"bamba", state_space},
    UnsupportedType{"zamba", state_space},
    UnsupportedType{"zamba2", state_space},
    UnsupportedType{"recurrent_gemma", state_space},
    UnsupportedType{"falcon_h1", state_space},
    UnsupportedType{"qwen3_next", state_space},
    UnsupportedType{"minicpm3", latent},
    UnsupportedType{"mllama", images_in_between},
    UnsupportedType{"mllama_text_model", images_in_between},
    UnsupportedType{"arctic", mixed},
    UnsupportedType{"nemotron-nas", mixed},
    UnsupportedType{"openelm", mixed},
    UnsupportedType{"chatglm", "its config.json has keys of its own that are not read"},
};

} // namespace

std::span<Architecture const> architectures() {
    static std::vector<Architecture> const table = [] {
        auto all = llama_like();
        std::ranges::move(gpt_like(), std::back_inserter(all));
        std::ranges::move(mixtures_and_hybrids(), std::back_inserter(all));
        std::ranges::move(other_stacks(), std::back_inserter(all));
        return all;
    }();
    return table;
}

Architecture const& common_decoder() {
    static Architecture const common{
        .type = "common decoder", .traits = llama_traits(), .adjust = read_any_part, .windowed = true};
    return common;
}

std::span<UnsupportedType const> unsupported_types() { return unsupported; }

} // namespace headroom::io
