#pragma once

// Measures of benchmarks apart from time: bytes had from the heap, and the rate at which this machine's memory streams.
// Replaces the program's operators new and delete: to be included by one file of a program.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <malloc.h>
#include <new>
#include <numeric>
#include <vector>

namespace {

std::size_t bytes_now = 0, bytes_most = 0; ///< had from the heap, and the most of it since a benchmark began

} // namespace

void* operator new(std::size_t size) {
    void* const memory = std::malloc(size);
    if (memory == nullptr) { throw std::bad_alloc{}; }
    bytes_most = std::max(bytes_most, bytes_now += malloc_usable_size(memory));
    return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    if (memory != nullptr) { bytes_now -= malloc_usable_size(memory); }
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }

namespace headroom {
namespace {

/// Reading front to back what does not fit the caches: bytes a second.
double stream_rate() {
    static double const rate = [] {
        std::vector<double> const numbers(1U << 24U, 1.0);
        double best = 0.0;
        for (int i = 0; i < 5; ++i) {
            auto const begin = std::clock();
            double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
            benchmark::DoNotOptimize(sum);
            double const seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
            best = std::max(best, static_cast<double>(numbers.size() * sizeof(double)) / seconds);
        }
        return best;
    }();
    return rate;
}

} // namespace
} // namespace headroom
