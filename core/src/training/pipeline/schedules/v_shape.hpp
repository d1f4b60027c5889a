#pragma once

#include "headroom/training/pipeline.hpp"

namespace headroom::training::schedules {

/// ZBV: two chunks a stage in the shape of a V. A stage runs forward until it holds 2p chunks, then forward, input and
/// weight gradients of both chunks in turn; no stage waits for another before its update.
///
///     bubble  = (p-1)(t_Bin - t_W) of the period: none for t_Bin = t_W
///     held(i) = (min(2p - 1 - i, m) + min(i + 1, m))/2: p on every stage from m = 2p - 1 on
///
/// Holds for:  m >= 2p - 1, t_W <= t_F <= t_Bin, equal stages without transfers: exact. The source: none for equal passes.
/// Source:     [Qi2024]
PipelineOrder zbv_order(PipelineShape const& shape);
double zbv_held(PipelineShape const& shape, int stage);

/// V-Half: the building block whose forward passes go down two slots a stage and up one, repeated every six slots. Passes
/// that are ready run early if the memory of the repeated block allows.
///
///     bubble <= (p-1)(t_F + t_Bin + t_W)/2 of the period: half of 1F1B's, for t_F = t_Bin = t_W
///     held    = floor((p + 2)/2), the most of all stages
///
/// Holds for:  m >= p + 2, equal stages without transfers. With t_Bin > t_F + t_W every micro-batch adds a bubble, because
///             the block has two input gradients in succession.
/// Source:     [Qi2024b]
PipelineOrder v_half_order(PipelineShape const& shape);
double v_half_held(PipelineShape const& shape, int stage);

/// V-Min: the building block whose passes go down and up one slot a stage, repeated every six slots and squeezed.
///
///     bubble = m (2 t_Bin - t_F - t_W) + p t_F + (p - 3) t_Bin + t_W/2 of the period, 3 not dividing p > 2
///            = (4p - 5)(t_F + t_Bin + t_W)/6 for equal passes: two thirds of 1F1B's
///     held   = floor((p + 4)/3), the most of all stages
///
/// A micro-batch takes six slots of the longest pass in the steady state: unequal passes add a bubble in each.
/// Holds for:  m >= p > 2 (two stages: m > 2), t_W <= t_F <= t_Bin, equal stages without transfers.
/// Source:     [Qi2024b]
PipelineOrder v_min_order(PipelineShape const& shape);
double v_min_held(PipelineShape const& shape, int stage);

} // namespace headroom::training::schedules
