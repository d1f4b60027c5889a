#pragma once

#include "headroom/training/pipeline.hpp"

#include <string>

/// Orders of passes of every schedule, what a stage holds, and what cannot run.
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

/// ZBV: two chunks a stage in the shape of a V. A stage runs forward passes until it holds 2p chunks, then alternates
/// forward passes, input gradients and weight gradients of both chunks; no stage synchronises with another before its
/// update.
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
