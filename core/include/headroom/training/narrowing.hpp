#pragma once

#include "headroom/fields.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/validation.hpp"

#include <span>
#include <string>
#include <vector>

namespace headroom::training {

/// A fact that would narrow the interval of a prediction.
struct Narrowing {
    std::string fact;                 ///< "a measured step of this plan, with any number of replicas"
    std::string option;               ///< that states it: "--measured-step TIME"
    double before = 1.0, after = 1.0; ///< half-widths: square roots of high over low; 1.2 is a fifth either way
};
FieldTable const& field_table_of(Narrowing const*);

/// Number of facts that are listed.
inline constexpr std::size_t most_narrowings = 3;

/// The facts whose statement would narrow the interval of `prediction` most, the most effective first; those that narrow it by
/// less than 1 % are left out. Each is the interval of the same step as if the fact were stated:
///
///     a measured step     joins those of `calibration`, at the predicted time: the posterior of the fitted variances of likeness
///                         narrows the interval (`apply_warm_start`). Of this plan; of this model with another plan; of another
///                         model at this site. The best of them is listed, the others where there is room.
///     a guessed field     with the value that was taken: its assumption is left out, alone, and all degrees, batches and choices
///                         that widen the interval together
///     the architecture    of a model that is not understood: its parameters without a range
///
/// `of_plan`: the measured steps of `calibration` are those `of_any_plan`, as in a search.
/// Assumes:    the fact, once stated, has the value that was assumed; another value moves the step, too.
std::vector<Narrowing> narrowings(Prediction const& prediction, CalibrationSet const& calibration,
                                  bool of_plan = false);

/// Facts that would narrow the intervals of the runs of a table: geometric means of half-widths over the runs that are predicted. A guessed field counts in the
/// runs that do not state it; its option is a column of the table.
std::vector<Narrowing> narrowings(std::span<RunComparison const> runs, CalibrationSet const& calibration);

/// "the interval would narrow to x1.10 (from x1.24) with --measured-step TIME: a measured step of this plan"; empty without any.
std::string words_of(std::vector<Narrowing> const& narrowings);

} // namespace headroom::training
