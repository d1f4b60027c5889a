#pragma once

#include "headroom/fit/serving_fit.hpp"
#include "headroom/issue.hpp"
#include "headroom/training/calibration.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::fit {

/// A published run and its prediction.
struct ServingComparison {
    serving::PublishedServing const* run = nullptr;
    double held_batch = 0.0;                            ///< sequences of an iteration
    serving::ServedFigures figures = {}, left_out = {}; ///< by the constants in use; by those that never saw its family
    serving::ServingBands bands = {};                   ///< made without its family

    /// Predicted over measured figure, less 1; empty where it was not measured.
    [[nodiscard]] std::optional<double> error(ServingMetric metric) const;
    /// By the constants that never saw its family.
    [[nodiscard]] std::optional<double> left_out_error(ServingMetric metric) const;
    /// Whether the measured figure is within the 90 % interval made without its family.
    [[nodiscard]] std::optional<bool> inside(ServingMetric metric) const;
};

/// Relative errors of one figure. `families_` figures weigh families alike: the median is that of the families' medians,
/// the 90th percentile is over all rows, each with the weight 1 / (rows of its family).
struct ServingErrors {
    int rows = 0, families = 0;
    double median_error = 0.0; ///< signed: above zero where the predicted figure is larger
    double median_absolute_error = 0.0, p90_absolute_error = 0.0;
    double families_median_absolute_error = 0.0, families_p90_absolute_error = 0.0;
};

/// Errors by the constants in use and by those that never saw the family of a row.
struct ServingBothErrors {
    ServingErrors in_use = {}, left_out = {};
    double coverage = 0.0; ///< of the 90 % intervals, made without the family; families weigh alike
};

/// Rows that agree in one respect, by one figure.
struct ServingGroup {
    std::string by, name; ///< "engine" and "vllm"; "all" and "all"
    ServingMetric metric = ServingMetric::tpot;
    ServingBothErrors errors = {};
};

/// A row that is not compared.
struct LeftServing {
    serving::PublishedServing const* run = nullptr;
    std::string reason;
};

/// Every measured run compared.
struct ServingValidation {
    std::vector<ServingComparison> rows;
    std::vector<LeftServing> skipped; ///< cannot be predicted
    std::vector<LeftServing> refused; ///< impossible: faster than the memory's peak
    std::vector<ServingGroup> groups; ///< all, by family, engine, accelerator, batch, precision

    [[nodiscard]] ServingBothErrors const* errors(std::string_view by, std::string_view name,
                                                  ServingMetric metric) const;
};

/// Loads of every run that can be predicted and is possible; the others with their reasons.
struct ServingSamples {
    std::vector<ServingSample> samples;
    std::vector<LeftServing> skipped, refused;
};
ServingSamples serving_samples(std::span<serving::PublishedServing const> runs, training::Calibration const& constants);

/// Predicts each run by the constants in use and by the fold without its family, and compares. Of tables of one's own the
/// folds may lack a family: then its rows are predicted by the constants in use. Pure and deterministic. `runs` must
/// outlive the result.
ServingValidation validate_serving(ServingSamples samples, serving::ServingCalibration const& calibration,
                                   std::map<std::string, serving::ServingCalibration> const& without);

/// Answer of `headroom validate --serving`.
struct ServingValidationAnswer {
    std::string runs_name;
    ServingValidation validation;
    std::vector<Issue> issues = {}; ///< of the table
};
FieldTable const& field_table_of(ServingValidationAnswer const*);
FieldTable const& field_table_of(ServingComparison const*);

} // namespace headroom::fit
