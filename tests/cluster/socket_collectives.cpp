// socket_collectives RANK RANKS LARGEST_BYTES SECONDS   times every operation of socket_algorithms over blocking sockets
//
// Rank 0 prints CSV: collective,algorithm,ranks,nodes,bytes,repeats,minimum_us,median_us,ninetieth_us. A time runs from
// an instant that all agreed on - they share a clock - until the last rank is through: no rank's late start is left out,
// and none is counted twice as after a barrier. SECONDS is spent on each size, at least three repeats. Exit: 1 when a
// collective's result is wrong or a rank went away.

#include "socket_algorithms.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>

namespace headroom::cluster {
namespace {

using Microseconds = double;
constexpr std::array<std::size_t, 8> sizes{16 << 20, 4 << 20, 1 << 20, 256 << 10, 32 << 10, 4 << 10, 512, 8};
constexpr Microseconds lead = 3000.0; ///< in which news of the start reach every rank
constexpr int least_repeats = 3, most_repeats = 60;

Microseconds now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

void sleep_until(Microseconds when) {
    auto const nanoseconds = static_cast<std::int64_t>(when * 1e3);
    timespec const time{.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {}
}

/// Rank 0's value, sent to all.
template <typename Value> Value told(Mesh& mesh, Value value) {
    if (mesh.rank() == 0) {
        for (int other = 1; other < mesh.ranks(); ++other) { mesh.send(other, std::as_bytes(std::span{&value, 1})); }
    } else {
        mesh.receive(0, std::as_writable_bytes(std::span{&value, 1}));
    }
    return value;
}

/// The largest of all ranks' values; right on rank 0 only.
Microseconds largest(Mesh& mesh, Microseconds value) {
    if (mesh.rank() != 0) {
        mesh.send(0, std::as_bytes(std::span{&value, 1}));
        return value;
    }
    for (int other = 1; other < mesh.ranks(); ++other) {
        Microseconds theirs = 0.0;
        mesh.receive(other, std::as_writable_bytes(std::span{&theirs, 1}));
        value = std::max(value, theirs);
    }
    return value;
}

Microseconds timed_once(Mesh& mesh, Operation const& operation, Buffers buffers) {
    mesh.barrier();
    Microseconds const start = told(mesh, now() + lead);
    sleep_until(start);
    operation.run(mesh, buffers);
    return largest(mesh, now() - start) * operation.share;
}

void print(Operation const& operation, int ranks, std::size_t bytes, std::vector<Microseconds> times) {
    std::sort(times.begin(), times.end());
    std::printf("%s,%s,%d,%d,%zu,%zu,%.2f,%.2f,%.2f\n", std::string{operation.collective}.c_str(),
                std::string{operation.algorithm}.c_str(), ranks, ranks, bytes, times.size(), times.front(),
                times[times.size() / 2], times[times.size() * 9 / 10]);
    std::fflush(stdout);
}

void measure(Mesh& mesh, Operation const& operation, Buffers buffers, double seconds) {
    std::fill(buffers.own.begin(), buffers.own.end(), static_cast<float>(mesh.rank() + 1));
    Microseconds const first = timed_once(mesh, operation, buffers);
    if (operation.right != nullptr && !operation.right(mesh, buffers)) {
        throw std::runtime_error{std::string{operation.algorithm} + ": the result is wrong"};
    }
    int const wanted =
        static_cast<int>(std::clamp(seconds * 1e6 / (first + lead), 1.0 * least_repeats, 1.0 * most_repeats));
    int const repeats = told(mesh, wanted);
    std::vector<Microseconds> times;
    for (int i = 0; i < repeats; ++i) {
        std::fill(buffers.own.begin(), buffers.own.end(),
                  static_cast<float>(mesh.rank() + 1)); // sums must not overflow
        times.push_back(timed_once(mesh, operation, buffers));
    }
    if (mesh.rank() == 0) { print(operation, mesh.ranks(), buffers.own.size_bytes(), times); }
}

/// Prints the time to add a vector that comes from memory, measured where no other rank works yet.
void measure_adding(Buffers buffers) {
    std::vector<Microseconds> times;
    for (int i = 0; i < 10; ++i) {
        Microseconds const start = now();
        add(buffers.own, buffers.other);
        times.push_back(now() - start);
    }
    print({.collective = "add", .algorithm = "add", .run = nullptr}, 1, buffers.own.size_bytes(), times);
}

int run(int rank, int ranks, std::size_t largest_bytes, double seconds) {
    prctl(PR_SET_TIMERSLACK, 1UL);
    std::vector<float> own(largest_bytes / sizeof(float), 1.0F), other(own.size(), 1.0F);
    if (rank == 0) { measure_adding({own, other}); }
    Mesh mesh{rank, ranks};
    Buffers const all{own, other};
    for (Operation const& operation : operations()) { // once with the largest, so that every connection is warm
        operation.run(mesh, {all.own.first(own.size() / 4), all.other.first(own.size() / 4)});
    }
    for (Operation const& operation : operations()) {
        for (std::size_t const bytes : sizes) {
            if (bytes > largest_bytes) { continue; }
            std::size_t const count = bytes / sizeof(float);
            measure(mesh, operation, {all.own.first(count), all.other.first(count)}, seconds);
        }
    }
    return 0;
}

} // namespace
} // namespace headroom::cluster

int main(int count, char** arguments) {
    if (count != 5) {
        std::fputs("usage: socket_collectives RANK RANKS LARGEST_BYTES SECONDS\n", stderr);
        return 2;
    }
    try {
        return headroom::cluster::run(std::atoi(arguments[1]), std::atoi(arguments[2]),
                                      std::strtoull(arguments[3], nullptr, 10), std::strtod(arguments[4], nullptr));
    } catch (std::exception const& failure) {
        std::fprintf(stderr, "socket_collectives: %s\n", failure.what());
        return 1;
    }
}
