#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// One message, from rank 0 to rank 1.
///
///     T = alpha + n beta
///
/// Holds for:  any p >= 1; with one rank there is nobody to send to, and T = 0.
/// Source:     [Thakur2005]
CollectiveTime send_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> send_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
