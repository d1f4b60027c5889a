#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/accuracy_measures.hpp"
#include "headroom/plan_choice.hpp"
#include "headroom/scale_validation.hpp"
#include "headroom/utilization_check.hpp"
#include "headroom/validation.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// All that `validate` has to say.
struct ValidationReport {
    io::Catalog const& catalog;
    std::string calibration, runs_name;
    Validation validation;
    std::optional<Validation> left_out = {};        ///< every source predicted with constants fitted without it
    std::optional<Validation> models_left_out = {}; ///< mixtures, each with constants fitted without its model
    int free_constants = 0;                         ///< that runs were free to move
    bool refitted = false;                          ///< `left_out` was fitted now, not read
    std::map<std::string, Pace> pace = {};          ///< by framework, as fitted to every source
    std::map<std::string, std::map<std::string, Pace>> pace_without = {}; ///< by the source left out
    PlanChoice choice = {};                     ///< of the left-out comparison where there is one, else of the other
    UtilizationCheck utilization = {};          ///< of the measured steps
    std::optional<ScaleValidation> scales = {}; ///< where constants that never saw a source are known
    bool asked_for_scales = false;              ///< --leave-one-scale
    std::vector<AccuracyMeasure> measures = {}; ///< each with its bar
    std::vector<GateOutcome> gates = {};
    std::optional<double> wall_seconds = {}; ///< of --stats
};

/// What --require may ask about.
std::vector<Metric> metrics_of(ErrorSummary const& summary, MemorySummary const& memory,
                               std::optional<ErrorSummary> const& left_out, PlanChoiceSummary const& choice = {},
                               std::optional<ScaleValidation> const& scales = {});

Json json_of(ValidationReport const& report);
Document document_of(ValidationReport const& report);
Sheet sheet_of(ValidationReport const& report);

} // namespace headroom::cli
