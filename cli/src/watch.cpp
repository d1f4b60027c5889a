#include "watch.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace headroom::cli {
namespace {

volatile std::sig_atomic_t interrupts = 0;

extern "C" void count_interrupt(int) {
    interrupts = 1;
    std::signal(SIGINT, SIG_DFL); // the next one ends the program
}

} // namespace

Watch::Watch(std::string what, bool quiet) : what_{std::move(what)}, show_{!quiet && isatty(STDERR_FILENO) == 1} {
    std::signal(SIGINT, count_interrupt);
    thread_ = std::jthread{[this](std::stop_token over) { stand_by(std::move(over)); }};
}

Watch::~Watch() {
    thread_.request_stop();
    thread_.join();
    std::signal(SIGINT, SIG_DFL);
}

void Watch::stand_by(std::stop_token over) {
    using namespace std::chrono_literals;
    auto const begin = std::chrono::steady_clock::now();
    bool shown = false;
    std::unique_lock lock{mutex_};
    while (!wake_.wait_for(lock, over, 50ms, [&over] { return over.stop_requested(); })) {
        if (interrupts != 0) { stop_.request_stop(); }
        double const elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (show_ && elapsed > 1.0) {
            std::fprintf(stderr, "\r%s: %.1f s", what_.c_str(), elapsed);
            shown = true;
        }
        if (over.stop_requested()) { break; }
    }
    if (shown) { std::fputs("\r\x1b[K", stderr); }
}

} // namespace headroom::cli
