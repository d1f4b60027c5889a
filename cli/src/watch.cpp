#include "watch.hpp"

#include "headroom/io/streams.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace headroom::cli {
namespace {

volatile std::sig_atomic_t interrupts = 0;

/// Outside of long work that can be stopped: the line, and the end.
extern "C" void end_interrupted(int) {
    constexpr std::string_view line = "headroom: interrupted (nothing was finished)\n";
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, line.data(), line.size());
    ::_exit(130);
}

extern "C" void count_interrupt(int) {
    interrupts = 1;
    std::signal(SIGINT, SIG_DFL); // the next one ends the program
}

/// "reading 8 files [########............] 40 %, 3.2 s, 4.8 s left"
std::string progress_line(std::string const& what, double share, double elapsed) {
    constexpr int width = 20;
    char numbers[64];
    if (share < 0.0) {
        std::snprintf(numbers, sizeof numbers, ": %.1f s", elapsed);
        return what + numbers;
    }
    int const filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * width);
    std::snprintf(numbers, sizeof numbers, "] %.0f %%, %.1f s", 100.0 * share, elapsed);
    std::string line = what + " [" + std::string(static_cast<std::size_t>(filled), '#') +
                       std::string(static_cast<std::size_t>(width - filled), '.') + numbers;
    if (share > 0.01) {
        std::snprintf(numbers, sizeof numbers, ", %.1f s left", elapsed * (1.0 - share) / share);
        line += numbers;
    }
    return line;
}

} // namespace

void end_on_interrupt() {
    if (std::signal(SIGINT, end_interrupted) == SIG_IGN) {
        std::signal(SIGINT, SIG_IGN);
    } // as whoever started it wants
}

Watch::Watch(std::string what, bool quiet) : what_{std::move(what)}, show_{!quiet && isatty(STDERR_FILENO) == 1} {
    if (io::Capture const* const kept = io::captured()) {
        outside_.emplace(kept->stop, [this] { stop_.request_stop(); });
        return;
    }
    std::signal(SIGINT, count_interrupt);
    try {
        thread_ = std::jthread{[this](std::stop_token over) { stand_by(std::move(over)); }};
    } catch (std::system_error const&) { // no thread is to be had: no progress is shown, and Ctrl-C ends the program
        end_on_interrupt();
    }
}

Watch::~Watch() {
    if (outside_) { return; }
    thread_.request_stop();
    if (thread_.joinable()) { thread_.join(); }
    if (interrupts == 0) { end_on_interrupt(); }
}

void Watch::stand_by(std::stop_token over) {
    using namespace std::chrono_literals;
    auto const begin = std::chrono::steady_clock::now();
    bool shown = false, said = false;
    std::unique_lock lock{mutex_};
    while (!wake_.wait_for(lock, over, 50ms, [&over] { return over.stop_requested(); })) {
        if (interrupts != 0) { stop_.request_stop(); }
        if (interrupts != 0 && !std::exchange(said, true)) {
            std::fprintf(stderr, "%s%s: stopping, then writing what is finished (Ctrl-C again ends at once)\n",
                         shown ? "\r\x1b[K" : "", what_.c_str());
        }
        double const elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (show_ && elapsed > 1.0) {
            std::fprintf(stderr, "\r%s\x1b[K",
                         progress_line(what_, share_.load(std::memory_order_relaxed), elapsed).c_str());
            shown = true;
        }
        if (over.stop_requested()) { break; }
    }
    if (shown) { std::fputs("\r\x1b[K", stderr); }
}

} // namespace headroom::cli
