// Motivation: families, tails and fan-outs are computed from cells: a hundred million samples take no longer than a million.
// Targets, one core, samples over sixteen octaves: all families in 0.05 s, the Pareto tail with its thresholds in 0.15 s, both
// below 0.2 s; a fan-out to ten million in 5 ms, the best number of backups of 4096 workers in 0.2 s, a hedge in 5 ms.
#include "headroom/counter_random.hpp"
#include "headroom/fit/tail_fit.hpp"
#include "headroom/serving/fan_out.hpp"

#include <benchmark/benchmark.h>

#include <cmath>

namespace headroom {

using namespace headroom::serving;

namespace {

/// A hundred million lognormal samples: each cell what it holds of the distribution, give or take its own deviation.
LatencyHistogram const& samples() {
    static LatencyHistogram const made = [] {
        constexpr double count = 1e8, reach = 5.6;
        TailDistribution const truth{.family = TailFamily::lognormal, .a = -3.0, .b = 1.0};
        CounterRandom random{7};
        LatencyHistogram histogram;
        double const last = std::exp(truth.a + reach * truth.b);
        for (double low = std::exp(truth.a - reach * truth.b); low < last;) {
            LatencyHistogram::Cell const cell = LatencyHistogram::cell_of(low);
            double const mean = count * (truth.share_above(cell.low) - truth.share_above(cell.high));
            TailDistribution const around{.family = TailFamily::normal, .a = mean, .b = std::sqrt(mean)};
            double const held = std::round(around.quantile(random.uniform()));
            if (held >= 1.0) { histogram.record(cell.value, static_cast<std::uint64_t>(held)); }
            low = cell.high;
        }
        return histogram;
    }();
    return made;
}

void families(benchmark::State& state) {
    for (auto _ : state) { benchmark::DoNotOptimize(fit::fit_tails(samples())); }
    state.counters["samples"] = static_cast<double>(samples().count());
}
BENCHMARK(families)->Unit(benchmark::kMillisecond);

void pareto_tail(benchmark::State& state) {
    for (auto _ : state) { benchmark::DoNotOptimize(fit::fit_pareto_tail(samples())); }
}
BENCHMARK(pareto_tail)->Unit(benchmark::kMillisecond);

void slowest(benchmark::State& state) {
    Ranks const workers{static_cast<int>(state.range(0))};
    for (auto _ : state) { benchmark::DoNotOptimize(fan_out(samples(), workers, 1.0)); }
}
BENCHMARK(slowest)->Arg(1)->Arg(4096)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

void slowest_fitted(benchmark::State& state) {
    TailDistribution const truth{.family = TailFamily::lognormal, .a = -3.0, .b = 1.0};
    Ranks const workers{static_cast<int>(state.range(0))};
    for (auto _ : state) { benchmark::DoNotOptimize(fan_out(truth, workers, 1.0)); }
}
BENCHMARK(slowest_fitted)->Arg(4096)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

void best_backups(benchmark::State& state) {
    Ranks const workers{static_cast<int>(state.range(0))};
    for (auto _ : state) { benchmark::DoNotOptimize(best_backup_workers(samples(), workers)); }
}
BENCHMARK(best_backups)->Arg(128)->Arg(4096)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

void hedge(benchmark::State& state) {
    for (auto _ : state) { benchmark::DoNotOptimize(hedged_request(samples(), 0.2)); }
}
BENCHMARK(hedge)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace headroom
