#include "support/training_logs.hpp"

#include "headroom/io/training_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using namespace headroom;
using namespace headroom::io;

TEST(TrainingLogTables, TablesOfThreeTools) {
    TrainingLog const lightning =
        read_log("epoch,step,train_loss,val_loss,train_step_timing in s\n0,1,2.0,,4.0\n0,2,1.9,,2.0\n0,2,,2.1,\n"
                 "0,3,1.8,,2.5\n");
    EXPECT_EQ(lightning.format, "Lightning CSV");
    ASSERT_EQ(lightning.steps.size(), 3);
    EXPECT_TRUE(lightning.steps[2].evaluation);
    EXPECT_EQ(lightning.framework, "lightning");
    TrainingLog const wandb = read_log("\"Step\",\"big - perf/step_time\",\"big - perf/step_time__MIN\",\"big - "
                                       "perf/step_time__MAX\"\n1,2.5,2.4,2.6\n");
    EXPECT_EQ(wandb.format, "W&B export");
    EXPECT_DOUBLE_EQ(wandb.steps[0].seconds, 2.5);
    std::string const board = "Wall time,Step,Value\n1654943296.25,10,5.5\n1654943306.25,20,5.25\n";
    TrainingLog const clock = read_log(board, {}, "run-train-tag-loss.csv");
    EXPECT_EQ(clock.format, "TensorBoard export");
    EXPECT_DOUBLE_EQ(clock.steps.at(0).seconds, 1.0);
    TrainingLog const values = read_log(board, {}, "run-.-tag-iteration-time.csv");
    EXPECT_DOUBLE_EQ(values.steps.at(0).seconds, 5.5);
    TrainingLog const history = read_log("_step,_runtime,loss\n0,1.5,2\n10,21.5,1\n");
    EXPECT_EQ(history.format, "W&B export");
    EXPECT_DOUBLE_EQ(history.steps.at(0).seconds, 2.0);
}

TEST(TrainingLogTables, AnyTableSuggestsNoFramework) {
    TrainingLog const log = read_log("step,step_time_s\n1,6.981\n2,6.998\n");
    EXPECT_EQ(log.format, "table");
    EXPECT_EQ(log.framework, "");
    EXPECT_DOUBLE_EQ(log.steps.at(1).seconds, 6.998);
    TrainingLog const twice = read_log("step,step_time_s,step_time (s)\n1,7.0,9.0\n");
    EXPECT_DOUBLE_EQ(twice.steps.at(0).seconds, 7.0);
    EXPECT_EQ(issues_of(twice, "column like another, not used"), 1);
}

TEST(TrainingLogTables, TablesOfSeveralRunsAreRefused) {
    EXPECT_EQ(
        error_of_log("\"Step\",\"base - step_time\",\"base - step_time__MIN\",\"tp2 - step_time\"\n1,5.9,5.9,7.0\n"),
        "train.log: steps of several runs (base, tp2). give a file with one of them");
    EXPECT_EQ(
        error_of_log(
            "key,value,step,timestamp,run_id\nstep_time,7.0,0,1700000000000,a\nstep_time,5.0,0,1700000000000,b\n"),
        "train.log: steps of several runs (a, b). give a file with one of them");
    EXPECT_DOUBLE_EQ(read_log("\"Step\",\"tp2 - step_time\",\"base - loss\"\n1,7.0,2.0\n").steps.at(0).seconds, 7.0);
}

TEST(TrainingLogTables, HeadsOfTimesAndRatesAsPeopleWriteThem) {
    TrainingLogQuestion const question{.workers = 8, .global_batch = 64, .sequence_length = 1024};
    struct Case {
        char const *head, *value;
    };
    for (auto const& [head, value] :
         {Case{"s/it", "2"}, Case{"it/s", "0.5"}, Case{"ms/it", "2000"}, Case{"iter_ms", "2000"},
          Case{"iter_time_ms", "2000"}, Case{"samples/s", "32"}, Case{"tok/s/GPU", "4096"}, Case{"tps_per_gpu", "4096"},
          Case{"run-1 - perf/tps_per_gpu", "4096"}, Case{"run-1 - time/iter_ms", "2000"},
          Case{"step time [ms]", "2000"}, Case{"tokens_per_sec", "32768"}, Case{"train/step_time_s", "2"}}) {
        EXPECT_DOUBLE_EQ(read_log("step," + std::string{head} + "\n1," + value + "\n", question).steps.at(0).seconds,
                         2.0)
            << head;
    }
    for (char const* head :
         {"eval_step_time", "eval/step_time", "forward_step_time_s", "tokens_per_sec (k)", "throughput"}) {
        EXPECT_THAT(error_of_log("step," + std::string{head} + "\n1,2\n", question),
                    testing::HasSubstr("no known training log"))
            << head;
    }
}

TEST(TrainingLogTables, CommasBetweenSemicolonsAreDecidedByOtherCells) {
    EXPECT_THAT(error_of_log("step;step_time_s\n1;7,003\n2;7,011\n"), testing::HasSubstr("'7,003' is ambiguous"));
    EXPECT_DOUBLE_EQ(read_log("step;step_time_s\n1;7,003\n2;7,01\n").steps.at(0).seconds, 7.003);
    EXPECT_DOUBLE_EQ(read_log("step;step_time_s;loss\n1;7,003;2,5\n").steps.at(0).seconds, 7.003);
    EXPECT_DOUBLE_EQ(read_log("step;step_time_ms\n1;7.003,5\n").steps.at(0).seconds, 7.0035);
    EXPECT_DOUBLE_EQ(read_log("step;step_time_s\n1;7.003\n").steps.at(0).seconds, 7.003);
    for (char const* text : {"step,step_time_s\n1,\"7,003\"\n", "step\tstep_time_s\n1\t7,003\n"}) {
        EXPECT_THAT(error_of_log(text), testing::HasSubstr("'7,003' is ambiguous")) << text;
    }
    EXPECT_EQ(read_log("step,step_time_s\n\"1,000\",7.003\n").steps.at(0).number, 1000); // steps are whole
}

/// Rows of a clock of 7 s a step, and a value next to it.
std::string clocked(std::string const& head, std::string const& value) {
    std::string text = head + "\n";
    for (int step = 1; step <= 6; ++step) {
        text += std::to_string(1700000000 + 70 * step) + "," + std::to_string(10 * step) + "," + value + "\n";
    }
    return text;
}

TEST(TrainingLogTables, UnitsAreCheckedAgainstTheClock) {
    std::string const board = "Wall time,Step,Value";
    EXPECT_DOUBLE_EQ(read_log(clocked(board, "7001"), {}, "tb/step_time_ms.csv").steps.at(0).seconds, 7.001);
    EXPECT_DOUBLE_EQ(read_log(clocked(board, "7.001"), {}, "step_time.csv").steps.at(0).seconds, 7.001);
    TrainingLog const thousand = read_log(clocked(board, "7001"), {}, "iteration-time.csv");
    EXPECT_DOUBLE_EQ(thousand.steps.at(0).seconds, 7.001);
    EXPECT_THAT(thousand.notes, testing::Contains("its times are in milliseconds: its clock shows it"));
    for (auto const& [head, value] :
         {std::pair{"timestamp,step,step_time_s", "7001"}, std::pair{"timestamp,step,step_time_ms", "7.001"}}) {
        EXPECT_THAT(error_of_log(clocked(head, value)), testing::HasSubstr("times that contradict the clock")) << head;
    }
    EXPECT_THAT(error_of_log("step,step_time\n1,7001\n2,7002\n"), testing::HasSubstr("times without a unit"));
    EXPECT_THAT(error_of_log("step,step_time\n1,7001\n2,7.0\n3,7.0\n4,7002\n"),
                testing::HasSubstr("times without a unit"));
    EXPECT_THAT(read_log(clocked("timestamp,step,step_time_s", "7.7")).notes,
                testing::Contains("its times are 1.1 times what its clock shows between steps"));
    for (char const* value : {"14.0", "3.5", "9.5"}) {
        EXPECT_THAT(error_of_log(clocked("timestamp,step,step_time_s", value)),
                    testing::HasSubstr("times that contradict the clock"))
            << value;
    }
}

TEST(TrainingLogTables, MlflowHasOneMetricARowAndStampsInMilliseconds) {
    std::string rows = "key,value,step,timestamp,run_id\n", loss = rows;
    for (int step = 0; step < 6; ++step) {
        std::string const end =
            "," + std::to_string(step) + "," + std::to_string(1700000000000 + 7000LL * step) + ",abc\n";
        rows += "loss,2.5" + end + "step_time,7.25" + end;
        loss += "loss,2.5" + end;
    }
    TrainingLog const times = read_log(rows);
    EXPECT_EQ(times.format, "MLflow export");
    ASSERT_EQ(times.steps.size(), 6);
    EXPECT_DOUBLE_EQ(times.steps[0].seconds, 7.25);
    EXPECT_DOUBLE_EQ(read_log(loss).steps.at(0).seconds, 7.0);
}

TEST(TrainingLogTables, RatesThatDoNotSayOfHowMany) {
    constexpr TrainingLogQuestion of_eight{.workers = 8, .global_batch = 64, .sequence_length = 1024};
    TrainingLog const one =
        read_log(clocked("timestamp,step,tokens_per_second", "1170.3"), of_eight); // 64 x 1024 / 7 s / 8
    EXPECT_NEAR(one.steps.at(0).seconds, 7.0, 0.01);
    EXPECT_THAT(one.notes, testing::Contains("'tokens_per_second' is of one accelerator: its clock shows it"));
    TrainingLog const alone = read_log("step,throughput (tokens/s)\n1,9362.3\n2,9362.3\n", of_eight);
    EXPECT_NEAR(alone.steps.at(0).seconds, 7.0, 0.01);
    EXPECT_THAT(alone.warnings, testing::Contains(testing::HasSubstr("counts as the rate of all accelerators")));
    EXPECT_NEAR(read_log("step,Tokens per GPU per second\n1,1170.3\n", of_eight).steps.at(0).seconds, 7.0, 0.01);
    EXPECT_THAT(error_of_log("step,tps\n1,1170.3\n", of_eight), testing::HasSubstr("no known training log"));
    EXPECT_NEAR(read_log("step,elapsed_min\n0,1.0\n100,11.0\n").steps.at(0).seconds, 6.0, 1e-9);
}

TEST(TrainingLogTables, ABatchThatMayBeOfOneAcceleratorIsNotUsed) {
    std::string table = "step,samples_per_sec,batch_size\n", epochs = "epoch,steps,time_s\n";
    for (int row = 1; row <= 20; ++row) {
        table += std::to_string(row) + ",12.8,8\n";
        epochs += std::to_string(row) + ",1000," + std::to_string(4000 + row % 3) + ".5\n";
    }
    TrainingLogQuestion const asked{.workers = 8, .global_batch = 64, .sequence_length = 4096};
    EXPECT_NEAR(training::steady_step(read_log(table, asked).steps)->step.base(), 5.0, 1e-9);
    EXPECT_THAT(error_of_log(table, {.workers = 8, .sequence_length = 4096}), testing::HasSubstr("--global-batch"));
    EXPECT_THAT(error_of_log(epochs, asked), testing::HasSubstr("does not rise with the steps")); // 1000 steps a row
}

TEST(TrainingLogTables, CellsMayStateTheirUnit) {
    std::string const units = "step,step time\n1,9.1s\n2,2500.0 ms\n3,2.50 s\n4,2.5s\n5,2501 ms\n";
    EXPECT_NEAR(training::steady_step(read_log(units).steps)->step.base(), 2.5, 1e-3);
    EXPECT_THAT(error_of_log("step,step_time_min\n1,2.5\n2,2.5\n3,2.5\n"),
                testing::HasSubstr("no known")); // the least, or minutes
}

TEST(TrainingLogTables, RowsOfAnotherPartOfTheDataAreEvaluations) {
    std::string csv = "step,split,loss,step_time_s\n", json;
    for (int step = 1; step <= 20; ++step) {
        std::string const number = std::to_string(step);
        csv += number + ",train,2.3,3.6\n" + number + ",val,2.1,60.1\n";
        json += R"({"step": )" + number + R"(, "mode": "train", "loss": 2.3, "step_time_s": 3.6})" + "\n";
        json += R"({"step": )" + number + R"(, "mode": "test", "loss": 2.1, "step_time_s": 60.1})" + "\n";
    }
    for (std::string const& table : {csv, json}) {
        TrainingLog const log = read_log(table);
        ASSERT_EQ(log.steps.size(), 20);
        EXPECT_DOUBLE_EQ(log.steps[5].seconds, 3.6);
    }
}

TEST(TrainingLogTables, StepsMayHaveATotalAndClocksUnits) { // ms-swift
    std::string json;
    for (int step = 10; step <= 100; step += 10) {
        int const seconds = 4 * step;
        json += "{\"loss\": 2.3, \"global_step/max_steps\": \"" + std::to_string(step) +
                "/1000\", \"elapsed_time\": \"" + std::to_string(seconds / 60) + "m " + std::to_string(seconds % 60) +
                "s\", \"train_speed(s/it)\": 9.9}\n";
    }
    TrainingLog const log = read_log(json);
    ASSERT_FALSE(log.steps.empty());
    EXPECT_NEAR(log.steps.back().seconds, 4.0, 0.05);
}

TEST(TrainingLogTables, AClockSaysMoreThanARateOfOneDigit) { // fairseq
    std::string text;
    for (int step = 50; step <= 1000; step += 50) {
        text += "epoch 001: " + std::to_string(step) + " / 5000 loss=10.1, ups=1, num_updates=" + std::to_string(step) +
                ", wall=" + std::to_string(18 * step / 25) + "\n";
    }
    TrainingLog const log = read_log(text);
    EXPECT_NEAR(log.steps.back().seconds, 0.72, 0.01);
    EXPECT_THAT(log.notes, testing::Contains("steps from the clock 'wall': 'ups' is rounded to 50 %"));
}

TEST(TrainingLogTables, StepsThatMayCountSequencesAreWarnedOf) {
    constexpr TrainingLogQuestion of_64{.workers = 8, .global_batch = 64, .sequence_length = 4096};
    for (int const each : {64, 100}) {
        std::string table = "Wall time,Step,Value\n";
        for (int row = 1; row <= 60; ++row) {
            table += std::to_string(1741082400 + 4 * row) + "," + std::to_string(each * row) + ",2.3\n";
        }
        EXPECT_EQ(read_log(table, of_64).warnings.size(), each == 64 ? 1U : 0U) << each;
    }
}

} // namespace
