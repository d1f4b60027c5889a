#include "measure/roofline_gpu.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/probe/machine_facts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headroom::cli {

using namespace headroom::measure;

namespace {

constexpr char const* helper_name = "headroom-gpu";

/// In the folder of this program.
std::filesystem::path helper_path() {
    std::error_code none;
    auto const self = std::filesystem::read_symlink("/proc/self/exe", none);
    return none ? std::filesystem::path{} : self.parent_path() / helper_name;
}

io::GpuAnswer nothing_because(std::string why) {
    io::GpuAnswer answer;
    answer.why = std::move(why);
    return answer;
}

/// Whatever it writes to standard output, until it ends.
std::string read_to_end(int from) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (;;) {
        ssize_t const got = read(from, buffer.data(), buffer.size());
        if (got > 0) { text.append(buffer.data(), static_cast<std::size_t>(got)); }
        if (got == 0 || (got < 0 && errno != EINTR)) { return text; }
    }
}

struct Finished {
    bool ran = false;
    int status = 0;
    std::string said;
};

Finished run_helper(std::string const& path) {
    int ends[2];
    if (pipe(ends) != 0) { return {}; }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::string name{helper_name};
    char* const arguments[] = {name.data(), nullptr};
    pid_t id = -1;
    Finished finished;
    finished.ran = posix_spawn(&id, path.c_str(), &actions, nullptr, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (finished.ran) {
        finished.said = read_to_end(ends[0]);
        while (waitpid(id, &finished.status, 0) < 0 && errno == EINTR) {}
    }
    close(ends[0]);
    return finished;
}

} // namespace

io::GpuAnswer ask_gpu() {
    std::filesystem::path const path = helper_path();
    if (path.empty() || !io::is_there(path)) {
        return nothing_because("headroom-gpu is not beside this program: it is built where there is a CUDA toolkit");
    }
    Finished const finished = run_helper(path.string());
    if (!finished.ran) { return nothing_because("headroom-gpu does not start"); }
    if (!WIFEXITED(finished.status) || WEXITSTATUS(finished.status) != 0) {
        return nothing_because("headroom-gpu ended with an error");
    }
    try {
        return io::read_gpu_answer(finished.said, helper_name);
    } catch (InputError const& error) { return nothing_because(error.what()); }
}

void keep(io::GpuAnswer const& answer, Recorder& recorder) {
    auto const known = [&](MeasuredPoint const& point) {
        return std::ranges::find(recorder.campaign().points, point.label, &MeasuredPoint::label) !=
               recorder.campaign().points.end();
    };
    for (auto const& [point, samples] : answer.points) {
        if (samples.empty() || known(point)) { continue; }
        auto const index = static_cast<std::uint32_t>(recorder.campaign().points.size());
        recorder.add_points({point});
        std::uint32_t repetition = 0;
        for (double const value : samples) {
            recorder.add({.point = index,
                          .repetition = repetition++,
                          .value = value,
                          .began_ns = probe::now_ns(),
                          .load = probe::load_now()});
        }
    }
}

} // namespace headroom::cli
