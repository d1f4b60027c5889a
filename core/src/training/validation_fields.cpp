#include "headroom/training/validation_answer.hpp"

namespace headroom::training {

FieldTable const& field_table_of(ErrorSummary const*);
FieldTable const& field_table_of(DroppedRows const*);
FieldTable const& field_table_of(BandSummary const*);
FieldTable const& field_table_of(PaceWithoutSource const*);
FieldTable const& field_table_of(AccuracyFigure const*);
FieldTable const& field_table_of(AccuracyMeasure const*);
FieldTable const& field_table_of(PlanSweep const*);
FieldTable const& field_table_of(UtilizationComparison const*);
FieldTable const& field_table_of(UtilizationCheck const*);
FieldTable const& field_table_of(ScaleSummary const*);
FieldTable const& field_table_of(ScaleValidation const*);

namespace {

std::optional<std::string> if_stated(std::string const& text) {
    return text.empty() ? std::nullopt : std::optional{text};
}
std::optional<double> if_any(bool any, double value) { return any ? std::optional{value} : std::nullopt; }

// ---- errors -----------------------------------------------------------------------------------------------------------

constexpr Field summary_rows[] = {
    {"rows", "Runs, suspect ones apart.", member<&ErrorSummary::rows>},
    {"skipped", "Runs that cannot be predicted.", member<&ErrorSummary::skipped>},
    {"dropped", "Suspect runs, in no figure.", member<&ErrorSummary::dropped>},
    {"median_absolute_error", "Median of the absolute relative error; a skip that states enough counts as 100 %.",
     [](ErrorSummary const& s) { return if_any(counted(s), s.median_absolute_error); }, Unit{"share"}},
    {"median_absolute_error_predicted", "Median over the runs that are predicted.",
     [](ErrorSummary const& s) { return if_any(predicted(s), s.median_absolute_error_predicted); }, Unit{"share"}},
    {"p90_absolute_error", "90th percentile of the absolute relative error.",
     [](ErrorSummary const& s) { return if_any(counted(s), s.p90_absolute_error); }, Unit{"share"}},
    {"mean_error", "Mean of the signed relative error; above zero where predictions are too slow.",
     [](ErrorSummary const& s) { return if_any(predicted(s), s.mean_error); }, Unit{"share"}},
    {"mean_absolute_error", "Mean of the absolute relative error.",
     [](ErrorSummary const& s) { return if_any(predicted(s), s.mean_absolute_error); }, Unit{"share"}},
    {"states_enough", "Runs that state model dimensions, sequence, batch and accelerators.",
     member<&ErrorSummary::states_enough>},
    {"predicted_of_stating_enough", "Fraction of these that are predicted.",
     [](ErrorSummary const& s) { return if_any(s.states_enough > 0, share_predicted(s)); }},
    {"interval_coverage", "Fraction of measured values inside the predicted interval.",
     [](ErrorSummary const& s) { return if_any(predicted(s), s.interval_coverage); }, Unit{"share"}},
};
constexpr FieldTable summary_table = field_table<ErrorSummary>("error_summary", summary_rows);

struct GroupOfRuns {
    ErrorGroup const* group;
    ErrorSummary const* left_out;
};
constexpr ErrorSummary const& of(GroupOfRuns const& g) { return g.group->summary; }
constexpr Field group_rows[] = {
    {"by", "Property that the runs share.", [](GroupOfRuns const& g) { return g.group->by; }},
    {"name", "Its value.", [](GroupOfRuns const& g) { return g.group->name; }},
    {"rows", "Runs, suspect ones apart.", [](GroupOfRuns const& g) { return of(g).rows; }},
    {"skipped", "Runs that cannot be predicted.", [](GroupOfRuns const& g) { return of(g).skipped; }},
    {"dropped", "Suspect runs.", [](GroupOfRuns const& g) { return of(g).dropped; }},
    {"median_absolute_error", "Median of the absolute relative error.",
     [](GroupOfRuns const& g) { return if_any(counted(of(g)), of(g).median_absolute_error); }, Unit{"share"}},
    {"median_absolute_error_predicted", "Median over the runs that are predicted.",
     [](GroupOfRuns const& g) { return if_any(predicted(of(g)), of(g).median_absolute_error_predicted); },
     Unit{"share"}},
    {"p90_absolute_error", "90th percentile of the absolute relative error.",
     [](GroupOfRuns const& g) { return if_any(counted(of(g)), of(g).p90_absolute_error); }, Unit{"share"}},
    {"left_out_median_absolute_error", "Median with the source of each run left out of the fit.",
     [](GroupOfRuns const& g) {
         return g.left_out != nullptr ? if_any(counted(*g.left_out), g.left_out->median_absolute_error)
                                      : std::optional<double>{};
     }},
    {"mean_error", "Mean of the signed relative error.",
     [](GroupOfRuns const& g) { return if_any(predicted(of(g)), of(g).mean_error); }, Unit{"share"}},
    {"interval_coverage", "Fraction of measured values inside the predicted interval.",
     [](GroupOfRuns const& g) { return if_any(predicted(of(g)), of(g).interval_coverage); }, Unit{"share"}},
};
constexpr FieldTable group_table = field_table<GroupOfRuns>("error_group", group_rows);
FieldTable const& field_table_of(GroupOfRuns const*) { return group_table; }

std::vector<GroupOfRuns> groups_of(ValidationAnswer const& answer) {
    std::vector<GroupOfRuns> groups;
    for (std::size_t i = 0; i < answer.validation.groups.size(); ++i) {
        groups.push_back(
            {&answer.validation.groups[i], answer.left_out ? &answer.left_out->groups.at(i).summary : nullptr});
    }
    return groups;
}

// ---- rows -------------------------------------------------------------------------------------------------------------

constexpr PublishedRun const& run(ComparedRun const& c) { return *c.row->run; }
/// Whether there is a prediction with the source left out.
constexpr bool out(ComparedRun const& c) { return c.left_out != nullptr && c.left_out->predicted; }

constexpr Field run_rows[] = {
    {"id", "Row of the table of runs.", [](ComparedRun const& c) { return run(c).id; }},
    {"source", "Publication.", [](ComparedRun const& c) { return run(c).source; }},
    {"kind", "Kind of model.", [](ComparedRun const& c) { return run(c).kind; }},
    {"accelerator", "Accelerator.", [](ComparedRun const& c) { return run(c).accelerator; }},
    {"strategy_kind", "Parallel dimensions in use.", [](ComparedRun const& c) { return run(c).strategy_kind; }},
    {"framework", "Training framework.",
     [](ComparedRun const& c) {
         return run(c).question ? std::optional{run(c).question->framework.name} : std::nullopt;
     }},
    {"pace", "Factor on computation that was fitted to the framework.",
     [](ComparedRun const& c) { return if_any(c.row->predicted.has_value(), c.row->pace); }},
    {"anchored_to", "Run on one worker that gives the pace.",
     [](ComparedRun const& c) { return c.row->anchor != nullptr ? std::optional{c.row->anchor->id} : std::nullopt; }},
    {"predicted_step_seconds", "Predicted time of a step.", [](ComparedRun const& c) { return c.row->predicted; }},
    {"measured_step_seconds", "Measured time of a step.",
     [](ComparedRun const& c) { return run(c).measured.base() > 0.0 ? std::optional{run(c).measured} : std::nullopt; }},
    {"measured_from", "Column that the measured step follows from.",
     [](ComparedRun const& c) { return if_stated(run(c).measured_from); }},
    {"relative_error", "Predicted over measured step, less 1.",
     [](ComparedRun const& c) { return c.row->relative_error; }},
    {"inside_interval", "Whether the measured step lies in the predicted interval.",
     [](ComparedRun const& c) { return c.row->predicted ? std::optional{c.row->inside_interval} : std::nullopt; }},
    {"left_out_relative_error", "Relative error with the source left out of the fit.",
     [](ComparedRun const& c) { return c.left_out != nullptr ? c.left_out->relative_error : std::nullopt; }},
    {"left_out_inside_interval", "Whether the measured step lies in that interval.",
     [](ComparedRun const& c) { return out(c) ? std::optional{c.left_out->inside_interval} : std::nullopt; }},
    {"left_out_kind", "How far the run lies from those fitted without its source.",
     [](ComparedRun const& c) { return out(c) ? std::optional{c.left_out->extrapolation} : std::nullopt; }},
    {"left_out_half_width", "Half-width of that interval, as a factor.",
     [](ComparedRun const& c) { return out(c) ? std::optional{c.left_out->band.half_width()} : std::nullopt; }},
    {"inferred", "Whether a dimension, batch, degree or recomputation was assumed.",
     [](ComparedRun const& c) { return run(c).question ? std::optional{run(c).structural_assumption} : std::nullopt; }},
    {"assumed", "Fields that were assumed, with their values.",
     [](ComparedRun const& c) -> decltype(auto) { return (run(c).assumed); }},
    {"states_enough", "Whether dimensions, sequence, batch and accelerators are stated.",
     [](ComparedRun const& c) { return run(c).states_enough; }},
    {"skipped_reason", "Reason why it cannot be predicted; null where it can.",
     [](ComparedRun const& c) { return if_stated(run(c).skipped_reason); }},
    {"dropped_by", "Rule by which it is suspect; null where it counts.",
     [](ComparedRun const& c) { return if_stated(run(c).dropped_by); }},
    {"dropped_because", "Finding of that rule.",
     [](ComparedRun const& c) { return run(c).counts() ? std::nullopt : std::optional{run(c).dropped_because}; }},
};
constexpr FieldTable run_table = field_table<ComparedRun>("run", run_rows);

constexpr Field dropped_rows_rows[] = {
    {"rule", "Rule of validation/README.md.", member<&DroppedRows::rule>},
    {"rows", "Runs that it drops.", [](DroppedRows const& d) { return d.runs.size(); }},
    {"ids", "Their rows.",
     [](DroppedRows const& d) {
         std::vector<std::string> ids;
         for (PublishedRun const* one : d.runs) { ids.push_back(one->id); }
         return ids;
     }},
};
constexpr FieldTable dropped_table = field_table<DroppedRows>("dropped", dropped_rows_rows);

constexpr Field band_rows[] = {
    {"kind", "How far runs lie from those fitted.", member<&BandSummary::kind>},
    {"rows", "Runs.", member<&BandSummary::rows>},
    {"sources", "Publications.", member<&BandSummary::sources>},
    {"coverage", "Fraction of measured steps inside the interval.", member<&BandSummary::coverage>, Unit{"share"}},
    {"median_half_width", "Median half-width of the intervals, as a factor.", member<&BandSummary::median_half_width>},
    {"median_absolute_error", "Median of the absolute relative error.", member<&BandSummary::median_absolute_error>,
     Unit{"share"}},
};
constexpr FieldTable band_table = field_table<BandSummary>("band", band_rows);

// ---- memory -----------------------------------------------------------------------------------------------------------

struct MemoryOfRun {
    RunComparison const* row;
};
constexpr Field memory_run_rows[] = {
    {"id", "Row of the table of runs.", [](MemoryOfRun const& m) { return m.row->run->id; }},
    {"predicted_bytes", "Predicted memory.", [](MemoryOfRun const& m) { return *m.row->predicted_memory; }},
    {"measured_bytes", "Measured memory.", [](MemoryOfRun const& m) { return *m.row->run->measured_memory; }},
    {"relative_error", "Predicted over measured memory, less 1.",
     [](MemoryOfRun const& m) { return m.row->memory_error(); }},
};
constexpr FieldTable memory_run_table = field_table<MemoryOfRun>("memory_run", memory_run_rows);
FieldTable const& field_table_of(MemoryOfRun const*) { return memory_run_table; }

struct MemoryOfRuns {
    Validation const* validation;
};
constexpr Field memory_rows[] = {
    {"rows", "Runs that state their memory.", [](MemoryOfRuns const& m) { return m.validation->memory.rows; }},
    {"median_absolute_error", "Median of the absolute relative error.",
     [](MemoryOfRuns const& m) {
         return if_any(m.validation->memory.rows > 0, m.validation->memory.median_absolute_error);
     },
     Unit{"share"}},
    {"largest_absolute_error", "Largest absolute relative error.",
     [](MemoryOfRuns const& m) {
         return if_any(m.validation->memory.rows > 0, m.validation->memory.largest_absolute_error);
     }},
    {"runs", "These runs.",
     [](MemoryOfRuns const& m) {
         std::vector<MemoryOfRun> runs;
         for (RunComparison const& row : m.validation->rows) {
             if (row.predicted_memory && row.run->counts()) { runs.push_back({&row}); }
         }
         return runs;
     }},
};
constexpr FieldTable memory_table = field_table<MemoryOfRuns>("memory_errors", memory_rows);
FieldTable const& field_table_of(MemoryOfRuns const*) { return memory_table; }

// ---- paces and measures -----------------------------------------------------------------------------------------------

constexpr Field pace_without_rows[] = {
    {"source", "Source that is left out.", member<&PaceWithoutSource::source>},
    {"factor", "Factor without it; null where no other source determines it.", member<&PaceWithoutSource::factor>},
};
constexpr FieldTable pace_without_table = field_table<PaceWithoutSource>("pace_without_source", pace_without_rows);

struct PaceOfFramework {
    std::string framework;
    Pace pace;
    std::vector<PaceWithoutSource> without;
};
constexpr Field pace_rows[] = {
    {"framework", "Framework.", member<&PaceOfFramework::framework>},
    {"factor", "Factor on computation.", [](PaceOfFramework const& p) { return p.pace.factor; }},
    {"runs", "Runs that it was fitted to.", [](PaceOfFramework const& p) { return p.pace.rows; }},
    {"sources", "Publications of these runs.", [](PaceOfFramework const& p) { return p.pace.sources; }},
    {"without", "The factor without each source.", member<&PaceOfFramework::without>},
};
constexpr FieldTable pace_table = field_table<PaceOfFramework>("pace", pace_rows);
FieldTable const& field_table_of(PaceOfFramework const*) { return pace_table; }

std::vector<PaceOfFramework> paces_of(ValidationAnswer const& answer) {
    std::vector<PaceOfFramework> paces;
    for (auto const& [framework, pace] : answer.pace) {
        paces.push_back({framework, pace, pace_without_each(answer, framework)});
    }
    return paces;
}

constexpr Field figure_rows[] = {
    {"name", "Name of the figure.", member<&AccuracyFigure::name>},
    {"value", "Value that was reached.", member<&AccuracyFigure::value>},
    {"bar", "Largest value allowed.", member<&AccuracyFigure::bar>},
    {"least", "Smallest value allowed; null where there is none.", member<&AccuracyFigure::least>},
    {"with_suspects", "Value with suspect runs kept; null where there are none.",
     member<&AccuracyFigure::with_suspects>},
    {"holds", "Whether it is within its bar.", [](AccuracyFigure const& f) { return f.holds(); }},
};
constexpr FieldTable figure_table = field_table<AccuracyFigure>("accuracy_figure", figure_rows);

constexpr Field measure_rows[] = {
    {"name", "Runs that it is about.", member<&AccuracyMeasure::name>},
    {"constants", "Constants that predict them.", member<&AccuracyMeasure::constants>},
    {"rows", "Runs.", member<&AccuracyMeasure::rows>},
    {"holds", "Whether all figures are within their bars.", [](AccuracyMeasure const& m) { return m.holds(); }},
    {"figures", "Figures of their absolute errors.", member<&AccuracyMeasure::figures>},
};
constexpr FieldTable measure_table = field_table<AccuracyMeasure>("accuracy_measure", measure_rows);

// ---- the answer -------------------------------------------------------------------------------------------------------

struct ChoiceOfPlan {
    PlanChoice const* choice;
    bool left_out;
};
constexpr bool any(ChoiceOfPlan const& c) { return c.choice->summary.sweeps > 0; }
constexpr Field choice_rows[] = {
    {"source_left_out", "Whether each sweep is predicted without its source.", member<&ChoiceOfPlan::left_out>},
    {"sweeps", "Sweeps of one source over plans.", [](ChoiceOfPlan const& c) { return c.choice->summary.sweeps; }},
    {"plans", "Plans of all sweeps.", [](ChoiceOfPlan const& c) { return c.choice->summary.plans; }},
    {"best_chosen", "Sweeps in which the fastest measured plan is predicted fastest.",
     [](ChoiceOfPlan const& c) { return c.choice->summary.best_chosen; }},
    {"median_regret", "Measured step of the plan predicted fastest over the fastest measured, less 1; median.",
     [](ChoiceOfPlan const& c) { return if_any(any(c), c.choice->summary.median_regret); }, Unit{"share"}},
    {"worst_regret", "Largest of these.",
     [](ChoiceOfPlan const& c) { return if_any(any(c), c.choice->summary.worst_regret); }, Unit{"share"}},
    {"median_tau", "Median of Kendall's tau of predicted and measured steps.",
     [](ChoiceOfPlan const& c) { return if_any(any(c), c.choice->summary.median_tau); }},
    {"rows", "The sweeps, the worst regret first.",
     [](ChoiceOfPlan const& c) -> decltype(auto) { return (c.choice->sweeps); }},
};

struct PlanOfSweep {
    MeasuredPlan const* plan;
};
constexpr Field sweep_plan_rows[] = {
    {"plan", "Short name of the strategy.",
     [](PlanOfSweep const& p) { return short_name(p.plan->runs.front()->run->question->strategy); }},
    {"runs", "Rows of the table of runs.",
     [](PlanOfSweep const& p) {
         std::vector<std::string> ids;
         for (RunComparison const* row : p.plan->runs) { ids.push_back(row->run->id); }
         return ids;
     }},
    {"predicted_step_seconds", "Predicted time of a step.", [](PlanOfSweep const& p) { return p.plan->predicted; }},
    {"measured_step_seconds", "Measured time of a step.", [](PlanOfSweep const& p) { return p.plan->measured; }},
};
constexpr FieldTable sweep_plan_table = field_table<PlanOfSweep>("sweep_plan", sweep_plan_rows);
FieldTable const& field_table_of(PlanOfSweep const*) { return sweep_plan_table; }

constexpr Field sweep_rows[] = {
    {"source", "Publication.", member<&PlanSweep::source>},
    {"model", "Model.", member<&PlanSweep::model>},
    {"accelerator", "Accelerator.", member<&PlanSweep::accelerator>},
    {"accelerators", "Number of accelerators.", member<&PlanSweep::accelerators>},
    {"global_batch", "Sequences of a step.", member<&PlanSweep::batch>},
    {"sequence_length", "Tokens of a sequence.", member<&PlanSweep::sequence_length>},
    {"plans", "Plans that were tried.", [](PlanSweep const& s) { return s.plans.size(); }},
    {"regret", "Measured step of the plan predicted fastest over the fastest measured, less 1.",
     member<&PlanSweep::regret>},
    {"repeats_spread", "Largest spread of repeats of one plan.", member<&PlanSweep::noise>},
    {"tau", "Kendall's tau of predicted and measured steps.", member<&PlanSweep::tau>},
    {"chosen", "Plan predicted fastest.", [](PlanSweep const& s) { return PlanOfSweep{&s.plans[s.chosen]}; }},
    {"best", "Plan measured fastest.", [](PlanSweep const& s) { return PlanOfSweep{&s.plans[s.best]}; }},
};
constexpr FieldTable sweep_table = field_table<PlanSweep>("plan_sweep", sweep_rows);

constexpr Field utilization_rows[] = {
    {"id", "Row of the table of runs.", [](UtilizationComparison const& u) { return u.run->id; }},
    {"quantity", "Quantity that is printed: mfu or hfu.",
     [](UtilizationComparison const& u) { return u.hardware ? std::string_view{"hfu"} : "mfu"; }},
    {"convention", "How attention is counted.",
     [](UtilizationComparison const& u) { return u.run->utilization->convention; }},
    {"printed", "Value as printed.", member<&UtilizationComparison::printed>},
    {"ours", "Value counted here from the measured step.", member<&UtilizationComparison::ours>},
    {"relative_difference", "Counted over printed value, less 1.",
     [](UtilizationComparison const& u) { return u.difference(); }},
};
constexpr FieldTable utilization_table = field_table<UtilizationComparison>("utilization", utilization_rows);

constexpr Field check_rows[] = {
    {"median_absolute_difference", "Median of the absolute differences.",
     [](UtilizationCheck const& u) { return if_any(!u.rows.empty(), u.median_absolute_difference); }},
    {"largest_absolute_difference", "Largest absolute difference.",
     [](UtilizationCheck const& u) { return if_any(!u.rows.empty(), u.largest_absolute_difference); }},
    {"rows", "Runs that print a utilization.", member<&UtilizationCheck::rows>},
};
constexpr FieldTable check_table = field_table<UtilizationCheck>("utilization_check", check_rows);

constexpr Field scaled_rows[] = {
    {"id", "Row of the table of runs.", [](ScaledRun const& s) { return s.run->id; }},
    {"source", "Publication.", [](ScaledRun const& s) { return s.run->source; }},
    {"anchored_to", "Smallest run of its family.", [](ScaledRun const& s) { return s.anchor->id; }},
    {"measured_step_seconds", "Measured time of a step.", [](ScaledRun const& s) { return s.run->measured; }},
    {"predicted_step_seconds", "Predicted time without the measured smallest run.", member<&ScaledRun::before>},
    {"warm_step_seconds", "Predicted time with it.", member<&ScaledRun::after>},
    {"factor", "Factor that the measured run gave.", member<&ScaledRun::factor>},
    {"relative_error", "Relative error without it.", member<&ScaledRun::error_before>},
    {"warm_relative_error", "Relative error with it.", member<&ScaledRun::error_after>},
    {"inside_interval", "Whether the interval without it holds the measured step.", member<&ScaledRun::inside_before>},
    {"warm_inside_interval", "Whether the interval with it does.", member<&ScaledRun::inside_after>},
    {"anchor_outside_interval", "Whether the smallest run lies outside its own interval.", member<&ScaledRun::clipped>},
    {"same_replica", "Whether only the number of replicas differs from the smallest run.",
     member<&ScaledRun::same_replica>},
};
constexpr FieldTable scaled_table = field_table<ScaledRun>("scaled_run", scaled_rows);

constexpr Field scale_group_rows[] = {
    {"by", "Property that the runs share.", member<&ScaleSummary::by>},
    {"name", "Its value.", member<&ScaleSummary::name>},
    {"rows", "Runs.", member<&ScaleSummary::rows>},
    {"median_absolute_error", "Median error without the measured smallest run.", member<&ScaleSummary::median_before>,
     Unit{"share"}},
    {"p90_absolute_error", "90th percentile of the error without it.", member<&ScaleSummary::p90_before>,
     Unit{"share"}},
    {"warm_median_absolute_error", "Median error with it.", member<&ScaleSummary::median_after>},
    {"warm_p90_absolute_error", "90th percentile of the error with it.", member<&ScaleSummary::p90_after>},
    {"interval_coverage", "Coverage of the interval without it.", member<&ScaleSummary::coverage_before>,
     Unit{"share"}},
    {"warm_interval_coverage", "Coverage of the interval with it.", member<&ScaleSummary::coverage_after>},
    {"median_half_width", "Median half-width without it, as a factor.", member<&ScaleSummary::width_before>},
    {"warm_median_half_width", "Median half-width with it, as a factor.", member<&ScaleSummary::width_after>},
};
constexpr FieldTable scale_group_table = field_table<ScaleSummary>("scale_group", scale_group_rows);

constexpr Field scale_rows[] = {
    {"families", "Families of runs.", member<&ScaleValidation::families>},
    {"groups", "Errors of groups of runs.", member<&ScaleValidation::groups>},
    {"rows", "Larger runs of the families.", member<&ScaleValidation::rows>},
};
constexpr FieldTable scale_table = field_table<ScaleValidation>("leave_one_scale", scale_rows);

} // namespace

FieldTable const& field_table_of(ErrorSummary const*) { return summary_table; }
FieldTable const& field_table_of(ComparedRun const*) { return run_table; }
FieldTable const& field_table_of(DroppedRows const*) { return dropped_table; }
FieldTable const& field_table_of(BandSummary const*) { return band_table; }
FieldTable const& field_table_of(PaceWithoutSource const*) { return pace_without_table; }
FieldTable const& field_table_of(AccuracyFigure const*) { return figure_table; }
FieldTable const& field_table_of(AccuracyMeasure const*) { return measure_table; }
FieldTable const& field_table_of(PlanSweep const*) { return sweep_table; }
FieldTable const& field_table_of(UtilizationComparison const*) { return utilization_table; }
FieldTable const& field_table_of(UtilizationCheck const*) { return check_table; }
FieldTable const& field_table_of(ScaledRun const*) { return scaled_table; }
FieldTable const& field_table_of(ScaleSummary const*) { return scale_group_table; }
FieldTable const& field_table_of(ScaleValidation const*) { return scale_table; }

namespace {

constexpr FieldTable choice_table = field_table<ChoiceOfPlan>("regret", choice_rows);
FieldTable const& field_table_of(ChoiceOfPlan const*) { return choice_table; }

constexpr Field family_rows[] = {
    {"family", "Source of the runs.", member<&OrdinaryFamily::family>},
    {"in_sample", "Errors with every family in the fit.", member<&OrdinaryFamily::in_sample>},
    {"left_out", "Errors with this family left out of the fit.", member<&OrdinaryFamily::left_out>},
    {"unnamed", "Errors with this family left out and its framework guessed.", member<&OrdinaryFamily::unnamed>},
};
constexpr FieldTable family_table = field_table<OrdinaryFamily>("ordinary", family_rows);

} // namespace

FieldTable const& field_table_of(OrdinaryFamily const*) { return family_table; }

namespace {

constexpr Field answer_rows[] = {
    {"runs", "Table of runs.", member<&ValidationAnswer::runs_name>},
    {"summary", "Errors over all runs.", [](ValidationAnswer const& a) { return a.validation.summary; }},
    {"left_out", "Errors with the source of each run left out of the fit; null where that is not known.",
     [](ValidationAnswer const& a) { return a.left_out ? std::optional{a.left_out->summary} : std::nullopt; }},
    {"models_left_out", "Errors of mixtures with their model left out of the fit; null where that is not known.",
     [](ValidationAnswer const& a) {
         return a.models_left_out ? std::optional{a.models_left_out->summary} : std::nullopt;
     }},
    {"free_constants", "Constants that runs were free to move.", member<&ValidationAnswer::free_constants>},
    {"dropped", "Suspect runs by rule.", [](ValidationAnswer const& a) { return dropped_rows(a.validation.rows); }},
    {"bands", "Coverage of intervals by how far runs lie from those fitted.", from<bands_of>},
    {"groups", "Errors of groups of runs.", from<groups_of>},
    {"memory", "Errors of memory.", [](ValidationAnswer const& a) { return MemoryOfRuns{&a.validation}; }},
    {"paces", "Factors of frameworks with kernels of their own.", from<paces_of>},
    {"regret", "Cost of choosing plans by prediction.",
     [](ValidationAnswer const& a) {
         return ChoiceOfPlan{&a.choice, a.left_out.has_value()};
     }},
    {"utilization", "MFU and HFU of measured steps against those printed.", member<&ValidationAnswer::utilization>},
    {"leave_one_scale", "Larger runs given the smallest of their family; of --leave-one-scale, else null.",
     [](ValidationAnswer const& a) { return a.scales && a.asked_for_scales ? &*a.scales : nullptr; }},
    {"measures", "Figures that the step model is held to.", member<&ValidationAnswer::measures>},
    {"ordinary", "Errors of ordinary software, by family.", from<ordinary_families>},
    {"rows", "Every run.", from<compared_runs>},
    {"complete", "Whether all was compared; false after an interruption.", member<&ValidationAnswer::complete>},
    {"narrows", "Facts that would narrow the intervals of the runs most, three at most.",
     member<&ValidationAnswer::narrows>},
    {"issues", "Content of the table that was not used.", member<&ValidationAnswer::issues>},
};
constexpr FieldTable answer_table = field_table<ValidationAnswer>("validate", answer_rows);

} // namespace

FieldTable const& field_table_of(ValidationAnswer const*) { return answer_table; }

} // namespace headroom::training
