#pragma once

#include "command/descriptor.hpp"

#include <sys/types.h>

namespace headroom::probe {

/// A process that outlives this one for a moment: where this one is killed while a command runs, it ends the command's
/// group, so that nothing goes on unseen during the next measurement.
class Guard {
public:
    /// The one of this process, forked when it is first asked for.
    static Guard const& of_this_process();

    /// The group to be ended with this process; 0: none. May be called between fork and exec, so that no moment is left in
    /// which nobody watches.
    void watch(pid_t group) const;
    /// 0 where the system refused to make one.
    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    Guard();
    Descriptor orders_;
    pid_t pid_ = 0;
};

} // namespace headroom::probe
