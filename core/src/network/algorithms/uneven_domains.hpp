#pragma once

#include "columns.hpp"

#include "headroom/network/collective_algorithm.hpp"

// Two levels whose last domain has s of g ranks. Equations: `hierarchical.hpp`.
//
// Only the first s ranks of a domain, its owners, have a partner in every domain, so s columns run across. Inside a full
// domain the ring leaves n/g at each rank; the g - s others hand theirs to the owners in max(s, g - s) rounds, n/(g s) to
// each, before the columns run, and get them back after. The full domains are the slower ones in every phase: (g-1)/g is
// more than (s-1)/s. The rounds of handing back are those of handing over turned round, so that whoever was through last
// goes first and no wait is hidden: the phases' times add up exactly.

namespace headroom::network::algorithms {

CollectiveTime uneven_all_reduce_time(CollectiveCall const& call, Across across);
std::unique_ptr<MessageSchedule> uneven_all_reduce_schedule(CollectiveCall const& call, Across across);

CollectiveTime uneven_all_gather_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> uneven_all_gather_schedule(CollectiveCall const& call);

CollectiveTime uneven_reduce_scatter_time(CollectiveCall const& call);
std::unique_ptr<MessageSchedule> uneven_reduce_scatter_schedule(CollectiveCall const& call);

} // namespace headroom::network::algorithms
