// Tables of measured runs in the layouts, heads and words in which people keep them.

#include "support/training.hpp"
#include "tables/run_facts.hpp"

#include "headroom/error.hpp"
#include "headroom/io/runs.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

using training::PublishedRun;
using training::Recompute;

std::vector<PublishedRun> runs_of(std::string const& table) {
    return read_runs(table, "runs.csv", training::catalog());
}

/// Expects runs of 8 and 16 accelerators with steps of 7 and 3.6 s of 64 sequences.
void expect_both(std::string const& table) {
    auto const runs = runs_of(table);
    ASSERT_EQ(runs.size(), 2U) << table;
    for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_TRUE(runs[i].question.has_value()) << table << runs[i].skipped_reason;
        EXPECT_EQ(runs[i].question->strategy.workers(), i == 0 ? 8 : 16) << table;
        EXPECT_EQ(runs[i].question->workload.global_batch, 64) << table;
        EXPECT_EQ(runs[i].question->workload.sequence_length, 8192) << table;
        EXPECT_NEAR(runs[i].measured.base(), i == 0 ? 7.0 : 3.6, 1e-3) << table;
    }
}

TEST(RunLayout, HeadsInOtherWords) {
    expect_both("Run,Model,#GPUs,GPU,seq,GBS,BS/GPU,GAS,sec/iter\n"
                "a,llama-3-8b,8,H100 80GB,8192,64,1,8,7.0\nb,llama-3-8b,16,H100 80GB,8192,64,1,4,3.6\n");
    expect_both("Model,Hardware,ctx,Global BS,Time/step (s)\n"
                "llama-3-8b,8×H100 SXM5,8k,64,7.0\nllama-3-8b,2 nodes x 8 H100,8k,64,3.6\n");
    expect_both("LLM,GPUs,Sequence length (tokens),Batch size (global),time/iter [ms]\n"
                "llama-3-8b,8 x H100,8192,64,7000\nllama-3-8b,H100 x16,8192,64,3600\n");
    expect_both("model,instance,instances,context length,tokens per batch,tokens/sec/device\n"
                "llama-3-8b,p5.48xlarge,1,8192,524288,9362.286\nllama-3-8b,p5.48xlarge,2,8192,524288,9102.222\n");
    expect_both(
        "Name;config.model;config.n_gpus;config.gpu_type;config.seq_length;config.global_batch_size;summary.step_time\n"
        "x;llama-3-8b;8;H100;8192;64;7.0\ny;llama-3-8b;16;H100;8192;64;3.6\n");
}

TEST(RunLayout, Layouts) {
    expect_both(",run A,run B\nmodel,llama-3-8b,llama-3-8b\nGPU,H100,H100\nGPUs,8,16\nseq_len,8192,8192\n"
                "global batch size,64,64\nstep time (s),7.0,3.6\n");
    expect_both("Model,GPUs,,Seq,Batch,Throughput\n,type,count,len,global,tokens/s/GPU\n"
                "llama-3-8b,H100,8,8192,64,9362.286\nllama-3-8b,H100,16,8192,64,9102.222\n");
    expect_both(
        "\\begin{tabular}{lrrrrr}\n\\toprule\nModel & \\# GPUs & GPU & Seq. len. & Global batch & Step time (s) \\\\\n"
        "\\midrule\nllama-3-8b & 8 & H100 & 8,192 & 64 & 7.00 \\\\\nllama-3-8b & 16 & H100 & 8,192 & 64 & 3.60 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n");
    expect_both(
        "[{\"model\":\"llama-3-8b\",\"hardware\":{\"gpu\":\"H100\",\"gpus\":8},\"batch\":{\"global_batch_size\":64},"
        "\"seq_len\":8192,\"result\":{\"step_time_s\":7.0,\"losses\":[1,2]}},"
        "{\"model\":\"llama-3-8b\",\"hardware\":{\"gpu\":\"H100\",\"gpus\":16},\"batch\":{\"global_batch_size\":64},"
        "\"seq_len\":8192,\"result\":{\"step_time_s\":3.6,\"losses\":[3]}}]");
}

TEST(RunLayout, DegreesInOneColumn) {
    for (std::string const column :
         {"TP×PP×DP,4×2×2", "tp/pp,4/2", "parallelism,TP4 PP2", "Layout,\"tp=4,pp=2,dp=2\""}) {
        auto const comma = column.find(',');
        auto const runs = runs_of("model,gpu,gpus,seq_len,gbs,step time (s)," + column.substr(0, comma) +
                                  "\nllama-3-8b,H100,16,8192,64,7.0," + column.substr(comma + 1) + "\n");
        ASSERT_TRUE(runs[0].question.has_value()) << column << runs[0].skipped_reason;
        EXPECT_EQ(runs[0].question->strategy.tp, 4) << column;
        EXPECT_EQ(runs[0].question->strategy.pp, 2) << column;
    }
}

TEST(RunLayout, SlicesOfTpus) {
    for (auto const& [slice, chips] :
         {std::pair{"v5p-128", 64}, std::pair{"TPU v5litepod-256", 256}, std::pair{"v4-8", 4}}) {
        auto const runs = runs_of("model,tpu slice,seq,global batch,seconds/step\nllama-3-8b," + std::string{slice} +
                                  ",8192,512,9.3\n");
        ASSERT_TRUE(runs[0].question.has_value()) << slice << runs[0].skipped_reason;
        EXPECT_EQ(runs[0].question->strategy.workers(), chips) << slice;
    }
}

/// Without columns of degrees all accelerators are replicas; where heads have one without the other, nothing is known.
TEST(RunLayout, BatchesOfEachAccelerator) {
    auto const run =
        runs_of("model,gpu,gpus,seq,per-device batch,grad accum,samples/s\nllama-3-8b,H100,8,4096,2,4,32\n")[0];
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->workload.global_batch, 64);
    EXPECT_NEAR(run.measured.base(), 2.0, 1e-9);
    EXPECT_THROW(runs_of("model,gpu,gpus,seq,batch size,step time (s)\nllama-3-8b,H100,8,4096,64,2\n"), InputError);
}

TEST(RunLayout, UnitsOfTheirOwnAndScatter) {
    auto const seconds = [](std::string const& heads, std::string const& cells) {
        return runs_of("model,gpu,gpus,seq_len,gbs," + heads + "\nllama-3-8b,H100,8,8192,64," + cells + "\n")[0]
            .measured.base();
    };
    EXPECT_NEAR(seconds("step_time,step_time_unit", "7000,ms"), 7.0, 1e-9);
    EXPECT_NEAR(seconds("step time,time_unit", "7000,ms"), 7.0, 1e-9);
    EXPECT_NEAR(seconds("step time (ms)", "7000 ± 20"), 7.0, 1e-9);
}

TEST(RunLayout, ModelsByTheirDimensionsAlone) {
    auto const run =
        runs_of("Model size,Layers,Hidden size,Heads,Seq,Vocab size,GPUs,GPU type,GBS,Time per iteration (ms)\n"
                "7.5B,36,4096,32,2048,51200,32,A100-80GB,512,9100\n")[0];
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->model.layers, 36);
}

PublishedRun with(std::string const& head, std::string const& cell) {
    return runs_of("model,gpu,gpus,seq_len,gbs,step time (s)," + head + "\nllama-3-8b,A100 80GB,8,4096,64,9.5," + cell +
                   "\n")[0];
}

TEST(RunLayout, WordsOfCells) {
    for (std::string const cell : {"Full", "True", "yes", "✓", "full AC", "gradient checkpointing"}) {
        EXPECT_EQ(with("activation checkpointing", cell).question->strategy.recompute, Recompute::full) << cell;
    }
    for (std::string const cell : {"No", "false", "off", "0", "✗"}) {
        EXPECT_EQ(with("gradient checkpointing", cell).question->strategy.recompute, Recompute::none) << cell;
    }
    EXPECT_EQ(with("recompute", "Selective (op)").question->strategy.recompute, Recompute::selective);
    EXPECT_EQ(with("framework", "HF Trainer + DeepSpeed ZeRO-2").question->framework.name, "hf-deepspeed");
    EXPECT_EQ(with("framework", "HF Trainer + DeepSpeed ZeRO-2").question->strategy.zero, 2);
    EXPECT_EQ(with("deepspeed", "ds_z3.json").question->strategy.zero, 3);
    EXPECT_EQ(with("optim", "AdamW (fused)").skipped_reason, "");
    EXPECT_NE(with("optim", "Sophia").skipped_reason, "");
    EXPECT_EQ(with("method", "QLoRA").question->strategy.trained, training::Trained::lora);
    EXPECT_EQ(with("method", "ours").question->strategy.trained, training::Trained::all);
    EXPECT_EQ(with("cpu offload,zero", "yes,3").question->strategy.offload, training::Offload::optimizer);
    EXPECT_EQ(with("cpu offload,zero", "yes,3").question->strategy.zero, 3);
    EXPECT_TRUE(with("framework", "our own").framework_assumed);
    EXPECT_EQ(with("Peak mem reserved", "61 GiB").memory_kind, training::MemoryKind::reserved);
    EXPECT_TRUE(with("VRAM", "61 GiB").measured_memory.has_value());
}

/// A count of nodes, slices or racks is none of accelerators, and two counts that contradict are no count.
TEST(RunLayout, CountsOfNodesAndSlices) {
    auto const workers = [](std::string const& heads, std::string const& cells) {
        auto const run =
            runs_of("model,seq_len,gbs,mbs,step time (s)," + heads + "\nllama-3-8b,8192,512,1,7," + cells + "\n")
                .front();
        return run.question ? run.question->strategy.workers() : 0;
    };
    EXPECT_EQ(workers("hardware", "2x DGX H100"), 16);
    EXPECT_EQ(workers("hardware,gpus", "2x DGX H100,16"), 16);
    EXPECT_EQ(workers("hardware", "2x p4d.24xlarge"), 16);
    EXPECT_EQ(workers("hardware", "2x v5e-256"), 512);
    EXPECT_EQ(workers("hardware", "2x GB200 NVL72"), 144);
    EXPECT_EQ(workers("hardware,slices", "v5e-256,2"), 512);
    EXPECT_EQ(workers("hardware,nodes", "64 H100,8"), 64);
    EXPECT_EQ(workers("hardware,nodes", "8x H100,2"), 16);
    EXPECT_EQ(workers("hardware", "16 H100 (2 nodes)"), 16);
    EXPECT_EQ(runs_of("model,gpu,gpus,nodes,seq_len,gbs,mbs,step time (s)\nllama-3-8b,H100,16,4,8192,64,1,7\n")
                  .front()
                  .question->cluster.accelerators_per_node,
              4);
    auto const contradicts = runs_of("model,gpu,gpus,seq_len,gbs,mbs,step time (s)\nllama-3-8b,v4-64,64,8192,64,1,7\n");
    EXPECT_FALSE(contradicts.front().question) << "a slice of 32 chips";
}

TEST(RunLayout, UnitsOfExchangedTablesAndOtherWordsOfLayouts) {
    auto const timed = runs_of("metric,unit,run A,run B\nmodel,,llama-3-8b,llama-3-8b\nGPU,,H100,H100\nGPUs,,8,16\n"
                               "seq_len,,8192,8192\nglobal batch size,,64,64\nstep time,ms,7100,3600\n");
    ASSERT_EQ(timed.size(), 2U);
    EXPECT_NEAR(timed[0].measured.base(), 7.1, 1e-9);
    auto const mixed = runs_of("model,gpu,gpus,seq_len,gbs,mbs,step time (s),strategy\n"
                               "llama-3-8b,H100,8,8192,64,1,7,tp4 pp2 zero1\n");
    EXPECT_EQ(mixed.front().question->strategy.tp, 4);
    EXPECT_EQ(mixed.front().question->strategy.pp, 2);
}

/// A method that is denied, or one of two, is not taken.
TEST(RunLayout, MethodsThatAreDeniedOrMixed) {
    for (std::string const cell : {"no lora", "full (no LoRA)", "w/o LoRA", "full FT (vs LoRA)", "full or LoRA"}) {
        EXPECT_EQ(with("method", cell).question->strategy.trained, training::Trained::all) << cell;
    }
    EXPECT_EQ(trained_from("full (no LoRA)"), "");
    for (auto const* cell : {"FSDP full shard", "full recompute", "DDP all-reduce"}) {
        EXPECT_EQ(trained_from(cell), "");
    }
    for (auto const* cell : {"full", "full fine-tuning", "Full FT", "all"}) { EXPECT_EQ(trained_from(cell), "all"); }
    for (auto const* cell : {"LoRA r=16 (all linear)", "QLoRA", "LoRA SFT"}) { EXPECT_EQ(trained_from(cell), "lora"); }
    EXPECT_NE(with("framework", "HF Trainer (no FSDP)").question->strategy.zero, 3);
    EXPECT_EQ(with("framework", "HF Trainer (no FSDP)").question->framework.name, "hf-trainer");
    EXPECT_EQ(with("zero", "3+offload").question->strategy.zero, 3);
}

TEST(RunLayout, RecomputationInPartIsNotFull) {
    for (auto const* cell : {"not full", "w/o full ckpt", "full, every 2nd layer", "full (16/32 layers)",
                             "full state dict", "selective (2 of 4 layers)", "full + offload", "/mnt/ckpt/full"}) {
        EXPECT_EQ(recompute_from(cell), std::nullopt) << cell;
    }
    for (auto const* cell : {"off (full: OOM)", "no checkpointing", "without recomputation", "none"}) {
        EXPECT_EQ(recompute_from(cell), Recompute::none) << cell;
    }
    for (auto const* cell : {"full AC", "full activation checkpointing", "all layers", "full (uniform)"}) {
        EXPECT_EQ(recompute_from(cell), Recompute::full) << cell;
    }
}

/// Short heads mean recomputation where their cells do.
TEST(RunLayout, ShortHeads) {
    EXPECT_EQ(with("AC", "full").question->strategy.recompute, Recompute::full);
    EXPECT_EQ(with("GC", "True").question->strategy.recompute, Recompute::full);
    for (auto const& [head, cell] : {std::pair{"gc", "1"}, std::pair{"ckpt", "/mnt/ckpt/full_llama"},
                                     std::pair{"AC", "air cooled"}, std::pair{"checkpointing", "async"}}) {
        std::vector<Issue> issues;
        auto const run = read_runs(std::string{"model,gpu,gpus,seq_len,gbs,step time (s),"} + head +
                                       "\nllama-3-8b,A100 80GB,8,4096,64,9.5," + cell + "\n",
                                   "runs.csv", training::catalog(), &issues)[0];
        EXPECT_EQ(run.question->strategy.recompute, Recompute::none) << head;
        ASSERT_EQ(issues.size(), 1U) << head;
        EXPECT_EQ(issues[0].kind, "column not used") << head;
    }
    EXPECT_EQ(with("fsdp", "True").question->strategy.zero, 3);
    EXPECT_EQ(with("fsdp", "False").question->strategy.zero, 0);
    EXPECT_EQ(with("sharding", "FSDP: off").question->strategy.zero, 0);
    EXPECT_EQ(with("fsdp", "2").question->strategy.zero, with("notes", "").question->strategy.zero);
    EXPECT_FALSE(with("sp,tp", "1,2").question->strategy.sequence_parallel);
    EXPECT_TRUE(with("sp,tp", "2,2").question->strategy.sequence_parallel);
    EXPECT_TRUE(with("sp,tp", "yes,2").question->strategy.sequence_parallel);
}

} // namespace
} // namespace headroom::io
