#pragma once

#include <cstddef>

namespace headroom::probe {

// Kernels that wait for memory more than for arithmetic, vectorised for the best instruction set of the processor, on one
// thread each. Rows are contiguous. Counts of operations are those of docs/guide/roofline.md: a root, a quotient and an
// exponential are one operation each.

/// out = a + s b; 2 operations an element. Stores go past the caches, so that nothing is read that is only written.
/// Assumes:    `out` is aligned to 64 bytes; what is not falls back to ordinary stores.
void triad(float* out, float const* a, float const* b, float s, std::size_t count);

/// The sum of all; 1 operation an element. Added in lanes: the error grows with count / lanes, not with count.
float sum_of(float const* values, std::size_t count);

/// Each row to exp(x - max) over its sum; 5 operations an element.
void softmax_rows(float const* in, float* out, std::size_t rows, std::size_t columns);

/// Each row to (x - mean) / sqrt(variance + 1e-5) x weight + bias; 8 operations an element. The mean is found before the
/// variance.
void layer_norm_rows(float const* in, float const* weight, float const* bias, float* out, std::size_t rows,
                     std::size_t columns);

/// One block of keys of an attention that is not kept: scores become exp(scale x score - new max), sums and results of
/// earlier blocks are brought down to the new maximum.
///
///     m' = max(m, max s),  l' = e^(m - m') l + sum e^(s - m'),  o' = e^(m - m') o
///
/// Source:     [Dao2022]
struct OnlineSoftmax {
    float* scores = nullptr; ///< rows x columns
    std::size_t rows = 0, columns = 0;
    float scale = 1.0F;
    float *most = nullptr, *sums = nullptr; ///< of each row so far
    float* out = nullptr;                   ///< rows x width: what was added up so far
    std::size_t width = 0;
};
void fold_in(OnlineSoftmax const& block);
/// Each row of the results over its sum.
void divide_rows(float* out, float const* sums, std::size_t rows, std::size_t width);

} // namespace headroom::probe
