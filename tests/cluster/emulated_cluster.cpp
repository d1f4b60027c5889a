// emulated_cluster HOSTS BITS_PER_SECOND DELAY_US COMMAND...   runs COMMAND while so many hosts exist, joined by a switch
// emulated_cluster on HOST COMMAND...                           becomes COMMAND on a host (counted from 1); only below the above
//
// Nothing has a name and nothing outlives the first process: namespaces and devices end with the descriptors it holds,
// and all processes of COMMAND live in a process namespace that the kernel clears when the first process dies, be it by
// SIGKILL. Exit: what COMMAND exits with; 77 where the machine does not allow emulated hosts.

#include "hosts.hpp"
#include "switch.hpp"

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

namespace headroom::cluster {
namespace {

constexpr int not_possible = 77, wrong_usage = 2;

std::string variable_of(int host) { return "HEADROOM_CLUSTER_HOST_" + std::to_string(host); }

[[noreturn]] void become(char** command) {
    ::execvp(command[0], command);
    std::fprintf(stderr, "emulated_cluster: %s: %s\n", command[0], std::strerror(errno));
    std::_Exit(127);
}

[[noreturn]] void become_on(int host, char** command) {
    char const* const path = std::getenv(variable_of(host).c_str());
    if (path == nullptr) {
        std::fprintf(stderr, "emulated_cluster: no host %d here\n", host);
        std::_Exit(wrong_usage);
    }
    Descriptor const network{checked(::open(path, O_RDONLY | O_CLOEXEC), path)};
    checked(::setns(network.get(), CLONE_NEWNET), "entering a host");
    checked(::unshare(CLONE_NEWUTS), "giving a host its own name");
    std::string const name = "host" + std::to_string(host);
    checked(::sethostname(name.c_str(), name.size()), "naming a host");
    become(command);
}

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/// The first process of the process namespace: when it ends, so do all others in there.
[[noreturn]] void lead(Descriptor const& parent_lives, char** command) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pollfd parent{.fd = parent_lives.get(), .events = 0, .revents = 0};
    if (::poll(&parent, 1, 0) != 0) { std::_Exit(1); } // it died before the line above
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, nullptr);
    pid_t const child = ::fork();
    if (child == 0) { become(command); }
    int status = 0;
    while (true) {
        pid_t const ended = ::wait(&status);
        if (ended == child) { std::_Exit(exit_code_of(status)); }
        if (ended < 0 && errno != EINTR) { std::_Exit(1); }
    }
}

/// SIGTERM and the like, and the end of the command, as something that becomes readable.
Descriptor ends() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int const signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) { sigaddset(&signals, signal); }
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    return Descriptor{checked(::signalfd(-1, &signals, SFD_CLOEXEC), "waiting for signals")};
}

/// Frames are due to the microsecond: wakes without slack, and before what the hosts compute, where that is allowed.
void hurry() {
    prctl(PR_SET_TIMERSLACK, 1UL);
    sched_param const priority{.sched_priority = 10};
    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);
}

int run(int count, Line line, char** command) {
    std::vector<Host> hosts = make_hosts(count);
    std::string const folder = "/proc/" + std::to_string(::getpid()) + "/fd/";
    for (int host = 1; host <= count; ++host) {
        int const network = hosts[static_cast<std::size_t>(host - 1)].network.get();
        ::setenv(variable_of(host).c_str(), (folder + std::to_string(network)).c_str(), 1);
    }
    Descriptor const stop = ends();
    int lives[2];
    checked(::pipe2(lives, O_CLOEXEC), "making a pipe");
    Descriptor const read_end{lives[0]};
    Descriptor write_end{lives[1]};
    checked(::unshare(CLONE_NEWPID), "making a process namespace");
    pid_t const child = checked(::fork(), "starting the command");
    if (child == 0) {
        write_end = Descriptor{};
        lead(read_end, command);
    }
    hurry();
    Switch network{hosts, line};
    network.run(stop.get());
    ::kill(child, SIGKILL); // if it was a signal that ended this
    int status = 0;
    ::waitpid(child, &status, 0);
    if (network.counts().dropped > 0) {
        std::fprintf(stderr, "emulated_cluster: %zu of %zu frames dropped\n", network.counts().dropped,
                     network.counts().frames);
    }
    return exit_code_of(status);
}

bool read_number(char const* text, double& value) {
    auto const [end, error] = std::from_chars(text, text + std::strlen(text), value);
    return error == std::errc{} && *end == '\0' && value > 0.0;
}

} // namespace
} // namespace headroom::cluster

int main(int count, char** arguments) {
    using namespace headroom::cluster;
    try {
        double hosts = 0.0, rate = 0.0, delay = 0.0;
        if (count > 3 && std::string_view{arguments[1]} == "on" && read_number(arguments[2], hosts)) {
            become_on(static_cast<int>(hosts), arguments + 3);
        }
        if (count > 4 && read_number(arguments[1], hosts) && hosts <= most_hosts && read_number(arguments[2], rate) &&
            read_number(arguments[3], delay)) {
            std::chrono::nanoseconds const one_way{static_cast<std::int64_t>(delay * 1e3)};
            return run(static_cast<int>(hosts), {.bits_per_second = rate, .one_way_delay = one_way}, arguments + 4);
        }
        std::fputs("usage: emulated_cluster HOSTS BITS_PER_SECOND DELAY_US COMMAND...\n"
                   "       emulated_cluster on HOST COMMAND...\n",
                   stderr);
        return wrong_usage;
    } catch (std::exception const& failure) {
        std::fprintf(stderr, "emulated_cluster: not possible here: %s\n", failure.what());
        return not_possible;
    }
}
