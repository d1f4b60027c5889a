#pragma once

#include "headroom/training/pipeline.hpp"

namespace headroom::training::schedules {

/// ZB-H1: 1F1B whose weight gradients are separate passes, delayed until the stage holds p micro-batches.
///
///     bubble = (p-1)(t_F + t_Bin - min(t_W, t_F, t_Bin))
///     held   = min(p, m) on every stage
///
/// A transfer's round trip overlaps with a weight gradient up to the latter's duration.
/// Holds for:  m >= p, equal stages without transfers: exact.
/// Source:     [Qi2024]
PipelineOrder zb_h1_order(PipelineShape const& shape);
double zb_h1_held(PipelineShape const& shape, int stage);

/// ZB-2P: the schedule that its source calls ZB-H2, within the source's memory limit 2p. Twice as many passes ahead fill
/// the bubble, and no stage waits for another before its update.
///
///     bubble = (p-1) max(0, t_F + t_Bin - 2 t_W, t_Bin - t_F),   between the stage's first and last pass
///     held   = min(2p - 1, m) on every stage
///
/// Holds for:  m >= 2p - 1, equal stages without transfers: exact.
/// Source:     [Qi2024]
PipelineOrder zb_2p_order(PipelineShape const& shape);
double zb_2p_held(PipelineShape const& shape, int stage);

} // namespace headroom::training::schedules
