// Clocks of whole seconds: evaluations, checkpoints and stalls between their readings; stamps without a year.

#include "support/training_logs.hpp"
#include "training_logs/log_checks.hpp"
#include "training_logs/step_clock.hpp"

#include "headroom/io/training_log.hpp"
#include "headroom/training/logged_steps.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

namespace {

using namespace headroom;
using namespace headroom::io;
using testing::Contains;
using testing::HasSubstr;

constexpr TrainingLogQuestion question{.workers = 8, .global_batch = 64, .sequence_length = 4096};

training::SteadyStep steady_of(std::string const& text) {
    return *training::steady_step(read_log(text, question).steps);
}

std::string stamp(double seconds) {
    int const at = static_cast<int>(seconds);
    return fmt::format("2026-03-04 {:02}:{:02}:{:02}", 10 + at / 3600, at / 60 % 60, at % 60);
}

/// Lines of steps of 4.3 s with a stall behind every so many steps; `print` gives a step's line, `mark` that of the stall.
std::string stalled(int every, double stall, std::function<std::string(int)> const& print,
                    std::function<std::string(int)> const& mark) {
    std::string text;
    double clock = 0.0;
    for (int step = 1; step <= 200; ++step) {
        clock += 4.3;
        if (std::string const line = print(step); !line.empty()) { text += stamp(clock) + line + "\n"; }
        if (step % every != 0) { continue; }
        clock += stall;
        if (std::string const line = mark(step); !line.empty()) { text += stamp(clock) + line + "\n"; }
    }
    return text;
}

std::string plain(int step) { return fmt::format(" step {} loss 2.1", step); }
std::string tenth(int step) { return step % 10 == 0 ? plain(step) : std::string{}; }

TEST(TrainingLogClock, WindowsDoNotHoldCheckpointsAndEvaluations) {
    for (char const* const mark :
         {" Saved checkpoint at step {}", " Saving model checkpoint to out/checkpoint-{}", " validation loss 2.1",
          " Running validation", " step {} val loss 2.2", " eval_loss=2.2 at step {}"}) {
        auto const marked_line = [&](int step) { return fmt::format(fmt::runtime(mark), step); };
        EXPECT_NEAR(steady_of(stalled(10, 20.0, plain, marked_line)).step.base(), 4.3, 0.02 * 4.3) << mark;
        EXPECT_NEAR(steady_of(stalled(20, 30.0, tenth, marked_line)).step.base(), 4.3, 0.1) << mark;
    }
}

TEST(TrainingLogClock, StallsWithoutAWordAreOutliersWithinAWindow) {
    std::string const text = stalled(10, 20.0, plain, [](int) { return std::string{}; });
    TrainingLog const log = read_log(text, question);
    EXPECT_NEAR(training::steady_step(log.steps)->step.base(), 4.3, 0.02 * 4.3);
    EXPECT_THAT(log.issues, Contains(testing::Field(&Issue::kind, "step far longer than those around it")));
}

TEST(TrainingLogClock, VaryingStepsAreNoStalls) { // 2, 6, 3, 9 s: 5 s a step
    StepClock clock{0, 0.0, 0.5, {}};
    double seconds = 0.0, sum = 0.0, steps = 0.0;
    for (int step = 1; step <= 200; ++step) {
        seconds += step % 4 == 1 ? 2.0 : step % 4 == 2 ? 6.0 : step % 4 == 3 ? 3.0 : 9.0;
        if (auto const found = clock.read(step, seconds, 0.5, {})) {
            sum += found->seconds * static_cast<double>(found->steps);
            steps += static_cast<double>(found->steps);
        }
    }
    EXPECT_NEAR(sum / steps, 5.0, 0.1);
    EXPECT_EQ(clock.outliers(), 0U);
}

TEST(TrainingLogClock, AClockThatIsTooCoarseGivesAMean) {
    StepClock clock{0, 0.0, 0.5, {}};
    EXPECT_FALSE(clock.read(1, 1.0, 0.5, {}));
    EXPECT_FALSE(clock.read(3, 4.0, 0.5, {}));
    auto const mean = clock.rest();
    ASSERT_TRUE(mean);
    EXPECT_NEAR(mean->seconds, 4.0 / 3.0, 1e-12);
    EXPECT_NEAR(mean->half_unit, 1.0 / 3.0, 1e-12);
}

TEST(TrainingLogClock, StampsInWholeSecondsStandStillBetweenFastSteps) {
    std::string text;
    for (int step = 1; step <= 600; ++step) { text += stamp(0.4 * step) + plain(step) + "\n"; }
    EXPECT_NEAR(steady_of(text).step.base(), 0.4, 0.01);
}

TEST(TrainingLogClock, ThreeLinesWithoutAnEvaluationAreEnough) {
    std::string text;
    for (int step = 10; step <= 400; step += 10) {
        bool const evaluates = step % 40 != 0;
        if (evaluates) { text += fmt::format("step {}: train loss 3.0, val loss 3.1\n", step); }
        text += fmt::format("iter {}: loss 3.1, time {}ms, mfu 40.0%\n", step, evaluates ? 24300.0 : 4300.0);
    }
    auto const steady = steady_of(text);
    EXPECT_DOUBLE_EQ(steady.step.base(), 4.3);
    EXPECT_FALSE(steady.marked_everywhere);
}

TEST(TrainingLogClock, CheckpointsAreFoundInTheLinesOfEveryFormat) {
    std::string text;
    for (int step = 10; step <= 200; step += 10) {
        bool const saved = step % 20 == 0;
        text += fmt::format("[rank0]: step: {:2}  loss:  8.1  memory: 40.12GiB(50.68%)  tps: {}\n", step,
                            saved ? 4000 : 8000);
        if (!saved) { text += "[rank0]: Saving the checkpoint (or staging if async is enabled).\n"; }
    }
    auto const steady = steady_of(text);
    EXPECT_NEAR(steady.step.base(), 64 * 4096 / 8.0 / 8000.0, 1e-9);
    EXPECT_GE(steady.counts.checkpoint, 9);
}

TEST(TrainingLogClock, StampsWithoutAYearAreReadAndGoOn) {
    auto const seconds = [](char const* text) { return stamp_without_year(text)->stamp.seconds; };
    double const ten = 36'000.0;
    EXPECT_DOUBLE_EQ(seconds("10:00:00 step 1"), ten);
    EXPECT_DOUBLE_EQ(seconds("[10:00:00,250] step 1"), ten + 0.25);
    EXPECT_DOUBLE_EQ(seconds("10:00:00 PM step 1"), ten + 43'200.0);
    EXPECT_DOUBLE_EQ(seconds("12:00:01 AM step 1"), 1.0);
    EXPECT_DOUBLE_EQ(seconds("Mar 04 10:00:00 node01 x") - seconds("Feb 28 10:00:00 node01 x"),
                     5 * 86'400.0); // of a leap year
    EXPECT_DOUBLE_EQ(seconds("I0304 10:00:00.500000 140 a.py:1] step 1"), seconds("Mar  4 10:00:00 x") + 0.5);
    EXPECT_DOUBLE_EQ(seconds("Tue Mar  4 10:00:00 2025 step 1"), seconds("Mar 04 10:00:00 x"));
    EXPECT_DOUBLE_EQ(seconds("1741082443.5 step 1"), 1741082443.5);
    EXPECT_DOUBLE_EQ(seconds("1741082443500 step 1"), 1741082443.5);
    for (char const* const none :
         {"", "step 10:00:00", "25:00:00 x", "10:00 x", "1741082443", "10:00:00:00 x", "Xyz 04 10:00:00 x"}) {
        EXPECT_FALSE(stamp_without_year(none)) << none;
    }
    EXPECT_DOUBLE_EQ(stamp_of("03/04/2026 01:00:00 PM x")->seconds, stamp_of("2026-03-04 13:00:00 x")->seconds);
    EXPECT_DOUBLE_EQ(stamp_of("31.12.2025 10:00:00 x")->seconds, stamp_of("2025-12-31 10:00:00 x")->seconds);
    std::string text; // passes midnight
    for (int step = 1; step <= 80; ++step) {
        int const at = (86'300 + 5 * step) % 86'400;
        text += fmt::format("{:02}:{:02}:{:02} step {} loss 2.1\n", at / 3600, at / 60 % 60, at % 60, step);
    }
    EXPECT_NEAR(steady_of(text).step.base(), 5.0, 0.05);
}

TEST(TrainingLogClock, LongStallsAtAnyPlaceAreLeftOut) {
    auto const none = [](int) { return std::string{}; };
    for (int const every : {5, 6, 7, 9, 10}) {
        for (double const stall : {20.0, 60.0, 120.0}) {
            std::string const text = stalled(every, stall, plain, none);
            EXPECT_NEAR(steady_of(text).step.base(), 4.3, 0.03 * 4.3) << every << " " << stall;
            EXPECT_THAT(read_log(text, question).issues,
                        Contains(testing::Field(&Issue::kind, HasSubstr("far longer"))));
        }
    }
}

TEST(TrainingLogClock, AClockThatIsSetBackGoesOn) {
    std::string text;
    for (int step = 10; step <= 600; step += 10) {
        text += stamp(4.0 * step - (step > 300 ? 3600.0 : 0.0) + 3600.0) + fmt::format(" step {} loss 2.1\n", step);
    }
    EXPECT_NEAR(steady_of(text).step.base(), 4.0, 0.05);
}

} // namespace
