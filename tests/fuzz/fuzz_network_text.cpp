// Any text about a network is read to rates that are finite and not negative, each word left over lies in the text, and what
// joins a cluster leaves it a network, or is refused with one line.

#include "fuzz/require.hpp"
#include "networks/network_text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

bool sound(double value) { return std::isfinite(value) && value >= 0.0; }

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace headroom;
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    static io::Catalog const catalog;
    static Cluster const node = catalog.cluster("dgx-a100");
    io::NetworkText const read = io::read_network_text(text);
    require(sound(read.nic) && sound(read.nics) && sound(read.total));
    for (io::NetworkWord const& word : read.left_over) { require(word.at < text.size()); }
    Cluster cluster = node;
    try {
        io::join_by_network(catalog, text, "here", cluster);
        require(read.left_over.empty() && sound(cluster.scale_out.bandwidth.base()));
        require(cluster.scale_out.bandwidth.base() > 0.0 && cluster.adapter.base() > 0.0);
    } catch (InputError const& error) {
        std::string_view const line = error.what();
        require(line.starts_with("here"));
        require(line.find('\n') == std::string_view::npos);
    }
    return 0;
}
