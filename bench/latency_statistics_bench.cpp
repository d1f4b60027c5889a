// Motivation: statistics of a hundred million samples must take no time against reading them.
// Targets, one core: intervals of five quantiles in 1 ms, two runs compared in 0.1 s, a closed loop and changes looked for
// in 0.1 s, a correction over thirteen octaves of cells that all hold something in 1 s.
#include "headroom/counter_random.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom {

using namespace headroom::serving;

namespace {

constexpr std::array quantiles{0.5, 0.9, 0.99, 0.999, 0.9999};

/// A hundred million samples over thirteen octaves.
LatencyHistogram many(std::uint64_t seed) {
    CounterRandom random{seed};
    LatencyHistogram samples;
    for (int i = 0; i < 200'000; ++i) {
        samples.record(std::exp(3.0 * (random.uniform() + random.uniform() + random.uniform() - 1.5)), 500);
    }
    return samples;
}

/// One connection that waits for answers.
LatencyDigest closed_loop() {
    CounterRandom random{3};
    LatencyDigest digest;
    double sent = 0.0;
    for (int i = 0; i < 2'000'000; ++i) {
        double const latency = random.exponential();
        digest.add(latency, sent);
        sent += std::max(1.0, latency);
    }
    return digest;
}

void intervals(benchmark::State& state) {
    auto const samples = many(1);
    for (auto _ : state) {
        for (double const q : quantiles) { benchmark::DoNotOptimize(quantile_estimate(samples, q)); }
    }
}
BENCHMARK(intervals);

void comparison(benchmark::State& state) {
    auto const first = many(1), second = many(2);
    for (auto _ : state) { benchmark::DoNotOptimize(compare_tails(first, second, quantiles)); }
}
BENCHMARK(comparison)->Unit(benchmark::kMillisecond);

void correction(benchmark::State& state) {
    auto const samples = many(1);
    for (auto _ : state) { benchmark::DoNotOptimize(corrected_for_omission(samples, 1e-3)); }
}
BENCHMARK(correction)->Unit(benchmark::kMillisecond);

void omission(benchmark::State& state) {
    auto const digest = closed_loop();
    for (auto _ : state) { benchmark::DoNotOptimize(find_omission(digest)); }
}
BENCHMARK(omission)->Unit(benchmark::kMillisecond);

void changes(benchmark::State& state) {
    auto const digest = closed_loop();
    for (auto _ : state) { benchmark::DoNotOptimize(find_changes(digest.blocks())); }
}
BENCHMARK(changes)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace headroom
