#pragma once

#include "records/records.hpp"

#include "headroom/io/catalog.hpp"

namespace headroom::io {

/// A node with everything that it names looked up.
struct ClusterParts {
    NodeRecord node;
    AcceleratorRecord accelerator;
    LinkRecord scale_up, scale_out;
    bool scale_out_is_share = false; ///< its bandwidth is one accelerator's share, not a NIC's
};

LinkRecord find_link(Catalog const& catalog, std::string_view name);
ClusterParts look_up(Catalog const& catalog, NodeRecord const& node);

/// "dgx-h100" of "4xdgx-h100" and "dgx-h100x4"; a text without a number as it is.
std::string name_without_count(Catalog const& catalog, std::string const& what);

/// The cluster of such nodes, with the median on-demand price of its accelerator where one is known.
Cluster build_cluster(Catalog const& catalog, ClusterParts const& parts);

} // namespace headroom::io
