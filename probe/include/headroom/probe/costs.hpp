#pragma once

// Costs of spawning and recording on this machine, measured by running empty children.

#include "headroom/probe/scope.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <thread>
#include <vector>

namespace headroom::probe {

/// Seconds for one spawn of an empty child and its share of the sync.
struct SpawnCosts {
    double clock_seconds = 0.0;    ///< reading `SteadyClock` once
    double plain_seconds = 0.0;    ///< one worker, not recorded: the child is called
    double recorded_seconds = 0.0; ///< one worker, recorded
    double queued_seconds = 0.0;   ///< two workers, not recorded, taken back by the worker that spawned
    double handover_seconds = 0.0; ///< from one worker to another: half of there and back, median
};

namespace costs {

constexpr int children = 256; // fewer than fill a queue
constexpr int repeats = 64;

/// The least over repeats of what a child costs on this thread.
template <class Recording> double spawn_seconds() {
    Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
    for (int repeat = 0; repeat < repeats; ++repeat) {
        Nanoseconds const begin = SteadyClock::now();
        BasicScope<Recording> scope;
        for (int child = 0; child < children; ++child) {
            scope.spawn([] {});
        }
        scope.sync();
        least = std::min(least, SteadyClock::now() - begin);
    }
    return in_seconds(least) / children;
}

/// Two workers of which one is kept busy: everything goes through the queue of the other and back.
inline double queued_seconds(Executor& two) {
    double seconds = 0.0;
    two.run([&] {
        std::atomic<bool> taken{false};
        std::atomic<bool> enough{false};
        BasicScope<NoRecording> busy;
        busy.spawn([&] {
            taken = true;
            while (!enough) { std::this_thread::yield(); }
        });
        while (!taken) { std::this_thread::yield(); }
        seconds = spawn_seconds<NoRecording>();
        enough = true;
        busy.sync();
    });
    return seconds;
}

/// From a spawn to the end of its empty child on the other worker and back to the sync: two edges.
inline double handover_seconds(Executor& two) {
    std::vector<Nanoseconds> round_trips;
    two.run([&] {
        for (int repeat = 0; repeat < 4 * repeats; ++repeat) {
            std::atomic<bool> taken{false};
            Nanoseconds const begin = SteadyClock::now();
            BasicScope<NoRecording> scope;
            scope.spawn([&] { taken = true; });
            while (!taken) { std::this_thread::yield(); } // not in the sync yet, so the other worker must take it
            scope.sync();
            round_trips.push_back(SteadyClock::now() - begin);
        }
    });
    auto const middle = round_trips.begin() + static_cast<std::ptrdiff_t>(round_trips.size() / 2);
    std::nth_element(round_trips.begin(), middle, round_trips.end());
    return in_seconds(*middle) / 2.0;
}

} // namespace costs

/// Measures them: some 10 ms.
inline SpawnCosts measure_spawn_costs() {
    SpawnCosts found;
    Executor one{1};
    Executor two{2};
    found.clock_seconds = in_seconds(clock_cost<SteadyClock>());
    one.run([&] { found.plain_seconds = costs::spawn_seconds<NoRecording>(); });
    one.run([&] {
        MeterSettings const settings;
        Recording<SteadyClock>::Task const meter{settings};
        found.recorded_seconds = costs::spawn_seconds<Recording<SteadyClock>>();
    });
    found.queued_seconds = costs::queued_seconds(two);
    found.handover_seconds = costs::handover_seconds(two);
    return found;
}

/// Costs measured at the first call and kept.
inline SpawnCosts const& spawn_costs() {
    static SpawnCosts const found = measure_spawn_costs();
    return found;
}

} // namespace headroom::probe
