#pragma once

#include "headroom/machine.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::network {

/// End of a link of a network.
struct Place {
    enum class Kind : std::uint8_t { endpoint, node, adapter, rail, leaf, spine, core, router, fabric };
    Kind kind = Kind::endpoint;
    std::uint32_t index = 0;
    bool operator==(Place const&) const = default;
};
std::string_view name_of(Place::Kind kind);

/// One direction of a cable, or of several that are used as one.
struct NetworkLink {
    BytesPerSecond capacity;
    Seconds latency; ///< to the far end, the switch there included
    Place from, to;
};
/// "leaf 3 -> spine 1"
std::string name_of(NetworkLink const& link);

using LinkId = std::uint32_t;
using Route = std::vector<LinkId>;

/// Endpoints, and the directed links that join them by way of switches. There is one route from each endpoint to each
/// other; routes are computed when they are asked for.
class Topology {
public:
    /// Appends the links from one endpoint to another, which differ.
    using Router = std::function<void(int from, int to, Route& route)>;

    Topology(std::string_view kind, int endpoints, std::vector<NetworkLink> links, Router router)
        : kind_{kind}, endpoints_{endpoints}, links_{std::move(links)}, router_{std::move(router)} {}

    /// "fat-tree"
    [[nodiscard]] std::string_view kind() const { return kind_; }
    [[nodiscard]] int endpoints() const { return endpoints_; }
    [[nodiscard]] std::span<NetworkLink const> links() const { return links_; }
    /// Writes the links from `from` to `to` in their order; none where the two are one.
    void route(int from, int to, Route& route) const {
        route.clear();
        if (from != to) { router_(from, to, route); }
    }
    /// Sum of the latencies of the route's links.
    [[nodiscard]] Seconds latency_of(std::span<LinkId const> route) const;

private:
    std::string kind_;
    int endpoints_;
    std::vector<NetworkLink> links_;
    Router router_;
};

/// Choice among several equal paths for a pair of endpoints; each pair keeps its path.
enum class Spread {
    destination, ///< number of the destination modulo the ways: shifts of consecutive ranks never meet on the way up
    hash,        ///< of both ends, as equal-cost routing does: some ways get more pairs than others
};

/// Accelerators that share a scale-up switch, and the NICs of their node. Accelerator i uses NIC i x NICs /
/// accelerators: a NIC for each where there are as many, else several share one.
struct Nodes {
    int accelerators = 1; ///< 1: an endpoint is a NIC of the network and there is no scale-up switch
    int adapters = 1;
    Link scale_up = {}; ///< of each accelerator; its latency is that of a message between two of them
};

// Below, `port` is the link of each endpoint (of each NIC where nodes have several accelerators). Its latency is that
// of a message between two on the same switch, half on either side; `hop` is added by each further link between
// switches. All numbers of members are checked. Errors: InputError{usage} at `where`.

/// Every endpoint on one switch that takes all of them at full rate.
struct StarNetwork {
    int endpoints = 1;
    Link port;
    Nodes nodes = {};
};

/// NIC i of every node on switch i, its rail. A message to an accelerator on another rail first goes by the scale-up
/// switch to the accelerator of its own node that is on that rail.
/// Source: [NCCL]
struct RailNetwork {
    int endpoints = 8;
    Link port;
    Nodes nodes{.accelerators = 8, .adapters = 8};
};

/// Leaf switches of `leaf` ports each, every leaf linked with every spine.
///
///     rate of a link between leaf and spine = leaf B / (oversubscription spines)
///
/// Rail-optimised: NICs of one number share leaves, so that those of one node are on different leaves.
struct LeafSpineNetwork {
    int endpoints = 1;
    Link port;
    int leaf = 32;
    int spines = 0; ///< 0: as many as give each uplink about the rate of a port
    double oversubscription = 1.0;
    Seconds hop = {};
    Spread spread = Spread::destination;
    bool rail_optimised = false;
    Nodes nodes = {};
};

/// Three levels: leaves of `leaf` ports with leaf / oversubscription uplinks; pods of `pod` leaves that have as many
/// spines as a leaf has uplinks; above each spine `pod` cores, that it shares with the spines of its number in all pods.
/// All links have the rate of a port. With leaf = pod = k/2 and no oversubscription it is the k-ary fat tree.
/// Source: [AlFares2008]
struct FatTreeNetwork {
    int endpoints = 1;
    Link port;
    int leaf = 32;
    int pod = 0; ///< 0: as many as a leaf has ports
    double oversubscription = 1.0;
    Seconds hop = {};
    Spread spread = Spread::destination;
    Nodes nodes = {};
};

/// Groups of routers that are all linked with each other; between each two groups floor(routers global / (groups - 1))
/// links, spread over the routers. Minimal routes take at most one link in each group and one between; Valiant's go by way
/// of a third group that a hash of the pair picks.
/// Source: [Kim2008]
struct DragonflyNetwork {
    int endpoints = 1;
    Link port;
    int router = 4;  ///< endpoints a router
    int routers = 8; ///< a group
    int global = 4;  ///< links of a router to other groups
    Seconds hop = {};
    double local_rate = 1.0, global_rate = 1.0; ///< of such links, in rates of a port
    bool valiant = false;
    Nodes nodes = {};
};

/// Two or three (or one, a ring) sides; every endpoint has a link each way along every side. Routes go along one side
/// after the other, first sides first, the shorter way round; of two equal ways the one upwards.
struct TorusNetwork {
    std::vector<int> sides;
    Link link; ///< latency of one link, rate of each
};

Topology build_topology(StarNetwork const& network, std::string_view where = "topology");
Topology build_topology(RailNetwork const& network, std::string_view where = "topology");
Topology build_topology(LeafSpineNetwork const& network, std::string_view where = "topology");
Topology build_topology(FatTreeNetwork const& network, std::string_view where = "topology");
Topology build_topology(DragonflyNetwork const& network, std::string_view where = "topology");
Topology build_topology(TorusNetwork const& network, std::string_view where = "topology");

} // namespace headroom::network
