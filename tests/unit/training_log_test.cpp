#include "support/scratch_folder.hpp"
#include "support/training_logs.hpp"

#include "headroom/interrupt.hpp"
#include "headroom/io/training_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace {

using namespace headroom;
using namespace headroom::io;

std::string megatron_line(int step, double milliseconds, int batch = 64) {
    return " [2026-03-04 10:00:00] iteration " + std::to_string(step) +
           "/   500 | consumed samples: " + std::to_string(step * batch) +
           " | elapsed time per iteration (ms): " + std::to_string(milliseconds) +
           " | throughput per GPU (TFLOP/s/GPU): 400.1 | global batch size: " + std::to_string(batch) +
           " | lm loss: 2.1E+00 | number of skipped iterations:   0 | number of nan iterations:   0 |\n";
}

TEST(TrainingLog, MegatronHasTimesFactsMemoryAndMarks) {
    std::string text =
        "using world size: 16, data-parallel size: 8, context-parallel size: 1, tensor-model-parallel size: 2, "
        "pipeline-model-parallel size: 1\n"
        "  micro_batch_size ................................ 2\n"
        "  seq_length ...................................... 8192\n"
        "  bf16 ............................................ True\n"
        "  fp16 ............................................ False\n"
        "  num_layers ...................................... 32\n";
    text += megatron_line(10, 9000) + megatron_line(20, 2000.5);
    text +=
        "[Rank 0] (after 20 iterations) memory (MB) | allocated: 100.0 | max allocated: 2048.0 | reserved: 1.0 | max "
        "reserved: 4096.0\n";
    text += "saving checkpoint at iteration      20 to /ckpt\n";
    text += megatron_line(30, 2500);
    text += " validation loss at iteration 30 | lm loss value: 2.0E+00 | lm loss PPL: 7.4E+00 |\n" +
            megatron_line(40, 2001);
    TrainingLog const log = read_log(text);
    EXPECT_EQ(log.format, "Megatron-LM");
    EXPECT_EQ(log.framework, "megatron-core");
    ASSERT_EQ(log.steps.size(), 4);
    EXPECT_DOUBLE_EQ(log.steps[1].seconds, 2.0005);
    EXPECT_EQ(log.steps[1].steps, 10);
    EXPECT_EQ(log.steps[1].batch, 64);
    EXPECT_TRUE(log.steps[2].checkpoint);
    EXPECT_TRUE(log.steps[3].evaluation);
    EXPECT_FALSE(log.steps[3].checkpoint);
    EXPECT_EQ(log.fact("--workers"), "16");
    EXPECT_EQ(log.fact("--tp"), "2");
    EXPECT_EQ(log.fact("--micro-batch"), "2");
    EXPECT_EQ(log.fact("--sequence-length"), "8192");
    EXPECT_EQ(log.fact("--precision"), "bf16");
    EXPECT_EQ(log.fact("layers"), "32");
    EXPECT_DOUBLE_EQ(log.memory_bytes.value(), 2048.0 * 1048576.0);
}

TEST(TrainingLog, SkippedIterationsAreCounted) {
    std::string line = megatron_line(3, 100);
    line.replace(line.find("iterations:   0"), 15, "iterations:   1");
    TrainingLog const log = read_log(megatron_line(1, 100) + megatron_line(2, 100) + line);
    EXPECT_EQ(log.steps.size(), 2);
    EXPECT_EQ(issues_of(log, "step with iterations that were skipped"), 1);
}

TEST(TrainingLog, ARestartIsAnotherRun) {
    std::string text;
    for (int step : {100, 200, 300, 400, 200, 300}) { text += megatron_line(step, 1000); }
    TrainingLog const log = read_log(text);
    ASSERT_EQ(log.steps.size(), 6);
    EXPECT_EQ(log.steps[3].run, 0);
    EXPECT_EQ(log.steps[4].run, 1);
}

TEST(TrainingLog, RunsWithOtherFactsThanTheLastAreLeftOut) {
    std::string const head = "  tensor_model_parallel_size ...................... ";
    TrainingLog const log =
        read_log(head + "4\n" + megatron_line(1, 100) + megatron_line(2, 100) + head + "8\n" + megatron_line(1, 70));
    ASSERT_EQ(log.steps.size(), 1);
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, 0.07);
    EXPECT_EQ(log.fact("--tp"), "8");
    EXPECT_EQ(issues_of(log, "step of a run with another configuration than the last"), 2);
}

TEST(TrainingLog, NemoLinesAndItsProgressBar) {
    TrainingLog const lines =
        read_log("0: Training epoch 0, iteration 28/99 | lr: 5.6e-06 | global_batch_size: 32 | global_step: 28 | "
                 "max_memory_allocated: 2000000000 | train_step_timing in s: 0.189 | consumed_samples: 928\n");
    EXPECT_EQ(lines.format, "NeMo");
    EXPECT_EQ(lines.steps[0].number, 28);
    EXPECT_EQ(lines.steps[0].batch, 32);
    EXPECT_EQ(lines.steps[0].rank, 0);
    EXPECT_DOUBLE_EQ(lines.steps[0].seconds, 0.189);
    EXPECT_DOUBLE_EQ(lines.memory_bytes.value(), 2e9);
    TrainingLog const bar = read_log("Epoch 0: :   5%|x   | 50/1000 [05:00<1:35:00, v_num=0, reduced_train_loss=5.1, "
                                     "global_step=49.00, consumed_samples=12800.0, train_step_timing in s=6.120]\r");
    EXPECT_EQ(bar.steps[0].number, 49);
    EXPECT_DOUBLE_EQ(bar.steps[0].seconds, 6.12);
}

std::string const titan =
    "[rank0]:[titan] 2026-02-13 11:33:29,482 - root - INFO - Building 2-D device mesh with ['dp_shard', 'tp'], "
    "[4, 2]\n"
    "[rank0]:[titan] Training starts at step 1, with local batch size 2, global batch size 8, sequence length "
    "4096, total steps 100 (warmup 200)\n"
    "[rank0]:[titan] 2026-02-13 \x1b[31mstep:  1  \x1b[32mloss: 12.2417  \x1b[33mmemory: 42.00GiB(30.10%)  "
    "\x1b[34mtps: 1,024  \x1b[36mtflops: 100.2  \x1b[35mmfu: 8.65%\x1b[39m\n"
    "[rank1]:[titan] 2026-02-13 step:  1  loss: 12.2417  memory: 41.00GiB(29.10%)  tps: 2,048  mfu: 8.65%\n";

TEST(TrainingLog, TorchtitanStatesTokensOfAnAccelerator) {
    TrainingLog const log = read_log(titan);
    EXPECT_EQ(log.format, "torchtitan");
    ASSERT_EQ(log.steps.size(), 2);
    // 8 sequences of 4096 tokens on 8 accelerators: 4096 tokens each, at 1024 a second
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, 4.0);
    EXPECT_DOUBLE_EQ(log.steps[1].seconds, 2.0);
    EXPECT_EQ(log.steps[1].rank, 1);
    EXPECT_EQ(log.fact("--workers"), "8");
    EXPECT_EQ(log.fact("--tp"), "2");
    EXPECT_DOUBLE_EQ(log.memory_bytes.value(), 42.0 * 1073741824.0);
}

TEST(TrainingLog, TorchtitanOfTodayHasAnotherHeader) {
    TrainingLog const log = read_log(
        "[rank0]:[titan] 2026-03-01 10:00:08,123 - root - INFO - Building 1-D device mesh with ['dp_shard'], [8]\n"
        "[rank0]:[titan] 2026-03-01 10:00:08,123 - root - INFO - Trainer is initialized with local batch size 1, "
        "global "
        "batch size 16, gradient accumulation steps 2, sequence length 8192, total steps 1000 (warmup 200)\n"
        "[rank0]:[titan] 2026-03-01 10:00:08,123 - root - INFO - step: 10  loss: 10.0  memory: 47.92GiB(60.58%)  tps: "
        "8,192  tflops: 420.1  mfu: 42.2%\n");
    EXPECT_EQ(log.fact("--workers"), "8");
    EXPECT_EQ(log.fact("--zero"), "3");
    EXPECT_EQ(log.fact("--micro-batch"), "1");
    EXPECT_EQ(log.fact("--global-batch"), "16");
    EXPECT_EQ(log.fact("--sequence-length"), "8192");
    EXPECT_DOUBLE_EQ(log.steps.at(0).seconds, 2.0);
    EXPECT_EQ(read_log("Building 1-D device mesh with ['dp_replicate'], [4]\n" + titan).fact("--zero"),
              "3"); // the last mesh
    TrainingLog const stages =
        read_log("Building 2-D device mesh with ['pp', 'dp_shard'], [2, 4]\nTrainer is initialized with "
                 "local batch size 8, global batch size 32, sequence length 8192, total steps 9\n"
                 "step: 10  loss: 10.0  memory: 4.0GiB(6.58%)  tps: 8,192  mfu: 42.2%\n");
    EXPECT_EQ(stages.fact("--micro-batch"), ""); // stages split the local batch
}

TEST(TrainingLog, TorchtitanStatesHowTheModelWasBuilt) {
    TrainingLog const log =
        read_log("Applied selective activation checkpointing to the model\nApplied FSDP to the model\n"
                 "Swapped to Float8Linear layers with enable_fsdp_float8_all_gather=True\n" +
                 titan);
    EXPECT_EQ(log.fact("--recompute"), "alternate");
    EXPECT_EQ(log.fact("--zero"), "3");
    EXPECT_EQ(log.fact("--precision"), "fp8");
}

TEST(TrainingLog, ARateWithoutItsFactsIsRefusedWithTheOption) {
    std::string const text = "step: 10  loss: 2.1  memory: 42.00GiB(30.10%)  tps: 1,024  mfu: 8.65%\n";
    EXPECT_EQ(
        error_of_log(text),
        "train.log: its steps have no times (it states tokens a second and accelerator and no --global-batch). add "
        "--global-batch");
    EXPECT_DOUBLE_EQ(read_log(text, {.workers = 2, .global_batch = 4, .sequence_length = 1024}).steps[0].seconds, 2.0);
}

TEST(TrainingLog, NanotronScalesItsNumbers) {
    TrainingLog const log =
        read_log("08/31/2026 14:37:31 [INFO|DP=0|PP=0|TP=0]: iteration: 1 / 15 | consumed_tokens: 512 | "
                 "elapsed_time_per_iteration_ms: 4.71K | tokens_per_sec: 872 | tokens_per_sec_per_gpu: 109 | "
                 "global_batch_size: 2 | lm_loss: 5.32 | cuda_max_memory_reserved: 520M\n");
    EXPECT_EQ(log.format, "nanotron");
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, 4.71);
    EXPECT_DOUBLE_EQ(log.steps[0].half_unit, 0.005);
    EXPECT_EQ(log.steps[0].batch, 2);
    EXPECT_EQ(log.fact("--workers"), "8");
    EXPECT_DOUBLE_EQ(log.memory_bytes.value(), 520e6);
}

TEST(TrainingLog, MaxTextStatesTheTokensOfAStep) {
    std::string const step = "completed step: 45, seconds: 4.000, TFLOP/s/device: 494.168, Tokens/s/device: 4096.000, "
                             "total_weights: 4194304, loss: 0.000\n";
    TrainingLog const log = read_log("Config param max_target_length: 8192\n" + step);
    EXPECT_EQ(log.format, "MaxText");
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, 4.0);
    EXPECT_EQ(log.steps[0].batch, 512);      // 4194304 / 8192
    EXPECT_EQ(log.fact("--workers"), "256"); // 4194304 / (4096 x 4)
}

TEST(TrainingLog, ComposerPrintsABlockAStep) {
    TrainingLog const log =
        read_log("[batch=9/10]:\n\t Train time/batch: 8\n\t Train memory/peak_reserved_mem: 4.0\n"
                 "\t Train throughput/batches_per_sec: 0.2500\n\t Train throughput/device/batches_per_sec: 0.1\n"
                 "[Eval batch=1/4] Eval on eval data:\n[batch=10/10]:\n\t Train throughput/batches_per_sec: 0.5\n");
    EXPECT_EQ(log.format, "Composer");
    ASSERT_EQ(log.steps.size(), 2);
    EXPECT_EQ(log.steps[0].number, 9);
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, 4.0);
    EXPECT_TRUE(log.steps[1].evaluation);
    EXPECT_DOUBLE_EQ(log.memory_bytes.value(), 4e9);
}

TEST(TrainingLog, DeepSpeedStatesSamplesASecond) {
    TrainingLog const log =
        read_log("[2026-01-02 10:11:12,345] [INFO] [config.py:1001:print]   train_batch_size ............. 32\n"
                 "[2026-01-02 10:11:12,345] [INFO] [config.py:1001:print]   zero_optimization_stage ...... 2\n"
                 "[2026-01-02 10:11:12,345] [INFO] [config.py:1001:print]   train_micro_batch_size_per_gpu  1\n"
                 "[2026-01-02 10:11:13,345] [INFO] [timer.py:260:stop] epoch=0/micro_step=10/global_step=10, "
                 "RunningAvgSamplesPerSec=15.0, CurrSamplesPerSec=16.0, MemAllocated=4.3GB, MaxMemAllocated=8.0GB\n");
    EXPECT_EQ(log.format, "DeepSpeed");
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, 2.0);
    EXPECT_EQ(log.fact("--zero"), "2");
    EXPECT_EQ(log.fact("--micro-batch"), "1");
    EXPECT_DOUBLE_EQ(log.memory_bytes.value(), 8.0 * 1073741824.0);
    TrainingLog const pipeline = read_log("steps: 200 loss: 5.5508 iter time (s): 0.936 samples/sec: 136.706\n");
    EXPECT_DOUBLE_EQ(pipeline.steps[0].seconds, 0.936);
    EXPECT_EQ(pipeline.fact("--global-batch"), "128"); // 136.706 x 0.936 = 127.96
}

TEST(TrainingLog, HuggingFaceHasAClock) {
    std::string text = "***** Running training *****\n  Instantaneous batch size per device = 4\n"
                       "  Total train batch size (w. parallel, distributed & accumulation) = 64\n"
                       "  Gradient Accumulation steps = 2\n";
    for (int step = 1; step <= 100; ++step) { // 3 s each
        int const seconds = 3 * step;
        auto const two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
        text += " " + std::to_string(step) + "%|x    | " + std::to_string(step) + "/100 [" + two(seconds / 60) + ":" +
                two(seconds % 60) + "<00:10,  3.00s/it]\r";
        if (step % 40 == 0) { text += "\n{'eval_loss': 2.1, 'eval_runtime': 0.1, 'epoch': 0.4}\n"; }
    }
    TrainingLog const log = read_log(text);
    EXPECT_EQ(log.format, "Hugging Face Trainer");
    ASSERT_GE(log.steps.size(), 4);
    for (auto const& step : log.steps) {
        EXPECT_NEAR(step.seconds, 3.0, 1e-9);
        EXPECT_LE(step.half_unit, 0.02 * 3.0); // windows are as long as the rounding of a clock in seconds asks for
    }
    EXPECT_EQ(std::ranges::count_if(log.steps, [](auto const& step) { return step.evaluation; }), 2);
    EXPECT_EQ(log.fact("--global-batch"), "64");
    EXPECT_EQ(log.fact("--workers"), "8"); // 64 / (4 x 2)
}

TEST(TrainingLog, HuggingFaceDictionariesAloneGiveTheWholeRun) {
    TrainingLog const log =
        read_log("{'loss': 0.28, 'epoch': 2.9}\n{'train_runtime': '1575', 'train_samples_per_second': '1.333', "
                 "'train_steps_per_second': '0.16', 'train_loss': '0.2854', 'epoch': '3'}\n");
    ASSERT_EQ(log.steps.size(), 1);
    EXPECT_EQ(log.steps[0].steps, 252); // 1575 x 0.16
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, 6.25);
    EXPECT_THAT(log.notes, testing::Contains(testing::HasSubstr("mean of a whole run")));
}

/// A progress bar of so many steps of `seconds`, from `first` on.
std::string bar_of(int total, int seconds, int first = 0, std::string const& behind = "") {
    auto const two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    std::string text;
    for (int step = first; step <= total; ++step) {
        int const passed = seconds * (step - first);
        text += " " + std::to_string(100 * step / total) + "%|x   | " + std::to_string(step) + "/" +
                std::to_string(total) + " [" + std::to_string(passed / 3600) + ":" + two(passed / 60 % 60) + ":" +
                two(passed % 60) + "<10:00, 1.00s/it" + behind + "]\r";
    }
    return text + "\n";
}

TEST(TrainingLog, ABarCountsWhereALineSaysThatItTrains) {
    EXPECT_THAT(error_of_log("Generating answers\n" + bar_of(60, 11)),
                testing::HasSubstr("no line says that its progress bar is of training"));
    std::string const header = "***** Running training *****\n", total = "  Total optimization steps = 60\n";
    std::string const losses = "{'loss': 1.2, 'epoch': 0.1}\n", end = "{'train_runtime': 700.0}\n";
    for (auto const& text : {header + bar_of(60, 11), header + total + bar_of(60, 11), bar_of(60, 11) + losses,
                             bar_of(60, 11) + end, bar_of(60, 11, 0, ", loss=1.2")}) {
        EXPECT_NEAR(read_log(text).steps.at(0).seconds, 11.0, 0.2) << text.substr(0, 100);
    }
    EXPECT_EQ(read_log(bar_of(60, 11) + losses).framework, "hf-trainer");
    EXPECT_EQ(read_log(bar_of(60, 11, 0, ", loss=1.2")).framework, "");
}

TEST(TrainingLog, TheBarOfTrainingWinsOverALongerOne) {
    std::string const longer = bar_of(2000, 1), bar = bar_of(60, 11), header = "***** Running training *****\n";
    for (auto const& text : {longer + header + bar, header + "  Total optimization steps = 60\n" + longer + bar,
                             longer + bar + "{'loss': 1.2}\n", header + longer + bar + "{'loss': 1.2}\n"}) {
        TrainingLog const log = read_log(text);
        EXPECT_NEAR(log.steps.at(0).seconds, 11.0, 0.2);
        EXPECT_GT(issues_of(log, "time of a progress bar that no line shows to be of training"), 0);
    }
}

TEST(TrainingLog, AResumedRunTakesLongerAStep) {
    std::string const header = "***** Running training *****\n", total = "  Total optimization steps = 100\n",
                      resumed = "  Continuing training from global step 20\n",
                      end = "{'train_runtime': 1040.0, 'train_steps_per_second': 0.096}\n";
    for (auto const& text : {header + total + resumed + end, header + resumed + end}) {
        TrainingLog const log = read_log(text);
        EXPECT_DOUBLE_EQ(log.steps.at(0).seconds, 13.0); // 1040 / (100 - 20)
        EXPECT_EQ(log.steps.at(0).steps, 80);
        EXPECT_THAT(log.notes, testing::Not(testing::Contains(testing::HasSubstr("a resumed run"))));
    }
    EXPECT_THAT(read_log(end).notes, testing::Contains(testing::HasSubstr("a resumed run takes longer")));
    EXPECT_THAT(read_log("{\"log_history\": [{\"train_runtime\": 1040.0, \"train_steps_per_second\": 0.096}]}").notes,
                testing::Contains(testing::HasSubstr("a resumed run takes longer")));
    TrainingLog const bar =
        read_log(header + total + resumed + "  0%|x   | 0/100 [00:00<10:00]\r" + bar_of(100, 13, 21));
    for (auto const& step : bar.steps) { EXPECT_NEAR(step.seconds, 13.0, 1e-9); }
}

TEST(TrainingLog, AClockIsPreferredToTheMeanOfTheWholeRun) {
    TrainingLog const log =
        read_log("  1%|x | 1/100 [00:50<1:00:00]\n  50%|x | 50/100 [02:28<10:00]\n 100%|x | 100/100 [04:08<00:00]\n"
                 "{'train_runtime': 300.0, 'train_steps_per_second': 0.333}\n");
    ASSERT_EQ(log.steps.size(), 2);
    for (auto const& step : log.steps) { EXPECT_NEAR(step.seconds, 2.0, 1e-9); }
    EXPECT_EQ(issues_of(log, "time of another clock or progress bar than the longest"), 1);
    EXPECT_THAT(log.notes, testing::Not(testing::Contains(testing::HasSubstr("whole run"))));
}

TEST(TrainingLog, TrainerStateLeavesEvaluationsOut) {
    std::string const text =
        "{\n  \"epoch\": 1.0,\n  \"global_step\": 100,\n  \"log_history\": [\n"
        "    {\"loss\": 2.0, \"step\": 50},\n    {\"eval_loss\": 1.9, \"eval_runtime\": 50.0, \"step\": 50},\n"
        "    {\"train_runtime\": 250.0, \"train_steps_per_second\": 0.4, \"step\": 100}\n  ],\n"
        "  \"train_batch_size\": 4\n}\n";
    TrainingLog const log = read_log(text, {}, "trainer_state.json");
    EXPECT_EQ(log.format, "Hugging Face Trainer JSON");
    ASSERT_EQ(log.steps.size(), 1);
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, 2.0); // (250 - 50) / 100
    EXPECT_EQ(log.fact("--micro-batch"), "4");
    EXPECT_EQ(error_of_log("{\"log_history\": [{\"loss\": 2.0, \"step\": 50}]}"),
              "train.log: it times no step (train_runtime is written when the run ends). give the printed log, whose "
              "progress "
              "bar has a clock");
}

TEST(TrainingLog, LinesOfJsonHaveAClock) {
    TrainingLog const log =
        read_log("{\"current_steps\": 10, \"total_steps\": 99, \"loss\": 1.2, \"elapsed_time\": \"0:01:00\"}\n"
                 "{\"current_steps\": 40, \"total_steps\": 99, \"loss\": 1.2, \"elapsed_time\": \"0:04:00\"}\n");
    ASSERT_EQ(log.steps.size(), 1);
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, 6.0);
}

std::string mllog(std::string const& key, std::string const& value, std::string const& more, double time = 0.0) {
    return ":::MLLOG {\"namespace\": \"\", \"time_ms\": " + std::to_string(static_cast<long long>(time)) +
           ", \"event_type\": \"POINT_IN_TIME\", \"key\": \"" + key + "\", \"value\": " + value + ", \"metadata\": {" +
           more + "}}\n";
}

TEST(TrainingLog, MlperfHasBlocks) {
    std::string const text = mllog("global_batch_size", "32", "\"lineno\": 1") +
                             mllog("block_start", "null", "\"samples_count\": 0", 1e6) +
                             mllog("block_stop", "null", "\"samples_count\": 320", 1e6 + 20'000) +
                             mllog("eval_start", "null", "\"samples_count\": 320", 1e6 + 20'000) +
                             mllog("block_start", "null", "\"samples_count\": 320", 1e6 + 90'000) +
                             mllog("block_stop", "null", "\"samples_count\": 640", 1e6 + 100'000);
    TrainingLog const log = read_log(text);
    EXPECT_EQ(log.format, "MLPerf");
    ASSERT_EQ(log.steps.size(), 2);
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, 2.0); // 20 s, 320 / 32 steps
    EXPECT_DOUBLE_EQ(log.steps[1].seconds, 1.0); // without the evaluation before it
    EXPECT_FALSE(log.steps[1].evaluation);
}

TEST(TrainingLog, LinesOfTwoFrameworksAreNamed) {
    TrainingLog const log =
        read_log("[INFO] [timer.py:260:stop] epoch=0/micro_step=1/global_step=1, RunningAvgSamplesPerSec=58.7, "
                 "CurrSamplesPerSec=61.3, MemAllocated=6.01GB, MaxMemAllocated=19.52GB\n" +
                 megatron_line(1, 14287.5));
    EXPECT_EQ(log.format, "Megatron-LM");
    EXPECT_EQ(log.framework, "megatron-deepspeed");
    EXPECT_THAT(log.notes, testing::Contains("lines of Megatron-LM were used; 1 of DeepSpeed were not"));
}

TEST(TrainingLog, WhatIsNoLogIsRefused) {
    EXPECT_THAT(error_of_log("hello\nworld\n"), testing::HasSubstr("no known training log"));
    EXPECT_THAT(error_of_log(""), testing::HasSubstr("an empty file"));
    EXPECT_THAT(error_of_log(" iteration 1/ 5 | elapsed time per iteration (ms): 0.0 |\n"),
                testing::HasSubstr("no known training log"));
}

TEST(TrainingLog, FilesAreReadABlockAtATimeAndStopWhenAsked) {
    test::ScratchFolder const folder;
    auto const path = folder.path() / "train.log";
    {
        std::ofstream out(path, std::ios::binary);
        for (int step = 1; step <= 6000; ++step) { out << megatron_line(step, 1000); } // over a megabyte
    }
    TrainingLog const whole = read_training_log(path);
    EXPECT_EQ(whole.steps.size(), 6000);
    EXPECT_EQ(whole.lines, 6000);
    EXPECT_EQ(whole.bytes, std::filesystem::file_size(path));
    EXPECT_TRUE(whole.complete);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(read_training_log(path, {}, stop.get_token()), Interrupted);
}

TEST(TrainingLog, LongLinesAreCountedAndZeroBytesToo) {
    TrainingLog const log =
        read_log("a line of " + std::string(100'000, 'x') + "\n" + megatron_line(1, 100) + std::string("a\0b\n", 4));
    EXPECT_EQ(log.steps.size(), 1);
    EXPECT_EQ(issues_of(log, "line longer than 64 KiB, read up to there"), 1);
    EXPECT_EQ(issues_of(log, "line with zero bytes"), 1);
}

} // namespace
