// Steps and phases, read from the names that frameworks give to their ranges.

#include "trace/step_names.hpp"

#include <gtest/gtest.h>

namespace {

using namespace headroom;
using namespace headroom::trace;

StepPhase phase_of(std::string_view name) { return named_step(name).value_or(NamedStep{}).phase; }

TEST(TraceStepNames, NumbersOfTrainingLoops) {
    for (char const* const name :
         {"iteration 12", "step_12", "train_step:12", "Train step 12", "train 12", "Step#12", "[step 12]",
          "step 12/100", "epoch 3 step 12", "Epoch 3, step 12", "train/step/12"}) {
        ASSERT_TRUE(named_step(name).has_value()) << name;
        EXPECT_EQ(named_step(name)->number, 12) << name;
        EXPECT_EQ(named_step(name)->phase, StepPhase{}) << name;
    }
}

TEST(TraceStepNames, OtherNamesAreNoSteps) {
    for (char const* const name : {"layer 12", "aten::mm", "step", "12", "step 12 of 30", "epoch 12", "[12]", "a/12",
                                   "cudaLaunchKernel", "train_step", "executor_12", ""}) {
        EXPECT_FALSE(named_step(name).has_value()) << name;
    }
}

TEST(TraceStepNames, StepsOfTrainingWithoutANumber) {
    for (char const* const name : {"train_step", "Train Step", "training step", "iteration", "train_batch"}) {
        EXPECT_TRUE(names_training_step(name)) << name;
    }
    for (char const* const name : {"step", "train", "Optimizer.step#AdamW.step", "train_step 3", "batch", ""}) {
        EXPECT_FALSE(names_training_step(name)) << name;
    }
}

TEST(TraceStepNames, PhasesOfVllm) {
    EXPECT_EQ(phase_of("execute_context_2(512)_generation_0(0)"), (StepPhase{PhaseKind::prefill, 2, 512}));
    EXPECT_EQ(phase_of("execute_context_0(0)_generation_3(3)"), (StepPhase{PhaseKind::decode, 3, 3}));
    EXPECT_EQ(phase_of("execute_context_1(256)_generation_3(3)"), (StepPhase{PhaseKind::mixed, 4, 259}));
    EXPECT_EQ(phase_of("execute_model"), StepPhase{}) << "a step that states no phase";
    EXPECT_TRUE(named_step("execute_model").has_value());
}

TEST(TraceStepNames, PhasesOfSglang) {
    EXPECT_EQ(phase_of("step[DECODE bs=16]"), (StepPhase{PhaseKind::decode, 16, 16})) << "a token of each request";
    EXPECT_EQ(phase_of("step[EXTEND bs=1 toks=107]"), (StepPhase{PhaseKind::prefill, 1, 107}));
    EXPECT_EQ(phase_of("step[MIXED bs=2]").kind, PhaseKind::mixed);
}

} // namespace
