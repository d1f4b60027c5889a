#include "command/descendants.hpp"

#include "command/child.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headroom::probe {
namespace {

constexpr double moment_seconds = 0.1; ///< in which helpers of a command that has ended end by themselves

/// The parent of a process, of "pid (name) state parent ...", where the name may hold anything.
pid_t parent_of(std::filesystem::path const& folder) {
    std::ifstream file{folder / "stat"};
    std::string const text{std::istreambuf_iterator<char>{file}, {}};
    auto const after = text.rfind(')');
    if (after == std::string::npos || after + 4 > text.size()) { return 0; }
    pid_t parent = 0;
    std::from_chars(text.data() + after + 4, text.data() + text.size(), parent);
    return parent;
}

/// Where the kernel has no lists of children.
std::vector<pid_t> children_by_search() {
    std::vector<pid_t> found;
    std::error_code error;
    for (auto const& entry : std::filesystem::directory_iterator{"/proc", error}) {
        std::string const name = entry.path().filename().string();
        pid_t pid = 0;
        auto const read = std::from_chars(name.data(), name.data() + name.size(), pid);
        bool const whole = read.ec == std::errc{} && read.ptr == name.data() + name.size();
        if (whole && parent_of(entry.path()) == ::getpid()) { found.push_back(pid); }
    }
    return found;
}

std::vector<pid_t> others(std::vector<pid_t> const& spared) {
    std::vector<pid_t> found = children_of_this_process();
    std::erase_if(found, [&spared](pid_t pid) { return std::ranges::find(spared, pid) != spared.end(); });
    return found;
}

void reap(std::vector<pid_t> const& pids) {
    for (pid_t const pid : pids) { ::waitpid(pid, nullptr, WNOHANG); }
}

} // namespace

std::vector<pid_t> children_of_this_process() {
    std::vector<pid_t> found;
    std::error_code error;
    for (auto const& task : std::filesystem::directory_iterator{"/proc/self/task", error}) {
        std::ifstream file{task.path() / "children"};
        if (!file) { return children_by_search(); }
        for (pid_t pid = 0; file >> pid;) { found.push_back(pid); }
    }
    return error ? children_by_search() : found;
}

void inherit_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int end_children(std::vector<pid_t> const& spared, double patience_seconds) {
    auto const began = steady_ns();
    std::set<pid_t> ended;
    for (auto left = others(spared); !left.empty(); left = others(spared)) {
        double const waited = 1e-9 * static_cast<double>(steady_ns() - began);
        if (waited > patience_seconds) { break; }
        for (pid_t const pid : left) {
            if (waited > moment_seconds && ::waitpid(pid, nullptr, WNOHANG) == 0) {
                ::kill(pid, SIGKILL);
                ended.insert(pid);
            }
        }
        reap(left);
        ::usleep(waited > moment_seconds ? 200 : 1000);
    }
    return static_cast<int>(ended.size());
}

} // namespace headroom::probe
