#pragma once

#include "headroom/training/likeness.hpp"
#include "headroom/training/validation.hpp"

#include <string>
#include <vector>

namespace headroom::training {

/// A run predicted before and after the smallest run of its family was measured.
struct ScaledRun {
    PublishedRun const* run = nullptr;
    PublishedRun const* anchor = nullptr; ///< the smallest run of the family
    Seconds before, after;
    double error_before = 0.0, error_after = 0.0; ///< predicted / measured - 1
    double factor = 1.0;                          ///< that the measured step gave
    bool inside_before = false, inside_after = false;
    bool clipped = false;      ///< the anchor lies outside of its own interval
    bool same_replica = false; ///< the plan of a replica is that of the anchor: only their number differs
    double width_before = 1.0, width_after = 1.0; ///< half-width of the interval: square root of high over low
};

/// Errors before and after, of some of them.
struct ScaleSummary {
    std::string by, name;
    int rows = 0;
    double median_before = 0.0, p90_before = 0.0, median_after = 0.0, p90_after = 0.0; ///< absolute errors
    double coverage_before = 0.0, coverage_after = 0.0;
    double width_before = 1.0, width_after = 1.0; ///< medians
};

struct ScaleValidation {
    std::vector<ScaledRun> rows;
    int families = 0;
    std::vector<ScaleSummary> groups; ///< by "kind", "source" and "plan"; first `by` "all"
};

/// ln(measured / predicted) of every predicted row that counts, for frameworks that share kernels, in the order of
/// rows.
std::vector<LeftOutResidual> residuals_of(Validation const& left_out);

/// Statistics of similar rows from left-out residuals, excluding rows of source `without`.
WarmStart warm_start_of(std::span<LeftOutResidual const> residuals, std::string const& without = {});

/// Predicts each run that uses more accelerators than the smallest run of its family, without and with the measured
/// step of that smallest run. A family has one source, model, accelerator, framework, precision, sequence length, set
/// of trained weights and offload. Its smallest run has the fewest accelerators, then the smallest batch, then the
/// first place in the table. Constants and similarity statistics exclude the run's source. Frameworks with kernels of
/// their own are anchored by `anchors` instead. `left_out`: these runs by `validate_left_out`.
ScaleValidation leave_one_scale(std::span<PublishedRun const> runs, CalibrationSet const& set, Folds const& folds,
                                Validation const& left_out);

ScaleSummary summarise_scales(std::string by, std::string name, std::span<ScaledRun const> rows);

} // namespace headroom::training
