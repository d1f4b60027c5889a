#pragma once

#include "output.hpp"

#include "headroom/laws/roofline.hpp"
#include "headroom/training/step_roofline_answer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

// ---- words --------------------------------------------------------------------------------------------------------

/// "0.25 FLOP/B", "none" without traffic.
std::string intensity_words(FlopsPerByte intensity);
/// Fills in the words of an answer: verdict, comparison, notes and advice.
void add_words(training::RooflineAnswer& report);
Chart chart_of(training::RooflineAnswer const& report);
/// The roof of a peak and a bandwidth between two intensities, in equal steps of a logarithm, both ends and the corner
/// exactly.
Series roof_line(std::string name, Mark mark, FlopsPerSecond peak, BytesPerSecond bandwidth, double low, double high);
/// A letter for each of the first kernels: their names in the chart. Rows beyond have none.
std::string mark_of(std::size_t index);
/// Rows with the largest share of the time first, at most `most`.
std::vector<std::size_t> rows_by_time(training::RooflineAnswer const& report, std::size_t most);

Document document_of(training::RooflineAnswer const& report, io::Catalog const& catalog);

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
