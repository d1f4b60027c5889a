#pragma once

#include "output.hpp"

#include "headroom/fit/communication_fit_answer.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// The level in words: "between nodes".
std::string level_words(fit::FittedLevel const& level);
/// "file:line" of a row, as far as known.
std::string place_of(network::MeasuredCollective const& row);

/// Measured and fitted, of one fit: bus bandwidth over size, or time where the collective has none; and its residuals.
std::vector<Chart> comm_fit_charts(fit::CommunicationFitAnswer const& answer, fit::CommunicationFit const& fit);

/// A row a fit: group, number of segments, alpha and bus bandwidth.
Table fits_table(fit::CommunicationFitAnswer const& answer);
Document document_of(fit::CommunicationFitAnswer const& answer, io::Catalog const& catalog);

} // namespace headroom::cli
