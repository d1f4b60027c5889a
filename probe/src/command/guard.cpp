#include "command/guard.hpp"

#include <cerrno>
#include <csignal>
#include <sys/socket.h>
#include <unistd.h>

namespace headroom::probe {
namespace {

/// Body of the guard between fork and exit: it calls only functions that are safe there.
[[noreturn]] void stand_guard(int orders) {
    ::setpgid(0, 0);
    for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) { ::signal(signal, SIG_IGN); }
    if (orders != 0) { ::dup2(orders, 0); }
    ::close_range(1, ~0U, 0); // nobody waits for the end of what it would hold open
    pid_t group = 0;
    for (;;) {
        pid_t next = 0;
        auto const got = ::read(0, &next, sizeof next); // whole messages
        if (got < 0 && errno == EINTR) { continue; }
        if (got != static_cast<ssize_t>(sizeof next)) { break; }
        group = next;
    }
    if (group > 0) { ::kill(-group, SIGKILL); }
    ::_exit(0);
}

} // namespace

Guard const& Guard::of_this_process() {
    static Guard const guard;
    return guard;
}

Guard::Guard() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) { return; }
    Descriptor const theirs{ends[0]};
    orders_ = Descriptor{ends[1]};
    pid_ = ::fork();
    if (pid_ == 0) { stand_guard(theirs.number()); }
    if (pid_ < 0) {
        pid_ = 0;
        orders_.close();
    }
}

void Guard::watch(pid_t group) const {
    if (orders_.open()) { ::send(orders_.number(), &group, sizeof group, MSG_NOSIGNAL); } // where it was ended: without
}

} // namespace headroom::probe
