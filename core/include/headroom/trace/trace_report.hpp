#pragma once

#include "headroom/laws/roofline.hpp"
#include "headroom/trace/trace_answer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::trace {

// ---- sums over ranks ------------------------------------------------------------------------------------------------

/// Whether a trace states times of day. A table of totals does not; overlap and idle time are then not known.
bool knows_when(RankDigest const& rank);
bool knows_when(TraceAnswer const& answer);

DeviceTimes time_sum(std::vector<RankDigest> const& ranks);
IdleShares idle_sum(std::vector<RankDigest> const& ranks);

/// Parts of the device time of all ranks together; they add up to one.
struct DeviceShares {
    double compute = 0.0, exposed = 0.0, memory = 0.0, idle = 0.0;
};
/// Nothing where a rank does not state times of day, and without any device time.
std::optional<DeviceShares> device_shares_of(TraceAnswer const& answer);

/// Kernels of all ranks by name and kind, longest total first.
std::vector<NameTotal> kernel_totals(std::vector<RankDigest> const& ranks);

/// Times of a rank, or of one of its steps: a line of CSV. Pointers are into the answer.
struct TraceTimesRow {
    RankDigest const* rank = nullptr;
    StepShares const* step = nullptr; ///< null: the whole file
};
FieldTable const& field_table_of(TraceTimesRow const*);
/// Each rank, followed by its steps.
std::vector<TraceTimesRow> times_rows(TraceAnswer const& answer);
/// Each step on the rank on which it took longest, by number of the step.
std::vector<TraceTimesRow> slowest_steps(TraceAnswer const& answer);

// ---- rooflines ------------------------------------------------------------------------------------------------------

/// Kernels of all ranks whose work or traffic is known, by name and shape, longest total first. Work and traffic are means.
std::vector<ShapedKernel> shaped_kernel_totals(std::vector<RankDigest> const& ranks);

/// Mean time of one run, seconds.
double mean_seconds(ShapedKernel const& kernel);

/// Format that the recorded types of a kernel's inputs name; of several the narrowest, as a sum is kept in a wider one.
std::optional<laws::NumberFormat> stated_format(std::string_view shape);

/// Least time on the machine's roofline over the mean time of a run. Without a stated format: at the machine's usual one.
std::optional<double> share_of_roof(ShapedKernel const& kernel, laws::Processor const& machine);

// ---- verdict --------------------------------------------------------------------------------------------------------

/// Largest use of time that deserves a sentence.
enum class TimeFinding : std::uint8_t {
    missing_work,          ///< much of the device's work is not in the traces
    totals,                ///< times of day are not known: sums alone
    exposed_communication, ///< at least a tenth of the time
    idle,                  ///< at least a quarter of the time, on devices
    computation,
};
enum class IdleReason : std::uint8_t { host_bound, waiting, other };

/// Ranks that arrive last more often than their share, the five that keep others waiting longest, by number.
struct LateRanks {
    std::vector<std::int64_t> ranks;
    /// Place that they share: "on node a3", "local rank 5 of their nodes", "in process group 7 of 8 ranks"; empty: nothing.
    std::string pattern;
    std::int64_t last = 0;  ///< collectives in which one of them was last
    Ticks kept_waiting = 0; ///< time that the others waited for them
};

/// Largest part of a critical path.
enum class PathPart : std::uint8_t {
    computation,
    communication,
    host,
    starts, ///< delays between launch, streams and events
};
struct PathFinding {
    PathPart part = PathPart::computation;
    double share = 0.0; ///< of the path
};

/// Findings of the verdict on traces, as data; words are made by the faces.
struct TraceVerdict {
    TimeFinding finding = TimeFinding::computation;
    DeviceShares shares;  ///< zeros where they are not known
    bool on_host = false; ///< no rank has device work
    IdleReason idle_reason = IdleReason::other;
    double idle_reason_share = 0.0; ///< of the idle time
    std::optional<LateRanks> late;
    std::optional<PathFinding> path;
    /// Share of communication that waits for late ranks; empty where no collective was matched, and without devices.
    std::optional<double> waiting;
    std::optional<ExpectedSpeedup> next; ///< the smallest size above the present one; with a ceiling
};
TraceVerdict trace_verdict(TraceAnswer const& answer);

/// Share of communication in which ranks wait for late ones; empty where no collective was matched, and without devices.
std::optional<double> waiting_share(TraceAnswer const& answer);
/// Communication over computation, waiting left out; empty where the share of waiting is not known.
std::optional<double> gamma_without_waiting(TraceAnswer const& answer);

// ---- the report -----------------------------------------------------------------------------------------------------

/// Files of a run, read.
struct ReadTraces {
    std::vector<RankDigest> ranks;
    std::vector<std::string> unread;   ///< files that could not be read, with the reason
    std::vector<std::string> left_out; ///< files in folders that are no traces
    bool complete = true;              ///< false where reading was interrupted
};

struct TraceReportQuestion {
    std::vector<std::string> paths;         ///< of files and folders, as they were given
    std::size_t top = 10;                   ///< kernels that are listed
    std::optional<laws::Processor> machine; ///< whose roofline bounds the kernels
    std::optional<std::int64_t> workers;    ///< of the run, where traces may not state them
};

/// The step at a larger size: a prediction that the measured step of the traces calibrates.
struct LargerRun {
    std::int64_t workers = 0;
    double step_seconds = 0.0, low_seconds = 0.0, high_seconds = 0.0; ///< with its 90 % interval
    double speedup = 1.0, efficiency = 1.0; ///< over the measured step; efficiency of the workers added
    std::string why_not = {};               ///< why it cannot run; empty where it fits
};
FieldTable const& field_table_of(LargerRun const*);

/// Answer of `headroom trace`. Files that could not be read count among the issues of the answer.
struct TraceReport {
    TraceReportQuestion question;
    std::vector<std::string> verdict; ///< sentences: whoever prints the report makes them
    bool complete = true;
    TraceAnswer answer;
    std::vector<NameTotal> kernels; ///< all, the question's `top` are listed
    std::vector<std::string> unread, left_out;
    std::optional<TraceComparison> baseline;
    std::vector<LargerRun> larger; ///< of --plan
    std::string calibrated;        ///< effect of the measured step on the prediction, in words
};
FieldTable const& field_table_of(TraceReport const*);

TraceReport trace_report(TraceReportQuestion question, ReadTraces read, Executor const& run = {});

} // namespace headroom::trace
