#pragma once

#include "models/architectures.hpp"

namespace headroom::io {

/// Parts of a config.json that many types share. Each reads its keys where they are there and changes the model.
void read_biases(JsonKeys& keys, training::Model& model, Notes& notes);
/// Experts under the names of Mixtral, Qwen, DeepSeek and Llama 4. Errors: InputError{usage} without their number.
void read_experts(JsonKeys& keys, training::Model& model, Notes& notes);
/// Multi-head latent attention. Errors: InputError{usage} without one of its dimensions.
void read_latent_attention(JsonKeys& keys, training::Model& model, Notes& notes);
/// Latent attention with experts: the types of DeepSeek since V2, and Kimi K2.
void read_deepseek(JsonKeys& keys, training::Model& model, Notes& notes);
void read_glm_moe(JsonKeys& keys, training::Model& model, Notes& notes);
void read_olmoe(JsonKeys& keys, training::Model& model, Notes& notes);
void read_phimoe(JsonKeys& keys, training::Model& model, Notes& notes);
void read_dbrx(JsonKeys& keys, training::Model& model, Notes& notes);
void read_qwen_moe(JsonKeys& keys, training::Model& model, Notes& notes);
void read_llama4(JsonKeys& keys, training::Model& model, Notes& notes);
/// Whatever of the above an unknown type has keys for.
void read_any_part(JsonKeys& keys, training::Model& model, Notes& notes);

/// Mamba-2 layers, alone or among attention, dense and expert layers.
void read_mamba2(JsonKeys& keys, training::Model& model, Notes& notes);
void read_nemotron_h(JsonKeys& keys, training::Model& model, Notes& notes);

/// Encoders, pairs of encoder and decoder, and images as sequences of patches.
void read_bert(JsonKeys& keys, training::Model& model, Notes& notes);
void read_roberta(JsonKeys& keys, training::Model& model, Notes& notes);
void read_electra(JsonKeys& keys, training::Model& model, Notes& notes);
void read_t5(JsonKeys& keys, training::Model& model, Notes& notes);
void read_bart(JsonKeys& keys, training::Model& model, Notes& notes);
void read_vit(JsonKeys& keys, training::Model& model, Notes& notes);

/// The window of layers that see only part of the sequence, and which layers these are.
void read_window(JsonKeys& keys, Architecture const& architecture, training::Model& model, Notes& notes);

} // namespace headroom::io
