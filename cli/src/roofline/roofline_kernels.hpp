#pragma once

#include "arguments.hpp"

#include "headroom/laws/roofline.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// Kernels as they are given, and how often each runs.
struct GivenKernels {
    std::vector<laws::Kernel> kernels;
    std::vector<double> counts;
};

/// "gemm:4096x4096x4096", "dot:1000000:fp32" (counted by name), or "mine:flops=2TFLOP,bytes=3GB,l2=9GB,precision=fp16".
/// `format` is that of kernels that name none. Errors: InputError{usage} at `where`.
laws::Kernel parse_kernel(std::string_view text, laws::Processor const& processor, laws::NumberFormat format,
                          std::string const& where);

/// A table with columns name, flops, bytes, and if wanted precision, count and one for each nearer memory level.
GivenKernels read_kernel_table(std::string const& file, laws::Processor const& processor, laws::NumberFormat format);

/// "fp8". Errors: InputError{usage} with the nearest.
laws::NumberFormat parse_format(std::string_view text, std::string const& where);

} // namespace headroom::cli
