#include "headroom/error.hpp"
#include "headroom/fit/calibration_answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

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
