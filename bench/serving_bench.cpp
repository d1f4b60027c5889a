// Motivation: to choose replicas for an objective a fleet is simulated over and over, each token of it. An hour of 1,000
// requests a second over 100 replicas of Llama-3-8B, prompts of 512 tokens and answers of 128 on average, one core.
// Target: under 5 s for the hour, and some ten nanoseconds to price an iteration.
// Last result (CPU time on one core of a shared 2.6 GHz x86-64 virtual machine, g++ 12 -O2, the less the fewer others use
// it): 1.7 to 2.3 s dispatched to the shortest line, 2.1 to 2.3 s to the shorter of two, 1.1 to 1.3 s in turn, for 51
// million iterations and 3.6 million requests; 22 to 46 million iterations and 1.6 to 3.3 million requests a second.
// Without adding iterations up 1.9 to 3.0 s in turn. Drawing the requests takes 0.4 s; an iteration out of the tables 4 to
// 7 ns, operation by operation 0.7 us; the tables 1.2 ms.

#include "headroom/io/catalog.hpp"
#include "headroom/serving/serving_simulation.hpp"

#include <benchmark/benchmark.h>

namespace headroom {

using namespace headroom::serving;
using namespace headroom::training;

namespace {

struct Setting {
    io::Catalog catalog;
    Model model = catalog.model("llama-3-8b");
    Cluster cluster = catalog.cluster("dgx-h100");
    Framework framework = catalog.framework("megatron-core");
    Calibration constants = catalog.calibration("training").values();

    [[nodiscard]] ServingPricer pricer() const { return {model, cluster, framework, constants, {}}; }
};

std::vector<ServingRequest> hour(double variation) {
    return draw_requests({.requests_per_second = 1000.0,
                          .prompt_tokens = 512.0,
                          .output_tokens = 128.0,
                          .prompt_variation = variation,
                          .output_variation = variation,
                          .duration = units::hour});
}

/// Dispatch, and lengths that are all alike or vary; `one_by_one` adds no iterations up.
void fleet(benchmark::State& state) {
    Setting const setting;
    auto const pricer = setting.pricer();
    auto const requests = hour(static_cast<double>(state.range(1)));
    ServingExperiment const experiment{.replicas = 100,
                                       .dispatch = static_cast<Dispatch>(state.range(0)),
                                       .warm_up = units::minute,
                                       .one_by_one = state.range(2) != 0};
    double iterations = 0.0, served = 0.0;
    for (auto _ : state) {
        auto const result = simulate_serving(requests, pricer, experiment);
        iterations += static_cast<double>(result.iterations);
        served += static_cast<double>(requests.size());
    }
    state.SetLabel(std::string{name_of(experiment.dispatch)});
    state.counters["iterations"] = benchmark::Counter(iterations, benchmark::Counter::kIsRate);
    state.counters["requests"] = benchmark::Counter(served, benchmark::Counter::kIsRate);
}
BENCHMARK(fleet)
    ->ArgNames({"dispatch", "variation", "one_by_one"})
    ->Args({static_cast<int>(Dispatch::shortest_line), 1, 0})
    ->Args({static_cast<int>(Dispatch::shortest_line), 0, 0})
    ->Args({static_cast<int>(Dispatch::two_choices), 1, 0})
    ->Args({static_cast<int>(Dispatch::round_robin), 1, 0})
    ->Args({static_cast<int>(Dispatch::round_robin), 1, 1})
    ->Unit(benchmark::kMillisecond);

/// Requests of that hour.
void drawing(benchmark::State& state) {
    for (auto _ : state) { benchmark::DoNotOptimize(hour(1.0)); }
}
BENCHMARK(drawing)->Unit(benchmark::kMillisecond);

/// One iteration out of the tables.
void iteration(benchmark::State& state) {
    Setting const setting;
    auto const pricer = setting.pricer();
    ServingBatch batch{.decoding = 1, .decode_context = 600.0};
    for (auto _ : state) {
        benchmark::DoNotOptimize(pricer.iteration(batch));
        batch.decoding = batch.decoding % 256 + 1;
    }
}
BENCHMARK(iteration);

/// Price of a batch, operation by operation.
void operation_by_operation(benchmark::State& state) {
    Setting const setting;
    auto const pricer = setting.pricer();
    ServingBatch batch{.decoding = 1, .decode_context = 600.0};
    for (auto _ : state) {
        benchmark::DoNotOptimize(pricer.price(batch));
        batch.decoding = batch.decoding % 256 + 1;
    }
}
BENCHMARK(operation_by_operation);

/// All that is found once for a replica.
void tables(benchmark::State& state) {
    Setting const setting;
    for (auto _ : state) { benchmark::DoNotOptimize(setting.pricer()); }
}
BENCHMARK(tables)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace headroom
