#pragma once

#include "setting.hpp"

#include "headroom/document/document.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

using io::left_out_options;
using io::weak_scaling_options;

/// The formulas that `--explain` may open in addition to those of the step, and the step's, for a name of a term:
/// "failures", "stragglers". Empty when the name is of no term.
/// Errors: InputError{usage} for a term that is off, with how to switch it on.
std::vector<Term> explain_left_out(training::Prediction const& prediction, std::vector<Term> const& of_step,
                                   std::string const& wanted);

// ---- how it is reported -------------------------------------------------------------------------------------------

/// Adds the terms that are on, with their shares of the step, and names those that are off: for a first screen.
void add_left_out_in_short(std::vector<Block>& blocks, training::Prediction const& prediction,
                           std::vector<training::LeftOutTerm> const& terms);
/// All terms, with how each comes about.
void add_left_out(std::vector<Block>& blocks, training::Prediction const& prediction,
                  std::vector<training::LeftOutTerm> const& terms);

} // namespace headroom::cli
