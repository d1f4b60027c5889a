#pragma once

#include "headroom/machine.hpp"
#include "headroom/training/calibration.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

class Catalog;

/// The cluster that a benchmark's words stand for, or why nobody can tell.
struct MeasuredSystem {
    std::optional<Cluster> cluster;
    std::string skipped_reason; ///< empty when there is a cluster
};

/// Reads the words in which people describe where they measured: an alias of a node, else an instance type ("p4d",
/// "a3-megagpu"), else an accelerator with what joins it ("8x A100 PCIe", "GB200 NVL72"). Words of the network between
/// nodes ("8x HDR 200G", "EFAv2 3200 Gbps", "TCPX") and of switches turned off ("NCCL_P2P_DISABLE=1",
/// "NCCL_NVLS_ENABLE=0") change what the catalog says of the node. Over several nodes a network must be named, by its
/// own words or by the instance; it is never assumed.
MeasuredSystem measured_system(Catalog const& catalog, std::string_view system, std::string_view interconnect,
                               int nodes);

/// Whether a machine name names a cluster: by its name or its accelerator's, or as `measured_system` reads them.
/// Without words nothing contradicts: true.
bool names_machine(Catalog const& catalog, std::string_view system, Cluster const& cluster);

/// Takes from a calibration the measured links that do not hold for a cluster. Returns a note on each of these, and the
/// origin of each that stays.
std::vector<std::string> fit_links_to(Catalog const& catalog, Cluster const& cluster,
                                      training::CalibrationSet& calibration);

} // namespace headroom::io
