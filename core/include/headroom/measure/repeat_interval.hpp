#pragma once

#include <cstddef>
#include <span>

namespace headroom::measure {

/// Median of a point's rounds, and the interval in which the median of a repeat of the whole measurement is expected.
struct RepeatInterval {
    std::size_t rounds = 0;
    double median = 0.0;
    double low = 0.0, high = 0.0;
    double coverage = 0.0;              ///< of a repeat; 0 where one round says nothing of it
    double round_likeness = 0.0;        ///< correlation of a round with the next, 0 to 1
    [[nodiscard]] double width() const; ///< (high - low) / |median|
    /// Rounds that do not depend on each other and say as much as these: n (1 - r) / (1 + r).
    [[nodiscard]] double worth() const;
};

/// The interval in which a second run's median lies 95 times of 100, from medians of rounds that were spread over the
/// run, in the order in which they were taken. The widest of
///
///     [x_(l), x_(n+1-l)],  l the largest with a coverage of 2 Phi(sqrt(2) z) - 1 for the median, z = 1.96; from nine rounds
///     m -+ t s sqrt(pi / w),  w = n (1 - r) / (1 + r), t of Student for w - 1,  s^2 = S^2 (1 - 1/n) / (1 - 1/w),
///         S the standard deviation of rounds; below nine rounds and where r > 0
///     m -+ m `least_half_width`: what runs differ by, though each agrees with itself (pages, a warmer chip)
///     r = max{c_1 + (1 + 3 c_1) / n, (T - 1) / (T + 1)}, in [0, 0.95],  T = 1 + 2 sum (c_k + 1/n),  c_k the correlation
///         of a round with the k-th after it, in pairs of k until a pair adds up to nothing; 0 below four rounds
///
/// and not below 0 where no round is. The root of two is there (it makes pi of pi / 2, too) because a repeat errs as much as
/// the first run did: within an interval of 95 % of the median itself only 83 of 100 repeats lie. w is there because a machine that wanders makes
/// neighbouring rounds alike, and n of them say less than n would. Student's interval takes errors of rounds as normal.
/// Assumes:    what changes from run to run changes within a run, too: it holds where a run is five times as long as the
///             machine remembers. Of one that is steady for an hour and another one the next, a run knows nothing.
/// Errors:     InputError{insufficient} without rounds.
/// Source:     [KaliberaJones2013] [DavidNagaraja2003] [Geyer1992]
RepeatInterval repeat_interval(std::span<double const> rounds, double least_half_width = 0.01);

} // namespace headroom::measure
