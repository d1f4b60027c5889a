// Motivation: a load test of an hour leaves a hundred million latencies; whoever looks at their tail should not wait for it,
// nor need memory for them.
// Target, one core: 100 million samples out of 1 GB of text in under 3 s, in constant memory; 0.3 s where they are in
// memory already.
// Each is compared with the machine's limits: reading memory front to back, and finding the ends of lines.
// Last result (one core of a shared 2.6 GHz x86-64 virtual machine under load, g++ 12 -O2), processor time: a histogram
// takes 460 million values a second out of memory, a digest 115 to 250; 40 to 50 million numbers a second are read out of
// text (0.4 to 0.5 GB/s), and 16 million rows of three columns with times (0.44 GB/s).
#include "memory.hpp"

#include "headroom/counter_random.hpp"
#include "headroom/io/latency_samples.hpp"
#include "headroom/serving/latency_digest.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

constexpr std::size_t in_memory = 20'000'000, lines = 10'000'000;

/// Lognormal, around a millisecond.
std::vector<double> const& values() {
    static std::vector<double> const drawn = [] {
        std::vector<double> all(in_memory);
        CounterRandom random{1};
        for (double& value : all) {
            double const radius = std::sqrt(-2.0 * std::log(random.uniform()));
            value = 1e-3 * std::exp(0.7 * radius * std::cos(6.283185307179586 * random.uniform()));
        }
        return all;
    }();
    return drawn;
}

/// A number a line; or a time, the value and a status.
std::string text_of(bool columns) {
    std::string text = columns ? "timestamp,latency_ms,status\n" : "";
    char line[64];
    for (std::size_t i = 0; i < lines; ++i) {
        double const value = values()[i];
        int const size = columns ? std::snprintf(line, sizeof line, "%.4f,%.5f,200\n",
                                                 1.7e9 + 1e-4 * static_cast<double>(i), 1e3 * value)
                                 : std::snprintf(line, sizeof line, "%.7f\n", value);
        text.append(line, static_cast<std::size_t>(size));
    }
    return text;
}

void say(benchmark::State& state, std::size_t samples, std::size_t bytes, std::size_t heap_before) {
    double const heap = static_cast<double>(bytes_most - heap_before);
    auto const rounds = static_cast<double>(state.iterations());
    state.counters["samples/s"] =
        benchmark::Counter(rounds * static_cast<double>(samples), benchmark::Counter::kIsRate);
    state.counters["GB/s"] = benchmark::Counter(rounds * static_cast<double>(bytes) / 1e9, benchmark::Counter::kIsRate);
    state.counters["memory_GB/s"] = stream_rate() / 1e9;
    state.counters["heap_MB"] = heap / 1e6;
}

void record_in_memory(benchmark::State& state) {
    static_cast<void>(values());
    std::size_t const before = bytes_most = bytes_now;
    for (auto _ : state) {
        LatencyHistogram all;
        all.record(values());
        benchmark::DoNotOptimize(all.count());
    }
    say(state, in_memory, in_memory * sizeof(double), before);
}
BENCHMARK(record_in_memory)->Unit(benchmark::kMillisecond);

void digest_in_memory(benchmark::State& state) {
    static_cast<void>(values());
    std::size_t const before = bytes_most = bytes_now;
    for (auto _ : state) {
        LatencyDigest all;
        all.add(values());
        benchmark::DoNotOptimize(all.blocks().size());
    }
    say(state, in_memory, in_memory * sizeof(double), before);
}
BENCHMARK(digest_in_memory)->Unit(benchmark::kMillisecond);

/// From a file that the system holds in memory, as after `sort` or a test that has just ended.
void read_text(benchmark::State& state) {
    std::string const path = "/tmp/headroom_tail_bench_" + std::to_string(::getpid());
    std::size_t size = 0;
    {
        std::string const text = text_of(state.range(0) != 0);
        size = text.size();
        std::FILE* const file = std::fopen(path.c_str(), "wb");
        if (file == nullptr || std::fwrite(text.data(), 1, size, file) != size) { state.SkipWithError("no room"); }
        if (file != nullptr) { std::fclose(file); }
    }
    std::size_t const before = bytes_most = bytes_now;
    for (auto _ : state) {
        auto const samples = io::read_latency_samples(path, {.unit = state.range(0) != 0 ? "" : "s"});
        benchmark::DoNotOptimize(samples.rows);
    }
    std::remove(path.c_str());
    say(state, lines, size, before);
}
BENCHMARK(read_text)->ArgName("columns")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

/// The limit of any reader of lines: finding their ends, in text that is in memory.
void find_ends_of_lines(benchmark::State& state) {
    std::string const text = text_of(state.range(0) != 0);
    std::size_t const before = bytes_most = bytes_now;
    for (auto _ : state) {
        std::size_t count = 0;
        char const* at = text.data();
        char const* const end = at + text.size();
        while ((at = static_cast<char const*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr) {
            ++at;
            ++count;
        }
        benchmark::DoNotOptimize(count);
    }
    say(state, lines, text.size(), before);
}
BENCHMARK(find_ends_of_lines)->ArgName("columns")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace headroom
