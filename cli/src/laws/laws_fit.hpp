#pragma once

#include "verb.hpp"

#include "headroom/fit/scaling_fit.hpp"

namespace headroom::cli {

/// Options of a fit, wherever its measurements come from.
std::span<Option const> fit_question_options();
fit::FitQuestion read_fit_question(Arguments const& arguments, fit::ScalingData const& data);

/// The options of `laws` that belong to --fit, and what it does with them: laws fitted to a table of measurements.
std::span<Option const> fit_options();
int run_fit(Arguments const& arguments);

} // namespace headroom::cli
