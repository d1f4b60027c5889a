#pragma once

#include "headroom/training/pipeline.hpp"

#include <string>

namespace headroom::training::schedules {

/// DualPipe: half of the micro-batches enter at the first stage and half at the last, so that every stage holds two
/// parts of the model and alternates between the directions. Forward and backward passes of opposite directions run as
/// one, t_FB together.
///
///     bubble = (p/2 - 1)(t_FB + t_B - 3 t_W),   t_B = t_Bin + t_W
///     held   = p + 1 on every stage
///
/// Holds for:  even p, even m >= 2p, t_W <= t_F = t_Bin, t_FB = t_F + t_B, equal stages without transfers: exact. Other
///             times: the longer of k (2 t_F + t_Bin - t_W) and (k-1) t_F + k (2 t_Bin - t_W), k = p/2 - 1.
/// Source:     [DualPipe]
std::string dualpipe_impossible(PipelineShape const& shape);
PipelineOrder dualpipe_order(PipelineShape const& shape);
double dualpipe_held(PipelineShape const& shape, int stage);

/// DualPipeV: DualPipe folded in the middle. p stages hold the 2p parts of one model in the shape of a V.
///
///     bubble = (p - 1)(t_FB + t_B - 3 t_W),   times of one chunk, half a stage
///     held   = p + 1/2 on every stage
///
/// Holds for:  m >= 2p, times as for DualPipe (k = p - 1), equal stages without transfers: exact.
/// Source:     [DualPipe]
std::string dualpipe_v_impossible(PipelineShape const& shape);
PipelineOrder dualpipe_v_order(PipelineShape const& shape);
double dualpipe_v_held(PipelineShape const& shape, int stage);

} // namespace headroom::training::schedules
