#include "support/simulated_plans.hpp"

#include <gtest/gtest.h>

#include <utility>

// Sums that a simulated step promises, to the picosecond, and the pieces that its gradients are sent in.

namespace headroom {

using namespace headroom::laws;

namespace {

using namespace training;

constexpr double picosecond = 1e-12;

/// Tolerance: half a picosecond, and the rounding of a sum of a dozen doubles.
double close_to(Seconds time) { return 0.5 * picosecond + 1e-14 * time.base(); }

TEST(SimulatedParts, AddUpToThePicosecond) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        auto const step = simulated_plan(seed);
        auto const& time = step.time;
        Seconds const sum = time.total() - time.imbalance - time.stragglers - time.overhead;
        EXPECT_NEAR(sum.base(), step.makespan.base(), close_to(time.total())) << "seed " << seed;
    }
}

TEST(SimulatedParts, TheCriticalPathHasNoGapsAndItsKindsAddUp) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        auto const step = simulated_plan(seed);
        Ticks at = 0;
        std::array<Ticks, work_kind_count> by_kind{};
        for (TaskId const task : step.run.critical_path) {
            EXPECT_EQ(step.run.begin[task], at) << "seed " << seed;
            at = step.run.end[task];
            by_kind[static_cast<std::size_t>(step.program.kind[task])] += at - step.run.begin[task];
        }
        EXPECT_EQ(at, step.run.makespan) << "seed " << seed;
        for (std::size_t kind = 0; kind < work_kind_count; ++kind) {
            Seconds const told = step.critical[kind];
            EXPECT_NEAR(told.base(), static_cast<double>(by_kind[kind]) * picosecond, close_to(told))
                << "seed " << seed;
        }
    }
}

/// A stage that gathers its weights while the stage before works waits for both: the price counts the wait as bubble, the
/// simulation as data-parallel communication. The step is the same.
TEST(SimulatedParts, WithoutOverlapAllDataParallelTrafficShows) {
    for (auto const& row : pipeline_schedules()) {
        if (row.asynchronous) { continue; } // its updates between micro-batches are left out
        Strategy strategy{.dp = 4, .tp = 2, .pp = 2, .zero = 1, .sequence_parallel = true, .overlap = Overlap::off};
        auto const model = catalog().model("llama-3-8b");
        set_schedule(strategy, row.id, model);
        Workload const workload{.sequence_length = 4096, .global_batch = 32};
        Priced const priced{
            question(model, catalog().cluster("dgx-h100"), catalog().framework("megatron-core"), strategy, workload)};
        auto const step =
            simulate_step(priced.setting(), priced.question.strategy, priced.costs, {.detail = StepDetail::block});
        ASSERT_TRUE(step.refused.empty()) << row.name << ": " << step.refused;
        // with both directions at once gradients and two transfers share a NIC, of which the price lets two
        bool const both_ways = row.id == PipelineSchedule::dualpipe || row.id == PipelineSchedule::dualpipe_v;
        EXPECT_NEAR(step.time.total() / priced.time.total(), 1.0, both_ways ? 5e-3 : 1e-6) << row.name;
        EXPECT_GE(step.time.data_communication, priced.time.data_communication * (1.0 - 1e-6)) << row.name;
    }
}

TEST(SimulatedParts, BlocksOfSeveralBucketsSendThemWhileTheyWork) {
    // Expectation: a block of Llama 3 8B has 218 million parameters, five buckets of 40 million, the last with what is
    // left over. So has one of Mixtral's with an expert a rank: 176 million of it, and 42 million that all ranks share.
    for (auto const& [name, experts] : {std::pair{"llama-3-8b", 1}, std::pair{"mixtral-8x7b", 8}}) {
        Strategy const strategy{.dp = 8, .ep = experts, .zero = 1};
        Workload const workload{.sequence_length = 4096, .global_batch = 16};
        Priced const priced{question(catalog().model(name), catalog().cluster("dgx-h100"),
                                     catalog().framework("megatron-core"), strategy, workload)};
        auto const step = simulate_step(priced.setting(), priced.question.strategy, priced.costs, {.places = true});
        int sent = 0;
        for (std::size_t task = 0; task < step.program.size(); ++task) {
            bool const gradients = step.program.names[step.program.name[task]] == "gradients";
            sent += gradients && step.places[task].layer >= 0 ? 1 : 0;
        }
        EXPECT_EQ(sent, 32 * 5) << name;
    }
}

} // namespace
} // namespace headroom
