#pragma once

#include "output.hpp"

#include "headroom/fit/communication_fit.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/measured_network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// One file of measurements, and what was found in it.
struct CommFitFile {
    std::string name;
    std::string format; ///< empty where nothing could be used
    std::size_t lines = 0, rows = 0;
    std::vector<io::LogTrouble> troubles;
    std::vector<std::string> notes;
    std::string refusal; ///< why nothing of it was used; empty where something was
};

/// Measured collectives, and what they are made of.
struct CommFitAnswer {
    std::vector<CommFitFile> files;
    std::vector<MeasuredCollective> rows;
    fit::CommunicationFits result;
    std::string saved; ///< calibration file that was written
    std::optional<double> wall_seconds = {};
};

/// "all_reduce ring", with the protocol and the data type where they are known.
std::string words_of(fit::CommunicationFit const& fit);
/// "16 on 2 nodes", "8".
std::string ranks_words(int ranks, int nodes);
/// The level in words: "between nodes".
std::string level_words(fit::FittedLevel const& level);
/// "file:line" of a row, as far as known.
std::string place_of(MeasuredCollective const& row);
/// What the bytes of a file were not used for: "3 lines with wrong results, the first is line 17".
std::string trouble_words(io::LogTrouble const& trouble);

/// What was fitted, as a calibration file has it. Errors: InputError{usage} when the logs are of several systems.
MeasuredNetwork measured_network(CommFitAnswer const& answer);
/// What that file says of itself.
std::vector<std::string> saved_header(CommFitAnswer const& answer);

/// Measured and fitted, of one fit: bus bandwidth over size, or time where the collective has none; and its residuals.
std::vector<Chart> comm_fit_charts(CommFitAnswer const& answer, fit::CommunicationFit const& fit);

Document document_of(CommFitAnswer const& answer, io::Catalog const& catalog);
Json json_of(CommFitAnswer const& answer, io::Catalog const& catalog);
Sheet sheet_of(CommFitAnswer const& answer);

} // namespace headroom::cli
