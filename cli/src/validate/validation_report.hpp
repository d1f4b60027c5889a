#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/training/validation_answer.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Answer of `validate` with what its document names.
struct ValidationReport {
    io::Catalog const& catalog;
    std::string calibration;
    training::ValidationAnswer answer;
};

/// Numbers that --require may ask about; without values where `answer` is null.
std::vector<Metric> metrics_of(training::ValidationAnswer const* answer);

Document document_of(ValidationReport const& report);

} // namespace headroom::cli
