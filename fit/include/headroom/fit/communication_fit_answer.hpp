#pragma once

#include "headroom/fields.hpp"
#include "headroom/fit/communication_fit.hpp"
#include "headroom/issue.hpp"
#include "headroom/network/measured_collective.hpp"
#include "headroom/network/measured_network.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::fit {

/// One file of measured collectives.
struct MeasuredFile {
    std::string name;
    std::string format = {}; ///< empty where nothing could be used
    std::size_t lines = 0, rows = 0;
    std::vector<Issue> issues = {};
    std::vector<std::string> notes = {};
    std::string refusal = {}; ///< reason why nothing of it was used; empty where something was
};

/// Answer of `headroom comm --fit`: measured collectives and the fits to them.
struct CommunicationFitAnswer {
    std::vector<MeasuredFile> files;
    std::vector<network::MeasuredCollective> rows;
    CommunicationFits result;
    std::string saved = {}; ///< calibration file that was written
};
FieldTable const& field_table_of(CommunicationFitAnswer const*);

FieldTable const& field_table_of(Fitted const*);
/// Group and values of a fit, without its segments and residuals.
FieldTable const& field_table_of(CommunicationFit const*);

/// A measured time and its difference from the fit.
struct MeasuredResidual {
    network::MeasuredCollective const* measured = nullptr;
    FitResidual const* residual = nullptr;
};
FieldTable const& field_table_of(MeasuredResidual const*);

/// A measured time with its fit.
struct FittedRow {
    CommunicationFit const* fit = nullptr;
    MeasuredResidual row;
};
FieldTable const& field_table_of(FittedRow const*);
/// Every measured time that a fit was made of, by fit and size.
std::vector<FittedRow> fitted_rows(CommunicationFitAnswer const& answer);

/// Bus bandwidth that large messages tend to; empty where it is not known.
std::optional<BytesPerSecond> known_bus_bandwidth(CommunicationFit const& fit);

/// Two systems that the fits are of; empty where all are of one.
std::optional<std::pair<std::string, std::string>> different_systems(CommunicationFitAnswer const& answer);
/// The curves and links of a calibration file. Holds for: fits of one system.
network::MeasuredNetwork measured_network(CommunicationFitAnswer const& answer);

/// "all_reduce ring", with the protocol and the data type where they are known.
std::string words_of(CommunicationFit const& fit);
std::string words_of(CommunicationFit const& fit, FitRemark remark);
std::vector<std::string> remarks_of(CommunicationFit const& fit);
std::string words_of(LinkNote const& note);
/// "677 GB/s an accelerator is above the 50 GB/s of dgx-h100 ...".
std::string words_of(RefusedLevel const& refused);
/// "fewer than 3 sizes".
std::string words_of(SkippedGroup const& skipped);
/// "16 on 2 nodes".
std::string ranks_words(int ranks, int nodes);

} // namespace headroom::fit
