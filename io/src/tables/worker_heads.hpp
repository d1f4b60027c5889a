#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// Quantity of one worker: "tokens per s" and "gpu" of "Tokens/s/GPU", "Throughput per GPU (tokens/s)", "tokens/gpu/sec".
struct OfWorker {
    std::string of_all; ///< words of the head without the worker, in lower case
    std::string worker;
};
std::optional<OfWorker> of_worker(std::string_view head);

/// Base that a head of speedups states: "Speedup (vs 8 GPUs)", "speedup over serial".
struct SpeedupBase {
    std::string stem; ///< the words before
    double workers = 1.0;
    bool known = true; ///< all of its words are understood
};
std::optional<SpeedupBase> speedup_base(std::string_view head);

/// Whether a head names the time of all workers together: "GPU-hours", "core hours", "CPU time (s)", "total GPU time (h)",
/// "cumulative time (s)".
bool is_time_of_all(std::string_view head);
/// Whether a head names a share of the peak of one worker: "Percentage of theoretical peak FLOP/s".
bool is_share_of_peak(std::string_view head);

} // namespace headroom::io
