#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/fit/communication_validation.hpp"
#include "headroom/io/benchmark_log.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// All that `validate --communication` has to say.
struct CommunicationReport {
    io::Catalog const& catalog;
    std::string table_name;
    io::BenchmarkLog const& log;
    fit::CommunicationValidation validation;
    std::vector<GateOutcome> gates;
    std::optional<double> wall_seconds; ///< of --stats
};

/// What --require may ask about.
std::vector<Metric> metrics_of(fit::CommunicationSummary const& summary);

Json json_of(CommunicationReport const& report);
Document document_of(CommunicationReport const& report);
Sheet sheet_of(CommunicationReport const& report);

} // namespace headroom::cli
