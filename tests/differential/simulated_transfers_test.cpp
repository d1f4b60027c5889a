#include "support/simulated_plans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

// Checks the transfers between passes of a simulated step by its tasks alone: no data are used before they were made
// and have arrived, and during a blocking transfer nothing else is under way on either end.

namespace headroom {
namespace {

using namespace training;

struct Span {
    Ticks begin = 0, end = 0;
    bool any = false;
    void add(Ticks first, Ticks last) {
        begin = any ? std::min(begin, first) : first;
        end = any ? std::max(end, last) : last;
        any = true;
    }
};

/// Stage, chunk, micro-batch, and whether it is the forward pass: gradients of weights are handed to nobody.
using Key = std::tuple<int, int, int, bool>;

/// Kernels and the collectives between them; transfers by the pass that makes or takes what they carry.
struct Spans {
    std::map<Key, Span> passes, sends, receives;
};

Spans spans_of(SimulatedStep const& step) {
    Spans spans;
    for (std::size_t task = 0; task < step.program.size(); ++task) {
        TaskPlace const place = step.places[task];
        if (place.micro_batch < 0 || place.phase == PassKind::weight_gradient) { continue; }
        auto const& stream = step.program.streams[step.program.stream[task]];
        WorkKind const kind = step.program.kind[task];
        auto const& name = step.program.names[step.program.name[task]];
        Key const key{stream.chip, place.chunk, place.micro_batch, place.phase == PassKind::forward};
        Ticks const begin = step.run.begin[task], end = step.run.end[task];
        if (kind == WorkKind::pipeline) { (name == "receive" ? spans.receives : spans.sends)[key].add(begin, end); }
        if (stream.computes || kind == WorkKind::tensor || kind == WorkKind::context || kind == WorkKind::experts) {
            spans.passes[key].add(begin, end);
        }
    }
    return spans;
}

Question asked_of(ScheduleRow const& row, Overlap overlap, bool sequence_parallel) {
    Strategy strategy{.dp = 1,
                      .tp = 8,
                      .pp = 4,
                      .sequence_parallel = sequence_parallel,
                      .precision = Precision::bf16,
                      .overlap = overlap};
    auto const model = catalog().model("llama-3-8b");
    set_schedule(strategy, row.id, model);
    Workload const workload{.sequence_length = 2048, .global_batch = 16};
    return question(model, catalog().cluster("dgx-h100"), catalog().framework("megatron-core"), strategy, workload);
}

void expect_nothing_too_early(ScheduleRow const& row, Question const& asked) {
    Priced const priced{asked};
    auto const& strategy = priced.question.strategy;
    auto const step = simulate_step(priced.setting(), strategy, priced.costs, {.places = true});
    ASSERT_TRUE(step.refused.empty()) << row.name << ": " << step.refused;
    auto const shape = pipeline_shape(strategy, asked.workload);
    auto const spans = spans_of(step);
    int handed = 0;
    for (auto const& [key, pass] : spans.passes) {
        auto const [stage, chunk, micro_batch, forward] = key;
        ChunkPlace const here{stage, chunk};
        auto const from = forward ? previous_place(shape, row.layout, here) : next_place(shape, row.layout, here);
        if (!from) { continue; }
        Key const source{from->stage, from->chunk, micro_batch, forward};
        auto const& made = spans.passes.at(source);
        EXPECT_GE(pass.begin, made.end) << row.name << " stage " << stage << " micro-batch " << micro_batch;
        if (from->stage == stage) { continue; }
        ++handed;
        auto const& sent = spans.sends.at(source);
        EXPECT_GE(sent.begin, made.end) << row.name;
        EXPECT_GE(pass.begin, sent.end) << row.name;
        if (strategy.overlap == Overlap::on) { continue; }
        auto const& received = spans.receives.at(key);
        EXPECT_GE(received.begin, made.end) << row.name << " stage " << stage << " micro-batch " << micro_batch;
        EXPECT_GE(pass.begin, received.end) << row.name;
        for (auto const& [other, busy] : spans.passes) {
            if (std::get<0>(other) != stage) { continue; }
            bool const apart = busy.end <= received.begin || busy.begin >= received.end;
            EXPECT_TRUE(apart) << row.name << ": stage " << stage << " works while it receives";
        }
    }
    EXPECT_GT(handed, 0) << row.name;
}

TEST(SimulatedTransfers, NothingIsUsedBeforeItWasMadeAndHasArrived) {
    for (auto const& row : pipeline_schedules()) {
        for (auto const overlap : {Overlap::on, Overlap::off}) {
            for (bool const sequence_parallel : {false, true}) {
                expect_nothing_too_early(row, asked_of(row, overlap, sequence_parallel));
            }
        }
    }
}

/// Rows whose transfers block know nothing of kernels and collectives; tasks know nothing of rows.
TEST(SimulatedTransfers, ThatBlockTakeWhatTheRowsTake) {
    for (auto const& row : pipeline_schedules()) {
        if (row.asynchronous) { continue; } // a long run with its updates
        for (int const tp : {1, 2}) {
            auto asked = asked_of(row, Overlap::off, tp > 1);
            asked.strategy.tp = tp;
            asked.framework.host = HostPace::native; // passes take what the chip takes
            Calibration constants = fitted().values();
            constants[Constant::gradients_exposed] = 0.0; // two directions sum gradients over both copies
            Priced const priced{asked, constants};
            auto const& strategy = priced.question.strategy;
            auto const times = pipeline_times(priced.setting(), strategy, priced.costs);
            auto const run = run_pipeline(row.order(pipeline_shape(strategy, asked.workload)), times);
            ASSERT_TRUE(run) << row.name;
            auto const step =
                simulate_step(priced.setting(), strategy, priced.costs, {.share_links = false, .places = true});
            Span passes;
            for (std::size_t task = 0; task < step.program.size(); ++task) {
                WorkKind const kind = step.program.kind[task];
                bool const works = step.program.streams[step.program.stream[task]].computes || kind == WorkKind::tensor;
                if (works && step.places[task].micro_batch >= 0) {
                    passes.add(step.run.begin[task], step.run.end[task]);
                }
            }
            auto const makespan = static_cast<double>(run->makespan);
            EXPECT_NEAR(static_cast<double>(passes.end - passes.begin), makespan, 1e-6 * makespan) << row.name << tp;
        }
    }
}

} // namespace
} // namespace headroom
