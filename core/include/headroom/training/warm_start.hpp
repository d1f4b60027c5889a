#pragma once

#include "headroom/training/likeness.hpp"
#include "headroom/training/prediction.hpp"

#include <string>

namespace headroom::training {

/// What a question shares with others.
StepTraits traits_of(Question const& question);

/// A measured step of `question` beside its prediction by `calibration`, whatever else was measured. A logarithm of
/// measured / predicted outside of the interval of the prediction is clipped to it: a step that the constants hold to
/// be next to impossible is more often a mistake of the measurement, or of its description, than news about the others.
/// Errors:     those of `predict`.
MeasuredStep measured_step(Question const& question, Seconds measured, CalibrationSet const& calibration,
                           std::string name);

/// The same measured steps as what they say of every plan alike: none shares its layout or replica with a question. A
/// search among plans keeps its order, and a curve over sizes has one factor.
WarmStart of_any_plan(WarmStart warm);

/// Lets a prediction lean on the measured steps of `calibration` that are like it: the step, each of its parts and what
/// follows from them are multiplied by the factor, and the logarithm of the interval narrows with the posterior.
///
///     step' = f step,   interval' = f step exp(narrowing ln(interval / step))
///
/// Nothing changes without a related step. What fits in memory and what is computed do not depend on it.
void apply_warm_start(Prediction& prediction, CalibrationSet const& calibration);

} // namespace headroom::training
