#include "program.hpp"
#include "watch.hpp"

#include "headroom/io/allocation.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <malloc.h>
#include <new>

namespace headroom::cli {
namespace {

/// Called before the tables of the program and of its shared libraries are filled: they allocate too.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_all)() = io::watch_allocations;

} // namespace

int run_program(int argc, char** argv, std::span<MakeVerb const> held) {
    hold_verbs(held);
    // prices of steps take and free arrays of megabytes by the hundred: the next one finds the pages of the last
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 4 << 20);
    end_on_interrupt();
    std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow further is an error of writing, not an end without a word
    std::signal(SIGPIPE, SIG_DFL); // a closed pipe ends the program without a word
    try {
        return run_words({argv + 1, argv + argc});
    } catch (std::bad_alloc const&) { return io::say_out_of_memory(); } catch (std::exception const& error) {
        if (io::allocation_failed()) { return io::say_out_of_memory(); }
        std::fprintf(stderr, "headroom: internal fault (%s). please report it with the command line\n", error.what());
        return Exit::internal;
    }
}

} // namespace headroom::cli
