#pragma once

#include "gate.hpp"
#include "output.hpp"

#include "headroom/simulation_agreement.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// All that `validate --simulation` has to say.
struct AgreementReport {
    io::Catalog const& catalog;
    std::string calibration;
    int asked = 0; ///< plans
    std::uint64_t seed = 0;
    std::vector<AgreementRow> rows; ///< by index; fewer than asked: interrupted
    AgreementTable table;
    std::vector<GateOutcome> gates;
    std::optional<double> wall_seconds; ///< of --stats
    [[nodiscard]] bool complete() const { return rows.size() == static_cast<std::size_t>(asked); }
};

/// What --require may ask about; those of the claim are empty where nothing is claimed.
std::vector<Metric> metrics_of(AgreementTable const& table);

Json json_of(AgreementReport const& report);
Document document_of(AgreementReport const& report);
Sheet sheet_of(AgreementReport const& report);

} // namespace headroom::cli
