#pragma once

#include "headroom/training/assume.hpp"
#include "headroom/training/legality.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/run.hpp"
#include "headroom/training/step.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

/// Question of a prediction: a step of `workload` with `strategy`.
struct Question {
    Model model;
    Cluster cluster;
    Framework framework;
    Workload workload;
    Strategy strategy;
    Disturbance disturbance = {};
    std::optional<double> pace = {}; ///< measured over predicted computation, from a run of the same on fewer workers
    std::vector<Assumption> assumptions;   ///< made so far; listed in the result
    std::optional<double> tokens;          ///< of the whole run, for days and cost; the fewest, with a critical batch
    std::optional<Failures> failures = {}; ///< empty: nothing fails, nothing is written
    std::optional<double> critical_batch = {}; ///< sequences; empty: every token is worth the same
};

/// Where the measured step lies with probability `coverage`, by the band of published runs that lay as far from those
/// that were fitted.
struct Interval {
    Seconds low, high;
    double coverage = 0.9;
    Extrapolation kind = Extrapolation::seen;
};

/// Change of a prediction by measured steps.
struct WarmEffect {
    double factor = 1.0; ///< on the step and each of its parts
    int related = 0;     ///< measured steps that it follows from
    int outside = 0;     ///< of those, how many lie outside of their own interval and were clipped
    Seconds step_before; ///< without them
    Interval interval_before;
};

/// Whether the kernels of a question are its framework's own, of a kind of model that paces were fitted to: pictures,
/// encoders, pairs of encoder and decoder, recurrence.
bool runs_own_kernels(Framework const& framework, Model const& model);

/// Whether nobody named the framework: it is among the assumptions.
bool framework_is_guessed(Question const& question);

/// Whether the framework is a guess that is made again where the strategy is stated and the framework is not: a command that leaves it
/// out then has the same answer, with the same interval.
bool framework_is_guessed_again(Question const& question);

/// Distance of a question from the runs that moved the constants. Where those are not known, only guesses count.
Extrapolation extrapolation_of(Question const& question, std::optional<Seen> const& seen);

/// Distance of a question of software that its users put together: by where the state is, and whether it runs on one accelerator.
Extrapolation extrapolation_of_ordinary(Strategy const& strategy);

/// Runs that the interval of a question rests on, words behind "published": "runs of hopper and runs of megatron-core". `never_together`
/// says that no run of the framework was on this hardware: "runs of ampere, and of megatron-core on other hardware".
std::string evidence_words(Question const& question, Extrapolation kind, bool never_together = false);

/// Where runs of such a model count: mixtures and hybrids apart from all others.
Experience& experience_with(Model const& model, Seen& seen);

/// The share of a step that does not shrink with workers, with the count it was taken at.
struct SerialFraction {
    double value = 0.0;
    int at_workers = 1;
};

/// Interval of a footprint, and the probability that it fits.
struct MemoryOdds {
    MemoryRange footprint;
    double fits = 1.0;
};

/// One configuration, answered.
struct Prediction {
    Question question;
    StepTime time;
    Interval interval;
    MemoryUse memory;
    Bytes memory_capacity, memory_usable;
    Bytes host_needed;                  ///< memory of a machine's host that offloaded state takes
    bool fits = true;                   ///< with a probability of one half at least
    std::optional<MemoryOdds> odds;     ///< where the spread of measured memory is known
    std::string why_not;                ///< excess over the device's memory, and changes that would make it fit
    std::vector<MemoryRemedy> remedies; ///< memory that is missing, and changes that would make it fit
    int workers = 1, micro_batches = 1;
    double tokens_per_second = 0.0;    ///< whole job
    Flops model_flops, hardware_flops; ///< a step, whole job, by `convention`
    AttentionConvention convention = AttentionConvention::causal;
    double mfu = 0.0, hfu = 0.0;     ///< against the dense peak of the strategy's precision
    double mfu_full_attention = 0.0; ///< MFU by the other convention
    FlopsPerSecond peak;
    double gamma = 0.0; ///< T_comm / T_comp, communication as if nothing overlapped
    SerialFraction serial;
    double speedup_ceiling = 0.0; ///< over this worker count, communication fixed
    std::vector<CommunicationRow> communication;
    LayerCosts costs;
    double pace = 1.0;                    ///< factor on computation: of the question, else of the framework
    std::optional<WarmEffect> warm;       ///< when steps like it were measured
    std::optional<Goodput> goodput;       ///< when failures are counted
    std::optional<Statistics> statistics; ///< when the critical batch is known
    [[nodiscard]] Seconds step() const { return time.total(); }
    [[nodiscard]] bool progresses() const { return !goodput || goodput->progresses(); }
    /// A step of the run over a step as it is timed: failures and the samples that a large batch wastes. 1 without.
    [[nodiscard]] double run_over_step() const {
        return (goodput ? goodput->time_over_work : 1.0) * (statistics ? statistics->samples_over_fewest() : 1.0);
    }
};

/// Probability that a step takes no longer than `limit`. Either side of the predicted step t is half of a log-normal law, whose tail beyond
/// the end e of the interval, low or high, holds (1 - coverage) / 2:
///   P = Phi(z |ln(limit / t)| / |ln(e / t)|) above t, 1 less that below; z = Phi^-1((1 + coverage) / 2)
/// 1/2 at t; 0 or 1 where the interval has no width on that side. A run scales with its steps: the probability of a
/// duration D is that of t D / duration.
double probability_within(Prediction const& prediction, Seconds limit);

/// Whether a footprint fits, in a word: "yes" from 95 % on, "no" below 5 %, else "probably (78 %)" or "probably not (22 %)".
std::string fits_words(double probability);
/// Odds in words: "yes, 61.2 GiB to 70.4 GiB of 80 GiB".
std::string odds_words(MemoryOdds const& odds, Bytes capacity);
/// Memory that offloaded state takes of a machine's host, in words: "1054 GiB of host memory a machine, of 2048 GiB", "..., which must be there"; empty
/// where nothing is offloaded.
std::string host_words(Prediction const& prediction);

/// Margin of a search over plans of a framework; empty-handed (no margin) where the spread of measured memory is not known. The
/// framework is a guess where it is among the assumptions.
MemoryMargin memory_margin(CalibrationSet const& calibration, Framework const& framework,
                           std::span<Assumption const> assumptions, double risk = usual_memory_risk);

/// Origin of a prediction's interval: "published runs of hopper with other frameworks", "published runs and 1 measured step".
std::string evidence_words(Prediction const& prediction, bool never_together = false);

/// Interval of a step by the question's kind: the band of published runs, widened by what the intervals of measured quantities move
/// the step by. Errors are taken for independent, on logarithms:
///
///     ln(high / step) = sqrt( ln(band.high)^2 + sum_i max(0, ln(step_i / step))^2 ),   low likewise
///
/// Measured steps do not count here: `apply_warm_start`. `pace`: factor on computation of the prediction.
Interval interval_of(Seconds step, Question const& question, CalibrationSet const& calibration, double pace);

/// Whether a prediction names changes that make its plan fit in memory: their search prices dozens of plans.
enum class Remedies { searched, left_out };

/// Predicts one step. The strategy must be legal (`illegal_because`); one that does not fit in memory is answered
/// with fits = false, its remedies and `why_not` only where they are searched.
/// Errors: InputError{usage} for a precision that the chip does not compute.
Prediction predict(Question const& question, CalibrationSet const& calibration, Remedies remedies = Remedies::searched);

/// Time of the run's work without failures: tokens, with a critical batch those that its batch needs, over their
/// rate. Empty when the tokens are not known.
std::optional<Seconds> productive_time(Prediction const& prediction);

/// Optimizer steps of the run's work. Empty when the tokens are not known.
std::optional<double> run_steps(Prediction const& prediction);

/// Duration of the run with failures and checkpoints; empty also when such a run makes no progress.
std::optional<Seconds> run_time(Prediction const& prediction);

/// Expected slowest of `workers` ranks, in standard deviations above the mean; 0 where the step model does not need it.
double expected_slowest(Disturbance const& disturbance, Framework const& framework, int workers);

/// Inputs of the step model for this question; `cluster` is the question's with its congestion.
StepSetting step_setting(Question const& question, Cluster const& cluster, Calibration const& constants);

/// The factor of a framework whose kernels are its own, for the kinds of model that it was fitted to; else 1. At least
/// `least_pace` of the precision, that of the framework where none is stated.
double pace_of(Framework const& framework, Model const& model, CalibrationSet const& calibration,
               Accelerator const& chip, std::optional<Precision> precision);

/// gamma = T_comm / T_comp, neither overlapped; zero without computation. Source: [ScalingBook]
constexpr double communication_to_computation(Seconds communication, Seconds computation) {
    return computation.base() > 0.0 ? communication / computation : 0.0;
}

/// Shares of a model's forward work that run backward: input gradients, and weight gradients.
struct TrainedWork {
    double inputs = 1.0, weights = 1.0;
};
/// Shares of the forward work that run backward. LoRA adapters with frozen weights have input gradients only; with the
/// last n of L layers trained the others have none.
TrainedWork trained_work(Strategy const& strategy, Model const& model);

/// Recomputed share of the blocks that have a backward pass.
double recomputed_share(Strategy const& strategy, Model const& model);

/// Shares of the forward pass's matrix products and attention that run again in the backward pass: the core (selective),
/// whole blocks (full), the products of the parts that are named, or every second one.
struct RecomputedWork {
    double matrix = 0.0, attention = 0.0;
};
RecomputedWork recomputed_work(Strategy const& strategy, Model const& model);

/// Operations of training on one sequence: the forward pass, as much again for input gradients, and for
/// weight gradients; attention has two operands and so both of the latter whenever gradients pass it.
///
///     forward + i matrix + w matrix + 2 i attention + (1 + w') head
///
/// Everything trained: 3 forward. Source: [Chowdhery2022], [Narayanan2021]
Flops training_flops(SequenceFlops const& forward, TrainedWork const& work);

/// FLOPs of the hardware, recomputation included; never the head.
/// Source: [Korthikanti2022]
Flops hardware_flops(SequenceFlops const& forward, TrainedWork const& work, RecomputedWork const& again);

/// MFU = model operations / (step time x workers x peak); HFU the same of hardware operations. Zero when the
/// step takes no time or the chip has no such arithmetic: there is nothing to be a share of.
/// Source: [Chowdhery2022]
double flops_utilization(Flops work, Seconds step, int workers, FlopsPerSecond peak);

} // namespace headroom::training
