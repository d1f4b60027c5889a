// Memory in the course of a step: its peak is what the closed form says, for every schedule and stage.

#include "support/pipelines.hpp"
#include "support/random_questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

namespace headroom {

using namespace headroom::training;

namespace {

using training::for_random_questions;
using training::is_legal;
using training::name_of;

constexpr int draws = 2100; ///< 300 of each family
constexpr int most_micro_batches = 64;

/// Random questions with a pipeline, under every schedule that they can run.
template <class Check> std::map<PipelineSchedule, int> for_every_schedule(Check check) {
    std::map<PipelineSchedule, int> checked;
    for_random_questions(draws, [&](Question question) {
        if (question.strategy.pp < 2) { return; }
        for (ScheduleRow const& row : pipeline_schedules()) {
            Question changed = question;
            set_schedule(changed.strategy, row.id, changed.model);
            auto const shape = pipeline_shape(changed.strategy, changed.workload);
            bool const runs = impossible_because(row.id, shape).empty() && shape.micro_batches <= most_micro_batches;
            if (!is_legal(changed) || changed.strategy.schedule() != row.id || !runs) { continue; }
            check(changed, row, shape);
            ++checked[row.id];
        }
    });
    return checked;
}

StepSetting setting_of(Question const& question) {
    static constexpr Calibration unused{};
    return step_setting(question, question.cluster, unused);
}

TEST(MemoryByStage, IsWhatTheRowsHold) {
    // Expectation: the table's number of held micro-batches, counted where rows are run; of rows in a V that of the stage which
    // holds most, once there are micro-batches enough to fill it.
    auto const checked =
        for_every_schedule([](Question const& question, ScheduleRow const& row, PipelineShape const& shape) {
            auto const run =
                run_pipeline(row.order(shape), test::equal_times(shape, {.forward = 2, .input = 2, .weight = 2}));
            ASSERT_TRUE(run) << name_of(question);
            double most = 0.0;
            for (int stage = 0; stage < shape.stages; ++stage) {
                double const told = micro_batches_in_flight(question.strategy, stage, shape.micro_batches);
                double const held = test::depths_held(*run, shape, row.layout, static_cast<std::size_t>(stage));
                most = std::max(most, held / told);
                EXPECT_LE(held, told * (1.0 + 1e-12)) << name_of(question) << " stage " << stage;
                if (row.layout != ChunkLayout::v) {
                    EXPECT_DOUBLE_EQ(held, told) << name_of(question) << " stage " << stage;
                }
            }
            if (shape.micro_batches >= 2 * shape.stages) { EXPECT_DOUBLE_EQ(most, 1.0) << name_of(question); }
        });
    EXPECT_EQ(static_cast<int>(checked.size()), pipeline_schedule_count) << "a schedule was never looked at";
}

TEST(MemoryByStage, TheFullestIsMemoryUse) {
    for_every_schedule([](Question const& question, ScheduleRow const&, PipelineShape const&) {
        auto const setting = setting_of(question);
        auto const stages = memory_by_stage(setting, question.strategy);
        auto const fullest = std::ranges::max_element(stages, {}, [](MemoryUse const& use) { return use.footprint(); });
        auto const use = memory_use(setting, question.strategy);
        EXPECT_EQ(use.footprint(), fullest->footprint()) << name_of(question) << " stage " << fullest->stage;
        for (auto const& one : stages) {
            for (Bytes const part : training::parts_of(one)) { EXPECT_GE(part, Bytes{}) << name_of(question); }
        }
    });
}

TEST(MemoryByStage, OfOneStageIsMemoryUse) {
    for_random_questions(draws, [](Question const& question) {
        if (question.strategy.pp > 1) { return; }
        auto const stages = memory_by_stage(setting_of(question), question.strategy);
        ASSERT_EQ(stages.size(), 1U);
        EXPECT_EQ(stages.front().footprint(), training::memory_of(question).footprint()) << name_of(question);
    });
}

TEST(MemoryOverTime, PeaksAtWhatTheStageUses) {
    // Expectation: with random times; a curve ends at what is there without activations.
    test::CounterRandom random{7};
    for_every_schedule([&](Question const& question, ScheduleRow const& row, PipelineShape const& shape) {
        auto const order = row.order(shape);
        auto const times = test::random_times(shape, random, 9, random.below(2) * 6);
        auto const run = run_pipeline(order, times, true);
        ASSERT_TRUE(run) << name_of(question);
        auto const setting = setting_of(question);
        auto const stages = memory_by_stage(setting, question.strategy);
        auto const curves = memory_over_time(setting, question.strategy, order, times, *run);
        ASSERT_EQ(curves.size(), stages.size());
        for (std::size_t s = 0; s < stages.size(); ++s) {
            auto const& curve = curves[s];
            EXPECT_LE(curve.peak / stages[s].total(), 1.0 + 1e-9) << name_of(question) << " stage " << s;
            double const held = test::depths_held(*run, shape, order.layout, s) /
                                micro_batches_in_flight(question.strategy, static_cast<int>(s), shape.micro_batches);
            Bytes const spare = stages[s].activations * (1.0 - held); // of a stage that holds less than the table says
            EXPECT_GE(curve.peak / (stages[s].total() - spare), 1.0 - 1e-9) << name_of(question) << " stage " << s;
            ASSERT_FALSE(curve.times.empty());
            EXPECT_TRUE(std::ranges::is_sorted(curve.times));
            EXPECT_LE(curve.times.back(), run->makespan);
            EXPECT_NEAR(curve.level.back() / curve.base, 1.0, 1e-9) << name_of(question);
            EXPECT_EQ(*std::ranges::max_element(curve.level), curve.peak);
        }
    });
}

TEST(MemoryOverTime, OfARunWithoutBeginsIsItsBase) {
    Question question =
        training::question(training::catalog().model("llama-3-70b"), training::catalog().cluster("dgx-h100"),
                           training::catalog().framework("megatron-core"), {.tp = 8, .pp = 4},
                           {.sequence_length = 4096, .global_batch = 64});
    auto const shape = pipeline_shape(question.strategy, question.workload);
    auto const order = schedule_row(PipelineSchedule::one_f_one_b).order(shape);
    auto const times = test::equal_times(shape, {.forward = 1, .input = 1, .weight = 1});
    for (auto const& curve :
         memory_over_time(setting_of(question), question.strategy, order, times, *run_pipeline(order, times))) {
        EXPECT_TRUE(curve.times.empty());
        EXPECT_EQ(curve.peak, curve.base);
    }
}

} // namespace
} // namespace headroom
