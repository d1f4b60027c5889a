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

TEST(RunColumns, FactsThatContradictTheBatchAreNotPassedOver) {
    std::string const heads = "model,gpu,gpus,seq_len,global batch size,micro batch size,step time (s)";
    std::string const cells = "llama-3-8b,H100,8,4096,64,1,2";
    PublishedRun const two = run_of(heads + ",batch tokens", cells + ",1048576");
    EXPECT_FALSE(two.question.has_value());
    EXPECT_NE(two.skipped_reason.find("64 and 1048576 tokens"), std::string::npos) << two.skipped_reason;
    EXPECT_TRUE(run_of(heads + ",batch tokens", cells + ",0.26M").question.has_value()); // 262144, rounded
    PublishedRun const steps = run_of(heads + ",grad accum,dp,tp", cells + ",4,8,1");
    EXPECT_TRUE(steps.question.has_value());
    EXPECT_THAT(steps.assumed, testing::Contains("accumulation of the batch of 64, not the 4 that is stated"));
    PublishedRun const alone = run_of(heads + ",grad accum", cells + ",4"); // 16 replicas of 8 accelerators
    EXPECT_THAT(alone.assumed, testing::Contains("accumulation of the batch of 64, not the 4 that is stated"));
    EXPECT_THAT(run_of(heads + ",grad accum", cells + ",8").assumed,
                testing::Not(testing::Contains(testing::HasSubstr("accumulation of the batch"))));
    EXPECT_EQ(run_of(heads + ",optimizer", cells + ",DeepSpeedCPUAdam").question->strategy.offload,
              training::Offload::optimizer);
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
    for (char const* limited : {"H100 (500W)", "H100 500 W", "H100-96GB [500 watts]", "\"H100 (HBM3, 500 W)\""}) {
        PublishedRun const run =
            run_of("model,gpu,gpus,seq_len,gbs,step time (s)", std::string{"llama-3-8b,"} + limited + ",8,4096,64,2");
        ASSERT_TRUE(run.question.has_value()) << limited << ": " << run.skipped_reason;
        EXPECT_EQ(run.question->cluster.accelerator.power_limit, 500.0 * units::watt) << limited;
    }
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

/// A batch that the table states in a column that is not read is not assumed; nor is accumulation that nothing states.
TEST(RunColumns, BatchesThatAreNotReadAreNotAssumed) {
    std::string const heads = "model,gpu,gpus,seq_len,mbs,step time (s)", cells = "llama-3-8b,H100,8,4096,2,2";
    for (std::string const head : {"batch size", "train_batch_size", "mini batch size", "batch (M tokens)",
                                   "global batch size (k)", "num_microbatches", "acc"}) {
        PublishedRun const run = run_of(heads + "," + head, cells + ",64");
        EXPECT_THAT(run.skipped_reason, testing::HasSubstr("no global batch stated")) << head;
        EXPECT_THAT(run.skipped_reason, testing::HasSubstr(head)) << head;
        PublishedRun const split = run_of(heads + ",dp,tp,pp," + head, cells + ",4,2,1,64");
        EXPECT_THAT(split.skipped_reason, testing::HasSubstr(head)) << head;
    }
    EXPECT_EQ(run_of(heads, cells).skipped_reason, "no global batch stated");
    PublishedRun const stated = run_of(heads + ",dp,tp,pp", cells + ",4,2,1");
    ASSERT_TRUE(stated.question.has_value()) << stated.skipped_reason;
    EXPECT_EQ(stated.question->workload.global_batch, 8);
}

TEST(RunColumns, BracketsThatSayWhatABatchCounts) {
    for (std::string const head : {"global batch size (sequences)", "global batch (samples)", "GBS (seqs)"}) {
        PublishedRun const run =
            run_of("model,gpu,gpus,seq_len,mbs,step time (s)," + head, "llama-3-8b,H100,8,4096,2,2,64");
        ASSERT_TRUE(run.question.has_value()) << head << run.skipped_reason;
        EXPECT_EQ(run.question->workload.global_batch, 64) << head;
    }
    for (std::string const head : {"accumulate_grad_batches", "grad accum (steps)", "grad acc steps"}) {
        PublishedRun const run =
            run_of("model,gpu,gpus,seq_len,mbs,step time (s)," + head, "llama-3-8b,H100,8,4096,2,2,4");
        ASSERT_TRUE(run.question.has_value()) << head << run.skipped_reason;
        EXPECT_EQ(run.question->workload.global_batch, 64) << head;
    }
}

/// The accuracy of a training is no accumulation.
TEST(RunColumns, AccuracyIsNoAccumulation) {
    std::string const heads = "model,gpu,gpus,seq_len,gbs,step time (s)", cells = "llama-3-8b,H100,8,4096,64,2";
    auto const micro_batch = [](PublishedRun const& run) {
        return run.question ? run.question->strategy.micro_batch : 0;
    };
    int const plain = micro_batch(run_of(heads, cells));
    EXPECT_GT(plain, 0);
    for (std::string const head : {"acc", "train acc"}) {
        EXPECT_EQ(micro_batch(run_of(heads + "," + head, cells + ",16")), plain) << head;
    }
    EXPECT_NE(micro_batch(run_of(heads + ",grad accum", cells + ",16")), plain);
}

/// The memory that a part has is no measurement; that of a run is one.
TEST(RunColumns, CapacityIsNoMeasuredMemory) {
    auto const measures = [](std::string const& head, std::string const& cell) {
        return run_of("model,gpu,gpus,seq_len,gbs,step time (s)," + head, "llama-3-8b,H100,8,4096,64,2," + cell)
            .measured_memory.has_value();
    };
    for (auto const& [head, cell] :
         {std::pair{"VRAM (GB)", "80"}, std::pair{"HBM", "80GB"}, std::pair{"GPU mem", "80 GiB"},
          std::pair{"GPU memory (MiB)", "81559"}, std::pair{"VRAM (GB)", "40"}, std::pair{"memory", "80 GB"}}) {
        EXPECT_FALSE(measures(head, cell)) << head;
    }
    for (auto const& [head, cell] : {std::pair{"VRAM (GB)", "61.2"}, std::pair{"memory used (GB)", "80"},
                                     std::pair{"peak VRAM (GiB)", "79"}, std::pair{"memory", "40 GiB"}}) {
        EXPECT_TRUE(measures(head, cell)) << head;
    }
    PublishedRun const both = run_of("model,gpu,gpus,seq_len,gbs,step time (s),VRAM (GB),memory allocated (GiB)",
                                     "llama-3-8b,H100,8,4096,64,2,80,61");
    ASSERT_TRUE(both.measured_memory.has_value());
    EXPECT_DOUBLE_EQ(both.measured_memory->base(), 61.0 * 1024 * 1024 * 1024);
}

TEST(RunColumns, CountsAndNumbersAsPeopleWriteThem) {
    auto const seconds = [](std::string const& count, std::string const& cell) {
        PublishedRun const run = run_of("model,gpu,gpus,seq_len,global batch size,step time (s)",
                                        "llama-3-8b,H100," + count + ",4096,64," + cell);
        EXPECT_EQ(run.skipped_reason, "") << count << " " << cell;
        return std::pair{run.question ? run.question->strategy.workers() : 0, run.measured.base()};
    };
    for (std::string const count : {"16 GPUs", "2x8", "2 x 8", "16 (2 nodes)", "16x", "8x2",
                                    "2\xC3\x97"
                                    "8 GPUs"}) {
        EXPECT_EQ(seconds(count, "2").first, 16) << count;
    }
    for (std::string const cell : {"2*", "2\xE2\x80\xA0", "2\xC2\xB9", "~2", "2 [a]", "2.0 [1]"}) {
        EXPECT_DOUBLE_EQ(seconds("8", cell).second, 2.0) << cell;
    }
    EXPECT_DOUBLE_EQ(seconds_of("TGS", "16384"), 2.0); // tokens a GPU and second
    EXPECT_NE(run_of("model,gpu,gpus,seq_len,global batch size,step time (s)", "llama-3-8b,H100,16 cores,4096,64,2")
                  .skipped_reason,
              "");
}

} // namespace
} // namespace headroom::io
