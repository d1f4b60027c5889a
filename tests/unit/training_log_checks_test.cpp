#include "support/training_logs.hpp"
#include "training_logs/log_checks.hpp"

#include "headroom/io/training_log.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace headroom;
using namespace headroom::io;

/// A line of Megatron-LM at a number of seconds after ten.
std::string stamped(int step, int seconds, std::string const& time, std::string const& more = "") {
    auto const two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    return " [2026-03-04 10:" + two(seconds / 60) + ":" + two(seconds % 60) + "] iteration " + std::to_string(step) +
           "/ 500 | elapsed time per iteration " + time + " |" + more + " global batch size: 64 |\n";
}

std::string stamped_run(int every, std::string const& time, int steps = 20) {
    std::string text;
    for (int step = 1; step <= steps; ++step) { text += stamped(step, every * step, time); }
    return text;
}

TEST(TrainingLogChecks, StampsOfLinesAreReadInTheirOrders) {
    double const at = stamp_of("[2026-03-04 10:00:07] iteration 1")->seconds;
    EXPECT_DOUBLE_EQ(stamp_of("rank3: 2026-03-04T10:00:07,500 x")->seconds, at + 0.5);
    EXPECT_DOUBLE_EQ(stamp_of("03/04/2026 10:00:08 [INFO|DP=0]: iteration: 1 / 15")->seconds, at + 1.0);
    EXPECT_DOUBLE_EQ(stamp_of("[NeMo I 2026/03/04 10:00:09 x]")->seconds, at + 2.0);
    EXPECT_DOUBLE_EQ(stamp_of("a 2026-03-04 10:00:07.250 b")->half_unit, 5e-4);
    EXPECT_DOUBLE_EQ(stamp_of("a 2026-03-04 10:00:07 b")->half_unit, 0.5);
    for (char const* const none : {"", "iteration 2026", "2026-03-04", "2026-13-04 10:00:00", "iteration 1234-56-78"}) {
        EXPECT_FALSE(stamp_of(none)) << none;
    }
}

TEST(TrainingLogChecks, AFactorOfAThousandIsOneOfUnits) {
    for (int const steps : {3, 20}) {
        TrainingLog const log = read_log(stamped_run(7, "(s): 6993.1", steps));
        EXPECT_NEAR(log.steps.back().seconds, 6.9931, 1e-9) << steps;
        EXPECT_THAT(log.warnings, testing::ElementsAre(testing::HasSubstr("its times are read as milliseconds")));
    }
    TrainingLog const small = read_log(stamped_run(7, "(ms): 7.01"));
    EXPECT_NEAR(small.steps.back().seconds, 7.01, 1e-9);
    EXPECT_THAT(small.warnings, testing::ElementsAre(testing::HasSubstr("seconds, not milliseconds")));
}

TEST(TrainingLogChecks, OtherContradictionsAreNamedOrRefused) {
    TrainingLog const log = read_log(stamped_run(7, "(ms): 3500.0"));
    EXPECT_NEAR(log.steps.back().seconds, 3.5, 1e-9);
    EXPECT_THAT(log.warnings,
                testing::ElementsAre("its times are 3.5 s a step and its time stamps show 7 s between steps"));
    EXPECT_THAT(error_of_log(stamped_run(7, "(s): 60000")),
                testing::HasSubstr("times that contradict the time stamps of their lines"));
    EXPECT_THAT(read_log(stamped_run(7, "(ms): 6900.0")).warnings, testing::IsEmpty());
    // An evaluation that a line names is no contradiction, nor are two ranks without marks.
    std::string text;
    for (int step = 1; step <= 9; ++step) {
        text += stamped(step, 50 * step, "(ms): 30000.0") + " validation loss at iteration 1 | lm loss value: 2 |\n";
    }
    EXPECT_THAT(read_log(text).warnings, testing::IsEmpty());
    std::string twice;
    for (int step = 1; step <= 20; ++step) {
        for (int rank = 0; rank < 2; ++rank) { twice += stamped(step, 7 * step, "(ms): 7000.0"); }
    }
    EXPECT_THAT(read_log(twice).warnings, testing::IsEmpty());
}

TEST(TrainingLogChecks, RatesOfLinesAreTheWorkOfAStep) {
    std::string text;
    for (int step = 1; step <= 5; ++step) {
        text +=
            stamped(step, 0, "(ms): 2000.0", " throughput per GPU (TFLOP/s/GPU): 300.5 | tokens per second: 1,000 |");
    }
    TrainingLog const log = read_log(text);
    ASSERT_EQ(log.rates.size(), 2);
    EXPECT_EQ(log.rates[0].kind, training::LogRateKind::tokens);
    EXPECT_DOUBLE_EQ(log.rates[0].work, 2000.0);
    EXPECT_DOUBLE_EQ(log.rates[1].work, 601.0);
}

TEST(TrainingLogChecks, MemoryOfAnotherConfigurationDoesNotCount) {
    std::string const memory = "[Rank 0] (after 1 iterations) memory (MB) | allocated: 1.0 | max allocated: ";
    std::string const head = "  tensor_model_parallel_size ...................... ";
    TrainingLog const log = read_log(head + "4\n" + stamped(1, 0, "(ms): 100.0") + memory + "4096.0 |\n" + head +
                                     "8\n" + stamped(1, 0, "(ms): 70.0") + memory + "2048.0 |\n");
    EXPECT_DOUBLE_EQ(log.memory_bytes.value(), 2048.0 * 1048576.0);
}

TEST(TrainingLogChecks, TimesOfAllStepsSinceTheLineBefore) { // by the stamps, 10 steps of 3.5 s
    std::string text;
    for (int step = 10; step <= 400; step += 10) {
        int const at = 7 * step / 2;
        text += fmt::format("[2025-03-04 10:{:02}:{:02},000] [timer.py] epoch=0/micro_step={}/global_step={}, "
                            "RunningAvgSamplesPerSec=18.2, CurrSamplesPerSec=1.828571, MemAllocated=31.5GB\n",
                            at / 60, at % 60, step, step);
    }
    TrainingLog const log = read_log(text, {.workers = 8, .global_batch = 64});
    EXPECT_NEAR(log.steps.back().seconds, 3.5, 0.01);
    EXPECT_THAT(log.warnings, testing::Contains(testing::HasSubstr("those of the 10 steps since the line before")));
}

} // namespace
