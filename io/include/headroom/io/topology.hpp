#pragma once

#include "headroom/network/topology.hpp"

#include <string_view>

namespace headroom::io {

/// Values of a network that its text does not state.
struct TopologyDefaults {
    int endpoints = 0;         ///< 0: the text must say (`endpoints=1024`); the sides of a torus must come to as many
    Link port;                 ///< zero: the text must say (`bandwidth=50GB/s,latency=2us`)
    network::Nodes nodes = {}; ///< of a cluster; `node=8,adapters=4,scale-up=450GB/s,scale-up-latency=1us`
};

/// Reads a network: its kind, then fields.
///
///     star
///     rails:node=8,adapters=8,scale-up=450GB/s,scale-up-latency=1us
///     leaf-spine:leaf=32,spines=16,oversubscription=2,spread=hash,rail-optimised=yes,hop=300ns
///     fat-tree:leaf=32,pod=8,oversubscription=2
///     dragonfly:router=4,routers=8,global=4,valiant=yes,local-rate=2,global-rate=1
///     torus:8x8x4
///
/// Errors: InputError{usage} at `where` for unknown kinds and fields (with the nearest), numbers without their unit and
/// sizes that do not fit.
network::Topology parse_topology(std::string_view text, std::string_view where, TopologyDefaults const& defaults);

} // namespace headroom::io
