#pragma once

#include "headroom/training/pipeline.hpp"

namespace headroom::training::schedules {

/// PipeDream: 1F1B without a flush. Every micro-batch has its own update. A stage keeps the weights of a micro-batch's
/// forward pass until its backward pass, so it holds as many weight versions as activations.
///
///     bubble      = 0 of the period: the next steps fill it
///     held(i)     = min(p - i, m)
///     versions(i) = p - i, stale by p - 1 - i updates
///
/// The order covers one step of m micro-batches among many. It is that of 1F1B; its makespan includes a warm-up and a
/// drain that a long run has once.
/// Holds for:  m >= p, equal stages, no transfers.
/// Source:     [Harlap2018]
PipelineOrder pipedream_order(PipelineShape const& shape);
double pipedream_held(PipelineShape const& shape, int stage);
int pipedream_versions(PipelineShape const& shape, int stage);
int pipedream_staleness(PipelineShape const& shape, int stage);

} // namespace headroom::training::schedules
