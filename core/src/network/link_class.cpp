#include "headroom/network/link_class.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace headroom::network {

namespace {

struct ClassWord {
    std::string_view word; ///< as `normalised` writes it
    LinkClass value;
};
/// A row before another wins: "NVLink, 8x InfiniBand" describes a node by its inner link first.
constexpr std::array class_words{
    ClassWord{"hostmemory", LinkClass::host_memory},
    ClassWord{"sharedmemory", LinkClass::host_memory},
    ClassWord{"nvlink", LinkClass::nvlink},
    ClassWord{"nvswitch", LinkClass::nvlink},
    ClassWord{"xgmi", LinkClass::chip},
    ClassWord{"infinityfabric", LinkClass::chip},
    ClassWord{"neuronlink", LinkClass::chip},
    ClassWord{"pcie", LinkClass::pcie},
    ClassWord{"ethernet", LinkClass::network},
    ClassWord{"infiniband", LinkClass::network},
    ClassWord{"network", LinkClass::network},
    ClassWord{"tcp", LinkClass::network},
};

} // namespace

LinkClass link_class(std::string_view words) {
    std::string const text = normalised(words);
    auto const row = std::ranges::find_if(
        class_words, [&text](ClassWord const& one) { return text.find(one.word) != std::string::npos; });
    return row == class_words.end() ? LinkClass::unknown : row->value;
}

LinkClass scale_up_class(Cluster const& cluster) {
    switch (cluster.scale_up_service.wire) {
    case Wire::nvlink:
    case Wire::nvswitch:
    case Wire::nvls_switch: return LinkClass::nvlink;
    case Wire::mesh: return LinkClass::chip;
    case Wire::pcie: return LinkClass::pcie;
    case Wire::network: return LinkClass::network;
    case Wire::unknown: break;
    }
    constexpr std::array chip_links{"ici-", "gaudi", "neuronlink"};
    bool const chip =
        std::ranges::any_of(chip_links, [&](char const* begin) { return cluster.scale_up_name.starts_with(begin); });
    return chip ? LinkClass::chip : link_class(cluster.scale_up_name);
}

} // namespace headroom::network
