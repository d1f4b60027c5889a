// Words of people about where they measured, and the cluster meant.

#include "headroom/io/catalog.hpp"
#include "headroom/io/measured_system.hpp"

#include <gtest/gtest.h>

namespace headroom::io {
namespace {

Catalog const& catalog() {
    static Catalog const one;
    return one;
}

std::string meant(std::string_view system, std::string_view interconnect = "", int nodes = 1) {
    auto const found = measured_system(catalog(), system, interconnect, nodes);
    return found.cluster ? found.cluster->name : found.skipped_reason;
}

TEST(MeasuredSystem, KnowsInstancesByAWord) {
    EXPECT_EQ(meant("AWS p4d.24xlarge, 8x A100", "EFA", 2), "aws-p4d");
    EXPECT_EQ(meant("p5e.48xlarge"), "aws-p5e");
    EXPECT_EQ(meant("GCP a2-highgpu-8g", "", 2), "gcp-a2-high");
    EXPECT_EQ(meant("a3-megagpu-8g cluster", "", 4), "gcp-a3-mega");
    EXPECT_EQ(meant("Standard_ND96isr_H100_v5", "", 2), "azure-nd96isr-h100-v5");
    EXPECT_EQ(meant("2 machines, a2-ultragpu-8g", "", 2), "gcp-a2-ultra");
    EXPECT_EQ(meant("Azure H200 instances", "", 2), "azure-nd96isr-h200-v5");
    EXPECT_EQ(meant("GB200 NVL72", "", 18), "gb200-nvl72");
}

TEST(MeasuredSystem, KnowsAccelerators) {
    EXPECT_EQ(meant("8x B200 node"), "dgx-b200");
    EXPECT_EQ(meant("4x L40S PCIe"), "l40s-pcie-8");
    EXPECT_EQ(meant("MI250X node, 8 GCDs"), "frontier-node");
    EXPECT_EQ(meant("8xH100-80GB"), "dgx-h100");
    EXPECT_EQ(meant("2x H100 PCIe", "NVLink bridge"), "h100-pcie-nvlink-2");
    EXPECT_EQ(meant("8x A100 80GB PCIe"), "a100-pcie-8");
}

TEST(MeasuredSystem, TakesTheNetworkFromItsWords) {
    auto const found = measured_system(catalog(), "8x A100 SXM", "NVSwitch; 8x HDR InfiniBand", 2);
    ASSERT_TRUE(found.cluster);
    EXPECT_EQ(found.cluster->scale_out_name, "infiniband-hdr");
    EXPECT_NEAR(found.cluster->scale_out.bandwidth.base(), 25e9, 1.0);
    auto const efa = measured_system(catalog(), "8x H100", "EFAv2 3200 Gbps", 2);
    ASSERT_TRUE(efa.cluster);
    EXPECT_EQ(efa.cluster->scale_out_name, "efa-v2");
    EXPECT_NEAR(efa.cluster->scale_out.bandwidth.base(), 50e9, 1.0);
}

struct Joined {
    std::string_view system, interconnect, link;
    double node_gigabits;
};

TEST(MeasuredSystem, ReadsRatesAndCountsOfAdapters) {
    for (Joined const& one : {
             Joined{"4 nodes x 8 A100-80GB", "HDR InfiniBand 200Gb/s x8", "infiniband-hdr", 1600},
             Joined{"8x H100 SXM5", "NVSwitch; 400 Gb/s InfiniBand", "infiniband-ndr", 3200},
             Joined{"HGX H100", "NVLink 900 GB/s; 3.2 Tbps InfiniBand", "infiniband-ndr", 3200},
             Joined{"8x H100", "400 Gbps RDMA NICs x 8", "400gbe", 3200},
             Joined{"8x MI300X", "RoCEv2 400 Gb/s per GPU", "400gbe", 3200},
             Joined{"BM.GPU.H100.8", "RoCE v2 8x 400 Gbps", "400gbe", 3200},
             Joined{"8x H100", "8 x NDR200", "infiniband-hdr", 1600},
             Joined{"4x A100 custom", "2x dual HDR100", "infiniband-edr", 400},
             Joined{"Polaris: 4x A100-SXM4-40GB per node", "2x Slingshot 10", "100gbe", 200},
             Joined{"4x A100", "Slingshot 11", "slingshot-200", 800},
             Joined{"8x V100", "25 Gbps Ethernet", "25gbe", 25},
             Joined{"AWS p4d.24xlarge", "4x 100 Gbps EFA", "efa-v1", 400},
             Joined{"GCP a2-highgpu-8g", "100 Gbps TCP", "gcp-tcp", 100},
             Joined{"DGX-1 V100", "4x EDR InfiniBand", "infiniband-edr", 400},
         }) {
        auto const found = measured_system(catalog(), one.system, one.interconnect, 2);
        ASSERT_TRUE(found.cluster) << one.system << ": " << found.skipped_reason;
        EXPECT_EQ(found.cluster->scale_out_name, one.link) << one.system;
        double const gigabits = found.cluster->scale_out.bandwidth.base() * 8e-9 * found.cluster->accelerators_per_node;
        EXPECT_NEAR(gigabits, one.node_gigabits, 1e-6 * one.node_gigabits) << one.system << one.interconnect;
    }
}

TEST(MeasuredSystem, KnowsOneAdapterFromTheShare) {
    EXPECT_NEAR(measured_system(catalog(), "p4d.24xlarge", "", 2).cluster->adapter.base(), 12.5e9, 1.0);
    EXPECT_NEAR(measured_system(catalog(), "8x V100", "25 Gbps Ethernet", 2).cluster->adapter.base(), 3.125e9, 1.0);
}

TEST(MeasuredSystem, CountsHalvesOfMi250x) { EXPECT_EQ(meant("8x MI250X", "xGMI"), "frontier-node"); }

TEST(MeasuredSystem, SaysWhatIsMissing) {
    EXPECT_EQ(meant("8x H100", "RoCE", 2), "does not say how fast the network is that joins its nodes");
    EXPECT_EQ(meant("2x A100 PCIe with NVLink bridge", "NVLink bridge"),
              "joins cards by a bridge for which the catalog has no machine");
    EXPECT_EQ(meant("8x H100", "NVLink4 intra, PCIe5 to the adapters"), "dgx-h100");
}

TEST(MeasuredSystem, NeverAssumesANetwork) {
    EXPECT_EQ(meant("8x H200 nodes", "NVSwitch", 2), "does not say what network joins its nodes");
    EXPECT_EQ(meant("H100-80GB HBM3 x8, 2 nodes (Kubernetes)", "NVSwitch intra; inter-node not stated", 2),
              "does not say what network joins its nodes");
    EXPECT_EQ(meant("somebody's cluster"), "names no accelerator or machine that the catalog has");
    EXPECT_EQ(meant(""), "names no accelerator or machine that the catalog has");
}

TEST(MeasuredSystem, HeedsSettings) {
    auto const without = measured_system(catalog(), "8x H200 node", "NVLink4/NVSwitch, NCCL_NVLS_ENABLE=0", 1);
    ASSERT_TRUE(without.cluster);
    EXPECT_EQ(without.cluster->scale_up_service.wire, Wire::nvswitch);
    auto const apart = measured_system(catalog(), "8x A100 node, NCCL_P2P_DISABLE=1", "SHM/PCIe", 1);
    ASSERT_TRUE(apart.cluster);
    EXPECT_EQ(apart.cluster->scale_up_service.wire, Wire::pcie);
}

} // namespace
} // namespace headroom::io
