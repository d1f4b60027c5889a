#pragma once

#include "options.hpp"
#include "run.hpp"

#include <string>
#include <vector>

namespace headroom::step_example {

/// A result for people and as JSON of docs/schema/training-step.json.
struct Report {
    std::string text, json;
};

/// Steps that ran; the last line of the text is `step_seconds = X`, of `Mode::check` whether they agree.
Report run_report(Options const& options, RunResult const& result, int workers);

Report prediction_report(Options const& options, StepProfile const& profile, std::vector<PredictedStep> const& steps);

/// JSON Schema of the reports: docs/schema/training-step.json.
std::string report_schema();

/// Whether losses and gradients are those of one process.
bool agrees(RunResult const& result);

} // namespace headroom::step_example
