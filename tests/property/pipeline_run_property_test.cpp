#include "support/pipelines.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom {

using namespace headroom::training;

namespace {

using test::CounterRandom;

/// A shape that a schedule can run.
PipelineShape random_shape(ScheduleRow const& row, CounterRandom& random) {
    for (;;) {
        PipelineShape const shape{1 + random.below(8), row.chunks > 0 ? row.chunks : 2 + random.below(3),
                                  1 + random.below(24)};
        if (impossible_because(row.id, shape).empty()) { return shape; }
    }
}

template <class Check> void for_random_rows(std::uint64_t seed, int trials, Check check) {
    CounterRandom random{seed};
    for (ScheduleRow const& row : pipeline_schedules()) {
        for (int trial = 0; trial < trials; ++trial) {
            PipelineShape const shape = random_shape(row, random);
            SCOPED_TRACE(test::told(row.id, shape));
            check(row, row.order(shape), random);
            if (testing::Test::HasFatalFailure()) { return; }
        }
    }
}

TEST(PipelineRun, IsTheLongestChainOfItsPasses) {
    // Expectation: rows run in order take as long as the longest chain of a graph of the same passes and transfers.
    for_random_rows(1, 120, [](ScheduleRow const&, PipelineOrder const& order, CounterRandom& random) {
        test::expect_complete(order);
        auto const times = test::random_times(order.shape, random, 9, random.below(2) * 6);
        auto const run = run_pipeline(order, times);
        ASSERT_TRUE(run && run->complete);
        EXPECT_EQ(run->makespan, test::longest_chain(order, times));
    });
}

TEST(PipelineRun, TakesNoLessThanItsStagesAndItsMicroBatches) {
    // Expectation: no stage ends before it has done its work, and no micro-batch before it has been through the model.
    for_random_rows(2, 60, [](ScheduleRow const&, PipelineOrder const& order, CounterRandom& random) {
        auto const times = test::random_times(order.shape, random, 9, 0);
        auto const run = run_pipeline(order, times);
        ASSERT_TRUE(run);
        Ticks through = 0;
        for (std::size_t place = 0; place < times.passes.size(); ++place) {
            bool const counts = order.layout != ChunkLayout::bidirectional || place % 2 == 0;
            through += counts ? times.passes[place].forward + times.passes[place].input : 0;
        }
        EXPECT_GE(run->makespan, through);
        for (int stage = 0; stage < order.shape.stages; ++stage) {
            auto const s = static_cast<std::size_t>(stage);
            EXPECT_GE(run->span[s], run->busy[s]);
            EXPECT_GE(run->makespan, run->span[s]);
        }
        EXPECT_EQ(run->period, *std::ranges::max_element(run->span));
    });
}

TEST(PipelineRun, IsNeverShorterWhenTimesGrow) {
    for_random_rows(3, 60, [](ScheduleRow const&, PipelineOrder const& order, CounterRandom& random) {
        auto times = test::random_times(order.shape, random, 9, 3);
        auto const before = run_pipeline(order, times);
        for (PassTicks& ticks : times.passes) {
            ticks.forward += random.below(3);
            ticks.input += random.below(3);
            ticks.weight += random.below(3);
        }
        for (Ticks& hop : times.hop) { hop += random.below(2); }
        auto const after = run_pipeline(order, times);
        ASSERT_TRUE(before && after);
        EXPECT_GE(after->makespan, before->makespan);
    });
}

TEST(PipelineRun, BeginsSayWhenStagesWork) {
    // Expectation: passes of a row follow each other, and what a stage is busy with lies between its first and last.
    for_random_rows(4, 30, [](ScheduleRow const&, PipelineOrder const& order, CounterRandom& random) {
        auto const times = test::random_times(order.shape, random, 9, 3);
        auto const run = run_pipeline(order, times, true);
        ASSERT_TRUE(run);
        ASSERT_EQ(run->begin.size(), order.passes.size());
        for (int stage = 0; stage < order.shape.stages; ++stage) {
            auto const s = static_cast<std::size_t>(stage);
            for (std::size_t i = order.first[s] + 1; i < order.first[s + 1]; ++i) {
                EXPECT_GT(run->begin[i], run->begin[i - 1]);
            }
        }
    });
}

TEST(PipelineRun, TellsOfRowsThatWaitForEachOther) {
    // Expectation: a stage whose backward pass stands before its forward pass waits for ever, and nothing hangs.
    PipelineOrder order{
        {1, 1, 1}, ChunkLayout::loop, {0, 2}, {{PassKind::backward, 0, false, 0}, {PassKind::forward, 0, false, 0}}};
    EXPECT_FALSE(run_pipeline(order, test::equal_times(order.shape, {1, 1, 1})));
}

TEST(PipelineRun, StopsWhenAsked) {
    std::stop_source stop;
    stop.request_stop();
    auto const order = schedule_row(PipelineSchedule::one_f_one_b).order({4, 1, 8});
    auto const run = run_pipeline(order, test::equal_times(order.shape, {1, 1, 1}), false, stop.get_token());
    ASSERT_TRUE(run);
    EXPECT_FALSE(run->complete);
}

} // namespace
} // namespace headroom
