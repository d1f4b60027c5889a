#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace headroom::gpu {

/// One thing that is timed on the graphics processors, and its repetitions.
struct Point {
    std::string label;
    std::map<std::string, std::string> parameters;
    std::string unit; ///< "bytes/second", "flops/second" or "seconds"
    std::vector<double> samples;
};

/// Where points go as they are measured.
using Sink = std::function<void(Point const&)>;

/// Number of times that everything is timed; the first of them warms up and does not count.
inline constexpr int repetitions = 12;

/// Device memory by copies, and the way to it and back, from pinned pages and from ordinary ones.
void measure_copies(Sink const& sink);
/// Products of matrices by cuBLASLt: every precision that the device has, square and narrow.
void measure_products(Sink const& sink);
/// Measures the time of an empty kernel: launched alone, and in a row.
void measure_launches(Sink const& sink);
/// All-reduce over the local devices; `why_not` of them states why it cannot be.
void measure_all_reduce(Sink const& sink);
/// Empty where `measure_all_reduce` can run.
std::string why_no_all_reduce();

/// Throws std::runtime_error with the words of the runtime.
void check(int cuda_error, char const* doing);

} // namespace headroom::gpu
