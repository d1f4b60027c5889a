#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/fit/serving_validation.hpp"
#include "headroom/io/catalog.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Answer of `validate --serving` with what its document names.
struct ServedReport {
    io::Catalog const& catalog;
    std::string calibration;
    fit::ServingValidationAnswer answer;
};

/// Numbers that --require may ask about; without values where `answer` is null.
std::vector<Metric> metrics_of(fit::ServingValidationAnswer const* answer);

Document document_of(ServedReport const& report);

} // namespace headroom::cli
