#include "fabric.hpp"

#include <cmath>

namespace headroom::network {

using namespace topologies;

namespace {

/// Leaves, spines of pods and cores by number.
struct FatTree {
    std::int64_t leaf, pod, uplinks;      ///< ports of a leaf, leaves of a pod, links of a leaf to spines
    std::int64_t first_leaf, first_spine; ///< links up from leaves and from spines
    Spread spread;

    [[nodiscard]] std::int64_t leaf_link(std::int64_t at, std::int64_t spine) const {
        return first_leaf + 2 * (at * uplinks + spine);
    }
    [[nodiscard]] std::int64_t core_link(std::int64_t in_pod, std::int64_t spine, std::int64_t core) const {
        return first_spine + 2 * ((in_pod * uplinks + spine) * pod + core);
    }

    void operator()(int from, int to, Route& route) const {
        std::int64_t const up = from / leaf, down = to / leaf;
        route.push_back(id(2 * std::int64_t{from}));
        if (up != down) {
            auto const chosen = static_cast<std::int64_t>(spread == Spread::hash ? mixed(from, to) >> 1U
                                                                                 : static_cast<std::uint64_t>(to));
            std::int64_t const spine = chosen % uplinks, core = chosen / uplinks % pod;
            route.push_back(id(leaf_link(up, spine)));
            if (up / pod != down / pod) {
                route.push_back(id(core_link(up / pod, spine, core)));
                route.push_back(id(core_link(down / pod, spine, core) + 1));
            }
            route.push_back(id(leaf_link(down, spine) + 1));
        }
        route.push_back(id(2 * std::int64_t{to} + 1));
    }
};

/// Whole uplinks of a leaf.
std::int64_t uplinks_of(FatTreeNetwork const& network, Asked const& asked) {
    asked.at_least(network.leaf, 1, "leaf");
    asked.positive(network.oversubscription, "oversubscription");
    double const uplinks = network.leaf / network.oversubscription;
    if (uplinks >= 1.0 && uplinks <= 4096.0 && std::abs(uplinks - std::round(uplinks)) < 1e-9) {
        return std::llround(uplinks);
    }
    asked.refuse("a leaf of " + std::to_string(network.leaf) + " ports cannot be oversubscribed so much",
                 "ports / oversubscription must be a whole number of uplinks, from 1 to 4096",
                 "give an oversubscription that divides the ports");
}

void join_spines(Fabric& fabric, FatTreeNetwork const& network, FatTree const& tree, std::int64_t leaves,
                 std::int64_t pods) {
    for (std::int64_t i = 0; i < leaves * tree.uplinks; ++i) {
        std::int64_t const at = i / tree.uplinks;
        std::int64_t const spine = at / tree.pod * tree.uplinks + i % tree.uplinks;
        fabric.join(place(Place::Kind::leaf, at), place(Place::Kind::spine, spine), network.port.bandwidth,
                    network.hop);
    }
    if (pods == 1) { return; }
    for (std::int64_t i = 0; i < pods * tree.uplinks * tree.pod; ++i) {
        std::int64_t const spine = i / tree.pod;
        std::int64_t const core = spine % tree.uplinks * tree.pod + i % tree.pod;
        fabric.join(place(Place::Kind::spine, spine), place(Place::Kind::core, core), network.port.bandwidth,
                    network.hop);
    }
}

} // namespace

Topology build_topology(FatTreeNetwork const& network, std::string_view where) {
    Asked const asked{where};
    Fabric fabric{.kind = "fat-tree", .ports = asked.ports(network.endpoints, network.nodes, network.port)};
    std::int64_t const uplinks = uplinks_of(network, asked);
    asked.at_least(network.pod, 0, "pod");
    asked.usable(network.hop, "hop");
    std::int64_t const pod = network.pod > 0 ? network.pod : network.leaf;
    std::int64_t const leaves = (fabric.ports + network.leaf - 1) / network.leaf;
    std::int64_t const pods = (leaves + pod - 1) / pod;
    asked.few_enough(2 * (fabric.ports + leaves * uplinks + (pods > 1 ? pods * uplinks * pod : 0)));

    FatTree const tree{.leaf = network.leaf,
                       .pod = pod,
                       .uplinks = uplinks,
                       .first_leaf = 2 * fabric.ports,
                       .first_spine = 2 * (fabric.ports + leaves * uplinks),
                       .spread = network.spread};
    for (std::int64_t i = 0; i < fabric.ports; ++i) {
        fabric.join(place(port_kind(network.nodes), i), place(Place::Kind::leaf, i / network.leaf),
                    network.port.bandwidth, 0.5 * network.port.latency);
    }
    join_spines(fabric, network, tree, leaves, pods);
    fabric.router = tree;
    return with_nodes(std::move(fabric), network.nodes, network.endpoints);
}

} // namespace headroom::network
