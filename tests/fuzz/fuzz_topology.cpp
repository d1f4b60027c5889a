// Any text is read as a network of 48 endpoints, or refused with one line; what was read has routes between its ends.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/io/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace headroom;
    using namespace headroom::network;
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    Link const link{.latency = Seconds{2e-6}, .bandwidth = BytesPerSecond{50e9}};
    io::TopologyDefaults const given{
        .endpoints = 48, .port = link, .nodes = {.accelerators = 4, .adapters = 2, .scale_up = link}};
    try {
        Topology const topology = io::parse_topology(text, "here", given);
        Route route;
        for (int const to : {0, topology.endpoints() / 2, topology.endpoints() - 1}) {
            topology.route(0, to, route);
            require(route.empty() == (to == 0));
            for (LinkId const id : route) { require(id < topology.links().size()); }
        }
    } catch (InputError const& error) {
        std::string_view const line = error.what();
        require(line.starts_with("here"));
        require(line.find('\n') == std::string_view::npos);
    }
    return 0;
}
