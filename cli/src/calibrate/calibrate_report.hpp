#pragma once

#include "output.hpp"

#include "headroom/fit/calibration_answer.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// The calibration file: values, intervals, residuals and their sources.
std::string calibration_text(fit::CalibrationAnswer const& answer);

/// Origin of each constant, measured ones first.
std::vector<Block> explained_blocks(fit::CalibrationAnswer const& answer);
/// "gemm_hopper: A and B differ by x1.2, ...; joined to ..."
std::string words_of(fit::Disagreement const& one);

Document document_of(fit::CalibrationAnswer const& answer, io::Catalog const& catalog);

} // namespace headroom::cli
