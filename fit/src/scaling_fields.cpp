#include "headroom/fit/scaling_answer.hpp"
#include "headroom/issue.hpp"

#include <string_view>

namespace headroom::fit {
namespace {

std::optional<std::string_view> if_any(std::string const& text) {
    return text.empty() ? std::nullopt : std::optional{std::string_view{text}};
}

/// Exponents of a fitted term that is not constant.
struct FittedTerm {
    TermExponents exponents;
};

struct IntervalMethod {
    FitAnswer const* answer;
};

/// Source with the number of worker counts.
struct SourceOfFit {
    FitAnswer const* answer;
};

// ---- a fitted law -------------------------------------------------------------------------------------------------

constexpr Field coefficient_rows[] = {
    {"value", "Value of the coefficient.", member<&FittedCoefficient::value>},
    {"low", "Lower end of its interval; null where the measurements set none.", member<&FittedCoefficient::low>},
    {"high", "Upper end of its interval; null where the measurements set none.", member<&FittedCoefficient::high>},
    {"standard_error", "Standard error; null where there are no degrees of freedom, or at a bound.",
     member<&FittedCoefficient::standard_error>},
    {"at_bound", "Whether the value lies at the bound of its range.", member<&FittedCoefficient::at_bound>},
    {"fixed", "Whether the value was given and not fitted.", member<&FittedCoefficient::fixed>},
};
constexpr FieldTable coefficient_table = field_table<FittedCoefficient>("coefficient", coefficient_rows);

constexpr Field term_rows[] = {
    {"exponent", "Exponent of the workers.",
     [](FittedTerm const& t) { return static_cast<double>(t.exponents.numerator) / t.exponents.denominator; }},
    {"exponent_numerator", "Numerator of the exponent.", [](FittedTerm const& t) { return t.exponents.numerator; }},
    {"exponent_denominator", "Denominator of the exponent.",
     [](FittedTerm const& t) { return t.exponents.denominator; }},
    {"logarithm_exponent", "Exponent of log2 of the workers.",
     [](FittedTerm const& t) { return t.exponents.logarithm; }},
};
constexpr FieldTable term_table = field_table<FittedTerm>("fitted_term", term_rows);
FieldTable const& field_table_of(FittedTerm const*) { return term_table; }

constexpr Field validation_rows[] = {
    {"rss", "Sum of squared errors of the left-out counts.", member<&CrossValidation::rss>},
    {"smape", "Symmetric mean absolute percentage error of the left-out counts, percent.",
     member<&CrossValidation::smape>},
    {"adjusted_r2", "Adjusted coefficient of determination.", member<&CrossValidation::adjusted_r2>},
    {"relative_rss", "Sum of squared errors over that of the values.", member<&CrossValidation::relative_rss>},
};
constexpr FieldTable validation_table = field_table<CrossValidation>("cross_validation", validation_rows);

std::vector<std::pair<std::string, FittedCoefficient>> named_coefficients(LawFit const& fit) {
    std::vector<std::pair<std::string, FittedCoefficient>> named;
    for (FittedCoefficient const& one : fit.coefficients) { named.emplace_back(one.name, one); }
    return named;
}

std::optional<FittedTerm> chosen_term(LawFit const& fit) {
    if (fit.law->gives != Gives::value || fit.term.constant()) { return std::nullopt; }
    return FittedTerm{fit.term};
}

constexpr Field fit_rows[] = {
    {"law", "Name of the law.", [](LawFit const& f) { return std::string_view{f.law->name}; }},
    {"formula", "Formula of the law, with the exponents that were chosen.", member<&LawFit::formula>},
    {"coefficients", "Coefficients by name.", from<named_coefficients>},
    {"term", "Exponents of the term that the law chose; null for laws that choose none.", from<chosen_term>},
    {"normalisation", "Throughput of one worker that the law is over.", member<&LawFit::normalisation>},
    {"rss", "Weighted sum of squared residuals; weights have mean 1.", member<&LawFit::rss>},
    {"degrees_of_freedom", "Measurements less fitted coefficients.", member<&LawFit::degrees_of_freedom>},
    {"residual_standard_error", "Standard error of the residuals; null without degrees of freedom.",
     member<&LawFit::residual_standard_error>},
    {"smape", "Symmetric mean absolute percentage error, percent.", member<&LawFit::smape>},
    {"adjusted_r2", "Adjusted coefficient of determination; null without degrees of freedom.",
     member<&LawFit::adjusted_r2>},
    {"aicc", "Corrected Akaike information criterion; null with too few measurements.", member<&LawFit::aicc>},
    {"leave_last_out_error", "Relative error at the largest count, predicted from all others.",
     member<&LawFit::leave_last_out_error>},
    {"cross_validation", "Errors of counts that were left out one by one.", member<&LawFit::cross_validation>},
    {"peak_workers", "Number of workers at the peak; null where the law has none, or it is withheld.",
     member<&LawFit::peak_workers>},
    {"ceiling",
     "Speedup over `speedup_over_workers` that no number of workers exceeds; null where there is none, or it is "
     "withheld.",
     member<&LawFit::ceiling>},
    {"ceiling_value", "Measured quantity at the ceiling.", member<&LawFit::ceiling_value>},
    {"limit", "Ceiling without the term that makes the law fall again.", member<&LawFit::limit>},
    {"limit_value", "Measured quantity at that limit.", member<&LawFit::limit_value>},
    {"withheld",
     "Reason for which no peak, ceiling or prediction outside of the measured counts is drawn from the law; null where "
     "they are.",
     [](LawFit const& f) { return if_any(f.withheld_because); }},
    {"source", "Source of the law.", [](LawFit const& f) { return std::string_view{f.law->source}; }},
};
constexpr FieldTable fit_table = field_table<LawFit>("law_fit", fit_rows);

constexpr Field left_out_rows[] = {
    {"law", "Name of the law.", member<&LeftOutLaw::law>},
    {"why", "Reason for which it was not fitted.", member<&LeftOutLaw::why>},
};
constexpr FieldTable left_out_table = field_table<LeftOutLaw>("left_out_law", left_out_rows);

// ---- findings -----------------------------------------------------------------------------------------------------

constexpr Field prediction_rows[] = {
    {"workers", "Number of workers.", member<&ScalingPrediction::workers>},
    {"value", "Value of the fitted curve.", member<&ScalingPrediction::value>},
    {"low", "Lower end of the band of one more measurement.", member<&ScalingPrediction::low>},
    {"high", "Upper end of the band of one more measurement.", member<&ScalingPrediction::high>},
    {"curve_low", "Lower end of the band of the curve.", member<&ScalingPrediction::curve_low>},
    {"curve_high", "Upper end of the band of the curve.", member<&ScalingPrediction::curve_high>},
    {"speedup", "Speedup of the curve over its own value at `speedup_over_workers`; a stated speedup as it is.",
     member<&ScalingPrediction::speedup>},
    {"efficiency", "That speedup over the ideal one.", member<&ScalingPrediction::efficiency>, Unit{"share"}},
    {"ideal", "Value if nothing were lost from the smallest measured count on.", member<&ScalingPrediction::ideal>},
    {"ratio", "Measured value, else that of the curve, over the ideal.", member<&ScalingPrediction::ratio>},
    {"worker_hours", "Workers times that value, in hours; null where the values are not times.",
     member<&ScalingPrediction::worker_hours>},
    {"beyond_measured", "Whether the count is above the largest measured one.", member<&ScalingPrediction::beyond>},
};
constexpr FieldTable prediction_table = field_table<ScalingPrediction>("scaling_prediction", prediction_rows);

constexpr Field by_law_rows[] = {
    {"law", "Name of the law.", member<&PredictionByLaw::law>},
    {Field::inlined_name, "Prediction.", member<&PredictionByLaw::prediction>},
};
constexpr FieldTable by_law_table = field_table<PredictionByLaw>("prediction_by_law", by_law_rows);

constexpr Field point_rows[] = {
    {"workers", "Number of workers.", member<&KarpFlattPoint::workers>},
    {"speedup", "Measured speedup over `over_workers`.", member<&KarpFlattPoint::speedup>},
    {"serial_fraction", "Serial fraction that it implies (Karp-Flatt).", member<&KarpFlattPoint::serial_fraction>},
};
constexpr FieldTable point_table = field_table<KarpFlattPoint>("karp_flatt_point", point_rows);

constexpr Field held_rows[] = {
    {"efficiency", "Efficiency to hold.", member<&HeldEfficiency::efficiency>, Unit{"share"}},
    {"workers", "Largest number of workers up to which it holds; null where it holds at none, or without end.",
     member<&HeldEfficiency::workers>},
    {"endless", "Whether it holds at 1024 times the largest measured count.", member<&HeldEfficiency::endless>},
    {"measured", "Whether that count is read from the measurements, where the curve is withheld.",
     member<&HeldEfficiency::measured>},
};
constexpr FieldTable held_table = field_table<HeldEfficiency>("held_efficiency", held_rows);

constexpr Field karp_flatt_rows[] = {
    {"over_workers", "Number of workers that speedups are over.", member<&KarpFlatt::baseline>},
    {"trend", "Change of the fraction with the workers: rising, flat, falling or unclear.", member<&KarpFlatt::trend>},
    {"verdict", "Meaning of that change.", member<&KarpFlatt::verdict>},
};
constexpr FieldTable karp_flatt_table = field_table<KarpFlatt>("karp_flatt_verdict", karp_flatt_rows);

constexpr Field next_rows[] = {
    {"workers", "Number of workers to measure next.", member<&NextMeasurement::workers>},
    {"target_workers", "Number of workers whose band that narrows.", member<&NextMeasurement::target>},
    {"band_now", "Half of the curve's band over its value there.", member<&NextMeasurement::band_now>},
    {"band_then", "Half of that band with the measurement.", member<&NextMeasurement::band_then>},
    {"why", "Reason in a sentence.", member<&NextMeasurement::why>},
};
constexpr FieldTable next_table = field_table<NextMeasurement>("next_measurement", next_rows);

constexpr Field sync_rows[] = {
    {"growth", "Growth of synchronization: linear, logarithmic, none, neither or unclear.",
     member<&SyncGrowth::growth>},
    {"aicc_difference", "AICc of logarithmic less linear growth; above zero speaks for linear.",
     member<&SyncGrowth::aicc_difference>},
    {"likelihood_ratio", "Odds for the better of the two.", member<&SyncGrowth::likelihood_ratio>},
    {"at_workers", "Largest measured number of workers.", member<&SyncGrowth::workers>},
    {"linear_seconds", "Time there by linear growth.", member<&SyncGrowth::linear_seconds>},
    {"logarithmic_seconds", "Time there by logarithmic growth.", member<&SyncGrowth::logarithmic_seconds>},
    {"sentence", "Conclusion in a sentence.", member<&SyncGrowth::sentence>},
};
constexpr FieldTable sync_table = field_table<SyncGrowth>("synchronisation", sync_rows);

constexpr Field finding_rows[] = {
    {"kind", "Name of the finding.", member<&Finding::kind>},
    {"workers", "Number of workers that it is about; null where it is about none.", member<&Finding::workers>},
    {"text", "Finding in a sentence.", member<&Finding::text>},
};
constexpr FieldTable finding_table = field_table<Finding>("finding", finding_rows);

// ---- answers --------------------------------------------------------------------------------------------------------

constexpr Field source_rows[] = {
    {"file", "Path of the table.", [](SourceOfFit const& s) { return s.answer->file; }},
    {"format", "Format of the table: csv or extra-p.", [](SourceOfFit const& s) { return s.answer->table.format; }},
    {"rows", "Number of measurements.", [](SourceOfFit const& s) { return s.answer->table.rows; }},
    {"worker_counts", "Number of worker counts.",
     [](SourceOfFit const& s) { return means_of(s.answer->data.samples).size(); }},
    {"workers_column", "Column of the worker counts.",
     [](SourceOfFit const& s) { return s.answer->table.workers_column; }},
    {"value_column", "Column of the values.", [](SourceOfFit const& s) { return s.answer->table.value_column; }},
    {"weight_column", "Column of the weights; null without weights.",
     [](SourceOfFit const& s) { return if_any(s.answer->table.weight_column); }},
    {"unit", "Unit of throughputs; null where the cells name none.",
     [](SourceOfFit const& s) { return if_any(s.answer->table.unit); }},
    {"region", "Region of an Extra-P text; null for other tables.",
     [](SourceOfFit const& s) { return if_any(s.answer->table.region); }},
    {"metric", "Metric of an Extra-P text; null for other tables.",
     [](SourceOfFit const& s) { return if_any(s.answer->table.metric); }},
    {"regions", "All regions of an Extra-P text.", [](SourceOfFit const& s) { return s.answer->table.regions; }},
    {"metrics", "All metrics of an Extra-P text.", [](SourceOfFit const& s) { return s.answer->table.metrics; }},
    {"ignored_columns", "Columns that were not used.", [](SourceOfFit const& s) { return s.answer->table.ignored; }},
    {"series", "Conditions for --where that choose one of several series; empty for one series.",
     [](SourceOfFit const& s) { return s.answer->table.series; }},
    {"notes", "Choices of the reader that could have been made otherwise.",
     [](SourceOfFit const& s) { return s.answer->table.notes; }},
};
constexpr FieldTable source_table = field_table<SourceOfFit>("scaling_table", source_rows);
FieldTable const& field_table_of(SourceOfFit const*) { return source_table; }

constexpr Field method_rows[] = {
    {"method", "Method: profile, asymptotic, bootstrap or bootstrap_pairs.",
     [](IntervalMethod const& m) { return m.answer->question.intervals; }},
    {"coverage", "Coverage of intervals and bands.",
     [](IntervalMethod const& m) { return m.answer->question.coverage; }},
    {"seed", "Seed of a bootstrap; null without one.",
     [](IntervalMethod const& m) {
         FitQuestion const& question = m.answer->question;
         return draws(question.intervals) ? std::optional{question.seed} : std::nullopt;
     }},
    {"resamples", "Resamples of a bootstrap; null without one.",
     [](IntervalMethod const& m) {
         FitQuestion const& question = m.answer->question;
         return draws(question.intervals) ? std::optional{question.resamples} : std::nullopt;
     }},
    {"bands", "Meaning of the bands of a prediction.", [](IntervalMethod const& m) { return band_words(*m.answer); }},
};
constexpr FieldTable method_table = field_table<IntervalMethod>("interval_method", method_rows);
FieldTable const& field_table_of(IntervalMethod const*) { return method_table; }

std::vector<Issue> issues_of(FitAnswer const& answer) {
    std::vector<Issue> all;
    std::string names;
    for (std::string const& name : answer.table.ignored) { names += (names.empty() ? "" : ", ") + name; }
    if (!names.empty()) {
        all.push_back({.kind = "column not used",
                       .count = answer.table.ignored.size(),
                       .file = answer.file,
                       .column = shortened(answer.table.ignored.front()),
                       .text = shortened(names)});
    }
    add_issues(all, answer.table.issues, answer.file);
    for (std::string const& one : answer.table.series) {
        count_issue(all, Issue{.kind = "series among several that are taken for repeats",
                               .count = 1,
                               .file = answer.file,
                               .text = shortened(one),
                               .kept = true});
    }
    return all;
}

constexpr Field answer_rows[] = {
    {"issues", "Content of the table that was not used.", from<issues_of>},
    {"fitted_quantity", "Measured quantity: seconds, throughput, speedup, sync or value.",
     [](FitAnswer const& a) { return a.data.measured; }},
    {"conversion", "Relation of rows to fitted values.", from<conversion_words>},
    {"scaling", "Scaling: strong, weak or unsaid.", [](FitAnswer const& a) { return a.data.scaling; }},
    {"centre", "Fitted centre of repeats: mean or median.",
     [](FitAnswer const& a) { return std::string_view{a.question.centre == Centre::median ? "median" : "mean"}; }},
    {"errors", "Assumed errors: absolute, or relative to the value.",
     [](FitAnswer const& a) { return std::string_view{a.question.relative_errors ? "relative" : "absolute"}; }},
    {"intervals", "Method of the intervals.", [](FitAnswer const& a) { return IntervalMethod{&a}; }},
    {"fits", "Fitted laws.", [](FitAnswer const& a) { return a.report.fits; }},
    {"left_out", "Laws that were not fitted.", [](FitAnswer const& a) { return a.report.left_out; }},
    {"best", "Name of the best law.", [](FitAnswer const& a) { return std::string_view{a.best().law->name}; }},
    {"speedup_over_workers",
     "Number of workers that speedups, efficiencies and ceilings are over: the smallest measured count, or one for "
     "stated speedups.",
     [](FitAnswer const& a) { return a.of_steps() ? std::optional{base_workers(a.data)} : std::nullopt; }},
    {"held_efficiency", "Largest count with the efficiency that was asked; null where none was asked.",
     [](FitAnswer const& a) { return a.report.held; }},
    {"knee_workers", "Last count, doubling from the smallest, that was worth its doubling; null without a knee.",
     from<knee_of>},
    {"ceiling_value_low", "Lower end of the interval of the ceiling of the best law.",
     [](FitAnswer const& a) { return a.report.ceiling_low; }},
    {"ceiling_value_high", "Upper end of the interval of the ceiling of the best law.",
     [](FitAnswer const& a) { return a.report.ceiling_high; }},
    {"chosen_because", "Reason for which the best law is the best.",
     [](FitAnswer const& a) { return a.report.chosen_because; }},
    {"predictions", "Predictions of the best law.", [](FitAnswer const& a) { return a.report.predictions; }},
    {"karp_flatt", "Serial fraction at each measured count; empty where the values are not of steps.",
     [](FitAnswer const& a) {
         return a.report.karp_flatt ? a.report.karp_flatt->points : std::vector<KarpFlattPoint>{};
     }},
    {"karp_flatt_verdict", "Trend of that fraction; null where the values are not of steps.",
     [](FitAnswer const& a) { return a.report.karp_flatt; }},
    {"next_measurement", "Count whose measurement would narrow the bands most; null where none would.",
     [](FitAnswer const& a) { return a.report.next_measurement; }},
    {"synchronisation", "Growth of synchronization; null for other quantities.",
     [](FitAnswer const& a) { return a.report.sync; }},
    {"findings", "Findings about the measurements.", [](FitAnswer const& a) { return a.report.findings; }},
};
constexpr FieldTable answer_table = field_table<FitAnswer>("scaling_fit", answer_rows);

constexpr Field table_fit_rows[] = {
    {"question", "Form of question that was asked.", [](TableFitAnswer const&) { return std::string_view{"fit"}; }},
    {"table", "Table of the measurements.", [](TableFitAnswer const& a) { return SourceOfFit{&a.fit}; }},
    {Field::inlined_name, "Fitted laws.", member<&TableFitAnswer::fit>},
};
constexpr FieldTable table_fit_table = field_table<TableFitAnswer>("table_fit", table_fit_rows);

} // namespace

FieldTable const& field_table_of(FittedCoefficient const*) { return coefficient_table; }
FieldTable const& field_table_of(CrossValidation const*) { return validation_table; }
FieldTable const& field_table_of(LawFit const*) { return fit_table; }
FieldTable const& field_table_of(LeftOutLaw const*) { return left_out_table; }
FieldTable const& field_table_of(KarpFlattPoint const*) { return point_table; }
FieldTable const& field_table_of(HeldEfficiency const*) { return held_table; }
FieldTable const& field_table_of(KarpFlatt const*) { return karp_flatt_table; }
FieldTable const& field_table_of(NextMeasurement const*) { return next_table; }
FieldTable const& field_table_of(SyncGrowth const*) { return sync_table; }
FieldTable const& field_table_of(Finding const*) { return finding_table; }
FieldTable const& field_table_of(ScalingPrediction const*) { return prediction_table; }
FieldTable const& field_table_of(PredictionByLaw const*) { return by_law_table; }
FieldTable const& field_table_of(FitAnswer const*) { return answer_table; }
FieldTable const& field_table_of(TableFitAnswer const*) { return table_fit_table; }

} // namespace headroom::fit
