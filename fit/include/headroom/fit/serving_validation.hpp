#pragma once

#include "headroom/issue.hpp"
#include "headroom/serving/published_serving.hpp"
#include "headroom/training/calibration.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::fit {

/// Figures of a published run of an engine.
enum class ServingMetric { ttft, tpot, throughput };
inline constexpr std::array serving_metrics{ServingMetric::ttft, ServingMetric::tpot, ServingMetric::throughput};
std::string_view name_of(ServingMetric metric);

/// A published run and its prediction.
struct ServingComparison {
    serving::PublishedServing const* run = nullptr;
    serving::ServedFigures figures = {};

    /// Predicted over measured figure, less 1; empty where it was not measured. A throughput of one output token is a
    /// TTFT.
    [[nodiscard]] std::optional<double> error(ServingMetric metric) const;
};

/// Relative errors of one figure. `families_` figures weigh families alike: the median is that of the families' medians,
/// the 90th percentile is over all rows, each with the weight 1 / (rows of its family).
struct ServingErrors {
    int rows = 0, families = 0;
    double median_error = 0.0; ///< signed: above zero where the predicted figure is larger
    double median_absolute_error = 0.0, p90_absolute_error = 0.0;
    double families_median_absolute_error = 0.0, families_p90_absolute_error = 0.0;
};

/// Rows that agree in one respect, by one figure.
struct ServingGroup {
    std::string by, name; ///< "engine" and "vllm"; "all" and "all"
    ServingMetric metric = ServingMetric::tpot;
    ServingErrors errors = {};
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

    [[nodiscard]] ServingErrors const* errors(std::string_view by, std::string_view name, ServingMetric metric) const;
};

/// Predicts each run and compares. Pure and deterministic. `runs` must outlive the result.
ServingValidation validate_serving(std::span<serving::PublishedServing const> runs,
                                   training::Calibration const& constants);

/// Answer of `headroom validate --serving`.
struct ServingValidationAnswer {
    std::string runs_name;
    ServingValidation validation;
    std::vector<Issue> issues = {}; ///< of the table
};
FieldTable const& field_table_of(ServingValidationAnswer const*);
FieldTable const& field_table_of(ServingComparison const*);

} // namespace headroom::fit
