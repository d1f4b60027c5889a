#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/training/memory_validation.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// One line on the memory of the runs of a plain `validate`.
Paragraph memory_words(training::Validation const& validation);

/// Answer of `validate --memory` with what its document names.
struct MemoryReport {
    io::Catalog const& catalog;
    std::string calibration;
    training::MemoryValidationAnswer answer;
};

/// Numbers that --require may ask about; without values where `answer` is null.
std::vector<Metric> metrics_of(training::MemoryValidationAnswer const* answer);

Document document_of(MemoryReport const& report);

} // namespace headroom::cli
