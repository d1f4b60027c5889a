#pragma once

// A recorded program and its measured times: what a report shows.

#include "headroom/probe/fork_join.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headroom::probe {

/// Times of a program on some number of workers, by the clock on the wall.
struct Timing {
    int workers = 1;
    double seconds = 0.0; ///< the least
    double median_seconds = 0.0;
    int repeats = 0;
};

/// Everything that is known about a program: what `print` and `write_json` show.
struct Study {
    std::string name = {};
    std::string problem = {};     ///< the problem in words
    std::string clock = "steady"; ///< that strands were measured with
    Record record = {};
    SpawnCosts costs = {};
    std::optional<double> serial_seconds = {}; ///< of the best serial program for the same problem
    std::vector<Timing> timings = {};          ///< not recorded
};

/// Null where one worker was not measured.
inline Timing const* timing_on_one(Study const& study) {
    auto const one = std::find_if(study.timings.begin(), study.timings.end(),
                                  [](Timing const& timing) { return timing.workers == 1; });
    return one == study.timings.end() ? nullptr : &*one;
}

/// Time on one worker over time on K, least against least; empty where one worker was not measured.
inline std::optional<double> measured_speedup(Study const& study, Timing const& timing) {
    Timing const* const one = timing_on_one(study);
    if (one == nullptr || !(timing.seconds > 0.0)) { return std::nullopt; }
    return one->seconds / timing.seconds;
}

inline Timing summarize(int workers, std::vector<double> seconds) {
    Timing timing{.workers = workers, .repeats = static_cast<int>(seconds.size())};
    if (seconds.empty()) { return timing; }
    std::sort(seconds.begin(), seconds.end());
    timing.seconds = seconds.front();
    timing.median_seconds = (seconds[(seconds.size() - 1) / 2] + seconds[seconds.size() / 2]) / 2.0;
    return timing;
}

struct DoNothing {
    void operator()() const {}
};

/// Times `body()` on each number of workers, `repeats` rounds of all of them, so that a slow minute of the machine
/// does not fall on one of them alone. `before` and `after` every run are not timed. Scopes in the body should be
/// `PlainScope`: recording takes time too.
template <class Arena = Executor, class Body, class Before = DoNothing, class After = DoNothing>
std::vector<Timing> time_on(std::span<int const> workers, int repeats, Body const& body, Before const& before = {},
                            After const& after = {}) {
    std::vector<std::unique_ptr<Arena>> arenas;
    for (int const k : workers) { arenas.push_back(std::make_unique<Arena>(k)); }
    std::vector<std::vector<double>> seconds(workers.size());
    for (int repeat = 0; repeat < repeats; ++repeat) {
        for (std::size_t i = 0; i < arenas.size(); ++i) {
            before();
            arenas[i]->run([&] {
                Nanoseconds const begin = SteadyClock::now();
                body();
                seconds[i].push_back(in_seconds(SteadyClock::now() - begin));
            });
            after();
        }
    }
    std::vector<Timing> timings;
    for (std::size_t i = 0; i < workers.size(); ++i) {
        timings.push_back(summarize(workers[i], std::move(seconds[i])));
    }
    return timings;
}

/// Predicted and measured speedup on K workers.
struct CurvePoint {
    int workers = 1;
    std::optional<SpeedupRange> predicted = {};
    std::optional<Timing> timing = {};
    std::optional<double> speedup = {}; ///< measured
};

/// The worker counts that were measured, and powers of two until well past the parallelism.
inline std::vector<CurvePoint> speedup_curve(Study const& study) {
    std::vector<CurvePoint> curve;
    for (Timing const& timing : study.timings) {
        curve.push_back({.workers = timing.workers, .timing = timing, .speedup = measured_speedup(study, timing)});
    }
    double const enough = std::min(1024.0, 4.0 * parallelism(study.record).value_or(1.0));
    for (int k = 1; k <= enough; k *= 2) { curve.push_back({.workers = k}); }
    auto const fewer = [](CurvePoint const& left, CurvePoint const& right) { return left.workers < right.workers; };
    auto const same = [](CurvePoint const& left, CurvePoint const& right) { return left.workers == right.workers; };
    std::stable_sort(curve.begin(), curve.end(), fewer); // the measured one stays first of two
    curve.erase(std::unique(curve.begin(), curve.end(), same), curve.end());
    for (CurvePoint& point : curve) { point.predicted = predicted_speedup(study.record, point.workers); }
    return curve;
}

} // namespace headroom::probe
