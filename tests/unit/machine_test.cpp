#include "headroom/machine.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace headroom {
namespace {

using namespace units;

constexpr FlopsPerSecond tflops(double count) { return count * TFLOP / s; }

TEST(GenerationName, ReadsBackAsItself) {
    std::set<std::string> seen;
    for (int i = 0; i < generation_count; ++i) {
        auto const generation = static_cast<Generation>(i);
        EXPECT_EQ(generation_from(name_of(generation)), generation);
        seen.emplace(name_of(generation));
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(generation_count));
}

TEST(GenerationName, IsSpelledAsInTheCatalog) {
    EXPECT_EQ(name_of(Generation::volta), "volta");
    EXPECT_EQ(name_of(Generation::blackwell_ultra), "blackwell-ultra");
    EXPECT_EQ(name_of(Generation::blackwell_consumer), "blackwell-consumer");
    EXPECT_EQ(name_of(Generation::tpu_v5e), "tpu-v5e");
    EXPECT_EQ(name_of(Generation::gaudi3), "gaudi3");
    EXPECT_EQ(generation_from("Blackwell Ultra"), Generation::blackwell_ultra);
    EXPECT_EQ(generation_from("TPU_v5e"), Generation::tpu_v5e);
    EXPECT_EQ(generation_from("pascal"), std::nullopt);
}

TEST(PeakRate, GivesTheDensePeakOfTheFormat) {
    Accelerator h100;
    h100.peak = {.fp32 = tflops(67),
                 .tf32 = tflops(494.5),
                 .fp16 = tflops(989),
                 .bf16 = tflops(989),
                 .fp8 = tflops(1979),
                 .fp4 = {}};
    EXPECT_EQ(peak_rate(h100, Precision::fp32), tflops(67));
    EXPECT_EQ(peak_rate(h100, Precision::tf32), tflops(494.5));
    EXPECT_EQ(peak_rate(h100, Precision::bf16), tflops(989));
    EXPECT_EQ(peak_rate(h100, Precision::fp8), tflops(1979));
    EXPECT_EQ(peak_rate(h100, Precision::mxfp8), FlopsPerSecond{}); // Hopper scales whole tensors, not blocks,
    EXPECT_EQ(peak_rate(h100, Precision::nvfp4), FlopsPerSecond{}); // and has no 4-bit arithmetic
    Accelerator b200 = h100;
    b200.generation = Generation::blackwell;
    EXPECT_EQ(peak_rate(b200, Precision::mxfp8), tflops(1979));
}

TEST(PeakRate, SixteenBitFormatsStandInForEachOther) {
    // Expectation: Volta has no bf16 and computes such requests in fp16; a TPU the other way.
    Accelerator volta;
    volta.peak = {.fp32 = tflops(15.7), .tf32 = {}, .fp16 = tflops(125), .bf16 = {}, .fp8 = {}, .fp4 = {}};
    EXPECT_EQ(peak_rate(volta, Precision::bf16), tflops(125));
    EXPECT_EQ(peak_rate(volta, Precision::tf32), tflops(15.7));
    EXPECT_EQ(peak_rate(volta, Precision::fp8), FlopsPerSecond{});

    Accelerator tpu;
    tpu.peak.bf16 = tflops(197);
    EXPECT_EQ(peak_rate(tpu, Precision::fp16), tflops(197));
}

} // namespace
} // namespace headroom
