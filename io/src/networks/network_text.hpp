#pragma once

#include "headroom/machine.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Rule by which a statement about a network was read that has more than one meaning.
enum class NetworkRule {
    usual_count, ///< NICs of a known rate, not counted: as many as the catalog's node has
    usual_rate,  ///< counted NICs of no stated rate: that of the catalog's node
    whole_node,  ///< a rate that is neither counted nor that of the catalog's NICs: of a node
    host_nic,    ///< Ethernet without RDMA, not counted: one NIC a node
    total,       ///< a rate that no NIC has: of all NICs of a node
    lanes,       ///< "4X EDR": four lanes of one NIC
    not_lanes,   ///< "4X EDR": four NICs
    ports,       ///< "dual-port": each port has the rate
    of_node,     ///< a count with "per GPU" that no GPU has: of the node
    bits,        ///< "200GB": Gbit/s
    no_unit,     ///< "EFA 3200": Gbit/s
    fastest,     ///< several networks: the fastest
    management   ///< "Gigabit Ethernet": the host's network for management
};
std::string_view words_of(NetworkRule rule);

/// Words of a text that were not understood.
struct NetworkWord {
    std::size_t at = 0; ///< offset in the text
    std::string text = {};
};

/// Statements of a text about the network between nodes. Zero and empty: it does not say.
struct NetworkText {
    std::string family;           ///< "infiniband", "ethernet" (RoCE too), "efa", "slingshot", "omni-path"
    bool rdma = false;            ///< NICs for the accelerators, not one for the host
    bool generation = false;      ///< the rate of a NIC is that of a name such as HDR
    double nic = 0.0;             ///< Gbit/s of one NIC
    double nics = 0.0;            ///< of a node, or of each accelerator
    bool per_accelerator = false; ///< `nics` are those of each accelerator
    double sharers = 1.0;         ///< or of so many of them
    double total = 0.0;           ///< Gbit/s of all NICs of a node
    std::vector<NetworkRule> rules;
    std::vector<NetworkWord> left_over; ///< outside of remarks in parentheses; numbers everywhere
    [[nodiscard]] bool states_rate() const { return nic > 0.0 || total > 0.0; }
};

/// Reads what people write for the network between nodes:
///
///     counts    "4x", "4 X", "4×", "4 *", "x8", "four", "dual", "8 NICs", "dual-port"
///     rates     "100Gb", "400G", "25GbE", "200 Gbit/s", "3.2 Tbps", "25 GB/s", "EFA 3200", "NDR400", "HDR", "Slingshot-11"
///     scopes    "per node", "per GPU", "per 2 GPUs", "total"
///     networks  of several the one for computing ("Compute: ...", "EW"), else the fastest; links inside a node do not count
NetworkText read_network_text(std::string_view text);

/// NICs of a node of the catalog, for what a text leaves out.
struct UsualNics {
    double count = 0.0;
    double gigabits = 0.0; ///< Gbit/s of one
};

/// NICs of a cluster's nodes; none where only a share is known.
UsualNics usual_nics(Cluster const& cluster);

/// The network of one node. Zero: not known.
struct NodeNetwork {
    double nic = 0.0;  ///< Gbit/s of one NIC
    double node = 0.0; ///< Gbit/s of all NICs of a node
    std::vector<NetworkRule> rules;
};
NodeNetwork network_of_node(NetworkText const& text, int accelerators, UsualNics const& usual);

/// "4 NICs of 100 Gbit/s a node (4X taken as four NICs)".
std::string words_of(NodeNetwork const& network);
/// "'foo' at 12, 'bar' at 20"; empty where all was understood.
std::string words_of(std::vector<NetworkWord> const& left_over);

} // namespace headroom::io
