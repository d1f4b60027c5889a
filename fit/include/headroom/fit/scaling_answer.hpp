#pragma once

#include "headroom/fields.hpp"
#include "headroom/fit/scaling_fit.hpp"
#include "headroom/issue.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::fit {

// Laws fitted to measurements over worker counts, with their field tables.

/// Table that measurements were read from.
struct ScalingSource {
    std::string workers_column = {}, value_column = {}, weight_column = {}; ///< as the file names them
    std::string unit = {};                                                  ///< of throughputs, as the cells have it
    std::string format = {};                                                ///< "csv" or "extra-p"
    std::size_t rows = 0;
    std::vector<std::string> ignored = {};               ///< columns that were not used
    std::vector<Issue> issues = {};                      ///< content of cells that was not used
    std::vector<std::string> series = {};                ///< conditions that choose one of several series
    std::vector<std::string> notes = {};                 ///< choices that somebody could have made otherwise
    std::string region = {}, metric = {};                ///< that was taken out of an Extra-P text
    std::vector<std::string> regions = {}, metrics = {}; ///< all that it has
};

/// Measurements, the question about them, and the fits.
struct FitAnswer {
    std::string file = {};
    ScalingSource table = {};
    ScalingData data = {};
    FitQuestion question = {};
    ScalingReport report = {};

    [[nodiscard]] LawFit const& best() const { return report.fits.at(report.best); }
    /// Whether the values are of steps, so that a speedup has a meaning.
    [[nodiscard]] bool of_steps() const { return fit::of_steps(data.measured); }
    [[nodiscard]] double smallest_measured() const;
    [[nodiscard]] double largest_measured() const;
};
FieldTable const& field_table_of(FitAnswer const*);

/// Answer of `headroom laws --fit`: fits to a table.
struct TableFitAnswer {
    FitAnswer fit = {};
};
FieldTable const& field_table_of(TableFitAnswer const*);

/// Prediction with the law that it is made by: a row of the CSV form.
struct PredictionByLaw {
    std::string law = {};
    ScalingPrediction prediction = {};
};
FieldTable const& field_table_of(PredictionByLaw const*);
std::vector<PredictionByLaw> predictions_by_law(FitAnswer const& answer);

// ---- tables of the parts ----------------------------------------------------------------------------------------------

FieldTable const& field_table_of(FittedCoefficient const*);
FieldTable const& field_table_of(CrossValidation const*);
FieldTable const& field_table_of(LawFit const*);
FieldTable const& field_table_of(LeftOutLaw const*);
FieldTable const& field_table_of(HeldEfficiency const*);
FieldTable const& field_table_of(KarpFlattPoint const*);
FieldTable const& field_table_of(KarpFlatt const*);
FieldTable const& field_table_of(NextMeasurement const*);
FieldTable const& field_table_of(SyncGrowth const*);
FieldTable const& field_table_of(Finding const*);
FieldTable const& field_table_of(ScalingPrediction const*);

// ---- quantities of an answer ------------------------------------------------------------------------------------------

/// Knee of the best law: the last count, doubling from the smallest measured one, that was still worth its doubling.
/// Empty where more workers have more to do, and where the values are not of steps.
std::optional<double> knee_of(FitAnswer const& answer);
/// Whether intervals are drawn by a bootstrap, so that a seed and a number of resamples count.
bool draws(Intervals intervals);
/// Relation of rows to fitted values, in a sentence.
std::string conversion_words(FitAnswer const& answer);
/// Meaning of the two bands of a prediction, in a sentence.
std::string band_words(FitAnswer const& answer);
/// "90 %", "97.5 %".
std::string share_words(double share);

} // namespace headroom::fit
