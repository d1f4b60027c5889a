#pragma once

#include "headroom/training/model.hpp"
#include "headroom/training/strategy.hpp"

#include <vector>

namespace headroom::training {

/// A frozen matrix of a block, out x in, with LoRA matrices A of rank x in and B of out x rank.
struct AdaptedMatrix {
    double in = 0.0, out = 0.0; ///< whole, before tensor ranks divide one of them
    bool by_rows = false;       ///< tensor ranks divide its input (attention output, down), else its output

    [[nodiscard]] double in_of(double tensor_ranks) const { return by_rows ? in / tensor_ranks : in; }
    [[nodiscard]] double out_of(double tensor_ranks) const { return by_rows ? out : out / tensor_ranks; }
};

/// Matrices of a block that have LoRA matrices. Projections of routed experts have none.
std::vector<AdaptedMatrix> adapted_matrices(Model const& model, BlockKind const& kind, unsigned modules);

/// Multiply-adds of the products x A^T and (x A^T) B^T of all LoRA matrices of a block for a token, on one of `tensor_ranks` that divide
/// them: the sum of rank (in + out) [Hu2021]. The backward pass has twice as many: gradients of both matrices and of x.
double lora_products(Model const& model, BlockKind const& kind, unsigned modules, int rank, double tensor_ranks);

/// FLOPs of these products in a training step, for a token of the model: 6 rank (in + out) over all blocks, and 2 more times
/// `recomputed`, the share of matrix products that are run again.
Flops lora_flops(Model const& model, Strategy const& strategy, double recomputed = 0.0);

/// Traffic and kernels that DoRA adds to LoRA [LiuS2024]: y = m W' x / |W'| with W' = W + s B A, m a trained length of each
/// row and |W'| the lengths of the rows, of which no gradient is taken.
///
/// As PEFT computes it, in 16 bits: W' is made in each forward pass (B A written 2, scaled 4, summed 6, its rows' lengths
/// read 2: 14 bytes an element), and y = (m/|W'| - 1) W x + (m/|W'|) s B A x from the two results, which are kept for the
/// gradient of m (products 4 + 4 + 4, sum 6; backward 8 for the two gradients, 16 for that of m).
///
/// Assumes:    the product B A is bound by what it writes; W x is not computed a second time (no dropout of LoRA's input).
namespace magnitude_cost {
inline constexpr double bytes_an_element = 14.0; ///< of an adapted matrix, a forward pass
inline constexpr double forward_bytes = 18.0;    ///< of an element of an output
inline constexpr double backward_bytes = 24.0;   ///< of an element of an output
inline constexpr double kept_bytes = 4.0;        ///< of an element of an output: both results
inline constexpr double temporary_bytes = 6.0;   ///< of an element of the largest matrix: B A, scaled, summed
inline constexpr double launches = 13.0;         ///< of a matrix: identity, two products, convert, scale, sum, length,
                                                 ///< quotient, minus one, three products, sum
} // namespace magnitude_cost

/// Whether adapted matrices are DoRA's.
inline bool trains_magnitudes(Trained trained, unsigned modules) {
    return trained == Trained::lora && (modules & adapter_module::magnitudes) != 0;
}

/// Elements of the largest matrix that has LoRA matrices.
double largest_adapted(Model const& model, unsigned modules);

} // namespace headroom::training
