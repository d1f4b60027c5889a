#include "headroom/laws/counted_kernels.hpp"

#include <array>

namespace headroom::laws {
namespace {

using Sizes = std::span<double const>;

Kernel kernel(double work, double moved, double handed_over = 0.0) {
    Kernel result;
    result.work = Flops{work};
    result.moved = Bytes{moved};
    result.handed_over = Bytes{handed_over};
    return result;
}

Kernel dot(Sizes n, double e) { return kernel(2.0 * n[0], 2.0 * n[0] * e, n[0] * e); }
Kernel axpy(Sizes n, double e) { return kernel(2.0 * n[0], 3.0 * n[0] * e, n[0] * e); }
Kernel sum(Sizes n, double e) { return kernel(n[0], n[0] * e, n[0] * e); }
Kernel transpose(Sizes n, double e) { return kernel(0.0, 2.0 * n[0] * n[1] * e); }

/// `rows` vectors of length k times a k x n matrix.
Kernel product(double rows, double k, double n, double e) {
    Batched const batched{
        .rows = rows, .work = Flops{2.0 * k * n}, .moved = Bytes{e * (k + n)}, .fixed = Bytes{e * k * n}};
    Kernel result = kernel(rows * batched.work.base(), rows * batched.moved.base() + batched.fixed.base());
    result.batched = batched;
    return result;
}

Kernel gemv(Sizes n, double e) { return product(1.0, n[1], n[0], e); }
Kernel gemm(Sizes n, double e) { return product(n[0], n[2], n[1], e); }

constexpr double stencil_points = 7.0;
/// A product with each weight but one that all neighbours share, and the sums: 2 (multiply) + 6 (add).
Kernel stencil(Sizes n, double e) { return kernel((stencil_points + 1.0) * n[0], 2.0 * n[0] * e, n[0] * e); }

constexpr double index_bytes = 4.0;
Kernel sparse(Sizes n, double e) {
    double const entries = n[0] * n[1];
    Kernel result = kernel(2.0 * entries, entries * (e + index_bytes) + 2.0 * n[0] * e);
    result.one_format = false;
    return result;
}

/// Rows of a tensor that are read, worked on and written, with `parameters` vectors of their width.
Kernel rows(Sizes n, double e, double operations, double parameters) {
    double const elements = n[0] * n[1];
    return kernel(operations * elements, (2.0 * elements + parameters * n[1]) * e, elements * e);
}
/// Largest, difference, exponential, sum, quotient.
Kernel softmax(Sizes n, double e) { return rows(n, e, 5.0, 0.0); }
/// Sum, difference, square, sum of squares, times the root, times the weight, plus the bias, difference again.
Kernel layernorm(Sizes n, double e) { return rows(n, e, 8.0, 2.0); }
/// Square, sum, times the root, times the weight; the root itself shared.
Kernel rmsnorm(Sizes n, double e) { return rows(n, e, 4.0, 1.0); }

/// x/2 (1 + tanh(c (x + a x^3))): two products for the cube, product, sum, product, tanh, sum, product.
Kernel gelu(Sizes n, double e) { return kernel(8.0 * n[0], 2.0 * n[0] * e, n[0] * e); }

/// Two moments (3 and 4 operations), their corrections (2), root, sum, quotient, step; reads and writes three 32-bit
/// numbers, reads a 16-bit gradient and writes a 16-bit weight.
constexpr double adam_operations = 13.0, adam_bytes = 28.0;
Kernel adam(Sizes n, double) {
    Kernel result = kernel(adam_operations * n[0], adam_bytes * n[0]);
    result.one_format = false;
    return result;
}

Kernel attention(Sizes n, double e) {
    double const heads = n[0] * n[1], length = n[2], d = n[3];
    return kernel(4.0 * heads * length * length * d, 4.0 * heads * length * d * e);
}

constexpr std::array table{
    CountedKernel{"dot", "N", 1, "2N operations, 2N elements", dot},
    CountedKernel{"axpy", "N", 1, "2N operations, 3N elements", axpy},
    CountedKernel{"triad", "N", 1, "2N operations, 3N elements", axpy},
    CountedKernel{"sum", "N", 1, "N operations, N elements", sum},
    CountedKernel{"transpose", "MxN", 2, "no operations, 2MN elements", transpose},
    CountedKernel{"gemv", "MxN", 2, "2MN operations, MN + M + N elements", gemv},
    CountedKernel{"gemm", "MxNxK", 3, "2MNK operations, MK + KN + MN elements", gemm},
    CountedKernel{"stencil", "N", 1, "seven points: 8N operations, 2N elements", stencil},
    CountedKernel{"spmv", "NxZ", 2, "Z entries a row: 2NZ operations, NZ + 2N elements, 4NZ bytes of index", sparse},
    CountedKernel{"softmax", "MxN", 2, "5MN operations, 2MN elements", softmax},
    CountedKernel{"layernorm", "MxN", 2, "8MN operations, 2MN + 2N elements", layernorm},
    CountedKernel{"rmsnorm", "MxN", 2, "4MN operations, 2MN + N elements", rmsnorm},
    CountedKernel{"gelu", "N", 1, "8N operations, 2N elements", gelu},
    CountedKernel{"adam", "N", 1, "13N operations, 28N bytes (32-bit state, 16-bit gradient and weight)", adam},
    CountedKernel{"attention", "BxHxSxD", 4, "fused, nothing masked: 4BHSSD operations, 4BHSD elements", attention},
};

} // namespace

std::span<CountedKernel const> counted_kernels() { return table; }

} // namespace headroom::laws
