#pragma once

#include <sys/types.h>
#include <vector>

namespace headroom::probe {

/// Children of this process, those that it inherited among them.
std::vector<pid_t> children_of_this_process();

/// From now on, processes whose parent ends become children of this one rather than of the system's first.
void inherit_orphans();

/// Ends every child but `spared`, and what these leave behind, for at most `patience_seconds`. Those that end by
/// themselves within a moment are not counted.
/// Returns how many had to be ended.
int end_children(std::vector<pid_t> const& spared, double patience_seconds);

} // namespace headroom::probe
