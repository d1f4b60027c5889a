// Texts that people write for a network, and the NICs of a node that are meant.

#include "networks/network_link.hpp"
#include "networks/network_text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"

#include <gmock/gmock.h>

namespace headroom::io {
namespace {

using testing::HasSubstr;

/// Eight NICs of 400 Gbit/s, as a DGX H100 has them.
NodeNetwork node_of(std::string_view text, int accelerators = 8, UsualNics usual = {8, 400}) {
    return network_of_node(read_network_text(text), accelerators, usual);
}

struct Meant {
    std::string_view text;
    double nics, nic;
};

TEST(NetworkText, ReadsCountsInEverySpelling) {
    for (Meant const& one : {
             Meant{"4 * 100Gb RoCE", 4, 100},
             Meant{"4*100Gb RoCE", 4, 100},
             Meant{"4x 100Gb RoCE", 4, 100},
             Meant{"4X 100Gb RoCE", 4, 100},
             Meant{"4× 100Gb RoCE", 4, 100},
             Meant{"4 × 100 Gb RoCE", 4, 100},
             Meant{"4x100Gb RoCE", 4, 100},
             Meant{"(4x) 100Gb RoCE", 4, 100},
             Meant{"RoCE 100Gb x4", 4, 100},
             Meant{"RoCE 100Gb * 4", 4, 100},
             Meant{"RoCE, 4 x 100Gb", 4, 100},
             Meant{"four 100 Gbit/s NICs", 4, 100},
             Meant{"4 NICs of 100G", 4, 100},
             Meant{"4 NICs, 100 Gb/s each", 4, 100},
             Meant{"8x NDR400", 8, 400},
             Meant{"8xNDR", 8, 400},
             Meant{"8 x NDR200", 8, 200},
             Meant{"4 NDR HCAs", 4, 400},
             Meant{"HDRx4", 4, 200},
             Meant{"2 x 25GbE", 2, 25},
             Meant{"100GbE x 2", 2, 100},
             Meant{"2x Intel E810 100GbE", 2, 100},
             Meant{"8 x 400 Gb/s IB per node", 8, 400},
             Meant{"8xCX7 400G", 8, 400},
             Meant{"16x 200G EFAv3", 16, 200},
             Meant{"2x200", 2, 200},
             Meant{"2x4x100G", 8, 100},
             Meant{"dual-port 100GbE", 2, 100},
             Meant{"2 x dual-port 100GbE", 4, 100},
             Meant{"2x dual HDR100", 4, 100},
             Meant{"dual-rail EDR", 2, 100},
             Meant{"2-port HDR100", 2, 100},
             Meant{"2x Slingshot 10", 2, 100},
             Meant{"4 OmniPath links per node", 4, 100},
             Meant{"1,600 Gb/s RoCE, 8 NICs of 200G", 8, 200},
             Meant{"3.2 Tbps (8x400G)", 8, 400},
             Meant{"8x 400G (3.2 Tbps)", 8, 400},
             Meant{"3200 Gbit/s InfiniBand (8 x 400)", 8, 400},
             Meant{"8 NICs, 3200 Gb/s", 8, 400},
             Meant{"8 NICs x 400 Gb/s", 8, 400},
             Meant{"2x 2-port ConnectX-5 EDR", 4, 100},
             Meant{"25GB/s NIC x8", 8, 200},
             Meant{"RDMA over Converged Ethernet, 8 x 400G", 8, 400},
             Meant{"16 x 25Gb ENA", 16, 25},
         }) {
        NodeNetwork const node = node_of(one.text);
        EXPECT_DOUBLE_EQ(node.nic, one.nic) << one.text;
        EXPECT_DOUBLE_EQ(node.node, one.nics * one.nic) << one.text;
        EXPECT_THAT(read_network_text(one.text).left_over, testing::IsEmpty()) << one.text;
    }
}

TEST(NetworkText, ReadsScopes) {
    EXPECT_DOUBLE_EQ(node_of("RoCE 400 Gbps per GPU").node, 3200);
    EXPECT_DOUBLE_EQ(node_of("400 Gb/s/GPU").node, 3200);
    EXPECT_DOUBLE_EQ(node_of("25 GB/s per GPU").node, 1600);
    EXPECT_DOUBLE_EQ(node_of("400 GB/s per node").node, 3200);
    EXPECT_DOUBLE_EQ(node_of("NVLink 600 GB/s per GPU").node, 0);
    EXPECT_DOUBLE_EQ(node_of("one NDR HCA per GPU").node, 3200);
    EXPECT_DOUBLE_EQ(node_of("8 x 400 Gb/s, one per GPU").node, 3200);
    EXPECT_DOUBLE_EQ(node_of("8x 400G (1 per GPU)").node, 3200);
    EXPECT_DOUBLE_EQ(node_of("4 x 100 Gb/s (one per GPU)").node, 400) << "the count is said twice";
    EXPECT_DOUBLE_EQ(node_of("4 x 200 Gb/s (one for every two GPUs)").node, 800);
    EXPECT_DOUBLE_EQ(node_of("4 x 200 Gb/s, 1 per 2 GPUs").node, 800);
    EXPECT_DOUBLE_EQ(node_of("8x 400G per GPU").node, 3200) << "no GPU has eight";
    EXPECT_DOUBLE_EQ(node_of("2x 400G per GPU", 4).node, 3200);
    EXPECT_DOUBLE_EQ(node_of("800 Gbps total per node (from a file)").node, 800);
    EXPECT_DOUBLE_EQ(node_of("400 Gb/s per node").node, 400);
    EXPECT_DOUBLE_EQ(node_of("1600 Gbps node-node RoCE").node, 1600);
    EXPECT_DOUBLE_EQ(node_of("HDR per node").node, 200);
    EXPECT_DOUBLE_EQ(node_of("3200Gbps/node").node, 3200);
}

TEST(NetworkText, ReadsNicsThatAcceleratorsShare) {
    for (Meant const& one : {Meant{"1 NIC per 2 GPUs at 200G", 4, 200}, Meant{"HDR100 x1 per 4 GPUs", 2, 100},
                             Meant{"one 400 Gb/s NIC per two GPUs", 4, 400}, Meant{"2 NICs of 200G per 4 GPUs", 4, 200},
                             Meant{"HDR per 2 GPUs", 4, 200}, Meant{"400 Gb/s per 2 GPUs", 4, 400}}) {
        auto const network = node_of(one.text);
        EXPECT_EQ(network.node, one.nics * one.nic) << one.text;
        EXPECT_EQ(network.nic, one.nic) << one.text;
    }
}

TEST(NetworkText, SaysHowAnAmbiguousOneIsTaken) {
    struct Taken {
        std::string_view text;
        double node;
        NetworkRule rule;
    };
    for (Taken const& one : {
             Taken{"HDR", 1600, NetworkRule::usual_count},
             Taken{"400G", 3200, NetworkRule::usual_count},
             Taken{"400 Gb/s InfiniBand", 3200, NetworkRule::usual_count},
             Taken{"200 Gb/s InfiniBand", 200, NetworkRule::whole_node},
             Taken{"800 Gbps InfiniBand", 800, NetworkRule::whole_node},
             Taken{"4 HCAs InfiniBand", 1600, NetworkRule::usual_rate},
             Taken{"25 Gbps Ethernet", 25, NetworkRule::host_nic},
             Taken{"1600 Gb/s RoCE", 1600, NetworkRule::total},
             Taken{"3.2 Tbps InfiniBand", 3200, NetworkRule::total},
             Taken{"24 Gb/s Ethernet", 24, NetworkRule::total},
             Taken{"800 Gb/s HDR InfiniBand", 800, NetworkRule::total},
             Taken{"EFA 3200", 3200, NetworkRule::no_unit},
             Taken{"InfiniBand 100 Gb/sec (4X EDR), 1 HCA per node", 100, NetworkRule::lanes},
             Taken{"4X EDR, 1 HCA per node", 100, NetworkRule::lanes},
             Taken{"1 x 4X EDR", 100, NetworkRule::lanes},
             Taken{"4X EDR", 400, NetworkRule::not_lanes},
             Taken{"dual-port 100GbE", 200, NetworkRule::ports},
             Taken{"8x 400G per GPU", 3200, NetworkRule::of_node},
             Taken{"2 x 100 GB Ethernet", 200, NetworkRule::bits},
             Taken{"1x Ethernet 100Gb/s, 8x InfiniBand 400Gb/s", 3200, NetworkRule::fastest},
             Taken{"Gig Ethernet", 0, NetworkRule::management},
         }) {
        NodeNetwork const node = node_of(one.text);
        EXPECT_DOUBLE_EQ(node.node, one.node) << one.text;
        EXPECT_THAT(node.rules, testing::Contains(one.rule)) << one.text;
        EXPECT_THAT(words_of(node), HasSubstr(std::string{words_of(one.rule)})) << one.text;
    }
    EXPECT_THAT(node_of("4x 100Gb RoCE").rules, testing::IsEmpty());
}

TEST(NetworkText, CountsOfOtherThingsAreNoNics) {
    EXPECT_FALSE(read_network_text("8x H100 SXM5").states_rate());
    EXPECT_DOUBLE_EQ(node_of("8x H100, 4x 100Gb RoCE").node, 400);
    EXPECT_DOUBLE_EQ(node_of("8 GPUs, 4x 100Gb RoCE").node, 400);
    EXPECT_DOUBLE_EQ(node_of("2 nodes, 4x 100Gb RoCE").node, 400);
    EXPECT_DOUBLE_EQ(node_of("ConnectX-7 400Gb/s PCIe Gen5 x16, 8 per node").node, 3200);
    EXPECT_DOUBLE_EQ(node_of("4x mlx5 100Gb").node, 400);
    EXPECT_EQ(read_network_text("mlx5_0..mlx5_7 400G").nics, 0);
    EXPECT_DOUBLE_EQ(node_of("A100 80GB; 8x HDR").node, 1600);
}

TEST(NetworkText, TakesTheNetworkBetweenAccelerators) {
    EXPECT_DOUBLE_EQ(node_of("Storage: 8x 400Gb/s, Compute: 8x 200Gb/s").node, 1600);
    EXPECT_DOUBLE_EQ(
        node_of("Storage+Management: 1x BlueField 2 DPU 100Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s").node, 3200);
    EXPECT_DOUBLE_EQ(node_of("Storage&Compute: 4x ConnectX-7 IB NDR 400Gb/s, Management: 25Gb/s Ethernet NIC").node,
                     1600);
    EXPECT_DOUBLE_EQ(node_of("BF3 200Gbps for NS and 2xBF3 400Gbps for EW", 4).node, 800);
    EXPECT_DOUBLE_EQ(node_of("1x200Gb HDR + 1x 25GbE management").node, 200);
    EXPECT_DOUBLE_EQ(node_of("NVLink 900 GB/s; 3.2 Tbps InfiniBand").node, 3200);
    EXPECT_DOUBLE_EQ(node_of("NVLink 900 GB/s 8x400Gb IB").node, 3200);
    EXPECT_EQ(node_of("Storage: 2x ConnectX-6 HDR, Compute: 8x HDR, Management: 100Gb/s Ethernet").rules.size(), 0U);
}

TEST(NetworkText, StatesNoRate) {
    for (auto const* text :
         {"", "InfiniBand (Selene)", "DGX SuperPOD InfiniBand", "DCN between slices", "ICI single slice", "Gb",
          "x gb/s", "PCIe Gen4 x16", "NVLink 600 GB/s", "not stated", "900 GB/s", "RoCE", "4x", "×××"}) {
        EXPECT_FALSE(read_network_text(text).states_rate()) << text;
    }
}

TEST(NetworkText, CountsWhatItDoesNotUnderstand) {
    EXPECT_EQ(words_of(read_network_text("4x 100Gb foo 17").left_over), "'foo' at 10, '17' at 14");
    EXPECT_EQ(words_of(read_network_text("400/800G IB").left_over), "'400' at 1");
    EXPECT_EQ(words_of(read_network_text("4,100Gb RoCE").left_over), "'4' at 1") << "4100, or four of 100?";
    EXPECT_EQ(words_of(read_network_text("8x 200G, 5 Gb/s 7").left_over), "'7' at 17");
    EXPECT_EQ(words_of(read_network_text("4x 100Gb (as the paper says)").left_over), "") << "a remark";
    EXPECT_EQ(words_of(read_network_text("RoCE 400G per GPU (Arista 7800)").left_over), "'7800' at 27")
        << "but no number";
}

Catalog const& catalog() {
    static Catalog const one;
    return one;
}

TEST(JoinByNetwork, TakesLinkAndRates) {
    Cluster cluster = catalog().cluster("dgx-a100");
    JoinedNetwork const joined = join_by_network(catalog(), "4 * 100Gb RoCE", "--network", cluster);
    EXPECT_EQ(joined.nics, "4 NICs of 100 Gbit/s a node");
    EXPECT_FALSE(joined.ambiguous);
    EXPECT_EQ(cluster.scale_out_name, "100gbe");
    EXPECT_DOUBLE_EQ(cluster.scale_out.bandwidth.in(units::Gbit / units::s), 50.0);
    EXPECT_DOUBLE_EQ(cluster.adapter.in(units::Gbit / units::s), 100.0);
    join_by_network(catalog(), "EFA 3200", "--network", cluster);
    EXPECT_EQ(cluster.scale_out_name, "efa-v2");
    EXPECT_DOUBLE_EQ(cluster.scale_out.bandwidth.in(units::Gbit / units::s), 400.0);
    EXPECT_TRUE(join_by_network(catalog(), "800 Gbps InfiniBand", "--network", cluster).ambiguous);
}

std::string refusal(std::string_view text) {
    Cluster cluster = catalog().cluster("dgx-a100");
    try {
        join_by_network(catalog(), text, "--network", cluster);
    } catch (InputError const& error) { return error.what(); }
    return "";
}

TEST(JoinByNetwork, RefusesWhatItDoesNotUnderstand) {
    EXPECT_THAT(refusal("4x 100Gb foo"), HasSubstr("not understood: 'foo' at 10"));
    EXPECT_THAT(refusal("InfiniBand"), HasSubstr("states no rate"));
    EXPECT_THAT(refusal(""), HasSubstr("states no rate"));
}

std::string cluster_line(std::string const& lines, Cluster* read = nullptr) {
    try {
        Cluster const cluster = read_cluster(catalog(), lines, "own.toml");
        if (read != nullptr) { *read = cluster; }
    } catch (InputError const& error) { return error.what(); }
    return "";
}

TEST(ClusterFile, TakesANetworkInWords) {
    Cluster cluster;
    EXPECT_EQ(cluster_line("node = \"dgx-a100\"\nscale_out = \"4x 100Gb RoCE\"\n", &cluster), "");
    EXPECT_EQ(cluster.scale_out_name, "100gbe");
    EXPECT_DOUBLE_EQ(cluster.scale_out.bandwidth.in(units::Gbit / units::s), 50.0);
    EXPECT_EQ(cluster_line("accelerator = \"h100\"\naccelerators = 4\nscale_out = \"4x NDR400\"\n", &cluster), "");
    EXPECT_EQ(cluster.scale_out_name, "infiniband-ndr");
    EXPECT_DOUBLE_EQ(cluster.scale_out.bandwidth.in(units::Gbit / units::s), 400.0);
    for (std::string const rate : {"400G", "NDR", "400 Gbit/s", "400GbE"}) {
        EXPECT_EQ(cluster_line("node = \"dgx-a100\"\nnic_rate = \"" + rate + "\"\n", &cluster), "") << rate;
        EXPECT_DOUBLE_EQ(cluster.adapter.in(units::Gbit / units::s), 400.0) << rate;
    }
    EXPECT_THAT(cluster_line("node = \"dgx-a100\"\nscale_out = \"800 Gbps InfiniBand\"\n"), HasSubstr("ambiguous"));
    EXPECT_THAT(cluster_line("node = \"dgx-a100\"\nscale_out = \"4x 100Gb RoCE\"\nnics = 2\n"), HasSubstr("keep one"));
    EXPECT_THAT(cluster_line("node = \"dgx-a100\"\nscale_out = \"4x 100Gb RoCE foo\"\n"), HasSubstr("'foo' at 15"));
    EXPECT_THAT(cluster_line("node = \"dgx-a100\"\nscale_out = \"infiniband-hdx\"\n"), HasSubstr("infiniband-hd"));
}

} // namespace
} // namespace headroom::io
