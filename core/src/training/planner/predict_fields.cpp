#include "training/prediction_views.hpp"

#include <utility>

namespace headroom::training {
namespace {

// ---- parts that were asked for ----------------------------------------------------------------------------------------

constexpr Field term_rows[] = {
    {"name", "Name of the quantity.", member<&Term::name>},
    {"unit", "Unit of its value.", member<&Term::unit>},
    {"formula", "Expression in the names of the inputs; empty where another kind of origin is given.",
     member<&Term::formula>},
    {"inputs", "Values of the names; null where a value is not finite.",
     [](Term const& t) {
         std::vector<std::pair<std::string, std::optional<double>>> inputs;
         for (auto const& [name, value] : t.inputs) { inputs.emplace_back(name, finite(value)); }
         return inputs;
     }},
    {"value", "Value; null where it is not finite.", [](Term const& t) { return finite(t.value); }},
    {"kind",
     "Where the value comes from: its formula; the recurrence over passes and streams (priced) or an algorithm, from "
     "its "
     "inputs; else a fact: a shape of the work, the model, the catalog, the framework, an option or a constant.",
     [](Term const& t) { return name_of(t.kind); }},
    {"origin", "Record, option or rule that the value comes from; empty for a formula.", member<&Term::origin>},
};
constexpr FieldTable term_table = field_table<Term>("term", term_rows);

constexpr Field lever_rows[] = {
    {"lever", "Change, or all changes together.", member<&LeverOutcome::name>},
    {"base_step_seconds", "Step time without the change.", member<&LeverOutcome::base_step>},
    {"step_seconds", "Step time with it.", [](LeverOutcome const& l) { return l.prediction.step(); }},
    {"speedup", "Step time without over step time with the change.",
     [](LeverOutcome const& l) { return l.base_step / l.prediction.step(); }},
    {"fits", "Whether the changed configuration fits in memory.",
     [](LeverOutcome const& l) { return l.prediction.fits; }},
    {"breakdown", "Parts of the changed step.", [](LeverOutcome const& l) { return l.prediction.time; }},
};
constexpr FieldTable lever_table = field_table<LeverOutcome>("lever", lever_rows);

template <class Value> auto if_possible(ScheduleOutcome const& outcome, Value value) {
    using Result = std::remove_cvref_t<decltype(value(*outcome.prediction))>;
    return outcome.prediction ? std::optional<Result>{value(*outcome.prediction)} : std::nullopt;
}

constexpr Field schedule_rows[] = {
    {"schedule", "Name of the pipeline schedule.",
     [](ScheduleOutcome const& s) { return schedule_row(s.schedule).name; }},
    {"title", "Name for people.", [](ScheduleOutcome const& s) { return schedule_row(s.schedule).title; }},
    {"source", "Key of the bibliography.", [](ScheduleOutcome const& s) { return schedule_row(s.schedule).source; }},
    {"possible", "Whether the configuration can run it.",
     [](ScheduleOutcome const& s) { return s.prediction.has_value(); }},
    {"why_not", "Reason why it is not possible or does not fit; null where it fits.",
     [](ScheduleOutcome const& s) {
         return s.fits() ? std::nullopt : std::optional{s.prediction ? s.prediction->why_not : s.why_not};
     }},
    {"step_seconds", "Step time.",
     [](ScheduleOutcome const& s) { return if_possible(s, [](Prediction const& p) { return p.step(); }); }},
    {"bubble_seconds", "Pipeline bubble.",
     [](ScheduleOutcome const& s) {
         return if_possible(s, [](Prediction const& p) { return p.time.pipeline_bubble; });
     }},
    {"bubble_fraction", "Pipeline bubble over the step.",
     [](ScheduleOutcome const& s) {
         return if_possible(s, [](Prediction const& p) { return p.time.pipeline_bubble / p.step(); });
     }},
    {"memory_bytes", "Memory of the fullest stage.",
     [](ScheduleOutcome const& s) { return if_possible(s, [](Prediction const& p) { return p.memory.total(); }); }},
    {"fits", "Whether it fits in memory.", [](ScheduleOutcome const& s) { return s.fits(); }},
    {"micro_batches_in_flight", "Micro-batches whose activations the fullest stage holds.",
     [](ScheduleOutcome const& s) { return s.prediction ? std::optional{s.held} : std::nullopt; }},
    {"weight_copies", "Copies of its weights on the stage that has the most.",
     [](ScheduleOutcome const& s) { return s.prediction ? std::optional{s.weight_copies} : std::nullopt; }},
    {"virtual_pp", "Model chunks of a stage.",
     [](ScheduleOutcome const& s) {
         return if_possible(s, [](Prediction const& p) { return p.question.strategy.virtual_pp; });
     }},
    {"asynchronous", "Whether gradients belong to older weights.",
     [](ScheduleOutcome const& s) { return schedule_row(s.schedule).asynchronous; }},
    {"best", "Whether it is the fastest that fits.", member<&ScheduleOutcome::best>},
    {"of_strategy", "Whether it is the strategy's own.", member<&ScheduleOutcome::chosen>},
};
constexpr FieldTable schedule_table = field_table<ScheduleOutcome>("schedule", schedule_rows);

// ---- the answer -------------------------------------------------------------------------------------------------------

constexpr Prediction const& of(PredictAnswer const& answer) { return answer.prediction; }

std::vector<Issue> issues_of(PredictAnswer const& answer) {
    std::vector<Issue> all;
    for (LogAnswer const& log : answer.logs) { all.insert(all.end(), log.issues.begin(), log.issues.end()); }
    return all;
}

constexpr Field predict_answer_rows[] = {
    {"model", "Model.", [](PredictAnswer const& a) -> Model const& { return of(a).question.model; }},
    {"cluster", "Cluster.", [](PredictAnswer const& a) -> Cluster const& { return of(a).question.cluster; }},
    {"framework", "Training framework.", [](PredictAnswer const& a) { return of(a).question.framework.name; }},
    {"optimizer", "Optimizer of the catalog that was named; empty: AdamW as the framework keeps it.",
     [](PredictAnswer const& a) { return of(a).question.framework.optimizer; }},
    {"base", "Format of frozen weights below LoRA adapters.",
     [](PredictAnswer const& a) { return std::string{name_of(of(a).question.framework.frozen)}; }},
    {"workers", "Accelerators.", [](PredictAnswer const& a) { return of(a).workers; }},
    {"pace", "Factor on computation that was fitted to the framework.",
     [](PredictAnswer const& a) { return of(a).pace; }},
    {"workload", "Data of a step and of the run.",
     [](PredictAnswer const& a) {
         return WorkloadOfRun{of(a).question.workload, of(a).question.tokens};
     }},
    {"strategy_record", "Strategy of the catalog that filled open fields; null without one.",
     [](PredictAnswer const& a) { return if_stated(a.strategy_record); }},
    {"strategy", "Parallelism and the other choices of the configuration.",
     [](PredictAnswer const& a) { return strategy_of(of(a)); }},
    {"fits", "Whether it fits in memory.", [](PredictAnswer const& a) { return of(a).fits; }},
    {"why_not", "By how much it does not fit; null where it fits.",
     [](PredictAnswer const& a) { return of(a).fits ? std::nullopt : std::optional{of(a).why_not}; }},
    {"host_memory_bytes", "Memory that offloaded state takes of a machine's host.",
     [](PredictAnswer const& a) { return of(a).host_needed; }},
    {"host_memory_capacity_bytes", "Memory of a machine's host; null where it is not known.",
     [](PredictAnswer const& a) {
         Bytes const there = of(a).question.cluster.host_memory;
         return there.base() > 0.0 ? std::optional{there} : std::nullopt;
     }},
    {"step_seconds", "Time of one training step.", [](PredictAnswer const& a) { return of(a).step(); }},
    {"tier", "How the step was computed: priced, by the recurrence over passes and streams.",
     [](PredictAnswer const&) { return name_of(Tier::priced); }},
    {"interval_seconds", "Interval that holds the step with the probability interval_coverage.",
     [](PredictAnswer const& a) { return ends_of(of(a).interval); }},
    {"measured", "Effect of measured steps; null without any.",
     [](PredictAnswer const& a) -> std::optional<WarmEffect> const& { return of(a).warm; }},
    {"logs", "Training logs of --log, whose steady steps are measured steps.", member<&PredictAnswer::logs>,
     Presence::if_any},
    {"issues", "Content of logs that was not used, and lines with a fault.", from<issues_of>, Presence::if_any},
    {"interval_coverage", "Probability that the interval holds.",
     [](PredictAnswer const& a) { return of(a).interval.coverage; }},
    {"interval_kind", "How far the question lies from runs that the constants were fitted to.",
     [](PredictAnswer const& a) { return of(a).interval.kind; }},
    {"narrows", "Facts that would narrow the interval most, three at most.", member<&PredictAnswer::narrows>},
    {"guessed", "Fields that nobody stated, and the step with other values of them.", member<&PredictAnswer::guessed>},
    {"tokens_per_second", "Tokens of the whole job in a second.",
     [](PredictAnswer const& a) { return of(a).tokens_per_second; }},
    {"tokens_per_second_per_accelerator", "Tokens of one accelerator in a second.",
     [](PredictAnswer const& a) { return tokens_per_second_per_accelerator(of(a)); }},
    {"samples_per_second", "Sequences of the whole job in a second.",
     [](PredictAnswer const& a) { return samples_per_second(of(a)); }},
    {"model_flops_per_second_per_accelerator", "Model FLOP/s of one accelerator.",
     [](PredictAnswer const& a) { return model_rate(of(a)); }},
    {"peak_flops_per_second", "Dense peak of the accelerator in the strategy's precision.",
     [](PredictAnswer const& a) { return of(a).peak; }},
    {"mfu", "Model FLOPs utilization: model FLOP/s over the peak.", [](PredictAnswer const& a) { return of(a).mfu; },
     Unit{"share"}},
    {"hfu", "Hardware FLOPs utilization: the same with recomputation.",
     [](PredictAnswer const& a) { return of(a).hfu; }, Unit{"share"}},
    {"mfu_convention", "How attention is counted in the MFU: causal or full.",
     [](PredictAnswer const& a) { return of(a).convention; }},
    {"mfu_full_attention", "MFU with attention counted in full.",
     [](PredictAnswer const& a) { return of(a).mfu_full_attention; }, Unit{"share"}},
    {"breakdown", "Parts that sum to the step.", [](PredictAnswer const& a) { return of(a).time; }},
    {"exposed_communication", "Parts that sum to the exposed communication.",
     [](PredictAnswer const& a) { return ExposedCommunication{of(a).time}; }},
    {"communication", "Communication of a step on one accelerator.",
     [](PredictAnswer const& a) -> std::vector<CommunicationRow> const& { return of(a).communication; }},
    {"memory", "Memory of the fullest accelerator.", [](PredictAnswer const& a) { return MemoryOfPrediction{&of(a)}; }},
    {"memory_by_stage", "Memory of each pipeline stage.", [](PredictAnswer const& a) { return stages_of(of(a)); }},
    {"gamma", "Communication over computation, as if nothing overlapped.",
     [](PredictAnswer const& a) { return of(a).gamma; }},
    {"serial_fraction", "Fraction of the step that more workers do not shrink.",
     [](PredictAnswer const& a) { return of(a).serial; }},
    {"speedup_ceiling", "Largest speedup over this worker count; null where nothing is serial.",
     [](PredictAnswer const& a) { return ceiling_of(of(a)); }},
    {"days", "Duration of the run, failures included; null without tokens.",
     [](PredictAnswer const& a) { return days_of(run_time(of(a))); }, Unit{"d"}},
    {"accelerator_hours", "Accelerator-hours of the run, failures included; null without tokens.",
     [](PredictAnswer const& a) -> std::optional<double> {
         auto const days = days_of(run_time(of(a)));
         return days ? std::optional{*days * 24.0 * of(a).workers} : std::nullopt;
     },
     Unit{"h"}},
    {"cost_dollars", "Cost of the run; null without tokens or a price.",
     [](PredictAnswer const& a) { return cost_of(of(a)); }},
    {"tokens_per_dollar", "Tokens that a dollar buys.",
     [](PredictAnswer const& a) {
         auto const price = dollars_per_million(of(a));
         return price && *price > 0.0 ? std::optional{1e6 / *price} : std::nullopt;
     }},
    {"dollars_per_million_tokens", "Price of a million tokens.",
     [](PredictAnswer const& a) { return dollars_per_million(of(a)); }, Unit{"$"}},
    {"assumed", "Fields that nobody stated, with the values taken.",
     [](PredictAnswer const& a) -> std::vector<Assumption> const& { return of(a).question.assumptions; }},
    {"constants", "Constants of the step model.", member<&PredictAnswer::constants>},
    {"notes", "Remarks on the input.", member<&PredictAnswer::notes>},
    {"productive_days", "Duration without failures and checkpoints.",
     [](PredictAnswer const& a) { return days_of(productive_time(of(a))); }, Unit{"d"}},
    {"goodput", "Effect of failures and checkpoints; null where they are not counted.",
     [](PredictAnswer const& a) -> std::optional<Goodput> const& { return of(a).goodput; }},
    {"statistics", "Effect of the critical batch; null where it is not counted.",
     [](PredictAnswer const& a) { return statistics_of(of(a)); }},
    {"left_out", "Effects that speedup laws leave out.", member<&PredictAnswer::left_out>},
    {"schedules", "Every pipeline schedule on this configuration, best first; of --schedule all.",
     member<&PredictAnswer::schedules>, Presence::if_any},
    {"simulation", "Step simulated task by task; of --simulate.",
     [](PredictAnswer const& a) { return a.shows_simulation && a.simulation ? &*a.simulation : nullptr; },
     Presence::if_any},
    {"what_if", "Changes of --what-if and the resulting steps.", member<&PredictAnswer::what_if>, Presence::if_any},
    {"terms", "Numbers with their formulas and inputs, down to facts where one is named; of --explain.",
     member<&PredictAnswer::terms>, Presence::if_any},
};
constexpr FieldTable predict_answer_table = field_table<PredictAnswer>("predict", predict_answer_rows);

} // namespace

FieldTable const& field_table_of(LeverOutcome const*) { return lever_table; }
FieldTable const& field_table_of(ScheduleOutcome const*) { return schedule_table; }
FieldTable const& field_table_of(PredictAnswer const*) { return predict_answer_table; }

} // namespace headroom::training

namespace headroom {

FieldTable const& field_table_of(Term const*) { return training::term_table; }

} // namespace headroom
