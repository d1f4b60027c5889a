#pragma once

#include "trace/path_join.hpp"

#include <vector>

namespace headroom::trace::path {

/// Walks a path of the joined graph: its pieces, and the sums that they make, into the answer.
void tell_path(std::vector<StepGraph> const& ranks, JoinedSteps const& joined,
               std::vector<laws::TaskId> const& vertices, PathAnswer& answer);

/// Adds the duration of the step under changed costs, for each change in question.
void tell_what_if(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                  JoinedSteps const& joined, Executor const& run, PathAnswer& answer);

/// Adds advice from the what-ifs and from changes of its own.
void tell_advice(std::vector<StepGraph> const& ranks, JoinedSteps const& joined, PathAnswer& answer);

} // namespace headroom::trace::path
