#include "headroom/error.hpp"
#include "headroom/io/processor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::io {

using namespace headroom::laws;

namespace {

constexpr char const* server = R"(name = "server"
[memory]
name = "DRAM"
bandwidth = "200 GB/s"
capacity = "512 GiB"
latency = "90 ns"
in_flight = "40 kB"
[[level]]
name = "L3"
bandwidth = "800 GB/s"
capacity = "64 MiB"
[[level]]
name = "L2"
bandwidth = "2 TB/s"
[peak]
fp64 = "1.5 TFLOP/s"
fp32 = "3 TFLOP/s"
[compute]
cores = 32
simd_width = "512 bit"
[measured]
fp64 = "1.2 TFLOP/s"
memory = "180 GB/s"
)";

std::string complaint(std::string_view toml) {
    try {
        read_processor(toml, "machine.toml");
    } catch (InputError const& error) { return error.what(); }
    return "";
}

TEST(MachineFile, OfACpu) {
    Processor const cpu = read_processor(server, "machine.toml");
    EXPECT_EQ(cpu.name, "server");
    ASSERT_EQ(cpu.levels.size(), 3u);
    EXPECT_EQ(cpu.memory().name, "DRAM");
    EXPECT_EQ(cpu.levels[2].name, "L2");
    EXPECT_DOUBLE_EQ(cpu.levels[1].bandwidth.base(), 800e9);
    EXPECT_DOUBLE_EQ(cpu.peak[NumberFormat::fp64].base(), 1.5e12);
    EXPECT_DOUBLE_EQ(cpu.measured[NumberFormat::fp64].base(), 1.2e12);
    EXPECT_DOUBLE_EQ(cpu.measured_memory.base(), 180e9);
    EXPECT_DOUBLE_EQ(cpu.simd_width.base(), 64.0);
    EXPECT_DOUBLE_EQ(cpu.memory_latency.base(), 90e-9);
    EXPECT_TRUE(cpu.fuses);
    EXPECT_FALSE(cpu.accelerator);
}

TEST(MachineFile, EveryAcceleratorOfTheCatalogReadsAsOne) {
    Catalog const catalog;
    for (auto const& name : catalog.names(RecordKind::accelerator)) {
        auto const& record = catalog.text(RecordKind::accelerator, name);
        Processor const file = read_processor(record.content, name);
        Processor const known = processor_of(catalog.accelerator(name));
        for (NumberFormat const format : number_formats) {
            EXPECT_EQ(file.peak[format], known.peak[format]) << name << name_of(format);
            EXPECT_EQ(file.vector[format], known.vector[format]) << name << name_of(format);
            EXPECT_EQ(file.measured[format], known.measured[format]) << name << name_of(format);
        }
        EXPECT_EQ(file.memory().bandwidth, known.memory().bandwidth) << name;
        EXPECT_EQ(file.lanes, known.lanes) << name;
        ASSERT_TRUE(file.accelerator) << name;
        EXPECT_EQ(file.accelerator->generation, known.accelerator->generation) << name;
        EXPECT_EQ(file.accelerator->memory, known.accelerator->memory) << name;
        EXPECT_EQ(file.accelerator->units, known.accelerator->units) << name;
    }
}

TEST(MachineFile, ErrorsNameTheirPlace) {
    auto const with = [](std::string_view tail) {
        return std::string{"[memory]\nbandwidth = \"1 TB/s\"\n[peak]\nfp32 = \"1 TFLOP/s\"\n"} + std::string{tail};
    };
    using testing::HasSubstr;
    EXPECT_EQ(complaint(with("")), "");
    EXPECT_THAT(complaint("[peak]\nfp32 = \"1 TFLOP/s\"\n"), HasSubstr("memory.bandwidth: missing"));
    EXPECT_THAT(complaint("[memory]\nbandwidth = \"1 TB/s\"\n"), HasSubstr("no peak rate of any number format"));
    EXPECT_THAT(complaint(with("[compute]\nsimd_widht = \"512 bit\"\n")), HasSubstr("machine.toml:6: unknown key"));
    EXPECT_THAT(complaint(with("[compute]\nsimd_width = 512\n")), HasSubstr("a bare number 512"));
    EXPECT_THAT(complaint(with("[[level]]\nname = \"L2\"\nbandwidth = \"0.5 TB/s\"\n")),
                HasSubstr("below that of the level before"));
    EXPECT_THAT(complaint(with("[[level]]\nname = \"memory\"\nbandwidth = \"2 TB/s\"\n")), HasSubstr("twice"));
    EXPECT_THAT(complaint(with("[peak.vector]\nfp32 = \"2 TFLOP/s\"\n")), HasSubstr("above the peak of its format"));
    EXPECT_THAT(complaint("generation = \"hoper\"\n" + with("")), HasSubstr("did you mean 'hopper'?"));
    EXPECT_THAT(complaint("[memory\n"), HasSubstr("not valid TOML"));
    EXPECT_THAT(complaint("[memory]\nbandwidth = \"1e-300 GB/s\"\n"), HasSubstr("out of range"));
}

TEST(LoadMachine, FindsAcceleratorsNodesAndHosts) {
    Catalog const catalog;
    EXPECT_EQ(load_machine(catalog, "H100", "--machine").processor.name, "h100-sxm-80gb");
    EXPECT_EQ(load_machine(catalog, "dgx-h200", "--machine").processor.name, "h200-sxm-141gb");
    EXPECT_EQ(load_machine(catalog, "grace", "--machine").origin, "catalog host");
    EXPECT_FALSE(load_machine(catalog, "grace", "--machine").cluster);
    EXPECT_THROW(load_machine(catalog, "h1000", "--machine"), InputError);
    EXPECT_THROW(load_machine(catalog, "/nowhere/machine.toml", "--machine"), InputError);
}

} // namespace
} // namespace headroom::io
