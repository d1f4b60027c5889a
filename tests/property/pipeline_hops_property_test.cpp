// What transfers between stages add to a step, against the closed forms.

#include "support/pipelines.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom {

using namespace headroom::training;

namespace {

using test::CounterRandom;

Ticks length_of(ScheduleRow const& row, PipelineRun const& run) {
    return row.validates_late ? run.period : run.makespan;
}

StageTimes stage_times(ScheduleRow const& row, PipelineShape const& shape, PassTicks const& chunk) {
    double const chunks = row.layout == ChunkLayout::bidirectional ? 1 : shape.chunks;
    return {chunks * static_cast<double>(chunk.forward), chunks * static_cast<double>(chunk.input),
            chunks * static_cast<double>(chunk.weight)};
}

TEST(PipelineHops, AreTheClosedFormWhereverThereIsOne) {
    // Expectation: rows run with hops take as much longer than without as the closed form says, tick by tick.
    CounterRandom random{1};
    int exact = 0;
    for (ScheduleRow const& row : pipeline_schedules()) {
        if (row.hops == nullptr || row.asynchronous) { continue; }
        int of_this = 0;
        for (int trial = 0; trial < 6000; ++trial) {
            PipelineShape const shape{1 + random.below(10), row.chunks > 0 ? row.chunks : 2 + random.below(3),
                                      1 + random.below(44)};
            if (!impossible_because(row.id, shape).empty()) { continue; }
            // multiples of 12, for shares of times to be whole ticks
            PassTicks const chunk{12 * (5 + random.below(40)), 12 * (5 + random.below(40)),
                                  12 * (5 + random.below(40))};
            Ticks const hop =
                12 * (1 + random.below(trial % 2 == 0 ? 60 : 6)); // some hide, some are longer than a pass
            bool const blocking = random.below(2) == 1;
            auto const times = stage_times(row, shape, chunk);
            auto const closed = row.hops(shape, times, static_cast<double>(hop), blocking);
            if (!closed) { continue; }
            auto const order = row.order(shape);
            auto const with = run_pipeline(order, test::equal_times(shape, chunk, hop, blocking));
            auto const without = run_pipeline(order, test::equal_times(shape, chunk));
            ASSERT_TRUE(with && without);
            EXPECT_NEAR(static_cast<double>(length_of(row, *with) - length_of(row, *without)), *closed, 1e-6)
                << test::told(row.id, shape) << " F " << chunk.forward << " B " << chunk.input << " W " << chunk.weight
                << " hop " << hop << (blocking ? " blocking" : "");
            ++of_this;
        }
        EXPECT_GT(of_this, 50) << row.name; // those with few shapes and times that have a form
        exact += of_this;
    }
    EXPECT_GT(exact, 5000);
}

} // namespace
} // namespace headroom
