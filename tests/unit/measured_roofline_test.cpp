// Answers from the points of a campaign together: peaks, ridges, kernels under the roof, and reasons to distrust them.

#include "headroom/error.hpp"
#include "headroom/measure/measured_roofline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::measure;

namespace {

/// A campaign whose repetitions scatter by less than a percent about the values that are given.
class Fake {
public:
    Fake& add(std::string label, Facts parameters, double value, std::string unit = "flops/second") {
        auto const point = static_cast<std::uint32_t>(campaign.points.size());
        campaign.points.push_back({std::move(label), std::move(parameters), std::move(unit)});
        for (std::uint32_t i = 0; i < 7; ++i) {
            auto const outcome = i == 0 ? SampleOutcome::warm_up : SampleOutcome::measured;
            double const factor = i == 0 ? 0.01 : 1.0 + 0.001 * ((i * 5) % 7 - 3.0);
            campaign.samples.push_back({.point = point, .repetition = i, .value = value * factor, .outcome = outcome});
        }
        return *this;
    }
    Fake& peak(std::string set, double value, std::string threads = "1") {
        return add("peak " + set + threads,
                   {{"quantity", "peak"}, {"precision", "fp32"}, {"instruction_set", set}, {"threads", threads}},
                   value);
    }
    Fake& product(std::string library, double value, std::string freed = "") {
        Facts parameters{
            {"quantity", "product"}, {"precision", "fp32"}, {"library", library}, {"order", "64"}, {"threads", "1"}};
        if (!freed.empty()) { parameters.emplace_back("freed", freed); }
        return add("product " + library + freed, parameters, value);
    }
    Fake& level(std::string name, double value, double capacity, std::string kernel = "read") {
        return add("bandwidth " + name + kernel,
                   {{"quantity", "bandwidth"},
                    {"level", name},
                    {"kernel", kernel},
                    {"capacity", std::to_string(capacity)},
                    {"threads", "1"}},
                   value, "bytes/second");
    }
    Fake& kernel(std::string name, double operations, double bytes, double touched, double value) {
        return add("kernel " + name,
                   {{"quantity", "kernel"},
                    {"kernel", name},
                    {"precision", "fp32"},
                    {"operations", std::to_string(operations)},
                    {"bytes", std::to_string(bytes)},
                    {"touched", std::to_string(touched)},
                    {"threads", "1"}},
                   value);
    }
    Campaign campaign;
};

bool says(std::vector<std::string> const& doubts, std::string_view word) {
    return std::ranges::any_of(doubts, [&](std::string const& one) { return one.find(word) != std::string::npos; });
}

TEST(MeasuredRoofline, TakesTheFastestInstructionsAndKernelsOfALevel) {
    Fake fake;
    fake.peak("SSE4", 20e9).peak("AVX2", 80e9).product("OpenBLAS", 70e9);
    fake.level("memory", 10e9, 1e9).level("memory", 8e9, 1e9, "triad").level("L1", 100e9, 32e3);
    MeasuredRoofline const roofline{fake.campaign};
    auto const* const peak = roofline.peak("fp32", 1);
    ASSERT_NE(peak, nullptr);
    EXPECT_EQ(peak->roof->of("instruction_set"), "AVX2");
    EXPECT_EQ(peak->product->of("library"), "OpenBLAS");
    EXPECT_NEAR(peak->roof->summary.median, 80e9, 0.1e9) << "the warm-up does not count";
    auto const levels = roofline.levels(1);
    ASSERT_EQ(levels.size(), 2U);
    EXPECT_EQ(levels.front()->of("level"), "L1");
    EXPECT_NEAR(levels.back()->summary.median, 10e9, 0.1e9);
    auto const ridge = std::ranges::find(roofline.ridges, "memory", &MeasuredRidge::level);
    ASSERT_NE(ridge, roofline.ridges.end());
    EXPECT_NEAR(ridge->flops_per_byte, 8.0, 0.05);
    EXPECT_LT(ridge->low, ridge->flops_per_byte);
    EXPECT_GT(ridge->high, ridge->flops_per_byte);
    EXPECT_TRUE(doubts_of(roofline, fake.campaign).empty());
}

TEST(MeasuredRoofline, PutsAKernelUnderTheLevelThatHoldsItsData) {
    Fake fake;
    fake.peak("AVX2", 80e9).level("L1", 100e9, 32e3).level("memory", 10e9, 1e9);
    fake.kernel("near", 16e3, 16e3, 16e3, 45e9); // 1 operation a byte in L1: a roof of 80 GFLOP/s, that of arithmetic
    fake.kernel("far", 1e6, 1e6, 1e6, 9.5e9);    // the same in memory: 10 GFLOP/s
    MeasuredRoofline const roofline{fake.campaign};
    ASSERT_EQ(roofline.kernels.size(), 2U);
    EXPECT_EQ(roofline.kernels[0].bound, Bound::compute);
    EXPECT_NEAR(roofline.kernels[0].share, 45.0 / 80.0, 0.01);
    EXPECT_EQ(roofline.kernels[1].bound, Bound::memory);
    EXPECT_EQ(roofline.kernels[1].level->of("level"), "memory");
    EXPECT_NEAR(roofline.kernels[1].share, 0.95, 0.01);
    EXPECT_LT(roofline.kernels[1].low, roofline.kernels[1].share);
}

TEST(MeasuredRoofline, AFasterProductIsTheRoofAndIsDoubted) {
    Fake fake;
    fake.peak("AVX2", 80e9).product("oneDNN", 160e9);
    MeasuredRoofline const roofline{fake.campaign};
    EXPECT_EQ(roofline.peak("fp32", 1)->roof->of("library"), "oneDNN");
    EXPECT_TRUE(says(doubts_of(roofline, fake.campaign), "faster than any chain"));
    Fake nearly;
    nearly.peak("AVX2", 80e9).product("oneDNN", 82e9);
    EXPECT_EQ(MeasuredRoofline{nearly.campaign}.peak("fp32", 1)->roof->of("instruction_set"), "AVX2")
        << "2 % are within what the clock does";
}

TEST(MeasuredDoubts, SeeWhatCannotBe) {
    Fake fake;
    fake.peak("AVX2", 80e9).peak("AVX2", 30e9, "2");
    fake.level("L1", 5e9, 32e3).level("memory", 10e9, 1e9).kernel("triad", 1e6, 1e6, 1e6, 20e9);
    auto const doubts = doubts_of(MeasuredRoofline{fake.campaign}, fake.campaign);
    EXPECT_TRUE(says(doubts, "order: bandwidth memory"));
    EXPECT_TRUE(says(doubts, "cores: slower"));
    EXPECT_TRUE(says(doubts, "roof: above"));
    EXPECT_FALSE(says(doubts, "noise"));
}

TEST(MeasuredDoubts, SeeNoiseLoadAndWhatIsMissing) {
    Fake fake;
    fake.peak("AVX2", 80e9);
    for (Sample& sample : fake.campaign.samples) {
        sample.value *= sample.repetition % 2 == 0 ? 0.5 : 1.0;
        sample.load = 3.0;
    }
    fake.campaign.points.push_back({"never", {{"quantity", "peak"}, {"threads", "1"}}, "flops/second"});
    auto const doubts = doubts_of(MeasuredRoofline{fake.campaign}, fake.campaign);
    EXPECT_TRUE(says(doubts, "noise: repetitions of 1 of 1"));
    EXPECT_TRUE(says(doubts, "load: 3 processes"));
    EXPECT_TRUE(says(doubts, "not measured: 1 of 2 points"));
}

TEST(MeasuredRoofline, NeedsOneSample) {
    Campaign const nothing;
    EXPECT_THROW(MeasuredRoofline{nothing}, InputError);
}

} // namespace
} // namespace headroom
