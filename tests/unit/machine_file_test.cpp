#include "headroom/error.hpp"
#include "headroom/io/processor.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom::io {

using namespace headroom::laws;
using namespace headroom::measure;

namespace {

Campaign campaign() {
    Campaign taken;
    taken.machine = {{"processor", "a \"CPU\""}};
    auto const add = [&](std::string label, Facts parameters, double value, std::string unit) {
        auto const point = static_cast<std::uint32_t>(taken.points.size());
        parameters.emplace_back("threads", "1");
        taken.points.push_back({std::move(label), std::move(parameters), std::move(unit)});
        for (std::uint32_t i = 0; i < 7; ++i) {
            taken.samples.push_back({.point = point, .repetition = i, .value = value * (1.0 + 1e-4 * i)});
        }
    };
    add("peak", {{"quantity", "peak"}, {"precision", "fp32"}, {"instruction_set", "AVX2"}}, 100e9, "flops/second");
    add("L1", {{"quantity", "bandwidth"}, {"level", "L1"}, {"capacity", "32768"}}, 200e9, "bytes/second");
    add("memory", {{"quantity", "bandwidth"}, {"level", "memory"}, {"capacity", "1e9"}}, 10e9, "bytes/second");
    add("latency", {{"quantity", "latency"}, {"level", "memory"}}, 80e-9, "seconds");
    return taken;
}

TEST(MachineFile, IsReadBackWithItsCeilings) {
    std::string const text = machine_file(MeasuredRooflineAnswer{campaign()}, "headroom 1");
    Processor const processor = read_processor(text, "here.toml");
    EXPECT_EQ(processor.name, "a \"CPU\", 1 core, measured");
    EXPECT_NEAR(processor.peak[NumberFormat::fp32].base(), 100.03e9, 1e7);
    EXPECT_NEAR(processor.memory().bandwidth.base(), 10.003e9, 1e6);
    EXPECT_EQ(processor.levels.size(), 2U);
    EXPECT_TRUE(std::ranges::any_of(processor.levels, [](auto const& level) { return level.name == "L1"; }));
}

TEST(MachineFile, NeedsMainMemory) {
    Campaign taken = campaign();
    std::erase_if(taken.samples, [](Sample const& one) { return one.point == 2; });
    EXPECT_THROW(machine_file(MeasuredRooflineAnswer{taken}, "headroom 1"), InputError);
}

} // namespace
} // namespace headroom::io
