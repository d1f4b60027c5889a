#include "support/training.hpp"

#include "headroom/io/runs.hpp"
#include "headroom/training/memory_validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace headroom::training {
namespace {

std::string const head = "id,source_family,arch,model_name,layers,hidden,heads,vocab,seq_len,accelerator,"
                         "accelerators_total,precision,global_batch_sequences,micro_batch,dp,tp,pp,"
                         "activation_recompute,measured_memory_gib_per_gpu,measured_step_seconds,notes\n";

/// A run of a 1.3B model on one A100.
std::string row(std::string const& id, std::string const& family, std::string const& memory, std::string const& notes,
                std::string const& accelerator = "A100-80GB") {
    return id + "," + family + ",dense_transformer,a model of our own,24,2048,16,50304,2048," + accelerator +
           ",1,bf16,8,1,1,1,1,full," + memory + ",," + notes + "\n";
}

std::vector<PublishedRun> read(std::string const& rows) { return io::read_runs(head + rows, "runs.csv", catalog()); }

MemoryErrors const& group(MemoryValidation const& validation, std::string const& by, std::string const& name) {
    auto const found = std::ranges::find_if(validation.groups,
                                            [&](MemoryGroup const& one) { return one.by == by && one.name == name; });
    if (found == validation.groups.end()) { throw std::runtime_error{"no group " + name}; }
    return found->errors;
}

TEST(ValidateMemory, ComparesEachKindWithItsOwnSum) {
    auto const runs =
        read(row("A", "one", "30", "memory = torch max allocated") + row("R", "one", "30", "memory = peak reserved") +
             row("P", "two", "30", "memory = nvidia-smi") + row("N", "two", "30", ""));
    auto const validation = validate_memory(runs, std::nullopt);
    ASSERT_EQ(validation.rows.size(), 4u);
    auto const& use = validation.rows[0].use;
    EXPECT_EQ(validation.rows[0].predicted, use.total());
    EXPECT_EQ(validation.rows[1].predicted, use.reserved());
    EXPECT_EQ(validation.rows[2].predicted, use.footprint());
    EXPECT_EQ(validation.rows[3].predicted, use.reserved());
    EXPECT_EQ(group(validation, "memory", "process").rows, 1);
    EXPECT_DOUBLE_EQ(group(validation, "memory", "allocated").median_error, use.total() / (30.0 * units::GiB) - 1.0);
}

TEST(ValidateMemory, FamiliesCountAlike) {
    // Three runs of one family are predicted exactly, two of another at twice their memory.
    auto const once = validate_memory(read(row("A", "one", "30", "")), std::nullopt);
    std::string const exact = std::to_string(once.rows[0].predicted.in(units::GiB));
    std::string const half = std::to_string(once.rows[0].predicted.in(units::GiB) / 2.0);
    std::string rows;
    for (char const* id : {"A", "B", "C"}) { rows += row(id, "one", exact, ""); }
    for (char const* id : {"D", "E"}) { rows += row(id, "two", half, ""); }
    auto const errors = validate_memory(read(rows), std::nullopt).all;
    EXPECT_EQ(errors.rows, 5);
    EXPECT_EQ(errors.families, 2);
    EXPECT_NEAR(errors.median_absolute_error, 0.0, 1e-5) << "the third of five";
    EXPECT_NEAR(errors.families_median_absolute_error, 0.5, 1e-5) << "half way between 0 and 1";
    EXPECT_NEAR(errors.families_p90_absolute_error, 1.0, 1e-5);
    EXPECT_EQ(errors.coverage, std::nullopt) << "no spread was given";
}

TEST(ValidateMemory, SaysWhichRunsItWouldHaveRefused) {
    // 1.3B parameters with 18 bytes each do not fit 16 GiB; the run did
    auto const validation = validate_memory(
        read(row("A", "one", "14", "", "V100-16GB") + row("B", "two", "30", "") + row("C", "three", "20", "")),
        MemorySpread{.state_share = 0.1, .seen = {0.2, 0.2}, .unseen = {0.3, 0.3}, .frameworks = {}});
    EXPECT_EQ(validation.all.refused, 1);
    EXPECT_FALSE(validation.rows[0].fits());
    ASSERT_TRUE(validation.rows[0].probability && validation.rows[1].probability);
    EXPECT_LT(*validation.rows[0].probability, 0.5);
    EXPECT_GT(*validation.rows[1].probability, 0.5);
    EXPECT_EQ(validation.least_probability, validation.rows[0].probability);
    EXPECT_TRUE(validation.rows[0].range);
}

TEST(ValidateMemory, AsksHowSureItIsOfRunsThatRanOut) {
    // Expectation: 1.3B parameters with 18 bytes each ran out on 16 GiB, and were given less than one half.
    auto const validation = validate_memory(
        read(row("A", "one", "OOM", "", "V100-16GB") + row("B", "two", "30", "") + row("C", "three", "20", "")),
        std::nullopt);
    EXPECT_EQ(validation.rows.size(), 2u) << "nothing was measured of the third";
    ASSERT_EQ(validation.ran_out.size(), 1u);
    ASSERT_TRUE(validation.greatest_probability);
    EXPECT_EQ(validation.greatest_probability, validation.ran_out[0].probability);
    EXPECT_LT(*validation.greatest_probability, 0.5);
    auto const targets = memory_targets(validation);
    auto const last = targets.back();
    EXPECT_EQ(last.value, validation.greatest_probability);
    EXPECT_TRUE(last.met());
}

TEST(ValidateMemory, NamesItsTargets) {
    // Expectation: a figure without a run is not met; of one with runs the families' median and the bar decide.
    auto const exact = validate_memory(read(row("A", "one", "30", "memory = nvidia-smi")), std::nullopt);
    for (auto const& target : memory_targets(exact)) {
        if (target.figure == "median error of process memory") {
            EXPECT_EQ(target.value, exact.all.families_median_absolute_error);
            EXPECT_EQ(target.met(), *target.value <= 0.08);
        }
        if (target.figure == "median error of allocated memory") {
            EXPECT_EQ(target.value, std::nullopt);
            EXPECT_FALSE(target.met());
        }
    }
}

TEST(ValidateMemory, CountsWhatItCannotPredict) {
    auto const runs =
        read(row("A", "one", "30", "") + row("B", "one", "30", "", "an abacus") + row("C", "one", "", "no memory"));
    auto const validation = validate_memory(runs, std::nullopt);
    EXPECT_EQ(validation.rows.size(), 1u);
    ASSERT_EQ(validation.skipped.size(), 1u);
    EXPECT_EQ(validation.skipped[0].run->id, "B");
    EXPECT_EQ(validation.least_probability, std::nullopt) << "one family leaves none to learn from";
}

} // namespace
} // namespace headroom::training
