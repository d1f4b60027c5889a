#pragma once

#include "headroom/serving/published_serving.hpp"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headroom::fit {

/// A published run with its loads: all that a law needs to predict it.
struct ServingSample {
    serving::PublishedServing const* run = nullptr;
    serving::ServedLoads loads = {};
};

/// Figures of a published run of an engine.
enum class ServingMetric { ttft, tpot, throughput };
inline constexpr std::array serving_metrics{ServingMetric::ttft, ServingMetric::tpot, ServingMetric::throughput};
std::string_view name_of(ServingMetric metric);

/// Predicted and measured figure of a metric; empty where it was not measured. A throughput of one output token is a TTFT.
struct ServingPair {
    double predicted = 0.0, measured = 0.0;
};
std::optional<ServingPair> served_pair(serving::PublishedServing const& run, serving::ServedFigures const& figures,
                                       ServingMetric metric);

/// Fits factors and overheads of engines to published runs; the runs of one family are left out.
///
///     minimise  sum_r w_r^2 rho(log(predicted / measured)) / noise^2 + sum_i z_i^2
///
/// z_i = log(c_i / c_i0) / spread_i; rho is the pseudo-Huber loss; w_r falls with the rows of the family, so that no
/// family outvotes the others. An engine's overheads are pulled to the mean of engines, which is fitted, too. Bands are
/// not made. Deterministic.
serving::ServingCalibration fit_serving(std::span<ServingSample const> samples, std::string const& without = {});

/// The calibration with its bands, and one for each family that never saw its runs.
struct ServingFolds {
    serving::ServingCalibration all;
    std::map<std::string, serving::ServingCalibration> without;
};
/// Errors: InputError{insufficient} with fewer than two families.
ServingFolds fit_serving_folds(std::span<ServingSample const> samples);

} // namespace headroom::fit
