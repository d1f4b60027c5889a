#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/io/trace.hpp"
#include "headroom/roofline.hpp"
#include "headroom/trace_answer.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// What the verb was asked of files: those of the question, or those of its baseline.
struct TraceQuestion {
    std::vector<std::string> paths;
    DigestQuestion digest;
    io::TraceReading reading;
    std::optional<io::TraceShard> shard;
};

/// What was read: digests of ranks, and what did not become one.
struct TraceRead {
    io::TraceSet set;
    std::vector<std::string> left_out; ///< of folders: what is no trace
    std::size_t files = 0;             ///< that were asked for
    bool complete = true;              ///< false: interrupted
    double seconds = 0.0;
};

/// `share` of the reading that is done, 0 to 1; false stops.
using TraceProgress = std::function<bool(double share)>;

/// Reads every file of the question, parts that an earlier call wrote among them.
/// Errors: that of the first file when none can be read.
TraceRead read_for(TraceQuestion const& question, TraceProgress const& progress);

/// What the traces say, and how they were read.
struct TraceOutcome {
    TraceAnswer answer;
    std::vector<std::string> left_out, unread;
    std::size_t files = 0;
    bool complete = true;
    double read_seconds = 0.0;
};
/// Answers from what was read; files that could not be are counted among the issues.
TraceOutcome outcome_of(TraceRead read, int threads);

struct TraceReport {
    TraceOutcome outcome;
    std::vector<std::string> paths;
    std::size_t top = 10;             ///< kernels that are shown
    std::optional<Processor> machine; ///< under whose roofline they are put
    std::string footer;
    std::optional<TraceComparison> comparison;
    std::vector<std::string> baseline; ///< its paths; empty: none
    std::vector<GateOutcome> gates;
    std::optional<double> wall_seconds; ///< with --stats
    [[nodiscard]] TraceAnswer const& answer() const { return outcome.answer; }
};

/// Quantities that --require may ask about.
std::vector<Metric> metrics_of(TraceAnswer const& answer);

Document document_of(TraceReport const& report);
/// The same for --html: with the drawings that a terminal has no room for.
Document page_of(TraceReport const& report);
Json json_of(TraceReport const& report, Json head);
Sheet sheet_of(TraceReport const& report);

// ---- parts of them, each in a file of its own ----------------------------------------------------------------------

std::vector<std::string> verdict_of(TraceAnswer const& answer);

/// Ranks, steps, scaling, collectives, stragglers, kernels, issues.
std::vector<Block> rank_blocks(TraceReport const& report);
std::vector<Block> scaling_blocks(TraceAnswer const& answer);
std::vector<Block> collective_blocks(TraceAnswer const& answer);
std::vector<Block> path_blocks(TraceAnswer const& answer);
std::vector<Block> kernel_blocks(TraceReport const& report);
/// Kernels with their rates and intensity, and how near they are to the roof of the machine that was named.
std::vector<Block> shaped_blocks(TraceReport const& report);
std::vector<Block> comparison_blocks(TraceReport const& report);
std::vector<Block> issue_blocks(TraceReport const& report);

/// What each lane of the step does, the critical path above them; empty where no step was taken apart.
/// `most_lanes` bounds the rows, of many ranks evenly spread.
std::optional<Gantt> step_drawing(TraceAnswer const& answer, std::size_t most_lanes);
/// The step as a Chrome trace: lanes of every rank, the critical path as a process of its own, arrows along it.
std::string analysis_trace(TraceAnswer const& answer);

Json ranks_json(TraceAnswer const& answer);
Json collectives_json(CollectiveAnswer const& collectives);
Json waiting_json(CollectiveAnswer const& collectives);
Json clocks_json(CollectiveAnswer const& collectives);
Json shaped_json(TraceReport const& report);
Json path_json(std::optional<PathAnswer> const& path);
Json comparison_json(TraceComparison const& comparison);

} // namespace headroom::cli
