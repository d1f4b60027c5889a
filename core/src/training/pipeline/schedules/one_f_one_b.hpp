#pragma once

#include "headroom/training/pipeline.hpp"

namespace headroom::training::schedules {

/// 1F1B with a flush: stage i runs p - 1 - i forward passes ahead, then alternates one forward and one backward pass.
///
///     bubble  = (p-1)(t_F + t_B)
///     held(i) = min(p - i, m)
///
/// Transfers are exposed: a stage that holds p - i micro-batches continues when the first comes back, so one round trip
/// over p stages is exposed every p micro-batches, however short the transfers are.
/// Holds for:  any p and m, equal stages without transfers: exact.
/// Source:     [Narayanan2021]
PipelineOrder one_f_one_b_order(PipelineShape const& shape);
double one_f_one_b_held(PipelineShape const& shape, int stage);

/// Interleaved 1F1B: v chunks a stage, p micro-batches through one chunk and then through the next; stage i runs
/// 2 (p-1-i) + (v-1) p passes ahead.
///
///     bubble  = (p-1)(t_F + t_B)/v
///     held(i) = min((v-1) p + 1 + 2 (p-1-i), m v)/v,   on stage 0: p (1 + (p-1)/(p v))
///
/// A micro-batch arrives one pass before it is needed, so transfers overlap with passes except while the pipeline fills
/// and drains.
/// Holds for:  m a multiple of p, equal stages without transfers: exact.
/// Source:     [Narayanan2021], [MegatronLM]
std::string interleaved_impossible(PipelineShape const& shape);
PipelineOrder interleaved_order(PipelineShape const& shape);
double interleaved_held(PipelineShape const& shape, int stage);

} // namespace headroom::training::schedules
