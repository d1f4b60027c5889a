#pragma once

#include "tail/tail_question.hpp"

#include "headroom/io/latency_samples.hpp"
#include "headroom/trace_answer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// A rank that was the slowest more often than chance makes one.
struct SlowRank {
    std::int64_t rank = 0;
    std::uint64_t slowest = 0; ///< steps in which nobody took longer
    double probability = 1.0;  ///< of so many by chance, were all alike, corrected for all ranks
    double mean_seconds = 0.0; ///< of its steps
};

/// Steps that all ranks of a run took together: what waiting for the slowest costs.
struct SynchronousSteps {
    int ranks = 0;
    std::uint64_t steps = 0;           ///< that every rank has
    double mean_seconds = 0.0;         ///< of one rank's step
    double slowest_seconds = 0.0;      ///< mean over steps of the slowest rank
    double slowdown = 1.0;             ///< the one over the other
    double independent_slowdown = 1.0; ///< what it would be if each step of each rank were drawn anew from all of them
    std::vector<SlowRank> slow;        ///< only those that chance does not explain, the worst first
};

/// One file, or all traces together, or a stored measurement.
struct TailPart {
    std::string name;
    io::LatencySamples samples;
    std::optional<SynchronousSteps> steps = {};
};

/// Reads every path: files of samples each as a part, traces all as one, "store:ID" out of the store.
/// Errors: InputError of the first that cannot be read; InputError{usage} where they mix units.
std::vector<TailPart> read_parts(std::vector<std::string> const& paths, TailQuestion const& question, bool quiet);

/// Steps of ranks as samples. Errors: InputError{insufficient} where no rank has steps.
TailPart steps_of(TraceAnswer const& answer);

} // namespace headroom::cli
