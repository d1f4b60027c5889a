#pragma once

#include "headroom/machine.hpp"

#include <string_view>

namespace headroom::network {

/// Kind of link that messages take. A time measured on one kind says nothing about another.
enum class LinkClass {
    unknown,
    host_memory, ///< ranks of one host, through its memory
    nvlink,
    chip, ///< between chips, as xGMI and ICI
    pcie,
    network, ///< between hosts
};

/// Words by which `measure comm` and readers of MPI benchmarks name a link through the memory of a host.
inline constexpr std::string_view host_memory_words = "host memory";

/// Class that words such as "NVLink 4", "host memory" or "HDR InfiniBand" name; unknown where they name none.
LinkClass link_class(std::string_view words);
/// Class of the link inside a domain, by its wire, else by its name.
LinkClass scale_up_class(Cluster const& cluster);

} // namespace headroom::network
