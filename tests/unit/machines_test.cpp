#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace {

using namespace headroom;

TEST(Machines, NumbersBeforeAndBehindNames) {
    io::Catalog const catalog;
    io::Machines const nodes = io::load_machines(catalog, "4xdgx-h100");
    EXPECT_EQ(nodes.nodes, 4);
    EXPECT_EQ(nodes.cluster.name, "dgx-h100");
    for (char const* text : {"16xH100", "16 x H100", "16 H100", "H100:16"}) {
        io::Machines const cards = io::load_machines(catalog, text);
        EXPECT_EQ(cards.workers, 16) << text;
        EXPECT_EQ(cards.cluster.accelerators_per_node, 8) << text;
    }
    EXPECT_FALSE(io::load_machines(catalog, "4090").workers) << "a name of digits";
    EXPECT_TRUE(io::load_machines(catalog, "dgx-h100").reading.empty());
    EXPECT_THROW(io::load_machines(catalog, "8xnothing"), InputError);
    EXPECT_THROW(io::load_machines(catalog, "0xH100"), InputError);
}

TEST(Machines, PartsAreKnownByTheirWords) {
    io::Catalog const catalog;
    for (char const* text : {"8xA100-40G", "8x A100 40GB", "8xNVIDIA A100 SXM4 40GB", "A100-40G:8"}) {
        io::Machines const cards = io::load_machines(catalog, text);
        EXPECT_EQ(cards.workers, 8) << text;
        EXPECT_EQ(cards.cluster.accelerator.name, "a100-sxm-40gb") << text;
    }
    EXPECT_EQ(io::load_machines(catalog, "A100 80G").cluster.accelerator.name, "a100-sxm-80gb");
    EXPECT_THROW(io::load_machines(catalog, "8xA100-60G"), InputError) << "no A100 has 60 GB";
    EXPECT_THROW(io::load_machines(catalog, "8x RTX 4090 Laptop"), InputError);
}

TEST(Machines, NamesOfTpuSlicesCountCoresUpToV5p) {
    io::Catalog const catalog;
    std::map<std::string, std::pair<std::string, int>> const chips{
        {"v4-32", {"tpu-v4", 16}},           {"tpu-v5p-128", {"tpu-v5p", 64}},  {"v3-32", {"tpu-v3", 16}},
        {"v5litepod-256", {"tpu-v5e", 256}}, {"TPU v5e-256", {"tpu-v5e", 256}}, {"v6e-64", {"tpu-v6e", 64}}};
    for (auto const& [text, expected] : chips) {
        io::Machines const slice = io::load_machines(catalog, text);
        EXPECT_EQ(slice.cluster.accelerator.name, expected.first) << text;
        EXPECT_EQ(slice.workers, expected.second) << text;
        EXPECT_TRUE(io::names_machines(catalog, text)) << text;
    }
    EXPECT_THROW(io::load_machines(catalog, "v4-31"), InputError) << "half a chip";
    EXPECT_THROW(io::load_machines(catalog, "v9-32"), InputError);
}

TEST(Machines, PartOfANodeKeepsSharesOfNics) {
    io::Catalog const catalog;
    Cluster const whole = catalog.cluster("dgx-h100");
    Cluster const part = io::load_machines(catalog, "4xH100").cluster;
    EXPECT_EQ(part.accelerators_per_node, 4);
    EXPECT_EQ(part.domain, 4);
    EXPECT_EQ(part.scale_out.bandwidth.base(), whole.scale_out.bandwidth.base());
    EXPECT_DOUBLE_EQ(part.host_memory_bandwidth.base(), 2.0 * whole.host_memory_bandwidth.base());
    Cluster most = whole;
    EXPECT_THROW(io::use_part_of_node(most, 9, "--accelerators-per-node"), InputError);
}

TEST(Machines, ANumberStandsBeforeOrBehindTheName) {
    io::Catalog const catalog;
    for (char const* text : {"4090x2", "4090 x 2", "4090:2", "rtx-4090x2", "RTX4090X2"}) {
        io::Machines const two = io::load_machines(catalog, text);
        EXPECT_EQ(two.workers, 2) << text;
        EXPECT_EQ(two.cluster.name, "2x rtx-4090") << text;
        EXPECT_TRUE(io::names_machines(catalog, text)) << text;
    }
    EXPECT_EQ(io::load_machines(catalog, "dgx-a100x4").nodes, 4);
    EXPECT_EQ(io::load_machines(catalog, "H100x8").workers, 8);
    for (char const* text : {"rtx 4099", "4099x2", "llama-3-8b", ""}) {
        EXPECT_FALSE(io::names_machines(catalog, text)) << text;
    }
    EXPECT_THROW(io::load_machines(catalog, "4099x2"), InputError);
}

TEST(Machines, CardsWithoutANodeAreAWorkstation) {
    io::Catalog const catalog;
    io::Machines const two = io::load_machines(catalog, "2x4090");
    EXPECT_EQ(two.workers, 2);
    EXPECT_EQ(two.cluster.name, "2x rtx-4090");
    EXPECT_EQ(two.cluster.domain, 2);
    EXPECT_EQ(two.cluster.scale_up_name, "pcie4-x16");
    // 10 Gbit/s over two cards
    EXPECT_DOUBLE_EQ(two.cluster.scale_out.bandwidth.base(), 10e9 / 8.0 / 2.0);
    EXPECT_EQ(two.cluster.host.bandwidth.base(), two.cluster.scale_up.bandwidth.base());
    io::Machines const pair = io::load_machines(catalog, "2x2x4090");
    EXPECT_EQ(pair.workers, 4);
    EXPECT_EQ(pair.cluster.accelerators_per_node, 2);
    EXPECT_NE(pair.reading.find("2 workstations"), std::string::npos);
}

} // namespace
