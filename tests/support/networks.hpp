#pragma once

#include "headroom/network/topology.hpp"

#include <string>
#include <vector>

namespace headroom::test {

struct NamedTopology {
    std::string name;
    network::Topology topology;
};

/// Small networks of every kind, with their corners: partly filled leaves, one group, sides of 1 and 2.
inline std::vector<NamedTopology> small_networks() {
    Link const port{.latency = Seconds{2e-6}, .bandwidth = BytesPerSecond{50e9}};
    Link const fast{.latency = Seconds{1e-6}, .bandwidth = BytesPerSecond{450e9}};
    Seconds const hop{3e-7};
    network::Nodes const own{.accelerators = 4, .adapters = 4, .scale_up = fast};
    network::Nodes const shared{.accelerators = 4, .adapters = 2, .scale_up = fast};
    return {
        {"star", network::build_topology(network::StarNetwork{.endpoints = 7, .port = port})},
        {"star of nodes",
         network::build_topology(network::StarNetwork{.endpoints = 16, .port = port, .nodes = shared})},
        {"one node", network::build_topology(network::StarNetwork{.endpoints = 4, .port = port, .nodes = own})},
        {"rails", network::build_topology(network::RailNetwork{.endpoints = 16, .port = port, .nodes = own})},
        {"shared rails", network::build_topology(network::RailNetwork{.endpoints = 16, .port = port, .nodes = shared})},
        {"leaf-spine", network::build_topology(network::LeafSpineNetwork{
                           .endpoints = 22, .port = port, .leaf = 4, .oversubscription = 2.0, .hop = hop})},
        {"hashed leaf-spine",
         network::build_topology(network::LeafSpineNetwork{
             .endpoints = 24, .port = port, .leaf = 4, .spines = 3, .hop = hop, .spread = network::Spread::hash})},
        {"rail-optimised leaf-spine",
         network::build_topology(network::LeafSpineNetwork{
             .endpoints = 48, .port = port, .leaf = 3, .spines = 2, .rail_optimised = true, .nodes = own})},
        {"fat tree",
         network::build_topology(network::FatTreeNetwork{.endpoints = 54, .port = port, .leaf = 3, .hop = hop})},
        {"oversubscribed fat tree",
         network::build_topology(network::FatTreeNetwork{
             .endpoints = 37, .port = port, .leaf = 4, .pod = 2, .oversubscription = 2.0, .hop = hop})},
        {"hashed fat tree of nodes", network::build_topology(network::FatTreeNetwork{.endpoints = 64,
                                                                                     .port = port,
                                                                                     .leaf = 4,
                                                                                     .pod = 2,
                                                                                     .hop = hop,
                                                                                     .spread = network::Spread::hash,
                                                                                     .nodes = shared})},
        {"dragonfly", network::build_topology(network::DragonflyNetwork{
                          .endpoints = 72, .port = port, .router = 2, .routers = 4, .global = 2, .hop = hop})},
        {"small dragonfly",
         network::build_topology(network::DragonflyNetwork{
             .endpoints = 20, .port = port, .router = 2, .routers = 4, .global = 2, .hop = hop, .global_rate = 0.5})},
        {"Valiant dragonfly",
         network::build_topology(network::DragonflyNetwork{
             .endpoints = 40, .port = port, .router = 2, .routers = 4, .global = 2, .hop = hop, .valiant = true})},
        {"ring", network::build_topology(network::TorusNetwork{.sides = {9}, .link = port})},
        {"torus", network::build_topology(network::TorusNetwork{.sides = {4, 5}, .link = port})},
        {"deep torus", network::build_topology(network::TorusNetwork{.sides = {3, 2, 4}, .link = port})},
        {"flat torus", network::build_topology(network::TorusNetwork{.sides = {1, 6, 1}, .link = port})},
    };
}

} // namespace headroom::test
