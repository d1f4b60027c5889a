#pragma once

#include "setting.hpp"

#include "headroom/document/document.hpp"
#include "headroom/training/training_answers.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::cli {

// ---- what the speedup laws leave out: how it is asked for --------------------------------------------------------

std::span<Option const> left_out_options();
/// --batch-per-worker: of `plan` alone.
std::span<Option const> weak_scaling_options();

/// The terms that were asked for.
struct LeftOutRequest {
    training::Disturbance disturbance;
    std::optional<training::Failures> failures;
    std::optional<double> critical_batch; ///< sequences
    std::optional<int> batch_per_worker;  ///< sequences

    template <class Asked> void apply(Asked& question) const {
        question.disturbance = disturbance;
        question.failures = failures;
        question.critical_batch = critical_batch;
        if constexpr (requires { question.batch_per_worker; }) { question.batch_per_worker = batch_per_worker; }
    }
};

/// Reads them; defaults taken are listed among the assumptions of `setting`.
/// Errors: InputError{usage} on a missing unit, a number out of range, and options that contradict each other.
LeftOutRequest read_left_out(Arguments const& arguments, Setting& setting);

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
