#pragma once

#include "headroom/training/likeness.hpp"
#include "headroom/training/prediction.hpp"

#include <string>

namespace headroom::training {

/// Traits of a question by which its similarity to measured steps is judged.
StepTraits traits_of(Question const& question);

/// Measured step of `question` with its prediction by `calibration`, independent of other measurements. ln(measured /
/// predicted) outside the prediction interval is clipped to the interval: a step that the constants make nearly
/// impossible is more often an error of the measurement or of its description than information about other steps.
/// Errors:     those of `predict`.
MeasuredStep measured_step(Question const& question, Seconds measured, CalibrationSet const& calibration,
                           std::string name);

/// Measured steps reduced to their effect on every plan alike: none shares its layout or replica with a question. A
/// search keeps its order of plans, and a curve over sizes gets one factor.
WarmStart of_any_plan(WarmStart warm);

/// Interval of `step` once it leans on measured steps; no narrower than the posterior deviation of the effects.
Interval narrowed(Interval interval, Seconds step, WarmPosterior const& posterior);

/// Lets a prediction lean on the measured steps of `calibration` that are like it: the step, each of its parts and what
/// follows from them are multiplied by the factor, and the logarithm of the interval narrows with the posterior.
///
///     step' = f step,   interval' = f step exp(narrowing ln(interval / step))
///
/// Nothing changes without a related step. Memory and operation counts do not depend on it.
void apply_warm_start(Prediction& prediction, CalibrationSet const& calibration);

} // namespace headroom::training
