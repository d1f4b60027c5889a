#pragma once

#include "headroom/plan.hpp"
#include "headroom/simulation_agreement.hpp"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace headroom::cli {

/// Rows of the plans 0 .. count - 1 of a seed. When stopped, those before the first that was not reached.
std::vector<AgreementRow> run_agreement(PlanMenu const& menu, CalibrationSet const& calibration, std::uint64_t seed,
                                        int count, Executor const& run, std::stop_token const& stop);

} // namespace headroom::cli
