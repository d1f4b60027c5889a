#pragma once

#include "headroom/ranks.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom::laws {

// ---- memory-bounded speed-up --------------------------------------------------------------------------------------

/// Speed-up when the problem grows until it fills the memory of K workers.
///
///     S(K) = (s + (1-s) G) / (s + (1-s) G / K),   G = K^e
///
/// G says how much more divisible work K times the memory holds. e = 0 is Amdahl's law, e = 1 Gustafson's,
/// e = 3/2 a product of matrices (n^2 memory, n^3 operations). s is the serial share of the time that one worker
/// takes for the problem that fills its own memory.
/// Holds for:  0 <= s <= 1, e >= 0.
/// Assumes:    as `amdahl_speedup`; the serial part keeps its size.
/// Source:     [SunNi1990]
double sun_ni_speedup(double serial_fraction, Ranks workers, double growth_exponent);

// ---- Universal Scalability Law ------------------------------------------------------------------------------------

/// Contention and coherency of a system.
///
///     X(K) = gamma K / D(K),   D(K) = 1 + alpha (K-1) + beta K (K-1)
///
/// alpha is what waits for one shared thing, beta what every pair of workers pays to agree.
/// Holds for:  D(K) > 0: below `usl_breaks_at`. With beta = 0 it is Amdahl's law, s = alpha.
/// Assumes:    all workers are alike; the load is the same at every K.
/// Source:     [Gunther1993]
struct UniversalScalability {
    double alpha = 0.0; ///< contention; below zero where the measurements were super-linear
    double beta = 0.0;  ///< coherency, never below zero
    double gamma = 1.0; ///< throughput of one worker
};

/// X(K) / gamma; empty from `usl_breaks_at` on. Source: [Gunther1993]
std::optional<double> usl_speedup(UniversalScalability const& law, Ranks workers);

/// The K >= 1 from which the law has no throughput, D(K) <= 0; only an alpha below zero has one.
/// Source: [Gunther1993]
std::optional<double> usl_breaks_at(UniversalScalability const& law);

/// Where more workers begin to hurt: K* = sqrt((1-alpha)/beta), and 1 where that is less or alpha is above 1; else empty
/// when beta = 0, and where the law breaks. Source: [Gunther1993]
std::optional<double> usl_peak(UniversalScalability const& law);

/// The whole K of the largest throughput, the smallest of equals: the first with beta K (K+1) >= 1 - alpha.
/// Empty as `usl_peak`. Source: [Gunther1993]
std::optional<std::int64_t> usl_best_workers(UniversalScalability const& law);

/// The speed-up that no K exceeds: at `usl_best_workers`, where there is one, else 1/alpha; empty when neither bounds it.
/// Source: [Gunther1993]
std::optional<double> usl_ceiling(UniversalScalability const& law);

/// The smallest K whose speed-up is at least `share` of the ceiling; ties count. Empty without a ceiling.
/// Source: [Gunther1993]
std::optional<std::int64_t> workers_for_share_of_ceiling(UniversalScalability const& law, double share);

// ---- from measurements --------------------------------------------------------------------------------------------

/// The serial fraction that a measured speed-up implies.
///
///     e = (1/S - 1/K) / (1 - 1/K)
///
/// The same e at every K is a serial part; e that rises with K is overhead; e below zero is a speed-up above K
/// (super-linear: an assumption broke, such as memory per worker), and is returned as it is.
/// Holds for:  K >= 2, S > 0; empty at K = 1, where nothing is known.
/// Source:     [KarpFlatt1990]
std::optional<double> karp_flatt_fraction(double speedup, double workers);

// ---- isoefficiency ------------------------------------------------------------------------------------------------

/// One term of a total overhead: c W^w K^k log2(K)^l, in the units of the work W. Exponents are not negative.
struct OverheadTerm {
    double coefficient = 0.0;
    double work_exponent = 0.0; ///< below 1: else no problem is large enough
    double worker_exponent = 0.0;
    double log_exponent = 0.0;
};

/// T_o(W, K) = K T_K - W: overhead of all workers together, apart from the work. Source: [Grama1993]
double total_overhead(std::vector<OverheadTerm> const& terms, double work, double workers);

/// E = W / (W + T_o(W, K)); 1 without overhead. Source: [Grama1993]
double efficiency_of_work(std::vector<OverheadTerm> const& terms, double work, double workers);

/// Smallest problem that keeps the efficiency E on K workers.
///
///     W = E/(1-E) T_o(W, K)
///
/// Holds for:  0 < E < 1; work exponents below 1, where the solution is the only one. 0 where T_o(W, K) is 0 for any
///             W (log2 1 at one worker); empty where W is no finite number.
/// Assumes:    the overhead is the formula at every size.
/// Source:     [Grama1993]
std::optional<double> isoefficient_work(std::vector<OverheadTerm> const& terms, double workers, double efficiency);

/// The largest K at which work W still has the efficiency; ties count. Empty when one worker has not, and when K has
/// no bound (an overhead that does not grow with K). Source: [Grama1993]
std::optional<std::int64_t> largest_efficient_workers(std::vector<OverheadTerm> const& terms, double work,
                                                      double efficiency);

} // namespace headroom::laws
