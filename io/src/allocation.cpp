#include "headroom/io/allocation.hpp"

#include <atomic>
#include <new>
#include <string_view>
#include <unistd.h>

namespace headroom::io {
namespace {

constinit std::atomic<bool> failed{false};

int say(std::string_view line) {
    // nothing is left to be done about a standard error that takes no more
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, line.data(), line.size());
    return 1;
}

[[noreturn]] void refuse_allocation() {
    failed.store(true, std::memory_order_relaxed);
    throw std::bad_alloc{};
}

[[noreturn]] void end_program() {
    if (allocation_failed()) { ::_exit(say_out_of_memory()); }
    ::_exit(say("headroom: internal fault (terminated). please report it with the command line\n"));
}

} // namespace

void watch_allocations() {
    std::set_new_handler(refuse_allocation);
    std::set_terminate(end_program);
}

bool allocation_failed() { return failed.load(std::memory_order_relaxed); }

int say_out_of_memory() { return say("headroom: out of memory: no answer was made\n"); }

} // namespace headroom::io
