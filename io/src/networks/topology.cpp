#include "headroom/io/topology.hpp"

#include "records/record.hpp"
#include "topology_fields.hpp"

#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <array>

namespace headroom::io {

using namespace headroom::network;

namespace {

/// A text that is being read.
struct Reading {
    TopologyFields fields;
    std::string_view where;
    TopologyDefaults given;
};

int endpoints_of(Reading& reading) {
    int endpoints = reading.given.endpoints;
    reading.fields.read("endpoints", endpoints);
    if (endpoints == 0) { usage_error(reading.where, "how many endpoints are there?", {}, "add endpoints=1024"); }
    return endpoints;
}

Link port_of(Reading& reading) {
    Link port = reading.given.port;
    reading.fields.read("bandwidth", port.bandwidth);
    reading.fields.read("latency", port.latency);
    if (port.bandwidth == BytesPerSecond{}) {
        usage_error(reading.where, "which rate has a port?", {}, "add bandwidth=50GB/s,latency=2us");
    }
    return port;
}

/// A group that is smaller than a node is one node.
Nodes nodes_of(Reading& reading, int endpoints) {
    Nodes nodes = reading.given.nodes;
    if (nodes.accelerators > endpoints) { nodes = {endpoints, 1, nodes.scale_up}; }
    if (reading.fields.read("node", nodes.accelerators)) { nodes.adapters = nodes.accelerators; }
    reading.fields.read("adapters", nodes.adapters);
    reading.fields.read("scale-up", nodes.scale_up.bandwidth);
    reading.fields.read("scale-up-latency", nodes.scale_up.latency);
    if (nodes.accelerators > 1 && nodes.scale_up.bandwidth == BytesPerSecond{}) {
        usage_error(reading.where, "the rate of the link inside a node is not stated", {},
                    "add scale-up=450GB/s,scale-up-latency=1us");
    }
    return nodes;
}

Spread spread_of(Reading& reading) {
    std::string word = "destination";
    reading.fields.read("spread", word, {"destination", "hash"});
    return word == "hash" ? Spread::hash : Spread::destination;
}

template <class Network> Network edge_of(Reading& reading) {
    Network network;
    network.endpoints = endpoints_of(reading);
    network.port = port_of(reading);
    network.nodes = nodes_of(reading, network.endpoints);
    return network;
}

Topology finish(Reading const& reading, auto const& network) {
    reading.fields.refuse_the_rest();
    return build_topology(network, reading.where);
}

Topology read_star(Reading& reading) { return finish(reading, edge_of<StarNetwork>(reading)); }

Topology read_rails(Reading& reading) {
    if (reading.given.nodes.accelerators < 2) { reading.given.nodes = {8, 8, reading.given.nodes.scale_up}; }
    return finish(reading, edge_of<RailNetwork>(reading));
}

Topology read_leaf_spine(Reading& reading) {
    auto network = edge_of<LeafSpineNetwork>(reading);
    reading.fields.read("leaf", network.leaf);
    reading.fields.read("spines", network.spines);
    reading.fields.read("oversubscription", network.oversubscription);
    reading.fields.read("hop", network.hop);
    reading.fields.read("rail-optimised", network.rail_optimised);
    network.spread = spread_of(reading);
    return finish(reading, network);
}

Topology read_fat_tree(Reading& reading) {
    auto network = edge_of<FatTreeNetwork>(reading);
    reading.fields.read("leaf", network.leaf);
    reading.fields.read("pod", network.pod);
    reading.fields.read("oversubscription", network.oversubscription);
    reading.fields.read("hop", network.hop);
    network.spread = spread_of(reading);
    return finish(reading, network);
}

Topology read_dragonfly(Reading& reading) {
    auto network = edge_of<DragonflyNetwork>(reading);
    reading.fields.read("router", network.router);
    reading.fields.read("routers", network.routers);
    reading.fields.read("global", network.global);
    reading.fields.read("hop", network.hop);
    reading.fields.read("local-rate", network.local_rate);
    reading.fields.read("global-rate", network.global_rate);
    reading.fields.read("valiant", network.valiant);
    return finish(reading, network);
}

/// "8x8x4"
std::vector<int> sides_of(Reading const& reading) {
    std::vector<int> sides;
    std::string_view text = reading.fields.sides();
    if (text.empty()) { usage_error(reading.where, "a torus needs its sides", {}, "write torus:8x8x4"); }
    while (sides.size() < 4) {
        std::string_view const side = text.substr(0, text.find('x'));
        sides.push_back(parse_whole(side, reading.where));
        if (side.size() == text.size()) { break; }
        text.remove_prefix(side.size() + 1);
    }
    return sides;
}

Topology read_torus(Reading& reading) {
    int endpoints = reading.given.endpoints;
    reading.fields.read("endpoints", endpoints);
    TorusNetwork const network{.sides = sides_of(reading), .link = port_of(reading)};
    Topology torus = finish(reading, network);
    if (endpoints != 0 && torus.endpoints() != endpoints) {
        usage_error(reading.where, fmt::format("a torus of {} endpoints", torus.endpoints()),
                    fmt::format("{} are asked for", endpoints), "give sides whose product is that");
    }
    return torus;
}

struct Kind {
    std::string_view name;
    Topology (*read)(Reading&);
};
constexpr std::array kinds{
    Kind{"star", read_star},         Kind{"rails", read_rails},         Kind{"leaf-spine", read_leaf_spine},
    Kind{"fat-tree", read_fat_tree}, Kind{"dragonfly", read_dragonfly}, Kind{"torus", read_torus}};

} // namespace

Topology parse_topology(std::string_view text, std::string_view where, TopologyDefaults const& defaults) {
    auto const colon = text.find(':');
    std::vector<std::string> names;
    for (Kind const& kind : kinds) { names.emplace_back(kind.name); }
    std::string const name = parse_choice(text.substr(0, colon), names, where);
    std::string_view const fields = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    Reading reading{.fields = {fields, where}, .where = where, .given = defaults};
    if (name != "torus" && !reading.fields.sides().empty()) {
        usage_error(where, fmt::format("{} is no field", headroom::quoted(reading.fields.sides())), {},
                    "write key=value");
    }
    for (Kind const& kind : kinds) {
        if (kind.name == name) { return kind.read(reading); }
    }
    throw ContractError{"a kind of network without a reader"};
}

} // namespace headroom::io
