#pragma once

#include "comm/comm_fit_report.hpp"
#include "output.hpp"

#include "headroom/calibration.hpp"
#include "headroom/fit/trace_fit.hpp"
#include "headroom/io/catalog.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

/// What one piece of evidence is, and what it gave.
struct CalibrateEvidence {
    std::string name;
    std::string kind;  ///< "traces", "benchmark log", "calibration"; empty where nothing could be used
    std::string gives; ///< "84 collectives of 8 ranks"
};

/// Evidence, and the calibration that it makes.
struct CalibrateAnswer {
    std::vector<CalibrateEvidence> evidence;
    CommFitAnswer links; ///< rows of traces and of logs, and their fits
    std::optional<fit::TraceFacts> facts;
    std::optional<fit::TraceCollectives> collectives; ///< without their rows
    std::vector<std::pair<Constant, CalibratedConstant>> constants;
    MeasuredNetwork network;
    std::vector<io::MeasuredEntry> entries;
    std::vector<std::string> notes;
    std::string saved; ///< the file that was written; empty where none was
    std::optional<double> wall_seconds;
};

/// The calibration file: values, intervals, residuals and where they come from.
std::string calibration_text(CalibrateAnswer const& answer);

Document document_of(CalibrateAnswer const& answer, io::Catalog const& catalog);
Json json_of(CalibrateAnswer const& answer, io::Catalog const& catalog);
Sheet sheet_of(CalibrateAnswer const& answer);

} // namespace headroom::cli
