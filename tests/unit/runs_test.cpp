#include "../../io/src/tables/run_cells.hpp"
#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/io/runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace headroom::io {

using namespace headroom::training;

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

/// A model of the catalog on eight V100, nothing stated but its throughput.
Cells picture_row(std::string const& name) {
    auto cells = whole_row();
    for (auto const* column :
         {"layers", "hidden", "heads", "kv_heads", "ffn_hidden", "ffn_kind", "vocab", "seq_len",
          "global_batch_sequences", "micro_batch", "sp", "activation_recompute", "measured_step_seconds"}) {
        cells[column] = "";
    }
    for (auto const& [column, cell] : Cells{{"arch", "cnn"},
                                            {"accelerator", "V100-32GB"},
                                            {"precision", "mixed(fp16)"},
                                            {"model_name", name},
                                            {"accelerators_total", "8"},
                                            {"tp", "1"},
                                            {"samples_per_s", "100"}}) {
        cells[column] = cell;
    }
    return cells;
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
    EXPECT_EQ(read_with({{"arch", "cnn"}}).kind, "cnn");
    EXPECT_THAT(read_with({{"seq_len", ""}}).skipped_reason, HasSubstr("no sequence length"));
    EXPECT_THAT(read_with({{"layers", ""}}).skipped_reason, HasSubstr("no layers"));
    EXPECT_THAT(read_with({{"accelerator", ""}}).skipped_reason, HasSubstr("no accelerator"));
    EXPECT_THAT(read_with({{"accelerator", "Cray-1"}}).skipped_reason, HasSubstr("'Cray-1'"));
    EXPECT_THAT(read_with({{"accelerators_total", ""}}).skipped_reason, HasSubstr("no accelerator count"));
    EXPECT_THAT(read_with({{"global_batch_sequences", ""}, {"micro_batch", ""}}).skipped_reason,
                HasSubstr("no global batch"));
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

TEST(ReadRuns, ANameMayCarryMoreInBrackets) {
    // Expectation: what stands in brackets behind a known name changes the title, not the model.
    for (auto const* name : {"llama-2-7b", "llama-2-7b [NGC PyTorch bsz=48]", "llama-2-7b (tokendrop)"}) {
        auto const run = read_with({{"model_name", name},
                                    {"layers", ""},
                                    {"hidden", ""},
                                    {"heads", ""},
                                    {"kv_heads", ""},
                                    {"ffn_hidden", ""},
                                    {"vocab", ""}});
        ASSERT_TRUE(run.question.has_value()) << name << ": " << run.skipped_reason;
        EXPECT_EQ(run.question->model.layers, 32) << name;
        EXPECT_EQ(run.question->model.name, name);
        EXPECT_TRUE(run.states_enough) << name;
    }
    // Expectation: brackets that are part of the name stay so; those of an unknown name help nobody.
    EXPECT_TRUE(read(picture_row("ResNet-50 v1.5 (MLPerf)")).question.has_value());
    EXPECT_TRUE(read(picture_row("ResNet-50 v1.5 [NGC TensorFlow 1.x w/XLA bsz=224]")).question.has_value());
    EXPECT_FALSE(read(picture_row("NoNet-50 [ResNet-50]")).question.has_value());
    EXPECT_FALSE(read(picture_row("")).question.has_value());
}

TEST(ReadRuns, TheHeadingMayNameTheSize) {
    auto row = picture_row("Transformer-XL");
    row["micro_batch"] = "8";
    auto const layers_under = [&row](char const* table) {
        row["source_path_or_table"] = table;
        auto const run = read(row);
        return run.question ? run.question->model.layers : 0;
    };
    EXPECT_EQ(layers_under("README.md line 1 (\"Base model\", column \"tok/s\")"), 16);
    EXPECT_EQ(layers_under("README.md line 1 (\"Large model\", column \"tok/s\")"), 18);
    EXPECT_EQ(layers_under("README.md line 1 (\"Any other model\", column \"tok/s\")"), 16);
    EXPECT_EQ(layers_under(""), 16);
}

TEST(ReadRuns, AMixtureIsReadByNameOrByItsDimensions) {
    Cells const bare{{"layers", ""},   {"hidden", ""},     {"heads", ""},
                     {"kv_heads", ""}, {"ffn_hidden", ""}, {"vocab", ""}};
    auto named = bare;
    named["model_name"] = "mixtral-8x7b";
    auto const by_name = read_with(named);
    ASSERT_TRUE(by_name.question.has_value()) << by_name.skipped_reason;
    EXPECT_EQ(by_name.question->model.moe.experts, 8);
    auto const by_size = read_with({{"arch", "moe"},
                                    {"layers", "32"},
                                    {"hidden", "4096"},
                                    {"heads", "32"},
                                    {"kv_heads", "8"},
                                    {"ffn_hidden", "14336"},
                                    {"ffn_kind", "swiglu"},
                                    {"vocab", "32000"},
                                    {"moe_experts", "8"},
                                    {"moe_topk", "2"}});
    ASSERT_TRUE(by_size.question.has_value()) << by_size.skipped_reason;
    auto const &known = by_name.question->model, &found = by_size.question->model;
    EXPECT_EQ(found.moe.experts, known.moe.experts);
    EXPECT_EQ(found.moe.top_k, known.moe.top_k);
    EXPECT_EQ(found.moe.ffn, known.moe.ffn);
    EXPECT_EQ(forward_flops(found, 2048, AttentionConvention::causal).total(),
              forward_flops(known, 2048, AttentionConvention::causal).total());
    // Expectation: a mixture needs its width and its vocabulary; two experts a token are usual.
    Cells mixture{{"arch", "moe"}, {"moe_experts", "8"}};
    EXPECT_EQ(read_with(mixture).question->model.moe.top_k, 2);
    mixture["ffn_hidden"] = "";
    EXPECT_THAT(read_with(mixture).skipped_reason, HasSubstr("width of an expert"));
    EXPECT_THAT(read_with({{"arch", "moe"}, {"moe_experts", "8"}, {"vocab", ""}}).skipped_reason,
                HasSubstr("vocabulary"));
}

TEST(ReadRuns, StatedDimensionsCutAKnownModelShort) {
    // Expectation: as many layers as the row says, the rest of the record.
    auto const run = read_with({{"model_name", "llama-2-7b"},
                                {"layers", "8"},
                                {"hidden", "4096"},
                                {"heads", ""},
                                {"kv_heads", ""},
                                {"ffn_hidden", ""},
                                {"vocab", ""}});
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->model.layers, 8);
    EXPECT_EQ(run.question->model.heads, 32);
    EXPECT_EQ(run.question->model.ffn, 11008);
    auto const mixture = read_with({{"arch", "moe"},
                                    {"model_name", "DeepSeek-V3"},
                                    {"layers", "4"},
                                    {"hidden", ""},
                                    {"heads", ""},
                                    {"kv_heads", ""},
                                    {"ffn_hidden", ""},
                                    {"vocab", ""},
                                    {"dp", "8"}});
    ASSERT_TRUE(mixture.question.has_value()) << mixture.skipped_reason;
    EXPECT_EQ(mixture.question->model.layers, 4);
    EXPECT_GT(mixture.question->model.moe.experts, 0);
}

TEST(ReadRuns, AnUnstatedBatchIsWhatIsUsual) {
    // Expectation: images have no sequence length; a part's batch is the record's, half of it for 32-bit products.
    auto row = picture_row("ResNet-50");
    int const usual = training::catalog().model("resnet-50").nominal_batch;
    ASSERT_GT(usual, 1);
    auto const half = read(row);
    ASSERT_TRUE(half.question.has_value()) << half.skipped_reason;
    EXPECT_EQ(half.question->workload.global_batch, usual * 8);
    EXPECT_TRUE(half.batch_assumed);
    EXPECT_FALSE(half.states_enough);
    EXPECT_THAT(half.assumed, Contains(HasSubstr("batch of an accelerator = " + std::to_string(usual))));
    for (auto const* precision : {"fp32", "tf32"}) {
        row["precision"] = precision;
        row["accelerator"] = "A100-80GB";
        EXPECT_EQ(read(row).question->workload.global_batch, usual / 2 * 8) << precision;
    }
    row["micro_batch"] = "16";
    auto const stated = read(row);
    EXPECT_EQ(stated.question->workload.global_batch, 16 * 8);
    EXPECT_FALSE(stated.batch_assumed);
    row["global_batch_sequences"] = "256";
    EXPECT_TRUE(read(row).states_enough); // a known name, no length needed
}

TEST(ReadRuns, AnUnstatedLengthIsNotedOrUsual) {
    auto row = picture_row("BERT-Base");
    row["arch"] = "bert";
    row["micro_batch"] = "32";
    auto const length = [&row] {
        auto const run = read(row);
        EXPECT_TRUE(run.question.has_value()) << run.skipped_reason;
        return run.question ? run.question->workload.sequence_length : 0;
    };
    EXPECT_EQ(length(), training::catalog().model("bert-base").nominal_length);
    row["source_path_or_table"] = "BERT/README.md (\"Fine-tuning training performance for SQuAD v1.1\")";
    EXPECT_EQ(length(), 384);
    row["notes"] = "BERT sequence length 128 is not printed in this table";
    EXPECT_EQ(length(), 128);
    row["seq_len"] = "256";
    EXPECT_EQ(length(), 256);
}

TEST(ReadRuns, ANotedLengthHoldsForTheSourceAndModel) {
    // Expectation: one table's note is about the benchmarks of that model; other sources and models keep theirs.
    auto noting = picture_row("BERT-Base [one stack]"), silent = picture_row("BERT-Base [another stack]");
    noting["micro_batch"] = silent["micro_batch"] = "32";
    noting["notes"] = "sequence length 128 in these benchmarks";
    auto elsewhere = silent, larger = silent;
    elsewhere["source_family"] = "elsewhere";
    larger["model_name"] = "BERT-Large";
    std::string csv = table_of(silent);
    for (auto const& cells : {elsewhere, larger, noting}) {
        auto const text = table_of(cells);
        csv += text.substr(text.find('\n') + 1);
    }
    auto const runs = read_runs(csv, "runs.csv", training::catalog());
    ASSERT_EQ(runs.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) { ASSERT_TRUE(runs[i].question.has_value()) << runs[i].skipped_reason; }
    EXPECT_EQ(runs[0].question->workload.sequence_length, 128);
    EXPECT_EQ(runs[1].question->workload.sequence_length, 512);
    EXPECT_EQ(runs[2].question->workload.sequence_length, 512);
    EXPECT_EQ(runs[3].question->workload.sequence_length, 128);
    EXPECT_THAT(runs[0].assumed, Contains("sequence length = 128"));
}

TEST(ReadRuns, UnpaddedRowsComputeTheirTokensOnly) {
    auto row = picture_row("BERT-Large (MLPerf)");
    row["arch"] = "bert";
    row["micro_batch"] = "32";
    EXPECT_EQ(read(row).question->workload.fill, 1.0);
    row["notes"] = "max seq len 512 but UNPADDED/packed variable length";
    auto const run = read(row);
    double const fill = training::catalog().model("bert-large").nominal_fill;
    ASSERT_LT(fill, 1.0);
    EXPECT_EQ(run.question->workload.fill, fill);
    EXPECT_THAT(run.assumed, Contains(HasSubstr("not padding")));
}

TEST(ReadRuns, BinnedPretrainingFillsAllButHalfABin) {
    // Expectation: at the longest sequences, where the data are padded; not at shorter ones, nor in fine-tuning.
    auto row = picture_row("BERT-Large");
    row["arch"] = "bert";
    row["micro_batch"] = "32";
    row["source_repo_or_paper"] = "NVIDIA/DeepLearningExamples @729963dd 2024-04-04";
    auto const fill_of = [&row](char const* table, char const* length) {
        row["source_path_or_table"] = table;
        row["seq_len"] = length;
        return read(row).question->workload.fill;
    };
    double const fill = training::catalog().model("bert-large").nominal_fill;
    EXPECT_DOUBLE_EQ(fill_of("PyTorch/LanguageModeling/BERT/README.md (\"Pre-training\")", "512"), fill + 32.0 / 512);
    EXPECT_EQ(fill_of("PyTorch/LanguageModeling/BERT/README.md (\"Pre-training\")", "128"), 1.0);
    EXPECT_EQ(fill_of("PyTorch/LanguageModeling/BERT/README.md (\"Fine-tuning\")", "512"), 1.0);
    EXPECT_EQ(fill_of("TensorFlow/LanguageModeling/BERT/README.md (\"Pre-training\")", "512"), 1.0);
}

TEST(ReadRuns, TranslationCountsItsBatchInTokens) {
    // Expectation: 5120 tokens an accelerator are as many pairs as their usual length allows; 32-bit takes the smaller.
    auto row = picture_row("Transformer-Big (WMT14)");
    row["notes"] = "batch column \"Batch size / GPU\"=\"5120/2560\"; accumulation \"\"";
    int const length = training::catalog().model("transformer-big").nominal_length;
    EXPECT_EQ(read(row).question->strategy.micro_batch, 5120 / length);
    row["precision"] = "fp32";
    EXPECT_EQ(read(row).question->strategy.micro_batch, 2560 / length);
}

TEST(ReadRuns, AHeaderOfTf32MeansTf32) {
    auto row = picture_row("ResNet-50");
    row["accelerator"] = "A100-80GB";
    row["precision"] = "fp32";
    row["notes"] = "batch column \"Batch size / GPU: mixed precision, TF32\"=\"76,38\"; accumulation \"\"";
    auto const run = read(row);
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->strategy.precision, Precision::tf32);
    EXPECT_EQ(run.question->strategy.micro_batch, 38);
    row["notes"] = "batch column \"Batch size / GPU (TF32, FP32)\"=\"76,38\"; accumulation \"\"";
    EXPECT_EQ(read(row).question->strategy.precision, Precision::fp32);
}

TEST(ReadRuns, RowsOfOneTableDifferInTheCountOnly) {
    auto base = picture_row("ResNet-50");
    base["source_path_or_table"] = "README.md line 12 (\"Training performance\", column \"img/s\")";
    base["micro_batch"] = "32";
    auto const table = [&base](Cells const& changes) {
        auto cells = base;
        for (auto const& [name, cell] : changes) { cells[name] = cell; }
        return read(cells).table;
    };
    for (auto const& same :
         {Cells{{"accelerators_total", "1"}, {"dp", "1"}},
          Cells{{"source_path_or_table", "README.md line 999 (\"Training performance\", column \"img/s\")"}},
          Cells{{"samples_per_s", "7"}}, Cells{{"global_batch_sequences", "256"}}}) {
        EXPECT_EQ(table(same), table({})) << same.begin()->first;
    }
    for (auto const& other :
         {Cells{{"precision", "fp32"}}, Cells{{"model_name", "ResNet-50 v1.5"}}, Cells{{"micro_batch", "64"}},
          Cells{{"seq_len", "128"}}, Cells{{"accelerator", "A100-80GB"}}, Cells{{"source_repo_or_paper", "other"}},
          Cells{{"source_path_or_table", "README.md line 12 (\"Training performance\", column \"FP32\")"}},
          Cells{{"notes", "batch column \"Batch size\"=\"64\""}}}) {
        EXPECT_NE(table(other), table({})) << other.begin()->first;
    }
    EXPECT_NE(table({{"source_path_or_table", "README.md line 12"}}), table({})); // a line at the end of the cell
    EXPECT_EQ(table({{"source_path_or_table", "README.md line 12"}}),
              table({{"source_path_or_table", "README.md line 4"}}));
}

TEST(ReadRuns, ContradictionsAreOneReason) {
    // Expectation: whatever a row states, it is asked or it has one line of reason; reading goes on.
    std::vector<Cells> const contradictions{
        {{"accelerators_total", "16"}, {"tp", "4"}, {"pp", "8"}, {"dp", ""}}, // 32 ranks on 16
        {{"heads", "7"}, {"kv_heads", "3"}, {"tp", "8"}},
        {{"kv_heads", "80"}},
        {{"pp", "41"}, {"tp", "1"}, {"dp", ""}, {"accelerators_total", "41"}},
        {{"global_batch_sequences", "3"}, {"micro_batch", "4"}},
        {{"global_batch_sequences", "255"}},
        {{"cp", "3"}, {"dp", ""}},
        {{"arch", "moe"}, {"moe_experts", "8"}, {"moe_topk", "9"}},
        {{"arch", "moe"}, {"moe_experts", "8"}, {"ep", "64"}, {"dp", ""}},
        {{"arch", "moe"}, {"moe_experts", "8"}, {"ep", "3"}},
        {{"arch", "cnn"}, {"model_name", "ResNet-50"}, {"tp", "8"}},
        {{"arch", "cnn"}, {"model_name", "ResNet-50"}, {"pp", "8"}, {"tp", "1"}},
        {{"ep", "8"}},
        {{"virtual_pp", "7"}},
        {{"precision", "NVFP4"}},
        {{"measured_step_seconds", "1e-300"}},
        {{"zero_stage_or_fsdp", "ZeRO-3"}, {"pp", "2"}, {"dp", "4"}}};
    for (auto const& changes : contradictions) {
        auto const run = read_with(changes);
        std::string const what = changes.begin()->first + "=" + changes.begin()->second;
        EXPECT_EQ(run.question.has_value(), run.skipped_reason.empty()) << what;
        EXPECT_EQ(run.skipped_reason.find('\n'), std::string::npos) << what;
        if (run.question) {
            auto const& question = *run.question;
            Strategy even = question.strategy;
            even.virtual_pp = 1; // layouts of uneven virtual stages are real
            EXPECT_EQ(illegal_because(even, question.model, question.workload), "") << what;
        }
    }
}

TEST(ReadRuns, AdaptersAreNamedJustSo) {
    EXPECT_EQ(read_with({{"notes", "LoRA rank 16"}}).question->strategy.trained, Trained::lora);
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

TEST(ReadRuns, AnOuterDegreeLeavesTensorRanksOut) {
    // Expectation: 2 slices of 32 accelerators with tp 4: 16 data ranks, in shards of 8.
    auto const run =
        read_with({{"dp", "2"}, {"tp", "4"}, {"pp", "1"}, {"zero_stage_or_fsdp", "FSDP"}, {"micro_batch", "2"}});
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->strategy.dp, 16);
    EXPECT_EQ(run.question->strategy.shard, 8);
}

TEST(ReadRuns, SequenceParallelRanksAreThoseOfANode) {
    auto const run = read_with({{"sp", "y"}, {"tp", ""}, {"dp", ""}, {"pp", ""}, {"micro_batch", ""}});
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_EQ(run.question->strategy.tp, 8);
    EXPECT_TRUE(run.question->strategy.sequence_parallel);
    EXPECT_THAT(run.assumed, Contains("tp = 8"));
    EXPECT_TRUE(run.structural_assumption);
}

TEST(ReadRuns, WantsItsColumns) {
    try {
        static_cast<void>(read_runs("id,arch\n1,moe\n", "own.csv", training::catalog()));
        FAIL() << "columns are missing";
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::unreadable);
        EXPECT_THAT(error.what(), HasSubstr("own.csv:1: no columns 'model_name' (or model), 'accelerator' (or gpu), "
                                            "'accelerators_total' (or gpus), 'seq_len' (or seqlen), "
                                            "'global_batch_sequences' (or globalbatchsize), 'measured_step_seconds' "
                                            "(or step time (s), tokens/s/GPU, samples/s)"));
    }
}

/// Heads as people write them, and nothing but what is needed.
TEST(ReadRuns, TakesUsualHeads) {
    auto const runs = [](std::string const& text) { return read_runs(text, "own.csv", training::catalog()); };
    for (std::string const head : {"Model,GPU,# GPUs,Seq Len,GBS,TP,PP,Step Time (s)",
                                   "model,accelerator,num_gpus,seq_length,global_batch_size,"
                                   "tensor_parallel,pipeline_parallel,step_time_s",
                                   "Model,gpu_type,world size,Sequence length,Global Batch Size,TP,PP,step time"}) {
        auto const run = runs(head + "\nllama-3-8b,H100-80GB,8,8192,64,2,1,7.1\n").front();
        ASSERT_TRUE(run.question) << head << run.skipped_reason;
        EXPECT_EQ(run.measured.base(), 7.1) << head;
        EXPECT_EQ(run.question->workload.global_batch, 64) << head;
        EXPECT_EQ(run.question->strategy.tp, 2) << head;
        EXPECT_EQ(run.id, "line 2");
        EXPECT_EQ(run.kind, "dense");
        EXPECT_TRUE(run.states_enough);
    }
    auto const rates = runs("Model,GPU,GPUs,Seq Len,GBS,Tokens/s/GPU,Memory (MB)\nllama-3-8b,H100-80GB,8,8192,64,8192,"
                            "1048.576\n")
                           .front();
    EXPECT_EQ(rates.measured.base(), 8.0);
    ASSERT_TRUE(rates.measured_memory);
    EXPECT_DOUBLE_EQ(rates.measured_memory->base(), 1048.576e6);
    EXPECT_EQ(runs("Model,GPU,GPUs,Seq Len,GBS,tokens_per_sec\nllama-3-8b,H100-80GB,8,8192,64,65536\n")
                  .front()
                  .measured.base(),
              8.0);
    auto const micro = runs("Model,GPU,GPUs,Seq Len,Batch size per GPU,Grad accum,DP,step_ms\n"
                            "llama-3-8b,H100-80GB,8,8192,1,16,8,7100\n")
                           .front();
    ASSERT_TRUE(micro.question) << micro.skipped_reason;
    EXPECT_EQ(micro.question->workload.global_batch, 128);
    EXPECT_THROW(runs("Model,GPU,GPUs,Seq Len,GBS,Step\nllama-3-8b,H100-80GB,8,8192,64,7\n"), InputError)
        << "a step without a unit may be its number";
    EXPECT_EQ(
        runs("Model,GPU,GPUs,Seq Len,GBS,steps_per_s\nllama-3-8b,H100-80GB,8,8192,64,0.125\n").front().measured.base(),
        8.0);
}

TEST(ReadRuns, UnitsOfCellsAndHeadsAreRead) {
    EXPECT_EQ(read_with({{"measured_step_seconds", "7100.0 ms"}}).measured.base(), 7.1);
    EXPECT_EQ(read_with({{"measured_step_seconds", "1m10s"}}).measured.base(), 70.0);
    auto cells = whole_row();
    cells.erase("measured_step_seconds");
    for (char const* const head : {"measured_step_ms", "Step time (ms)", "iteration_ms", "step_ms"}) {
        auto with = cells;
        with[head] = "7100";
        EXPECT_EQ(read(with).measured.base(), 7.1) << head;
    }
    cells["measured_step_seconds"] = "10";
    cells["measured_memory_gib_per_gpu"] = "59392 MiB";
    EXPECT_EQ(read(cells).measured_memory->base(), 58.0 * 1024 * 1024 * 1024);
    cells["measured_memory_gib_per_gpu"] = "58";
    EXPECT_EQ(read(cells).measured_memory->base(), 58.0 * 1024 * 1024 * 1024);
    EXPECT_THAT(read_with({{"measured_step_seconds", "7 furlongs"}}).skipped_reason, HasSubstr("runs.csv:2"));
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
    EXPECT_EQ(year("in 2021"), 2021);
    EXPECT_EQ(year("model of 20211, r2021b"), std::nullopt);
}

TEST(NotedBatches, AreReadInEveryFormThatTablesPrint) {
    struct Form {
        char const *header, *values, *steps, *precision;
        int micro_batch, accumulation; ///< zero: none
    };
    std::vector<Form> const forms{
        {"", "", "", "mixed(fp16)", 0, 0},
        {"Batch size / GPU", "64", "", "tf32", 64, 0},
        {"Batch Size / GPU", "128 (FP32) / 256 (AMP)", "", "fp32", 128, 0},
        {"Batch Size / GPU", "128 (FP32) / 256 (AMP)", "", "mixed(fp16)", 256, 0},
        {"Batch Size / GPU", "64 (FP32) / 96 (AMP)", "", "mixed(fp16)", 96, 0},
        {"Batch Size / GPU", "256 (AMP) / 128 (FP32)", "", "fp32", 128, 0},
        {"Batch size / GPU", "5120/2560", "", "mixed(fp16)", 5120, 0},
        {"Batch size / GPU", "5120/2560", "", "fp32", 2560, 0},
        {"Batch size / GPU", "2560/5120", "", "fp32", 2560, 0},
        {"Batch size / GPU (TF32 and FP16)", "128 and 256", "64 and 32", "tf32", 128, 64},
        {"Batch size / GPU (TF32 and FP16)", "128 and 256", "64 and 32", "mixed(fp16)", 256, 32},
        {"Batch size / GPU (TF32 and FP16)", "16  and 32", "8 and 4", "mixed(fp16)", 32, 4},
        {"Batch size / GPU (TF32 and FP16)", "32 and 32", "", "tf32", 32, 0},
        {"Batch size / GPU (FP32 and FP16)", "4096 and 4096", "128 and 64", "fp32", 32, 128},
        {"Batch size / GPU (FP32 and FP16)", "4096 and 4096", "128 and 64", "mixed(fp16)", 64, 64},
        {"Batch size / GPU (FP32 and FP16)", "6 and 12", "4608 and 2304", "mixed(fp16)", 12, 2304},
        {"Batch size / GPU (FP32 : mixed precision)", "8 : 16", "", "mixed(fp16)", 16, 0},
        {"Batch size / GPU (FP32 : mixed precision)", "8 : 16", "", "fp32", 8, 0},
        {"Batch size / GPU: mixed precision, FP32", "16 , 8", "4096, 8192", "mixed(fp16)", 16, 4096},
        {"Batch size / GPU: mixed precision, FP32", "16 , 8", "4096, 8192", "fp32", 8, 8192},
        {"Batch size / GPU: mixed precision, FP32", "4,2", "", "mixed(fp16)", 4, 0},
        {"Batch size / GPU: mixed precision, TF32", "76,38", "", "fp32", 38, 0},
        {"Batch size / GPU: mixed precision, TF32", "32, 16", "", "tf32", 16, 0},
        {"Batch size / GPU (TF32, BF16)", "100, 200", "", "tf32", 100, 0},
        {"Batch size / GPU (TF32, BF16)", "100, 200", "", "bf16", 200, 0},
    };
    for (auto const& form : forms) {
        auto const notes = std::string{"A table / a part; batch column \""} + form.header + "\"=\"" + form.values +
                           "\"; accumulation \"" + form.steps + "\"; a published result";
        auto const noted = noted_batch(notes, form.precision);
        EXPECT_EQ(noted.micro_batch.value_or(0), form.micro_batch) << notes << ", " << form.precision;
        EXPECT_EQ(noted.accumulation.value_or(0), form.accumulation) << notes << ", " << form.precision;
    }
    for (auto const* cut :
         {"batch column", "batch column \"", "batch column \"a\"=\"", "batch column \"\"=\"999999999999\"",
          "batch column \"a\"=\"8\"; accumulation \"", "batch column \"a\"=\"-8 , x\""}) {
        EXPECT_LE(noted_batch(cut, "fp32").micro_batch.value_or(0), 8) << cut;
    }
}

TEST(NotedLength, IsTheNumberBehindTheWords) {
    EXPECT_EQ(noted_length("BERT sequence length 128 in these benchmarks"), 128);
    EXPECT_EQ(noted_length("sequence length not stated"), std::nullopt);
    EXPECT_EQ(noted_length("sequence length"), std::nullopt);
    EXPECT_EQ(noted_length("sequence length 0"), std::nullopt);
    EXPECT_EQ(noted_length(""), std::nullopt);
}

TEST(HeadingSize, IsOneWordBeforeModel) {
    EXPECT_EQ(heading_size("README.md line 1565 (\"Large model\", column \"tok/s\")"), "Large");
    EXPECT_EQ(heading_size("README.md (\"Our large model\")"), "");
    EXPECT_EQ(heading_size("README.md (\"Base\", \"a model\")"), "");
    EXPECT_EQ(heading_size("(\""), "");
    EXPECT_EQ(heading_size(""), "");
}

/// The framework that a source, its table and the model's name are recognised as.
std::string recognised_as(std::vector<FrameworkRecogniser> const& words, std::string const& source,
                          std::string const& place = "", std::string const& model = "") {
    auto const table = read_csv("source_repo_or_paper,source_path_or_table,model_name\n" + csv_cell(source) + "," +
                                    csv_cell(place) + "," + csv_cell(model) + "\n",
                                "own.csv");
    return recognised(words, RunCells{table, table.records.at(0), "own.csv"}).name;
}

TEST(Recognised, ReadsRepositoriesBeforeTheirOwners) {
    auto const table = recognisers(training::catalog());
    EXPECT_EQ(recognised_as(table, "huggingface/nanotron docs/benchmark.md"), "nanotron");
    EXPECT_EQ(recognised_as(table, "Lightning-AI/lit-gpt tutorials"), "litgpt");
    EXPECT_EQ(recognised_as(table, "Zheng et al. 2024, LlamaFactory"), "") << "inside a word";
    EXPECT_EQ(recognised_as(table, "openlm-research/open_llama"), "");
    EXPECT_EQ(recognised_as(table, "huggingface/pytorch-image-models results"), "pytorch");
    EXPECT_EQ(recognised_as(table, "Shoeybi et al. 2019, Megatron-LM (arXiv 1909.08053)"), "megatron-2021")
        << "its year";
    EXPECT_EQ(recognised_as(table, "Megatron-LM (arXiv 2004.08900)"), "megatron-core") << "a number";
}

TEST(Runs, SelectiveIsWhatTheirSoftwareCallsSo) {
    auto const recompute = [](std::string const& framework) {
        return read_runs(
                   "id,source_family,model_name,framework,activation_recompute,seq_len,accelerator,accelerators_total,"
                   "precision,global_batch_sequences,samples_per_s\n1,own,llama-3-8b," +
                       framework + ",selective,8192,H100-80GB,64,bf16,128,50\n",
                   "own.csv", training::catalog())
            .at(0)
            .question->strategy.recompute;
    };
    EXPECT_EQ(recompute("torchtitan"), Recompute::alternate) << "every second product is kept";
    EXPECT_EQ(recompute("megatron-core"), Recompute::selective);
}

TEST(Runs, OfImageTransformersHaveClassesAndSeeAllTokens) {
    // Expectation: of a ViT without a vocabulary one token of 197 meets 1,000 classes, not each a vocabulary of words.
    auto const runs =
        read_runs("id,source_family,model_name,arch,layers,hidden,heads,seq_len,accelerator,accelerators_total,"
                  "precision,global_batch_sequences,samples_per_s\n1,own,ViT-Ti/16,vit,12,192,3,197,A100-80GB,1,"
                  "bf16,256,5000\n",
                  "own.csv", training::catalog());
    ASSERT_TRUE(runs.at(0).question);
    EXPECT_EQ(runs.at(0).question->model.vocab, 1000);
    EXPECT_FALSE(runs.at(0).question->model.causal);
    EXPECT_NEAR(runs.at(0).question->model.head_share, 1.0 / 197.0, 1e-12);
}

/// The framework of a row with these cells.
std::string framework_from(std::string const& source, std::string const& sharding, std::string const& notes,
                           std::string const& path = "", std::string const& vendor = "NVIDIA") {
    auto const table =
        read_csv("source_repo_or_paper,zero_stage_or_fsdp,notes,source_path_or_table\n" + csv_cell(source) + "," +
                     csv_cell(sharding) + "," + csv_cell(notes) + "," + csv_cell(path) + "\n",
                 "own.csv");
    return framework_of(training::catalog(), recognisers(training::catalog()),
                        RunCells{table, table.records.at(0), "own.csv"}, vendor);
}

TEST(FrameworkOfARow, IsNamedByClausesThatSayNothingElse) {
    EXPECT_EQ(framework_from("a page", "", "GPT-NeoX, flash attention; derived"), "gpt-neox");
    EXPECT_EQ(framework_from("a page", "DeepSpeed ZeRO-3", "HF Trainer; batch 4"), "hf-deepspeed");
    EXPECT_EQ(framework_from("a page", "DeepSpeed ZeRO-3", "batch 4"), "hf-deepspeed");
    EXPECT_EQ(framework_from("huggingface/blog post", "DeepSpeed ZeRO-2", "bf16"), "hf-deepspeed");
    EXPECT_EQ(framework_from("a page", "", "Composer 0.19, torch 2.2"), "llm-foundry");
    EXPECT_EQ(framework_from("a page", "", "faster than Megatron-LM; measured by its author"), "") << "a remark";
    EXPECT_EQ(framework_from("a page", "", "torchtitan; nanotron"), "") << "two of them";
    EXPECT_EQ(framework_from("pytorch/torchtitan", "", "nanotron"), "torchtitan") << "the source goes first";
    EXPECT_EQ(framework_from("NVIDIA/dgxc-benchmarking", "", "", "maxtext/README_70b.md"), "maxtext") << "a folder";
    EXPECT_EQ(framework_from("mlcommons/training_results_v4.0", "", "MaxText (int8)"), "mlperf-nemo");
    EXPECT_EQ(framework_from("mlcommons/training_results_v4.0", "", "MaxText (int8)", "", "Google"), "maxtext");
    EXPECT_EQ(framework_from("mlcommons/training_results_v4.0", "", "", "", "Intel"), "mlperf-nemo") << "nothing else";
}

TEST(Recognised, TakesTheLongestWordThenTheYear) {
    std::vector<FrameworkRecogniser> const table{{"old", 2019, {"megatron-lm"}},
                                                 {"new", 2023, {"megatron-lm"}},
                                                 {"port", 2021, {"megatron-lm-deepspeed"}},
                                                 {"none", 2020, {""}}};
    EXPECT_EQ(recognised_as(table, "NVIDIA/Megatron-LM 2021-04-01"), "old");
    EXPECT_EQ(recognised_as(table, "NVIDIA/Megatron-LM 2023-04-01"), "new");
    EXPECT_EQ(recognised_as(table, "NVIDIA/Megatron-LM 2026-04-01"), "new");
    EXPECT_EQ(recognised_as(table, "NVIDIA/Megatron-LM"), "new");
    EXPECT_EQ(recognised_as(table, "NVIDIA/Megatron-LM 2018-04-01"), "old"); // both are younger: the nearest
    EXPECT_EQ(recognised_as(table, "a fork of Megatron-LM-DeepSpeed 2026-04-01"), "port");
    EXPECT_EQ(recognised_as(table, "nanoGPT 2023-04-01"), "");
    EXPECT_EQ(recognised_as({}, "Megatron-LM 2023-04-01"), "");
}

TEST(Recognised, WordsOfTwoPlacesMustAllBeInTheirs) {
    std::vector<FrameworkRecogniser> const table{
        {"any", 2019, {"examples"}},
        {"first", 2019, {"examples & tensorflow/"}},
        {"second", 2019, {"examples & tensorflow2/", "reports & [tensorflow 2"}},
        {"three", 2019, {"reports & table & [mxnet"}},
        {"odd", 2019, {" & mxnet", "reports & "}}};
    EXPECT_EQ(recognised_as(table, "Examples", "TensorFlow/bert"), "first");
    EXPECT_EQ(recognised_as(table, "Examples", "TensorFlow2/bert"), "second");
    EXPECT_EQ(recognised_as(table, "Examples", "PyTorch/bert"), "any");
    EXPECT_EQ(recognised_as(table, "TensorFlow/ Examples"), "any"); // the second part is not in the table
    EXPECT_EQ(recognised_as(table, "TensorFlow/", "Examples"), "");
    EXPECT_EQ(recognised_as(table, "Reports", "a table", "BERT [TensorFlow 2.x]"), "second"); // beside the model's name
    EXPECT_EQ(recognised_as(table, "Reports", "a table", "BERT [MXNet]"), "three");
    EXPECT_EQ(recognised_as(table, "Reports", "", "BERT [MXNet]"), "odd"); // a part without words asks for nothing
    EXPECT_EQ(recognised_as(table, "", "mxnet"), "");
}

TEST(Recognised, KnowsTheSourcesOfTheCatalog) {
    auto const table = recognisers(training::catalog());
    EXPECT_EQ(recognised_as(table, "mosaicml/llm-foundry @8c8dd48f7 2025-07-21"), "llm-foundry");
    EXPECT_EQ(recognised_as(table, "Narayanan et al. 2021-04-09"), "megatron-2021");
    EXPECT_EQ(recognised_as(table, "NVIDIA/Megatron-LM README 2025-01-01"), "megatron-core");
    EXPECT_EQ(recognised_as(table, "bigscience-workshop 2022-01-01"), "megatron-deepspeed");
    auto const headed = [&table](char const* heading) {
        return recognised_as(table, "bigscience-workshop 2022-01-01",
                             std::string{"a.md (section \""} + heading + "\")");
    };
    EXPECT_EQ(headed("Megatron"), "megatron-2021"); // without DeepSpeed
    EXPECT_EQ(headed("Megatron + Deepspeed 3D"), "megatron-deepspeed");
    EXPECT_EQ(recognised_as(table, "AI-Hypercomputer/maxtext 2024-01-01"), "maxtext");
    auto const examples = [&table](char const* place) {
        return recognised_as(table, "NVIDIA/DeepLearningExamples @729963dd 2024-04-04", place);
    };
    EXPECT_EQ(examples("MxNet/Classification/RN50v1.5/README.md"), "mxnet-horovod");
    EXPECT_EQ(examples("TensorFlow/LanguageModeling/BERT/README.md"), "tensorflow1-horovod");
    EXPECT_EQ(examples("TensorFlow2/LanguageModeling/BERT/README.md"), "tensorflow2-horovod");
    EXPECT_EQ(examples("PyTorch/LanguageModeling/BERT/README.md"), "pytorch-apex");
    EXPECT_EQ(examples("PaddlePaddle/LanguageModeling/BERT/README.md"), "paddle-fleet");
    auto const report = [&table](char const* model) {
        return recognised_as(table, "Oneflow-Inc/DLPerf @c89430b 2022-01-21", "reports/v1.md", model);
    };
    EXPECT_EQ(report("BERT-Base [OneFlow W/O clip]"), "oneflow");
    EXPECT_EQ(report("BERT-Base [NGC PyTorch bsz=48]"), "pytorch-apex");
    EXPECT_EQ(report("ResNet-50 v1.5 [PyTorch]"), "pytorch-ddp-2020");
    EXPECT_EQ(report("BERT-Base [MXNet W/O clip]"), "mxnet-horovod");
    EXPECT_EQ(report("BERT-Base [NGC TensorFlow 1.x]"), "tensorflow1-horovod");
    EXPECT_EQ(report("BERT-Base [TensorFlow 2.x official]"), "tensorflow2-official");
    auto const round = [&table](char const* place) {
        return recognised_as(table, "mlcommons/training_results_v4.0 @6fe9543 2024-06-11", place);
    };
    EXPECT_EQ(round("NVIDIA/results/eos/bert/result_0.txt"), "pytorch-mlperf-bert");
    EXPECT_EQ(round("NVIDIA/results/eos/resnet/result_0.txt"), "mxnet-mlperf");
    EXPECT_EQ(round("NVIDIA/results/eos/gpt3/result_0.txt"), "mlperf-nemo");
}

/// A cell that no rule understands is assumed and counted, as is a row that stands twice.
TEST(RunsIssues, CellsThatAreNotUnderstoodAndRowsThatStandTwice) {
    auto cells = whole_row();
    cells["precision"] = "int3";
    cells["activation_recompute"] = "maybe";
    cells["zero_stage_or_fsdp"] = "ZeRO-9";
    std::string const text = table_of(cells), row = text.substr(text.find('\n') + 1);
    std::vector<Issue> issues;
    EXPECT_EQ(read_runs(text + row, "runs.csv", training::catalog(), &issues).size(), 2U);
    std::map<std::string, std::uint64_t> counts;
    for (Issue const& one : issues) { counts[one.kind] += one.count; }
    EXPECT_EQ(counts["cell not understood"], 6U);
    EXPECT_EQ(counts["row that stands twice"], 1U);
    issues.clear();
    read_runs(table_of(whole_row()), "runs.csv", training::catalog(), &issues);
    EXPECT_TRUE(issues.empty());
}

} // namespace
} // namespace headroom::io
