#include "headroom/fit/serving_validation.hpp"

namespace headroom::fit {

using namespace headroom::serving;

FieldTable const& field_table_of(ServingErrors const*);
FieldTable const& field_table_of(ServingGroup const*);
FieldTable const& field_table_of(LeftServing const*);

namespace {

constexpr Field error_rows[] = {
    {"rows", "Rows that state the figure.", member<&ServingErrors::rows>},
    {"families", "Publications of these rows.", member<&ServingErrors::families>},
    {"median_error", "Median of the signed relative error; above zero where the predicted figure is larger.",
     member<&ServingErrors::median_error>},
    {"median_absolute_error", "Median of the absolute relative error.", member<&ServingErrors::median_absolute_error>},
    {"p90_absolute_error", "90th percentile of the absolute relative error.",
     member<&ServingErrors::p90_absolute_error>},
    {"families_median_absolute_error", "Median over families of the median absolute error of each.",
     member<&ServingErrors::families_median_absolute_error>},
    {"families_p90_absolute_error",
     "90th percentile of the absolute error, each row weighed by 1 / rows of its family.",
     member<&ServingErrors::families_p90_absolute_error>},
};
constexpr FieldTable error_table = field_table<ServingErrors>("serving_errors", error_rows);

constexpr Field group_rows[] = {
    {"by", "Property that the rows share: all, family, engine, accelerator, batch or precision.",
     member<&ServingGroup::by>},
    {"name", "Its value.", member<&ServingGroup::name>},
    {"metric", "The figure: ttft, tpot or throughput.", member<&ServingGroup::metric>},
    {"*", "Errors by the constants in use.", [](ServingGroup const& g) { return g.errors.in_use; }},
    {"left_out", "Errors by constants that never saw the family of a row.",
     [](ServingGroup const& g) { return g.errors.left_out; }},
    {"interval_coverage", "Share of rows inside the 90 % interval made without their family; families weigh alike.",
     [](ServingGroup const& g) { return g.errors.coverage; }},
};
constexpr FieldTable group_table = field_table<ServingGroup>("serving_group", group_rows);

constexpr Field left_rows[] = {
    {"id", "Row of the table.", [](LeftServing const& l) { return l.run->id; }},
    {"line", "Line of the table.", [](LeftServing const& l) { return l.run->line; }},
    {"family", "Publication.", [](LeftServing const& l) { return l.run->family; }},
    {"reason", "Reason why it is not compared.", member<&LeftServing::reason>},
};
constexpr FieldTable left_table = field_table<LeftServing>("left_serving", left_rows);

constexpr Field row_rows[] = {
    {"id", "Row of the table.", [](ServingComparison const& c) { return c.run->id; }},
    {"line", "Line of the table.", [](ServingComparison const& c) { return c.run->line; }},
    {"family", "Publication.", [](ServingComparison const& c) { return c.run->family; }},
    {"engine", "Engine.", [](ServingComparison const& c) { return c.run->engine; }},
    {"model", "Model.", [](ServingComparison const& c) { return c.run->model_name; }},
    {"accelerator", "Accelerator.", [](ServingComparison const& c) { return c.run->accelerator; }},
    {"tp", "Tensor-parallel degree.", [](ServingComparison const& c) { return c.run->plan.tp; }},
    {"precision", "Format of weights.", [](ServingComparison const& c) { return c.run->plan.weights; }},
    {"cache_precision", "Format of keys and values.", [](ServingComparison const& c) { return c.run->plan.cache; }},
    {"schedule", "Order in which requests come: together, saturated, refilled or rounds.",
     [](ServingComparison const& c) { return c.run->schedule; }},
    {"batch", "Sequences that come together, or at a time; null where the engine is kept full.",
     [](ServingComparison const& c) { return c.run->batch; }},
    {"held_batch", "Sequences of an iteration: as many as the memory holds.", member<&ServingComparison::held_batch>},
    {"prompt_tokens", "Tokens of a prompt.", [](ServingComparison const& c) { return c.run->prompt_tokens; }},
    {"output_tokens", "Tokens of an answer.", [](ServingComparison const& c) { return c.run->output_tokens; }},
    {"measured_ttft_seconds", "Measured time to the first token.",
     [](ServingComparison const& c) { return c.run->first_token; }},
    {"ttft_seconds", "Predicted time to the first token.",
     [](ServingComparison const& c) { return c.figures.first_token; }},
    {"ttft_error", "Predicted over measured, less 1.",
     [](ServingComparison const& c) { return c.error(ServingMetric::ttft); }},
    {"left_out_ttft_seconds", "Predicted by constants that never saw the family.",
     [](ServingComparison const& c) { return c.left_out.first_token; }},
    {"left_out_ttft_error", "Predicted without the family over measured, less 1.",
     [](ServingComparison const& c) { return c.left_out_error(ServingMetric::ttft); }},
    {"ttft_inside_interval", "Whether the measured figure is inside the 90 % interval made without the family.",
     [](ServingComparison const& c) { return c.inside(ServingMetric::ttft); }},
    {"measured_tpot_seconds", "Measured time per further token.",
     [](ServingComparison const& c) { return c.run->per_token; }},
    {"tpot_seconds", "Predicted time per further token.",
     [](ServingComparison const& c) { return c.figures.per_token; }},
    {"tpot_error", "Predicted over measured, less 1.",
     [](ServingComparison const& c) { return c.error(ServingMetric::tpot); }},
    {"left_out_tpot_seconds", "Predicted by constants that never saw the family.",
     [](ServingComparison const& c) { return c.left_out.per_token; }},
    {"left_out_tpot_error", "Predicted without the family over measured, less 1.",
     [](ServingComparison const& c) { return c.left_out_error(ServingMetric::tpot); }},
    {"tpot_inside_interval", "Whether the measured figure is inside the 90 % interval made without the family.",
     [](ServingComparison const& c) { return c.inside(ServingMetric::tpot); }},
    {"measured_tokens_per_second", "Measured rate of output tokens.",
     [](ServingComparison const& c) { return c.run->tokens_per_second; }},
    {"tokens_per_second", "Predicted rate of output tokens.",
     [](ServingComparison const& c) { return c.figures.tokens_per_second; }},
    {"throughput_error", "Predicted over measured, less 1.",
     [](ServingComparison const& c) { return c.error(ServingMetric::throughput); }},
    {"left_out_tokens_per_second", "Predicted by constants that never saw the family.",
     [](ServingComparison const& c) { return c.left_out.tokens_per_second; }},
    {"left_out_throughput_error", "Predicted without the family over measured, less 1.",
     [](ServingComparison const& c) { return c.left_out_error(ServingMetric::throughput); }},
    {"throughput_inside_interval", "Whether the measured figure is inside the 90 % interval made without the family.",
     [](ServingComparison const& c) { return c.inside(ServingMetric::throughput); }},
    {"source", "Publication in full.", [](ServingComparison const& c) { return c.run->source; }},
};
constexpr FieldTable row_table = field_table<ServingComparison>("serving_comparison", row_rows);

constexpr Field answer_rows[] = {
    {"serving", "Table of measured serving.", member<&ServingValidationAnswer::runs_name>},
    {"groups", "Errors over all rows, by family, engine, accelerator, batch and precision.",
     [](ServingValidationAnswer const& a) -> std::vector<ServingGroup> const& { return a.validation.groups; }},
    {"rows", "Every row that is compared.",
     [](ServingValidationAnswer const& a) -> std::vector<ServingComparison> const& { return a.validation.rows; }},
    {"skipped", "Rows that cannot be predicted.",
     [](ServingValidationAnswer const& a) -> std::vector<LeftServing> const& { return a.validation.skipped; }},
    {"refused", "Rows that read weights and caches faster than the memory's peak: in no error.",
     [](ServingValidationAnswer const& a) -> std::vector<LeftServing> const& { return a.validation.refused; }},
    {"issues", "Content of the table that was not used.", member<&ServingValidationAnswer::issues>},
};
constexpr FieldTable answer_table = field_table<ServingValidationAnswer>("validate_serving", answer_rows);

} // namespace

FieldTable const& field_table_of(ServingErrors const*) { return error_table; }
FieldTable const& field_table_of(ServingGroup const*) { return group_table; }
FieldTable const& field_table_of(LeftServing const*) { return left_table; }
FieldTable const& field_table_of(ServingComparison const*) { return row_table; }
FieldTable const& field_table_of(ServingValidationAnswer const*) { return answer_table; }

} // namespace headroom::fit
