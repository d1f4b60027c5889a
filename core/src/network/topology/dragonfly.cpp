#include "fabric.hpp"

#include <algorithm>

namespace headroom::network {

using namespace topologies;

namespace {

/// Routers, and the links within groups and between them, by number.
struct Dragonfly {
    std::int64_t router, routers, global; ///< endpoints of a router, routers of a group, outer links of a router
    std::int64_t groups, parallel;        ///< parallel: links from a group to each other one
    std::int64_t first_local, first_global;
    bool valiant;

    /// The router that has the link to the group so many places on.
    [[nodiscard]] std::int64_t holder(std::int64_t group, std::int64_t offset, std::int64_t which) const {
        return group * routers + (offset - 1 + (groups - 1) * which) / global;
    }
    [[nodiscard]] std::int64_t local(std::int64_t from, std::int64_t to) const {
        std::int64_t const here = from % routers, there = to % routers;
        return first_local + from * (routers - 1) + (there > here ? there - 1 : there);
    }
    [[nodiscard]] std::int64_t outer(std::int64_t group, std::int64_t offset, std::int64_t which) const {
        return first_global + (group * (groups - 1) + offset - 1) * parallel + which;
    }

    void step(std::int64_t from, std::int64_t to, Route& route) const {
        if (from != to) { route.push_back(id(local(from, to))); }
    }
    /// From a router to a router of another group: the one where the link between the groups ends.
    std::int64_t leave(std::int64_t from, std::int64_t group, std::int64_t which, Route& route) const {
        std::int64_t const here = from / routers, offset = (group - here + groups) % groups;
        step(from, holder(here, offset, which), route);
        route.push_back(id(outer(here, offset, which)));
        return holder(group, groups - offset, which);
    }

    void operator()(int from, int to, Route& route) const {
        std::int64_t at = from / router;
        std::int64_t const target = to / router, here = at / routers, there = target / routers;
        route.push_back(id(2 * std::int64_t{from}));
        if (here != there) {
            std::int64_t const which = to % parallel;
            if (valiant && groups > 2) {
                auto by = static_cast<std::int64_t>(mixed(from, to) % static_cast<std::uint64_t>(groups - 2));
                if (by >= std::min(here, there)) { ++by; }
                if (by >= std::max(here, there)) { ++by; }
                at = leave(at, by, which, route);
            }
            at = leave(at, there, which, route);
        }
        step(at, target, route);
        route.push_back(id(2 * std::int64_t{to} + 1));
    }
};

void join_routers(Fabric& fabric, DragonflyNetwork const& network, Dragonfly const& fly) {
    auto const add = [&](std::int64_t from, std::int64_t to, double rate) {
        fabric.links.push_back({.capacity = rate * network.port.bandwidth,
                                .latency = network.hop,
                                .from = place(Place::Kind::router, from),
                                .to = place(Place::Kind::router, to)});
    };
    for (std::int64_t from = 0; from < fly.groups * fly.routers; ++from) {
        std::int64_t const first = from / fly.routers * fly.routers;
        for (std::int64_t to = first; to < first + fly.routers; ++to) {
            if (to != from) { add(from, to, network.local_rate); }
        }
    }
    for (std::int64_t group = 0; group < fly.groups; ++group) {
        for (std::int64_t offset = 1; offset < fly.groups; ++offset) {
            for (std::int64_t which = 0; which < fly.parallel; ++which) {
                add(fly.holder(group, offset, which),
                    fly.holder((group + offset) % fly.groups, fly.groups - offset, which), network.global_rate);
            }
        }
    }
}

} // namespace

Topology build_topology(DragonflyNetwork const& network, std::string_view where) {
    Asked const asked{where};
    Fabric fabric{.kind = "dragonfly", .ports = asked.ports(network.endpoints, network.nodes, network.port)};
    asked.at_least(network.router, 1, "router");
    asked.at_least(network.routers, 1, "routers");
    asked.at_least(network.global, 1, "global");
    asked.positive(network.local_rate, "local rate");
    asked.positive(network.global_rate, "global rate");
    asked.usable(network.hop, "hop");
    std::int64_t const in_group = std::int64_t{network.router} * network.routers;
    std::int64_t const groups = (fabric.ports + in_group - 1) / in_group,
                       outer = std::int64_t{network.routers} * network.global;
    if (groups - 1 > outer) {
        asked.refuse(std::to_string(groups) + " groups cannot all be linked",
                     "a group has " + std::to_string(outer) + " links to others", "give more routers or global links");
    }
    Dragonfly const fly{.router = network.router,
                        .routers = network.routers,
                        .global = network.global,
                        .groups = groups,
                        .parallel = groups > 1 ? outer / (groups - 1) : 1,
                        .first_local = 2 * fabric.ports,
                        .first_global = 2 * fabric.ports + groups * network.routers * (network.routers - 1),
                        .valiant = network.valiant};
    asked.few_enough(fly.first_global + groups * (groups - 1) * fly.parallel);
    for (std::int64_t i = 0; i < fabric.ports; ++i) {
        fabric.join(place(port_kind(network.nodes), i), place(Place::Kind::router, i / network.router),
                    network.port.bandwidth, 0.5 * network.port.latency);
    }
    join_routers(fabric, network, fly);
    fabric.router = fly;
    return with_nodes(std::move(fabric), network.nodes, network.endpoints);
}

} // namespace headroom::network
