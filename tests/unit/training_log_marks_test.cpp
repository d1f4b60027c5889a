#include "support/training_logs.hpp"

#include "headroom/io/training_log.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using namespace headroom;
using namespace headroom::io;
using testing::Contains;
using testing::HasSubstr;

/// Puts a mark in front of every line.
std::string marked(std::string const& mark, std::string const& text) {
    std::string out = mark;
    for (std::size_t i = 0; i < text.size(); ++i) {
        out += text[i];
        if (text[i] == '\n' && i + 1 < text.size()) { out += mark; }
    }
    return out;
}

constexpr char const* marks[] = {"0: ",
                                 "[rank0]: ",
                                 "[default0]:",
                                 "[1,0]<stderr>:",
                                 "2025-03-04T10:00:00.123456789Z ",
                                 "[pod/name-0/main] ",
                                 "(RayTrainWorker pid=123, ip=10.0.0.1) ",
                                 "2025-03-04T10:00:00Z [rank0]: "};

std::string bar(int done, int all, int seconds, std::string const& title = "") {
    return fmt::format("{}{:3}%|x    | {}/{} [{:02}:{:02}<10:00,  3.00s/it]\n", title, 100 * done / all, done, all,
                       seconds / 60, seconds % 60);
}

TEST(TrainingLogMarks, EveryFormatIsReadBehindThem) {
    std::string const header =
        "***** Running training *****\n  Total train batch size (w. parallel, distributed & accumulation) = 64\n";
    std::string const composer = "[batch=1/10]:\n\t Train throughput/batches_per_sec: 0.5\n";
    std::string const facts = "seq_length: 2048\n  micro_batch_size ........ 2\n" + composer;
    for (char const* mark : marks) {
        TrainingLog const trainer = read_log(marked(mark, header + bar(1, 100, 3) + bar(61, 100, 183)));
        EXPECT_DOUBLE_EQ(trainer.steps.at(0).seconds, 3.0) << mark;
        TrainingLog const blocks = read_log(marked(mark, facts));
        EXPECT_DOUBLE_EQ(blocks.steps.at(0).seconds, 2.0) << mark;
        EXPECT_EQ(blocks.fact("--sequence-length"), "2048") << mark;
        EXPECT_EQ(blocks.fact("--micro-batch"), "2") << mark;
    }
    TrainingLog const rank = read_log(marked("[rank3]: ", composer));
    EXPECT_EQ(rank.steps.at(0).rank, 3);
    EXPECT_EQ(read_log(marked("2: ", composer)).steps.at(0).rank, 2);
}

TEST(TrainingLogMarks, BarsHaveTitlesOfTraining) {
    std::string const header = "***** Running training *****\n";
    for (char const* title : {"Training: ", "Train: ", "Steps: ", "2025-03-04 10:00:00 | INFO | ", "[INFO] ",
                              "2025-03-04 10:00:00 INFO Training: "}) {
        EXPECT_DOUBLE_EQ(read_log(header + bar(1, 100, 3, title) + bar(61, 100, 183, title)).steps.at(0).seconds, 3.0)
            << title;
    }
    for (char const* title :
         {"Map: ", "Evaluating: ", "Loading checkpoint shards: ", "Tokenizing train: ", "Eval steps: "}) {
        EXPECT_THAT(error_of_log(header + bar(1, 100, 3, title) + bar(61, 100, 183, title)),
                    HasSubstr("no known training log"))
            << title;
    }
}

TEST(TrainingLogMarks, NumbersOfLinesAreNoRanks) {
    std::string numbered, stamped, ranks;
    for (int i = 0; i < 4; ++i) {
        std::string const line = fmt::format(" iteration {}/ 500 | elapsed time per iteration (ms): 2000.0 |\n", i + 1);
        numbered += fmt::format("{}:{}", 40 + i, line);
        stamped += fmt::format("{}: {}", 1741082400 + i / 2, line);
        ranks += fmt::format("0: {}1: {}", line, line);
    }
    for (auto const& text : {numbered, stamped}) {
        TrainingLog const log = read_log(text);
        ASSERT_EQ(log.steps.size(), 4);
        for (auto const& step : log.steps) { EXPECT_EQ(step.rank, -1); }
    }
    EXPECT_EQ(read_log(ranks).steps.at(1).rank, 1);
}

TEST(TrainingLogMarks, CollectorsWrapLines) {
    std::string const megatron = "iteration 1/ 500 | elapsed time per iteration (ms): 2000.0 |";
    TrainingLog const json = read_log(
        "{\"time\": \"2025\", \"message\": \"  seq_length ........ 2048\"}\n{\"message\": \"" + megatron + "\"}\n");
    EXPECT_DOUBLE_EQ(json.steps.at(0).seconds, 2.0);
    EXPECT_EQ(json.fact("--sequence-length"), "2048");
    TrainingLog const rows = read_log("timestamp,message\n2025-03-04 10:00:04,\"  seq_length ........ 2048\"\n"
                                      "2025-03-04 10:00:05,\"" +
                                      megatron + "\"\n");
    EXPECT_DOUBLE_EQ(rows.steps.at(0).seconds, 2.0);
    EXPECT_EQ(rows.fact("--sequence-length"), "2048");
}

TEST(TrainingLogMarks, WhatIsNoJsonAmongJsonIsCounted) {
    TrainingLog const log = read_log("{\"step\": 1, \"step_time_s\": 2.0}\nsaving\n{\"step\": 2, \"step_ti\n"
                                     "{\"step\": 3, \"step_time_s\": 2.0}\n");
    EXPECT_EQ(log.steps.size(), 2);
    ASSERT_THAT(log.issues, Contains(testing::Field(&Issue::kind, "line that is no whole object of JSON")));
    auto const rest = std::ranges::find(log.issues, "line that is no whole object of JSON", &Issue::kind);
    EXPECT_EQ(rest->count, 2);
    EXPECT_EQ(rest->line, 2);
    EXPECT_EQ(log.lines, 5);
    TrainingLog const printed =
        read_log("{\"seq_length\": 2048}\n iteration 1/ 9 | elapsed time per iteration (ms): 2000.0 |\n");
    EXPECT_EQ(printed.format, "Megatron-LM");
}

TEST(TrainingLogMarks, FactsOfOtherPrints) {
    std::string const step = " iteration 1/ 9 | consumed samples: 64 | consumed tokens: 131072 | elapsed time per "
                             "iteration (ms): 2000.0 |\n";
    EXPECT_EQ(read_log(step).fact("--sequence-length"), "2048");
    EXPECT_EQ(read_log(" iteration 1/ 9 | consumed samples: 64 | elapsed time per iteration (ms): 2000.0 | actual "
                       "seqlen: 1024 |\n")
                  .fact("--sequence-length"),
              "1024");
    TrainingLog const neox = read_log("  seq_length ...................... 2048........................updated\n"
                                      "  train_micro_batch_size_per_gpu .. 4...........................updated\n" +
                                      step);
    EXPECT_EQ(neox.fact("--sequence-length"), "2048");
    EXPECT_EQ(neox.fact("--micro-batch"), "4");
    EXPECT_EQ(read_log("sequence_len: 4096\n" + step.substr(0, 17) + "| elapsed time per iteration (ms): 2.0 |\n")
                  .fact("--sequence-length"),
              "4096");
    TrainingLog const trl = read_log("SFTConfig(\nmax_length=512,\nper_device_train_batch_size=2,\n)\n"
                                     " iteration 1/ 9 | elapsed time per iteration (ms): 2.0 |\n");
    EXPECT_EQ(trl.fact("--sequence-length"), "512");
    EXPECT_EQ(trl.fact("--micro-batch"), "2");
}

TEST(TrainingLogMarks, NanotronStatesTheLengthByItsTokens) {
    auto const line = [](char const* rate) {
        return std::string{"iteration: 2 / 9 | elapsed_time_per_iteration_ms: 4.59K | tokens_per_sec: "} + rate +
               " | tokens_per_sec_per_gpu: 7.14K | global_batch_size: 512 |\n";
    };
    EXPECT_EQ(read_log(line("457K")).fact("--sequence-length"), "4096");
    EXPECT_EQ(read_log(line("343K")).fact("--sequence-length"), "3072");
    EXPECT_EQ(read_log(line("446K")).fact("--sequence-length"), "");
}

TEST(TrainingLogMarks, ComposerCountsSamplesAndTokens) {
    TrainingLog const log = read_log("[batch=4/9]:\n\t Train time/batch: 3\n\t Train time/sample: 192\n"
                                     "\t Train time/token: 393216\n\t Train throughput/batches_per_sec: 0.5\n");
    EXPECT_EQ(log.fact("--global-batch"), "64");
    EXPECT_EQ(log.fact("--sequence-length"), "2048");
}

TEST(TrainingLogMarks, MicroBatchBarsAndEvaluationsOfTheTrainer) {
    std::string const header = "***** Running training *****\n  Instantaneous batch size per device = 2\n"
                               "  Total train batch size (w. parallel, distributed & accumulation) = 64\n"
                               "  Gradient Accumulation steps = 4\n  Total optimization steps = 100\n";
    TrainingLog const micro = read_log(header + bar(0, 400, 0) + bar(100, 400, 200) + bar(200, 400, 400));
    EXPECT_DOUBLE_EQ(micro.steps.at(0).seconds, 8.0);
    EXPECT_THAT(micro.notes, Contains("its progress bar counts micro-batches: 4 to a step"));
    TrainingLog const printed =
        read_log(header + "{'loss': 1.2}\n{'eval_loss': 1.9, 'eval_runtime': 200.0}\n{'train_runtime': 1000.0, "
                          "'train_steps_per_second': 0.1}\n{'eval_loss': 1.9, 'eval_runtime': 200.0}\n");
    EXPECT_DOUBLE_EQ(printed.steps.at(0).seconds, 8.0);
    EXPECT_DOUBLE_EQ(read_log("{\"eval_runtime\": 500.0, \"train_runtime\": 3360.0, "
                              "\"train_steps_per_second\": 0.125}")
                         .steps.at(0)
                         .seconds,
                     8.0);
    TrainingLog const tokens = read_log(header + bar(10, 100, 80) + "{'loss': 1.2, 'num_tokens': 1310720.0}\n" +
                                        bar(20, 100, 160) + "{'loss': 1.2, 'num_tokens': 2621440.0}\n");
    EXPECT_EQ(tokens.fact("--sequence-length"), "2048"); // 1310720 / (10 x 64)
}

TEST(TrainingLogMarks, EvaluationsAndLateLinesStartNoRun) {
    std::string const header = "***** Running training *****\n";
    std::string text = header + "  Total optimization steps = 400\n", late = header;
    for (int i = 1; i <= 200; ++i) {
        text += bar(i, 400, 3 * i + (i - 1) / 50 * 16);
        if (i % 50 == 0) { text += bar(1, 8, 2) + bar(8, 8, 16) + "{'eval_loss': 1.9, 'eval_runtime': 16.0}\n"; }
        late += bar(i, 400, 3 * i) + (i > 100 ? bar(i - 1, 400, 3 * i - 3) : std::string{});
    }
    for (auto const& one : {text, late}) {
        TrainingLog const log = read_log(one);
        ASSERT_FALSE(log.steps.empty());
        for (auto const& step : log.steps) {
            EXPECT_EQ(step.run, 0);
            EXPECT_NEAR(step.seconds, 3.0, 1e-9);
        }
    }
}

TEST(TrainingLogMarks, EvaluationsAreTakenOffTheClockOfABar) {
    std::string text = "***** Running training *****\n  Total optimization steps = 2000\n";
    for (int i = 1; i <= 600; ++i) { // 0.5 s a step, and 20 s after every 20
        text += bar(i, 2000, (i + 1) / 2 + (i - 1) / 20 * 20);
        if (i % 20 == 0) { text += bar(1, 8, 3) + bar(8, 8, 20) + "{'eval_loss': 1.9, 'eval_runtime': 20.0}\n"; }
    }
    TrainingLog const log = read_log(text);
    ASSERT_GE(log.steps.size(), 3);
    for (auto const& step : log.steps) { EXPECT_NEAR(step.seconds, 0.5, 0.02); }
}

TEST(TrainingLogMarks, NanotronStatesWorkersWhereDigitsLeaveOne) {
    auto const workers = [](char const* all, char const* one) {
        return read_log(std::string{"iteration: 2 / 9 | elapsed_time_per_iteration_ms: 4.59K | tokens_per_sec: "} +
                        all + " | tokens_per_sec_per_gpu: " + one + " |\n")
            .fact("--workers");
    };
    EXPECT_EQ(workers("1.03M", "10.8K"), "96"); // 95.4 by its digits, 94.5 to 96.3
    EXPECT_EQ(workers("64.2K", "8.02K"), "8");
    EXPECT_EQ(workers("1.05M", "10.8K"), ""); // 97 or 98
}

TEST(TrainingLogMarks, TheLastTrainingOfTwoCounts) {
    auto const training = [](int batch, int all, int seconds) {
        std::string text =
            fmt::format("***** Running training *****\n  Total train batch size (w. parallel, distributed & "
                        "accumulation) = {}\n  Total optimization steps = {}\n",
                        batch, all);
        for (int i = 1; i <= 60; ++i) { text += bar(i, all, seconds * i); }
        return text;
    };
    TrainingLog const log = read_log(training(64, 200, 8) + training(32, 90, 5));
    EXPECT_EQ(log.fact("--global-batch"), "32");
    for (auto const& step : log.steps) { EXPECT_DOUBLE_EQ(step.seconds, 5.0); }
}

TEST(TrainingLogMarks, BannersAndMeshes) {
    TrainingLog const unsloth = read_log("   \\\\   /|    Num examples = 9,000 | Num Epochs = 1 | Total steps = 100\n"
                                         "O^O/ \\_/ \\    Batch size per device = 2 | Gradient accumulation steps = 4\n"
                                         "\\        /    Data Parallel GPUs = 1 | Total batch size (2 x 4 x 1) = 8\n" +
                                         bar(1, 100, 3) + bar(61, 100, 183));
    EXPECT_EQ(unsloth.fact("--global-batch"), "8");
    EXPECT_EQ(unsloth.fact("--micro-batch"), "2");
    EXPECT_EQ(unsloth.fact("--workers"), "1");
    TrainingLog const mesh =
        read_log("Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=2, ep=1, etp=1\n"
                 "Trainer is initialized with local batch size 1, global batch size 8, sequence length 8192\n"
                 "step:  1  loss: 8.1  memory: 42.08GiB(30.10%)  tps: 1,024\n");
    EXPECT_EQ(mesh.fact("--workers"), "16");
    EXPECT_EQ(mesh.fact("--zero"), "3");
    EXPECT_EQ(mesh.fact("--tp"), "2");
}

} // namespace
