#pragma once

#include "headroom/quantity.hpp"
#include "headroom/ranks.hpp"

namespace headroom::training {

// ---- data parallelism ---------------------------------------------------------------------------------------------

/// A data-parallel step in the fewest numbers that decide whether it is bound by communication.
struct DataParallel {
    double parameters = 0.0;  ///< P
    FlopsPerSecond rate;      ///< R, sustained, of one worker
    BytesPerSecond bandwidth; ///< B, each way, of one worker
    Bytes per_parameter;      ///< g, bytes of a gradient element
};

/// Compute time of a local batch of b tokens.
///
///     T_comp = 6 P b / R
///
/// Two operations a parameter and token forward, four backward.
/// Holds for:  dense models whose sequence is short against the hidden size.
/// Assumes:    the rate R is sustained; attention scores are not counted.
/// Source:     [ScalingBook]
Seconds compute_time_data_parallel(DataParallel const& step, double local_batch);

/// Where a fixed global batch of G tokens becomes bound by communication: K with gamma = 1.
///
///     K = 1 + 3 G B / (g R)
///
/// Holds for:  gamma = (K-1) g R / (3 G B), the batch divided evenly.
/// Assumes:    nothing overlaps; ring all-reduce without latency.
/// Source:     [ScalingBook]
double break_even_workers(DataParallel const& step, double global_batch);

/// Break-even number of workers K of data parallelism, with a latency a for each of the ring all-reduce's 2(K-1)
/// messages: the positive root of
///
///     a K^2 + (v - a) K - v = 3 P G / R,   v = g P / B
///
/// The model size P does not cancel: small models are latency-bound.
/// Holds for:  a >= 0, P > 0; a = 0 gives the K above.
/// Assumes:    as above; one buffer holds all gradients.
/// Source:     [ScalingBook], [Thakur2005]
double break_even_workers(DataParallel const& step, double global_batch, Seconds latency);

/// gamma of many workers at a fixed local batch of b tokens.
///
///     gamma = g R / (3 b B)      as K goes to infinity
///
/// The model's size has left the formula.
/// Holds for:  K large; below, multiply by (K-1)/K.
/// Assumes:    as `break_even_workers`.
/// Source:     [ScalingBook]
double weak_scaling_gamma(DataParallel const& step, double local_batch);

/// The local batch at which `weak_scaling_gamma` is 1: b = g R / (3 B). Source: [ScalingBook]
double local_batch_at_break_even(DataParallel const& step);

/// The model size at which a ring all-reduce spends as long on latency as on bytes.
///
///     2(K-1) alpha = 2(K-1)/K g P / B,   so   P = K alpha B / g
///
/// Smaller models are bound by latency.
/// Holds for:  any K >= 2.
/// Assumes:    one buffer holds all gradients.
/// Source:     [PatarasukYuan2009], [Thakur2005]
double parameters_at_latency_crossover(Ranks workers, Seconds latency, BytesPerSecond bandwidth, Bytes per_parameter);

/// Operations of training on T tokens by the rule of thumb 6 N T. Source: [ScalingBook]
Flops training_flops_6n(double parameters, double tokens);

// ---- pipeline -----------------------------------------------------------------------------------------------------

/// Share of a pipelined step in which a stage waits.
///
///     bubble = (p-1) / (v m + p - 1)
///
/// p stages, m micro-batches, v model chunks a stage. Of the whole step; (p-1)/(v m) of the ideal one.
/// Holds for:  1F1B and GPipe (v = 1), interleaved 1F1B with m a multiple of p.
/// Assumes:    equal stages; sending between stages is free.
/// Source:     [Narayanan2021]
double pipeline_bubble_fraction(Ranks stages, Ranks micro_batches, Ranks virtual_stages = Ranks{1});

/// Speed-up of p stages over one: p (1 - bubble). Source: [Narayanan2021]
double pipeline_speedup(Ranks stages, Ranks micro_batches, Ranks virtual_stages = Ranks{1});

} // namespace headroom::training
