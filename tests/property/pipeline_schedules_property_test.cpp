// Compares the results of each schedule with the closed forms and the published tables.

#include "support/pipelines.hpp"
#include "support/published_bubbles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headroom {

using namespace headroom::training;

namespace {

/// Idle time that a published form is about: of the period where updates are checked afterwards, else of the step.
Ticks idle_of(ScheduleRow const& row, PipelineRun const& run) {
    Ticks idle = 0;
    for (std::size_t stage = 0; stage < run.busy.size(); ++stage) {
        idle = std::max(idle, (row.validates_late ? run.span[stage] : run.makespan) - run.busy[stage]);
    }
    return idle;
}

StageTimes stage_times(ScheduleRow const& row, PipelineShape const& shape, PassTicks const& chunk) {
    double const chunks = row.layout == ChunkLayout::bidirectional ? 1 : shape.chunks;
    return {chunks * static_cast<double>(chunk.forward), chunks * static_cast<double>(chunk.input),
            chunks * static_cast<double>(chunk.weight)};
}

template <class Check> void for_all_shapes(ScheduleRow const& row, int most_stages, Check check) {
    for (int p = 1; p <= most_stages; ++p) {
        for (int v = row.chunks > 0 ? row.chunks : 2; v <= (row.chunks > 0 ? row.chunks : 4); ++v) {
            for (int m = 1; m <= 4 * p + 2; ++m) {
                PipelineShape const shape{p, v, m};
                if (impossible_because(row.id, shape).empty()) { check(shape); }
            }
        }
    }
}

TEST(PipelineBubble, IsTheClosedFormWhereverThereIsOne) {
    // Expectation: with equal stages and no hops the idle time of rows run is the closed form, tick by tick, wherever the
    // schedule gives one; and it gives one for every shape with enough micro-batches and F = B = W.
    int compared = 0, exact = 0;
    for (ScheduleRow const& row : pipeline_schedules()) {
        if (row.asynchronous) { continue; }
        for_all_shapes(row, 10, [&](PipelineShape const& shape) {
            auto const order = row.order(shape);
            for (Ticks f = 1; f <= 3; ++f) {
                for (Ticks i = 1; i <= 3; ++i) {
                    for (Ticks w = 1; w <= 4; ++w) {
                        PassTicks const chunk{f, i, w};
                        auto const closed = test::published_bubble(row.id, shape, stage_times(row, shape, chunk));
                        if (f == i && i == w && shape.micro_batches >= 2 * shape.stages + 2) {
                            EXPECT_TRUE(closed) << test::told(row.id, shape);
                        }
                        ++compared;
                        if (!closed) { continue; }
                        ++exact;
                        auto const run = run_pipeline(order, test::equal_times(shape, chunk));
                        ASSERT_TRUE(run) << test::told(row.id, shape);
                        EXPECT_NEAR(static_cast<double>(idle_of(row, *run)), *closed, 1e-9)
                            << test::told(row.id, shape) << " F " << f << " B " << i << " W " << w;
                    }
                }
            }
        });
    }
    EXPECT_GT(exact, compared / 3);
}

TEST(PipelineBubble, IsTheClosedFormForTimesOfAnyProportion) {
    // Expectation: the same of times drawn by chance, most of them W <= F <= B as passes of transformers are.
    test::CounterRandom random{2};
    for (ScheduleRow const& row : pipeline_schedules()) {
        if (row.asynchronous) { continue; }
        int exact = 0;
        for (int trial = 0; trial < 4000; ++trial) {
            PipelineShape const shape{1 + random.below(13), row.chunks > 0 ? row.chunks : 2 + random.below(3),
                                      1 + random.below(50)};
            if (!impossible_because(row.id, shape).empty()) { continue; }
            Ticks const forward = 10 + random.below(90);
            bool const usual = random.below(4) > 0;
            PassTicks const chunk{forward, usual ? forward + random.below(150) : 10 + random.below(150),
                                  1 + random.below(usual ? static_cast<int>(forward) : 150)};
            auto const closed = test::published_bubble(row.id, shape, stage_times(row, shape, chunk));
            if (!closed) { continue; }
            auto const run = run_pipeline(row.order(shape), test::equal_times(shape, chunk));
            ASSERT_TRUE(run);
            EXPECT_NEAR(static_cast<double>(idle_of(row, *run)), *closed, 1e-6)
                << test::told(row.id, shape) << " F " << chunk.forward << " B " << chunk.input << " W " << chunk.weight;
            ++exact;
        }
        EXPECT_GT(exact, 300) << row.name;
    }
}

TEST(PipelineBubble, OfTheVsIsThatOfTheTable) {
    // Expectation: of 1F1B's bubble (p-1)(F + B + W), V-Min has two thirds and V-Half a half, ZBV none, up to a slot a
    // stage cannot give back; a stage has six slots a micro-batch.
    for (int p = 2; p <= 64; p = p < 16 ? p + 1 : p + 8) {
        PipelineShape const shape{p, 2, 2 * p};
        auto const idle = [&](PipelineSchedule id) {
            auto const run = run_pipeline(schedule_row(id).order(shape), test::equal_times(shape, {1, 1, 1}));
            return static_cast<double>(idle_of(schedule_row(id), *run));
        };
        double const plain = 6.0 * (p - 1);
        EXPECT_EQ(idle(PipelineSchedule::zbv), 0.0) << p;
        EXPECT_NEAR(idle(PipelineSchedule::v_min), plain * 2.0 / 3.0, 1.0) << p;
        EXPECT_LE(idle(PipelineSchedule::v_half), plain / 2.0) << p;
        EXPECT_GE(idle(PipelineSchedule::v_half), plain / 2.0 - 4.0) << p;
        EXPECT_EQ(idle(PipelineSchedule::v_half),
                  *test::published_bubble(PipelineSchedule::v_half, shape, {2.0, 2.0, 2.0}))
            << p;
    }
}

TEST(PipelineBubble, OfTheScreenIsNearTheOneOfTheSchedule) {
    // Expectation: for four and more stages and enough micro-batches the linear form of a schedule's row is within 6 % of the step of
    // the idle time of its rows run; within 12 % where the gradients of inputs take longer than both other passes, as where
    // all is computed again, and a bubble in every micro-batch outgrows that of the ends.
    for (ScheduleRow const& row : pipeline_schedules()) {
        if (row.asynchronous) { continue; }
        for (int p = 4; p <= 16; p += 2) {
            PipelineShape const shape{p, row.chunks > 0 ? row.chunks : 3, 4 * p};
            for (PassTicks const& chunk : {PassTicks{20, 20, 20}, PassTicks{20, 26, 16}, PassTicks{20, 46, 18}}) {
                auto const run = run_pipeline(row.order(shape), test::equal_times(shape, chunk));
                StageTimes const times = stage_times(row, shape, chunk);
                double const chunks = row.chunks == 0 ? shape.chunks : 1;
                double const screened = (p - 1) * std::max(0.0, row.bubble.sum(times)) / chunks +
                                        shape.micro_batches * std::max(0.0, row.drift.sum(times));
                double const share = chunk.input > chunk.forward + chunk.weight ? 0.12 : 0.06;
                EXPECT_NEAR(static_cast<double>(idle_of(row, *run)), screened,
                            share * shape.micro_batches * times.all())
                    << test::told(row.id, shape) << " B " << chunk.input;
            }
        }
    }
}

TEST(PipelineMemory, IsThatOfTheTables) {
    // Expectation: no stage holds more than the table has, and each as much where the table is by stage; in the Vs the
    // most of all stages is the table's.
    for (ScheduleRow const& row : pipeline_schedules()) {
        bool const by_stage = row.id != PipelineSchedule::v_half && row.id != PipelineSchedule::v_min;
        for_all_shapes(row, 12, [&](PipelineShape const& shape) {
            auto const run = run_pipeline(row.order(shape), test::equal_times(shape, {1, 1, 1}));
            ASSERT_TRUE(run);
            double most = 0.0, table = 0.0;
            for (int stage = 0; stage < shape.stages; ++stage) {
                double const held = test::depths_held(*run, shape, row.layout, static_cast<std::size_t>(stage));
                if (by_stage) {
                    EXPECT_EQ(held, row.held(shape, stage)) << test::told(row.id, shape) << " of " << stage;
                }
                EXPECT_LE(held, row.held(shape, stage)) << test::told(row.id, shape) << " of " << stage;
                most = std::max(most, held);
                table = std::max(table, row.held(shape, stage));
            }
            EXPECT_EQ(most, table) << test::told(row.id, shape);
        });
    }
}

TEST(PipelineMemory, IsWhatTheLiteratureSays) {
    // Expectation: m; p; p(1 + (p-1)/(pv)); p; 2p - 1 within 2p; p; (p+2)/2; (p+4)/3; p + 1; p + 1 halves of 2p parts.
    auto const most = [](PipelineSchedule id, PipelineShape const& shape) {
        auto const run = run_pipeline(schedule_row(id).order(shape), test::equal_times(shape, {1, 1, 1}));
        double held = 0.0;
        for (std::size_t stage = 0; stage < run->chunks_held.size(); ++stage) {
            held = std::max(held, test::depths_held(*run, shape, schedule_row(id).layout, stage));
        }
        return held;
    };
    for (int p = 2; p <= 16; p += 2) {
        int const m = 4 * p;
        EXPECT_EQ(most(PipelineSchedule::gpipe, {p, 1, m}), m);
        EXPECT_EQ(most(PipelineSchedule::one_f_one_b, {p, 1, m}), p);
        EXPECT_NEAR(most(PipelineSchedule::interleaved, {p, 4, m}), p * (1.0 + (p - 1.0) / (p * 4.0)), 1e-12);
        EXPECT_EQ(most(PipelineSchedule::zb_h1, {p, 1, m}), p);
        EXPECT_EQ(most(PipelineSchedule::zb_2p, {p, 1, m}), 2 * p - 1);
        EXPECT_EQ(most(PipelineSchedule::zbv, {p, 2, m}), p);
        EXPECT_EQ(most(PipelineSchedule::v_half, {p, 2, m}), (p + 2) / 2);
        EXPECT_EQ(most(PipelineSchedule::v_min, {p, 2, m}), (p + 4) / 3);
        EXPECT_EQ(most(PipelineSchedule::dualpipe, {p, 2, m}), p + 1);
        EXPECT_EQ(2.0 * most(PipelineSchedule::dualpipe_v, {p, 2, m}), 2 * p + 1);
    }
}

} // namespace
} // namespace headroom
