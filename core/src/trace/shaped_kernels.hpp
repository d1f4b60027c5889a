#pragma once

#include "headroom/trace/rank_digest.hpp"
#include "headroom/trace/rank_trace.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace headroom::trace {

/// Work and least traffic of one run of an operator.
struct OperatorWork {
    double flops = 0.0, bytes = 0.0;
};

/// Counts a product of matrices from the shapes of its inputs, as PyTorch records them: "[[64, 1024], [1024, 4096], []]",
/// and after them the types of the elements.
///
///     flops = 2 m n k batches,   bytes = element x (inputs + result), each read or written once
///
/// Operators: mm, addmm, bmm, baddbmm, linear, matmul, with or without "aten::". Empty for others, for shapes that do not
/// fit together, and for sizes past 2^53. Bytes are zero where no type is stated. A convolution has no count: its
/// strides are not among its shapes.
std::optional<OperatorWork> operator_work(std::string_view name, std::string_view shapes);

/// Kernels of products of matrices, with their work: of the kernels that one run of an operator launched, the longest
/// one has it. By name, then by shape. What launches a kernel is the innermost counted operator around the call on the
/// same thread.
/// Where a profiler counted work while kernels ran, its counts instead: by name, with the mean of all runs that have a
/// time, and no shape.
std::vector<ShapedKernel> shaped_kernels(RankTrace const& trace);

} // namespace headroom::trace
