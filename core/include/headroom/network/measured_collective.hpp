#pragma once

#include "headroom/network/collective.hpp"
#include "headroom/quantity.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace headroom::network {

/// One measured time of a collective: a line of a benchmark's output, in our convention of sizes.
struct MeasuredCollective {
    std::string id;           ///< of the row or table it stands in; may be empty
    std::string system;       ///< as the source names it; empty when it names none
    std::string interconnect; ///< likewise
    Collective collective = Collective::all_reduce;
    TotalBytes size;
    int ranks = 1;
    int nodes = 1; ///< that the ranks are spread over, evenly
    Seconds time;
    std::optional<BytesPerSecond> bus_bandwidth; ///< as printed
    std::string data_type, algorithm, protocol;  ///< where they are known
    std::string source;                          ///< publication or recording
    std::string file;
    std::size_t line = 0;
};

} // namespace headroom::network
