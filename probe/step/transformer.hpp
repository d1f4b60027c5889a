#pragma once

#include "gemm.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headroom::training {

/// A decoder with learned positions: embedding, blocks of causal attention and a perceptron of four times the width, each
/// behind a layer norm and beside a residual; a last norm, the output projection, cross entropy. No biases but the norms'.
struct TransformerShape {
    std::size_t layers = 4, hidden = 128, heads = 4, sequence = 128, vocabulary = 1024;
    bool tied = false; ///< the output projection is the embedding

    [[nodiscard]] std::size_t parameters() const;
    bool operator==(TransformerShape const&) const = default;
};

/// Where each matrix lies in the one vector of all parameters, in the order of the forward pass: gradients are finished from
/// the end to the beginning.
struct ParameterPlaces {
    struct Block {
        std::size_t norm1, query_key_value, output, norm2, up, down;
    };
    std::size_t embedding = 0, positions = 0, norm = 0, projection = 0, all = 0;
    std::vector<Block> blocks = {};

    explicit ParameterPlaces(TransformerShape const& shape);
};

/// Sequences of tokens: `sequence` inputs and as many targets, each the token that follows.
struct Batch {
    std::vector<std::uint32_t> inputs, targets;
};

/// Sequences first to last (excluded) of the batch of a step: the same numbers whoever makes them. A token follows from the
/// one before by a rule in seven of eight cases, so that there is something to learn.
Batch make_batch(TransformerShape const& shape, std::size_t step, std::size_t first, std::size_t last);

/// The gradients from this place to the end of the vector are finished.
using Finished = std::function<void(std::size_t)>;

template <class Real> class Transformer {
public:
    /// Parameters are drawn from `seed`, alike in every process.
    Transformer(TransformerShape const& shape, Gemm gemm, std::uint64_t seed = 1);

    /// The loss of a batch, divided by `tokens`: those of all workers, so that losses and gradients of workers add up.
    double forward(Batch const& batch, double tokens);
    /// Gradients of the last `forward`; `finished` is called as they become final.
    void backward(Finished const& finished = {});

    [[nodiscard]] TransformerShape const& shape() const { return shape_; }
    [[nodiscard]] std::span<Real> parameters() { return parameters_; }
    [[nodiscard]] std::span<Real> gradients() { return gradients_; }

private:
    struct Norm {
        std::vector<Real> out, normal, scale;
    };
    /// What the backward pass needs of a block.
    struct Kept {
        Norm norm1, norm2;
        std::vector<Real> query_key_value, weights, mixed, up, active;
    };

    void embed();
    void run_norm(Norm& norm, std::vector<Real> const& in, std::size_t place);
    void run_attention(Kept& kept);
    void run_block(Kept& kept, ParameterPlaces::Block const& places);
    double run_loss(double tokens);

    void back_norm(Norm const& norm, std::size_t place, std::vector<Real> const& grown, std::vector<Real>& to);
    void back_attention(Kept const& kept);
    void back_perceptron(Kept& kept, ParameterPlaces::Block const& places);
    void back_mixing(Kept const& kept, ParameterPlaces::Block const& places);
    void back_embedding();

    /// out (rows x n) = in (rows x k) W, added to what is there when `adds`
    void apply(std::vector<Real> const& in, std::size_t place, std::size_t k, std::size_t n, std::vector<Real>& out,
               bool adds);
    /// What `apply` has in reverse: gradient of W, and of `in` into `to`
    void back_apply(std::vector<Real> const& in, std::size_t place, std::size_t k, std::size_t n,
                    std::vector<Real> const& grown, std::vector<Real>& to);

    TransformerShape shape_;
    ParameterPlaces places_;
    Gemm gemm_;
    std::vector<Real> parameters_, gradients_;

    Batch batch_;
    std::size_t rows_ = 0; ///< tokens of the batch
    std::vector<Kept> kept_;
    Norm last_;
    std::vector<Real> stream_, logits_;                ///< the residual stream; logits, then their gradient
    std::vector<Real> slope_, wide_, narrow_, scores_; ///< gradient of the stream; room for what passes through
};

} // namespace headroom::training
