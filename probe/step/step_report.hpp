#pragma once

#include "options.hpp"
#include "prediction.hpp"
#include "run.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::training {

/// A run of steps with what it was asked, ready to be told.
struct RunReport {
    Options options;
    RunResult result;
    int workers = 1;
    bool is_replay = false;

    [[nodiscard]] double middle(double PhaseTimes::*phase) const;
    [[nodiscard]] double least_step() const;
    [[nodiscard]] Division division() const;
    /// All-reduce over computing, of the medians.
    [[nodiscard]] double gamma() const;
    /// (exposed all-reduce + optimizer) / step, of the medians: Amdahl's share on these workers.
    [[nodiscard]] double serial_share() const;
};

/// For people; the last line of a run is `step_seconds = X`.
std::string run_text(RunReport const& report);
std::string check_text(RunReport const& report);
std::string prediction_text(StepProfile const& profile, Division const& division,
                            std::vector<PredictedStep> const& steps);

/// docs/schema/training-step.json
std::string run_json(RunReport const& report);
std::string prediction_json(StepProfile const& profile, Division const& division,
                            std::vector<PredictedStep> const& steps);

} // namespace headroom::training
