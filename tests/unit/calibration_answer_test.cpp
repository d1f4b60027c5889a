#include "headroom/error.hpp"
#include "headroom/fit/calibration_answer.hpp"
#include "headroom/fit/trace_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace headroom::fit {

using namespace headroom::training;

namespace {

CalibratedConstant measured(double value, double low, double high) {
    return {.value = value,
            .low = low,
            .high = high,
            .independent = value,
            .spread = 0.0,
            .provenance = Provenance::measured,
            .source = "test",
            .sources = 1};
}

/// A calibration file that states one constant.
FileEvidence file_of(std::string const& name, CalibratedConstant const& constant, std::string const& system = "a") {
    FileEvidence file{.name = name, .states = {}, .whole = {}};
    file.states.states.constants.emplace_back(Constant::memory_fraction, constant);
    file.states.states.network.system = system;
    return file;
}

CalibrationAnswer answer_of(std::vector<FileEvidence> files) {
    CalibrationEvidence evidence;
    for (FileEvidence& file : files) { evidence.files.emplace_back(std::move(file)); }
    CalibrationAnswer answer = calibrate({}, std::move(evidence));
    join_constants(answer);
    return answer;
}

TEST(Calibrate, MeasuredConstantsAreJoinedByTheirWeights) {
    auto const answer =
        answer_of({file_of("one.toml", measured(0.8, 0.79, 0.81)), file_of("two.toml", measured(0.8, 0.78, 0.82))});
    ASSERT_EQ(answer.states.constants.size(), 1U);
    EXPECT_NEAR(answer.states.constants.front().second.value, 0.8, 1e-12);
    ASSERT_EQ(answer.disagreements.size(), 1U);
    EXPECT_EQ(answer.disagreements.front().of, Joined::constant);
    // An interval half as wide weighs about four times as much.
    EXPECT_NEAR(answer.constant_sources[0].weight / answer.constant_sources[1].weight, 4.0, 0.1);
    EXPECT_NEAR(answer.constant_sources[0].weight + answer.constant_sources[1].weight, 1.0, 1e-12);
}

TEST(Calibrate, AMeasuredConstantReplacesAGuess) {
    CalibratedConstant guess = measured(0.5, 0.5, 0.5);
    guess.provenance = Provenance::guessed;
    auto const answer = answer_of({file_of("one.toml", measured(0.8, 0.79, 0.81)), file_of("two.toml", guess)});
    EXPECT_EQ(answer.states.constants.front().second.value, 0.8);
    EXPECT_EQ(answer.constant_sources[1].weight, 0.0);
    EXPECT_FALSE(answer.constant_sources[1].why.empty());
    EXPECT_EQ(answer.notes.size(), 1U);
}

TEST(Calibrate, EvidenceOfTwoMachinesIsRefusedUnlessTheUserSaysItIsOne) {
    auto const two = [] {
        CalibrationEvidence evidence;
        evidence.files.emplace_back(file_of("one.toml", measured(0.8, 0.79, 0.81), "a"));
        evidence.files.emplace_back(file_of("two.toml", measured(0.8, 0.79, 0.81), "b"));
        return evidence;
    };
    EXPECT_THROW(calibrate({}, two()), CalibrationRefused);
    CalibrationQuestion const one{
        .system = "a", .store = {}, .accelerator = {}, .accelerators = {}, .catalog_name = {}};
    EXPECT_EQ(calibrate(one, two()).evidence.size(), 2U);
}

/// Nodes of the groups of 8 neighbours and of pairs of 16 ranks, by the names of their files.
std::vector<int> nodes_of_groups(std::function<std::string(int)> const& file, trace::TraceAnswer answer = {}) {
    for (int rank = 0; rank < 16; ++rank) {
        trace::RankDigest digest;
        digest.rank = rank;
        digest.source = file(rank);
        answer.ranks.push_back(std::move(digest));
    }
    for (std::vector<std::int64_t> const& members : {std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}, {0, 8}}) {
        trace::MatchedCollective one;
        one.collective = network::Collective::all_reduce;
        one.bytes = 1 << 20;
        one.members = members;
        one.ranks = static_cast<std::int32_t>(members.size());
        one.shortest = 1000;
        answer.collectives.matched.push_back(std::move(one));
    }
    std::vector<int> nodes;
    for (auto const& row : measured_collectives(answer, {.node_size = 8}).rows) { nodes.push_back(row.nodes); }
    return nodes;
}

TEST(Calibrate, RanksBeyondAFullNodeAreOnAnother) {
    std::vector<int> const pairs_cross{2, 1}; // pairs come first
    EXPECT_EQ(nodes_of_groups([](int rank) { return "rank" + std::to_string(rank) + ".json"; }), pairs_cross);
    EXPECT_EQ(nodes_of_groups([](int rank) {
                  return "node" + std::to_string(rank / 8) + "_" + std::to_string(100 + rank) + ".17.pt.trace.json";
              }),
              pairs_cross);
    EXPECT_EQ(nodes_of_groups([](int rank) { // the file says that ranks take turns on the nodes
                  return "node" + std::to_string(rank % 2) + "_" + std::to_string(100 + rank) + ".17.pt.trace.json";
              }),
              (std::vector<int>{1, 2}));
    EXPECT_EQ(nodes_of_groups([](int rank) { return "worker_" + std::to_string(rank) + ".17.pt.trace.json"; }),
              pairs_cross)
        << "one name for more ranks than a node holds names no node";
}

TEST(Calibrate, TwoStepsThatDifferAreNoted) {
    auto const notes = [](std::vector<Ticks> const& steps) {
        CalibrationEvidence evidence;
        evidence.traces.emplace();
        auto& rank = evidence.traces->traces.ranks.emplace_back();
        Ticks now = 0;
        for (Ticks const length : steps) {
            trace::StepShares& one = rank.breakdown.steps.emplace_back();
            one.step.number = static_cast<std::int64_t>(rank.breakdown.steps.size());
            one.step.begin = now;
            one.step.end = now += length;
        }
        auto const answer = calibrate({}, std::move(evidence));
        return std::ranges::count_if(answer.notes, [](auto const& note) {
            return !note.names.empty() && note.names.front().find("two steps") != std::string::npos;
        });
    };
    EXPECT_EQ(notes({900'000'000, 200'000'000}), 1);
    EXPECT_EQ(notes({210'000'000, 200'000'000}), 0);
    EXPECT_EQ(notes({900'000'000, 200'000'000, 200'000'000}), 0) << "three have a median";
}

TEST(Calibrate, TracesOfAVariantAreOfAnotherAccelerator) {
    auto const elsewhere = [](std::string const& device, std::string const& ours) {
        CalibrationQuestion question;
        question.accelerator = Accelerator{.name = ours};
        question.accelerators = {"h100-sxm-80gb", "h100-pcie-80gb", "rtx-4090"};
        question.catalog_name = [](std::string const& name) {
            std::map<std::string, std::string> const names{{"NVIDIA H100 PCIe", "h100-pcie-80gb"},
                                                           {"NVIDIA H100 80GB HBM3", "h100-sxm-80gb"},
                                                           {"h100-pcie-80gb", "h100-pcie-80gb"},
                                                           {"h100-sxm-80gb", "h100-sxm-80gb"}};
            auto const known = names.find(name);
            return known == names.end() ? std::string{} : known->second;
        };
        CalibrationEvidence evidence;
        evidence.traces.emplace();
        evidence.traces->traces.ranks.emplace_back().device.name = device;
        return !calibrate(question, std::move(evidence)).traced_elsewhere.empty();
    };
    EXPECT_FALSE(elsewhere("NVIDIA H100 80GB HBM3", "h100-sxm-80gb"));
    EXPECT_TRUE(elsewhere("NVIDIA H100 PCIe", "h100-sxm-80gb"));
    EXPECT_TRUE(elsewhere("NVIDIA H100 80GB HBM3", "h100-pcie-80gb"));
    EXPECT_TRUE(elsewhere("NVIDIA GeForce RTX 4090 D", "rtx-4090"));
    EXPECT_FALSE(elsewhere("NVIDIA GeForce RTX 4090", "rtx-4090"));
}

TEST(Calibrate, ACampaignWithoutSamplesIsMissingAndNamed) {
    CalibrationEvidence evidence;
    evidence.campaigns.push_back(
        {.id = 7, .kind = "comm", .name = {}, .settings = {}, .machine = {}, .points = {}, .samples = {}});
    auto const answer = calibrate({}, std::move(evidence));
    ASSERT_EQ(answer.missing.size(), 1U);
    EXPECT_EQ(answer.evidence.front().kind, EvidenceKind::campaign);
    EXPECT_FALSE(answer.states_anything());
}

TEST(Calibrate, WeakScalingNeedsTheNumberOfWorkers) {
    CalibrationAnswer answer;
    ScalingSteps scaling{.name = "campaign 1", .measured = {}};
    scaling.measured.weak = true;
    scaling.measured.steps = {{.workers = 1, .samples = 5, .seconds = {1.0, 0.9, 1.1}},
                              {.workers = 2, .samples = 5, .seconds = {1.2, 1.1, 1.3}}};
    EXPECT_TRUE(steps_to_keep(scaling, {}, answer).empty());
    EXPECT_EQ(answer.missing.size(), 1U);
    ASSERT_EQ(steps_to_keep(scaling, 2, answer).size(), 1U);
    EXPECT_TRUE(scaling.kept);
}

TEST(Calibrate, ExplainedConstantsBeginWithTheBestOrigin) {
    auto answer = answer_of({file_of("one.toml", measured(0.8, 0.79, 0.81))});
    CalibrationSet below;
    below[Constant::memory_fraction].provenance = Provenance::guessed;
    answer.effective = effective(answer, below);
    auto const all = explained_constants(answer);
    ASSERT_EQ(all.size(), constants().size());
    EXPECT_EQ(all.front().info.id, Constant::memory_fraction);
    EXPECT_EQ(all.front().sources.size(), 1U);
    EXPECT_TRUE(std::ranges::is_sorted(all, {}, [](auto const& one) { return one.constant.provenance; }));
}

// A remark is an enumerator with data; each has a sentence of its own.
TEST(CalibrationNote, EveryRemarkHasWords) {
    std::set<std::string> sentences;
    int const last = static_cast<int>(CalibrationRemark::other_workers);
    for (int i = 0; i <= last; ++i) {
        CalibrationNote const note{static_cast<CalibrationRemark>(i), {"one", "two", "three", "four"}, 0.5, 2};
        EXPECT_NE(words_of(note), "") << i;
        EXPECT_TRUE(sentences.insert(words_of(note)).second) << words_of(note);
    }
    EXPECT_EQ(words_of(CalibrationNote{CalibrationRemark::failed, {"comm 3"}, 0.0, 1}),
              "comm 3: 1 sample failed and left out");
    EXPECT_EQ(words_of(CalibrationNote{CalibrationRemark::machines_differ, {"a", "b", "cores", "clock"}, 0.0, 3}),
              "a and b were taken on machines that differ in cores, clock and 3 more");
}

} // namespace
} // namespace headroom::fit
