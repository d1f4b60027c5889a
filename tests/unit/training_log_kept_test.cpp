// Logs as people keep them: numbers in the marks of their country, names of runs, nested JSON, Markdown, gzip, batches that accumulate.

#include "support/scratch_folder.hpp"
#include "support/training_logs.hpp"

#include "headroom/io/file.hpp"
#include "headroom/io/training_log.hpp"
#include "headroom/training/logged_steps.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>

namespace {

using namespace headroom;
using namespace headroom::io;
using testing::HasSubstr;

constexpr TrainingLogQuestion question{.workers = 8, .global_batch = 64, .sequence_length = 4096};

/// Lines about the steps 1, 2, ...
std::string lines(std::function<std::string(int)> const& text, int rows = 20) {
    std::string all;
    for (int i = 1; i <= rows; ++i) { all += text(i) + "\n"; }
    return all;
}

std::string patterned(std::string const& pattern, int rows = 20) {
    return lines([&](int step) { return fmt::format(fmt::runtime(pattern), step); }, rows);
}

double step_of(std::string const& text, TrainingLogQuestion const& asked = question) {
    return training::steady_step(read_log(text, asked).steps)->step.base();
}

TEST(TrainingLogKept, AllNumbersOfALogShowWhatCommasAndPointsPart) {
    for (char const* pattern :
         {"step {0} | loss 2,1 | throughput 104.858 tokens/s", "step {0} | loss 2,1 | throughput 104.857,60 tokens/s",
          "step {0} | loss 2,15 | step time 2.500 ms", "step {0} | loss 2.13 | step time 2,500 ms",
          "step {0} | loss 2.13 | step time 2'500.0 ms", "step {0} | loss 2,105 | 0,400 it/s",
          "step {0} | loss 2,105 | 104,858k tok/s", "step {0} | loss 2,105 | 104,86K tok/s",
          "step {0} | loss 2 | seen 2,621,440 | step time 2,500 ms", "gpus 0,1 step {0} | loss 2.13 | 104,858 tokens/s",
          "at (8,4096): step {0} | loss 2.13 | 104,858 tokens/s", "step {0} | loss 2.135 | step time 2,500 ms",
          "step {0} | loss 2,10 | step_time 2,500 s",
          "2025-03-04 10:00:00,300 step {0} - loss 2,000 - step time 2,50 s",
          "step 1,{0:03} | loss 2 | step time 2,500 ms", "step {0}; loss 2,10; samples/s 25,600"}) {
        EXPECT_NEAR(step_of(patterned(pattern)), 2.5, 1e-3) << pattern;
    }
    EXPECT_NEAR(step_of("step;loss;tokens/s\n" + patterned("{0};2,1;104.858")), 2.5, 1e-3);
    EXPECT_NEAR(step_of("step;loss;step_time_ms\n" + patterned("{0};2.1;2,500")), 2.5, 1e-3);
}

TEST(TrainingLogKept, LossesBeyondHundredsShowGroups) {
    auto const falling = lines([](int i) {
        return fmt::format("step {} loss {} samples/s 25.600", i, i == 1 ? "1,004" : std::to_string(899 - i));
    });
    std::string const error = error_of_log(falling, question);
    EXPECT_TRUE(error.find("ambiguous") != error.npos || std::abs(step_of(falling) - 2.5) < 1e-3) << error;
    EXPECT_NEAR(step_of(patterned("step {0} loss 11,900 samples/s 25.600")), 2.5, 1e-3);
}

TEST(TrainingLogKept, AMarkThatNothingExplainsIsRefused) {
    for (char const* pattern :
         {"step {0} | loss 2 | samples/s 25,600", "step {0} | loss 2,105 | step_time 2,500 s",
          "step {0} | loss 2 | step time 2,500 ms", "step {0} | lr 3.0e-4 | loss 2,10 | samples/s 25,600"}) {
        EXPECT_THAT(error_of_log(patterned(pattern), question), HasSubstr("ambiguous")) << pattern;
    }
}

TEST(TrainingLogKept, AWordOfEvaluationsBeforeAStepMarksOne) {
    for (char const* mark : {"eval -", "[eval-c4]", "[val-0]", "eval=wikitext"}) {
        std::string const both = "train - step {0} - loss 2.1 - step_time 2.5s\n" + std::string{mark} +
                                 " step {0} - loss 2.1 - step_time 0.5s";
        EXPECT_NEAR(step_of(patterned(both)), 2.5, 1e-9) << mark;
    }
}

TEST(TrainingLogKept, BatchesHaveManyNames) {
    std::string const steps = patterned("step {0} loss 2.1 step_time 2.5s");
    for (char const* line : {"total_batch_size = 64", "Effective batch size: 64", "[INFO] Total batch size: 64 (8 x 8)",
                             "total_train_batch_size: 64"}) {
        EXPECT_EQ(read_log(std::string{line} + "\n" + steps, {.workers = 8}).fact("--global-batch"), "64") << line;
    }
    for (char const* line :
         {"total_batch_size: 262144", "Total batch size: 262,144 tokens", "tokens per step: 262144"}) {
        std::string const text = std::string{line} + "\n" + steps;
        EXPECT_EQ(read_log(text, {.workers = 8, .sequence_length = 4096}).fact("--global-batch"), "64") << line;
        EXPECT_EQ(read_log(text, {.workers = 8}).fact("--global-batch"), "") << line; // of no known length
    }
    for (char const* line :
         {"Total batch size: 4M tokens", "total_batch_size = 8 * 8 = 64", "total_batch_size: 262_144",
          "effective batch size: 8 (micro) * 8 (gpus) = 64", "eval:\n  total_batch_size: 256"}) {
        EXPECT_EQ(read_log(std::string{line} + "\n" + steps, {.workers = 8}).fact("--global-batch"), "") << line;
    }
    EXPECT_NEAR(step_of("global_batch_size: 65536\n" + patterned("step {0} loss 2.1 26214.4 tokens/s")), 2.5, 1e-9);
}

TEST(TrainingLogKept, GroupsOfMetricsInJsonAreOfTheirRow) {
    for (char const* pattern : {R"({{"step": {0}, "train": {{"loss": 2.1, "step_time_s": 2.5}}}})",
                                R"({{"train": {{"step": {0}, "step_time_s": 2.5}}}})",
                                R"({{"step": {0}, "eval": {{"step_time_s": 0.5}}, "perf": {{"step_time_s": 2.5}}}})"}) {
        EXPECT_NEAR(step_of(patterned(pattern)), 2.5, 1e-9) << pattern;
    }
    std::string const other = R"({{"step": {0}, "loss": 2.1, "forward": {{"step_time_s": 0.5}}}})";
    EXPECT_THAT(error_of_log(patterned(other)), HasSubstr("no known training log"));
}

TEST(TrainingLogKept, TablesOfMarkdown) {
    std::string const text = "Run 7, on 8 GPUs.\n\n| Step | Loss | Step time (ms) |\n|---:|:---:|---|\n" +
                             patterned("| {0} | 2.1 | 2500.0 |") + "\nDone.\n";
    EXPECT_NEAR(step_of(text), 2.5, 1e-9);
    // a row a configuration
    EXPECT_THAT(error_of_log(text + "\n" + text), HasSubstr("several tables"));
    EXPECT_THAT(error_of_log("| TP | iterations | time per iteration (ms) |\n|---|---|---|\n" +
                             patterned("| 8 | {0} | 2500 |")),
                HasSubstr("no known training log"));
}

TEST(TrainingLogKept, LinesOfATrainingHaveALoss) {
    EXPECT_NEAR(step_of(patterned("[{0}/500] loss: 2.13 | 2.50s/it")), 2.5, 1e-9);
    EXPECT_NEAR(step_of(patterned("step {0} | loss 2.1 | 0.4 it/s\nGenerated 4 samples, 5.10 s/it")), 2.5, 1e-9);
    EXPECT_THAT(error_of_log(patterned("step {0} | loss 2.1\nGenerated 4 samples, 5.10 s/it")), HasSubstr("no known"));
    for (char const* pattern : {"step {0} | 2.50 s/step | mem 60.1 GB", "Tokenizing: step {0}/50 0.91 it/s",
                                "iteration {0}: allreduce 128MB, time per iteration 25 ms"}) {
        EXPECT_THAT(error_of_log(patterned(pattern)), HasSubstr("no known training log")) << pattern;
    }
}

TEST(TrainingLogKept, StampsWithTwoDigitsOfAYear) {
    for (char const* date : {"[03/04/25 {:02}:{:02}:{:02}] INFO     ", "25-03-04 {:02}:{:02}:{:02} ",
                             "[04/Mar/2025:{:02}:{:02}:{:02} +0000] "}) {
        std::string const text = lines(
            [&](int step) {
                int const seconds = 23 * 3600 + 59 * 60 + 3 * step; // through midnight
                return fmt::format(fmt::runtime(date), seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) +
                       fmt::format("step {} loss 2.1 lr 1e-4", step);
            },
            200);
        EXPECT_NEAR(step_of(text), 3.0, 0.03) << date;
    }
}

TEST(TrainingLogKept, AYearWithoutALineOfItsLeapDayIsCommon) {
    std::array<char const*, 4> const stamps{"Feb 28 23:50:00", "Feb 28 23:55:00", "Mar  1 00:00:00", "Mar  1 00:05:00"};
    std::string text;
    int step = 0;
    for (char const* stamp : stamps) { text += fmt::format("{} host step {} loss 2.1\n", stamp, step += 100); }
    EXPECT_NEAR(step_of(text), 3.0, 0.03);
}

TEST(TrainingLogKept, OneMicroBatchOfAStepHasTheOptimizer) {
    TrainingLogQuestion asked = question;
    auto const of_eight = lines(
        [](int i) { return fmt::format("epoch 0 batch {}/9000 loss 2.1 time {} s", i, i % 8 == 0 ? 1.7 : 0.9); }, 160);
    asked.accumulation = 8;
    EXPECT_NEAR(step_of(of_eight, asked), 8.0, 1e-9);
}

TEST(TrainingLogKept, PackedLogsAreUnpacked) {
    // printf 'step,step_time_s\n1,2.5\n2,2.5\n3,2.5\n4,2.5\n5,2.5\n' | gzip -n
    constexpr std::array<unsigned char, 52> bytes{
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x2b, 0x2e, 0x49, 0x2d, 0xd0, 0x29, 0x06, 0x12,
        0xf1, 0x25, 0x99, 0xb9, 0xa9, 0xf1, 0xc5, 0x5c, 0x86, 0x3a, 0x46, 0x7a, 0xa6, 0x5c, 0x46, 0x60, 0xd2, 0x18,
        0x4c, 0x9a, 0x80, 0x49, 0x53, 0x30, 0x09, 0x00, 0x39, 0xa1, 0xef, 0xd0, 0x2f, 0x00, 0x00, 0x00};
    std::string const packed{bytes.begin(), bytes.end()};
    EXPECT_NEAR(step_of(packed), 2.5, 1e-9);
    test::ScratchFolder const folder;
    auto const file = folder.path() / "train.log.gz";
    write_file(file, packed);
    EXPECT_EQ(read_training_log(file, question).steps.size(), 5U);
    write_file(file, packed.substr(0, 48)); // without its checksum
    EXPECT_ANY_THROW(read_training_log(file, question));
    EXPECT_THAT(error_of_log(packed.substr(0, 12)), HasSubstr("cut short"));
}

} // namespace
