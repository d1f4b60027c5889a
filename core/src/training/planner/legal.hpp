#pragma once

#include "headroom/training/plan.hpp"

namespace headroom::training::planner {

/// The legal strategies of one worker count in search order, or why there is none.
struct LegalSet {
    std::vector<Strategy> strategies;
    std::string none_because; ///< the rule that the last surviving candidates broke
};

LegalSet legal_set(Model const& model, Cluster const& cluster, Framework const& framework, Workload const& workload,
                   int workers, PartialStrategy const& fixed);

} // namespace headroom::training::planner
