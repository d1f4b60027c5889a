#pragma once

#include "output.hpp"

#include "headroom/fit/calibration_answer.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/training_log.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace headroom::cli {

/// Evidence as it was named.
struct NamedEvidence {
    std::vector<std::string> files;
    std::filesystem::path store;        ///< of measurements; empty: none is asked
    std::vector<std::string> campaigns; ///< of it: numbers, "last", or kinds
    io::LogQuestion log;                ///< facts that logs may omit
    io::TrainingLogQuestion run = {};   ///< facts that training logs may omit
};

/// Reads all evidence: folders and files of traces together as one set, benchmark and training logs, calibration files (TOML),
/// and campaigns of a store.
/// Errors: InputError{unreadable} or {insufficient} where a file is none of these, or gives nothing.
fit::CalibrationEvidence read_evidence(NamedEvidence const& named);

/// The campaigns that are meant, each once, in the order in which they are named.
/// Errors: InputError{unreadable} where there is no such store; {usage} for an unknown campaign; {insufficient} for none.
std::vector<measure::Campaign> chosen_campaigns(NamedEvidence const& named);

/// The calibration file: values, intervals, residuals and their sources.
std::string calibration_text(fit::CalibrationAnswer const& answer);

/// Origin of each constant, measured ones first.
std::vector<Block> explained_blocks(fit::CalibrationAnswer const& answer);
/// "gemm_hopper: A and B differ by x1.2, ...; joined to ..."
std::string words_of(fit::Disagreement const& one);

Document document_of(fit::CalibrationAnswer const& answer, io::Catalog const& catalog);

} // namespace headroom::cli
