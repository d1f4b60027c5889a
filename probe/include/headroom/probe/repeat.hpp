#pragma once

#include "headroom/measurement.hpp"
#include "headroom/sample_statistics.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::probe {

/// What is stated of one point: the median of its rounds, and where the median of a repeat of the whole measurement is
/// expected.
struct RepeatInterval {
    std::size_t rounds = 0;
    double median = 0.0;
    double low = 0.0, high = 0.0;
    double coverage = 0.0;              ///< of a repeat; 0 where one round says nothing of it
    double round_likeness = 0.0;        ///< how much a round is like the next; 0: not at all
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
/// The root of two is there (it makes pi of pi / 2, too) because a repeat errs as much as the first run did: within an
/// interval of 95 % of the median itself only 83 of 100 repeats lie. w is there because a machine that wanders makes
/// neighbouring rounds alike, and n of them say less than n would. Student's interval takes errors of rounds as normal.
/// Assumes:    what changes from run to run changes within a run, too: it holds where a run is five times as long as the
///             machine remembers. Of one that is steady for an hour and another one the next, a run knows nothing.
/// Errors:     InputError{insufficient} without rounds.
/// Source:     [KaliberaJones2013] [DavidNagaraja2003] [Geyer1992]
RepeatInterval repeat_interval(std::span<double const> rounds, double least_half_width = 0.01);

/// Medians of the rounds of one point, from samples as they are kept: a round begins with a warm-up.
std::vector<double> round_medians(std::span<Sample const> samples, std::uint32_t point);

struct RepeatOptions {
    double width = 0.05;         ///< of an interval that is narrow enough, whole, over the median
    double seconds = 120.0;      ///< after which no round begins, but for the first
    double least_seconds = 20.0; ///< over which rounds are spread, if every interval is narrow earlier
    double least_worth = 7.0;    ///< of a narrow interval's rounds, see `RepeatInterval::worth`
    int least_rounds = 9;        ///< fewer do not give an interval without assumptions
    int most_rounds = 1000;
    int in_round = 3;               ///< repetitions that count, of a point in a round
    int most_warm_ups = 10;         ///< in a point's first round, a third of it later; at least one
    double settled = 0.05;          ///< two repetitions that differ by less end a warm-up
    double least_half_width = 0.01; ///< see `repeat_interval`
    int most_failures = 3;          ///< after which a point is left alone
    std::uint64_t seed = 1;         ///< of the order
};

/// Clock, date and load; a test gives its own.
struct RepeatWorld {
    std::function<double()> seconds;
    std::function<std::int64_t()> now_ns;
    std::function<double()> load;
};
RepeatWorld this_machine();

/// What is repeated.
struct RepeatTask {
    std::size_t points = 0;
    /// One repetition; nothing where it was stopped. An exception is a repetition that failed, with its words.
    std::function<std::optional<double>(std::uint32_t point, std::stop_token stop)> measure_once;
    std::function<void()> before_round = {}; ///< e.g. other pages of memory
    std::vector<Sample> earlier = {};        ///< of an interrupted run: they count, and their numbers go on
};

struct RepeatedPoint {
    std::optional<RepeatInterval> interval; ///< nothing where no repetition was well
    bool narrow = false;                    ///< as narrow as was asked
    double noise = 0.0;                     ///< spread of single repetitions about the median of their round, over it
    std::optional<Drift> drift;             ///< of rounds; where there are eight
    std::vector<std::string> remarks;       ///< in words: drift, noise, failures, too few rounds
};

struct RepeatReport {
    std::vector<RepeatedPoint> points;
    int rounds = 0;
    double seconds = 0.0;
    bool stopped = false; ///< by the token
    double most_load = 0.0;
};

/// Repeats every point until its interval is narrow or time is over. A round visits all points that are not narrow yet, in
/// an order drawn anew, so that a drift of the machine falls on all alike; each visit is warmed up, and counts as one
/// value, the median of its repetitions. Samples go to `sink` as they are taken, warm-ups among them.
RepeatReport repeat_points(RepeatTask const& task, RepeatOptions const& options, SampleSink const& sink,
                           std::stop_token stop = {}, RepeatWorld const& world = this_machine());

} // namespace headroom::probe
