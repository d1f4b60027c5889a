#pragma once

#include "arguments.hpp"

#include "headroom/fit/communication_fit.hpp"
#include "headroom/io/catalog.hpp"

namespace headroom::cli {

/// The cluster of --cluster with the network of --network; empty without --cluster.
std::optional<Cluster> stated_cluster(Arguments const& arguments, io::Catalog const& catalog);

/// Links of a measured system: those of --cluster, else of the catalog's node around the accelerator that its name says.
/// `arguments` and `catalog` must outlive the result.
std::function<std::optional<fit::KnownLinks>(std::string const&)> known_links_of(Arguments const& arguments,
                                                                                 io::Catalog const& catalog);

} // namespace headroom::cli
