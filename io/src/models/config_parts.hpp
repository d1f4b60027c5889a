#pragma once

#include "models/architectures.hpp"

namespace headroom::io {

// Readers of keys that a file has beyond its dimensions. Each reads its keys where they are there and changes the model.

/// Biases of queries, keys, values and output, and of the feed-forward layers.
void read_biases(JsonKeys& keys, training::Model& model, Notes& notes);
/// `attention_bias` of types whose output projection has none.
void read_input_biases(JsonKeys& keys, training::Model& model, Notes& notes);
void read_one_bias(JsonKeys& keys, training::Model& model, Notes& notes);
/// Experts under the names of all families. Errors: InputError{usage} without their number.
void read_experts(JsonKeys& keys, training::Model& model, Notes& notes);
/// Multi-head latent attention. Errors: InputError{usage} without one of its dimensions.
void read_latent_attention(JsonKeys& keys, training::Model& model, Notes& notes);
/// Latent attention with experts, and an indexer where there is one: DeepSeek since V2, Kimi K2, GLM-5.
void read_deepseek(JsonKeys& keys, training::Model& model, Notes& notes);
/// Each known part that an unknown type has keys for.
void read_any_part(JsonKeys& keys, training::Model& model, Notes& notes);

// Families (config_families.cpp).
void read_qwen1(JsonKeys& keys, training::Model& model, Notes& notes);
void read_gemma3n(JsonKeys& keys, training::Model& model, Notes& notes);
void read_gemma4(JsonKeys& keys, training::Model& model, Notes& notes);
void read_stablelm(JsonKeys& keys, training::Model& model, Notes& notes);
void read_internlm3(JsonKeys& keys, training::Model& model, Notes& notes);
void read_seed(JsonKeys& keys, training::Model& model, Notes& notes);
void read_baichuan(JsonKeys& keys, training::Model& model, Notes& notes);
void read_hyperclovax(JsonKeys& keys, training::Model& model, Notes& notes);
void read_cohere(JsonKeys& keys, training::Model& model, Notes& notes);
void read_ernie(JsonKeys& keys, training::Model& model, Notes& notes);
void read_chatglm(JsonKeys& keys, training::Model& model, Notes& notes);
void read_apertus(JsonKeys& keys, training::Model& model, Notes& notes);
void read_nas(JsonKeys& keys, training::Model& model, Notes& notes);
void read_openelm(JsonKeys& keys, training::Model& model, Notes& notes);
void read_phi(JsonKeys& keys, training::Model& model, Notes& notes);
void read_bitnet(JsonKeys& keys, training::Model& model, Notes& notes);
void read_gpt2(JsonKeys& keys, training::Model& model, Notes& notes);
void read_gpt_neo(JsonKeys& keys, training::Model& model, Notes& notes);
void read_neox(JsonKeys& keys, training::Model& model, Notes& notes);
void read_bigcode(JsonKeys& keys, training::Model& model, Notes& notes);
void read_starcoder2(JsonKeys& keys, training::Model& model, Notes& notes);
void read_opt(JsonKeys& keys, training::Model& model, Notes& notes);
void read_mpt(JsonKeys& keys, training::Model& model, Notes& notes);
void read_falcon(JsonKeys& keys, training::Model& model, Notes& notes);
void read_glm_moe(JsonKeys& keys, training::Model& model, Notes& notes);
void read_phimoe(JsonKeys& keys, training::Model& model, Notes& notes);
void read_dbrx(JsonKeys& keys, training::Model& model, Notes& notes);
void read_qwen_moe(JsonKeys& keys, training::Model& model, Notes& notes);
void read_llama4(JsonKeys& keys, training::Model& model, Notes& notes);
void read_minimax_m2(JsonKeys& keys, training::Model& model, Notes& notes);
void read_hunyuan(JsonKeys& keys, training::Model& model, Notes& notes);
void read_bailing(JsonKeys& keys, training::Model& model, Notes& notes);
void read_ernie_moe(JsonKeys& keys, training::Model& model, Notes& notes);
void read_mimo_v2(JsonKeys& keys, training::Model& model, Notes& notes);

// Recurrent layers, alone or among attention, dense and expert layers (config_scans.cpp).
void read_mamba1(JsonKeys& keys, training::Model& model, Notes& notes);
void read_mamba2(JsonKeys& keys, training::Model& model, Notes& notes);
void read_nemotron_h(JsonKeys& keys, training::Model& model, Notes& notes);
void read_jamba(JsonKeys& keys, training::Model& model, Notes& notes);
void read_bamba(JsonKeys& keys, training::Model& model, Notes& notes);
void read_granite_hybrid(JsonKeys& keys, training::Model& model, Notes& notes);
void read_falcon_h1(JsonKeys& keys, training::Model& model, Notes& notes);
void read_lfm2(JsonKeys& keys, training::Model& model, Notes& notes);
void read_gated_delta(JsonKeys& keys, training::Model& model, Notes& notes);
void read_kimi_linear(JsonKeys& keys, training::Model& model, Notes& notes);
void read_minimax(JsonKeys& keys, training::Model& model, Notes& notes);

// Encoders, pairs of encoder and decoder, and images as sequences of patches (config_stacks.cpp).
void read_bert(JsonKeys& keys, training::Model& model, Notes& notes);
void read_roberta(JsonKeys& keys, training::Model& model, Notes& notes);
void read_modernbert(JsonKeys& keys, training::Model& model, Notes& notes);
void read_electra(JsonKeys& keys, training::Model& model, Notes& notes);
void read_distilbert(JsonKeys& keys, training::Model& model, Notes& notes);
void read_t5(JsonKeys& keys, training::Model& model, Notes& notes);
void read_umt5(JsonKeys& keys, training::Model& model, Notes& notes);
/// Pairs with sinusoidal positions, which are computed.
void read_fixed_positions(JsonKeys& keys, training::Model& model, Notes& notes);
void read_bart(JsonKeys& keys, training::Model& model, Notes& notes);
void read_whisper(JsonKeys& keys, training::Model& model, Notes& notes);
void read_vit(JsonKeys& keys, training::Model& model, Notes& notes);
/// Output of a model without the head of a language model, by the class under `architectures`: hidden vectors, or
/// scores of a few labels.
void read_head(JsonKeys& keys, Architecture const& architecture, training::Model& model, Notes& notes);

// Layers (config_layers.cpp).
/// The window of layers that see only part of the sequence, where all or every so-manieth has it.
void read_window(JsonKeys& keys, Architecture const& architecture, training::Model& model, Notes& notes);
/// Layers one by one where lists or periods of the file say what each is. A model whose layers the other fields already
/// give stays without a plan. Errors: InputError{usage} on a list of another length, and on a layer of an unknown kind.
void read_layer_lists(JsonKeys& keys, training::Model& model, Notes& notes);

/// The number of a key that must be there.
int due(JsonKeys& keys, std::string_view key, Range range, std::string_view why);

} // namespace headroom::io
