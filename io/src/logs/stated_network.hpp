#pragma once

#include <string>
#include <string_view>

namespace headroom::io {

/// What words say of the network between nodes. Zero and empty: they do not say.
struct StatedNetwork {
    std::string family;   ///< "infiniband", "ethernet" (RoCE too), "efa", ...: what a rate alone does not tell
    bool rdma = false;    ///< InfiniBand, RoCE: adapters beside the accelerators, not one for the host
    double adapter = 0.0; ///< Gbit/s of one adapter
    double node = 0.0;    ///< Gbit/s of all adapters of a node
};

/// Reads rates and counts of adapters: "8x HDR", "NDR400", "8x 400G RoCE", "200Gb/s x8", "400 Gb/s per GPU", "3.2 Tbps".
/// A rate that no adapter has is the node's; bytes ("900 GB/s") are of other links. `per_node`: accelerators.
StatedNetwork stated_network(std::string_view text, int per_node);

} // namespace headroom::io
