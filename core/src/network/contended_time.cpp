#include "headroom/error.hpp"
#include "headroom/flow_simulation.hpp"

namespace headroom {

ContendedTime contended_time(std::span<GroupTraffic const> /*traffic*/, Topology const& /*topology*/,
                             std::size_t /*busiest*/) {
    throw ContractError{"not there yet"};
}

} // namespace headroom
