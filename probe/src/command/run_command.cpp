#include "headroom/probe/run_command.hpp"

#include "command/child.hpp"
#include "command/descendants.hpp"
#include "command/guard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>

namespace headroom::probe {
namespace {

/// The last bytes of a stream of any length, in memory of at most twice as many.
class Tail {
public:
    explicit Tail(std::size_t keep) : keep_{keep} {}

    void add(std::string_view bytes) {
        total_ += bytes.size();
        if (bytes.size() > keep_) { bytes.remove_prefix(bytes.size() - keep_); }
        kept_ += bytes;
        if (kept_.size() > 2 * keep_) { cut(); }
    }
    [[nodiscard]] std::uint64_t total() const { return total_; }
    std::string take() {
        cut();
        return std::move(kept_);
    }

private:
    void cut() {
        if (kept_.size() > keep_) { kept_.erase(0, kept_.size() - keep_); }
    }

    std::size_t keep_;
    std::string kept_;
    std::uint64_t total_ = 0;
};

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t look_ns = 20'000'000;        ///< interval between checks for a request to stop
constexpr std::int64_t look_for_end_ns = 500'000;   ///< where the kernel does not report an end
constexpr double patience_after_kill_seconds = 5.0; ///< then it is left alone
constexpr double longest_seconds = 1e9;             ///< whatever is asked: beyond any life, and no overflow

std::int64_t ns_of(double seconds) {
    return static_cast<std::int64_t>(std::clamp(seconds, 0.0, longest_seconds) * static_cast<double>(second_ns));
}

/// One command while it runs.
class Watched {
public:
    Watched(CommandQuestion const& question, Child child)
        : question_{question}, child_{std::move(child)}, output_{question.keep_bytes}, errors_{question.keep_bytes} {
        if (question.timeout_seconds) { deadline_ns_ = child_.began_ns + ns_of(*question.timeout_seconds); }
    }

    /// Until it has ended, or cannot be ended.
    CommandRun wait();

private:
    void wait_for_something();
    void drain();
    void read_from(Descriptor& from, Tail& into);
    void escalate();
    void ask_to_end(CommandEnd reason, int signal);
    bool look_for_end();
    [[nodiscard]] bool given_up() const {
        return killed_ns_ && steady_ns() > *killed_ns_ + ns_of(patience_after_kill_seconds);
    }
    [[nodiscard]] std::int64_t next_look_ns() const;
    void fill_end(CommandRun& run) const;

    CommandQuestion const& question_;
    Child child_;
    Tail output_, errors_;
    std::optional<std::int64_t> deadline_ns_ = {}, asked_ns_ = {}, killed_ns_ = {};
    std::optional<CommandEnd> reason_ = {}; ///< why it was asked to end
    std::int64_t ended_ns_ = 0;             ///< 0: it runs
};

bool Watched::look_for_end() {
    siginfo_t found{};
    if (::waitid(P_PID, static_cast<id_t>(child_.pid), &found, WEXITED | WNOHANG | WNOWAIT) != 0) { return false; }
    if (found.si_pid == 0) { return false; }
    ended_ns_ = steady_ns();
    return true;
}

std::int64_t Watched::next_look_ns() const {
    std::int64_t wait = child_.handle.open() ? look_ns : look_for_end_ns;
    if (!asked_ns_ && deadline_ns_) { wait = std::min(wait, *deadline_ns_ - steady_ns()); }
    return std::max<std::int64_t>(wait, 0);
}

void Watched::wait_for_something() {
    std::array<pollfd, 3> watched{{{child_.handle.number(), POLLIN, 0}, // numbers below zero are passed over
                                   {child_.output.number(), POLLIN, 0},
                                   {child_.errors.number(), POLLIN, 0}}};
    std::int64_t const wait = next_look_ns();
    timespec const patience{wait / second_ns, wait % second_ns};
    ::ppoll(watched.data(), watched.size(), &patience, nullptr);
    if (!child_.handle.open() || watched[0].revents != 0) { look_for_end(); }
}

void Watched::read_from(Descriptor& from, Tail& into) {
    std::array<char, 65536> bytes;
    for (int rounds = 0; from.open() && rounds < 64; ++rounds) { // and then a look at the clock
        ssize_t const got = ::read(from.number(), bytes.data(), bytes.size());
        if (got > 0) {
            into.add({bytes.data(), static_cast<std::size_t>(got)});
        } else if (got == 0) {
            from.close(); // nothing will come; the command may go on
        } else if (errno != EINTR) {
            return;
        }
    }
}

void Watched::drain() {
    read_from(child_.output, output_);
    read_from(child_.errors, errors_);
}

void Watched::ask_to_end(CommandEnd reason, int signal) {
    reason_ = reason;
    asked_ns_ = steady_ns();
    ::kill(-child_.pid, signal);
    ::kill(-child_.pid, SIGCONT); // what is stopped hears nothing else
}

/// Asks where it is time to, and ends what did not listen.
void Watched::escalate() {
    if (!asked_ns_) {
        if (question_.stop.stop_requested()) {
            ask_to_end(CommandEnd::stopped, SIGINT);
        } else if (deadline_ns_ && steady_ns() >= *deadline_ns_) {
            ask_to_end(CommandEnd::timed_out, SIGTERM);
        }
    } else if (!killed_ns_ && steady_ns() > *asked_ns_ + ns_of(question_.grace_seconds)) {
        killed_ns_ = steady_ns();
        ::kill(-child_.pid, SIGKILL);
    }
}

void Watched::fill_end(CommandRun& run) const {
    int status = 0;
    rusage used{};
    if (::wait4(child_.pid, &status, WNOHANG, &used) != child_.pid) {
        run.end = CommandEnd::not_ended;
        return;
    }
    auto const seconds = [](timeval time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    run.user_seconds = seconds(used.ru_utime);
    run.system_seconds = seconds(used.ru_stime);
    run.peak_memory_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
    run.seconds = 1e-9 * static_cast<double>(ended_ns_ - child_.began_ns);
    run.end = WIFSIGNALED(status) ? CommandEnd::signalled : CommandEnd::exited;
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (reason_) { run.end = *reason_; }
}

CommandRun Watched::wait() {
    while (ended_ns_ == 0 && !given_up()) {
        wait_for_something();
        drain();
        if (ended_ns_ == 0) { escalate(); }
    }
    CommandRun run;
    drain(); // what stands in the pipes; who still holds them open is not waited for
    fill_end(run);
    run.output_bytes = output_.total();
    run.output = output_.take();
    run.errors = errors_.take();
    return run;
}

CommandRun not_started(Child& child) {
    if (child.pid > 0) { ::waitpid(child.pid, nullptr, 0); } // it ends by itself
    CommandRun run;
    run.message = std::move(child.problem);
    return run;
}

} // namespace

std::string end_words(CommandRun const& run, CommandQuestion const& question) {
    switch (run.end) {
    case CommandEnd::exited: return "exit status " + std::to_string(run.status);
    case CommandEnd::signalled: {
        char const* const name = ::strsignal(run.signal);
        return "signal " + std::to_string(run.signal) + (name != nullptr ? " (" + std::string{name} + ")" : "");
    }
    case CommandEnd::timed_out: {
        char number[32];
        std::snprintf(number, sizeof number, "%g", question.timeout_seconds.value_or(0.0));
        return "ran longer than " + std::string{number} + " s and was ended";
    }
    case CommandEnd::stopped: return "stopped";
    case CommandEnd::not_started: return "could not be started: " + run.message;
    case CommandEnd::not_ended: break;
    }
    return "could not be ended";
}

CommandRun run_command(CommandQuestion const& question) {
    Guard const& guard = Guard::of_this_process();
    inherit_orphans();
    std::vector<pid_t> spared = children_of_this_process(); // the guard among them
    Child child = start_child(question, guard);
    if (child.pid <= 0 || !child.problem.empty()) {
        guard.watch(0);
        return not_started(child);
    }
    pid_t const group = child.pid;
    CommandRun run = Watched{question, std::move(child)}.wait();
    if (run.end == CommandEnd::not_ended) {
        spared.push_back(group);
    } else {
        run.left_behind = end_children(spared, patience_after_kill_seconds);
    }
    guard.watch(0);
    return run;
}

} // namespace headroom::probe
