#pragma once

#include "headroom/network/measured_collective.hpp"
#include "headroom/training/calibration.hpp"

#include <array>
#include <span>

namespace headroom::fit {

/// The constants of collectives: what they reach of each link's rate, and the time to start one.
inline constexpr std::array collective_constants{
    training::Constant::nvlink_volta,     training::Constant::nvlink_ampere, training::Constant::nvlink_hopper,
    training::Constant::nvlink_blackwell, training::Constant::pcie,          training::Constant::other_scale_up,
    training::Constant::scale_out,        training::Constant::base_latency};

/// A measured collective on the machine that its words stand for.
struct PlacedCollective {
    network::MeasuredCollective row;
    Cluster cluster;
};

/// Time of a collective in the step model, the start included: base_latency + `fastest` on `calibrated_fabric`.
Seconds step_model_time(PlacedCollective const& collective, training::Calibration const& constants);

/// Fixes the constants of collectives from benchmarks of them, before any run is fitted: all-reduce, all-gather and
/// reduce-scatter of at least 1 MB for the rates, smaller ones for the start.
///
///     minimise  sum_t 1/n_t sum_r rho(log(T_predicted / T_measured)) / noise^2 + sum_i (log(c_i / c_i0) / spread_i)^2
///
/// A table t of n_t rows of one kind counts as one measurement, with an error of 15 %; rho is the pseudo-Huber loss from 10 %.
/// What tables move is `fitted` and says by how many systems; what they do not determine stays as it was. Either way the result is held
/// (spread 0). Source: [HollandWelsch1977]
training::CalibrationSet fit_collectives(std::span<PlacedCollective const> rows,
                                         training::CalibrationSet const& independent);

} // namespace headroom::fit
