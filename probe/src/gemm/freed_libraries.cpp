#include "headroom/probe/gemm_library.hpp"
#include "headroom/probe/machine_facts.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headroom::probe {
namespace {

constexpr std::size_t most_cores = 1024, name_letters = 16;

/// Request between two processes of one program, as bytes.
struct Request {
    char which[name_letters] = {}, precision[name_letters] = {};
    std::uint64_t n = 0, rounds = 1;
    std::uint32_t core_count = 0;
    std::int32_t cores[most_cores] = {};
};

bool write_all(int to, void const* data, std::size_t bytes) {
    auto const* at = static_cast<char const*>(data);
    while (bytes > 0) {
        ssize_t const done = send(to, at, bytes, MSG_NOSIGNAL); // the other side may be gone
        if (done < 0 && errno == EINTR) { continue; }
        if (done <= 0) { return false; }
        at += done;
        bytes -= static_cast<std::size_t>(done);
    }
    return true;
}

bool read_all(int from, void* data, std::size_t bytes) {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
        ssize_t const done = read(from, at, bytes);
        if (done < 0 && errno == EINTR) { continue; }
        if (done <= 0) { return false; }
        at += done;
        bytes -= static_cast<std::size_t>(done);
    }
    return true;
}

/// The calling thread, and those that it makes later, stay on these cores.
void stay_on(Request const& request) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (std::uint32_t i = 0; i < request.core_count; ++i) {
        CPU_SET(static_cast<std::size_t>(request.cores[i]), &set);
    }
    sched_setaffinity(0, sizeof set, &set);
}

double answer_to(Request const& request, std::vector<GemmLibrary>& libraries,
                 std::map<std::string, ProductSpace>& spaces) {
    auto const found = std::ranges::find(libraries, std::string{request.which}, &GemmLibrary::name);
    std::string const precision{request.precision};
    if (found == libraries.end() || std::ranges::find(found->precisions, precision) == found->precisions.end()) {
        return -1.0;
    }
    std::string const key = precision + " " + std::to_string(request.n);
    auto const [space, is_new] = spaces.try_emplace(key, precision, request.n);
    stay_on(request);
    if (found->set_threads) { found->set_threads(static_cast<int>(request.core_count)); }
    if (is_new) { found->multiply(space->second); }
    auto const begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < request.rounds; ++i) { found->multiply(space->second); }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Ends when the other side closes its end, also because it died.
[[noreturn]] void serve(int line) {
    std::signal(SIGINT, SIG_IGN); // of the terminal: it is for the program that asks
    for (std::string const& set : restraining_variables()) { unsetenv(set.substr(0, set.find('=')).c_str()); }
    std::vector<GemmLibrary> libraries = gemm_libraries();
    std::map<std::string, ProductSpace> spaces;
    Request request;
    while (read_all(line, &request, sizeof request)) {
        double const seconds = answer_to(request, libraries, spaces);
        if (!write_all(line, &seconds, sizeof seconds)) { break; }
    }
    _exit(0);
}

} // namespace

struct FreedLibraries::Process {
    pid_t id = -1;
    int line = -1;
};

FreedLibraries::FreedLibraries() : process_{std::make_unique<Process>()} {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) { return; }
    pid_t const id = fork();
    if (id == 0) {
        close(ends[0]);
        serve(ends[1]);
    }
    close(ends[1]);
    *process_ = {id, ends[0]};
}

FreedLibraries::~FreedLibraries() {
    if (process_->line >= 0) { close(process_->line); }
    if (process_->id > 0) { kill(process_->id, SIGKILL); } // it may be amid a product
    if (process_->id > 0) { waitpid(process_->id, nullptr, 0); }
}

double FreedLibraries::seconds(std::string const& library, std::string const& precision, std::size_t n,
                               std::vector<int> const& cores, std::uint64_t rounds) {
    Request request;
    if (process_->id <= 0 || library.size() >= name_letters || precision.size() >= name_letters ||
        cores.size() > most_cores) {
        return -1.0;
    }
    std::memcpy(request.which, library.data(), library.size());
    std::memcpy(request.precision, precision.data(), precision.size());
    request.n = n;
    request.rounds = rounds;
    request.core_count = static_cast<std::uint32_t>(cores.size());
    std::ranges::copy(cores, request.cores);
    double answer = -1.0;
    if (!write_all(process_->line, &request, sizeof request) || !read_all(process_->line, &answer, sizeof answer)) {
        return -1.0;
    }
    return answer;
}

} // namespace headroom::probe
