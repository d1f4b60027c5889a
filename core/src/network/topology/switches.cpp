#include "fabric.hpp"

#include <algorithm>
#include <cmath>

// Networks of one level of switches, or two.

namespace headroom::network {

using namespace topologies;

namespace {

/// Up to the switch and down again.
void cross(int from, int to, Route& route) {
    route.push_back(id(2 * std::int64_t{from}));
    route.push_back(id(2 * std::int64_t{to} + 1));
}

/// Leaves and spines by number.
struct LeafSpine {
    int leaf, spines, adapters;
    std::int64_t first; ///< link between a leaf and a spine
    Spread spread;

    /// Leaf of a port: on rails, ports of one NIC number share leaves.
    [[nodiscard]] std::int64_t leaf_of(std::int64_t port) const {
        return port / adapters / leaf * adapters + port % adapters;
    }
    [[nodiscard]] std::int64_t uplink(std::int64_t at, std::int64_t spine) const {
        return first + 2 * (at * spines + spine);
    }

    void operator()(int from, int to, Route& route) const {
        std::int64_t const up = leaf_of(from), down = leaf_of(to);
        route.push_back(id(2 * std::int64_t{from}));
        if (up != down) {
            auto const ways = static_cast<std::uint64_t>(spines);
            auto const spine = static_cast<std::int64_t>(
                spread == Spread::hash ? mixed(from, to) % ways : static_cast<std::uint64_t>(to / adapters) % ways);
            route.push_back(id(uplink(up, spine)));
            route.push_back(id(uplink(down, spine) + 1));
        }
        route.push_back(id(2 * std::int64_t{to} + 1));
    }
};

} // namespace

Topology build_topology(StarNetwork const& network, std::string_view where) {
    Asked const asked{where};
    Fabric fabric{.kind = "star", .ports = asked.ports(network.endpoints, network.nodes, network.port)};
    for (std::int64_t i = 0; i < fabric.ports; ++i) {
        fabric.join(place(port_kind(network.nodes), i), place(Place::Kind::fabric, 0), network.port.bandwidth,
                    0.5 * network.port.latency);
    }
    fabric.router = cross;
    return with_nodes(std::move(fabric), network.nodes, network.endpoints);
}

Topology build_topology(RailNetwork const& network, std::string_view where) {
    Asked const asked{where};
    asked.at_least(network.nodes.accelerators, 2, "accelerators of a node");
    Fabric fabric{.kind = "rails", .ports = asked.ports(network.endpoints, network.nodes, network.port)};
    for (std::int64_t i = 0; i < fabric.ports; ++i) {
        fabric.join(place(Place::Kind::adapter, i), place(Place::Kind::rail, i % network.nodes.adapters),
                    network.port.bandwidth, 0.5 * network.port.latency);
    }
    fabric.router = cross;
    return with_nodes(std::move(fabric), network.nodes, network.endpoints, Rails::yes);
}

Topology build_topology(LeafSpineNetwork const& network, std::string_view where) {
    Asked const asked{where};
    Fabric fabric{.kind = "leaf-spine", .ports = asked.ports(network.endpoints, network.nodes, network.port)};
    asked.at_least(network.leaf, 1, "leaf");
    asked.at_least(network.spines, 0, "spines");
    asked.positive(network.oversubscription, "oversubscription");
    asked.usable(network.hop, "hop");
    double const uplinks = network.leaf / network.oversubscription;
    int const spines =
        network.spines > 0 ? network.spines : static_cast<int>(std::clamp(std::round(uplinks), 1.0, 4096.0));
    int const adapters = network.rail_optimised ? network.nodes.adapters : 1;
    std::int64_t const leaves = (fabric.ports / adapters + network.leaf - 1) / network.leaf * adapters;
    asked.few_enough(2 * (fabric.ports + leaves * spines));

    LeafSpine const router{.leaf = network.leaf,
                           .spines = spines,
                           .adapters = adapters,
                           .first = 2 * fabric.ports,
                           .spread = network.spread};
    for (std::int64_t i = 0; i < fabric.ports; ++i) {
        fabric.join(place(port_kind(network.nodes), i), place(Place::Kind::leaf, router.leaf_of(i)),
                    network.port.bandwidth, 0.5 * network.port.latency);
    }
    BytesPerSecond const rate = uplinks / spines * network.port.bandwidth;
    for (std::int64_t i = 0; i < leaves * spines; ++i) {
        fabric.join(place(Place::Kind::leaf, i / spines), place(Place::Kind::spine, i % spines), rate, network.hop);
    }
    fabric.router = router;
    return with_nodes(std::move(fabric), network.nodes, network.endpoints);
}

} // namespace headroom::network
