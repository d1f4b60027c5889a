#include "support/training.hpp"

#include "headroom/io/csv.hpp"
#include "headroom/io/embedded.hpp"
#include "headroom/io/runs.hpp"
#include "headroom/training/plan_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace headroom::io {

using namespace headroom::training;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Cells = std::map<std::string, std::string>;

Cells row(std::string const& id, Cells const& changes) {
    Cells cells{{"id", id},
                {"source_repo_or_paper", "someone/something @abc 2023-05-01"},
                {"source_path_or_table", "page.md line " + id.substr(1) + " (section \"one\")"},
                {"source_family", "someone"},
                {"arch", "dense_transformer"},
                {"model_name", "a model of our own"},
                {"layers", "40"},
                {"hidden", "5120"},
                {"heads", "40"},
                {"seq_len", "2048"},
                {"accelerator", "A100-80GB"},
                {"accelerators_total", "64"},
                {"accelerators_per_node", "8"},
                {"precision", "bf16"},
                {"global_batch_sequences", "256"},
                {"micro_batch", "4"},
                {"grad_accum", ""},
                {"dp", "8"},
                {"tp", "8"},
                {"pp", "1"},
                {"virtual_pp", ""},
                {"cp", ""},
                {"activation_recompute", "full"},
                {"measured_step_seconds", "10"},
                {"notes", ""}};
    for (auto const& [column, cell] : changes) { cells.at(column) = cell; }
    return cells;
}

std::vector<PublishedRun> read(std::vector<Cells> const& rows) {
    std::string text;
    for (auto const& [column, cell] : rows.front()) { text += (text.empty() ? "" : ",") + column; }
    for (auto const& cells : rows) {
        std::string line;
        for (auto const& [column, cell] : cells) { line += (line.empty() ? "\n" : ",") + csv_cell(cell); }
        text += line;
    }
    return read_runs(text + "\n", "runs.csv", training::catalog());
}

PublishedRun read_one(Cells const& changes) { return read({row("X1", changes)}).front(); }

/// A row with a column of a rate in addition to its step.
PublishedRun read_with(char const* column, std::string const& cell, Cells const& changes = {}) {
    Cells cells = row("X1", changes);
    cells[column] = cell;
    return read({cells}).front();
}

std::vector<std::string> rules(std::vector<Cells> const& rows) {
    std::vector<std::string> found;
    for (auto const& run : read(rows)) { found.push_back(run.dropped_by); }
    return found;
}

TEST(SuspectRuns, DegreesNeedNoMoreAcceleratorsThanThereAre) {
    EXPECT_EQ(read_one({}).dropped_by, "");
    auto const more = read_one({{"accelerators_total", "16"}, {"tp", "4"}, {"pp", "8"}, {"dp", "1"}});
    EXPECT_EQ(more.dropped_by, "impossible degrees");
    EXPECT_EQ(more.dropped_because, "tp 4 x pp 8 on 16 accelerators");
    EXPECT_EQ(read_one({{"pp", "3"}, {"dp", ""}}).dropped_by, "impossible degrees"); // 24 do not divide 64
    EXPECT_EQ(read_one({{"dp", "16"}}).dropped_because, "tp 8 x pp 1 x dp 16 on 64 accelerators");
    EXPECT_EQ(read_one({{"dp", "2"}}).dropped_by, ""); // tables print outer degrees of sharded runs
    EXPECT_EQ(read_one({{"tp", ""}, {"dp", ""}, {"pp", ""}}).dropped_by, "");
}

TEST(SuspectRuns, ASourceMayCallItsOwnConfigurationWrong) {
    auto const run = read_one({{"notes", "8 GPUs a node; SOURCE SAYS it ran with the wrong width | derived: 3"}});
    EXPECT_EQ(run.dropped_by, "wrong by its source");
    EXPECT_EQ(run.dropped_because, "SOURCE SAYS it ran with the wrong width ");
    EXPECT_TRUE(run.question.has_value()); // it stays in the list, predicted
    EXPECT_EQ(read_one({{"notes", "exploratory single measurements, network fluctuates (source)"}}).dropped_by, "");
}

TEST(SuspectRuns, RunsFarFromTheirRepeatsAreDroppedEitherWay) {
    auto const slow = read({row("X1", {}), row("X2", {}), row("X3", {{"measured_step_seconds", "15.1"}})});
    EXPECT_EQ(slow[2].dropped_by, "far from its repeats");
    EXPECT_EQ(slow[2].dropped_because, "15.1 s, where the median of 3 runs is 10 s");
    EXPECT_TRUE(slow[0].counts());
    EXPECT_THAT(rules({row("X1", {}), row("X2", {}), row("X3", {{"measured_step_seconds", "6.6"}})}),
                ElementsAre("", "", "far from its repeats"));
    EXPECT_THAT(rules({row("X1", {}), row("X2", {}), row("X3", {{"measured_step_seconds", "14.9"}})}),
                ElementsAre("", "", ""));
    // two runs that disagree say nothing of each other, nor do other configurations
    EXPECT_THAT(rules({row("X1", {}), row("X2", {{"measured_step_seconds", "40"}})}), ElementsAre("", ""));
    EXPECT_THAT(
        rules({row("X1", {}), row("X2", {}), row("X3", {{"measured_step_seconds", "40"}, {"micro_batch", "2"}})}),
        ElementsAre("", "", ""));
}

TEST(SuspectRuns, WhatRanBesideAFarRunIsSuspectToo) {
    Cells const that_day{{"notes", "notes column \"05-26\""}};
    auto with = [](Cells cells, Cells const& more) {
        cells.insert(more.begin(), more.end());
        return cells;
    };
    EXPECT_THAT(
        rules({row("X1", {}), row("X2", {}), row("X3", with(that_day, {{"measured_step_seconds", "30"}})),
               row("X4", with(that_day, {{"global_batch_sequences", "512"}})),
               row("X5",
                   with(that_day, {{"global_batch_sequences", "512"}, {"accelerators_total", "128"}, {"dp", "16"}})),
               row("X6", {{"notes", "notes column \"05-27\""}, {"global_batch_sequences", "512"}})}),
        ElementsAre("", "", "far from its repeats", "taken with such a run", "", ""));
}

/// The rows that validation/README.md names, and no others.
TEST(SuspectRuns, ThePublishedTableHasThoseThatItsRulesName) {
    std::string_view csv;
    for (auto const& file : embedded_files()) {
        if (file.path == "validation/published_runs.csv") { csv = file.content; }
    }
    std::map<std::string, std::vector<std::string>> found;
    for (auto const& run : read_runs(csv, "published_runs.csv", training::catalog())) {
        if (!run.counts()) { found[run.dropped_by].push_back(run.id); }
    }
    EXPECT_EQ(found.size(), 4U);
    EXPECT_THAT(found["impossible degrees"], ElementsAre("R2259", "R2260", "R2261", "R2264", "R2265"));
    EXPECT_THAT(found["wrong by its source"], ElementsAre("R2351", "R2353", "R2354"));
    EXPECT_THAT(found["far from its repeats"], ElementsAre("R2271", "R2273"));
    EXPECT_THAT(found["taken with such a run"], ElementsAre("R2274", "R2275", "R2276", "R2277"));
}

TEST(SuspectRuns, ADroppedRunIsInNoFigure) {
    PublishedRun run;
    run.id = "X1";
    run.states_enough = true;
    PublishedRun suspect = run;
    suspect.id = "X2";
    suspect.dropped_by = "some rule";
    std::vector<RunComparison> const rows{{.run = &run, .predicted = Seconds{1.0}, .relative_error = 0.1},
                                          {.run = &suspect, .predicted = Seconds{1.0}, .relative_error = 0.5}};
    auto const dropped = summarise(rows);
    EXPECT_EQ(dropped.rows, 1);
    EXPECT_EQ(dropped.dropped, 1);
    EXPECT_EQ(dropped.states_enough, 1);
    EXPECT_DOUBLE_EQ(dropped.mean_absolute_error, 0.1);
    auto const kept = summarise(rows, Suspects::kept);
    EXPECT_EQ(kept.rows, 2);
    EXPECT_DOUBLE_EQ(kept.mean_absolute_error, 0.3);
    auto const by_rule = dropped_rows(rows);
    ASSERT_EQ(by_rule.size(), 1U);
    EXPECT_EQ(by_rule[0].rule, "some rule");
    EXPECT_EQ(by_rule[0].runs.front()->id, "X2");
}

// ---- what a row states --------------------------------------------------------------------------------------------------

TEST(SpecifiedRuns, NotesAndStacksFixVirtualStages) {
    Cells const pipeline{{"pp", "2"}, {"dp", "4"}};
    auto with = [&pipeline](Cells more) {
        more.insert(pipeline.begin(), pipeline.end());
        return read_one(more);
    };
    EXPECT_TRUE(with({}).structural_assumption);
    EXPECT_FALSE(with({{"virtual_pp", "1"}}).structural_assumption);
    EXPECT_FALSE(with({{"notes", "use_checkpoint true, 1f1b"}}).structural_assumption);
    EXPECT_FALSE(with({{"notes", "TP / PP / virtual stage taken from run.sh"}}).structural_assumption);
    EXPECT_FALSE(with({{"source_repo_or_paper", "bigscience-workshop/bigscience"}}).structural_assumption);
}

/// 256 sequences of 2048 tokens in 10 s on 64 accelerators are 819.2 tokens a second of each.
TEST(SuspectRuns, FiguresOfARowThatContradictEachOther) {
    for (auto const& [column, cell] : {std::pair{"measured_tokens_per_s_per_gpu", "8192"},
                                       {"measured_tokens_per_s_total", "5242.88"},
                                       {"samples_per_s", "256"}}) {
        auto const run = read_with(column, cell);
        EXPECT_EQ(run.dropped_by, "figures contradict") << column;
        EXPECT_THAT(run.dropped_because, HasSubstr("a step of 10 s")) << column;
    }
    EXPECT_EQ(read_with("measured_tokens_per_s_per_gpu", "1500").dropped_by, "") << "less than a factor of two";
    EXPECT_EQ(read_with("measured_tokens_per_s_per_gpu", "not stated").dropped_by, "");
    EXPECT_EQ(read_with("samples_per_s", "256", {{"seq_len", ""}, {"notes", "sequence length 2048"}}).dropped_by, "")
        << "what is not stated is no contradiction";
}

/// 6 x 13e9 x 524,288 operations on 64 x 312e12 a second are 2 s at least.
TEST(SuspectRuns, NoRunIsFasterThanThePeakOfItsAccelerators) {
    auto const run = read_one({{"measured_step_seconds", "1"}});
    EXPECT_EQ(run.dropped_by, "above the peak");
    EXPECT_THAT(run.dropped_because, HasSubstr("% of the peak of its accelerators"));
    EXPECT_EQ(read_one({{"measured_step_seconds", "2.6"}}).dropped_by, "");
    EXPECT_EQ(read_one({{"measured_step_seconds", "0.1"}, {"global_batch_sequences", ""}}).dropped_by, "")
        << "its batch is a guess";
    Cells const hopper{{"accelerator", "H100-80GB"}, {"measured_step_seconds", "0.5"}};
    EXPECT_EQ(read_one(hopper).dropped_by, "above the peak") << "bf16 is stated";
    Cells unsaid = hopper;
    unsaid["precision"] = "";
    EXPECT_EQ(read_one(unsaid).dropped_by, "") << "it may be fp8";
}

/// 6 x 13e9 x 524,288 operations in 4,000 s are 0.05 % of the peak: 4,000 ms stand below a head of seconds.
TEST(SuspectRuns, NoRunNeedsAThousandthOfThePeakAlone) {
    auto const run = read_one({{"measured_step_seconds", "4000"}});
    EXPECT_EQ(run.dropped_by, "below a thousandth of the peak");
    EXPECT_THAT(run.dropped_because, HasSubstr("check the unit"));
    EXPECT_EQ(read_one({{"measured_step_seconds", "400"}}).dropped_by, "");
}

TEST(SpecifiedRuns, ArithmeticIsNoAssumption) {
    EXPECT_FALSE(read_one({{"dp", ""}}).structural_assumption);
    EXPECT_FALSE(read_one({{"micro_batch", ""}, {"grad_accum", "8"}}).structural_assumption);
    EXPECT_FALSE(read_one({{"global_batch_sequences", ""}, {"grad_accum", "8"}}).structural_assumption);
    EXPECT_TRUE(read_one({{"global_batch_sequences", ""}}).structural_assumption); // accumulation may be anything
    EXPECT_TRUE(read_one({{"pp", ""}, {"tp", ""}, {"dp", ""}}).structural_assumption);
}

TEST(SpecifiedRuns, DimensionsOfAKnownNameAreNotStated) {
    auto const run = read_one({{"model_name", "llama-2-13b"}, {"layers", ""}});
    ASSERT_TRUE(run.question.has_value()) << run.skipped_reason;
    EXPECT_TRUE(run.structural_assumption);
    EXPECT_THAT(run.assumed, ::testing::Contains(HasSubstr("dimensions = those of")));
    EXPECT_FALSE(read_one({{"model_name", "llama-2-13b"}}).structural_assumption);
}

} // namespace
} // namespace headroom::io
