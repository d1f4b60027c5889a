#include "../../io/src/tables/run_memory.hpp"
#include "support/training.hpp"

#include "headroom/io/runs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace headroom::io {

using namespace headroom::training;

namespace {

/// A table of one run of GPT-3 1.3B on one A100, with a memory and the cells that follow.
PublishedRun run_with(std::string const& columns, std::string const& cells,
                      std::string const& model = "a model of our own") {
    std::string const head =
        "id,source_family,arch,model_name,layers,hidden,heads,vocab,seq_len,accelerator,accelerators_total,precision,"
        "global_batch_sequences,micro_batch,dp,tp,pp,activation_recompute,measured_memory_gib_per_gpu";
    std::string const row =
        "X1,someone,dense_transformer," + model + ",24,2048,16,50304,2048,A100-80GB,1,bf16,8,1,1,1,1,full,31.5";
    auto runs = read_runs(head + columns + "\n" + row + cells + "\n", "runs.csv", training::catalog());
    EXPECT_EQ(runs.size(), 1u);
    return runs.front();
}

TEST(MemoryKindOfARun, FirstPhraseOfTheClauseThatSpeaksOfMemory) {
    struct Case {
        std::string_view notes;
        MemoryKind kind;
    };
    for (auto const& [notes, kind] : {
             Case{"eager; memory = torch max allocated in MB (MiB); eager", MemoryKind::allocated},
             Case{"memory = largest rank torch max_memory_allocated 48803 MB, reserved 58480 MB",
                  MemoryKind::allocated},
             Case{"memory = peak reserved as printed in GiB; peak allocated 8.28 GiB", MemoryKind::reserved},
             Case{"peak allocated 8.28 GiB; memory = peak reserved", MemoryKind::reserved},
             Case{"MEMORY ONLY; Peak Reserved printed 32.67 GB (active 25.86 GB)", MemoryKind::reserved},
             Case{"8 samples; memory = largest nvidia-smi value sampled", MemoryKind::process},
             Case{"memory = NVML used (MiB), includes the CUDA context", MemoryKind::process},
             Case{"memory printed in G, converted as decimal GB; method not stated", MemoryKind::unstated},
             Case{"max CUDA memory printed 39998 MB", MemoryKind::unstated},
             Case{"GB as printed, read from a screenshot of a dashboard by the authors", MemoryKind::process},
             Case{"nodes allocated by the scheduler; one process a GPU", MemoryKind::unstated},
             Case{"unallocated memory is reserve", MemoryKind::unstated},
             Case{"", MemoryKind::unstated},
         }) {
        EXPECT_EQ(memory_kind("", notes), kind) << notes;
    }
}

TEST(MemoryKindOfARun, TheColumnGoesFirst) {
    EXPECT_EQ(memory_kind("allocated", "memory = peak reserved"), MemoryKind::allocated);
    EXPECT_EQ(memory_kind("nvidia-smi", ""), MemoryKind::process);
    EXPECT_EQ(memory_kind("not stated", "memory = peak reserved"), MemoryKind::unstated);
    auto const run = run_with(",measured_step_seconds,memory_kind", ",1,of the moon");
    EXPECT_FALSE(run.question.has_value());
    EXPECT_NE(run.skipped_reason.find("of the moon"), std::string::npos) << run.skipped_reason;
}

TEST(MemoryKindOfARun, ComparesWithItsOwnSum) {
    MemoryUse use;
    use.weights = Bytes{100.0};
    use.fragmentation = Bytes{10.0};
    use.runtime = Bytes{1.0};
    EXPECT_EQ(memory_of_kind(use, MemoryKind::allocated), Bytes{100.0});
    EXPECT_EQ(memory_of_kind(use, MemoryKind::reserved), Bytes{110.0});
    EXPECT_EQ(memory_of_kind(use, MemoryKind::unstated), Bytes{110.0});
    EXPECT_EQ(memory_of_kind(use, MemoryKind::process), Bytes{111.0});
}

TEST(ReadRuns, ARunWithoutATimeKeepsItsMemory) {
    auto const run = run_with(",notes", ",MEMORY ONLY; memory = peak reserved");
    ASSERT_TRUE(run.only_memory()) << run.skipped_reason;
    EXPECT_FALSE(run.question.has_value());
    EXPECT_EQ(run.skipped_reason, "no step time, throughput or TFLOP/s stated");
    EXPECT_EQ(*run.measured_memory, 31.5 * units::GiB);
    EXPECT_EQ(run.memory_kind, MemoryKind::reserved);
    ASSERT_NE(run.asks_memory(), nullptr);
    EXPECT_EQ(run.asks_memory()->model.layers, 24);
}

TEST(ReadRuns, ARunThatRanOutOfMemoryAsksWithoutAMeasurement) {
    std::string const head =
        "id,source_family,arch,model_name,layers,hidden,heads,vocab,seq_len,accelerator,accelerators_total,precision,"
        "global_batch_sequences,micro_batch,dp,tp,pp,activation_recompute,measured_memory_gib_per_gpu\n";
    for (char const* cell : {"OOM", "out of memory"}) {
        std::string const row =
            "X1,someone,dense_transformer,a model of our own,24,2048,16,50304,2048,A100-80GB,1,bf16,8,1,1,1,1,full,";
        auto const runs = read_runs(head + row + cell + "\n", "runs.csv", training::catalog());
        ASSERT_EQ(runs.size(), 1u);
        EXPECT_TRUE(runs[0].ran_out);
        EXPECT_FALSE(runs[0].measured_memory);
        EXPECT_NE(runs[0].asks_memory(), nullptr);
        EXPECT_TRUE(runs[0].only_memory());
    }
}

TEST(ReadRuns, AFigureThatIsNoPeakIsNotCompared) {
    auto const run = run_with(",memory_kind", ",not a peak");
    EXPECT_FALSE(run.measured_memory);
    EXPECT_FALSE(run.ran_out);
}

TEST(ReadRuns, NoShardIsDataParallel) {
    EXPECT_EQ(run_with(",zero_stage_or_fsdp", ",DDP (FSDP NO_SHARD)").asks_memory()->strategy.zero, 0);
    EXPECT_EQ(run_with(",zero_stage_or_fsdp", ",FSDP FULL_SHARD").asks_memory()->strategy.zero, 3);
}

TEST(ReadRuns, DeepSpeedsOptimizerOfBf16ShardsItselfUnderStageZero) {
    auto const zero = [](char const* cells) {
        return run_with(",framework,zero_stage_or_fsdp", cells).asks_memory()->strategy.zero;
    };
    EXPECT_EQ(zero(",megatron-deepspeed,ZeRO-0"), 1);
    EXPECT_EQ(zero(",hf-deepspeed,ZeRO-0"), 0);
    EXPECT_EQ(zero(",megatron-core,ZeRO-0"), 0);
}

TEST(ReadRuns, AReleaseOfTheSoftwareBelowDecidesWhatItKept) {
    auto const with = [](char const* release) {
        return run_with(",framework,framework_version", std::string{",hf-trainer,\""} + release + "\"")
            .asks_memory()
            ->framework.update_copies;
    };
    EXPECT_EQ(with("torch 2.0"), 2.0);
    EXPECT_EQ(with("torch 2.13, transformers 5.13"), 1.0);
    EXPECT_EQ(with(""), 1.0);
}

TEST(ReadRuns, ARunWithATimeAndAMemoryAsksBoth) {
    auto const run = run_with(",measured_step_seconds", ",2");
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_FALSE(run.only_memory());
    EXPECT_EQ(run.asks_memory(), &*run.question);
}

TEST(ReadRuns, ARunWithoutATimeIsNoSkippedTime) {
    std::vector<PublishedRun> const runs{run_with(",notes", ",MEMORY ONLY")};
    auto const validation = validate(runs, training::fitted());
    EXPECT_EQ(validation.summary.rows, 0);
    EXPECT_EQ(validation.summary.skipped, 0);
    EXPECT_EQ(validation.rows.size(), 1u);
}

TEST(AdapterRuns, AreNamedByTheModelOrTheFirstClause) {
    auto const trained = [](std::string const& notes, std::string const& model = "a model of our own") {
        return run_with(",measured_step_seconds,notes", ",2," + notes, model).question->strategy.trained;
    };
    EXPECT_EQ(trained("QLoRA rank 8; eager"), Trained::lora);
    EXPECT_EQ(trained("Q-LoRA (int4 base)"), Trained::lora);
    EXPECT_EQ(trained("QDoRA rank 8"), Trained::lora);
    EXPECT_EQ(trained("eager", "Llama-like LoRA"), Trained::lora);
    EXPECT_EQ(trained("full fine-tuning; the LoRA rows of the table need 12 GB"), Trained::all);
    EXPECT_EQ(trained("full fine-tuning without LoRA"), Trained::all);
    EXPECT_EQ(trained("non-LoRA"), Trained::all);
    EXPECT_EQ(trained("exploratory"), Trained::all);
}

TEST(AdapterRuns, StateTheirRank) {
    auto const run = run_with(",measured_step_seconds,notes", ",2,LoRA rank 8 on all linear layers");
    EXPECT_EQ(run.question->strategy.adapter_rank, 8);
    EXPECT_EQ(adapter_rank("LoRA (rank 64 in finetune.py default)"), 64);
    EXPECT_EQ(adapter_rank("8 ranks; LoRA"), std::nullopt);
}

} // namespace
} // namespace headroom::io
