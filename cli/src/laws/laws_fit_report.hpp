#pragma once

#include "output.hpp"

#include "headroom/fit/scaling_answer.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

using fit::FitAnswer;

/// A measured or fitted value with its unit.
std::string value_words(FitAnswer const& answer, double value);

Chart fit_chart(FitAnswer const& answer);
/// Conclusion from the best law, in a sentence or two.
std::string fit_verdict(FitAnswer const& answer);
/// The fit for people, from why this law was chosen to what is assumed; `data` says what was fitted.
std::vector<Block> fit_blocks(FitAnswer const& answer, std::string const& data);
Document document_of(FitAnswer const& answer, io::Catalog const& catalog);

} // namespace headroom::cli
