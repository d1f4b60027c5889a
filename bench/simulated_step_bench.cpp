// Motivation: a prediction shows the step that it predicts, so unrolling and running one must not be felt.
// Targets, one core: a step of 16 accelerators with 32 micro-batches unrolled, run and measured in 0.05 s, a task for
// each kernel; 128 blocks over 64 stages with 512 micro-batches, about a million tasks, a task for each kind of work of
// a block, run in 0.3 s. Collectives by messages: the first in 0.1 s, one of 8,192 accelerators in a few seconds.
// Last result: see docs/guide/simulated-step.md.
#include "../tests/support/training.hpp"

#include "headroom/training/simulated_step.hpp"

#include <benchmark/benchmark.h>

namespace headroom {
namespace {

using namespace training;

Question sixteen() {
    return question(catalog().model("llama-3-8b"), catalog().cluster("dgx-h100"), catalog().framework("megatron-core"),
                    {.dp = 2, .tp = 2, .pp = 4, .zero = 1, .sequence_parallel = true},
                    {.sequence_length = 8192, .global_batch = 64});
}

Question large() {
    Model model = catalog().model("gpt3-175b");
    model.layers = 128;
    return question(model, catalog().cluster("dgx-h100"), catalog().framework("megatron-core"),
                    {.dp = 1, .tp = 8, .pp = 64, .sequence_parallel = true},
                    {.sequence_length = 2048, .global_batch = 512});
}

/// Groups as long as they come.
Question thousands() {
    return question(catalog().model("gpt3-175b"), catalog().cluster("dgx-h100"), catalog().framework("megatron-core"),
                    {.dp = 256, .tp = 8, .pp = 4, .zero = 1, .sequence_parallel = true},
                    {.sequence_length = 2048, .global_batch = 4096});
}

void simulate(benchmark::State& state, Question const& asked, StepDetail detail,
              CollectiveDetail collectives = CollectiveDetail::operation) {
    Priced const priced{asked};
    auto const setting = priced.setting();
    std::size_t tasks = 0;
    for (auto _ : state) {
        auto const step = simulate_step(setting, priced.question.strategy, priced.costs,
                                        {.collectives = collectives, .detail = detail});
        tasks = step.program.size();
        benchmark::DoNotOptimize(step.makespan);
    }
    state.counters["tasks"] = static_cast<double>(tasks);
}

BENCHMARK_CAPTURE(simulate, sixteen_accelerators, sixteen(), StepDetail::operation)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, million_tasks, large(), StepDetail::block)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, sixteen_accelerators_by_messages, sixteen(), StepDetail::operation,
                  CollectiveDetail::messages)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate, thousands_by_messages, thousands(), StepDetail::block, CollectiveDetail::messages)
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace headroom
