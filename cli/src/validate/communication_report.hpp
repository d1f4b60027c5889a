#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/fit/communication_answer.hpp"
#include "headroom/io/catalog.hpp"

#include <vector>

namespace headroom::cli {

/// Answer of `validate --communication` with what its document names.
struct CommunicationReport {
    io::Catalog const& catalog;
    fit::CommunicationAnswer answer;
};

/// Numbers that --require may ask about; without values where `answer` is null.
std::vector<Metric> metrics_of(fit::CommunicationAnswer const* answer);

Document document_of(CommunicationReport const& report);

} // namespace headroom::cli
