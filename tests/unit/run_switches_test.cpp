// Tables of measured runs whose columns are switches, and tables as spreadsheets save them.

#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/io/runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headroom::io {
namespace {

using namespace training;
using testing::HasSubstr;

std::string const heads = "model,gpu,gpus,seq_len,global batch size,step time (s)";
std::string const cells = "llama-3-8b,H100,8,8192,64,7.1";

std::vector<PublishedRun> runs_of(std::string const& table, std::vector<Issue>* issues = nullptr) {
    return read_runs(table, "runs.csv", catalog(), issues);
}
PublishedRun run_of(std::string const& more_heads, std::string const& more_cells) {
    return runs_of(heads + "," + more_heads + "\n" + cells + "," + more_cells + "\n").front();
}
std::string refusal_of(std::string const& table) {
    try {
        runs_of(table);
    } catch (InputError const& error) { return error.what(); }
    return {};
}

TEST(RunSwitches, TheFormatThatIsOnIsThePrecision) {
    auto const precision = [](std::string const& columns, std::string const& on) {
        return run_of(columns, on).question->strategy.precision;
    };
    EXPECT_EQ(precision("bf16,fp8", "True,False"), Precision::bf16);
    EXPECT_EQ(precision("bf16,fp8", "True,True"), Precision::fp8);
    EXPECT_EQ(precision("fp16,bf16", "1,0"), Precision::fp16);
    EXPECT_EQ(precision("fp16,bf16", "False,False"), Precision::fp32);
    EXPECT_EQ(precision("bf16,tf32", "True,True"), Precision::bf16) << "the products of 32 bits are few then";
    EXPECT_EQ(precision("dtype,fp8", "bf16,no"), Precision::bf16);
}

TEST(RunSwitches, LoraAndItsRank) {
    EXPECT_EQ(run_of("LoRA", "no").question->strategy.trained, Trained::all);
    EXPECT_EQ(run_of("LoRA", "yes").question->strategy.trained, Trained::lora);
    EXPECT_EQ(run_of("LoRA rank", "0").question->strategy.trained, Trained::all);
    Strategy const ranked = run_of("LoRA,LoRA rank", "True,64").question->strategy;
    EXPECT_EQ(ranked.trained, Trained::lora);
    EXPECT_EQ(ranked.adapter_rank, 64);
}

TEST(RunSwitches, OffloadingOfStateAndWeights) {
    auto const offload = [](std::string const& columns, std::string const& on) {
        return run_of("zero_stage," + columns, "3," + on).question->strategy.offload;
    };
    EXPECT_EQ(offload("offload_optimizer", "True"), Offload::optimizer);
    EXPECT_EQ(offload("offload_optimizer,offload_param", "True,True"), Offload::both);
    EXPECT_EQ(offload("Optimizer offload", "no"), Offload::none);
}

/// The "step" of DeepSpeed's timers is the optimizer's.
TEST(RunSwitches, AStepShorterThanItsPassesIsTheOptimizers) {
    std::string const table = "model,gpu,gpus,seq_len,global batch size,Forward (ms),Backward (ms),Step (ms)";
    EXPECT_THAT(runs_of(table + "\nllama-3-8b,H100,8,8192,64,2300,4600,100\n")[0].skipped_reason,
                HasSubstr("next to longer passes"));
    EXPECT_DOUBLE_EQ(runs_of(table + "\nllama-3-8b,H100,8,8192,64,2300,4600,7100\n")[0].measured.base(), 7.1);
    auto const rated = runs_of(table + ",tokens/s\nllama-3-8b,H100,8,8192,64,2300,4600,100,65536\n");
    EXPECT_DOUBLE_EQ(rated[0].measured.base(), 8.0);
}

TEST(RunSwitches, ABatchOfTokensBelowAHeadOfSequences) {
    std::vector<Issue> issues;
    auto const runs = runs_of("model,gpu,gpus,seq_len,GBS,tokens/s\nllama-3-8b,H100,64,8192,4194304,524288\n", &issues);
    EXPECT_EQ(runs[0].question->workload.global_batch, 512);
    EXPECT_DOUBLE_EQ(runs[0].measured.base(), 8.0);
    ASSERT_FALSE(issues.empty());
    EXPECT_EQ(issues[0].kind, "batch taken for tokens");
}

TEST(RunParts, TitlesMergedCellsAndHeadsAgain) {
    std::vector<Issue> issues;
    auto const runs = runs_of("Scaling on H100,,,,,\n,,,,,\n" + heads + "\n" + cells + "\n" + heads +
                                  "\n,,16,,,3.6\nllama-3-8b,H100,32,8192,64,nan\n",
                              &issues);
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_EQ(runs[1].question->strategy.workers(), 16);
    EXPECT_EQ(runs[1].question->workload.global_batch, 64);
    EXPECT_DOUBLE_EQ(runs[1].measured.base(), 3.6);
    EXPECT_FALSE(runs[2].question.has_value());
    std::vector<std::string> kinds;
    for (Issue const& issue : issues) { kinds.push_back(issue.kind); }
    EXPECT_THAT(kinds,
                testing::IsSupersetOf({"line above the table", "heads between the rows", "model of the row above"}));
}

/// "gpus" may name what they are; here it counts them, and "gpu" names them.
TEST(RunParts, ACountBeforeTheNameOfMergedAccelerators) {
    auto const runs = runs_of("model,gpus,gpu,GBS,seq len,step time (s)\nllama-3-8b,8,H100,64,8192,7.1\n,16,,,,3.6\n");
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[1].accelerator, "H100");
    EXPECT_EQ(runs[1].question->strategy.workers(), 16);
}

/// 1850 below "step time (ms)" of a second table is no 1850 s.
TEST(RunParts, ASecondTableIsRefused) {
    std::string second = heads;
    second.replace(second.find("(s)"), 3, "(ms)");
    EXPECT_THAT(refusal_of(heads + "\n" + cells + "\n" + second + "\nllama-3-8b,H100,32,8192,64,1850\n"),
                HasSubstr("runs.csv:3: other heads between the rows"));
}

TEST(RunParts, CountsOfNodesAndWhatIsCounted) {
    auto const both = [](std::string const& head, std::string const& cell) {
        return runs_of("model,gpu," + head + ",seq_len,GBS,step time (s)\nllama-3-8b,H100," + cell +
                       ",8192,64 seqs,3.6\n")[0];
    };
    for (PublishedRun const& run : {both("Nodes x GPUs", "2 x 8"), both("GPUs", "2 nodes x 8 GPUs")}) {
        ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
        EXPECT_EQ(run.question->strategy.workers(), 16);
        EXPECT_EQ(run.question->workload.global_batch, 64);
    }
    auto const linked = runs_of("| Model | GPUs | seq | GBS | step time (s) |\n|---|---|---|---|---|\n"
                                "| [llama-3-8b](https://a.org/b) | 8x H100 | 8k | 64 | 7.1[^1] |\n");
    EXPECT_DOUBLE_EQ(linked[0].measured.base(), 7.1) << linked[0].skipped_reason;
}

TEST(RunParts, HeadsOfThousandsMeansAndExtremes) {
    auto const seconds = [](std::string const& head, std::string const& cell) {
        return runs_of("model,gpu,gpus,seq_len,GBS," + head + "\nllama-3-8b,H100,8,4096,64," + cell + "\n")[0]
            .measured.base();
    };
    // 64 x 4096 tokens in 2 s: 131,072 a second
    EXPECT_DOUBLE_EQ(seconds("Throughput (k tokens/s)", "131.072"), 2.0);
    EXPECT_DOUBLE_EQ(seconds("kTok/s/GPU", "16.384"), 2.0);
    EXPECT_DOUBLE_EQ(seconds("M tokens/s", "0.131072"), 2.0);
    EXPECT_DOUBLE_EQ(seconds("tokens/s (thousands)", "131.072"), 2.0);
    EXPECT_DOUBLE_EQ(seconds("B tokens/day", "11.3246208"), 2.0);
    EXPECT_DOUBLE_EQ(seconds("Throughput", "131.072k tokens/s"), 2.0);
    EXPECT_DOUBLE_EQ(seconds("Throughput/GPU", "16384 tok/s"), 2.0);
    EXPECT_DOUBLE_EQ(seconds("elapsed time per iteration (ms)", "2000"), 2.0);
    EXPECT_DOUBLE_EQ(seconds("ms/step (mean of 100)", "2000"), 2.0);
    EXPECT_THROW(seconds("tokens/m", "1"), InputError) << "a minute, a month, a million";
    EXPECT_THROW(seconds("step time (min),step time (max)", "2,3"), InputError) << "a minimum, no minutes";
}

} // namespace
} // namespace headroom::io
