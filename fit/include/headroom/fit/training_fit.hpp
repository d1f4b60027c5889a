#pragma once

#include "headroom/training/calibration.hpp"
#include "headroom/training/validation.hpp"

#include <map>
#include <span>
#include <stop_token>
#include <string>

namespace headroom::fit {

/// Settings of the fit of the constants; the defaults are those of `make fit`.
struct FitSettings {
    double noise = 0.06; ///< log standard deviation of one run that nothing explains
    double huber = 0.05; ///< log residual beyond which a run pulls linearly, not quadratically
    int iterations = 60;
    double step = 1e-4;        ///< of the differences that slopes are made of, in spreads of a constant
    int threads = 1;           ///< the answer does not depend on it
    bool by_mixture = true;    ///< folds without each mixture, too, and bands
    std::stop_token stop = {}; ///< then Interrupted is thrown
};

/// Fits all constants with a spread to the predicted runs.
///
///     minimise  sum_r w_r^2 rho(log(T_predicted / T_measured)) / noise^2 + sum_i (log(c_i / c_i0) / spread_i)^2
///
/// rho is the pseudo-Huber loss; w_r = (20 + rows of source and accelerator)^-1/4 (20 + rows of source)^-1/4,
/// so that no source outvotes the others, and none of a few rows weighs like a table. Constants with spread 0 stay.
/// Runs of tuned frameworks determine all but the constants of ordinary software, which are fitted to its runs after
/// that, with the others held.
/// Intervals are 90 %, from the curvature at the minimum. Deterministic.
/// Errors: InputError{insufficient} with fewer runs than constants.
training::CalibrationSet fit_training(std::span<training::PublishedRun const> runs,
                                      training::CalibrationSet const& independent, FitSettings const& settings);

/// Fits the constants of ordinary software anew, without the runs of one source, with all others held as they are.
void refit_ordinary(std::span<training::PublishedRun const> runs, std::string const& without,
                    training::CalibrationSet& set, FitSettings const& settings);

/// Pace of each framework with kernels of its own: the weighted median over its runs of the factor on computation that
/// meets the measured step, drawn towards 1 as by three more runs at 1. Runs that are given the pace of a 1-worker row
/// are left out, and so is the source `without`.
std::map<std::string, training::Pace> fit_paces(std::span<training::PublishedRun const> runs,
                                                training::CalibrationSet const& set, std::string const& without);

/// Fits once for every source and once for every mixture, each time without its runs; each fit begins at the values of
/// `start` and ends where a step moves no constant by a thousandth of its spread. The bands of a fold are made of the
/// residuals of the others, so that no row has a say in its own interval.
training::Folds leave_one_source_out(std::span<training::PublishedRun const> runs,
                                     training::CalibrationSet const& start, training::CalibrationSet const& independent,
                                     FitSettings const& settings);

/// Measured over predicted of every run by constants that never saw its source; of mixtures also by constants that never
/// saw its model: those are of the kind `mixture`, the others of `unseen_mixture`.
std::vector<training::Residual> left_out_residuals(std::span<training::PublishedRun const> runs,
                                                   training::CalibrationSet const& set, training::Folds const& folds);

} // namespace headroom::fit
