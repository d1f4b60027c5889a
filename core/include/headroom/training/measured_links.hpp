#pragma once

#include "headroom/machine.hpp"
#include "headroom/network/measured_network.hpp"
#include "headroom/training/calibration.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::training {

/// Reason why links of a calibration do not hold for a cluster.
enum class LinkMisfit {
    machine, ///< they were measured on another machine
    inside,  ///< the link inside a node is of another class: host memory compared with NVLink
    between, ///< the link between nodes was measured inside a host
};

/// Measured links that hold for a cluster, and reasons why others do not.
struct FittingLinks {
    network::MeasuredNetwork network;
    std::vector<LinkMisfit> misfits;
};

/// Links of a calibration that hold for a cluster: those of the same machine, level by level of the same class. Where the
/// link inside a node does not hold, curves of several ranks a node do not either.
///
/// `same_machine`: whether the words of `measured.system` name the machine of the cluster.
FittingLinks fitting_links(network::MeasuredNetwork measured, Cluster const& cluster, bool same_machine);

/// Reason in words: the measured links, and the option to type where both are one. `file`: that states them, if any.
std::string words_of(LinkMisfit misfit, network::MeasuredNetwork const& measured, Cluster const& cluster,
                     std::string_view file);

/// Replaces links of the catalog by measured ones: the latencies of the cluster, and the fractions of its
/// rates that collectives reach, each with the provenance `measured`. Everything that follows from the cluster's rates
/// (congestion, what-if) still works. Where both levels are measured, or there is one only, the time to start a
/// collective becomes zero: the measured latencies hold it already.
///
///     latency = measured;  fraction = measured rate / the cluster's rate
///
/// Levels without a measured link, and clusters without that level, stay as they are.
/// Holds for:  links that fit the cluster (`fitting_links`).
void use_measured_links(network::MeasuredNetwork const& network, Cluster& cluster, CalibrationSet& calibration);

} // namespace headroom::training
