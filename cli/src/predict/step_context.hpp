#pragma once

#include "headroom/prediction.hpp"

namespace headroom::cli {

/// What a prediction was evaluated with, kept together: a `StepSetting` refers to the rest.
class StepContext {
public:
    StepContext(Prediction const& prediction, CalibrationSet const& calibration)
        : values_{calibration.values()},
          cluster_{
              congested(prediction.question.cluster, prediction.question.disturbance.congestion, prediction.workers)},
          setting_{step_setting(prediction.question, cluster_, values_)} {}
    StepContext(StepContext const&) = delete;
    StepContext& operator=(StepContext const&) = delete;

    [[nodiscard]] StepSetting const& setting() const { return setting_; }

private:
    Calibration values_;
    Cluster cluster_;
    StepSetting setting_;
};

} // namespace headroom::cli
