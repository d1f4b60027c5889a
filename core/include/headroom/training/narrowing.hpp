#pragma once

#include "headroom/fields.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/validation.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

/// A fact that would narrow the interval of a prediction.
struct Narrowing {
    std::string fact;                 ///< "a measured step of this plan, with any number of replicas"
    std::string option;               ///< that states it: "--measured-step TIME"
    double before = 1.0, after = 1.0; ///< half-widths of the interval, sqrt(high / low): 1.2 is a fifth either way
};
FieldTable const& field_table_of(Narrowing const*);

/// A guessed field, and the steps that other values of it would give.
struct GuessEffect {
    std::string field, value, reason;
    std::string option;                        ///< that states it
    std::optional<double> low = {}, high = {}; ///< shortest and longest step over that with the guess; empty: not known
};
FieldTable const& field_table_of(GuessEffect const*);

/// The fields of a prediction that are guessed, in the order of its assumptions. Steps with other values are screened, as for
/// `narrowings`; those that cannot run or do not fit are left out. A field without other values to try, and a plan that does
/// not fit, have no effect that is known.
std::vector<GuessEffect> guess_effects(Prediction const& prediction, CalibrationSet const& calibration);

/// Number of facts that are listed.
inline constexpr std::size_t most_narrowings = 3;

/// The facts whose statement would narrow the interval of `prediction` most, the most effective first; those that narrow it by
/// less than 1 % are left out. The half-width is sqrt(high / low) of the interval before and after. With a fact:
///
///     a measured step     joins those of `calibration`, at the predicted time: the posterior of the fitted variances of likeness
///                         narrows the interval (`apply_warm_start`). Of this plan; of this model with another plan; of
///                         another model. The best of them is listed, the others where there is room.
///     a guessed field     with the value that was taken: without its assumption; fields that widen the interval only together
///                         (degrees, batches and choices of a run that is described) as one fact, too
///     the architecture    of a model that is not understood: its parameters without a range
///
/// `of_plan`: the answer is a plan, in which measured steps count for every plan alike: one of this plan narrows what predict says.
/// Assumes:    the stated value is the assumed one; another moves the step, too (`guess_effects`).
std::vector<Narrowing> narrowings(Prediction const& prediction, CalibrationSet const& calibration,
                                  bool of_plan = false);

/// Facts that would narrow the intervals of the runs of a table: geometric means of half-widths over the runs that are predicted. A guessed field counts in the
/// runs that do not state it; its option is a column of the table.
std::vector<Narrowing> narrowings(std::span<RunComparison const> runs, CalibrationSet const& calibration);

/// "the step is known to x1.24 either way; it would be x1.08 with a measured step of this plan:
/// --measured-step TIME"; empty without any.
std::string words_of(std::vector<Narrowing> const& narrowings);

/// "recompute none: other values give x1.00 to x1.33 of this step (--recompute)": the guesses that move the step most, three at most; empty where
/// none moves it by 5 %.
std::string words_of(std::vector<GuessEffect> const& effects);

} // namespace headroom::training
