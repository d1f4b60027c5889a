#pragma once

#include "headroom/quantity.hpp"
#include "headroom/ranks.hpp"

#include <cstdint>
#include <optional>

namespace headroom::laws {

// One machine that is f times as fast (scale up) against K of the present ones (scale out). f holds for the whole
// job, its serial part too: that is what a faster machine has ahead of more of them. Where it is faster at some
// operations alone, f is the ratio of the times of this job.

/// The smallest K as fast as one machine of f times the speed.
///
///     S(K) >= f   at   K >= f (1-s) / (1 - s f)
///
/// Ties count (slack 1e-12).
/// Holds for:  f > 0, 0 <= s <= 1; empty when f is at or above the ceiling 1/s.
/// Assumes:    as `amdahl_speedup`.
/// Source:     [Amdahl1967]
std::optional<std::int64_t> workers_to_match(double serial_fraction, double factor);

/// Price of one machine-hour of the job on K machines: K p / S(K), p the price of one machine.
/// Source: [HillMarty2008]
DollarsPerSecond price_of_work(DollarsPerSecond machine, double speedup, Ranks workers);

/// The price of the faster machine at which a result costs the same on it as on K present ones.
///
///     p_up / f = K p / S(K),   so   p_up = f K p / S(K)
///
/// Below it the faster machine is the cheaper one.
/// Holds for:  speed-ups above 0.
/// Assumes:    both are paid by the hour and only while the job runs.
/// Source:     [HillMarty2008]
DollarsPerSecond tie_price(DollarsPerSecond machine, double factor, double speedup, Ranks workers);

} // namespace headroom::laws
