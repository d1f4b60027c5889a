// Heads and cells of tables of measured runs as people write them: rates, batches in tokens, nodes, accelerators, models.

#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/io/runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace headroom::io {
namespace {

using training::PublishedRun;

/// The run of a table of one row.
PublishedRun run_of(std::string const& heads, std::string const& cells) {
    return read_runs(heads + "\n" + cells + "\n", "runs.csv", training::catalog()).front();
}
/// Measured seconds of a step of 64 sequences of 4096 tokens on 8 accelerators.
double seconds_of(std::string const& head, std::string const& cell) {
    PublishedRun const run =
        run_of("model,gpu,gpus,seq_len,global batch size," + head, "llama-3-8b,H100,8,4096,64," + cell);
    EXPECT_EQ(run.skipped_reason, "") << head;
    return run.measured.base();
}

TEST(RunColumns, RatesOfStepsTokensAndSamples) {
    for (std::string const head : {"it/s", "steps/s", "iterations per second", "steps_per_sec"}) {
        EXPECT_DOUBLE_EQ(seconds_of(head, "0.5"), 2.0) << head;
    }
    EXPECT_DOUBLE_EQ(seconds_of("s/it", "2"), 2.0);
    EXPECT_DOUBLE_EQ(seconds_of("min/step", "0.5"), 30.0);
    // 64 x 4096 tokens in 2 s: 131072 tokens/s, an eighth of it on each
    EXPECT_DOUBLE_EQ(seconds_of("tokens/day", "11324620800"), 2.0);
    EXPECT_DOUBLE_EQ(seconds_of("tokens/min", "7864320"), 2.0);
    EXPECT_DOUBLE_EQ(seconds_of("throughput (tokens/s/GPU)", "16384"), 2.0);
    EXPECT_DOUBLE_EQ(seconds_of("tokens/s", "131.072k"), 2.0);
    EXPECT_DOUBLE_EQ(seconds_of("tokens/s (total)", "0.131072M"), 2.0);
    EXPECT_DOUBLE_EQ(seconds_of("throughput", "131072 tokens/s"), 2.0);
    EXPECT_DOUBLE_EQ(seconds_of("samples/s/GPU", "4"), 2.0);
    EXPECT_DOUBLE_EQ(seconds_of("sequences/s", "32"), 2.0);
    EXPECT_THROW(seconds_of("throughput", "131072"), InputError);
    EXPECT_THROW(seconds_of("it/s/GPU", "0.5"), InputError); // of one or of all
    EXPECT_THROW(seconds_of("time per 100 steps (s)", "200"), InputError);
}

TEST(RunColumns, BatchesInTokens) {
    auto const batch = [](std::string const& head, std::string const& cell) {
        PublishedRun const run =
            run_of("model,gpu,gpus,seq_len," + head + ",tokens/s", "llama-3-8b,H100,8,4096," + cell + ",131072");
        return run.question ? run.question->workload.global_batch : 0;
    };
    for (std::string const head : {"batch (tokens)", "global batch size (tokens)", "tokens per batch"}) {
        EXPECT_EQ(batch(head, "262144"), 64) << head;
    }
    EXPECT_EQ(batch("global batch size", "4M tokens"), 1024); // 4 x 2^20: 4e6 tokens are no whole sequences
    EXPECT_EQ(batch("batch size", "256K tokens"), 64);
    EXPECT_EQ(batch("gbs", "64"), 64);
    EXPECT_EQ(batch("gbs", "3.3M tokens"), 0); // no whole number either way
}

TEST(RunColumns, AcceleratorsOfNodesAndOfCells) {
    auto const workers = [](PublishedRun const& run) { return run.question ? run.question->strategy.workers() : 0; };
    EXPECT_EQ(workers(run_of("model,gpu,nodes,GPUs/node,seq_len,gbs,step time (s)", "llama-3-8b,H100,2,8,4096,64,2")),
              16);
    EXPECT_EQ(workers(run_of("model,gpu,seq_len,gbs,step time (s)", "llama-3-8b,8xH100 SXM5 80GB,4096,64,2")), 8);
    EXPECT_EQ(workers(run_of("model,gpu,gpus,seq_len,gbs,step time (s)", "llama-3-8b,8x H100,16,4096,64,2")), 16);
    PublishedRun const limited =
        run_of("model,gpu,gpus,seq_len,gbs,step time (s)", "llama-3-8b,H100 (500W),8,4096,64,2");
    ASSERT_TRUE(limited.question.has_value()) << limited.skipped_reason;
    EXPECT_EQ(limited.question->cluster.accelerator.power_limit, 500.0 * units::watt);
    EXPECT_NE(run_of("model,gpu,gpus,nodes,gpus_per_node,seq_len,gbs,step time (s)", "llama-3-8b,H100,8,2,8,4096,64,2")
                  .skipped_reason,
              ""); // 8 or 16
    EXPECT_THROW(run_of("model,gpu,nodes,seq_len,gbs,step time (s)", "llama-3-8b,H100,2,4096,64,2"), InputError);
}

/// 16 accelerators over tp 2: eight replicas of 2 x 4 sequences.
TEST(RunColumns, ReplicasFollowFromTheOtherDegrees) {
    PublishedRun const run =
        run_of("model,gpu,gpus,tp,pp,seq_len,mbs,gas,tokens/s", "llama-3-8b,H100,16,2,1,4096,2,4,131072");
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->workload.global_batch, 64);
}

TEST(RunColumns, ModelsByTheirNamesOnTheHub) {
    for (std::string const model :
         {"meta-llama/Meta-Llama-3-8B", "NousResearch/Llama-2-7b-hf", "Qwen/Qwen2.5-7B-Instruct",
          "google/gemma-2-9b-it", "mistralai/Mistral-7B-Instruct-v0.2", "Meta-Llama-3.1-8B-Instruct"}) {
        PublishedRun const run = run_of("model,gpu,gpus,seq_len,gbs,step time (s)", model + ",H100,8,4096,64,2");
        EXPECT_EQ(run.skipped_reason, "") << model;
    }
    EXPECT_NE(run_of("model,gpu,gpus,seq_len,gbs,step time (s)", "org/no-such-7B-it,H100,8,4096,64,2").skipped_reason,
              "");
}

} // namespace
} // namespace headroom::io
