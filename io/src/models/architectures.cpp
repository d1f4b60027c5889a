#include "models/architectures.hpp"

#include "models/config_parts.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {

using namespace headroom::training;

namespace {

// ---- words of traits ------------------------------------------------------------------------------------------------

/// A word of a row and the change that it stands for. Without words: gated silu, root-mean-square norms, two a layer,
/// rotary positions, no biases, an output head of its own.
struct TraitWord {
    std::string_view word;
    void (*apply)(Architecture&);
};
constexpr std::array trait_words{
    TraitWord{"plain", [](Architecture& a) { a.traits.feed_forward = FeedForward::plain; }},
    TraitWord{"gelu", [](Architecture& a) { a.traits.activation = "gelu"; }},
    TraitWord{"gelu_tanh", [](Architecture& a) { a.traits.activation = "gelu_tanh"; }},
    TraitWord{"relu", [](Architecture& a) { a.traits.activation = "relu"; }},
    TraitWord{"squared_relu", [](Architecture& a) { a.traits.activation = "squared_relu"; }},
    TraitWord{"fixed_activation", [](Architecture& a) { a.fixed_activation = true; }},
    TraitWord{"layer_norm", [](Architecture& a) { a.traits.norm = Normalisation::layer; }},
    TraitWord{"norm_bias", [](Architecture& a) { a.traits.norm_bias = true; }},
    TraitWord{"no_affine", [](Architecture& a) { a.traits.norm_affine = false; }},
    TraitWord{"norms1", [](Architecture& a) { a.traits.norms_per_layer = 1; }},
    TraitWord{"norms4", [](Architecture& a) { a.traits.norms_per_layer = 4; }},
    TraitWord{"embedding_norm", [](Architecture& a) { a.traits.embedding_norm = true; }},
    TraitWord{"no_final_norm", [](Architecture& a) { a.traits.final_norm = false; }},
    TraitWord{"qkv_bias", [](Architecture& a) { a.traits.qkv_bias = true; }},
    TraitWord{"no_key_bias", [](Architecture& a) { a.traits.key_bias = false; }},
    TraitWord{"out_bias", [](Architecture& a) { a.traits.out_bias = true; }},
    TraitWord{"mlp_bias", [](Architecture& a) { a.traits.mlp_bias = true; }},
    TraitWord{"head_bias", [](Architecture& a) { a.traits.head_bias = true; }},
    TraitWord{"router_bias", [](Architecture& a) { a.traits.moe.router_bias = true; }},
    TraitWord{"sinks", [](Architecture& a) { a.traits.sinks = true; }},
    TraitWord{"qk_norm", [](Architecture& a) { a.traits.qk_norm = true; }},
    TraitWord{"qk_norm_whole", [](Architecture& a) { a.traits.qk_norm = a.traits.qk_norm_whole = true; }},
    TraitWord{"output_gate", [](Architecture& a) { a.traits.output_gate = OutputGate::element; }},
    TraitWord{"parallel", [](Architecture& a) { a.traits.parallel_block = true; }},
    TraitWord{"tied", [](Architecture& a) { a.traits.tied_embeddings = true; }},
    TraitWord{"learned", [](Architecture& a) { a.traits.positions = Positions::learned; }},
    TraitWord{"alibi", [](Architecture& a) { a.traits.positions = Positions::alibi; }},
    TraitWord{"no_positions", [](Architecture& a) { a.traits.positions = Positions::none; }},
    TraitWord{"two_more_positions", [](Architecture& a) { a.traits.extra_positions = 2; }},
    TraitWord{"window", [](Architecture& a) { a.windowed = true; }},
    TraitWord{"full2", [](Architecture& a) { a.full_every = 2; }},
    TraitWord{"full4", [](Architecture& a) { a.full_every = 4; }},
    TraitWord{"full6", [](Architecture& a) { a.full_every = 6; }},
    TraitWord{"ffn4", [](Architecture& a) { a.ffn_from_hidden = true; }},
    TraitWord{"no_ffn", [](Architecture& a) { a.has_ffn = false; }},
    TraitWord{"no_heads", [](Architecture& a) { a.has_heads = false; }},
    TraitWord{"no_vocab", [](Architecture& a) { a.has_vocab = false; }},
    TraitWord{"pair", [](Architecture& a) { a.pair = true; }},
    TraitWord{"encoder", [](Architecture& a) { a.encoder = true, a.traits.causal = false; }},
    TraitWord{"vision_left_out", [](Architecture& a) { a.traits.vision_left_out = true; }},
};

// ---- the table ------------------------------------------------------------------------------------------------------

constexpr std::string_view text_alone = "the language model alone is read: the vision tower is not counted";
constexpr std::string_view bert_traits = "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias head_bias learned "
                                         "tied embedding_norm no_final_norm encoder";
constexpr std::string_view bart_traits = "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias learned "
                                         "two_more_positions tied embedding_norm no_final_norm pair";
constexpr std::string_view latent_defaults =
    R"("hidden_size":7168,"intermediate_size":18432,"num_hidden_layers":61,"num_attention_heads":128,"vocab_size":129280,
       "num_key_value_heads":128,"max_position_embeddings":4096,"moe_intermediate_size":2048,"n_routed_experts":256,
       "n_shared_experts":1,"num_experts_per_tok":8,"n_group":8,"topk_group":4,"first_k_dense_replace":3,
       "q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,
       "topk_method":"noaux_tc")";
/// Rows by family; each type stands in one row.
constexpr std::array architecture_rows{
    // blocks as Llama's
    ArchitectureRow{"yi aquila xverse telechat minicpmv solar teleflm", "", "", read_biases},
    ArchitectureRow{"minicpm", "tied", "", read_biases},
    ArchitectureRow{"llama", "",
                    R"("hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32,
                       "vocab_size":32000,"max_position_embeddings":2048)",
                    read_biases},
    ArchitectureRow{"mistral", "window",
                    R"("hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,
                       "num_key_value_heads":8,"vocab_size":32000,"max_position_embeddings":131072)",
                    nullptr},
    ArchitectureRow{"mistral3 ministral ministral3 pixtral", "window", "", nullptr},
    ArchitectureRow{"qwen", "qkv_bias", "", read_qwen1},
    ArchitectureRow{"qwen2_audio", "qkv_bias window", "", nullptr},
    ArchitectureRow{"qwen2_5_omni_text", "qkv_bias window",
                    R"("hidden_size":3584,"intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,
                       "num_key_value_heads":4,"vocab_size":152064,"max_position_embeddings":32768)",
                    nullptr},
    ArchitectureRow{"qwen2", "qkv_bias window",
                    R"("hidden_size":4096,"intermediate_size":22016,"num_hidden_layers":32,"num_attention_heads":32,
                       "num_key_value_heads":32,"vocab_size":151936,"max_position_embeddings":32768)",
                    nullptr},
    ArchitectureRow{"qwen2_vl qwen2_5_vl", "qkv_bias window vision_left_out", "", nullptr, text_alone},
    ArchitectureRow{"qwen2_vl_text qwen2_5_vl_text", "qkv_bias window",
                    R"("hidden_size":8192,"intermediate_size":29568,"num_hidden_layers":80,"num_attention_heads":64,
                       "num_key_value_heads":8,"vocab_size":152064,"max_position_embeddings":32768)",
                    nullptr},
    ArchitectureRow{"qwen3 qwen3_vl_text qwen3_vl", "qk_norm window",
                    R"("hidden_size":4096,"intermediate_size":22016,"num_hidden_layers":32,"num_attention_heads":32,
                       "num_key_value_heads":32,"head_dim":128,"vocab_size":151936,"max_position_embeddings":32768)",
                    read_biases},
    ArchitectureRow{"mimo", "", R"("head_dim":128)", read_input_biases},
    ArchitectureRow{"gemma", "gelu_tanh tied fixed_activation",
                    R"("hidden_size":3072,"intermediate_size":24576,"num_hidden_layers":28,"num_attention_heads":16,
                       "num_key_value_heads":16,"head_dim":256,"vocab_size":256000,"max_position_embeddings":8192)",
                    read_biases},
    ArchitectureRow{"gemma2", "gelu_tanh tied norms4 window full2",
                    R"("hidden_size":2304,"intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":8,
                       "num_key_value_heads":4,"head_dim":256,"vocab_size":256000,"max_position_embeddings":8192,
                       "sliding_window":4096)",
                    read_biases},
    ArchitectureRow{"gemma3_text gemma3", "gelu_tanh tied norms4 qk_norm window full6",
                    R"("hidden_size":2304,"intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":8,
                       "num_key_value_heads":4,"head_dim":256,"vocab_size":262208,"max_position_embeddings":131072,
                       "sliding_window":4096)",
                    read_biases},
    ArchitectureRow{"gemma3n_text", "gelu_tanh tied norms4 qk_norm window",
                    R"("hidden_size":2048,"intermediate_size":16384,"num_hidden_layers":35,"num_attention_heads":8,
                       "num_key_value_heads":2,"head_dim":256,"vocab_size":262400,"max_position_embeddings":32768,
                       "sliding_window":512,"hidden_size_per_layer_input":256,"vocab_size_per_layer_input":262144,
                       "altup_num_inputs":4,"laurel_rank":64,"num_kv_shared_layers":15)",
                    read_gemma3n, "alternating updates and low-rank residuals are counted in parameters and not timed"},
    ArchitectureRow{"gemma4_text gemma4", "gelu_tanh tied norms4 qk_norm window full6",
                    R"("head_dim":256,"global_head_dim":512,"vocab_size":262144,"max_position_embeddings":131072,
                       "sliding_window":512,"hidden_size_per_layer_input":256,"vocab_size_per_layer_input":262144)",
                    read_gemma4},
    ArchitectureRow{"phi4mm", "window", "", nullptr},
    ArchitectureRow{"phi3 phi3_v", "window",
                    R"("hidden_size":3072,"intermediate_size":8192,"num_hidden_layers":32,"num_attention_heads":32,
                       "vocab_size":32064,"max_position_embeddings":4096)",
                    nullptr},
    ArchitectureRow{"stablelm stablelm_epoch", "layer_norm norm_bias", "", read_stablelm},
    ArchitectureRow{"orion", "layer_norm norm_bias", "", nullptr},
    ArchitectureRow{"internlm", "qkv_bias out_bias", "", read_one_bias},
    ArchitectureRow{"internlm2", "", "", read_one_bias},
    ArchitectureRow{"internlm3", "", "", read_internlm3},
    ArchitectureRow{"seed_oss", "qkv_bias", R"("head_dim":128)", read_seed},
    ArchitectureRow{"baichuan", "", "", read_baichuan},
    ArchitectureRow{"olmo", "layer_norm no_affine", "", read_biases},
    ArchitectureRow{"olmo2 olmo3", "qk_norm_whole window", "", read_biases},
    ArchitectureRow{"granite", "", "", read_biases},
    ArchitectureRow{"hyperclovax", "", "", read_hyperclovax},
    ArchitectureRow{"smollm3", "tied", R"("num_key_value_heads":4)", read_biases},
    ArchitectureRow{"cohere", "layer_norm parallel norms1 tied", R"("vocab_size":256000)", read_cohere},
    ArchitectureRow{"cohere2", "layer_norm parallel norms1 tied window full4", R"("vocab_size":256000)", read_cohere},
    ArchitectureRow{"exaone4", "qk_norm window", "", nullptr},
    ArchitectureRow{"ernie4_5 paddleocr_vl paddleocr_vl_text", "tied", R"("head_dim":128)", read_ernie},
    ArchitectureRow{"hunyuan_v1_dense", "qk_norm", R"("head_dim":128)", read_hunyuan},
    ArchitectureRow{"glm", "qkv_bias", R"("head_dim":128)", read_input_biases},
    ArchitectureRow{"glm4", "qkv_bias norms4", R"("head_dim":128)", read_input_biases},
    ArchitectureRow{"glm4v_text", "qkv_bias norms4", "", read_input_biases},
    ArchitectureRow{"chatglm", "qkv_bias", "", read_chatglm},
    ArchitectureRow{"arcee", "plain squared_relu", "", read_biases},
    ArchitectureRow{"apertus", "plain qk_norm", "", read_apertus},
    ArchitectureRow{"nemotron-nas", "", "", read_nas},
    ArchitectureRow{"openelm", "qk_norm tied no_ffn no_heads", "", read_openelm},

    // blocks as GPT's
    ArchitectureRow{"phi phi-msft",
                    "plain gelu_tanh layer_norm norm_bias qkv_bias out_bias mlp_bias parallel head_bias "
                    "norms1 ffn4",
                    "", read_phi},
    ArchitectureRow{"bitnet", "squared_relu", "", read_bitnet},
    ArchitectureRow{"persimmon", "plain squared_relu layer_norm norm_bias qkv_bias out_bias mlp_bias qk_norm", "",
                    read_phi},
    ArchitectureRow{"nanochat", "plain squared_relu no_affine", "", read_biases},
    ArchitectureRow{"nemotron", "plain squared_relu layer_norm norm_bias", "", read_biases},
    ArchitectureRow{"gpt2 gpt-sw3", "plain gelu_tanh layer_norm norm_bias qkv_bias out_bias mlp_bias learned tied ffn4",
                    R"("vocab_size":50257,"n_positions":1024)", read_gpt2},
    ArchitectureRow{"openai-gpt",
                    "plain gelu_tanh layer_norm norm_bias qkv_bias out_bias mlp_bias learned tied ffn4 no_final_norm",
                    R"("vocab_size":40478,"n_positions":512)", nullptr},
    ArchitectureRow{"biogpt",
                    "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias learned tied two_more_positions", "",
                    nullptr},
    ArchitectureRow{"xglm", "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias no_positions tied", "",
                    nullptr},
    ArchitectureRow{"jais btlm", "layer_norm norm_bias qkv_bias out_bias mlp_bias alibi tied", "", nullptr},
    ArchitectureRow{"gpt_neo", "plain gelu_tanh layer_norm norm_bias out_bias mlp_bias learned tied ffn4", "",
                    read_gpt_neo},
    ArchitectureRow{"gpt_neox", "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias", "", read_neox},
    ArchitectureRow{"gptj codegen", "plain gelu_tanh layer_norm norm_bias mlp_bias parallel head_bias norms1 ffn4",
                    R"("n_positions":2048)", nullptr},
    ArchitectureRow{"gpt_bigcode", "plain gelu_tanh layer_norm norm_bias qkv_bias out_bias mlp_bias learned tied ffn4",
                    "", read_bigcode},
    ArchitectureRow{"starcoder2", "plain gelu_tanh layer_norm norm_bias qkv_bias out_bias mlp_bias tied window", "",
                    read_starcoder2},
    ArchitectureRow{"bloom",
                    "plain gelu_tanh layer_norm norm_bias qkv_bias out_bias mlp_bias alibi tied embedding_norm ffn4",
                    "", nullptr},
    ArchitectureRow{"opt", "plain relu layer_norm norm_bias qkv_bias out_bias mlp_bias learned tied two_more_positions",
                    "", read_opt},
    ArchitectureRow{"mpt", "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias learned tied ffn4", "",
                    read_mpt},
    ArchitectureRow{"falcon RefinedWeb RefinedWebModel",
                    "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias tied ffn4", "", read_falcon},

    // experts
    ArchitectureRow{"mixtral", "window",
                    R"("hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,
                       "num_key_value_heads":8,"num_local_experts":8,"num_experts_per_tok":2,"vocab_size":32000)",
                    read_experts},
    ArchitectureRow{"granitemoe granitemoeshared", "", "", read_experts},
    ArchitectureRow{"qwen2_moe", "window",
                    R"("hidden_size":2048,"intermediate_size":5632,"num_hidden_layers":24,"num_attention_heads":16,
                       "vocab_size":151936,"num_key_value_heads":16,"num_experts":60,"num_experts_per_tok":4,"moe_intermediate_size":1408,
                       "shared_expert_intermediate_size":5632)",
                    read_qwen_moe},
    ArchitectureRow{"qwen3_omni_moe_text", "qk_norm window", "", read_experts},
    ArchitectureRow{"qwen3_vl_moe_text qwen3_vl_moe", "qk_norm window",
                    R"("hidden_size":2048,"intermediate_size":5632,"num_hidden_layers":24,"num_attention_heads":16,
                       "vocab_size":151936,"num_key_value_heads":16,"num_experts":60,"num_experts_per_tok":4,
                       "moe_intermediate_size":1408)",
                    read_experts},
    ArchitectureRow{"qwen3_moe", "qk_norm window",
                    R"("hidden_size":2048,"intermediate_size":6144,"num_hidden_layers":24,"num_attention_heads":32,
                       "vocab_size":151936,"num_key_value_heads":4,"num_experts":128,"num_experts_per_tok":8,
                       "moe_intermediate_size":768)",
                    read_experts},
    ArchitectureRow{"olmoe flex_olmo", "qk_norm_whole", "", read_experts},
    ArchitectureRow{"phimoe", "layer_norm norm_bias window", "", read_phimoe},
    ArchitectureRow{"dbrx", "layer_norm", "", read_dbrx},
    ArchitectureRow{"glm4_moe glm4v_moe_text", "router_bias", R"("first_k_dense_replace":1)", read_glm_moe},
    ArchitectureRow{"gpt_oss", "qkv_bias out_bias mlp_bias sinks router_bias window full2",
                    R"("hidden_size":2880,"intermediate_size":2880,"num_hidden_layers":36,"num_attention_heads":64,
                       "num_key_value_heads":8,"vocab_size":201088,"head_dim":64,"num_local_experts":128,
                       "num_experts_per_tok":4)",
                    read_experts},
    ArchitectureRow{"llama4_text llama4", "",
                    R"("hidden_size":5120,"intermediate_size":8192,"intermediate_size_mlp":16384,"head_dim":128,
                       "num_hidden_layers":48,"num_attention_heads":40,"num_key_value_heads":8,"vocab_size":202048,
                       "num_local_experts":16,"num_experts_per_tok":1,"max_position_embeddings":131072)",
                    read_llama4},
    ArchitectureRow{"minimax_m2", "qk_norm_whole", R"("head_dim":128)", read_minimax_m2},
    ArchitectureRow{"dots1", "qk_norm router_bias", R"("head_dim":128)", read_experts},
    ArchitectureRow{"bailing_moe", "", "", read_bailing},
    ArchitectureRow{"bailing_moe_v2", "qk_norm router_bias", "", read_bailing},
    ArchitectureRow{"ernie4_5_moe", "tied", "", read_ernie_moe},
    ArchitectureRow{"hunyuan_v1_moe", "qk_norm", R"("head_dim":128)", read_hunyuan},
    ArchitectureRow{"mimo_v2_flash", "window", "", read_mimo_v2},
    ArchitectureRow{"deepseek", "", "", read_experts},
    ArchitectureRow{"afmoe", "qk_norm output_gate norms4 router_bias window", R"("sliding_window":1024)", read_experts},
    ArchitectureRow{"hy_v3", "qk_norm router_bias", R"("head_dim":128)", read_experts},
    ArchitectureRow{"solar_open", "router_bias no_ffn", R"("head_dim":128)", read_experts},
    ArchitectureRow{"deepseek_v2", "", "", read_deepseek},
    ArchitectureRow{"minicpm3", "tied",
                    R"("q_lora_rank":768,"kv_lora_rank":256,"qk_nope_head_dim":64,"qk_rope_head_dim":32,
                       "v_head_dim":64)",
                    read_deepseek},
    ArchitectureRow{"deepseek_v32 glm_moe_dsa glm4_moe_lite", "", "", read_deepseek},
    ArchitectureRow{"deepseek_v3 kimi_k2", "", latent_defaults, read_deepseek},

    // recurrent layers, alone and among attention
    ArchitectureRow{"nemotron_h", "plain squared_relu no_positions", R"("head_dim":128)", read_nemotron_h},
    ArchitectureRow{"mamba2", "plain squared_relu no_positions tied no_ffn", R"("head_dim":64)", read_mamba2},
    ArchitectureRow{"mamba", "no_positions tied no_ffn no_heads",
                    R"("state_size":16,"conv_kernel":4,"expand":2,"vocab_size":50280)", read_mamba1},
    ArchitectureRow{"falcon_mamba", "no_positions no_ffn no_heads",
                    R"("state_size":16,"conv_kernel":4,"expand":2,"vocab_size":50280)", read_mamba1},
    ArchitectureRow{"jamba", "no_positions",
                    R"("attn_layer_period":8,"attn_layer_offset":4,"expert_layer_period":2,"expert_layer_offset":1,
                       "num_experts":16,"num_experts_per_tok":2,"mamba_d_state":16,"mamba_d_conv":4,"mamba_expand":2,
                       "num_key_value_heads":8)",
                    read_jamba},
    ArchitectureRow{"bamba", "",
                    R"("mamba_n_heads":128,"mamba_d_head":"auto","mamba_n_groups":1,"mamba_d_state":256,
                       "mamba_d_conv":4,"mamba_expand":2,"num_key_value_heads":8)",
                    read_bamba},
    ArchitectureRow{"granitemoehybrid", "",
                    R"("mamba_n_heads":128,"mamba_d_head":"auto","mamba_n_groups":1,"mamba_d_state":256,
                       "mamba_d_conv":4,"mamba_expand":2)",
                    read_granite_hybrid},
    ArchitectureRow{"falcon_h1", "",
                    R"("mamba_n_heads":128,"mamba_d_head":"auto","mamba_n_groups":1,"mamba_d_state":256,
                       "mamba_d_conv":4,"num_key_value_heads":8)",
                    read_falcon_h1},
    ArchitectureRow{"lfm2", "tied qk_norm", R"("conv_L_cache":3,"num_key_value_heads":8)", read_lfm2},
    ArchitectureRow{"lfm2_moe", "tied qk_norm", R"("conv_L_cache":3,"num_key_value_heads":8)", read_lfm2},
    ArchitectureRow{"qwen3_next", "qk_norm output_gate no_ffn",
                    R"("linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,
                       "linear_num_key_heads":16,"linear_num_value_heads":32,"full_attention_interval":4,"head_dim":256,
                       "num_key_value_heads":2,"num_experts":512,"num_experts_per_tok":10,"moe_intermediate_size":512,
                       "shared_expert_intermediate_size":512,"max_position_embeddings":32768)",
                    read_gated_delta},
    ArchitectureRow{"qwen3_5_text qwen3_5", "qk_norm output_gate",
                    R"("linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,
                       "linear_num_key_heads":16,"linear_num_value_heads":32,"full_attention_interval":4,"head_dim":256,
                       "hidden_size":4096,"intermediate_size":12288,"num_hidden_layers":32,"num_attention_heads":16,
                       "num_key_value_heads":4,"vocab_size":248320,"max_position_embeddings":32768)",
                    read_gated_delta},
    ArchitectureRow{"qwen3_5_moe_text qwen3_5_moe", "qk_norm output_gate no_ffn",
                    R"("linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,
                       "linear_num_key_heads":16,"linear_num_value_heads":32,"full_attention_interval":4,"head_dim":256,
                       "hidden_size":2048,"num_hidden_layers":40,"num_attention_heads":16,"num_key_value_heads":2,
                       "num_experts":256,"num_experts_per_tok":8,"moe_intermediate_size":512,
                       "shared_expert_intermediate_size":512,"vocab_size":248320,"max_position_embeddings":32768)",
                    read_gated_delta},
    ArchitectureRow{"kimi_linear", "router_bias no_positions", "", read_kimi_linear},
    ArchitectureRow{"minimax minimax_text_01 MiniMaxText01 minimax_m1 MiniMaxM1", "", "", read_minimax},

    // encoders, pairs, pictures
    ArchitectureRow{"bert ernie megatron-bert", bert_traits, R"("type_vocab_size":2)", read_bert},
    ArchitectureRow{"roberta xlm-roberta camembert data2vec-text", bert_traits, R"("type_vocab_size":2)", read_roberta},
    ArchitectureRow{"roberta-prelayernorm",
                    "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias head_bias learned tied embedding_norm "
                    "encoder",
                    R"("type_vocab_size":2)", read_roberta},
    ArchitectureRow{"xlm-roberta-xl",
                    "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias head_bias learned tied encoder",
                    R"("type_vocab_size":1)", read_roberta},
    ArchitectureRow{"modernbert", "gelu layer_norm no_positions tied embedding_norm head_bias encoder",
                    R"("global_attn_every_n_layers":3,"local_attention":128)", read_modernbert},
    ArchitectureRow{"electra",
                    "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias learned tied embedding_norm "
                    "no_final_norm encoder",
                    R"("type_vocab_size":2)", read_electra},
    ArchitectureRow{"distilbert", bert_traits, "", read_distilbert},
    ArchitectureRow{"t5", "no_positions tied pair", "", read_t5},
    ArchitectureRow{"mt5", "no_positions pair", "", read_t5},
    ArchitectureRow{"umt5", "no_positions pair", "", read_umt5},
    ArchitectureRow{"bart mbart plbart", bart_traits, "", read_bart},
    ArchitectureRow{"blenderbot", "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias learned tied pair", "",
                    read_bart},
    ArchitectureRow{"m2m_100 pegasus",
                    "plain relu layer_norm norm_bias qkv_bias out_bias mlp_bias no_positions tied pair", "",
                    read_fixed_positions},
    ArchitectureRow{"marian",
                    "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias no_positions tied no_final_norm pair",
                    "", read_fixed_positions},
    ArchitectureRow{
        "whisper", "plain gelu layer_norm norm_bias qkv_bias no_key_bias out_bias mlp_bias tied pair no_positions",
        R"("vocab_size":51865,"max_source_positions":1500,"max_target_positions":448,"num_mel_bins":80)", read_whisper},
    ArchitectureRow{
        "vit", "plain gelu layer_norm norm_bias qkv_bias out_bias mlp_bias head_bias learned tied encoder no_vocab", "",
        read_vit},
};

// ---- types that are known and not modelled --------------------------------------------------------------------------

struct UnsupportedTypes {
    std::string_view types, why;
};
constexpr std::array unsupported{
    UnsupportedTypes{
        "longt5 pegasus_x t5gemma t5gemma2 moonshine seamless_m4t nllb-moe switch_transformers led prophetnet",
        "this pair of encoder and decoder is not modelled"},
    UnsupportedTypes{
        "albert deberta deberta-v2 nomic_bert longformer mpnet esm roformer rembert big_bird convbert mobilebert "
        "squeezebert fnet funnel ibert layoutlm layoutlmv2 layoutlmv3 lilt markuplm bros splinter tapas "
        "luke xmod canine yoso nystromformer mra jina_embeddings_v3 bert-generation dpr nezha",
        "this kind of encoder is not modelled"},
    UnsupportedTypes{
        "clip clip_text_model siglip siglip2 siglip_text_model swin swinv2 resnet wav2vec2 hubert wavlm dinov2 "
        "dinov2_with_registers dinov3_vit deit beit convnext convnextv2 sam sam2 vit_mae videomae yolos detr "
        "segformer clap blip align altclip chinese_clip clipseg groupvit owlvit owlv2 xclip aimv2 bridgetower "
        "flava grounding-dino mm-grounding-dino vision-text-dual-encoder",
        "vision and speech models are not modelled"},
    UnsupportedTypes{"rwkv rwkv4 rwkv5 rwkv6 rwkv7", "the recurrence of RWKV's time mixing is not modelled"},
    UnsupportedTypes{"recurrent_gemma griffin", "its gated linear recurrence (RG-LRU) is not modelled"},
    UnsupportedTypes{"zamba zamba2", "blocks of attention that share their weights are not modelled"},
    UnsupportedTypes{"xlstm", "its recurrent matrix memory is not modelled"},
    UnsupportedTypes{"plamo2", "its mixture of Mamba and attention is not modelled"},
    UnsupportedTypes{"step3_text step3_vl",
                     "its factorised attention (low-rank queries, one head of keys) is not modelled"},
    UnsupportedTypes{"jetmoe", "its attention heads that tokens choose are not modelled"},
    UnsupportedTypes{"deepseek_v4", "its attention is not modelled"},
    UnsupportedTypes{"mllama mllama_text_model idefics flamingo", "its layers that attend to images are not modelled"},
    UnsupportedTypes{"arctic longcat_flash zaya", "its layers of several kinds are not modelled"},
};

std::vector<std::string_view> listed_words(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = std::min(text.find(' ', at), text.size());
        if (end > at) { words.push_back(text.substr(at, end - at)); }
        at = end + 1;
    }
    return words;
}

bool lists(std::string_view words, std::string_view word) {
    auto const all = listed_words(words);
    return std::ranges::find(all, word) != all.end();
}

Architecture built(ArchitectureRow const& row, std::string_view type) {
    Architecture one;
    one.type = type;
    one.row = row;
    for (auto const word : listed_words(row.traits)) {
        auto const known = std::ranges::find(trait_words, word, &TraitWord::word);
        if (known == trait_words.end()) { throw ContractError{"an architecture has an unknown trait"}; }
        known->apply(one);
    }
    return one;
}

} // namespace

std::optional<Architecture> architecture_of(std::string_view type) {
    auto const row =
        std::ranges::find_if(architecture_rows, [&](ArchitectureRow const& one) { return lists(one.types, type); });
    if (type.empty() || row == architecture_rows.end()) { return std::nullopt; }
    return built(*row, type);
}

std::vector<std::string> known_types() {
    std::vector<std::string> types;
    for (auto const& row : architecture_rows) {
        for (auto const type : listed_words(row.types)) { types.emplace_back(type); }
    }
    return types;
}

Architecture common_decoder() { return built({"", "window", "", read_any_part}, "common decoder"); }

std::string_view why_unsupported(std::string_view type) {
    auto const row =
        std::ranges::find_if(unsupported, [&](UnsupportedTypes const& one) { return lists(one.types, type); });
    return type.empty() || row == unsupported.end() ? std::string_view{} : row->why;
}

} // namespace headroom::io
