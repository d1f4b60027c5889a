#pragma once

#include "headroom/quantity.hpp"
#include "headroom/ranks.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/goodput.hpp"
#include "headroom/training/model.hpp"
#include "headroom/training/strategy.hpp"

#include <optional>
#include <string>

namespace headroom::training {

// ---- what interrupts a run ----------------------------------------------------------------------------------------

/// Rule that sets the interval of work between two checkpoints.
enum class IntervalRule { exact, young, daly, given };

/// Default rate at which a node writes a checkpoint: a shared file system of the usual kind. A guess.
inline constexpr BytesPerSecond default_checkpoint_rate = 5.0 * units::GB / units::s;
/// Default time from a failure to the first new step: detection, restart of all processes, reading the state.
/// A guess.
inline constexpr Seconds default_restart = 5.0 * units::minute;
/// A run that works less than this share of its time is no run: it is answered as one without progress. A guess.
inline constexpr double least_goodput = 1e-3;

/// Failures and checkpoints of a question.
struct Failures {
    Seconds device_mtbf = default_device_mtbf;                ///< of one accelerator with its share of the rest
    std::optional<Seconds> cluster_mtbf;                      ///< of the whole job; goes before `device_mtbf`
    std::optional<Seconds> checkpoint;                        ///< training waits; empty: computed from the state
    BytesPerSecond checkpoint_rate = default_checkpoint_rate; ///< of one node
    double blocking_share = 1.0;                              ///< of a computed checkpoint, in which training waits
    Seconds restart = default_restart;
    IntervalRule rule = IntervalRule::exact;
    Seconds interval = {}; ///< with `given`
};

/// Effect of failures on a run.
struct Goodput {
    FailureModel model;
    Bytes state; ///< that a computed checkpoint writes; zero when its time was given
    Seconds interval, young, daly, exact;
    double time_over_work = 1.0;
    TimeShares shares;
    std::string why_not; ///< why such a run does not progress; empty when it does
    [[nodiscard]] bool progresses() const { return why_not.empty(); }
};

/// Bytes of a checkpoint: weights and optimizer state of the trained parameters, each stored once.
///
///     (weight bytes + optimizer bytes) x trained share x P
///
/// Holds for:  checkpoints that a run resumes from.
/// Assumes:    weights are written in the format that the framework keeps; frozen weights are on disk already.
/// Neglects:   the state of the data loader.
/// Source:     [Rajbhandari2020]
Bytes checkpoint_state(Model const& model, Framework const& framework, Strategy const& strategy);

/// The goodput of a job of `workers` in nodes of `per_node`, each of which writes its share of `state`.
///
/// Errors:     those of `FailureModel` and `CheckpointWrite`.
/// Source:     [Daly2006]
Goodput goodput_of(Failures const& failures, Bytes state, Ranks workers, Ranks per_node);

// ---- what a batch is worth ----------------------------------------------------------------------------------------

/// Effect of the critical batch on a run. A sample is a sequence.
struct Statistics {
    double critical_batch = 0.0;         ///< Bc, in sequences
    double batch = 0.0;                  ///< of a step, in sequences
    double efficiency = 1.0;             ///< of a sample: 1 / (1 + B/Bc)
    std::optional<double> steps, tokens; ///< to the target, when the fewest tokens are known
    [[nodiscard]] double samples_over_fewest() const { return 1.0 / efficiency; }
};

/// `fewest_tokens` are those that a small batch would need.
///
/// Errors:     those of `BatchLaw`.
/// Source:     [McCandlish2018]
Statistics statistics_of(double critical_batch, Workload const& workload, std::optional<double> fewest_tokens);

} // namespace headroom::training
