#pragma once

#include "headroom/topology.hpp"

#include <string>
#include <vector>

namespace headroom::test {

struct NamedTopology {
    std::string name;
    Topology topology;
};

/// Small networks of every kind, with their corners: partly filled leaves, one group, sides of 1 and 2.
inline std::vector<NamedTopology> small_networks() {
    Link const port{.latency = Seconds{2e-6}, .bandwidth = BytesPerSecond{50e9}};
    Link const fast{.latency = Seconds{1e-6}, .bandwidth = BytesPerSecond{450e9}};
    Seconds const hop{3e-7};
    Nodes const own{.accelerators = 4, .adapters = 4, .scale_up = fast};
    Nodes const shared{.accelerators = 4, .adapters = 2, .scale_up = fast};
    return {
        {"star", build_topology(StarNetwork{.endpoints = 7, .port = port})},
        {"star of nodes", build_topology(StarNetwork{.endpoints = 16, .port = port, .nodes = shared})},
        {"one node", build_topology(StarNetwork{.endpoints = 4, .port = port, .nodes = own})},
        {"rails", build_topology(RailNetwork{.endpoints = 16, .port = port, .nodes = own})},
        {"shared rails", build_topology(RailNetwork{.endpoints = 16, .port = port, .nodes = shared})},
        {"leaf-spine", build_topology(LeafSpineNetwork{
                           .endpoints = 22, .port = port, .leaf = 4, .oversubscription = 2.0, .hop = hop})},
        {"hashed leaf-spine",
         build_topology(LeafSpineNetwork{
             .endpoints = 24, .port = port, .leaf = 4, .spines = 3, .hop = hop, .spread = Spread::hash})},
        {"rail-optimised leaf-spine",
         build_topology(LeafSpineNetwork{
             .endpoints = 48, .port = port, .leaf = 3, .spines = 2, .rail_optimised = true, .nodes = own})},
        {"fat tree", build_topology(FatTreeNetwork{.endpoints = 54, .port = port, .leaf = 3, .hop = hop})},
        {"oversubscribed fat tree",
         build_topology(
             FatTreeNetwork{.endpoints = 37, .port = port, .leaf = 4, .pod = 2, .oversubscription = 2.0, .hop = hop})},
        {"hashed fat tree of nodes",
         build_topology(FatTreeNetwork{
             .endpoints = 64, .port = port, .leaf = 4, .pod = 2, .hop = hop, .spread = Spread::hash, .nodes = shared})},
        {"dragonfly", build_topology(DragonflyNetwork{
                          .endpoints = 72, .port = port, .router = 2, .routers = 4, .global = 2, .hop = hop})},
        {"small dragonfly",
         build_topology(DragonflyNetwork{
             .endpoints = 20, .port = port, .router = 2, .routers = 4, .global = 2, .hop = hop, .global_rate = 0.5})},
        {"Valiant dragonfly",
         build_topology(DragonflyNetwork{
             .endpoints = 40, .port = port, .router = 2, .routers = 4, .global = 2, .hop = hop, .valiant = true})},
        {"ring", build_topology(TorusNetwork{.sides = {9}, .link = port})},
        {"torus", build_topology(TorusNetwork{.sides = {4, 5}, .link = port})},
        {"deep torus", build_topology(TorusNetwork{.sides = {3, 2, 4}, .link = port})},
        {"flat torus", build_topology(TorusNetwork{.sides = {1, 6, 1}, .link = port})},
    };
}

} // namespace headroom::test
