#include "headroom/training/memory_validation.hpp"

namespace headroom::training {

FieldTable const& field_table_of(MemoryErrors const*);
FieldTable const& field_table_of(MemoryGroup const*);
FieldTable const& field_table_of(SkippedMemory const*);
FieldTable const& field_table_of(MemoryTarget const*);
FieldTable const& field_table_of(MemoryScale const*);
FieldTable const& field_table_of(MemorySpread const*);

namespace {

/// A comparison that has nothing measured.
struct RanOut {
    MemoryComparison const* row = nullptr;
};
FieldTable const& field_table_of(RanOut const*);

std::optional<double> if_any(MemoryErrors const& errors, double value) {
    return errors.rows > 0 ? std::optional{value} : std::nullopt;
}

constexpr Field error_rows[] = {
    {"rows", "Runs, suspect ones apart.", member<&MemoryErrors::rows>},
    {"families", "Publications of these runs.", member<&MemoryErrors::families>},
    {"median_error", "Median of the signed relative error; below zero where predictions are too low.",
     [](MemoryErrors const& e) { return if_any(e, e.median_error); }, Unit{"share"}},
    {"median_absolute_error", "Median of the absolute relative error.",
     [](MemoryErrors const& e) { return if_any(e, e.median_absolute_error); }, Unit{"share"}},
    {"p90_absolute_error", "90th percentile of the absolute relative error.",
     [](MemoryErrors const& e) { return if_any(e, e.p90_absolute_error); }, Unit{"share"}},
    {"families_median_absolute_error", "Median over families of the median absolute error of each.",
     [](MemoryErrors const& e) { return if_any(e, e.families_median_absolute_error); }, Unit{"share"}},
    {"families_p90_absolute_error",
     "90th percentile of the absolute error, each run weighed by 1 / runs of its family.",
     [](MemoryErrors const& e) { return if_any(e, e.families_p90_absolute_error); }, Unit{"share"}},
    {"predicted_not_to_fit", "Runs whose predicted footprint exceeds the accelerator; all of them ran.",
     member<&MemoryErrors::refused>},
    {"interval_coverage", "Fraction of measured memory inside the 90 % interval.", member<&MemoryErrors::coverage>,
     Unit{"share"}},
    {"left_out_interval_coverage", "The fraction by intervals made without the family of each run.",
     member<&MemoryErrors::left_out_coverage>, Unit{"share"}},
};
constexpr FieldTable error_table = field_table<MemoryErrors>("memory_error_summary", error_rows);

constexpr Field group_rows[] = {
    {"by", "Property that the runs share: memory, family, framework, recomputation or trained.",
     member<&MemoryGroup::by>},
    {"name", "Its value.", member<&MemoryGroup::name>},
    {"*", "Errors of these runs.", [](MemoryGroup const& g) { return g.errors; }},
};
constexpr FieldTable group_table = field_table<MemoryGroup>("memory_group", group_rows);

Strategy const& strategy(MemoryComparison const& c) { return c.question().strategy; }

constexpr Field comparison_rows[] = {
    {"id", "Row of the table of runs.", [](MemoryComparison const& c) { return c.run->id; }},
    {"family", "Publication.", [](MemoryComparison const& c) { return c.run->source; }},
    {"model", "Model.", [](MemoryComparison const& c) { return c.question().model.name; }},
    {"accelerator", "Accelerator.", [](MemoryComparison const& c) { return c.run->accelerator; }},
    {"framework", "Training framework.", [](MemoryComparison const& c) { return c.question().framework.name; }},
    {"framework_assumed", "Whether the source names no framework that the catalog recognises.",
     [](MemoryComparison const& c) { return c.run->framework_assumed; }},
    {"memory_kind", "Kind of memory: allocated, reserved, process or not stated.",
     [](MemoryComparison const& c) { return c.run->memory_kind; }},
    {"strategy", "Short name of the strategy.", [](MemoryComparison const& c) { return short_name(strategy(c)); }},
    {"recompute", "Activations that are computed again in the backward pass.",
     [](MemoryComparison const& c) { return strategy(c).recompute; }},
    {"train", "Trained weights.", [](MemoryComparison const& c) { return spelled_training(strategy(c)); }},
    {"sequence_length", "Tokens of a sequence.",
     [](MemoryComparison const& c) { return c.question().workload.sequence_length; }},
    {"measured_bytes", "Measured memory.", [](MemoryComparison const& c) { return *c.run->measured_memory; }},
    {"predicted_bytes", "Predicted memory of that kind.", member<&MemoryComparison::predicted>},
    {"relative_error", "Predicted over measured memory, less 1.", [](MemoryComparison const& c) { return c.error(); }},
    {"state_bytes", "Predicted weights, gradients and optimizer state.",
     [](MemoryComparison const& c) { return c.use.state(); }},
    {"kept_activations_bytes", "Predicted activations kept for the backward passes in flight.",
     [](MemoryComparison const& c) { return c.use.activations; }},
    {"logits_bytes", "Predicted logits and the tensors that the loss keeps.",
     [](MemoryComparison const& c) { return c.use.logits; }},
    {"temporaries_bytes", "Predicted block that is recomputed, and gradients of its activations.",
     [](MemoryComparison const& c) { return c.use.temporaries; }},
    {"buffers_bytes", "Predicted gathered weights and gradient buckets.",
     [](MemoryComparison const& c) { return c.use.buffers; }},
    {"footprint_bytes", "Predicted total with fragmentation and runtime.",
     [](MemoryComparison const& c) { return c.use.footprint(); }},
    {"capacity_bytes", "Memory of the accelerator.", member<&MemoryComparison::capacity>},
    {"fits", "Whether the footprint fits the accelerator.", [](MemoryComparison const& c) { return c.fits(); }},
    {"low_bytes", "Lower end of the 90 % interval of the measured kind.",
     [](MemoryComparison const& c) { return c.range ? std::optional{c.range->low} : std::nullopt; }},
    {"high_bytes", "Upper end of that interval.",
     [](MemoryComparison const& c) { return c.range ? std::optional{c.range->high} : std::nullopt; }},
    {"left_out_low_bytes", "Lower end of the interval made without the family.",
     [](MemoryComparison const& c) { return c.left_out ? std::optional{c.left_out->low} : std::nullopt; }},
    {"left_out_high_bytes", "Upper end of that interval.",
     [](MemoryComparison const& c) { return c.left_out ? std::optional{c.left_out->high} : std::nullopt; }},
    {"left_out_fits_probability", "Probability that the footprint fits, made without the family.",
     member<&MemoryComparison::probability>},
    {"assumed", "Fields that were assumed, with their values.",
     [](MemoryComparison const& c) -> std::vector<std::string> const& { return c.run->assumed; }},
};
constexpr FieldTable comparison_table = field_table<MemoryComparison>("memory_comparison", comparison_rows);

constexpr Field ran_out_rows[] = {
    {"id", "Row of the table of runs.", [](RanOut const& r) { return r.row->run->id; }},
    {"family", "Publication.", [](RanOut const& r) { return r.row->run->source; }},
    {"model", "Model.", [](RanOut const& r) { return r.row->question().model.name; }},
    {"accelerator", "Accelerator.", [](RanOut const& r) { return r.row->run->accelerator; }},
    {"strategy", "Short name of the strategy.", [](RanOut const& r) { return short_name(strategy(*r.row)); }},
    {"footprint_bytes", "Predicted total with fragmentation and runtime.",
     [](RanOut const& r) { return r.row->use.footprint(); }},
    {"capacity_bytes", "Memory of the accelerator.", [](RanOut const& r) { return r.row->capacity; }},
    {"left_out_fits_probability", "Probability that the footprint fits, made without the family.",
     [](RanOut const& r) { return r.row->probability; }},
};
constexpr FieldTable ran_out_table = field_table<RanOut>("memory_ran_out", ran_out_rows);

constexpr Field target_rows[] = {
    {"figure", "Figure in words; errors weigh families alike.", member<&MemoryTarget::figure>},
    {"value", "Its value; null where no run shows it.", member<&MemoryTarget::value>},
    {"at_least", "Least value that meets the bar; null without one.", member<&MemoryTarget::at_least>},
    {"at_most", "Greatest value that meets the bar; null without one.", member<&MemoryTarget::at_most>},
    {"met", "Whether the bar is met.", [](MemoryTarget const& t) { return t.met(); }},
};
constexpr FieldTable target_table = field_table<MemoryTarget>("memory_target", target_rows);

constexpr Field skipped_rows[] = {
    {"id", "Row of the table of runs.", [](SkippedMemory const& s) { return s.run->id; }},
    {"family", "Publication.", [](SkippedMemory const& s) { return s.run->source; }},
    {"reason", "Reason why its memory cannot be predicted.",
     [](SkippedMemory const& s) { return s.run->skipped_reason; }},
};
constexpr FieldTable skipped_table = field_table<SkippedMemory>("skipped_memory", skipped_rows);

constexpr Field scale_rows[] = {
    {"below", "Scale of measured memory below the prediction, in uncertain bytes.", member<&MemoryScale::below>},
    {"above", "Scale of measured memory above the prediction.", member<&MemoryScale::above>},
    {"rows", "Runs that it was made from.", member<&MemoryScale::rows>},
    {"families", "Publications of these runs.", member<&MemoryScale::families>},
};
constexpr FieldTable scale_table = field_table<MemoryScale>("memory_scale", scale_rows);

constexpr Field spread_rows[] = {
    {"state_share", "Share of the state that counts as uncertain.", member<&MemorySpread::state_share>},
    {"seen", "Scales of frameworks whose memory was measured.", member<&MemorySpread::seen>},
    {"unseen", "Scales of other and of assumed frameworks.", member<&MemorySpread::unseen>},
    {"frameworks", "Frameworks whose memory was measured.", member<&MemorySpread::frameworks>},
};
constexpr FieldTable spread_table = field_table<MemorySpread>("memory_spread", spread_rows);

constexpr Field answer_rows[] = {
    {"runs", "Table of runs.", member<&MemoryValidationAnswer::runs_name>},
    {"summary", "Errors of all runs.", [](MemoryValidationAnswer const& a) { return a.validation.all; }},
    {"targets", "Figures of this answer and the bars that the project sets itself.",
     [](MemoryValidationAnswer const& a) { return memory_targets(a.validation); }},
    {"greatest_ran_out_probability",
     "Greatest probability of fitting of a run that ran out of memory, made without its family; null without such "
     "runs.",
     [](MemoryValidationAnswer const& a) { return a.validation.greatest_probability; }},
    {"least_fits_probability", "Least probability of fitting of a run, made without its family; all of them ran.",
     [](MemoryValidationAnswer const& a) { return a.validation.least_probability; }},
    {"least_family_coverage", "Least left-out coverage of a family with at least 8 runs.",
     [](MemoryValidationAnswer const& a) { return a.validation.least_family_coverage; }},
    {"spread", "Spread in use; null where the calibration has none.", member<&MemoryValidationAnswer::spread>},
    {"groups", "Errors by kind of memory, family, framework, recomputation and trained weights.",
     [](MemoryValidationAnswer const& a) -> std::vector<MemoryGroup> const& { return a.validation.groups; }},
    {"rows", "Every run that states its memory and can be predicted.",
     [](MemoryValidationAnswer const& a) -> std::vector<MemoryComparison> const& { return a.validation.rows; }},
    {"ran_out", "Runs that ran out of memory.",
     [](MemoryValidationAnswer const& a) {
         std::vector<RanOut> rows;
         for (auto const& row : a.validation.ran_out) { rows.push_back({&row}); }
         return rows;
     }},
    {"skipped", "Runs that state their memory and cannot be predicted.",
     [](MemoryValidationAnswer const& a) -> std::vector<SkippedMemory> const& { return a.validation.skipped; }},
    {"issues", "Parts of the table that were not used or not understood.", member<&MemoryValidationAnswer::issues>},
};
constexpr FieldTable answer_table = field_table<MemoryValidationAnswer>("validate_memory", answer_rows);

FieldTable const& field_table_of(RanOut const*) { return ran_out_table; }

} // namespace

FieldTable const& field_table_of(MemoryErrors const*) { return error_table; }
FieldTable const& field_table_of(MemoryGroup const*) { return group_table; }
FieldTable const& field_table_of(MemoryComparison const*) { return comparison_table; }
FieldTable const& field_table_of(SkippedMemory const*) { return skipped_table; }
FieldTable const& field_table_of(MemoryTarget const*) { return target_table; }
FieldTable const& field_table_of(MemoryScale const*) { return scale_table; }
FieldTable const& field_table_of(MemorySpread const*) { return spread_table; }
FieldTable const& field_table_of(MemoryValidationAnswer const*) { return answer_table; }

} // namespace headroom::training
