#pragma once

#include "networks/network_text.hpp"
#include "records/records.hpp"

#include "headroom/machine.hpp"

#include <string_view>

namespace headroom::io {

/// Name of the catalog's link whose NICs are of a family and come nearest to a rate; empty where none is of the family.
std::string_view network_link(std::string_view family, double nic_gigabits);

/// Gives a cluster's nodes a network: its latency and library constants from the link, its rates from the text. Without a
/// stated rate the catalog's node keeps its own on the same link; on another link each accelerator has one NIC, of a network
/// of hosts each host.
void set_network(LinkRecord const& link, NetworkText const& text, NodeNetwork const& node, Cluster& cluster);

} // namespace headroom::io
