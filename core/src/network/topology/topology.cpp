#include "headroom/network/topology.hpp"

#include "fabric.hpp"

#include "headroom/error.hpp"

#include <cmath>

namespace headroom::network {

std::string_view name_of(Place::Kind kind) {
    switch (kind) {
    case Place::Kind::endpoint: return "endpoint";
    case Place::Kind::node: return "node";
    case Place::Kind::adapter: return "adapter";
    case Place::Kind::rail: return "rail";
    case Place::Kind::leaf: return "leaf";
    case Place::Kind::spine: return "spine";
    case Place::Kind::core: return "core";
    case Place::Kind::router: return "router";
    case Place::Kind::fabric: return "switch";
    }
    return "";
}

std::string name_of(NetworkLink const& link) {
    auto const end = [](Place place) { return std::string{name_of(place.kind)} + ' ' + std::to_string(place.index); };
    return end(link.from) + " -> " + end(link.to);
}

Seconds Topology::latency_of(std::span<LinkId const> route) const {
    Seconds sum;
    for (LinkId const link : route) { sum += links_[link].latency; }
    return sum;
}

namespace topologies {

void Asked::refuse(std::string problem, std::string why, std::string hint) const {
    headroom::refuse(where, std::move(problem), std::move(why), std::move(hint));
}

void Asked::at_least(std::int64_t number, std::int64_t least, std::string_view what) const {
    if (number >= least && number <= most_endpoints) { return; }
    refuse(std::string{what} + " is " + std::to_string(number),
           "from " + std::to_string(least) + " to " + std::to_string(most_endpoints), "give another number");
}

void Asked::positive(double number, std::string_view what) const {
    if (number >= 1e-3 && number <= 1e6) { return; }
    refuse(std::string{what} + " is not a ratio between 0.001 and 1000000", "", "2 is twice as much, 0.5 half");
}

void Asked::usable(Seconds latency, std::string_view what) const {
    if (std::isfinite(latency.base()) && latency >= Seconds{}) { return; }
    refuse(std::string{what} + " is no time", "it must be finite and not negative", "give one such as 300ns");
}

void Asked::usable(Link const& link, std::string_view what) const {
    usable(link.latency, std::string{what} + " latency");
    if (std::isfinite(link.bandwidth.base()) && link.bandwidth > BytesPerSecond{}) { return; }
    refuse(std::string{what} + " has no rate", "it must be finite and more than 0", "give one such as 50GB/s");
}

void Asked::few_enough(std::int64_t links) const {
    if (links <= most_links) { return; }
    refuse("the network has " + std::to_string(links) + " links", std::to_string(most_links) + " are the most",
           "ask for fewer switches or endpoints");
}

std::int64_t Asked::ports(std::int64_t endpoints, Nodes const& nodes, Link const& port) const {
    at_least(endpoints, 1, "endpoints");
    at_least(nodes.accelerators, 1, "accelerators of a node");
    at_least(nodes.adapters, 1, "NICs of a node");
    usable(port, "port");
    if (nodes.accelerators == 1) { return endpoints; }
    if (nodes.accelerators % nodes.adapters != 0) {
        refuse(std::to_string(nodes.accelerators) + " accelerators cannot share " + std::to_string(nodes.adapters) +
                   " NICs",
               "each NIC serves as many", "give a number of NICs that divides the accelerators");
    }
    if (endpoints % nodes.accelerators != 0) {
        refuse(std::to_string(endpoints) + " endpoints are no whole nodes of " + std::to_string(nodes.accelerators), "",
               "ask for a multiple of " + std::to_string(nodes.accelerators));
    }
    usable(nodes.scale_up, "scale-up link");
    few_enough(2 * endpoints);
    return endpoints / nodes.accelerators * nodes.adapters;
}

namespace {

/// Routes of accelerators in nodes whose NICs are the ports of a fabric.
class NodeRouter {
public:
    NodeRouter(Topology::Router fabric, Nodes const& nodes, std::int64_t first, Rails rails)
        : fabric_{std::move(fabric)},
          nodes_{nodes},
          share_{nodes.accelerators / nodes.adapters},
          first_{first},
          rails_{rails} {}

    void operator()(int from, int to, Route& route) const {
        int const here = from / nodes_.accelerators, there = to / nodes_.accelerators;
        if (here == there) {
            scale_up(from, to, route);
            return;
        }
        int const arrives = adapter(to);
        int const leaves = rails_ == Rails::yes ? arrives : adapter(from);
        if (leaves != adapter(from)) {
            scale_up(from, here * nodes_.accelerators + leaves * share_ + from % share_, route);
        }
        fabric_(here * nodes_.adapters + leaves, there * nodes_.adapters + arrives, route);
    }

private:
    [[nodiscard]] int adapter(int endpoint) const { return endpoint % nodes_.accelerators / share_; }
    void scale_up(int from, int to, Route& route) const {
        route.push_back(id(first_ + 2 * std::int64_t{from}));
        route.push_back(id(first_ + 2 * std::int64_t{to} + 1));
    }

    Topology::Router fabric_;
    Nodes nodes_;
    int share_; ///< accelerators of a NIC
    std::int64_t first_;
    Rails rails_;
};

} // namespace

Topology with_nodes(Fabric fabric, Nodes const& nodes, int endpoints, Rails rails) {
    if (nodes.accelerators == 1) { return {fabric.kind, endpoints, std::move(fabric.links), std::move(fabric.router)}; }
    auto const first = static_cast<std::int64_t>(fabric.links.size());
    for (int i = 0; i < endpoints; ++i) {
        fabric.join(place(Place::Kind::endpoint, i), place(Place::Kind::node, i / nodes.accelerators),
                    nodes.scale_up.bandwidth, 0.5 * nodes.scale_up.latency);
    }
    NodeRouter router{std::move(fabric.router), nodes, first, rails};
    return {fabric.kind, endpoints, std::move(fabric.links), std::move(router)};
}

} // namespace topologies
} // namespace headroom::network
