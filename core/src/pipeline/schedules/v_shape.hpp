#pragma once

#include "headroom/pipeline.hpp"

namespace headroom::schedules {

/// ZBV: two chunks a stage in the shape of a V. A stage runs forward until it holds 2p chunks, then forward, input and
/// weight gradients of both chunks in turn; no stage waits for another before its update.
///
///     bubble = 0 of the period, for t_F = t_Bin = t_W
///     held(i) = (min(2p - 1 - i, m) + min(i + 1, m))/2: p on every stage from m = 2p - 1 on
///
/// Holds for:  m >= 2p - 1, equal stages, no hops: exact.
/// Source:     [Qi2024]
PipelineOrder zbv_order(PipelineShape const& shape);
std::optional<double> zbv_bubble(PipelineShape const& shape, StageTimes const& times);
double zbv_held(PipelineShape const& shape, int stage);

/// V-Half: the building block whose forward passes go down two slots a stage and up one, repeated every six slots; what
/// waits is pulled ahead as far as the memory of the repeated block allows.
///
///     bubble <= (p-1)(t_F + t_Bin + t_W)/2 of the period: half of 1F1B's, for t_F = t_Bin = t_W
///     held    = floor((p + 2)/2), the most of all stages
///
/// In slots of a sixth of a stage's time the bubble is 3p - 4 for odd p, 3p - 7 for even p up to 12 and 3p - 5 above;
/// nothing on one stage, none for two.
/// Holds for:  m > p (for two stages m >= 4), equal stages, no hops: exact up to 64 stages, where it was run.
/// Source:     [Qi2024b]
PipelineOrder v_half_order(PipelineShape const& shape);
std::optional<double> v_half_bubble(PipelineShape const& shape, StageTimes const& times);
double v_half_held(PipelineShape const& shape, int stage);

/// V-Min: the building block whose passes go down and up one slot a stage, repeated every six slots and squeezed.
///
///     bubble = (4p - 5 + 2 [3 divides p]) (t_F + t_Bin + t_W)/6 of the period: two thirds of 1F1B's, for t_F = t_Bin = t_W
///     held   = floor((p + 4)/3), the most of all stages
///
/// Holds for:  p >= 2 (one stage: none), m >= p, equal stages, no hops: exact.
/// Source:     [Qi2024b]
PipelineOrder v_min_order(PipelineShape const& shape);
std::optional<double> v_min_bubble(PipelineShape const& shape, StageTimes const& times);
double v_min_held(PipelineShape const& shape, int stage);

} // namespace headroom::schedules
