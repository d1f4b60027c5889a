#pragma once

#include "headroom/probe/gemm.hpp"

namespace headroom::probe {

// Blocks of the factors, in elements. Deep ones: every tile of C is read and written once a block, and costs more than
// panels that come from the second cache and are fetched ahead. A panel of B (depth x 32) is 64 kB and a block of A
// 197 kB; a block of B is 4 MB.
inline constexpr std::size_t gemm_block_depth = 512;
inline constexpr std::size_t gemm_block_rows = 96;
inline constexpr std::size_t gemm_block_columns = 2048;
/// No tile of any instruction set has more rows or columns.
inline constexpr std::size_t gemm_most_tile = 128;

struct GemmCall {
    std::size_t m = 0, n = 0, k = 0;
    ConstMatrix a, b;
    Matrix c;
    ProductInto into = ProductInto::replaces;
    float *packed_a = nullptr, *packed_b = nullptr, *edge = nullptr; ///< aligned
};

void multiply_here(GemmCall const& call);

} // namespace headroom::probe
