#pragma once

#include "headroom/quantity.hpp"

#include <string>

namespace headroom {

/// Matrices of a feed-forward block: two, or three of which one gates (SwiGLU and alike).
enum class FeedForward { plain, gated };
/// Layer norm centres and scales, RMS norm only scales.
enum class Normalisation { layer, rms };
/// How positions enter: not at all, as a table added to the embedding, or inside of attention.
enum class Positions { none, learned, rotary, alibi };

/// Routed feed-forward blocks. `experts == 0` means that every layer is dense.
struct MixtureOfExperts {
    int experts = 0;        ///< routed ones of a layer
    int top_k = 0;          ///< of them that a token passes
    int ffn = 0;            ///< width of one expert
    int shared_experts = 0; ///< that every token passes
};

/// A decoder-only transformer: what is trained.
struct Model {
    std::string name;
    int layers = 0;
    int hidden = 0;
    int heads = 0;
    int kv_heads = 0; ///< groups of queries that share keys and values; heads without grouping
    int head_dim = 0;
    int ffn = 0; ///< width between the feed-forward matrices
    int vocab = 0;
    int max_positions = 0;
    int extra_positions = 0; ///< rows of the position table beyond max_positions (OPT has 2)
    int norms_per_layer = 2;
    FeedForward feed_forward = FeedForward::gated;
    std::string activation = "silu";
    Normalisation norm = Normalisation::rms;
    bool norm_bias = false;
    bool norm_affine = true; ///< norms have weights (those of OLMo have none)
    Positions positions = Positions::rotary;
    bool tied_embeddings = false;
    bool qkv_bias = false;
    bool out_bias = false;
    bool mlp_bias = false;
    bool head_bias = false;
    bool parallel_block = false; ///< attention and feed-forward side by side; timed as one after the other
    bool embedding_norm = false;
    bool final_norm = true;
    MixtureOfExperts moe;
};

/// Parameters by where they live, exactly (embeddings counted once when tied).
struct ParameterCount {
    double layer = 0.0;     ///< one block
    double embedding = 0.0; ///< token (and position) table, embedding norm
    double head = 0.0;      ///< output projection; zero when tied
    double final_norm = 0.0;
    double total = 0.0;
    double active = 0.0; ///< touched by one token
};

/// Counts a model's parameters.
///
///     layer = h a d + 2 h g d + a d h + G h f + biases + norms        G = 3 gated, 2 plain
///     total = L layer + V h (+ P h learned positions) + V h (untied head) + final norm
///
/// Holds for:  decoder-only transformers; with experts, f of each expert, the shared ones and a router h E.
/// Source:     [MegatronLM], [Brown2020]
ParameterCount count_parameters(Model const& model);

/// How the attention core enters a FLOP count.
enum class AttentionConvention {
    full,   ///< every query against every key: PaLM, MPT, torchtitan
    causal, ///< the half that a causal mask leaves: Megatron Core since 2025
    none,   ///< 6 N T as a whole, N every parameter that a token touches (embeddings, norms too)
};
std::string_view name_of(AttentionConvention convention);

/// Forward floating-point operations of one sequence, split as people quote them.
struct SequenceFlops {
    Flops matrix;    ///< projections and feed-forward
    Flops attention; ///< scores and context, by the convention asked for
    Flops head;      ///< output projection
    [[nodiscard]] Flops total() const { return matrix + attention + head; }
};

/// Operations of the forward pass over one sequence of s tokens.
///
///     matrix    = s L (2 [h (a d + 2 g d) + a d h] + 2 G h f)
///     attention = s L 4 s a d, half of it when counted causal
///     head      = s 2 h V
///
/// Holds for:  matrix products only; element-wise work is not counted. With experts, those that a token touches.
/// Source:     [MegatronLM], [ScalingBook]
SequenceFlops forward_flops(Model const& model, int sequence_length, AttentionConvention convention);

} // namespace headroom
