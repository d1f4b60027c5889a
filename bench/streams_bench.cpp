// Motivation: a step is simulated for every schedule that is compared and for every plan that is inspected,
// while their user waits. The engine goes from one end of a task to the next; what a task and an edge cost is a few
// reads and writes in memory that other tasks have used in the meantime, and a place in a small order of times.
// Targets, one core: 1 million tasks (128 layers on 64 stages x 512 micro-batches, 8 operations a layer each way) in
// 0.3 s with kernels slowed and links shared; at most 26 bytes a task and 4 an edge in addition to the program and the
// result. Last result (one core of a shared 2-core x86-64 virtual machine with four times its cores' work to do, g++ 12
// -O2, processor time; reading streams at 16 GB/s): 1.11 million tasks and 2.36 million edges in 0.16 s, 0.19 s when
// all stages take turns to be numbered; 0.06 and 0.08 s where nothing is slowed; 24 to 26 bytes a task. The limit,
// every byte once as memory streams, is 6 ms: the rest is lines of memory that come one by one, and 60 ns a task for
// clocks.
#include "../tests/support/random.hpp"
#include "memory.hpp"

#include "headroom/training/stream_simulation.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::training;

namespace {

constexpr int stages = 64, layers = 2, micro_batches = 512, operations = 8, streams = 4;

enum class Numbers { by_stage, by_round };
enum class Rates { alone, slowed_and_shared };

/// A pass of one micro-batch through one stage.
struct Pass {
    int stage, micro_batch;
    bool forward;
};

/// 1F1B on stages with streams for kernels, tensor collectives, sends to the next stage and to the one before. Every
/// fourth operation is a collective, which overlaps with the next kernel. Tasks are numbered stage by stage, or all
/// stages take turns.
class Step {
public:
    Step(Numbers numbers, Rates rates, int count) : rates_{rates}, count_{count}, random_{1} {
        add_streams();
        first_[0].resize(passes());
        first_[1].resize(passes());
        sent_[0].resize(passes());
        sent_[1].resize(passes());
        for (Pass const& pass : order(numbers)) { add(pass); }
        join_stages();
    }
    StreamProgram program;

private:
    [[nodiscard]] std::size_t passes() const { return stages * static_cast<std::size_t>(count_); }
    [[nodiscard]] std::size_t place(int stage, int micro_batch) const {
        return static_cast<std::size_t>(stage) * static_cast<std::size_t>(count_) +
               static_cast<std::size_t>(micro_batch);
    }

    void add_streams() {
        bool const both = rates_ == Rates::slowed_and_shared;
        program.slowdown = both ? 0.137 : 0.0;
        program.names = {"kernel", "collective", "send"};
        for (int stage = 0; stage < stages; ++stage) {
            auto const chip = static_cast<std::uint16_t>(stage);
            LinkIndex const link = both ? chip : no_link;
            std::string const name = "stage " + std::to_string(stage);
            program.streams.push_back({.name = name + " kernels", .chip = chip, .computes = true});
            program.streams.push_back({.name = name + " tensor", .chip = chip, .link = link, .network = true});
            program.streams.push_back({.name = name + " next", .chip = chip, .link = link, .network = true});
            program.streams.push_back({.name = name + " previous", .chip = chip, .link = link, .network = true});
        }
    }

    [[nodiscard]] std::vector<Pass> passes_of(int stage) const {
        std::vector<Pass> result;
        int const ahead = std::min(stages - 1 - stage, count_);
        for (int i = 0; i < ahead; ++i) { result.push_back({stage, i, true}); }
        for (int i = 0; i < count_; ++i) {
            if (i + ahead < count_) { result.push_back({stage, i + ahead, true}); }
            result.push_back({stage, i, false});
        }
        return result;
    }
    [[nodiscard]] std::vector<Pass> order(Numbers numbers) const {
        std::vector<Pass> all;
        for (int stage = 0; stage < stages; ++stage) {
            for (Pass const& pass : passes_of(stage)) { all.push_back(pass); }
        }
        if (numbers == Numbers::by_stage) { return all; }
        std::vector<Pass> turns;
        std::size_t const each = all.size() / stages;
        for (std::size_t i = 0; i < all.size(); ++i) { turns.push_back(all[i % stages * each + i / stages]); }
        return turns;
    }

    void add(Pass const& pass) {
        auto const kernels = static_cast<StreamId>(streams * pass.stage);
        std::size_t const at = place(pass.stage, pass.micro_batch);
        int const tasks = layers * operations;
        for (int i = 0; i < tasks; ++i) {
            bool const is_collective = i % 4 == 3;
            auto const cost = static_cast<Ticks>(is_collective ? 3e7 : 1e8 * (1.0 + 0.1 * random_.uniform()));
            TaskId const task = is_collective ? program.add(kernels + 1, WorkKind::tensor, cost, 1)
                                              : program.add(kernels, WorkKind::gemm, cost, 0);
            if (i == 0) { first_[pass.forward ? 0 : 1][at] = task; }
            if (i > 0 && i % 4 != 0) { program.wait(task, task - 1); }
            if (i > 1) { program.wait(task, task - 2); }
            if (!pass.forward) { program.wait(task, first_[0][at] + static_cast<TaskId>(tasks - 1 - i)); }
        }
        auto const last = static_cast<TaskId>(program.size() - 1);
        bool const is_end = pass.stage == (pass.forward ? stages - 1 : 0);
        if (is_end) { return; }
        auto const way = static_cast<StreamId>(kernels + (pass.forward ? 2 : 3));
        sent_[pass.forward ? 0 : 1][at] = program.add(way, WorkKind::pipeline, Ticks{50'000'000}, 2);
        program.wait(static_cast<TaskId>(program.size() - 1), last);
    }

    void join_stages() {
        for (int stage = 0; stage + 1 < stages; ++stage) {
            for (int i = 0; i < count_; ++i) {
                program.wait(first_[0][place(stage + 1, i)], sent_[0][place(stage, i)]);
                program.wait(first_[1][place(stage, i)], sent_[1][place(stage + 1, i)]);
            }
        }
    }

    Rates rates_;
    int count_;
    test::CounterRandom random_;
    std::vector<TaskId> first_[2], sent_[2]; ///< by pass: its first task and what it sends
};

/// Bytes that must be read and written: program, order and result once.
double least_bytes(StreamProgram const& program) {
    double const task = sizeof(Ticks) + sizeof(StreamId) + sizeof(WorkKind) + 2.0 * sizeof(Ticks);
    return static_cast<double>(program.size()) * (task + 24.0) + static_cast<double>(program.edges.size()) * 12.0;
}

void report(benchmark::State& state, StreamProgram const& program, std::size_t bytes) {
    auto const tasks = static_cast<double>(program.size()), edges = static_cast<double>(program.edges.size());
    state.counters["tasks"] =
        benchmark::Counter(tasks * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    state.counters["edges_a_task"] = edges / tasks;
    state.counters["limit_ms"] = 1e3 * least_bytes(program) / stream_rate();
    state.counters["bytes_a_task"] = (static_cast<double>(bytes) - 4.0 * edges) / tasks;
}

/// Target 300 ms.
void run(benchmark::State& state, Numbers numbers, Rates rates) {
    StreamProgram const program = Step{numbers, rates, micro_batches}.program;
    std::size_t bytes = 0;
    for (auto _ : state) {
        std::size_t const before = bytes_most = bytes_now;
        StreamRun const result = run_streams(program);
        bytes = bytes_most - before - program.size() * 2 * sizeof(Ticks);
        state.counters["bubble"] =
            static_cast<double>(result.chips.front().idle) / static_cast<double>(result.makespan);
    }
    report(state, program, bytes);
}
BENCHMARK_CAPTURE(run, alone_by_stage, Numbers::by_stage, Rates::alone)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, alone_by_round, Numbers::by_round, Rates::alone)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, slowed_by_stage, Numbers::by_stage, Rates::slowed_and_shared)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, slowed_by_round, Numbers::by_round, Rates::slowed_and_shared)->Unit(benchmark::kMillisecond);

void make(benchmark::State& state) {
    for (auto _ : state) { benchmark::DoNotOptimize(Step{Numbers::by_stage, Rates::slowed_and_shared, micro_batches}); }
}
BENCHMARK(make)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace headroom
