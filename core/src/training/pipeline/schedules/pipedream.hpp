#pragma once

#include "headroom/training/pipeline.hpp"

namespace headroom::training::schedules {

/// PipeDream: 1F1B without a flush. Every micro-batch is an update of its own; a stage keeps the weights with which a
/// micro-batch went forward until it has come back, so that versions of the weights pile up as activations do.
///
///     bubble      = 0 of the period: the next steps fill it
///     held(i)     = min(p - i, m)
///     versions(i) = p - i, stale by p - 1 - i updates
///
/// Its rows are those of one step of m micro-batches among many: they are told as 1F1B's, whose makespan counts a filling
/// and draining that a long run sees once.
/// Holds for:  m >= p, equal stages, no hops.
/// Source:     [Harlap2018]
PipelineOrder pipedream_order(PipelineShape const& shape);
std::optional<double> pipedream_bubble(PipelineShape const& shape, StageTimes const& times);
double pipedream_held(PipelineShape const& shape, int stage);
int pipedream_versions(PipelineShape const& shape, int stage);
int pipedream_staleness(PipelineShape const& shape, int stage);

} // namespace headroom::training::schedules
