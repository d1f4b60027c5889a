#pragma once

#include "calibrate/calibrate_report.hpp"

#include "headroom/io/benchmark_log.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// How evidence is read.
struct CalibrateQuestion {
    std::vector<std::string> evidence;
    io::LogQuestion log; ///< what logs may leave out; its system and nodes hold for traces too
    std::optional<Accelerator> accelerator;
    std::string catalog_folder;
};

/// Reads all evidence: folders and files of traces together as one set; benchmark logs; calibration files (TOML).
/// Errors: InputError{unreadable} or {insufficient} where a piece is none of these, or gives nothing.
CalibrateAnswer read_evidence(CalibrateQuestion const& question, io::Catalog const& catalog);

} // namespace headroom::cli
