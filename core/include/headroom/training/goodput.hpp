#pragma once

#include "headroom/quantity.hpp"
#include "headroom/ranks.hpp"

namespace headroom::training {

// ---- how often something fails ------------------------------------------------------------------------------------

/// Mean time between failures of one accelerator with its share of host, link and software.
///
/// Llama 3 405B was interrupted 419 times, planned stops not counted, in 54 days on 16 384 H100:
///
///     54 x 24 h / 419 = 3.09 h;   x 16 384 = 50 700 h
///
/// Holds for:  well-run clusters of that kind; older parts, and the first weeks of a cluster, fail more often.
/// Source:     [Dubey2024]
inline constexpr Seconds default_device_mtbf = 50700.0 * units::hour;

/// Mean time between failures of a job that stops when any part fails.
///
///     M = M_part / ceil(K / K_part)
///
/// A part is the unit of failure: one accelerator, or a node of `devices_per_part`.
/// Holds for:  any K >= 1; infinite for parts that never fail.
/// Assumes:    parts fail independently and at a constant rate.
/// Errors:     InputError{usage} when the part's time is not above zero.
/// Source:     [Daly2006]
Seconds cluster_mtbf(Seconds part_mtbf, Ranks devices, Ranks devices_per_part = Ranks{1});

// ---- how long a checkpoint takes ----------------------------------------------------------------------------------

/// A checkpoint as it is written.
struct CheckpointWrite {
    Bytes state;                 ///< weights and optimizer state of the whole model, each kept once
    Ranks writers;               ///< that write their part at the same time
    BytesPerSecond rate;         ///< of one writer
    double blocking_share = 1.0; ///< of the duration in which training waits: 1 when synchronous
};

/// Time from the start of a checkpoint until it is safe: state / (writers x rate).
///
/// Holds for:  writers whose store keeps up with all of them.
/// Assumes:    the state is divided evenly and nothing is written twice.
/// Errors:     InputError{usage} on a negative state or a rate that is not above zero.
/// Source:     [Rajbhandari2020]
Seconds checkpoint_duration(CheckpointWrite const& write);

/// Time that training waits for a checkpoint: the C of `FailureModel`.
///
///     C = blocking share x duration
///
/// Holds for:  0 <= share <= 1; an asynchronous checkpoint waits for the copy to host memory alone.
/// Assumes:    the rest is hidden, and safe long before the next checkpoint starts.
/// Errors:     as `checkpoint_duration`, and when the share is not one.
/// Source:     [MegatronLM]
Seconds checkpoint_blocking(CheckpointWrite const& write);

// ---- how often to write one ---------------------------------------------------------------------------------------

/// Interruptions of a run. All functions below throw InputError{usage} when a time is negative or not a number, when
/// `checkpoint` or `restart` is not finite, or when `mtbf` is zero. An infinite `mtbf` is a run that nothing stops.
struct FailureModel {
    Seconds checkpoint; ///< C, training waits
    Seconds restart;    ///< R, from a failure to the first new step; may itself be interrupted
    Seconds mtbf;       ///< M, of the whole job: see `cluster_mtbf`
};

/// Young's interval of work between two checkpoints: sqrt(2 C M).
///
/// Holds for:  C far below M; infinite when nothing fails.
/// Assumes:    at most one failure an interval; half an interval is lost with it.
/// Source:     [Young1974]
Seconds young_interval(FailureModel const& model);

/// Daly's higher-order interval.
///
///     sqrt(2 C M) (1 + 1/3 sqrt(C/2M) + 1/9 C/2M) - C   for C < 2M,   else M
///
/// Holds for:  any C; its time is within 0.002 % of the least one for C up to M/2.
/// Assumes:    as `time_over_work`.
/// Source:     [Daly2006]
Seconds daly_interval(FailureModel const& model);

/// The interval with the least expected time.
///
///     (1-u) exp(u + C/M) = 1,   u = interval / M = 1 + W(-exp(-1 - C/M))
///
/// W is Lambert's function. The restart is not in it: each failure costs one, whatever the interval.
/// Holds for:  any C and M: 0 when a checkpoint is free, infinite when nothing fails, never above a finite M.
/// Assumes:    as `time_over_work`.
/// Source:     [Daly2006], [Corless1996]
Seconds exact_interval(FailureModel const& model);

// ---- what is lost -------------------------------------------------------------------------------------------------

/// Expected time of a run over the time of its work, with checkpoints after every `interval` of work.
///
///     M/tau exp(R/M) (exp((tau + C)/M) - 1)
///
/// Infinite when a double does not hold it: such a run makes no progress. 1 when nothing fails and nothing is written.
/// Holds for:  any C, R, M and tau; the last interval counts as a whole one.
/// Assumes:    failures at a constant rate, also during checkpoint and restart; a failure loses the work since the
///             last checkpoint.
/// Errors:     those of `FailureModel`, and when the interval is negative or not a number.
/// Source:     [Daly2006]
double time_over_work(FailureModel const& model, Seconds interval);

/// Where the time of a run goes, as shares of it. They sum to 1.
struct TimeShares {
    double work = 1.0;       ///< done once and kept: the goodput
    double checkpoint = 0.0; ///< written and kept
    double redone = 0.0;     ///< work and checkpoints that a failure cut off
    double restart = 0.0;    ///< from failures to the next step
    [[nodiscard]] constexpr double lost() const { return checkpoint + redone + restart; }
};

/// The parts of `time_over_work`.
///
///     kept = x / (exp(x) - 1) exp(-R/M),   x = (tau + C)/M
///     work = tau/(tau+C) kept,   checkpoint = C/(tau+C) kept,   restart = 1 - exp(-R/M),   redone = the rest
///
/// A run without progress has work 0: that is a value, not an error.
/// Holds for:  as `time_over_work`.
/// Assumes:    as `time_over_work`.
/// Source:     [Daly2006]
TimeShares time_shares(FailureModel const& model, Seconds interval);

/// Share of the time that is work done once: 1 / `time_over_work`. Source: [Daly2006]
double goodput(FailureModel const& model, Seconds interval);

} // namespace headroom::training
