// Lines of software that no format knows: figures by their labels and units.

#include "support/training_logs.hpp"

#include "headroom/io/training_log.hpp"
#include "headroom/training/logged_steps.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace {

using namespace headroom;
using namespace headroom::io;
using testing::Contains;
using testing::HasSubstr;

constexpr TrainingLogQuestion question{.workers = 8, .global_batch = 64, .sequence_length = 4096};

/// Lines about the steps 10, 20, ...; `text` gives the line of one.
std::string lines(std::function<std::string(int)> const& text, int rows = 20, int stride = 10) {
    std::string all;
    for (int i = 1; i <= rows; ++i) { all += text(stride * i) + "\n"; }
    return all;
}

/// A pattern with the step's number, {0}, and a time stamp of 2.5 s a step, {1}.
std::string patterned(std::string const& pattern, int rows = 20, int stride = 10) {
    return lines(
        [&](int step) {
            int const tenths = 25 * step;
            std::string const stamp =
                fmt::format("2025-03-04 10:{:02}:{:02},{}00", tenths / 600, tenths / 10 % 60, tenths % 10);
            return fmt::format(fmt::runtime(pattern), step, stamp);
        },
        rows, stride);
}

double step_of(std::string const& text) { return training::steady_step(read_log(text, question).steps)->step.base(); }

TEST(TrainingLogLabels, UnitsMakeTimesAndRates) {
    for (char const* pattern :
         {"step {0}/500 | loss 2.3 | dt: 2500.0 ms | mfu 40.1", "[INFO] step={0} loss=2.3 step_time=2.500s",
          "iter {0} loss 2.3 2.500 s/it", "Step {0}: loss=2.3, steps/s: 0.4", "step {0} | loss 2.3 | 24.0 steps/min",
          "iter {0} loss 2.3 25.6 images/s", "step {0} loss 2.3 tokens/min 6291456",
          "step: {0} - loss: 2.3 - timing_s/gen:1.1 - timing_s/step:2.500", "step {0} loss 2.3 tokens/s/gpu 13107.2",
          "step {0}, loss = 2.31 (25.6 examples/sec; 2.500 sec/batch)",
          "Iter {0}: Train loss 2.3, It/sec 0.400, Tokens/sec 104857.6",
          "step {0} tgs (tokens/gpu/second)=13107.2 loss=2.3",
          "[rank 0] Step: {0} | Loss: 2.3 | Global batch size: 262.14K | Tokens/s: 104.858K | Tokens/s/GPU: 13.107K",
          "train_inner | {{\"epoch\": 1, \"loss\": \"9.1\", \"ups\": \"0.4\", \"num_updates\": \"{0}\"}}",
          "{{ Epoch:[  1/  2], step:[   {0}/ 5000], loss: 10.6, per_step_time: 2500ms}}",
          "(TaskRunner pid=12) step:{0} - actor/lr:1e-6 - timing_s/step:2.500",
          "{{'loss': 1.2, 'global_step/max_steps': '{0}/420', 'elapsed_time': '1m 50s', 'train_speed(iter/s)': "
          "0.1}}\nstep {0} 2.5 s/step"}) {
        TrainingLog const log = read_log(patterned(pattern), question);
        EXPECT_EQ(log.format, "labelled lines") << pattern;
        EXPECT_TRUE(log.framework.empty()) << pattern;
        EXPECT_NEAR(step_of(patterned(pattern)), 2.5, 1e-3) << pattern;
    }
}

/// A step of reinforcement learning is more than the training that is predicted.
TEST(TrainingLogLabels, WarnsWhereStepsGenerateText) {
    std::string const generation = patterned("step: {0} - loss: 2.3 - timing_s/gen:1.1 - timing_s/step:2.500");
    EXPECT_THAT(read_log(generation, question).warnings, Contains(HasSubstr("generate text")));
    EXPECT_THAT(read_log(patterned("step: {0} - loss: 2.3 - timing_s/step:2.500"), question).warnings,
                testing::Not(Contains(HasSubstr("generate text"))));
}

TEST(TrainingLogLabels, WhatIsNoTimeOfAStepIsRefused) {
    for (char const* pattern :
         {"step {0} | loss 2.3 | 43.0s left", "step {0} | loss 2.3 | avg step time: 2.5 s",
          "step {0} | loss 2.3 | eta 100s", "step {0} | loss 2.3 | data_time 0.1 s", "step {0} loss 2.3 tps 104858",
          "step: {0} loss: 2.3 tps: 104,858", "step {0} | loss 2.3 | forward time 0.8 s",
          "micro_step {0} | loss 2.3 | micro_step_time 0.6 s", "warmup steps: {0}, 2.5 s/it",
          "eval step {0} | 2.5 s/it", "step {0} decode: 120 tokens/s", "[{0}/200] Building CXX object in 2.5 s",
          "step {0} of the pipeline, time 2.5 s"}) {
        EXPECT_THAT(error_of_log(patterned(pattern), question), HasSubstr("no known training log")) << pattern;
    }
    EXPECT_THAT(error_of_log(patterned("step {0} | loss 2.3 | step_time 2.5"), question),
                HasSubstr("times without a unit"));
    for (char const* pattern : {"step {0} | loss 2.3 | time 25.0 s", "step {0} | loss 2.3 | 25.0 s"}) {
        EXPECT_THAT(error_of_log(patterned(pattern), question), HasSubstr("'time (s)' does not rise with the steps"));
    }
    EXPECT_THAT(error_of_log(patterned("step {0} | loss 2.3 | 0.1 s | 2.5 s"), question),
                HasSubstr("no known training log")); // nothing says which
}

TEST(TrainingLogLabels, TimeStampsAreAClock) {
    EXPECT_NEAR(step_of(patterned("[{1}] step={0}, skipped=0, lr=[1e-05]")), 2.5, 1e-9);
    EXPECT_NEAR(step_of(patterned("{1} INFO step {0} loss 2.3 step_time 2500.0")), 2.5, 1e-9); // no unit
    EXPECT_THAT(error_of_log(patterned("{1} step {0} loss 2.3 step_time 5.0 s"), question),
                HasSubstr("times that contradict the clock next to them"));
    TrainingLog const of_one = read_log(patterned("{1} step {0} loss 2.3 throughput 13107.2 tokens/s"), question);
    EXPECT_NEAR(of_one.steps.at(3).seconds, 2.5, 1e-3);
    EXPECT_THAT(of_one.notes, Contains(HasSubstr("is of one accelerator: its clock shows it")));
    TrainingLog const of_all = read_log(patterned("step {0} loss 2.3 throughput 104857.6 tokens/s"), question);
    EXPECT_NEAR(of_all.steps.at(3).seconds, 2.5, 1e-3);
    EXPECT_THAT(of_all.warnings, Contains(HasSubstr("counts as the rate of all accelerators")));
    EXPECT_THAT(error_of_log(patterned("{1} step {0} downloading")), HasSubstr("no known training log"));
}

TEST(TrainingLogLabels, SoftwareThatStatesNoUnit) {
    struct Case {
        char const* pattern;
        double seconds;
    };
    for (auto const& [pattern, seconds] :
         {Case{"03/04 10:00:00 - mmengine - INFO - Iter(train) [{0:5}/5000]  lr: 1e-05  eta: 1:00:00  time: 0.5000  "
               "data_time: 0.0100",
               0.5},
          Case{"Epoch: [0]  [ {0:4}/5004]  eta: 0:34:22  loss: 6.9 (7.0)  time: 0.4100  data: 0.0010  max mem: 8000",
               0.41},
          Case{"[03/04 10:00:00 d2.utils.events]:  eta: 5:12:00  iter: {0}  total_loss: 1.2  time: 0.2000  last_time: "
               "0.21  data_time: "
               "0.004",
               0.2},
          Case{"Train: 0 [{0:4}/1251 (  4%)]  Loss: 6.93 (6.94)  Time: 0.413s, 2485.44/s  (0.450s, 2275.5/s)  Data: "
               "0.010 (0.030)",
               0.413},
          Case{"Epoch: [0][{0:4}/5005]\tTime  0.412 ( 0.450)\tData  0.010 ( 0.030)\tLoss 6.9", 0.412},
          Case{"1epoch:train:1-{0}batch: iter_time=1.2e-04, forward_time=0.1, loss=90.1, train_time=0.333", 0.333},
          Case{"I0304 10:00:12.345678 139 logging_writer.py:48] [{0}] collection=train loss=8.1, timing/seconds=40, "
               "timing/steps_per_second=2.5",
               0.4},
          Case{"| Iter: {0} | loss: 8.1 average_loss: 8.1 | time: 2.5000 | token/max: 1.0", 2.5}}) {
        EXPECT_NEAR(step_of(patterned(pattern)), seconds, 1e-9) << pattern;
    }
}

TEST(TrainingLogLabels, LinesAboutOneStepAreOneRow) {
    EXPECT_NEAR(step_of(patterned(
                    "{1} host olmo.train:967 [step={0}/739328,epoch=0]\n    train/CrossEntropyLoss=12.5\n"
                    "    throughput/device/tokens_per_second=13,107\n    throughput/device/batches_per_second=0.4000")),
                2.5, 1e-9);
    std::string keras, mindspore;
    for (int epoch = 1; epoch <= 9; ++epoch) {
        keras += fmt::format("Epoch {}/9\n1563/1563 [======] - 45s 29ms/step - loss: 1.2\n", epoch);
        mindspore +=
            fmt::format("epoch: {} step: 312, loss is 2.3\nepoch time: 129000.1 ms, per step time: 413.5 ms\n", epoch);
    }
    EXPECT_DOUBLE_EQ(step_of(keras), 0.029);
    EXPECT_DOUBLE_EQ(step_of(mindspore), 0.4135);
    TrainingLog const log = read_log(keras, question);
    EXPECT_EQ(training::steady_step(log.steps)->runs, 1);
    EXPECT_THAT(log.notes, Contains(HasSubstr("a batch counts as a step")));
}

TEST(TrainingLogLabels, EvaluationsAreNoSteps) {
    std::string text;
    for (int step = 10; step <= 200; step += 10) {
        text += fmt::format("Train: 0 [{:4}/1251 (  4%)]  Loss: 6.9  Time: 0.413s  Data: 0.010\n", step);
        if (step % 100 == 0) {
            text += "Test: [   0/48]  Time: 9.151s  Data: 0.010\nTest: [  10/48]  Time: 9.2s  Data: 0.010\n";
        }
    }
    EXPECT_DOUBLE_EQ(step_of(text), 0.413);
    TrainingLog const log = read_log(text, question);
    EXPECT_TRUE(log.steps.at(10).evaluation);
    EXPECT_EQ(log.steps.size(), 20);
}

TEST(TrainingLogLabels, IterationsMayBeMicroBatches) {
    std::string const accumulation = "gradient_accumulation_steps: 4\n";
    EXPECT_THAT(error_of_log(accumulation + patterned("iter {0} | loss 2.3 | 0.625 s/it"), question),
                HasSubstr("its lines count steps or micro-batches"));
    EXPECT_NEAR(step_of(accumulation + patterned("iter {0} | loss 2.3 | 13107.2 tokens/s/gpu")), 2.5, 1e-3);
    EXPECT_NEAR(step_of(accumulation + patterned("step {0} | loss 2.3 | 2.5 s/it")), 2.5, 1e-9);
}

TEST(TrainingLogLabels, NumbersThatAreNotTheFigure) {
    EXPECT_THAT(error_of_log(patterned("step {0} | loss 2.3 | 2.50 ± 0.01 s/step"), question),
                HasSubstr("no known training log"));
    EXPECT_THAT(error_of_log(patterned("step {0} | loss 2.3 | step time 2,512 s"), question),
                HasSubstr("'2,512' is ambiguous"));
    EXPECT_NEAR(step_of(patterned("step {0} | loss 2.3 | step time 2,512.5 ms")), 2.5125, 1e-9);
    EXPECT_NEAR(step_of(patterned("step {0} | loss 2.3 | 2.5 s/it (2.9 s/it)")), 2.5, 1e-9);
    EXPECT_NEAR(step_of(patterned("step {0} | time: 0.4 s/it | loss .5")), 0.4, 1e-9);
}

TEST(TrainingLogLabels, StepsOfTheBatchThatIsAsked) {
    std::string table = "step,global_batch_size,step_time_s\n";
    for (int step = 0; step < 30; ++step) {
        table += fmt::format("{},{},{}\n", step, step < 20 ? 32 : 64, step < 20 ? 1.25 : 2.5);
    }
    EXPECT_DOUBLE_EQ(step_of(table), 2.5);
    EXPECT_EQ(training::steady_step(read_log(table).steps)->batch, 32);
}

TEST(TrainingLogLabels, BareTimesAndOtherWordsAreRead) {
    for (char const* pattern : {"step {0} loss 2.31 2500.00ms", "Step {0} of 500 - loss 2.31 - 2.50 sec",
                                "update {0} loss 2.3 update_time 2.5 s", "step {0} loss nan step_time 2.500 s",
                                "| epoch 1 | {0}/ 4000 batches | ms/batch 2500.00 | loss 2.3",
                                "step {0} loss 2,31 step_time_s 2,50", "step {0} loss 2,31 step_time 2,50 s"}) {
        EXPECT_NEAR(step_of(lines([&](int step) { return fmt::format(fmt::runtime(pattern), step); }, 20, 1)), 2.5,
                    1e-9)
            << pattern;
    }
}

TEST(TrainingLogLabels, BatchesArePartsOfAStepWithAccumulation) {
    auto accumulated = question;
    accumulated.accumulation = 4;
    std::string const text =
        lines([](int batch) { return fmt::format("Epoch 0 batch {}/1000 loss 2.3 time 2.500s", batch); }, 40, 1);
    EXPECT_NEAR(training::steady_step(read_log(text, accumulated).steps)->step.base(), 10.0, 1e-9);
    EXPECT_NEAR(step_of(text), 2.5, 1e-9);
    std::string table = "iter,it/s\n";
    for (int step = 1; step <= 20; ++step) { table += fmt::format("{},0.4\n", step); }
    EXPECT_THAT(read_log(table, accumulated).warnings, Contains(HasSubstr("may be micro-batches")));
    EXPECT_TRUE(read_log(table, question).warnings.empty());
}

TEST(TrainingLogLabels, ABatchBeyondAllSequencesCountsTokens) {
    constexpr TrainingLogQuestion unstated{.workers = 8, .global_batch = 0, .sequence_length = 4096};
    std::string const rows = lines([](int step) { return fmt::format("step {} loss 2.3 step_time 2.5 s", step); });
    EXPECT_EQ(read_log("global_batch_size: 4194304\n" + rows, unstated).fact("--global-batch"), "1024");
    EXPECT_EQ(read_log("global_batch_size: 4096\n" + rows, unstated).fact("--global-batch"), "4096");
    std::string table = "step,global_batch_size,step_time_s\n";
    for (int step = 1; step <= 20; ++step) { table += fmt::format("{},262144,2.5\n", step); }
    EXPECT_EQ(read_log(table, unstated).steps.front().batch, 64);
}

TEST(TrainingLogLabels, TimesOfSomethingElseAreNoSteps) {
    for (char const* pattern : {"step {0} loss 2.3 backward (1.50 s)",
                                "step {0} loss 2.3 backward -> 1.5s",
                                "step {0} | loss 2.3 | backward | 1.5 s |",
                                "step\t{0}\tloss\t2.3\tbackward\t1.5s",
                                "step {0} loss 2.3, 1.5s backward",
                                "step {0} loss 2.3, 1.5 s (fwd+bwd)",
                                "step {0} loss 2.3 io: 0.2s, 1.5s fwd",
                                "step {0} loss 2.3, 24s since save",
                                "step {0} loss 2.3 | 1.5 s per forward",
                                "step {0} loss 2.3 | 124.5 ms per sequence",
                                "step {0} loss 2.3 fwd/bwd 0.5/1.5 s",
                                "step {0} loss 2.3 (target < 2.0 s)",
                                "step {0} loss 2.3, 64 s=8192 h=4096",
                                "step {0} loss 2.3 forward 0.5s 1.5s",
                                "step {0} loss 2.3 stage 1 time 1.5s",
                                "step {0} loss 2.3 layers 0-15 time 1.5s",
                                "step {0} loss 2.3 last 10 step time: 25.0s",
                                "step {0} loss 2.3 rank 0 step time 1.5s, rank 7 step time 2.5s",
                                "step {0} loss 2.3 gpu 0 tok/s 13107",
                                "step {0} loss 2.3 rank 0: 13107 tok/s",
                                "step {0} loss 2.3 up 29s",
                                "global_step {0} iter {0} ms 2500.5 loss 2.3",
                                "1000524288 tokens | step {0} loss 2.3"}) {
        EXPECT_THAT(error_of_log(patterned(pattern, 20, 1), question), testing::Not(testing::IsEmpty())) << pattern;
    }
    std::string const figures = lines([](int step) {
        std::string line = fmt::format("step {} loss 2.3 step_time 2.5 s", step);
        for (int i = 0; i < 1000; ++i) { line += " 1"; }
        return line;
    });
    EXPECT_NEAR(step_of(figures), 2.5, 1e-9);
    EXPECT_NEAR(step_of(lines([](int step) { return fmt::format("step {} loss 3 time 2.5 s", step); }, 20, 1)), 2.5,
                1e-9);
}

TEST(TrainingLogLabels, TheTailOfAClockIsAClock) {
    auto const tail = [](char const* pattern, double first, double rise) {
        return lines([&](int step) { return fmt::format(fmt::runtime(pattern), 5000 + step, first + rise * step); }, 40,
                     1);
    };
    for (char const* pattern :
         {"step {} loss 2.3 elapsed {:.0f}s", "step {} loss 2.3 {:.0f}s", "step {} loss 2.3 time {:.0f} s"}) {
        EXPECT_NEAR(step_of(tail(pattern, 12'500.0, 2.5)), 2.5, 0.05) << pattern;
    }
    EXPECT_NEAR(step_of(tail("step {} loss 2.3 time {:.3f} s", 2.0, 0.02)), 2.4, 0.3); // steps that grow
    std::string const growing =
        lines([](int step) { return fmt::format("step {} loss 2.3 time {:.3f} s", step, 3.9 + 0.05 * step); }, 100, 1);
    EXPECT_THAT(error_of_log(growing, question), HasSubstr("the time of steps that grow"));
    EXPECT_THAT(error_of_log(tail("step {} loss 2.3 {:.0f}s", 12'500.0, -2.5), question), HasSubstr("does not rise"));
}

TEST(TrainingLogLabels, ARateAndABatchThatMayCountTokens) {
    auto const log = [](int batch) {
        constexpr TrainingLogQuestion unstated{.workers = 8, .global_batch = 0, .sequence_length = 4096};
        auto asked = unstated;
        asked.global_batch = batch;
        std::string const text =
            lines([](int step) { return fmt::format("step {} loss 2.3 global_batch_size 32768 4096 tokens/s", step); });
        return std::pair{text, asked};
    };
    auto const [text, unstated] = log(0);
    EXPECT_THAT(error_of_log(text, unstated), HasSubstr("--global-batch"));
    auto const [same, stated] = log(8);
    EXPECT_NEAR(training::steady_step(read_log(same, stated).steps)->step.base(), 8.0, 1e-9);
}

TEST(TrainingLogLabels, TimesAsSentencesAndFractionsSayThem) {
    for (char const* pattern :
         {"step {0}/500 | loss 2.3 | time/step: 2.50s (data 0.10s, fwd 0.80s, bwd 1.60s)",
          "step {0} took 2.50s, loss 2.3", "Finished training it {0}/300000 of epoch 0, 2500.00 ms/it, loss 0.134",
          "[step {0}] mlm_loss=2.3 throughput=104.8K tks/s time=25.00, latency=2500.0 ms/step",
          "step: {0}\nloss: 2.3\ncurrent step time: 2.5\ncurrent token per gpu per sec: 13107"}) {
        EXPECT_NEAR(step_of(patterned(pattern)), 2.5, 0.01) << pattern;
    }
    EXPECT_NEAR(step_of(lines([](int step) {
                    return fmt::format("step {} loss 2.3 time elapsed (min): {:.4f}", step, 2.5 / 60.0 * step);
                })),
                2.5, 0.01);
    EXPECT_NEAR(step_of(lines([](int step) {
                    return fmt::format("ts={:.3f} level=info step={} loss=2.3", 1741082400.0 + 2.5 * step, step);
                })),
                2.5, 0.01);
    for (char const* pattern : {"step {0} loss 2.3, 10 steps took 25.0 s", "step {0} loss 2.3, last 10 took 25.0 s",
                                "micro step {0} loss 2.3 time 0.3 s", "step {0} loss 2.3 | epoch 3 took 360 s",
                                "step {0} loss 2.3 | data: took 0.5 s"}) {
        EXPECT_THAT(error_of_log(patterned(pattern), question), HasSubstr("no known training log")) << pattern;
    }
}

TEST(TrainingLogLabels, ALineOfAnEvaluationIsNoStep) {
    auto const text = patterned("step {0} train_loss 2.3 took 2.5 s\nstep {0} val_loss 2.1 took 60.05 s");
    EXPECT_NEAR(step_of(text), 2.5, 0.01);
    for (char const* pattern :
         {"step {0} loss 2.3 val_loss 2.1 step_time 2.5 s", "step {0} loss 2.3 val_ppl 8.1 step_time 2.5 s"}) {
        EXPECT_NEAR(step_of(patterned(pattern)), 2.5, 0.01);
    }
}

TEST(TrainingLogLabels, TheDesiredBatchOfAllCountsTokens) {
    auto const text = "total desired batch size: 524288\n" + patterned("step {0} | loss: 2.3 | dt: 2500.0ms");
    constexpr TrainingLogQuestion of_1024{.workers = 8, .global_batch = 0, .sequence_length = 1024};
    EXPECT_EQ(read_log(text, of_1024).fact("--global-batch"), "512");
}

} // namespace
