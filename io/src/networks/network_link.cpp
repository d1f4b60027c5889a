#include "networks/network_link.hpp"

#include "records/cluster.hpp"

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {

std::string_view network_link(std::string_view family, double nic_gigabits) {
    struct Row {
        std::string_view family;
        double nic;
        std::string_view link;
    };
    constexpr std::array links{
        Row{"infiniband", 100.0, "infiniband-edr"},
        Row{"infiniband", 200.0, "infiniband-hdr"},
        Row{"infiniband", 400.0, "infiniband-ndr"},
        Row{"infiniband", 800.0, "infiniband-xdr"},
        Row{"efa", 100.0, "efa-v2"},
        Row{"efa", 200.0, "efa-v3"},
        Row{"efa", 400.0, "efa-v4"},
        Row{"slingshot", 200.0, "slingshot-200"},
        Row{"omni-path", 100.0, "omni-path-100"},
        Row{"ethernet", 1.0, "gigabit-ethernet"},
        Row{"ethernet", 10.0, "10gbe"},
        Row{"ethernet", 25.0, "25gbe"},
        Row{"ethernet", 100.0, "100gbe"},
        Row{"ethernet", 200.0, "200gbe"},
        Row{"ethernet", 400.0, "400gbe"},
        Row{"ethernet", 800.0, "800gbe"},
    };
    Row const* best = nullptr;
    auto const off = [nic_gigabits](Row const& row) { return std::abs(std::log(row.nic / nic_gigabits)); };
    for (Row const& row : links) {
        bool const fits = row.family == family && nic_gigabits > 0.0;
        if (fits && (best == nullptr || off(row) < off(*best))) { best = &row; }
    }
    return best == nullptr ? std::string_view{} : best->link;
}

void set_network(LinkRecord const& link, NetworkText const& text, NodeNetwork const& node, Cluster& cluster) {
    constexpr BytesPerSecond gigabit{0.125e9};
    bool const same = cluster.scale_out_name == link.name;
    double const per_node = std::max(1, cluster.accelerators_per_node);
    BytesPerSecond const nic = node.nic > 0.0 ? gigabit * node.nic : link.link.bandwidth;
    cluster.scale_out_name = link.name;
    cluster.scale_out_service = link.service;
    cluster.scale_out.latency = link.link.latency;
    if (node.node > 0.0) {
        cluster.scale_out.bandwidth = gigabit * (node.node / per_node);
    } else if (!same) {
        bool const of_host = text.family == "ethernet" && !text.rdma;
        cluster.scale_out.bandwidth = nic / (of_host ? per_node : 1.0);
    }
    if (!same || node.nic > 0.0) { cluster.adapter = std::min(nic, cluster.scale_out.bandwidth * per_node); }
}

JoinedNetwork join_by_network(Catalog const& catalog, std::string_view text, std::string_view where, Cluster& cluster) {
    constexpr std::string_view example = "write it like '4x 100Gb RoCE' or '8x NDR400 per node'";
    NetworkText const stated = read_network_text(text);
    if (!stated.left_over.empty()) {
        refuse(where, "not understood: " + words_of(stated.left_over), "the number is the place in the text",
               std::string{example});
    }
    int const accelerators = std::max(1, cluster.accelerators_per_node);
    NodeNetwork const node = network_of_node(stated, accelerators, usual_nics(cluster));
    if (node.node <= 0.0) {
        refuse(where, headroom::quoted(text) + " states no rate between nodes", "", std::string{example});
    }
    double const of_share = stated.family == "efa" ? 100.0 : node.node / accelerators;
    std::string_view const name = network_link(stated.family, node.nic > 0.0 ? node.nic : of_share);
    if (name.empty() && cluster.scale_out_name.empty()) {
        refuse(where, headroom::quoted(text) + " names no kind of network", "its latency depends on it",
               std::string{example});
    }
    LinkRecord link{.name = cluster.scale_out_name, .link = cluster.scale_out, .service = cluster.scale_out_service};
    set_network(name.empty() ? link : find_link(catalog, name), stated, node, cluster);
    bool const guessed = std::ranges::any_of(
        node.rules, [](NetworkRule rule) { return rule != NetworkRule::usual_count && rule != NetworkRule::fastest; });
    return {.nics = words_of(node), .ambiguous = guessed};
}

} // namespace headroom::io
