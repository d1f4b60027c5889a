#pragma once

// Fork-join code that measures its own work and span while it runs.
//
//     #include "headroom/probe/fork_join.hpp"
//     using headroom::probe::Scope;
//
//     Scope scope;
//     scope.spawn([&] { left = count(first, middle); });
//     right = count(middle, last);
//     scope.sync();
//
//     headroom::probe::Record const record = headroom::probe::record([&] { total = count(begin, end); });
//
// These headers need the standard library and threads, and nothing else of Headroom: they may be copied.

#include "headroom/probe/costs.hpp"
#include "headroom/probe/record.hpp"
#include "headroom/probe/scope.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace headroom::probe {

/// Scopes that are measured inside of `record`; with another clock inside of `record<Clock>`.
using RecordedScope = BasicScope<Recording<SteadyClock>>;
/// Scopes that never are, and cost nothing for it.
using PlainScope = BasicScope<NoRecording>;

/// The scope to write by default. Define HEADROOM_PROBE_OFF for the whole program to measure nothing, or make code a
/// template of its scope, as the examples do, to have both in one program.
#ifdef HEADROOM_PROBE_OFF
using Scope = PlainScope;
#else
using Scope = RecordedScope;
#endif

struct RecordOptions {
    int workers = 1;                           ///< one: strands are then undisturbed by each other
    std::optional<double> burden_seconds = {}; ///< of an edge; otherwise the measured cost of a handover
};

/// Measured values from which `make_record` makes a record.
struct Measurement {
    PathLength end = {};
    Totals totals = {};
    MeterSettings settings = {};
    Nanoseconds elapsed = 0;
    Nanoseconds ran = 0; ///< of that, the calling thread; 0 where the system does not say
    int workers = 1;
};

inline Record make_record(Measurement const& measured) {
    Record record;
    record.work_seconds = in_seconds(measured.totals.work);
    record.span_seconds = in_seconds(measured.end.plain);
    record.burdened_span_seconds = in_seconds(measured.end.burdened);
    record.elapsed_seconds = in_seconds(measured.elapsed);
    record.spawns = measured.totals.spawns;
    record.syncs = measured.totals.syncs;
    record.burden_seconds = in_seconds(measured.settings.burden);
    record.clock_seconds = in_seconds(measured.settings.clock_cost);
    record.workers = measured.workers;
    if (measured.workers == 1 && measured.ran > 0 && measured.elapsed > 0) {
        record.running_share = std::min(1.0, in_seconds(measured.ran) / record.elapsed_seconds);
    }
    return record;
}

template <class Clock> MeterSettings meter_settings(RecordOptions const& options) {
    double const burden = options.burden_seconds ? *options.burden_seconds : spawn_costs().handover_seconds;
    if (!(burden >= 0.0 && burden < 1e6)) { throw std::invalid_argument("burden_seconds is no time from 0 to 1e6"); }
    return {.clock_cost = clock_cost<Clock>(), .burden = std::llround(burden * 1e9)};
}

/// Runs `body()` with a meter on it, on the calling thread.
template <class Clock, class Body> Measurement metered(Body&& body, MeterSettings const& settings) {
    Measurement measured{.settings = settings};
#ifdef HEADROOM_PROBE_CPU_CLOCK
    using Ran = ThreadCpuClock;
#else
    struct Ran {
        static Nanoseconds now() { return 0; }
    };
#endif
    Nanoseconds const ran = Ran::now();
    Nanoseconds const begin = SteadyClock::now();
    typename Recording<Clock>::Task meter{settings};
    std::forward<Body>(body)();
    std::tie(measured.end, measured.totals) = meter.end();
    measured.elapsed = SteadyClock::now() - begin;
    measured.ran = Ran::now() - ran;
    return measured;
}

/// Work and span of `body()`: of all scopes of its kind that are used in it. What it throws is thrown.
///
/// A strand is measured from its first to its last instruction by the clock on the wall, so whatever interrupts it
/// counts. On one worker strands do not disturb each other and the result is the structure of the program; on a
/// machine that others use too, take the `least` of several runs.
template <class Clock = SteadyClock, class Arena = Executor, class Body>
Record record(Body&& body, RecordOptions const& options = {}) {
    MeterSettings const settings = meter_settings<Clock>(options);
    Arena arena{options.workers};
    Measurement measured;
    arena.run([&] { measured = metered<Clock>(std::forward<Body>(body), settings); });
    measured.workers = options.workers;
    return make_record(measured);
}

} // namespace headroom::probe
