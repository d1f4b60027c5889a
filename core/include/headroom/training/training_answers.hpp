#pragma once

#include "headroom/fields.hpp"
#include "headroom/term.hpp"
#include "headroom/training/left_out.hpp"
#include "headroom/training/logged_steps.hpp"
#include "headroom/training/memory.hpp"
#include "headroom/training/narrowing.hpp"
#include "headroom/training/pipeline_schedule.hpp"
#include "headroom/training/plan.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/simulated_step.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::training {

// Answers of `predict` and `plan`, with their field tables.

// ---- quantities that follow from a prediction -----------------------------------------------------------------------

/// Model FLOP/s of one accelerator.
FlopsPerSecond model_rate(Prediction const& prediction);
/// Sequences, or pictures, that the whole job processes in a second.
double samples_per_second(Prediction const& prediction);
/// Tokens that one accelerator processes in a second.
double tokens_per_second_per_accelerator(Prediction const& prediction);
/// Price of a million tokens, failures included; empty without a price.
std::optional<double> dollars_per_million(Prediction const& prediction);
/// Largest possible speedup over this worker count; empty where nothing is serial.
std::optional<double> ceiling_of(Prediction const& prediction);
/// Memory of every stage of the pipeline.
std::vector<MemoryUse> stages_of(Prediction const& prediction);
/// Cost of the run; empty without a price or without tokens.
std::optional<Dollars> cost_of(Prediction const& prediction);
/// Time to the target of training; empty without a critical batch or without tokens.
std::optional<Seconds> time_to_target(Prediction const& prediction);

// ---- parts of answers -------------------------------------------------------------------------------------------------

/// A constant of the step model with its value and origin.
struct ConstantValue {
    ConstantInfo const* info = nullptr;
    CalibratedConstant value;
};
std::vector<ConstantValue> constant_values(CalibrationSet const& calibration);

/// A change to a question and the step that it leads to.
struct LeverOutcome {
    std::string name;
    Seconds base_step; ///< without the change
    Prediction prediction;
};

/// One pipeline schedule on a configuration that is otherwise the same.
struct ScheduleOutcome {
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    std::string why_not = {};                  ///< why it is not possible; else empty
    std::optional<Prediction> prediction = {}; ///< where it is possible
    double held = 0.0;          ///< activations that the fullest stage holds, in micro-batches of its whole depth
    double weight_copies = 1.0; ///< of the weights of a stage, on the stage that has the most
    bool chosen = false;        ///< the strategy's own
    bool best = false;          ///< the fastest that fits
    [[nodiscard]] bool fits() const { return prediction && prediction->fits; }
};

/// Every schedule on this question: the fastest that fits first, then those that do not fit, then those that are not
/// possible.
std::vector<ScheduleOutcome> compare_schedules(Question const& question, CalibrationSet const& calibration);

/// A step that is simulated and priced.
struct Simulation {
    SimulatedStep step;
    CollectiveDetail collectives = CollectiveDetail::operation; ///< pricing of collectives in the simulation
    StepTime priced;
    [[nodiscard]] bool ran() const { return step.refused.empty(); }
    [[nodiscard]] double difference() const { return step.step() / priced.total() - 1.0; }
};

/// Simulates the step of a prediction.
Simulation simulate(Prediction const& prediction, CalibrationSet const& calibration, SimulationOptions const& options);

/// Settings that a prediction was evaluated with, kept together: a `StepSetting` refers to the rest.
class StepContext {
public:
    StepContext(Prediction const& prediction, CalibrationSet const& calibration)
        : values_{calibration.values()},
          cluster_{
              congested(prediction.question.cluster, prediction.question.disturbance.congestion, prediction.workers)},
          setting_{step_setting(prediction.question, cluster_, values_)} {}
    StepContext(StepContext const&) = delete;
    StepContext& operator=(StepContext const&) = delete;

    [[nodiscard]] StepSetting const& setting() const { return setting_; }

private:
    Calibration values_;
    Cluster cluster_;
    StepSetting setting_;
};

/// Every number of a prediction with where it comes from, each after its inputs: of the step, of memory, and of the effects
/// that speedup laws leave out; down to values of the catalog, options and constants.
std::vector<Term> explain(Prediction const& prediction, CalibrationSet const& calibration);

/// The first levels of those: parts of the step and of memory, and effects that speedup laws leave out.
std::vector<Term> overview(std::vector<Term> const& terms);

// ---- answers ----------------------------------------------------------------------------------------------------------

/// Answer of `headroom predict`: one configuration.
struct PredictAnswer {
    Prediction prediction;
    std::string strategy_record; ///< of the catalog; empty without one
    std::vector<ConstantValue> constants = {};
    std::vector<std::string> notes = {};
    std::vector<LogAnswer> logs = {}; ///< of --log
    std::vector<Narrowing> narrows = {};
    std::vector<GuessEffect> guessed = {};
    std::vector<LeftOutTerm> left_out = {};
    std::vector<LeverOutcome> what_if = {};      ///< of --what-if
    std::vector<Term> terms = {};                ///< of --explain
    std::vector<ScheduleOutcome> schedules = {}; ///< of --schedule all
    std::optional<Simulation> simulation = {};   ///< of --simulate, or for a page
    bool shows_simulation = false;               ///< whether it was requested
};
FieldTable const& field_table_of(PredictAnswer const*);

/// One number of accelerators that fine-tuning is asked on.
struct FinetuneSize {
    int workers = 0;
    std::optional<Prediction> prediction = {};
    std::string refused = {}; ///< reason where there is no prediction
    double dataset_tokens = 0.0;
    bool recommended = false;
    [[nodiscard]] bool fits() const { return prediction && prediction->fits; }
};
FieldTable const& field_table_of(FinetuneSize const*);
/// Minutes of one pass over the data set; empty where there is no prediction.
std::optional<double> epoch_minutes(FinetuneSize const& size);
/// Index of the recommended size: the largest that fits and is faster than all smaller ones, with `laws::knee_gain` over the size that fits
/// before it, as `plan` chooses; the largest with a prediction where none fits; empty without one. `sizes` are in ascending order.
std::optional<std::size_t> recommended_size(std::vector<FinetuneSize> const& sizes);
/// Least and most sequences of a step among the sizes with a prediction.
std::pair<int, int> batches_of(std::vector<FinetuneSize> const& sizes);

/// Answer of `headroom finetune`: the configuration that is chosen for a data set.
struct FinetuneAnswer {
    Prediction prediction; ///< of the recommended size
    std::string method;    ///< "full", "lora", "qlora", "dora" or "qdora"
    double dataset_tokens = 0.0, epochs = 1.0;
    std::string verdict, command;
    std::vector<std::string> notes = {};
    std::vector<FinetuneSize> curve = {}; ///< all sizes
};
FieldTable const& field_table_of(FinetuneAnswer const*);
/// Minutes of one pass over the data set.
double minutes_per_epoch(FinetuneAnswer const& answer);
/// Sequences of a step that nobody stated: at least 16, as many on each accelerator.
int finetune_batch(int workers);
/// Methods that need less memory than this one, the one of most memory first.
std::vector<std::string> leaner_methods(std::string const& method);
/// Answer in words: whether it fits, minutes an epoch, cost; of several sizes the reason of the recommended one.
std::string finetune_verdict(FinetuneAnswer const& answer);
/// " --method qlora fits on 4 accelerators: 31.2 minutes an epoch.": answer by a leaner method.
std::string leaner_words(FinetuneAnswer const& leaner);

/// Answer of `headroom plan`.
struct PlanAnswer {
    Plan plan;
    std::string rule;            ///< by which the size was chosen, in words
    std::string command = {};    ///< of `headroom predict` for the recommended size; empty without one
    std::string strategy_record; ///< of the catalog; empty without one
    std::vector<ConstantValue> constants = {};
    std::vector<std::string> notes = {};
    std::vector<LeftOutTerm> left_out = {}; ///< of the recommended size
    std::vector<Narrowing> narrows = {};    ///< likewise
    std::optional<Plan> other = {};         ///< of --against
    std::optional<PlanComparison> comparison = {};
};
FieldTable const& field_table_of(PlanAnswer const*);
/// The size that is recommended, or null.
CurvePoint const* recommended_point(Plan const& plan);

/// Answer of `headroom plan --dry-run`: legal strategies of each size.
struct PlanDryRun {
    struct Size {
        int workers = 0;
        std::size_t legal = 0;
    };
    std::vector<Size> sizes;
};
FieldTable const& field_table_of(PlanDryRun const*);
FieldTable const& field_table_of(PlanDryRun::Size const*);

// ---- tables that other answers share ----------------------------------------------------------------------------------

FieldTable const& field_table_of(Model const*);
FieldTable const& field_table_of(Assumption const*);
FieldTable const& field_table_of(ConstantValue const*);
FieldTable const& field_table_of(CurvePoint const*);

/// A workload with the tokens of the whole run.
struct WorkloadOfRun {
    Workload workload;
    std::optional<double> tokens;
};
FieldTable const& field_table_of(WorkloadOfRun const*);

/// A strategy with the workload that it splits.
struct StrategyInUse {
    Strategy strategy;
    Workload workload;
};
FieldTable const& field_table_of(StrategyInUse const*);

} // namespace headroom::training

namespace headroom {

FieldTable const& field_table_of(Cluster const*);

} // namespace headroom
