#pragma once

#include "headroom/laws/roofline.hpp"

#include <span>
#include <string_view>

namespace headroom::laws {

/// A kernel that is known by name: its operations and the bytes it has to move, counted from its sizes.
///
/// Assumes:    inputs are read once and results written once, all in one number format; what fits nowhere else
///             (indices, masks, the scalar of a dot product) is not counted. A division, a root and an exponential
///             count as one operation each.
struct CountedKernel {
    std::string_view name;
    std::string_view sizes;  ///< their form: "MxNxK"
    std::size_t dimensions;  ///< number of sizes
    std::string_view counts; ///< work and bytes, in words
    Kernel (*count)(std::span<double const> sizes, double element);
};

/// All of them, in the order of help.
///
///     dot:N            2 N                     2 N e
///     axpy:N           2 N                     3 N e
///     triad:N          2 N                     3 N e
///     sum:N            N                       N e
///     transpose:MxN    nothing                 2 M N e
///     gemv:MxN         2 M N                   (M N + M + N) e
///     gemm:MxNxK       2 M N K                 (M K + K N + M N) e
///     stencil:N        8 N                     2 N e               seven points; a value is read once
///     spmv:NxZ         2 N Z                   N Z (e + 4) + 2 N e      Z entries a row, 4 bytes of index
///     softmax:MxN      5 M N                   2 M N e
///     layernorm:MxN    8 M N                   2 M N e + 2 N e
///     rmsnorm:MxN      4 M N                   2 M N e + N e
///     gelu:N           8 N                     2 N e
///     adam:N           13 N                    28 N               32-bit state, 16-bit gradient and weight
///     attention:BxHxSxD      4 B H S^2 D       4 B H S D e        fused, nothing masked
///
/// Source:     [Williams2009], [Dao2022], [Rajbhandari2020]
std::span<CountedKernel const> counted_kernels();

} // namespace headroom::laws
