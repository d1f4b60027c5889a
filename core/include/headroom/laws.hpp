#pragma once

#include "headroom/quantity.hpp"
#include "headroom/ranks.hpp"

#include <cstdint>
#include <optional>

namespace headroom {

// ---- speed-up laws ------------------------------------------------------------------------------------------------

/// Speed-up of K workers on a fixed problem of which a share s does not divide.
///
///     S(K) = 1 / (s + (1-s)/K)
///
/// s is the serial share of the time on ONE worker; for a share measured elsewhere see `Profile`.
/// Holds for:  0 <= s <= 1, any K >= 1.
/// Assumes:    the rest divides perfectly; adding workers costs nothing.
/// Source:     [Amdahl1967]
double amdahl_speedup(double serial_fraction, Ranks workers);

/// Speed-up of K workers when the divisible part grows with them.
///
///     S(K) = K - s (K-1)
///
/// s is the serial share of the time on K workers.
/// Holds for:  0 <= s <= 1, any K >= 1.
/// Assumes:    the serial part keeps its size; the rest grows in proportion to K.
/// Source:     [Gustafson1988]
double gustafson_speedup(double serial_fraction, Ranks workers);

/// S(K) / K of `amdahl_speedup`. Source: [Amdahl1967]
double amdahl_efficiency(double serial_fraction, Ranks workers);

/// The speed-up that no number of workers exceeds: 1 / s; empty when s = 0, where there is none.
/// Source: [Amdahl1967]
std::optional<double> amdahl_ceiling(double serial_fraction);

/// The smallest K whose speed-up is at least `share` of the ceiling.
///
///     K >= q (1-s) / (s (1-q))
///
/// Ties count as reached (slack 1e-12).
/// Holds for:  0 < q < 1; empty when s = 0 (no ceiling) or K does not fit.
/// Assumes:    as `amdahl_speedup`.
/// Source:     [Amdahl1967]
std::optional<std::int64_t> workers_for_share_of_ceiling(double serial_fraction, double share);

/// Speedup of one doubling between two worker counts; 2 is perfect, 1 is nothing.
///
///     (T_before / T_after)^(1 / log2(K_after / K_before))
///
/// Holds for:  K_after > K_before. Source: [Amdahl1967]
double marginal_speedup_per_doubling(Seconds before, Seconds after, int workers_before, int workers_after);
/// Speedup of a doubling that is worth taking: at the knee the last doubling still gave as much.
inline constexpr double knee_gain = 1.6;

// ---- a profile and the worker count it belongs to -----------------------------------------------------------------

/// Two parts of a step, measured on `workers`: one that divides as workers are added, one that stays.
struct Profile {
    Seconds compute;       ///< divides
    Seconds communication; ///< stays
    Ranks workers;         ///< K0, where both were measured
};

/// Step time on K workers.
///
///     T(K) = T_comm + T_comp K0 / K
///
/// Holds for:  any K >= 1.
/// Assumes:    communication does not change with K; compute divides perfectly.
/// Source:     [Amdahl1967]
Seconds step_at(Profile const& profile, Ranks workers);

/// T_comm / T(K): the share that does not divide, at K workers. At K = K0 it is what the profile shows; at
/// K = 1 it is Amdahl's serial fraction. Source: [Amdahl1967]
double serial_share_at(Profile const& profile, Ranks workers);

/// T(K0) / T(K): speed-up over the profiled worker count, not over one worker. Source: [Amdahl1967]
double speedup_over_k0(Profile const& profile, Ranks workers);

/// T(K0) / T_comm: the ceiling of `speedup_over_k0`; empty without communication. Source: [Amdahl1967]
std::optional<double> ceiling_over_k0(Profile const& profile);

/// T(1) / T_comm: the ceiling over one worker; empty without communication. Source: [Amdahl1967]
std::optional<double> ceiling_over_one_worker(Profile const& profile);

/// The smallest K whose speed-up over K0 is at least `share` of its ceiling; ties count.
/// K >= K0 q (1-s) / (s (1-q)), s the share at K0. Source: [Amdahl1967]
std::optional<std::int64_t> workers_for_share_of_ceiling(Profile const& profile, double share);

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

/// Gradient all-reduce over K workers, bandwidth only: T_comm = 2(K-1)/K g P / B.
/// Source: [PatarasukYuan2009]
Seconds gradient_all_reduce(DataParallel const& step, Ranks workers);

/// Where a fixed global batch of G tokens becomes bound by communication: K with gamma = 1.
///
///     K = 1 + 3 G B / (g R)
///
/// Holds for:  gamma = (K-1) g R / (3 G B), the batch divided evenly.
/// Assumes:    nothing overlaps; ring all-reduce without latency.
/// Source:     [ScalingBook]
double break_even_workers(DataParallel const& step, double global_batch);

/// The same with a latency a for each of the ring's 2(K-1) messages: the positive K of
///
///     a K^2 + (v - a) K - v = 3 P G / R,   v = g P / B
///
/// The model's size stays in it: a small model is bound by latency.
/// Holds for:  a >= 0, P > 0; without latency it is the K above.
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

// ---- optimizer state ----------------------------------------------------------------------------------------------

/// Bytes that training keeps for each parameter.
struct StateBytes {
    Bytes weights, gradients, first_moment, second_moment;
    [[nodiscard]] constexpr Bytes total() const { return weights + gradients + first_moment + second_moment; }
};

/// Adam wholly in 32 bits: 4 + 4 + 4 + 4 = 16 bytes a parameter. Source: [Rajbhandari2020]
StateBytes adam_fp32_bytes_per_parameter();

/// State of P parameters on each of N ranks when all of it is sharded (ZeRO-3): total P / N.
/// Source: [Rajbhandari2020]
Bytes zero3_state_bytes(StateBytes per_parameter, double parameters, Ranks ranks);

} // namespace headroom
