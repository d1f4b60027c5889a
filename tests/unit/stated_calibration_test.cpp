#include "support/training.hpp"

#include "headroom/io/stated_calibration.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr char const* partial = R"(partial = true
[bands.mixture]
low = 0.5
high = 2.0
[pace.mystack]
factor = 1.25
[likeness.dense]
site = 0.01
model = 0.002
workload = 0.0
layout = 0.0
replica = 0.0
noise = 0.001
pairs = 7
[constants.kernel_gap]
value = 1e-5
provenance = "given"
[[measured]]
model = "llama-3-8b"
step_seconds = "6.9"
)";

TEST(StatedCalibration, HoldsWhatTheFileStatesAndNothingElse) {
    auto const found = read_stated_calibration(partial, "mine.toml");
    EXPECT_FALSE(found.whole);
    ASSERT_EQ(found.states.constants.size(), 1U);
    EXPECT_EQ(found.states.constants[0].first, Constant::kernel_gap);
    EXPECT_EQ(found.states.constants[0].second.value, 1e-5);
    ASSERT_EQ(found.bands.size(), 1U);
    EXPECT_EQ(found.bands.at(Extrapolation::mixture).high, 2.0);
    EXPECT_FALSE(found.bands_alone);
    EXPECT_FALSE(found.seen);
    EXPECT_EQ(found.pace.at("mystack").factor, 1.25);
    ASSERT_TRUE(found.dense);
    EXPECT_EQ(found.dense->pairs, 7);
    EXPECT_FALSE(found.mixtures);
    EXPECT_EQ(found.states.entries.size(), 1U);
}

TEST(StatedCalibration, IsWrittenAndReadAgainUnchanged) {
    auto const first = read_stated_calibration(partial, "mine.toml");
    auto const again = read_stated_calibration(write_stated_calibration(first, {"a comment"}), "again.toml");
    EXPECT_EQ(again.bands, first.bands);
    EXPECT_EQ(again.pace.at("mystack").factor, 1.25);
    EXPECT_EQ(again.dense->noise, first.dense->noise);
    EXPECT_FALSE(again.mixtures);
    EXPECT_EQ(again.states.constants.size(), 1U);
    EXPECT_EQ(again.states.entries[0].words, first.states.entries[0].words);
}

TEST(StatedCalibration, AnOlderFilesBandsHoldAlone) {
    // Expectation: [bands.stated] takes the place of all bands below, so what is written has to do so too.
    auto const first = read_stated_calibration("partial = true\n[bands.stated]\nlow = 0.7\nhigh = 1.4\n", "old.toml");
    EXPECT_TRUE(first.bands_alone);
    std::string const text = write_stated_calibration(first, {});
    EXPECT_NE(text.find("[bands.stated]"), std::string::npos);
    CalibrationSet below;
    below.bands[Extrapolation::own_kernels] = {};
    EXPECT_EQ(read_calibration(text, "again.toml", below).bands.size(), 1U);
}

TEST(StatedCalibration, AFileOfAllConstantsIsWhole) {
    auto const text = training::catalog().text(RecordKind::calibration, "training").content;
    auto const found = read_stated_calibration(text, "training.toml");
    EXPECT_TRUE(found.whole);
    EXPECT_EQ(found.states.constants.size(), constants().size());
    EXPECT_EQ(found.bands, training::catalog().calibration("training").bands);
    EXPECT_TRUE(found.dense);
    EXPECT_TRUE(found.seen);
}

} // namespace
} // namespace headroom::io
