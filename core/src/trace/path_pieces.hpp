#pragma once

#include "trace/path_join.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::trace::path {

/// Walks a path of the joined graph: its pieces, and the sums that they make, into the answer.
void tell_path(std::vector<StepGraph> const& ranks, JoinedSteps const& joined,
               std::vector<laws::TaskId> const& vertices, PathAnswer& answer);

/// Adds the duration of the step under changed costs, for each change in question.
void tell_what_if(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                  CollectiveGroups const& groups, JoinedSteps const& joined, Executor const& run, PathAnswer& answer);

/// Adds advice from the what-ifs, from the signs of the run, and from changes of its own: those of the allocator, of
/// copies and of the host's waits become what-ifs, too.
void tell_advice(std::vector<StepGraph> const& ranks, JoinedSteps const& joined, RunSigns const& signs,
                 PathAnswer& answer);

/// Tasks of all ranks that a fused kernel would not need: of short kernels of one name that follow each other on a
/// stream all but the first, with what launches them. By task of all ranks; empty where there are none.
struct FusedTasks {
    std::vector<char> chosen;
    std::string name;        ///< words for the kernels that save most
    std::size_t kernels = 0; ///< saved, of all names
};
FusedTasks fused_tasks(std::vector<StepGraph> const& ranks, JoinedSteps const& joined);

/// A function's name without return type, template parameters and arguments, at most 40 letters.
std::string short_name(std::string_view name);

} // namespace headroom::trace::path
