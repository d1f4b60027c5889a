#pragma once

#include "headroom/training/pipeline.hpp"

namespace headroom::training::schedules {

/// GPipe: all micro-batches forward, then all backward, the last one first.
///
///     bubble = (p-1)(t_F + t_B),   t_B = t_Bin + t_W
///     held   = m
///
/// Holds for:  any p and m, equal stages without transfers: exact.
/// Source:     [Huang2019]
PipelineOrder gpipe_order(PipelineShape const& shape);
double gpipe_held(PipelineShape const& shape, int stage);

} // namespace headroom::training::schedules
