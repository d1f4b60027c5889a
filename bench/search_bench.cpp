// Motivation: a plan over thousands of accelerators has to answer while its user waits. The whole legal space of
// Llama-3-70B over 8 to 4096 H100 is searched on one core: time and memory of every strategy by the screen, the best ones priced.
// Target: 1,000,000 screened strategies a second, 0.3 s for the whole space; 0.4 s for DeepSeek-V3 on 2,048 H800. `screened` counts
// time and memory of the screen alone, `evaluations` all that a plan waits for: enumeration, costs of layers, pricing.
// Last result (shared 2.6 GHz x86-64 virtual machine, g++ 12 -O2, at a load of 9 on two cores): 105,072 strategies in 250 ms of
// processor time, 100,740 of DeepSeek-V3 in 217 ms, enumeration of the former 11 ms. `screened` has no figure of an idle machine yet.

#include "headroom/io/catalog.hpp"
#include "headroom/training/plan.hpp"

#include <benchmark/benchmark.h>

#include <ctime>

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

/// Processor time of sweeps: one is handed to an executor where it has more pieces than one.
struct SweepClock {
    double seconds = 0.0;
    std::int64_t evaluations = 0; ///< in these sweeps

    Executor executor() {
        return [this](int count, std::function<void(int)> const& task) {
            auto const begin = std::clock();
            for (int i = 0; i < count; ++i) { task(i); }
            seconds += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        };
    }
    void count(SearchResult const& result) {
        constexpr std::int64_t piece = 1024; // of a sweep
        if (result.counts.evaluated > piece) { evaluations += result.counts.evaluated; }
    }
    void tell(benchmark::State& state) const {
        state.counters["screened"] = static_cast<double>(evaluations) / seconds;
        state.counters["evaluations"] =
            benchmark::Counter(static_cast<double>(evaluations), benchmark::Counter::kIsRate);
    }
};

/// Enumeration, layer costs, time, memory, pricing and the reduction: what a plan waits for.
void whole_space(benchmark::State& state) {
    Setting setting;
    SweepClock clock;
    setting.space.run = clock.executor();
    for (auto _ : state) {
        auto const results = search(setting.step(), setting.space, 1);
        for (SearchResult const& result : results) clock.count(result);
    }
    clock.tell(state);
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

/// A mixture on one large cluster: DeepSeek-V3 on 2,048 H800, expert degrees searched too. Target: 0.4 s.
void mixture(benchmark::State& state) {
    Setting setting;
    setting.model = setting.catalog.model("deepseek-v3");
    setting.cluster = setting.catalog.cluster("hgx-h800");
    setting.space.workers = {2048};
    SearchCounts counts;
    SweepClock clock;
    setting.space.run = clock.executor();
    for (auto _ : state) {
        StepSetting const step{.model = setting.model,
                               .cluster = setting.cluster,
                               .framework = setting.framework,
                               .constants = setting.constants,
                               .workload = {.sequence_length = 4096, .global_batch = 15360}};
        auto const result = search(step, setting.space, 1).at(0);
        counts = result.counts;
        clock.count(result);
    }
    state.counters["legal"] = static_cast<double>(counts.legal);
    state.counters["feasible"] = static_cast<double>(counts.feasible);
    clock.tell(state);
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
