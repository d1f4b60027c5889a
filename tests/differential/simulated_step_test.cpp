#include "support/random_questions.hpp"
#include "support/simulated_plans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>

// Compares a simulated step with its own parts, with its schedule run pass by pass, and with the closed form where both
// are equal by construction.

namespace headroom {
namespace {

using namespace training;

Question plain(Strategy const& strategy, int micro_batches, char const* model = "llama-3-8b") {
    Framework stack = catalog().framework("megatron-core");
    stack.host = HostPace::native; // passes take what the chip takes
    Workload const workload{.sequence_length = 4096,
                            .global_batch = strategy.dp * strategy.micro_batch * micro_batches};
    return question(catalog().model(model), catalog().cluster("dgx-h100"), stack, strategy, workload);
}

SimulatedStep simulated(Question const& asked, SimulationOptions const& options = {}) {
    Priced const priced{asked};
    return simulate_step(priced.setting(), priced.question.strategy, priced.costs, options);
}

Seconds of_the_graph(StepTime const& time) { return time.total() - time.imbalance - time.stragglers - time.overhead; }

TEST(SimulatedStep, PartsAddUpToTheMakespan) {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        auto const step = simulated_plan(seed);
        double const sum = of_the_graph(step.time).base(), makespan = step.makespan.base();
        EXPECT_NEAR(sum, makespan, 1e-9 * makespan) << "seed " << seed;
        for (Seconds const part : parts_of(step.time)) { EXPECT_GE(part.base(), 0.0) << "seed " << seed; }
    }
}

TEST(SimulatedStep, IsTheClosedFormWithoutAPipeline) {
    for (int const tp : {1, 2, 8}) {
        for (auto const recompute : recomputations) {
            Strategy const strategy{.dp = 1, .tp = tp, .sequence_parallel = tp > 1, .recompute = recompute};
            auto const asked = plain(strategy, 3);
            auto const step = simulated(asked);
            double const closed = of_the_graph(Priced{asked}.time).base();
            EXPECT_NEAR(step.makespan.base(), closed, 1e-6 * closed) << name_of(asked);
        }
    }
}

/// Rows run pass by pass know nothing of kernels; tasks know nothing of passes.
TEST(SimulatedStep, TakesWhatTheRowsOfItsScheduleTake) {
    for (auto const& row : pipeline_schedules()) {
        for (int const stages : {2, 4}) {
            Strategy strategy{.dp = 1, .tp = 1, .pp = stages};
            auto const model = catalog().model("llama-3-8b");
            set_schedule(strategy, row.id, model);
            auto const asked = plain(strategy, 3 * stages);
            if (!is_legal(asked) || row.asynchronous || row.validates_late) { continue; }
            Calibration constants = fitted().values();
            constants[Constant::gradients_exposed] = 0.0; // two directions sum gradients over both copies
            Priced const priced{asked, constants};
            auto const setting = priced.setting();
            auto const times = pipeline_times(setting, strategy, priced.costs);
            auto const run = run_pipeline(row.order(pipeline_shape(strategy, asked.workload)), times);
            ASSERT_TRUE(run) << row.name;
            auto const step = simulate_step(setting, strategy, priced.costs, {.share_links = false});
            Ticks last = 0; // the end of the last pass
            for (std::size_t task = 0; task < step.program.size(); ++task) {
                bool const update = step.program.names[step.program.name[task]] == "update";
                if (step.program.streams[step.program.stream[task]].computes && !update) {
                    last = std::max(last, step.run.end[task]);
                }
            }
            double const makespan = static_cast<double>(run->makespan);
            EXPECT_NEAR(static_cast<double>(last), makespan, 1e-6 * makespan) << row.name << " " << stages;
        }
    }
}

TEST(SimulatedStep, BlocksAsOneTaskTakeAsLong) {
    auto const asked = plain({.dp = 2, .tp = 2, .pp = 4, .zero = 1, .sequence_parallel = true}, 8);
    auto const fine = simulated(asked), coarse = simulated(asked, {.detail = StepDetail::block});
    EXPECT_LT(coarse.program.size(), fine.program.size() / 2);
    EXPECT_NEAR(coarse.makespan / fine.makespan, 1.0, 0.005);
}

TEST(SimulatedStep, RefusesMoreTasksThanAsked) {
    auto const step = simulated(plain({.dp = 1, .pp = 4}, 8), {.most_tasks = 100});
    EXPECT_NE(step.refused.find("are more than the 100"), std::string::npos) << step.refused;
    EXPECT_EQ(step.program.size(), 0U);
}

TEST(SimulatedStep, StopsWhenAsked) {
    std::stop_source source;
    source.request_stop();
    EXPECT_FALSE(simulated(plain({.dp = 1, .pp = 4}, 8), {.stop = source.get_token()}).run.complete);
}

/// Traffic that slows the kernels it overlaps with has exposed time even where it fits its window.
TEST(SimulatedStep, ReductionsSlowTheKernelsThatHideThem) {
    auto const alone = simulated(plain({.dp = 1, .tp = 2}, 2)), beside = simulated(plain({.dp = 8, .tp = 2}, 2));
    EXPECT_EQ(alone.time.data_communication.base(), 0.0);
    EXPECT_GT(beside.time.data_communication, beside.stages[0].exposed[static_cast<std::size_t>(WorkKind::data)]);
}

} // namespace
} // namespace headroom
