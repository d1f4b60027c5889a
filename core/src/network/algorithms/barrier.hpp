#pragma once

#include "headroom/network/collective_algorithm.hpp"

namespace headroom::network::algorithms {

/// Barrier by dissemination: in round t every rank tells the rank 2^t places on. Messages carry nothing.
///
///     T = ceil(lg p) alpha
///
/// Holds for:  any p >= 1.
/// Source:     [Hensgen1988]
CollectiveTime dissemination_barrier_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> dissemination_barrier_schedule(CollectiveCall const& call);

/// Barrier by a binomial tree: all tell rank 0, which tells all. Messages carry nothing.
///
///     T = 2 ceil(lg p) alpha
///
/// Holds for:  any p >= 1.
/// Source:     [Thakur2005]
CollectiveTime binomial_barrier_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> binomial_barrier_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
