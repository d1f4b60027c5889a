#pragma once

#include "headroom/laws/laws.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom::laws {

/// The time of a step over the number of workers: work that divides, communication that does not.
///
///     N(K) = a + c log2 K + d K,   or d (K - 1) where the chain is counted in links
///     T(K) = W/K + N(K) - min(o N(K), W/K)  =  max(W/K + (1-o) N(K), N(K))
///
/// At most the share o of the communication overlaps with the computation, and no longer than the computation lasts:
/// as K grows there is less to overlap with, and in the end T is N. T falls and then rises, once, because W/K plus
/// what grows has one valley and the maximum with what grows keeps it.
/// Holds for:  any K >= 1; all parts at least 0; 0 <= o <= 1.
/// Assumes:    work divides perfectly; what overlaps costs the computation nothing.
/// Source:     [Amdahl1967]; trees and chains [Chan2007]
struct StepCurve {
    Seconds work;         ///< W, on one worker
    Seconds fixed;        ///< a
    Seconds per_level;    ///< c, each doubling of K: a tree
    Seconds per_worker;   ///< d, each worker: a chain
    double overlap = 0.0; ///< o
    bool links = false;   ///< d is of each of the K - 1 links of a chain
};

/// Growth of the communication time with the number of workers.
enum class Growth { fixed, logarithmic, linear };
std::string_view name_of(Growth growth);

/// The curve through a profile.
///
///     W = T_comp K0;   a = T_comm,   c = T_comm / log2 K0   or   d = T_comm / (K0 - 1), counted in links
///
/// Holds for:  any K0 >= 1 with `fixed`; K0 >= 2 with the others: log2 1 and 1 - 1 are 0, which says nothing of growth.
/// Assumes:    communication of the profile is its whole time, hidden or not.
/// Errors:     InputError{usage} for growth from one worker.
/// Source:     [Amdahl1967]
StepCurve curve_of(Profile const& profile, Growth growth, double overlap);

/// Step time under weak scaling: the problem grows with the workers, so that each keeps the share it had on K0.
///
///     T(K) = max(W/K0 + (1-o) N(K), N(K))
///
/// Source: [Gustafson1988]
Seconds weak_step_at(StepCurve const& curve, Ranks reference, Ranks workers);

/// W/K. Source: [Amdahl1967]
Seconds compute_at(StepCurve const& curve, double workers);
/// N(K), hidden or not. Source: [Amdahl1967]
Seconds communication_at(StepCurve const& curve, double workers);
/// T(K). Source: [Amdahl1967]
Seconds step_at(StepCurve const& curve, double workers);
/// T(K) - W/K: communication that the computation does not hide. Source: [Amdahl1967]
Seconds exposed_at(StepCurve const& curve, double workers);
/// (T(K) - W/K) / T(K): the share of the step that is communication, at K and at no other; 0 for an empty step.
/// Source: [Amdahl1967]
double exposed_share_at(StepCurve const& curve, double workers);

/// Whether Amdahl's law holds on the curve: communication keeps its size and none is hidden. Source: [Amdahl1967]
bool is_amdahl(StepCurve const& curve);

// ---- where it stops -----------------------------------------------------------------------------------------------

/// K* of the least T, as a real number not below 1. Without overlap
///
///     d K*^2 + c/ln 2 K* = W;   so K* = W ln 2 / c for a tree, sqrt(W/d) for a chain
///
/// With overlap the valley of W/K + (1-o) N(K), or where o N(K) = W/K, whichever comes first.
/// Holds for:  empty where T falls for ever (nothing grows, and not all of N is ever exposed at once).
/// Source:     [Chan2007]
std::optional<double> best_real_workers(StepCurve const& curve);

/// The whole K of the least T, the smallest of equals: found by the sign of T(K+1) - T(K), term by term, so that
/// rounding of T decides nothing. Empty as `best_real_workers`, and past 9e15. Source: [Chan2007]
std::optional<std::int64_t> best_workers(StepCurve const& curve);

/// The first K whose step is slower than that of K - 1; empty when there is none. Source: [Chan2007]
std::optional<std::int64_t> first_slower_workers(StepCurve const& curve);

/// Least step time of any number of workers: T at `best_workers`, or a. Source: [Chan2007]
Seconds least_step(StepCurve const& curve);

/// The smallest K whose step takes at most `step`; ties count (slack 1e-12). Empty when no K does.
/// Source: [Amdahl1967]
std::optional<std::int64_t> workers_for_step(StepCurve const& curve, Seconds step);

/// The smallest K with at least `share` of the largest possible speed-up, T(K) <= `least_step` / share; empty where
/// nothing bounds the speed-up. Source: [Amdahl1967]
std::optional<std::int64_t> workers_for_share_of_ceiling(StepCurve const& curve, double share);

// ---- an index that is no time -------------------------------------------------------------------------------------

/// The share at K put into Amdahl's formula, as exercises do.
///
///     1 / (s(K) + (1-s(K))/K)
///
/// It turns down while the step still gets shorter, because s(K) belongs to the step at K and the formula wants the
/// share on one worker: an index, no speed-up. The step decides.
/// Holds for:  any K >= 1.
/// Source:     [Amdahl1967]
double amdahl_of_share_at(StepCurve const& curve, Ranks workers);

/// Where that index is largest.
struct IndexPeak {
    double workers = 1.0;     ///< 1 + sqrt(1 + W/a)
    std::int64_t integer = 1; ///< the whole K of the largest index
    double value = 1.0;       ///< the index there
};

/// With r = W/a the index is K (K+r) / (K^2 + r), largest at K^2 - 2K = r.
/// Holds for:  communication that is fixed and not hidden; empty for other curves and without communication.
/// Source:     [Amdahl1967]
std::optional<IndexPeak> index_peak(StepCurve const& curve);

} // namespace headroom::laws
