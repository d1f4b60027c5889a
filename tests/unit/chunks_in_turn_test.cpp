#include "training/pipeline/run_beside.hpp"
#include "training/step_turns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

// Gradients and weights that overlap with the passes of a pipeline: rows that are run with them, and the form for
// chunks in turn.

namespace headroom {

using namespace headroom::training;

namespace {

PipelineTimes equal_passes(PipelineShape const& shape) {
    PipelineTimes times;
    times.passes.assign(static_cast<std::size_t>(shape.stages) * static_cast<std::size_t>(shape.chunks),
                        {.forward = 10, .input = 10, .weight = 10});
    return times;
}

constexpr PipelineShape two_stages{.stages = 2, .chunks = 1, .micro_batches = 1};

RunBeside run_two_stages(ChunkTraffic const& traffic, double loss) {
    auto const order = schedule_row(PipelineSchedule::one_f_one_b).order(two_stages);
    return run_beside(order, equal_passes(two_stages), {.chunks = {traffic, traffic}, .loss = loss});
}

TEST(RowsBesideTraffic, EndWithTheirPassesWhereThereIsNone) {
    PipelineShape const shape{.stages = 4, .chunks = 2, .micro_batches = 16};
    auto const order = schedule_row(PipelineSchedule::zbv).order(shape);
    auto const alone = run_pipeline(order, equal_passes(shape));
    ASSERT_TRUE(alone);
    auto const beside = run_beside(order, equal_passes(shape), {});
    EXPECT_EQ(beside.end, alone->makespan);
    EXPECT_EQ(beside.longest, alone->period);
}

TEST(RowsBesideTraffic, ReduceBehindTheLastPassAndUpdate) {
    // the first stage's backward pass is from 40 to 60; half of the gradients wait for its end, then the update
    EXPECT_EQ(run_two_stages({.reduce = 30.0, .late = 0.5, .update = 5.0}, 0.0).end, 60 + 15 + 5);
    // gradients that outlast the pass go on from its begin
    EXPECT_EQ(run_two_stages({.reduce = 80.0}, 0.0).end, 40 + 80);
}

TEST(RowsBesideTraffic, HandOnLaterWhatTrafficSlows) {
    // 20 of traffic within each backward pass at half the rate: 10 on each stage
    EXPECT_EQ(run_two_stages({.reduce = 40.0, .late = 0.5}, 0.5).end, 80 + 20);
}

TEST(RowsBesideTraffic, WaitForTheirWeights) {
    // the first pass of the first stage ends with its weights at 30 and not at 10; those of the second have come too
    EXPECT_EQ(run_two_stages({.gather = 30.0}, 0.0).end, 60 + 20);
}

TEST(RowsBesideTraffic, ShowWhatHidesBehindNothing) {
    // weights before the first pass of both stages at once, gradients behind the last one, then the update
    EXPECT_EQ(run_two_stages({.update = 5.0, .before = 7.0, .after = 9.0}, 0.0).end, 7 + 60 + 9 + 5);
}

TEST(RowsBesideTraffic, HandOnLaterWhatLeavesByTheirAdapter) {
    auto const order = schedule_row(PipelineSchedule::one_f_one_b).order(two_stages);
    auto times = equal_passes(two_stages);
    times.hop = {4, 4};
    // 4 down and 4 up; the second stage hands on while 9 that it has begun to send: both take 4 longer, and of 3 both
    // take 3
    for (double const after : {9.0, 3.0}) {
        TrafficBeside const beside{.chunks = {{.after = 0.0}, {.after = after}}, .transfers = true};
        EXPECT_EQ(run_beside(order, times, beside).end, 60 + 8 + std::min(4.0, after)) << after;
    }
}

TEST(RowsBesideTraffic, LoseNothingWhereKernelsWaitForTheHost) {
    auto const order = schedule_row(PipelineSchedule::one_f_one_b).order(two_stages);
    auto const end = [&](double idle) {
        ChunkTraffic const traffic{.reduce = 40.0, .late = 0.5};
        return run_beside(order, equal_passes(two_stages),
                          {.chunks = {traffic, traffic}, .loss = 0.5, .idle_backward = idle})
            .end;
    };
    EXPECT_EQ(end(0.0), 100); // 10 lost on each stage
    EXPECT_EQ(end(0.25), 90); // a quarter of the 20 in which there is traffic is made up for
    EXPECT_EQ(end(1.0), 80);
}

TEST(RowsBesideTraffic, TakeLongerOnlyWhileTheyShareTheirAdapter) {
    // 50 of gradients during a pass of 20 that makes them take twice as long: 10 of them leave, and 40 behind it
    auto const order = schedule_row(PipelineSchedule::one_f_one_b).order(two_stages);
    ChunkTraffic const traffic{.reduce = 50.0};
    EXPECT_EQ(run_beside(order, equal_passes(two_stages), {.chunks = {traffic, traffic}, .longer = 2.0}).end, 60 + 40);
}

ChunksInTurn two_chunks() {
    return {.stages = 2.0, .chunks = 2.0, .forward = 0.5, .backward = 1.0, .early = 1.0, .loss = 0.5};
}

TEST(ChunksInTurn, LoseOnEveryStageOfTheLongestWay) {
    auto turns = two_chunks();
    turns.reduce = 1.0; // a quarter of a pass lost where a chunk becomes whole: two chunks on two stages
    auto const added = added_by_reductions(turns);
    EXPECT_DOUBLE_EQ(added.shown, 0.5);
    EXPECT_DOUBLE_EQ(added.shown + added.waited, 4 * 0.25);
}

TEST(ChunksInTurn, ShowWhatOutlastsTheLastPasses) {
    auto turns = two_chunks();
    turns.loss = 0.0;
    turns.reduce =
        10.0; // from the begin of the pass that makes the first chunk's, two passes of the other chunk follow
    EXPECT_DOUBLE_EQ(added_by_reductions(turns).shown, 10.0 - 3.0);
}

TEST(ChunksInTurn, WaitForTheWeightsOfTheFirstOrTheLastChunk) {
    auto turns = two_chunks();
    turns.loss = 0.0;
    turns.blocks = 4.0; // of a chunk: the last one's weights are there when a quarter of its pass is left
    turns.gather = 1.5; // half of it before the last block of the first pass begins
    EXPECT_DOUBLE_EQ(added_by_gathers(turns).shown, 0.75 - 0.75 * 0.5);
    turns.gather = 4.0; // the second chunk begins its first pass when p passes of the first are over
    EXPECT_DOUBLE_EQ(added_by_gathers(turns).shown, 4.0 - (1.0 + 0.75 * 0.5));
}

TEST(ChunksInTurn, AddNothingWithoutTraffic) {
    auto const turns = two_chunks();
    EXPECT_EQ(added_by_gathers(turns).shown, 0.0);
    EXPECT_EQ(added_by_reductions(turns).shown + added_by_reductions(turns).waited, 0.0);
}

} // namespace
} // namespace headroom
