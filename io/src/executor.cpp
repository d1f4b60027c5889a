#include "headroom/io/executor.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace headroom::io {
namespace {

void run_on(int threads, int count, std::function<void(int)> const& task) {
    std::atomic<int> next{0};
    std::vector<std::exception_ptr> faults(static_cast<std::size_t>(threads));
    auto const work = [&](std::size_t self) {
        try {
            for (int index = next++; index < count; index = next++) { task(index); }
        } catch (...) {
            faults[self] = std::current_exception();
            next = count;
        }
    };
    {
        std::vector<std::jthread> crew;
        try {
            for (std::size_t self = 1; self < faults.size(); ++self) { crew.emplace_back(work, self); }
        } catch (std::system_error const&) {} // no more threads are to be had: fewer do all of it
        work(0);
    }
    for (std::exception_ptr const& fault : faults) {
        if (fault) { std::rethrow_exception(fault); }
    }
}

} // namespace

Executor executor(int threads) {
    if (threads <= 1) { return {}; }
    return
        [threads](int count, std::function<void(int)> const& task) { run_on(std::min(threads, count), count, task); };
}

} // namespace headroom::io
