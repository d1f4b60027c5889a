#include "../../io/src/run_cells.hpp"
#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/io/runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace headroom::io {
namespace {

using namespace units;
using ::testing::Contains;
using ::testing::HasSubstr;

using Cells = std::map<std::string, std::string>;

/// A row that states everything: GPT-3 13B on 64 A100.
Cells whole_row() {
    return {{"id", "X1"},
            {"source_repo_or_paper", "someone/something @abc 2023-05-01"},
            {"source_family", "someone"},
            {"arch", "dense_transformer"},
            {"model_name", "a model of our own"},
            {"layers", "40"},
            {"hidden", "5120"},
            {"heads", "40"},
            {"kv_heads", "40"},
            {"ffn_hidden", "20480"},
            {"ffn_kind", "gelu"},
            {"vocab", "50304"},
            {"seq_len", "2048"},
            {"accelerator", "A100-80GB"},
            {"accelerators_total", "64"},
            {"accelerators_per_node", "8"},
            {"precision", "bf16"},
            {"global_batch_sequences", "256"},
            {"micro_batch", "4"},
            {"dp", "8"},
            {"tp", "8"},
            {"sp", "n"},
            {"pp", "1"},
            {"activation_recompute", "full"},
            {"measured_step_seconds", "10"},
            {"notes", ""}};
}

std::string table_of(Cells const& cells) {
    std::string header, row;
    for (auto const& [name, cell] : cells) {
        header += (header.empty() ? "" : ",") + name;
        row += (row.empty() ? "" : ",") + csv_cell(cell);
        if (row.empty()) { row = "\"\""; }
    }
    return header + "\n" + row + "\n";
}

PublishedRun read(Cells const& cells) {
    auto runs = read_runs(table_of(cells), "runs.csv", training::catalog());
    EXPECT_EQ(runs.size(), 1u);
    return runs.front();
}

PublishedRun read_with(Cells const& changes) {
    auto cells = whole_row();
    for (auto const& [name, cell] : changes) { cells[name] = cell; }
    return read(cells);
}

TEST(ReadRuns, AWholeRowAsksWhatItSays) {
    auto const run = read(whole_row());
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.id, "X1");
    EXPECT_EQ(run.source, "someone");
    EXPECT_EQ(run.kind, "dense");
    EXPECT_TRUE(run.states_enough);
    EXPECT_EQ(run.measured.base(), 10.0);
    EXPECT_EQ(run.measured_from, "step seconds");
    auto const& question = *run.question;
    EXPECT_EQ(question.model.layers, 40);
    EXPECT_EQ(question.model.hidden, 5120);
    EXPECT_EQ(question.model.head_dim, 128);
    EXPECT_EQ(question.model.feed_forward, FeedForward::plain);
    EXPECT_EQ(question.workload.sequence_length, 2048);
    EXPECT_EQ(question.workload.global_batch, 256);
    EXPECT_EQ(question.strategy.dp, 8);
    EXPECT_EQ(question.strategy.tp, 8);
    EXPECT_EQ(question.strategy.micro_batch, 4);
    EXPECT_FALSE(question.strategy.sequence_parallel);
    EXPECT_EQ(question.strategy.recompute, Recompute::full);
    EXPECT_EQ(run.strategy_kind, "tp");
    EXPECT_FALSE(run.structural_assumption);
}

TEST(ReadRuns, MeasuredStepIsTakenInTheStatedOrder) {
    // Expectation: seconds, then tokens in all, then tokens an accelerator, then samples, then TFLOP/s.
    double const tokens = 256 * 2048;
    Cells cells{{"measured_step_seconds", "10"},
                {"measured_tokens_per_s_total", "1000"},
                {"measured_tokens_per_s_per_gpu", "20"},
                {"samples_per_s", "3"},
                {"measured_tflops_per_gpu", "150"},
                {"tflops_counts", "model"},
                {"tflops_attention", "full"}};
    EXPECT_EQ(read_with(cells).measured.base(), 10.0);
    cells["measured_step_seconds"] = "";
    EXPECT_DOUBLE_EQ(read_with(cells).measured.base(), tokens / 1000.0);
    cells["measured_tokens_per_s_total"] = "";
    EXPECT_DOUBLE_EQ(read_with(cells).measured.base(), tokens / (20.0 * 64));
    cells["measured_tokens_per_s_per_gpu"] = "";
    EXPECT_DOUBLE_EQ(read_with(cells).measured.base(), 256 / 3.0);
    cells["samples_per_s"] = "";
    auto const run = read_with(cells);
    EXPECT_EQ(run.measured_from, "TFLOP/s");
    auto const forward = forward_flops(run.question->model, 2048, AttentionConvention::full);
    EXPECT_DOUBLE_EQ(run.measured.base(), 3.0 * forward.total().base() * 256 / (150e12 * 64));
    // Expectation: hardware counts hold the recomputed pass, the head aside; causal counts half of the attention.
    cells["tflops_counts"] = "hardware";
    EXPECT_DOUBLE_EQ(read_with(cells).measured.base(),
                     (3.0 * forward.total() + forward.matrix + forward.attention).base() * 256 / (150e12 * 64));
    cells["tflops_counts"] = "model";
    cells["tflops_attention"] = "causal";
    EXPECT_DOUBLE_EQ(read_with(cells).measured.base(),
                     3.0 * (forward.matrix + 0.5 * forward.attention + forward.head).base() * 256 / (150e12 * 64));
    cells["tflops_counts"] = "unknown";
    EXPECT_THAT(read_with(cells).skipped_reason, HasSubstr("without a stated convention"));
    cells["measured_tflops_per_gpu"] = "";
    EXPECT_THAT(read_with(cells).skipped_reason, HasSubstr("no step time"));
}

TEST(ReadRuns, SaysWhyARowIsNotAsked) {
    EXPECT_EQ(read_with({{"arch", "moe"}}).kind, "moe");
    EXPECT_EQ(read_with({{"arch", "hybrid_mamba_moe"}}).kind, "moe");
    EXPECT_EQ(read_with({{"arch", "bert"}}).kind, "bert");
    EXPECT_EQ(read_with({{"arch", "t5"}}).kind, "other");
    EXPECT_THAT(read_with({{"arch", "cnn"}}).skipped_reason, HasSubstr("'cnn' is not modelled yet"));
    EXPECT_THAT(read_with({{"seq_len", ""}}).skipped_reason, HasSubstr("no sequence length"));
    EXPECT_THAT(read_with({{"layers", ""}}).skipped_reason, HasSubstr("no layers"));
    EXPECT_THAT(read_with({{"accelerator", ""}}).skipped_reason, HasSubstr("no accelerator"));
    EXPECT_THAT(read_with({{"accelerator", "Cray-1"}}).skipped_reason, HasSubstr("'Cray-1'"));
    EXPECT_THAT(read_with({{"accelerators_total", ""}}).skipped_reason, HasSubstr("no accelerator count"));
    EXPECT_THAT(read_with({{"global_batch_sequences", ""}, {"micro_batch", ""}}).skipped_reason,
                HasSubstr("no global batch"));
    EXPECT_THAT(read_with({{"zero_stage_or_fsdp", "DeepSpeed ZeRO-3 + CPU optimizer offload"}}).skipped_reason,
                HasSubstr("offload"));
    EXPECT_THAT(read_with({{"dp", "7"}}).question.has_value() ? "asked" : "skipped",
                HasSubstr("asked")); // derived again
    for (auto const* column :
         {"layers", "hidden", "seq_len", "accelerator", "accelerators_total", "global_batch_sequences"}) {
        EXPECT_FALSE(read_with({{column, ""}}).states_enough) << column;
    }
}

TEST(ReadRuns, TheBatchMayFollowFromItsParts) {
    auto const run = read_with({{"global_batch_sequences", ""}, {"grad_accum", "3"}});
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->workload.global_batch, 8 * 4 * 3);
    EXPECT_THAT(run.assumed, Contains(HasSubstr("global batch")));
}

TEST(ReadRuns, AKnownModelFillsItsDimensions) {
    auto const run = read_with({{"model_name", "llama-2-7b"},
                                {"layers", ""},
                                {"hidden", ""},
                                {"heads", ""},
                                {"kv_heads", ""},
                                {"ffn_hidden", ""},
                                {"ffn_kind", ""},
                                {"vocab", ""}});
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->model.layers, 32);
    EXPECT_EQ(run.question->model.ffn, 11008);
    EXPECT_EQ(run.question->model.vocab, 32000);
}

TEST(ReadRuns, AMixtureUnderADenseLabelIsSkippedNotTimed) {
    // Expectation: what cannot be predicted is a row with a reason, whatever the table calls it.
    auto const run = read_with({{"model_name", "mixtral-8x7b"},
                                {"layers", ""},
                                {"hidden", ""},
                                {"heads", ""},
                                {"kv_heads", ""},
                                {"ffn_hidden", ""},
                                {"vocab", ""}});
    EXPECT_FALSE(run.question.has_value());
    EXPECT_FALSE(run.skipped_reason.empty());
}

TEST(ReadRuns, AdaptersAreNamedJustSo) {
    EXPECT_EQ(read_with({{"notes", "LoRA rank 16"}}).question->strategy.trained, Trained::adapters);
    EXPECT_EQ(read_with({{"notes", "an exploratory run"}}).question->strategy.trained, Trained::all);
    EXPECT_EQ(read_with({{"notes", "FLORAL"}}).question->strategy.trained, Trained::all);
}

TEST(ReadRuns, OldChipsComputeInTheFormatTheyHave) {
    auto const run = read_with({{"accelerator", "V100-32GB"}});
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->strategy.precision, Precision::fp16);
    EXPECT_FALSE(read_with({{"precision", "NVFP4"}}).question.has_value());
}

TEST(ReadRuns, AnOuterDegreeOfShardedRunsIsAReplicaCount) {
    // Expectation: 4 replicas of groups of 16 on 64 accelerators: dp 64 in shards of 16.
    auto const run =
        read_with({{"dp", "4"}, {"tp", "1"}, {"pp", "1"}, {"zero_stage_or_fsdp", "FSDP"}, {"micro_batch", "2"}});
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->strategy.dp, 64);
    EXPECT_EQ(run.question->strategy.shard, 16);
    EXPECT_EQ(run.question->strategy.zero, 3);
}

TEST(ReadRuns, WantsItsColumns) {
    try {
        static_cast<void>(read_runs("id,arch\n1,moe\n", "own.csv", training::catalog()));
        FAIL() << "columns are missing";
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::unreadable);
        EXPECT_THAT(error.what(), HasSubstr("own.csv:1: no column 'model_name'"));
    }
}

TEST(ReadRuns, ReadsPastColumnsThatItDoesNotKnow) {
    auto cells = whole_row();
    cells["colour"] = "blue";
    EXPECT_TRUE(read(cells).question.has_value());
    EXPECT_TRUE(read_runs(table_of(whole_row()).substr(0, table_of(whole_row()).find('\n') + 1), "runs.csv",
                          training::catalog())
                    .empty());
}

TEST(ReadRuns, MalformedNumbersAreNamed) {
    for (auto const* cell : {"forty", "40 layers", "1e999", "nan", "-3", "0", "0x10", "4.5"}) {
        auto const run = read_with({{"layers", cell}});
        EXPECT_FALSE(run.question.has_value()) << cell;
        EXPECT_THAT(run.skipped_reason, HasSubstr("layers")) << cell;
        EXPECT_THAT(run.skipped_reason, HasSubstr(cell)) << cell;
    }
}

// Disabled: the products of degrees overflow, and a division by the wrapped zero ends the program.
TEST(ReadRuns, AbsurdDimensionsAreRefusedAtOnce) {
    // Expectation: sizes beyond any model neither overflow nor keep the reader busy.
    for (auto const* column : {"layers", "hidden", "heads", "seq_len", "accelerators_total", "global_batch_sequences",
                               "micro_batch", "tp", "pp", "dp", "cp"}) {
        auto const run = read_with({{column, "1999999999"}});
        EXPECT_TRUE(run.question.has_value() || !run.skipped_reason.empty()) << column;
    }
    EXPECT_FALSE(read_with({{"tp", "65536"}, {"pp", "65536"}}).question.has_value()); // 2^32 ranks
    EXPECT_FALSE(read_with({{"dp", "65536"}, {"cp", "65536"}, {"tp", ""}, {"pp", ""}}).question.has_value());
}

// ---- single cells --------------------------------------------------------------------------------------------------

TEST(RunCells, NumbersNameTheLineAndTheColumn) {
    auto const table = read_csv("a,b,c\n1,2.5,x\n3,4,\n", "own.csv");
    RunCells const first{table, table.records[0], "own.csv"}, second{table, table.records[1], "own.csv"};
    EXPECT_EQ(first.integer("a"), 1);
    EXPECT_EQ(first.number("b"), 2.5);
    EXPECT_FALSE(second.number("c").has_value());
    EXPECT_FALSE(first.number("no such column").has_value());
    EXPECT_EQ(first.text("no such column"), "");
    auto const line = [](auto work) {
        try {
            static_cast<void>(work());
        } catch (InputError const& error) { return std::string{error.what()}; }
        return std::string{"nothing was thrown"};
    };
    EXPECT_THAT(line([&] { return first.integer("b"); }), HasSubstr("own.csv:2: b is '2.5', not a whole number"));
    EXPECT_THAT(line([&] { return first.number("c"); }), HasSubstr("own.csv:2: c is 'x', not a number above zero"));
}

TEST(RunCells, TheYearIsThatOfTheFirstDate) {
    auto const year = [](std::string const& source) {
        auto const table = read_csv("source_repo_or_paper\n" + csv_cell(source) + "\n", "own.csv");
        return RunCells{table, table.records.at(0), "own.csv"}.year();
    };
    EXPECT_EQ(year("mosaicml/llm-foundry @8c8dd48f7 2025-07-21"), 2025);
    EXPECT_EQ(year("arXiv 2104.04473"), std::nullopt);
    EXPECT_EQ(year("commit 32019-xyz"), std::nullopt);
    EXPECT_EQ(year("2021-"), 2021);
    EXPECT_EQ(year("in 2021"), std::nullopt);
}

TEST(ZeroStage, ReadsWhatPeopleWrite) {
    EXPECT_EQ(zero_stage(""), std::nullopt);
    EXPECT_EQ(zero_stage("DDP (FSDP=0)"), std::nullopt);
    EXPECT_EQ(zero_stage("FSDP_FULL_SHARD"), 3);
    EXPECT_EQ(zero_stage("FSDP_SHARD_GRAD_OP"), 2);
    EXPECT_EQ(zero_stage("ZeRO-1 (text: \"ZeRO-1 saves a lot of memory\")"), 1);
    EXPECT_EQ(zero_stage("DeepSpeed ZeRO-2"), 2);
    EXPECT_EQ(zero_stage("ZeRO (DeepSpeed, stage 3 per Megatron-LM-v1.1.5-ZeRO3 code)"), 3);
    EXPECT_EQ(zero_stage("FSDP (shards optimizer+grads, params not resharded)"), 2);
    EXPECT_EQ(zero_stage("OverlappedDistributedOptimizer (ZeRO-1-like)"), 1);
    EXPECT_EQ(zero_stage("FSDP ici_fsdp=1"), std::nullopt);
    EXPECT_EQ(zero_stage("FSDP ici_fsdp=16"), 3); // no 1 at the end of the number
    for (int stage = 0; stage <= 3; ++stage) { EXPECT_EQ(zero_stage(std::to_string(stage)), stage); }
    EXPECT_EQ(zero_stage("none"), std::nullopt);
    EXPECT_EQ(zero_stage("7"), std::nullopt);
}

TEST(ZeroStage, ReadsStagesInWords) {
    EXPECT_EQ(zero_stage("DeepSpeed ZeRO stage 1"), 1);
    EXPECT_EQ(zero_stage("ZeRO stage 2"), 2);
    EXPECT_EQ(zero_stage("ZeRO 3"), 3);
}

TEST(ShardGroup, IsTheNumberOfItsRanks) {
    EXPECT_EQ(shard_group("FSDP (group 64)"), 64);
    EXPECT_EQ(shard_group("FSDP ici_fsdp=256"), 256);
    EXPECT_EQ(shard_group("FSDP (ici_fsdp_parallelism=16) within slice, DP across slices"), 16);
    EXPECT_EQ(shard_group("FSDP (ici_fsdp_parallelism=-1) within slice, DP across slices"), std::nullopt);
    EXPECT_EQ(shard_group("FSDP ici_fsdp=1"), std::nullopt);
    EXPECT_EQ(shard_group("FSDP"), std::nullopt);
    EXPECT_EQ(shard_group("group 99999999999999999999"), std::nullopt);
}

TEST(Offloads, UnlessNothingIsMoved) {
    EXPECT_TRUE(offloads("CPU offload full"));
    EXPECT_TRUE(offloads("CPU offload: Y/N"));
    EXPECT_TRUE(offloads("DeepSpeed ZeRO-3 + CPU optimizer offload"));
    EXPECT_FALSE(offloads("CPU offload: N/N"));
    EXPECT_FALSE(offloads(""));
    EXPECT_FALSE(offloads("TP_COMM_OVERLAP=True"));
}

TEST(ScaleOutRate, IsOneAcceleratorsShare) {
    auto const gigabits = [](std::string_view text, int per_node) {
        auto const rate = scale_out_rate(text, per_node);
        return rate ? rate->in(Gbit / s) : 0.0;
    };
    EXPECT_DOUBLE_EQ(gigabits("8x 200Gbps HDR InfiniBand per node (Selene, per paper)", 8), 200.0);
    EXPECT_DOUBLE_EQ(gigabits("8x 200 Gb/s HDR InfiniBand per node (NDm A100 v4)", 8), 200.0);
    EXPECT_DOUBLE_EQ(gigabits("1600 Gbps node-node RoCE", 8), 200.0);
    EXPECT_DOUBLE_EQ(gigabits("800 Gbps total per node (from config/validation json)", 8), 100.0);
    EXPECT_DOUBLE_EQ(gigabits("4 OmniPath links per node", 8), 50.0);
    EXPECT_DOUBLE_EQ(gigabits("4 OmniPath links per node", 4), 100.0);
    EXPECT_DOUBLE_EQ(gigabits("RoCE 400 Gbps per GPU (Arista 7800/Minipack2)", 8), 400.0);
    EXPECT_DOUBLE_EQ(gigabits("InfiniBand 100 Gb/sec (4X EDR), 1 HCA per node", 16), 100.0 / 16);
    EXPECT_DOUBLE_EQ(gigabits("4x200Gbps RDMA", 8), 100.0);
    EXPECT_DOUBLE_EQ(gigabits("4x ConnectX-7 IB NDR 400Gb/s", 8), 200.0);
    EXPECT_DOUBLE_EQ(gigabits("1x Ethernet 100Gb/Sec, 8x NVIDIA Quantum-2 CX7 InfiniBand (400Gb/s)", 8), 400.0);
}

TEST(ScaleOutRate, StorageAndManagementDoNotCarryGradients) {
    auto const gigabits = [](std::string_view text) {
        return scale_out_rate(text, 8).value_or(BytesPerSecond{}).in(Gbit / s);
    };
    EXPECT_DOUBLE_EQ(gigabits("Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s, "
                              "Management: 100Gb/s Ethernet NIC"),
                     400.0);
    EXPECT_DOUBLE_EQ(
        gigabits("Storage+Management: 1x NVIDIA BlueField 2 DPU 100Gb/s, Compute: 8x NVIDIA ConnectX-7 IB NDR 400Gb/s"),
        400.0);
    EXPECT_DOUBLE_EQ(gigabits("Storage&Compute: 4x ConnectX-7 IB NDR 400Gb/s, Management: 25Gb/s Ethernet NIC"), 200.0);
    EXPECT_DOUBLE_EQ(
        gigabits("Management: 1x Bluefield-2 DPU Ethernet 100Gb/Sec, Compute: 8x ConnectX-7 InfiniBand NDR 400Gb/Sec"),
        400.0);
    EXPECT_DOUBLE_EQ(gigabits("Storage: 8x 400Gb/s, Compute: 8x 200Gb/s"), 200.0);
}

TEST(ScaleOutRate, IsUnknownWhereNoRateIsStated) {
    for (auto const* text : {"", "InfiniBand (Selene)", "Omni-Path (Jean Zay)", "DGX SuperPOD InfiniBand",
                             "DCN between slices", "ICI single slice", "Gig Ethernet", "Gb", " gb", "x gb/s"}) {
        EXPECT_FALSE(scale_out_rate(text, 8).has_value()) << text;
    }
    EXPECT_TRUE(scale_out_rate("100 Gb/s", 0).has_value()); // no node size: the whole rate
}

TEST(ScaleOutRate, SecondNetworksInOneClauseCountToo) {
    // Expectation: the network between the accelerators is the fastest one stated.
    EXPECT_DOUBLE_EQ(scale_out_rate("BF3 200Gbps for NS and 2xBF3 400Gbps for EW", 4)->in(Gbit / s), 200.0);
}

TEST(ScaleOutRate, TellsBytesFromBits) {
    EXPECT_DOUBLE_EQ(scale_out_rate("8x 25 GB/s", 8)->in(Gbit / s), 200.0);
    EXPECT_DOUBLE_EQ(scale_out_rate("12.5 Gb/s", 1)->in(Gbit / s), 12.5);
    EXPECT_DOUBLE_EQ(scale_out_rate("8 x 200 Gb/s", 8)->in(Gbit / s), 200.0);
}

TEST(Recognised, TakesTheLongestWordThenTheYear) {
    std::vector<FrameworkRecogniser> const table{{"old", 2019, {"megatron-lm"}},
                                                 {"new", 2023, {"megatron-lm"}},
                                                 {"port", 2021, {"megatron-lm-deepspeed"}},
                                                 {"none", 2020, {""}}};
    EXPECT_EQ(recognised(table, "NVIDIA/Megatron-LM", 2021), "old");
    EXPECT_EQ(recognised(table, "NVIDIA/Megatron-LM", 2023), "new");
    EXPECT_EQ(recognised(table, "NVIDIA/Megatron-LM", 2026), "new");
    EXPECT_EQ(recognised(table, "NVIDIA/Megatron-LM", {}), "new");
    EXPECT_EQ(recognised(table, "NVIDIA/Megatron-LM", 2018), "old"); // both are younger: the nearest
    EXPECT_EQ(recognised(table, "a fork of Megatron-LM-DeepSpeed", 2026), "port");
    EXPECT_EQ(recognised(table, "nanoGPT", 2023), "");
    EXPECT_EQ(recognised({}, "Megatron-LM", 2023), "");
}

TEST(Recognised, KnowsTheSourcesOfTheCatalog) {
    auto const table = recognisers(training::catalog());
    EXPECT_EQ(recognised(table, "mosaicml/llm-foundry @8c8dd48f7 2025-07-21", 2025), "llm-foundry");
    EXPECT_EQ(recognised(table, "Narayanan et al. 2021", 2021), "megatron-2021");
    EXPECT_EQ(recognised(table, "NVIDIA/Megatron-LM README 2025-01-01", 2025), "megatron-core");
    EXPECT_EQ(recognised(table, "bigscience-workshop", 2022), "megatron-deepspeed");
    EXPECT_EQ(recognised(table, "AI-Hypercomputer/maxtext", 2024), "maxtext");
}

} // namespace
} // namespace headroom::io
