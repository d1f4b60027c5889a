#pragma once

#include "headroom/network/topology.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// Common parts of the builders of networks: ports at the edge, the nodes below them, and how sizes are refused.

namespace headroom::network::topologies {

inline constexpr std::int64_t most_endpoints = 1 << 18, most_links = 1 << 21;

/// Switches and links above the ports: port p sends by link 2 p and receives by link 2 p + 1.
struct Fabric {
    std::string_view kind;
    std::int64_t ports = 0;
    std::vector<NetworkLink> links = {};
    Topology::Router router = {};

    /// A link and the one back, numbers links.size() and the next.
    void join(Place a, Place b, BytesPerSecond capacity, Seconds latency) {
        links.push_back({.capacity = capacity, .latency = latency, .from = a, .to = b});
        links.push_back({.capacity = capacity, .latency = latency, .from = b, .to = a});
    }
};

/// Checks of a network's parameters; errors name `where`.
struct Asked {
    std::string_view where;

    [[noreturn]] void refuse(std::string problem, std::string why, std::string hint) const;
    /// A number of members, at least `least`.
    void at_least(std::int64_t number, std::int64_t least, std::string_view what) const;
    /// A ratio or a multiple of a rate.
    void positive(double number, std::string_view what) const;
    void usable(Link const& link, std::string_view what) const;
    void usable(Seconds latency, std::string_view what) const;
    void few_enough(std::int64_t links) const;
    /// The ports that so many endpoints need.
    [[nodiscard]] std::int64_t ports(std::int64_t endpoints, Nodes const& nodes, Link const& port) const;
};

/// Kind of place of the ports: NICs where nodes have several accelerators, else endpoints.
inline Place::Kind port_kind(Nodes const& nodes) {
    return nodes.accelerators > 1 ? Place::Kind::adapter : Place::Kind::endpoint;
}

/// A place of a numbered kind.
inline Place place(Place::Kind kind, std::int64_t index) { return {kind, static_cast<std::uint32_t>(index)}; }
/// Links are counted in 32 bits, which `few_enough` has seen to.
inline LinkId id(std::int64_t link) { return static_cast<LinkId>(link); }

/// A number that is a function of both ends and looks like chance. Source: [Steele2014]
constexpr std::uint64_t mixed(int from, int to) {
    std::uint64_t z =
        (static_cast<std::uint64_t>(from) << 32U | static_cast<std::uint64_t>(to)) + 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
}

enum class Rails { no, yes };

/// The fabric with the nodes below its ports. On rails, messages go out on the rail on which they arrive.
Topology with_nodes(Fabric fabric, Nodes const& nodes, int endpoints, Rails rails = Rails::no);

} // namespace headroom::network::topologies
