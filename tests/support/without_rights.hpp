#pragma once

#include <future>
#include <linux/capability.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>

namespace headroom::test {

/// Runs `work` on a thread for which permissions of files hold, also where the user is root.
template <class Work> void without_rights(Work work) {
    std::async(std::launch::async, [&work] {
        __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
        __user_cap_data_struct held[2]{};
        bool done = ::syscall(SYS_capget, &head, held) == 0;
        held[0].effective &= ~(1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH);
        held[0].permitted &= held[0].effective; // access(2) goes by what may be taken back
        done = done && ::syscall(SYS_capset, &head, held) == 0;
        if (!done) { throw std::runtime_error{"rights cannot be given up"}; }
        work();
    }).get();
}

} // namespace headroom::test
