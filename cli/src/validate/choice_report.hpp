#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/plan_choice.hpp"
#include "headroom/scale_validation.hpp"
#include "headroom/utilization_check.hpp"

#include <optional>
#include <vector>

namespace headroom::cli {

/// What choosing by prediction would have cost, what one measured run does for larger ones, and whether operations are
/// counted as sources count them: checks of `validate` beside the errors of single rows.

void add_metrics(std::vector<Metric>& metrics, PlanChoiceSummary const& choice);
void add_metrics(std::vector<Metric>& metrics, std::optional<ScaleValidation> const& scales);

Json json_of(PlanChoice const& choice, bool left_out);
Json json_of(ScaleValidation const& scales);
Json json_of(UtilizationCheck const& check);

void add_choice(std::vector<Block>& blocks, PlanChoice const& choice, bool left_out);
void add_utilization(std::vector<Block>& blocks, UtilizationCheck const& check);
void add_scales(std::vector<Block>& blocks, ScaleValidation const& scales);

/// Every larger run, a row each.
Sheet sheet_of(ScaleValidation const& scales);

} // namespace headroom::cli
