// Formats of small trainers and bars, and lines about micro-batches.

#include "support/training_logs.hpp"

#include "headroom/io/training_log.hpp"
#include "headroom/training/logged_steps.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace headroom;
using namespace headroom::io;

std::string two(int n) { return (n < 10 ? "0" : "") + std::to_string(n); }
std::string clock(int seconds) { return two(seconds / 60) + ":" + two(seconds % 60); }

/// The steady step of a log, seconds.
double step_of(TrainingLog const& log) { return training::steady_step(log.steps)->step.base(); }

TEST(TrainingLogFormats, NanoGptHasTheTimeOfAnIteration) {
    std::string text = "tokens per iteration will be: 491,520\nOverriding: block_size = 1024\n"
                       "step 0: train loss 10.9, val loss 10.9\nsaving checkpoint to out\n";
    for (int iteration = 0; iteration <= 50; iteration += 10) {
        text += "iter " + std::to_string(iteration) + ": loss 3.1234, time " + (iteration == 0 ? "9000.00" : "250.10") +
                "ms, mfu 30.10%\n";
    }
    TrainingLog const log = read_log(text);
    EXPECT_EQ(log.format, "nanoGPT");
    ASSERT_EQ(log.steps.size(), 6);
    EXPECT_TRUE(log.steps[0].evaluation);
    EXPECT_TRUE(log.steps[0].checkpoint);
    EXPECT_DOUBLE_EQ(step_of(log), 0.2501);
    EXPECT_EQ(log.fact("--global-batch"), "480"); // 491,520 / 1024
    // The length that only the question has gives the batch, too.
    TrainingLog const asked = read_log(
        "tokens per iteration will be: 491,520\niter 1: loss 3.1, time 250.10ms, mfu 3%\n", {.sequence_length = 512});
    EXPECT_EQ(asked.fact("--global-batch"), "960");
}

TEST(TrainingLogFormats, ModdedNanoGptHasAClock) {
    std::string text = "step:0/1750 val_loss:10.8 train_time:0ms step_avg:nanms\n";
    for (int step = 1; step <= 9; ++step) {
        text += "step:" + std::to_string(step) + "/1750 train_time:" + std::to_string(3000 + 100 * step) +
                "ms step_avg:nanms\n";
    }
    for (int step = 10; step <= 20; ++step) { // warm-up is not counted: the clock begins again
        text += "step:" + std::to_string(step) + "/1750 train_time:" + std::to_string(120 * (step - 10)) +
                "ms step_avg:120.00ms\n";
    }
    TrainingLog const log = read_log(text);
    EXPECT_EQ(log.format, "modded-nanogpt");
    EXPECT_NEAR(log.steps.back().seconds, 0.12, 1e-9);
    for (auto const& step : log.steps) { EXPECT_LT(step.seconds, 3.2); }
    EXPECT_EQ(training::steady_step(log.steps)->runs, 1);
}

TEST(TrainingLogFormats, LlmCHasTimesRatesAndSizes) {
    std::string text = "batch_size B=16 * seq_len T=1024 * num_processes=8 and total_batch_size=524288\n";
    for (int step = 1; step <= 6; ++step) {
        text += "step   " + std::to_string(step) +
                "/19560 | loss 7.512345 (+nanz)| norm 2.1345 (+nanz)| lr 1.20e-05 | 512.30 ms | 41.2% bf16 MFU | "
                "1023456 tok/s\n";
    }
    TrainingLog const log = read_log(text);
    EXPECT_EQ(log.format, "llm.c");
    EXPECT_EQ(log.framework, "llm-c");
    EXPECT_DOUBLE_EQ(step_of(log), 0.5123);
    EXPECT_EQ(log.fact("--global-batch"), "512");
    EXPECT_EQ(log.fact("--micro-batch"), "16");
    EXPECT_EQ(log.fact("--workers"), "8");
    EXPECT_EQ(log.fact("--sequence-length"), "1024");
    ASSERT_EQ(log.rates.size(), 1);
    EXPECT_NEAR(log.rates[0].work, 524288, 2000);
    TrainingLog const python =
        read_log("step   20/19560 | loss 7.5 | norm 2.1 | lr 1.2e-05 | (110.25 ms | 4756 tok/s)\n");
    EXPECT_DOUBLE_EQ(python.steps[0].seconds, 0.11025);
}

TEST(TrainingLogFormats, TorchtuneHasABarAndRates) {
    std::string bar;
    for (int epoch = 1; epoch <= 2; ++epoch) {
        for (int step = 1; step <= 40; ++step) {
            std::string const percent = std::to_string(100 * step / 40);
            bar += std::to_string(epoch) + "|" + std::to_string(40 * (epoch - 1) + step) + "|Loss: 1.23: " + percent +
                   "%|#   | " + std::to_string(step) + "/40 [" + clock(4 * step) + "<06:00,  4.00s/it]\r";
        }
    }
    std::string disk;
    for (int step = 10; step <= 50; step += 10) {
        disk += "Step " + std::to_string(step) +
                " | loss:1.2 lr:2e-05 tokens_per_second_per_gpu:1024.0 peak_memory_alloc:20.0\n";
    }
    TrainingLog const log = read_log(bar + "\n" + disk);
    EXPECT_EQ(log.format, "torchtune");
    EXPECT_NEAR(step_of(log), 4.0, 1e-9);
    EXPECT_EQ(training::steady_step(log.steps)->runs, 1); // epochs are no restarts
    EXPECT_GT(log.steps.back().number, 70);
    EXPECT_THAT(error_of_log(disk), testing::HasSubstr("no --global-batch"));
    TrainingLog const rates = read_log(disk, {.workers = 8, .global_batch = 16, .sequence_length = 2048});
    EXPECT_DOUBLE_EQ(step_of(rates), 4.0); // 16 x 2048 / (8 x 1024)
    EXPECT_DOUBLE_EQ(rates.memory_bytes.value(), 20.0 * 1073741824.0);
}

/// Bars of two epochs of 60 batches.
std::string epochs(int seconds, std::string const& behind, int accumulation = 0, std::string const& title = "Epoch ") {
    std::string text;
    for (int epoch = 0; epoch < 2; ++epoch) {
        for (int batch = 0; batch <= 60; ++batch) {
            text += title + std::to_string(epoch) + ":  " + std::to_string(100 * batch / 60) + "%|#   | " +
                    std::to_string(batch) + "/60 [" + clock(seconds * batch) + "<15:00,  1.00it/s, " + behind;
            if (accumulation > 0) {
                text += ", global_step=" + std::to_string((60 * epoch + batch) / accumulation) + ".0";
            }
            text += "]\r";
        }
    }
    return text + "\n";
}

TEST(TrainingLogFormats, ABarOfAnEpochCountsBatches) {
    std::string const bars = epochs(5, "v_num=0, train_loss=2.1");
    EXPECT_THAT(error_of_log(bars), testing::HasSubstr("add --grad-accum 1 where each of its batches is a step"));
    TrainingLog const single = read_log(bars, {.accumulation = 1});
    EXPECT_EQ(single.framework, "lightning");
    EXPECT_NEAR(step_of(single), 5.0, 1e-9);
    EXPECT_NEAR(step_of(read_log("accumulate_grad_batches: 4\n" + bars)), 20.0, 1e-9);
    EXPECT_NEAR(step_of(read_log(epochs(5, "loss=2", 4))), 20.0, 1.0);
    EXPECT_EQ(read_log(epochs(5, "loss=2", 4)).framework, "");
    std::string const of_openrlhf = epochs(5, "gpt_loss=2.1", 0, "Train step of epoch ");
    EXPECT_THAT(error_of_log(of_openrlhf), testing::HasSubstr("add --grad-accum 1"));
    EXPECT_NEAR(step_of(read_log(of_openrlhf, {.accumulation = 4})), 20.0, 1e-9);
    EXPECT_EQ(training::steady_step(single.steps)->runs, 1);
}

std::string litgpt(int first, int last, int each, int interval = 1) {
    std::string text;
    for (int iteration = first; iteration <= last; ++iteration) {
        if (iteration % interval != 0) { continue; }
        bool const done = iteration % each == 0;
        text += "Epoch 1 | iter " + std::to_string(iteration) + " step " + std::to_string(iteration / each) +
                " | loss train: 2.1, val: n/a | iter time: " + (done ? "700.00" : "500.00") + " ms" +
                (done ? " (step)" : "") + "\n";
    }
    return text;
}

TEST(TrainingLogFormats, LitGptTimesMicroBatches) {
    TrainingLog const log = read_log(litgpt(1, 40, 4));
    EXPECT_EQ(log.format, "litgpt");
    EXPECT_EQ(log.framework, "litgpt");
    EXPECT_EQ(log.steps.size(), 10);
    EXPECT_NEAR(step_of(log), 3 * 0.5 + 0.7, 1e-9);
    EXPECT_THAT(log.notes, testing::Contains(testing::HasSubstr("4 make a step")));
    EXPECT_NEAR(step_of(read_log(litgpt(4, 4, 4))), 4 * 0.7, 1e-9); // one line: iteration 4, step 1
    EXPECT_NEAR(step_of(read_log(litgpt(103, 180, 8))), 7 * 0.5 + 0.7, 1e-9);
    EXPECT_NEAR(step_of(read_log(litgpt(1, 400, 4, 10))), 4 * 0.6, 0.41); // every tenth is printed
    EXPECT_NEAR(step_of(read_log(litgpt(1, 20, 1))), 0.7, 1e-9);
    EXPECT_THAT(error_of_log(litgpt(1, 3, 4)), testing::HasSubstr("no --grad-accum"));
    EXPECT_NEAR(step_of(read_log(litgpt(1, 3, 4), {.accumulation = 4})), 2.0, 1e-9);
    TrainingLog const stated = read_log("gradient_accumulation_iters: 2\n" + litgpt(1, 40, 4));
    EXPECT_THAT(stated.warnings, testing::Contains(testing::HasSubstr("states 2 micro-batches a step")));
}

TEST(TrainingLogFormats, LevanterHasAClock) {
    std::string text;
    for (int step = 10; step <= 200; step += 10) {
        text += "2026-03-04T10:00:00 - 0 - tqdm_logging - INFO :: Progress on:train " + std::to_string(step) +
                "it/10.0kit rate:2.0s/it remaining:2:14:30 elapsed:" + clock(2 * step) + " postfix:loss=3.21\n";
    }
    text += "Progress on:eval 10.0it/16.0it rate:9it/s remaining:00:01 elapsed:00:01 postfix:loss=3.2\n"
            "Progress on:train 1.20kit/10.0kit rate:2.0s/it remaining:2:14:30 elapsed:40:00 postfix:loss=3.21\n";
    TrainingLog const log = read_log(text);
    EXPECT_EQ(log.format, "levanter");
    EXPECT_NEAR(step_of(log), 2.0, 1e-9);
    EXPECT_NEAR(log.steps.back().seconds, 2.0, 1e-9); // 1,200 steps, rounded to ten
    EXPECT_TRUE(log.steps.back().evaluation);
}

/// A Trainer's bar of as many counts.
std::string bar(int total, int seconds, std::string const& rate, std::string const& behind = "", int each = 0) {
    std::string text;
    for (int count = 1; count <= total; ++count) {
        text += " " + std::to_string(100 * count / total) + "%|x   | " + std::to_string(count) + "/" +
                std::to_string(total) + " [" + clock(seconds * count) + "<10:00, " + rate + behind;
        if (each > 0) { text += ", global_step=" + std::to_string(count / each); }
        text += "]\r";
    }
    return text + "\n";
}

TEST(TrainingLogFormats, ABarThatMayCountMicroBatchesIsNoStep) {
    std::string const stated = "gradient_accumulation_steps=8,\n", losses = "{'loss': 1.2, 'epoch': 0.1}\n";
    for (char const* const rate : {"2.00s/it", "1.50it/s"}) {
        EXPECT_THAT(error_of_log(stated + bar(80, 2, rate, ", loss=1.2")),
                    testing::HasSubstr("its progress bar counts steps or micro-batches"))
            << rate;
        EXPECT_NEAR(step_of(read_log(stated + bar(80, 2, rate) + losses)), 2.0, 1e-9); // Trainer's counts steps
        EXPECT_NEAR(step_of(read_log(bar(80, 2, rate, ", loss=1.2"))), 2.0, 1e-9);
        EXPECT_NEAR(step_of(read_log(stated + bar(400, 2, rate, ", loss=1.2", 8))), 16.0,
                    2.0); // the number of the step grows slower
    }
    std::string const header =
        "***** Running training *****\n  Gradient Accumulation steps = 8\n  Total optimization steps = 10\n";
    EXPECT_NEAR(step_of(read_log(header + stated + bar(80, 2, "2.00s/it"))), 16.0, 1e-9); // 80 = 10 x 8
}

TEST(TrainingLogFormats, TwoBarsOfTrainingAreNamed) {
    TrainingLog const log = read_log(bar(200, 3, "3.0s/it", ", loss=1.2") + bar(80, 7, "7.0s/it", ", loss=1.2"));
    EXPECT_NEAR(step_of(log), 3.0, 1e-9);
    EXPECT_THAT(log.warnings, testing::ElementsAre(testing::AllOf(testing::HasSubstr("3 s a step over"),
                                                                  testing::HasSubstr("7 s over"))));
    EXPECT_THAT(read_log(bar(200, 3, "3.0s/it", ", loss=1.2") + bar(20, 1, "1.0s/it", ", loss=1.2")).warnings,
                testing::IsEmpty());
}

TEST(TrainingLogFormats, ATitleOfTrainingIsASign) {
    auto const titled = [](std::string const& title, std::string const& more = "") {
        std::string text = more;
        for (int step = 1; step <= 80; ++step) {
            text += title + std::to_string(100 * step / 80) + "%|x   | " + std::to_string(step) + "/80 [" +
                    clock(2 * step) + "<10:00, 1.20it/s, lr=1e-4]\r";
        }
        return text;
    };
    std::string const stated = "gradient_accumulation_steps: 4\n";
    for (char const* const title : {"Steps:  ", "Training:  ", "train: ", "[rank0]: Steps: "}) {
        EXPECT_NEAR(step_of(read_log(titled(title))), 2.0, 1e-9) << title;
    }
    EXPECT_NEAR(step_of(read_log(titled("Steps: ", stated))), 2.0, 1e-9);
    EXPECT_THAT(error_of_log(titled("train: ", stated)), testing::HasSubstr("counts steps or micro-batches"));
    EXPECT_THAT(error_of_log(titled("Loading: ")), testing::HasSubstr("no known training log"));
}

TEST(TrainingLogFormats, ATableOfMicroBatchesIsJoined) {
    std::string text = "iter,global_step,step_time_s\n";
    for (int iteration = 1; iteration <= 80; ++iteration) {
        text += std::to_string(iteration) + "," + std::to_string(iteration / 8) + ",0.5\n";
    }
    EXPECT_NEAR(step_of(read_log(text, {}, "run.csv")), 4.0, 1e-9);
    std::string timed = "iter,global_step,step_time_s,timestamp\n", sparse = "iter,step,iter_time_s\n";
    for (int iteration = 1; iteration <= 80; ++iteration) { // the clock is of micro-batches, too
        timed += std::to_string(iteration) + "," + std::to_string(iteration / 8) + ",2.0," +
                 std::to_string(1741082400 + 2 * iteration) + "\n";
        sparse += std::to_string(10 * iteration) + "," + std::to_string(10 * iteration / 4) + ",0.5\n";
    }
    EXPECT_NEAR(step_of(read_log(timed, {}, "run.csv")), 16.0, 1e-9);
    EXPECT_NEAR(step_of(read_log(sparse, {}, "run.csv")), 2.0, 1e-9);
    std::string alike = "iteration,step,step_time_s\n";
    for (int step = 1; step <= 20; ++step) { alike += std::to_string(step) + "," + std::to_string(step) + ",0.5\n"; }
    EXPECT_NEAR(step_of(read_log(alike, {}, "run.csv")), 0.5, 1e-9);
}

TEST(TrainingLogFormats, ATableInFallingOrderIsOneRun) {
    std::string text = "step,step_time_s\n";
    for (int step = 20; step >= 1; --step) {
        text += std::to_string(step) + "," + (step == 1 ? "9.0" : step % 2 == 0 ? "0.5" : "0.54") + "\n";
    }
    auto const steady = training::steady_step(read_log(text, {}, "run.csv").steps).value();
    EXPECT_EQ(steady.runs, 1);
    EXPECT_EQ(steady.counts.warm_up, 1);
    EXPECT_TRUE(steady.earlier_runs.empty());
}

TEST(TrainingLogFormats, NemoWithAccumulationTimesBatches) {
    std::string text;
    for (int batch = 4; batch <= 80; batch += 4) {
        text += "Training epoch 0, iteration " + std::to_string(batch) +
                "/99 | lr: 5.6e-06 | global_batch_size: 32 | global_step: " + std::to_string(batch / 4) +
                " | train_step_timing in s: 0.5\n";
    }
    EXPECT_NEAR(step_of(read_log(text)), 2.0, 1e-9);
}

TEST(TrainingLogFormats, TheBatchOfWhatIsCounted) {
    std::string nemo, axolotl = "micro_batch_size: 2\ngradient_accumulation_steps: 4\n";
    for (int step = 0; step < 9; ++step) {
        nemo += "Training epoch 0, iteration " + std::to_string(step) + "/99 | global_step: " + std::to_string(step) +
                " | train_step_timing in s: 0.5 | consumed_samples: " + std::to_string(256 * (step + 1)) + "\n";
        axolotl += "{'loss': 2.0}\n 10%|# | " + std::to_string(10 * step) + "/420 [0" + std::to_string(step) +
                   ":00<10:00, 6.00s/it]\n";
    }
    EXPECT_EQ(read_log(nemo).steps.back().batch, 256);
    std::string bar;
    for (int step = 0; step < 9; ++step) {
        bar += fmt::format(
            "Epoch 0: :  1%|  | {0}/900 [00:0{0}<1:00:00, v_num=, global_step={1}.000, consumed_samples={2}.0, "
            "train_step_timing in s=0.500]\n",
            step + 1, step, 256 * (step + 1));
    }
    EXPECT_EQ(read_log(bar).steps.back().batch, 256);
    TrainingLog const trainer =
        read_log("'gradient_accumulation_steps': 4,\n***** Running training *****\n" + axolotl, {.workers = 8});
    EXPECT_EQ(trainer.fact("--global-batch"), "64");
    EXPECT_THAT(trainer.notes, testing::Contains("its batch is 64: micro-batch x accumulation x accelerators"));
    EXPECT_EQ(read_log("***** Running training *****\n" + axolotl).fact("--global-batch"), "");
    TrainingLog const maxtext = read_log(
        "Num_devices: 8, shape (1, 8)\nConfig param per_device_batch_size: 4\ncompleted step: 1, seconds: 4.2\n");
    EXPECT_EQ(maxtext.fact("--global-batch"), "32");
}

TEST(TrainingLogFormats, OlderLinesOfDeepSpeed) {
    std::string text;
    for (int step = 10; step <= 50; step += 10) {
        text += "[INFO] [timer.py:157:stop] 0/" + std::to_string(step) + ", SamplesPerSec=25.6, MemAllocated=21.1GB\n";
    }
    TrainingLog const log = read_log(text, {.global_batch = 64});
    EXPECT_EQ(log.format, "DeepSpeed");
    EXPECT_NEAR(step_of(log), 2.5, 1e-9);
    EXPECT_EQ(log.steps.back().number, 50);
}

TEST(TrainingLogFormats, OneMicroBatchOfEachStepIsWarnedOf) {
    std::string every, last;
    for (int step = 1; step <= 40; ++step) {
        for (int micro = 4 * step - 3; micro <= 4 * step; ++micro) {
            std::string const line =
                "Epoch 1 | iter " + std::to_string(micro) + " step " + std::to_string(micro / 4) +
                " | loss train: 2.1, val: n/a | iter time: " + (micro % 4 == 0 ? "900.00" : "500.00") + " ms\n";
            every += line;
            if (micro % 4 == 0) { last += line; }
        }
    }
    EXPECT_TRUE(read_log(every).warnings.empty());
    EXPECT_THAT(read_log(last).warnings, testing::Contains(testing::HasSubstr("holds the optimizer")));
}

TEST(TrainingLogFormats, ABarThatCountsSequencesIsNoneOfSteps) {
    std::string samples, batches;
    for (int step = 1; step <= 60; ++step) {
        std::string const clock = fmt::format("[{:02}:{:02}<10:00", 4 * step / 60, 4 * step % 60);
        samples += fmt::format("\rTraining:   1%|      | {}/64000 {}, 16.00samples/s, loss=2.1]", 64 * step, clock);
        batches += fmt::format("\rTraining:   1%|      | {}/1000 {},  4.00s/ batch, loss=2.1]", step, clock);
    }
    EXPECT_THAT(error_of_log(samples), testing::HasSubstr("no known training log"));
    EXPECT_NEAR(read_log(batches).steps.back().seconds, 4.0, 0.1);
}

TEST(TrainingLogFormats, NodesAndDevicesMakeAccelerators) {
    std::string text = "    trainer:\n      devices: 8\n      num_nodes: 4\n";
    for (int step = 1; step <= 5; ++step) {
        text +=
            fmt::format("Training epoch 0, iteration {} | global_step: {} | train_step_timing in s: 3.6\n", step, step);
    }
    EXPECT_EQ(read_log(text).fact("--workers"), "32");
}

TEST(TrainingLogFormats, OtherBytesAreNamed) {
    std::string tar(512, '\0');
    tar.replace(0, 5, "a.log").replace(257, 5, "ustar");
    EXPECT_THAT(error_of_log(tar), testing::HasSubstr("a tar archive"));
    EXPECT_THAT(error_of_log(std::string("\x18\0\0\0brain.Event:2", 17)),
                testing::HasSubstr("an event file of TensorBoard"));
    EXPECT_THAT(error_of_log(std::string("step 1\0\0\n", 9)), testing::HasSubstr("it holds zero bytes"));
}

} // namespace
