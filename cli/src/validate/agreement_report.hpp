#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/training/validation_answer.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Answer of `validate --simulation` with what its document names.
struct AgreementReport {
    io::Catalog const& catalog;
    std::string calibration;
    training::AgreementAnswer answer;
};

/// Numbers that --require may ask about; without values where `answer` is null.
std::vector<Metric> metrics_of(training::AgreementAnswer const* answer);

Document document_of(AgreementReport const& report);

} // namespace headroom::cli
