// Texts for a network, put together from every spelling of their parts.

#include "networks/network_link.hpp"
#include "networks/network_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headroom::io {
namespace {

// Each part in every spelling, in every combination and order: four NICs of 100 Gbit/s.
TEST(NetworkTextProperty, ReadsEveryCombination) {
    for (std::string const count : {"4x ", "4 x ", "4X ", "4×", "4 × ", "4 * ", "4*", "four "}) {
        for (std::string const rate : {"100Gb", "100G", "100GbE", "100 Gbit/s", "100 Gb/s", "100Gbps", "100 gbps",
                                       "100 Gb/sec", "12.5 GB/s", "100 Gigabit"}) {
            for (std::string const family :
                 {"", " RoCE", " RoCEv2", " InfiniBand", " IB EDR", " ConnectX-6 NICs", " RDMA"}) {
                for (std::string const rest :
                     {"", " per node", "/node", " (from the paper)", "; NVSwitch inside", " + 10GbE management"}) {
                    for (std::string const& text :
                         {count + rate + family + rest, family + (family.empty() ? "" : ", ") + count + rate + rest}) {
                        NodeNetwork const node = network_of_node(read_network_text(text), 8, {8, 400});
                        ASSERT_DOUBLE_EQ(node.nic, 100.0) << text;
                        ASSERT_DOUBLE_EQ(node.node, 400.0) << text;
                    }
                }
            }
        }
    }
}

} // namespace
} // namespace headroom::io
