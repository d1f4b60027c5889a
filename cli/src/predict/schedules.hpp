#pragma once

#include "document/document.hpp"
#include "document/json.hpp"

#include "headroom/pipeline.hpp"
#include "headroom/prediction.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// One schedule on a configuration that is otherwise the same.
struct ScheduleOutcome {
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    std::string why_not = {};                  ///< it is not possible, in words; else empty
    std::optional<Prediction> prediction = {}; ///< where it is possible
    double held = 0.0;          ///< activations that the fullest stage holds, in micro-batches of its whole depth
    double weight_copies = 1.0; ///< of the weights of a stage, on the stage that has the most
    bool chosen = false;        ///< the strategy's own
    [[nodiscard]] bool fits() const { return prediction && prediction->fits; }
};

/// Every schedule on this question, the fastest that fits first, then those that do not fit, then those that are not
/// possible. The first is the best where it fits.
std::vector<ScheduleOutcome> compare_schedules(Question const& question, CalibrationSet const& calibration);

std::vector<Block> schedule_comparison(std::vector<ScheduleOutcome> const& outcomes);
Json schedules_json(std::vector<ScheduleOutcome> const& outcomes);

} // namespace headroom::cli
