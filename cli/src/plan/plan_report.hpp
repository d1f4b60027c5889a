#pragma once

#include "gate.hpp"
#include "setting.hpp"

#include "headroom/plan.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace headroom::cli {

/// All that `plan` has to say.
struct PlanReport {
    Setting const& setting;
    Plan plan;
    std::optional<Plan> other; ///< the plan of --against
    std::optional<PlanComparison> comparison;
    std::vector<GateOutcome> gates;
    std::optional<double> search_seconds, wall_seconds; ///< of --stats
};

/// What --require may ask about: the recommended row.
std::vector<Metric> metrics_of(Plan const& plan);

Json json_of(PlanReport const& report);
Document document_of(PlanReport const& report);
Sheet sheet_of(PlanReport const& report);

/// The answer of --dry-run: how many strategies are legal at each size.
struct DryRun {
    Setting const& setting;
    std::vector<std::pair<int, std::size_t>> legal;
    std::optional<double> wall_seconds; ///< of --stats
};
Json json_of(DryRun const& report);
Document document_of(DryRun const& report);
Sheet sheet_of(DryRun const& report);

} // namespace headroom::cli
