#include "headroom/training/logged_steps.hpp"

namespace headroom::training {
namespace {

constexpr Field logged_fact_rows[] = {
    {"option", "Option of predict that says it; layers and hidden are of the model, accumulation is of micro-batches.",
     member<&LogFact::option>},
    {"value", "Value.", member<&LogFact::value>},
    {"line", "Line that states it.", member<&LogFact::line>},
};
constexpr FieldTable logged_fact_table = field_table<LogFact>("log_fact", logged_fact_rows);

constexpr Field line_counts_rows[] = {
    {"read", "Lines that time steps; those of several ranks about one step count once.", member<&StepCounts::read>},
    {"steady", "Lines whose median is the step.", member<&StepCounts::steady>},
    {"warm_up", "Lines at the beginning of a run, left out.", member<&StepCounts::warm_up>},
    {"evaluation", "Lines with an evaluation, left out.", member<&StepCounts::evaluation>},
    {"checkpoint", "Lines with a checkpoint, left out.", member<&StepCounts::checkpoint>},
    {"outliers", "Lines far from the median, left out.", member<&StepCounts::outliers>},
    {"other_batch", "Lines of another batch than most, left out.", member<&StepCounts::other_batch>},
    {"other_regime", "Lines of a stretch with another time of a step than most; the interval holds its median.",
     member<&StepCounts::other_regime>},
    {"other_run", "Lines of earlier runs of another speed or batch than the last, left out.",
     member<&StepCounts::other_run>},
};
constexpr FieldTable line_counts_table = field_table<StepCounts>("step_counts", line_counts_rows);

constexpr Field drift_rows[] = {
    {"change", "Change of the steady steps from the first to the last, over the median.", member<&StepDrift::change>},
    {"probability", "Probability of so much order by chance.", member<&StepDrift::probability>},
};
constexpr FieldTable drift_table = field_table<StepDrift>("step_drift", drift_rows);

constexpr Field regime_rows[] = {
    {"step_seconds", "Median of its steady steps.", member<&StepRegime::step>},
    {"first_step", "Number of its first steady step.", member<&StepRegime::first_step>},
    {"last_step", "Number of its last steady step.", member<&StepRegime::last_step>},
};
constexpr FieldTable regime_table = field_table<StepRegime>("step_regime", regime_rows);

constexpr Field log_rows[] = {
    {"file", "Name of the log.", member<&LogAnswer::file>},
    {"format", "Format whose lines were used.", member<&LogAnswer::format>},
    {"framework", "Framework of the catalog that the format suggests; null without one.",
     [](LogAnswer const& a) { return a.framework.empty() ? std::nullopt : std::optional{a.framework}; }},
    {"complete", "Whether it was read to its end.", member<&LogAnswer::complete>},
    {"bytes_read", "Bytes that were read.", member<&LogAnswer::bytes>, Unit{"B"}},
    {"lines_read", "Lines that were read.", member<&LogAnswer::lines>},
    {"runs", "Runs in it: training was started again where there are several.",
     [](LogAnswer const& a) { return a.steady.runs; }},
    {"ranks", "Ranks that printed steps; each step is that of the slowest.",
     [](LogAnswer const& a) { return a.steady.ranks; }},
    {"step_seconds", "Median of the steady lines.", [](LogAnswer const& a) { return a.steady.step; }},
    {"interval_seconds", "Its 90 % interval; both ends are the median where a single line says it.",
     [](LogAnswer const& a) {
         return std::pair{a.steady.low, a.steady.high};
     }},
    {"spread", "Robust standard deviation of a line over the median.",
     [](LogAnswer const& a) { return a.steady.spread; }},
    {"steady_share", "Time of as many steady steps over the time that all lines cover.",
     [](LogAnswer const& a) { return a.steady.steady_share; }},
    {"drift", "Drift of the steady steps; null where there is none.",
     [](LogAnswer const& a) { return a.steady.drift; }},
    {"regimes", "Stretches with different times of a step, in their order; empty where the time did not change.",
     [](LogAnswer const& a) { return std::span{a.steady.regimes}; }},
    {"earlier_runs_seconds", "Medians of earlier runs of another speed or batch than the last; they do not count.",
     [](LogAnswer const& a) { return std::span{a.steady.earlier_runs}; }},
    {"lines_timed", "Lines that time steps, by their use.", [](LogAnswer const& a) { return a.steady.counts; }},
    {"tokens_per_second", "Tokens of the whole job in a second; null where batch or length are not known.",
     member<&LogAnswer::tokens_per_second>},
    {"memory_bytes", "Largest memory that an accelerator reported; null without any.", member<&LogAnswer::memory>},
    {"facts", "Facts of the run that the log states.", member<&LogAnswer::facts>},
    {"warnings", "Figures of the log that contradict each other or its run; the first screen has them.",
     member<&LogAnswer::warnings>},
    {"notes", "Contradictions with options, and how the log was read.", member<&LogAnswer::notes>},
    {"issues", "Content that was not used, and lines with a fault.", member<&LogAnswer::issues>},
};
constexpr FieldTable log_table = field_table<LogAnswer>("training_log", log_rows);

} // namespace

FieldTable const& field_table_of(LogFact const*) { return logged_fact_table; }
FieldTable const& field_table_of(StepCounts const*) { return line_counts_table; }
FieldTable const& field_table_of(StepDrift const*) { return drift_table; }
FieldTable const& field_table_of(StepRegime const*) { return regime_table; }
FieldTable const& field_table_of(LogAnswer const*) { return log_table; }

} // namespace headroom::training
