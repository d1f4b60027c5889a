#pragma once

#include "command/descriptor.hpp"

#include "headroom/probe/run_command.hpp"

#include <cstdint>
#include <sys/types.h>

namespace headroom::probe {

/// Nanoseconds of a clock that nobody sets.
std::int64_t steady_ns();

/// A program that was started, and what it writes into.
struct Child {
    pid_t pid = 0;             ///< of the process and of its group; 0: not started
    Descriptor handle;         ///< readable once it has ended; not open where the kernel has no such thing
    Descriptor output, errors; ///< ends to be read from, that never block
    std::int64_t began_ns = 0; ///< just before the program was loaded
    std::string problem = {};  ///< of what was not started
};
Child start_child(CommandQuestion const& question);

} // namespace headroom::probe
