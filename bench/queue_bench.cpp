// Motivation: a simulated queue answers what no closed form does (dispatch, hedging, any distribution of times), while its
// user waits, and again for each number of replicas that is tried.
// Target: an hour of 1,000 requests a second over 100 replicas (3.6 million requests) in 1 s on one core: one shared line,
// random and shortest line. A request is at least an arrival, an end of service and two draws of a logarithm: `limit` is the
// heap of 100 alone, of which each request takes one event off and puts one in.
// Last result (processor time of one core of a shared 2.6 GHz x86-64 virtual machine with five times its cores' work to do,
// g++ 12 -O2): shared line 0.40 s, random 0.44 s, in turn 0.43 s, shortest line 0.46 s, two choices 0.55 s: 6 to 9 million
// requests and 13 to 18 million events a second. The heap alone makes 18 million requests a second (16 million with the
// standard library's) and the draws 65 million, of which the shared line reaches three fifths. Gamma services 0.65 s, hedged
// 1.1 s (a request is kept until both copies are done), batches of 8 0.2 s.
#include "base/events/event_queue.hpp"

#include "headroom/counter_random.hpp"
#include "headroom/serving/queue_simulation.hpp"

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

/// 100 replicas of 80 ms at 1,000 requests a second: 0.8 of capacity.
QueueExperiment hour(Dispatch dispatch) {
    return {.gaps = {.mean = Seconds{1e-3}},
            .service = {.mean = Seconds{0.08}},
            .shape = {.servers = 100},
            .dispatch = dispatch,
            .duration = Seconds{3600.0}};
}

void report(benchmark::State& state, SimulatedQueue const& result) {
    auto const runs = static_cast<double>(state.iterations());
    state.counters["requests"] =
        benchmark::Counter(static_cast<double>(result.requests) * runs, benchmark::Counter::kIsRate);
    state.counters["events"] =
        benchmark::Counter(static_cast<double>(result.events) * runs, benchmark::Counter::kIsRate);
    state.counters["p99_ms"] = 1e3 * result.latency.quantile(0.99);
}

/// Target 1 s each.
void simulated_hour(benchmark::State& state, QueueExperiment const& experiment) {
    SimulatedQueue result;
    for (auto _ : state) { result = simulate_queue(experiment); }
    report(state, result);
}
BENCHMARK_CAPTURE(simulated_hour, shared_line, hour(Dispatch::shared_line))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated_hour, random, hour(Dispatch::random))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated_hour, round_robin, hour(Dispatch::round_robin))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated_hour, two_choices, hour(Dispatch::two_choices))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated_hour, shortest_line, hour(Dispatch::shortest_line))->Unit(benchmark::kMillisecond);

/// Lines that know nothing of each other, on two threads: wall time.
void two_threads(benchmark::State& state) {
    Executor const threads = [](int count, std::function<void(int)> const& task) {
        std::atomic<int> next{0};
        auto const work = [&] {
            for (int i = next++; i < count; i = next++) { task(i); }
        };
        std::thread other{work};
        work();
        other.join();
    };
    SimulatedQueue result;
    for (auto _ : state) { result = simulate_queue(hour(Dispatch::random), threads); }
    report(state, result);
}
BENCHMARK(two_threads)->Unit(benchmark::kMillisecond)->UseRealTime();

QueueExperiment with_gamma_service() {
    QueueExperiment experiment = hour(Dispatch::shared_line);
    experiment.service.variation = 2.0;
    return experiment;
}
BENCHMARK_CAPTURE(simulated_hour, gamma_service, with_gamma_service())->Unit(benchmark::kMillisecond);

QueueExperiment hedged() {
    QueueExperiment experiment = hour(Dispatch::two_choices);
    experiment.hedge_after = Seconds{0.3};
    return experiment;
}
BENCHMARK_CAPTURE(simulated_hour, hedged, hedged())->Unit(benchmark::kMillisecond);

QueueExperiment batched() {
    QueueExperiment experiment = hour(Dispatch::shortest_line);
    experiment.gaps.mean = Seconds{1e-3};
    experiment.shape = {.servers = 20, .batch = 8, .batch_growth = 0.1};
    return experiment;
}
BENCHMARK_CAPTURE(simulated_hour, batched, batched())->Unit(benchmark::kMillisecond);

/// The heap alone: the next of 100 ends off, one later in. `requests`: so many a second at most.
void limit(benchmark::State& state) {
    events::EventQueue<double, std::uint64_t> events;
    CounterRandom random{1};
    std::vector<double> services(4096);
    for (double& service : services) { service = random.exponential(); }
    for (std::size_t i = 0; i < 100; ++i) { events.put(services[i], i); }
    std::size_t next = 0;
    for (auto _ : state) {
        events.replace_first(events.next() + services[next++ % services.size()], events.first());
        benchmark::DoNotOptimize(events.next());
    }
    state.counters["requests"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(limit);

/// Limit of the standard library's binary heap.
void limit_of_priority_queue(benchmark::State& state) {
    using Event = std::pair<double, std::uint64_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    CounterRandom random{1};
    std::vector<double> services(4096);
    for (double& service : services) { service = random.exponential(); }
    for (std::size_t i = 0; i < 100; ++i) { events.push({services[i], i}); }
    std::size_t next = 0;
    for (auto _ : state) {
        Event const event = events.top();
        events.pop();
        events.push({event.first + services[next++ % services.size()], event.second});
        benchmark::DoNotOptimize(events.top());
    }
    state.counters["requests"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(limit_of_priority_queue);

/// Two exponential draws: what each request takes besides.
void two_draws(benchmark::State& state) {
    CounterRandom random{1};
    for (auto _ : state) { benchmark::DoNotOptimize(random.exponential() + random.exponential()); }
    state.counters["requests"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(two_draws);

} // namespace
} // namespace headroom
