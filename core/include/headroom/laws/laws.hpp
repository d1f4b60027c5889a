#pragma once

#include "headroom/quantity.hpp"
#include "headroom/ranks.hpp"

#include <cstdint>
#include <optional>

namespace headroom::laws {

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

} // namespace headroom::laws
