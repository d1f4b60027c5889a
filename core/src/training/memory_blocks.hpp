#pragma once

#include "memory_terms.hpp"

namespace headroom::training {

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
    bool narrow;     ///< FP8 caches, see `Framework::narrow_caches`
    bool in_place;   ///< gradients of a gated product are written over its inputs
    double
        norm; ///< bytes an element that an unfused norm keeps besides its input: what makes that 32-bit, and where its
              ///< weight is trained the normalised one
    double
        product; ///< bytes an element that an activation keeps besides its input, where it is a kernel of its own or several
    bool trains_attention, trains_feed_forward; ///< weights of their linear layers, which then keep their inputs
};

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

/// Bytes of a score that unfused attention keeps, and holds in its backward pass. Fused softmax: its output, a mask and the
/// dropped copy. Eager: the output in 32 bits, the copy that the product reads, a mask where the framework drops out; two
/// 32-bit gradients.
struct ScoreBytes {
    double kept, gradients;
};

/// Parts of a block tensor by tensor, defined with `block_activations`; an explanation reads them one by one.
ActivationSizes activation_sizes(Model const& model, LayerShape const& shape, Framework const& framework);
bool trains(LayerShape const& shape, unsigned modules);
ScoreBytes score_bytes(Framework const& framework, double element);
double wide_bytes(ActivationSizes const& a, bool trains = true);
bool by_parts(LayerShape const& shape);
TokenBytes attention_token_bytes(Model const& model, BlockKind const& kind, LayerShape const& shape,
                                 Framework const& framework, ActivationSizes const& a);
TokenBytes scan_token_bytes(Model const& model, ActivationSizes const& a);
TokenBytes dense_token_bytes(Model const& model, BlockKind const& kind, LayerShape const& shape,
                             ActivationSizes const& a);
TokenBytes expert_token_bytes(Model const& model, LayerShape const& shape, ActivationSizes const& a);
/// Results of frozen and of LoRA matrices that DoRA keeps; zero without it.
TokenBytes magnitude_token_bytes(Model const& model, BlockKind const& kind, LayerShape const& shape,
                                 ActivationSizes const& a);
BlockBytes one_block(Model const& model, BlockKind const& kind, LayerShape const& shape, Framework const& framework);

} // namespace headroom::training
