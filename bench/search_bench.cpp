// Motivation: a plan over thousands of accelerators has to answer while its user waits. The whole legal space of
// Llama-3-70B over 8 to 4096 H100 is evaluated, time and memory of every strategy, on one core.
// Target: at least 500,000 complete evaluations a second and 2 s for the whole space.
// Last result (one core of a shared 2.6 GHz x86-64 virtual machine, g++ 12 -O2, runs of one hour): 105,072 strategies in 70
// to 90 ms, 1.2 to 1.4 million evaluations a second. `one_size` gives the legal strategies by size, `mixture` those of
// DeepSeek-V3 on 2,048 H800: 37,044 in 68 to 95 ms, 0.39 to 0.56 million a second.
// While every strategy had its stages, traffic and activations priced anew it was 64 and 74 ms.

#include "headroom/io/catalog.hpp"
#include "headroom/training/plan.hpp"

#include <benchmark/benchmark.h>

namespace headroom {

using namespace headroom::training;

namespace {

struct Setting {
    io::Catalog catalog;
    Model model = catalog.model("llama-3-70b");
    Cluster cluster = catalog.cluster("dgx-h100");
    Framework framework = catalog.framework("megatron-core");
    Calibration constants = catalog.calibration("independent").values();
    SearchSpace space{.workers = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}, .fixed = {}, .run = {}};

    [[nodiscard]] StepSetting step() const {
        return {model, cluster, framework, constants, {.sequence_length = 8192, .global_batch = 1024}};
    }
};

/// Enumeration, layer costs, time, memory and the reduction: what a plan waits for.
void whole_space(benchmark::State& state) {
    Setting const setting;
    std::int64_t evaluations = 0;
    for (auto _ : state) {
        auto const results = search(setting.step(), setting.space, 1);
        for (SearchResult const& result : results) evaluations += result.counts.evaluated;
    }
    state.counters["evaluations"] = benchmark::Counter(static_cast<double>(evaluations), benchmark::Counter::kIsRate);
}
BENCHMARK(whole_space)->Unit(benchmark::kMillisecond);

/// One worker count, with its legal and feasible strategies.
void one_size(benchmark::State& state) {
    Setting setting;
    setting.space.workers = {static_cast<int>(state.range(0))};
    SearchCounts counts;
    std::int64_t evaluations = 0;
    for (auto _ : state) {
        counts = search(setting.step(), setting.space, 1).at(0).counts;
        evaluations += counts.evaluated;
    }
    state.counters["legal"] = static_cast<double>(counts.legal);
    state.counters["feasible"] = static_cast<double>(counts.feasible);
    state.counters["evaluations"] = benchmark::Counter(static_cast<double>(evaluations), benchmark::Counter::kIsRate);
}
BENCHMARK(one_size)->RangeMultiplier(2)->Range(8, 4096)->Unit(benchmark::kMillisecond);

/// A mixture on one large cluster: DeepSeek-V3 on 2,048 H800, expert degrees searched too. Target: under 5 s.
void mixture(benchmark::State& state) {
    Setting setting;
    setting.model = setting.catalog.model("deepseek-v3");
    setting.cluster = setting.catalog.cluster("hgx-h800");
    setting.space.workers = {2048};
    SearchCounts counts;
    std::int64_t evaluations = 0;
    for (auto _ : state) {
        StepSetting const step{.model = setting.model,
                               .cluster = setting.cluster,
                               .framework = setting.framework,
                               .constants = setting.constants,
                               .workload = {.sequence_length = 4096, .global_batch = 15360}};
        counts = search(step, setting.space, 1).at(0).counts;
        evaluations += counts.evaluated;
    }
    state.counters["legal"] = static_cast<double>(counts.legal);
    state.counters["feasible"] = static_cast<double>(counts.feasible);
    state.counters["evaluations"] = benchmark::Counter(static_cast<double>(evaluations), benchmark::Counter::kIsRate);
}
BENCHMARK(mixture)->Unit(benchmark::kMillisecond);

/// The enumeration alone, to see what the rest costs.
void enumeration(benchmark::State& state) {
    Setting const setting;
    std::int64_t strategies = 0;
    for (auto _ : state) {
        for (int const workers : setting.space.workers) {
            auto const legal = legal_strategies(setting.model, setting.cluster, setting.framework,
                                                setting.step().workload, workers, {});
            strategies += static_cast<std::int64_t>(legal.size());
        }
    }
    state.counters["strategies"] = benchmark::Counter(static_cast<double>(strategies), benchmark::Counter::kIsRate);
}
BENCHMARK(enumeration)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace headroom
