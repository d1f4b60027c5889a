#include "fabric.hpp"

namespace headroom::network {

using namespace topologies;

namespace {

/// Along one side after the other, the shorter way round. Links of an endpoint: up and down along each side.
struct Torus {
    std::vector<int> sides;

    void operator()(int from, int to, Route& route) const {
        std::int64_t at = from, stride = 1;
        for (std::size_t side = 0; side < sides.size(); ++side) {
            std::int64_t const length = sides[side];
            std::int64_t here = at / stride % length;
            std::int64_t const there = to / stride % length;
            std::int64_t const ahead = (there - here + length) % length;
            bool const up = 2 * ahead <= length;
            for (std::int64_t left = up ? ahead : length - ahead; left > 0; --left) {
                route.push_back(id(2 * (at * std::ssize(sides) + static_cast<std::int64_t>(side)) + (up ? 0 : 1)));
                std::int64_t const next = (here + (up ? 1 : length - 1)) % length;
                at += (next - here) * stride;
                here = next;
            }
            stride *= length;
        }
    }
};

} // namespace

Topology build_topology(TorusNetwork const& network, std::string_view where) {
    Asked const asked{where};
    if (network.sides.empty() || network.sides.size() > 3) {
        asked.refuse("a torus of " + std::to_string(network.sides.size()) + " sides", "1 to 3", "give them as 8x8x4");
    }
    asked.usable(network.link, "link");
    std::int64_t endpoints = 1;
    for (int const side : network.sides) {
        asked.at_least(side, 1, "side of the torus");
        endpoints *= side;
        asked.at_least(endpoints, 1, "number of endpoints");
    }
    asked.few_enough(2 * endpoints * std::ssize(network.sides));
    std::vector<NetworkLink> links;
    for (std::int64_t i = 0; i < endpoints; ++i) {
        std::int64_t stride = 1;
        for (int const side : network.sides) {
            std::int64_t const here = i / stride % side;
            for (std::int64_t const next : {(here + 1) % side, (here + side - 1) % side}) {
                links.push_back({.capacity = network.link.bandwidth,
                                 .latency = network.link.latency,
                                 .from = place(Place::Kind::endpoint, i),
                                 .to = place(Place::Kind::endpoint, i + (next - here) * stride)});
            }
            stride *= side;
        }
    }
    return {"torus", static_cast<int>(endpoints), std::move(links), Torus{network.sides}};
}

} // namespace headroom::network
