#pragma once

#include "step_limit_inputs.hpp"

#include <optional>

namespace headroom::training::simulation {

/// What a step of one stage takes, unit by unit of its passes: kernels that hide nothing taken together, its host, and a queue each for
/// gradients and weights and for copies to and from the host. Nothing for pipelines, and where passes are split or too many.
///
///     end of a unit = max(end of the one before, its weights, its copies) + kernels beside what is queued + what shows
///
/// Without disturbances and the fixed time.
/// Source: [Li2020], [Zhao2023], [Ren2021]
std::optional<double> seconds_unit_by_unit(Inputs const& in);

} // namespace headroom::training::simulation
