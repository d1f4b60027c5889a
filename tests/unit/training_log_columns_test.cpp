#include "support/training_logs.hpp"

#include "headroom/io/training_log.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace headroom;
using namespace headroom::io;
using testing::HasSubstr;

constexpr TrainingLogQuestion question{.workers = 8, .global_batch = 64, .sequence_length = 1024};

/// A table with these heads behind "step"; `row` gives the cells behind a step.
template <class Row> std::string table(std::string const& heads, Row const& row, int rows = 30, int stride = 1) {
    std::string text = "step," + heads + "\n";
    for (int i = 0; i < rows; ++i) { text += fmt::format("{},{}\n", i * stride, row(i)); }
    return text;
}

/// The "step" of DeepSpeed's timers is the optimizer's: it is shorter than forward and backward pass.
TEST(TrainingLogColumns, AStepShorterThanItsPassesIsTheOptimizers) {
    auto const row = [](std::string const& step) { return [step](int) { return "2.1,1.2,2.3," + step; }; };
    std::string const heads = "loss,fwd_time_s,bwd_time_s,step_time_s";
    EXPECT_THAT(error_of_log(table(heads, row("0.1"))), HasSubstr("shorter than forward and backward pass together"));
    EXPECT_DOUBLE_EQ(read_log(table(heads, row("3.6"))).steps.at(0).seconds, 3.6);
    std::string lines;
    for (int i = 1; i < 20; ++i) {
        lines += fmt::format("step {} | loss 2.1 | fwd_time 1.2s | bwd_time 2.3s | step_time 0.1s\n", i);
    }
    EXPECT_THAT(error_of_log(lines), HasSubstr("'step_time (s)' is shorter"));
}

TEST(TrainingLogColumns, TimeIsAClockWhereItRises) {
    auto const constant = [](int i) { return fmt::format("{}", i % 2 == 0 ? 2.5 : 2.51); };
    for (char const* head : {"time", "elapsed", "Time (s)"}) {
        TrainingLog const log = read_log(table(head, constant));
        EXPECT_DOUBLE_EQ(log.steps.at(0).seconds, 2.5) << head;
        auto const rising = [](int i) { return fmt::format("{}", 20.0 + 2.5 * i); };
        EXPECT_NEAR(read_log(table(head, rising)).steps.at(3).seconds, 2.5, 1e-9) << head;
        EXPECT_THAT(error_of_log(table(head, constant, 30, 10)), HasSubstr("does not rise with the steps")) << head;
    }
    EXPECT_NEAR(read_log(table("time_ms", [](int i) { return fmt::format("{}", 2500 + i % 2); })).steps.at(0).seconds,
                2.5, 1e-9);
    auto const both = [](int i) { return fmt::format("{},{}", i % 2 == 0 ? 25.0 : 25.1, 1741082400 + 25 * i); };
    EXPECT_DOUBLE_EQ(read_log(table("time,timestamp", both, 30, 10)).steps.at(0).seconds, 2.5);
    EXPECT_THAT(error_of_log(table("timestamp", constant)), HasSubstr("does not rise with the steps"));
}

TEST(TrainingLogColumns, CountersAreNoRates) {
    for (char const* head : {"iters", "its", "toks"}) {
        auto const row = [](int i) { return fmt::format("{},{}", 4 * i, 1741082400 + 5 * i); };
        EXPECT_DOUBLE_EQ(read_log(table(std::string{head} + ",timestamp", row), question).steps.at(0).seconds, 5.0);
    }
}

TEST(TrainingLogColumns, RatesAreComparedWithTheClock) {
    auto const row = [](int i) {
        return fmt::format("{},{}", 5 * i, 6553.6);
    }; // of one of 8: 64 x 1024 / 5 s / 8 = 1638
    EXPECT_THAT(error_of_log(table("_runtime,tokens_per_sec", row), question),
                HasSubstr("'tokens_per_sec' makes 10 s a step, the clock '_runtime' 5 s"));
    auto const agrees = [](int i) { return fmt::format("{},{}", 5 * i, 13107); };
    EXPECT_NEAR(read_log(table("_runtime,tokens_per_sec", agrees), question).steps.at(0).seconds, 5.0, 0.01);
    auto const composer = [](int i) { return fmt::format("{},{}", i, 0.025); };
    EXPECT_DOUBLE_EQ(read_log(table("loss,throughput/device/batches_per_sec", composer), question).steps.at(0).seconds,
                     5.0);
}

TEST(TrainingLogColumns, CoarseClocksAreComparedOverManyRows) {
    std::string text = "step,step_time_s,timestamp\n";
    for (int i = 0; i < 60; ++i) { text += fmt::format("{},2.5,{}\n", i, 1741082400 + 5 * i / 2); }
    EXPECT_DOUBLE_EQ(read_log(text).steps.at(0).seconds, 2.5);
    EXPECT_THAT(error_of_log("step,step_time_s,timestamp\n1,1.25,1741082402\n2,1.25,1741082405\n3,1.25,1741082407\n"),
                HasSubstr("times that contradict the clock"));
}

TEST(TrainingLogColumns, TimesOfMicroBatchesAreCounted) {
    std::string text = "iter,step,iter_time,time\n";
    for (int i = 1; i < 30; ++i) { text += fmt::format("{},{},0.625,{}\n", 4 * i, i, 20.0 + 2.5 * i); }
    TrainingLog const log = read_log(text);
    EXPECT_DOUBLE_EQ(log.steps.at(0).seconds, 2.5);
    EXPECT_THAT(log.notes, testing::Contains("a step has 4 of the iterations that 'iter_time' times"));
}

TEST(TrainingLogColumns, TimesThatContradictEachOther) {
    EXPECT_THAT(error_of_log(table("step_time_s,step_time_ms", [](int) { return "2.5,5000"; })),
                HasSubstr("times that contradict each other"));
    EXPECT_DOUBLE_EQ(read_log(table("step_time,step_time_ms", [](int) { return "2.5,2500"; })).steps.at(0).seconds,
                     2.5);
    TrainingLog const rate =
        read_log(table("step_time_s,tokens_per_second", [](int) { return "2.5,104857600"; }), question);
    EXPECT_THAT(rate.notes, testing::Contains(HasSubstr("'tokens_per_second' 0.000625 s: the first is used")));
}

TEST(TrainingLogColumns, UnitsBelowTheHeadsAndThoseOfNoHead) {
    EXPECT_DOUBLE_EQ(read_log("step,step_time\n,(ms)\n1,250\n2,251\n").steps.at(0).seconds, 0.25);
    EXPECT_THAT(error_of_log("step,step_time\n1,250\n2,251\n"), HasSubstr("times without a unit"));
    EXPECT_DOUBLE_EQ(read_log("step,step_time_us\n1,2500000\n").steps.at(0).seconds, 2.5);
}

TEST(TrainingLogColumns, HeadsOfOtherTools) {
    struct Case {
        char const *head, *value;
    };
    for (auto const& [head, value] :
         {Case{"dt_ms", "2000"}, Case{"examples_per_second", "32"}, Case{"samples_per_second_per_gpu", "4"},
          Case{"sec_per_step", "2"}, Case{"seconds_per_iteration", "2"}, Case{"batch_time", "2"}}) {
        EXPECT_DOUBLE_EQ(read_log(fmt::format("steps,{}\n1,{}\n", head, value), question).steps.at(0).seconds, 2.0)
            << head;
    }
    EXPECT_THAT(error_of_log("step,duration,loss\n1,2,3\n"), HasSubstr("its heads, step,duration,loss, have no step"));
    EXPECT_DOUBLE_EQ(read_log("# exported\n# by hand\nstep,step_time_s\n1,2.5\n").steps.at(0).seconds, 2.5);
}

TEST(TrainingLogColumns, DatesAreClocks) {
    EXPECT_DOUBLE_EQ(read_log("step,loss,timestamp\n0,1,2025-03-04T23:59:50.5Z\n1,1,2025-03-05T00:00:00.5Z\n"
                              "2,1,2025-03-05T00:00:10.5Z\n")
                         .steps.at(0)
                         .seconds,
                     10.0);
    EXPECT_DOUBLE_EQ(read_log("step,timestamp\n0,2025-03-04 10:00:00\n100,2025-03-04 10:05:00\n").steps.at(0).seconds,
                     3.0);
    EXPECT_DOUBLE_EQ(read_log("step,elapsed\n10,00:45\n110,05:45\n").steps.at(0).seconds, 3.0);
}

TEST(TrainingLogColumns, OrderRunsAndEpochs) {
    TrainingLog const newest = read_log("step,step_time_s\n4,2.4\n3,2.3\n2,2.2\n1,2.1\n");
    EXPECT_EQ(newest.steps.at(0).number, 1);
    EXPECT_EQ(newest.steps.back().run, 0);
    TrainingLog const epochs = read_log("epoch,step,step_time_s\n0,0,2\n0,1,2\n0,2,2\n1,0,2\n1,1,2\n1,2,2\n");
    EXPECT_EQ(epochs.steps.back().run, 0);
    EXPECT_EQ(epochs.steps.back().number, 5);
    EXPECT_EQ(error_of_log("run,step,step_time_s\na,1,2.5\nb,1,5.0\n"),
              "train.log: steps of several runs (a, b). give a file with one of them");
    EXPECT_THAT(error_of_log("step,step_time_s\n0.1,2.5\n0.2,2.5\n"), HasSubstr("steps that are no whole numbers"));
}

TEST(TrainingLogColumns, OnlyEvaluationsMarkRows) {
    for (auto const& [head, marks] : {std::pair{"valid_tokens", false},
                                      {"value", false},
                                      {"val_loss", true},
                                      {"valid_loss", true},
                                      {"eval/runtime", true}}) {
        TrainingLog const log = read_log(fmt::format("step,step_time_s,{}\n1,2,7\n2,2,7\n", head));
        EXPECT_EQ(log.steps.at(1).evaluation, marks) << head;
    }
}

TEST(TrainingLogColumns, NamesOfTensorBoardFiles) {
    std::string board = "Wall time,Step,Value\n";
    for (int i = 0; i < 6; ++i) { board += fmt::format("{},{},2.4\n", 1741082400.0 + 2.5 * i, i); }
    for (char const* name : {"run_train-iteration-time.csv", "run-1-tag-perf_step_time.csv", "tb/step-time.csv"}) {
        EXPECT_DOUBLE_EQ(read_log(board, {}, name).steps.at(0).seconds, 2.4) << name;
    }
    for (char const* name : {"forward-step-time.csv", "run-1-tag-eval_step_time.csv", "run-1-tag-loss.csv"}) {
        EXPECT_DOUBLE_EQ(read_log(board, {}, name).steps.at(0).seconds, 2.5) << name;
    }
}

TEST(TrainingLogColumns, JsonLinesAreTables) {
    TrainingLog const log = read_log("{\"step\": 1, \"loss\": 3.5, \"step_time_ms\": 2499.0}\n"
                                     "{\"step\": 2, \"step_time_ms\": 2501.0}\n");
    EXPECT_EQ(log.format, "table");
    EXPECT_DOUBLE_EQ(log.steps.at(1).seconds, 2.501);
    TrainingLog const metrics = read_log("metric,value,step,timestamp\nstep_time,2.5,1,1741082400000\n"
                                         "loss,9.5,1,1741082400000\n");
    EXPECT_EQ(metrics.format, "MLflow export");
    EXPECT_DOUBLE_EQ(metrics.steps.at(0).seconds, 2.5);
}

} // namespace
