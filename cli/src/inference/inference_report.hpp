#pragma once

#include "gate.hpp"
#include "inference/inference_question.hpp"

#include "headroom/document/document.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// Numbers that --require may ask about; of an answer that is not known yet: null.
std::vector<Metric> metrics_of(serving::InferenceAnswer const* report);
Document document_of(serving::InferenceAnswer const& report, Setting const& setting,
                     std::optional<CallStats> const& stats, bool page);

std::vector<Chart> charts_of(serving::InferenceAnswer const& report, bool page);

/// "tp 4", "tp 4 pp 2".
std::string plan_words(serving::ServingPlan const& plan);
/// "at 20/s", "of 1000 requests at once", "with 64 users".
std::string traffic_words(serving::InferenceQuestion const& question);
/// Three digits without zeros at the end: what somebody gave reads as it was given.
std::string short_number(double value);

/// Verdicts, reasons and assumptions of an answer, written into it.
void add_words(serving::InferenceAnswer& report);
/// Rows of a recorded trace that were left out, and how it was read; empty without one.
std::vector<std::string> trace_notes(serving::InferenceAnswer const& report);

} // namespace headroom::cli
