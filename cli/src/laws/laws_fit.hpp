#pragma once

#include "output.hpp"

#include "headroom/fit/scaling_answer.hpp"
#include "headroom/fit/scaling_fit.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Options of a fit, wherever its measurements come from.
std::span<Option const> fit_question_options();
fit::FitQuestion read_fit_question(Arguments const& arguments, fit::ScalingData const& data);

/// The options of `laws` that belong to --fit, and what it does with them: laws fitted to a table of measurements.
std::span<Option const> fit_options();
int run_fit(Arguments const& arguments);

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
