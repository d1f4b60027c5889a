#include "command/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char** environ;

namespace headroom::probe {
namespace {

constexpr int pipe_bytes = 1 << 20; ///< as many as a process without rights may ask for

/// Message of the child before its program is loaded; an error, where it could not be, follows.
struct Start {
    std::int64_t began_ns = 0;
};

/// Everything that is needed after fork, made before it.
struct Prepared {
    std::string path;
    std::vector<char*> words;
    std::vector<std::string> texts;
    std::vector<char*> variables;
};

void add_variables(CommandQuestion const& question, Prepared& prepared) {
    for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
        std::string_view const text = *one;
        std::string_view const name = text.substr(0, text.find('='));
        bool replaced = false;
        for (auto const& [own, value] : question.variables) { replaced = replaced || own == name; }
        if (!replaced) { prepared.variables.push_back(*one); }
    }
    prepared.texts.reserve(question.variables.size()); // they stay where they are
    for (auto const& [name, value] : question.variables) {
        prepared.variables.push_back(prepared.texts.emplace_back(name + "=" + value).data());
    }
    prepared.variables.push_back(nullptr);
}

Prepared prepare(CommandQuestion const& question, std::string path) {
    Prepared prepared{.path = std::move(path), .words = {}, .texts = {}, .variables = {}};
    for (std::string const& word : question.words) { prepared.words.push_back(const_cast<char*>(word.c_str())); }
    prepared.words.push_back(nullptr);
    add_variables(question, prepared);
    return prepared;
}

/// Signals as a program finds them when a shell starts it.
void reset_signals() {
    for (int signal = 1; signal < NSIG; ++signal) { ::signal(signal, SIG_DFL); } // refused for two of them
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// After fork, where another thread may have held any lock: nothing but what may be called there.
[[noreturn]] void become(Prepared const& prepared, Guard const& guard, int nothing, int output, int errors,
                         int report) {
    ::setpgid(0, 0);
    guard.watch(::getpid());
    reset_signals();
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(errors, STDERR_FILENO);
    Start const start{steady_ns()};
    if (::write(report, &start, sizeof start) == static_cast<ssize_t>(sizeof start)) {
        ::execve(prepared.path.c_str(), prepared.words.data(), prepared.variables.data());
        int const error = errno;
        if (::write(report, &error, sizeof error) < 0) { ::_exit(126); }
    }
    ::_exit(127);
}

/// The descriptor under a number that is none of a program's standard ones, which may be closed here.
Descriptor beyond_standard(Descriptor given) {
    if (!given.open() || given.number() > STDERR_FILENO) { return given; }
    return Descriptor{::fcntl(given.number(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
}

template <class Value> bool read_value(int from, Value& value) {
    ssize_t got = 0;
    while ((got = ::read(from, &value, sizeof value)) < 0 && errno == EINTR) {}
    return got == static_cast<ssize_t>(sizeof value);
}

std::string load_problem(int error, std::string const& path) {
    if (error == ENOEXEC) { return path + " is no program (it begins with no #! line)"; }
    if (error == ENOENT) { return path + " names an interpreter that is not there"; }
    return path + ": " + std::strerror(error);
}

Descriptor handle_of(pid_t pid) {
#ifdef SYS_pidfd_open
    return Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))}; // closed on exec by itself
#else
    (void)pid;
    return {};
#endif
}

/// Reads what the child says until its program is loaded.
void hear(int report, std::string const& path, Child& child) {
    Start start;
    int error = 0;
    if (!read_value(report, start)) {
        child.problem = path + " ended before it was loaded";
    } else if (read_value(report, error)) {
        child.problem = load_problem(error, path);
    }
    child.began_ns = start.began_ns;
}

} // namespace

std::int64_t steady_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Pipe::Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) { return; }
    read = beyond_standard(Descriptor{ends[0]});
    write = beyond_standard(Descriptor{ends[1]});
}

FoundProgram find_program(std::string const& name) {
    auto const look = [](std::string const& path) -> FoundProgram {
        struct stat found {};
        if (::stat(path.c_str(), &found) != 0) { return {"", errno == EACCES ? "no permission to look there" : ""}; }
        if (S_ISDIR(found.st_mode)) { return {"", "a folder"}; }
        if (::access(path.c_str(), X_OK) != 0) { return {"", "no permission to run it"}; }
        return {path, ""};
    };
    if (name.empty()) { return {"", "it is empty"}; }
    if (name.find('/') != std::string::npos) {
        FoundProgram found = look(name);
        if (found.path.empty() && found.problem.empty()) { found.problem = "there is no such file"; }
        return found;
    }
    char const* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
    std::string problem;
    while (true) {
        std::string_view const folder = rest.substr(0, rest.find(':'));
        FoundProgram found = look((folder.empty() ? "." : std::string{folder}) + "/" + name);
        if (!found.path.empty()) { return found; }
        if (found.problem == "no permission to run it") { problem = found.problem; }
        if (folder.size() == rest.size()) { break; }
        rest.remove_prefix(folder.size() + 1);
    }
    return {"", problem.empty() ? "not found in PATH" : problem};
}

Child start_child(CommandQuestion const& question, Guard const& guard) {
    Child child;
    FoundProgram found = find_program(question.words.empty() ? "" : question.words.front());
    if (found.path.empty()) {
        child.problem = found.problem;
        return child;
    }
    Prepared const prepared = prepare(question, std::move(found.path));
    Pipe output, errors, report;
    Descriptor const nothing = beyond_standard(Descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)});
    if (!output.write.open() || !errors.write.open() || !report.write.open() || !nothing.open()) {
        child.problem = std::string{"no pipe to read from: "} + std::strerror(errno);
        return child;
    }
    for (Pipe const* pipe : {&output, &errors}) {
        ::fcntl(pipe->write.number(), F_SETPIPE_SZ, pipe_bytes); // a wish
        ::fcntl(pipe->read.number(), F_SETFL, O_NONBLOCK);
    }
    child.pid = ::fork();
    if (child.pid == 0) {
        become(prepared, guard, nothing.number(), output.write.number(), errors.write.number(), report.write.number());
    }
    if (child.pid < 0) {
        child.pid = 0;
        child.problem = std::string{"no further process: "} + std::strerror(errno);
        return child;
    }
    ::setpgid(child.pid, child.pid); // as the child does: whoever is first
    report.write.close();
    child.handle = handle_of(child.pid);
    hear(report.read.number(), prepared.path, child);
    child.output = std::move(output.read);
    child.errors = std::move(errors.read);
    return child;
}

} // namespace headroom::probe
