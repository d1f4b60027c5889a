// Motivation: a figure without an interval cannot be compared, and an interval that the next run leaves is worth less than
// none. Whole runs are repeated, each in a process of its own, and every run's medians are looked up in the intervals of
// every other run.
// Target: nine of ten lie inside.
//     bench_measure_repeat_bench [runs] [most seconds a run]
// Last result: 57 % on a machine with five times its cores' work to do, where medians of runs differ by factors of 2 to 10:
// what others take from a run, no interval of that run can tell. On a quiet machine it is still to be taken.
#include "headroom/probe/memory_rates.hpp"
#include "headroom/probe/repeat.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace headroom::probe {
namespace {

struct Stated {
    double median = 0.0, low = 0.0, high = 0.0;
};

/// One kernel of every kind of level, on one core and on all.
std::vector<MemoryPoint> points_of(MachineShape const& shape) {
    auto points = memory_points(shape, {.curve = false});
    std::erase_if(points, [](MemoryPoint const& point) {
        bool const kept = point.kernel == MemoryKernel::triad || point.kernel == MemoryKernel::chase;
        return !kept || point.stores == Stores::past_caches;
    });
    return points;
}

std::vector<Stated> run_once(std::vector<MemoryPoint> const& points, double seconds, std::uint64_t seed) {
    MemoryBench bench{machine_shape()};
    RepeatTask const task{
        .points = points.size(),
        .measure_once = [&](std::uint32_t point,
                            std::stop_token stop) { return bench.measure_once(points[point], std::move(stop)); },
        .before_round = [&bench] { bench.renew_pages(); }};
    auto const report = repeat_points(task, {.seconds = seconds, .seed = seed}, {});
    std::vector<Stated> stated;
    for (auto const& point : report.points) {
        auto const interval = point.interval.value_or(RepeatInterval{});
        stated.push_back({interval.median, interval.low, interval.high});
    }
    return stated;
}

/// In a process of its own, with pages and threads of its own.
std::vector<Stated> run_apart(std::vector<MemoryPoint> const& points, double seconds, std::uint64_t seed) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) { std::exit(1); }
    ::pid_t const child = ::fork();
    if (child == 0) {
        auto const stated = run_once(points, seconds, seed);
        auto const bytes = stated.size() * sizeof(Stated);
        ::_exit(::write(ends[1], stated.data(), bytes) == static_cast<::ssize_t>(bytes) ? 0 : 1);
    }
    ::close(ends[1]);
    std::vector<Stated> stated(points.size());
    auto const bytes = stated.size() * sizeof(Stated);
    bool const whole = ::read(ends[0], stated.data(), bytes) == static_cast<::ssize_t>(bytes);
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    if (!whole) { std::exit(1); }
    return stated;
}

int compare(int runs, double seconds) {
    auto const points = points_of(machine_shape());
    std::vector<std::vector<Stated>> all;
    for (int run = 0; run < runs; ++run) {
        all.push_back(run_apart(points, seconds, static_cast<std::uint64_t>(run + 1)));
    }
    int inside = 0, looked = 0;
    for (std::size_t point = 0; point < points.size(); ++point) {
        int here = 0, of = 0;
        std::vector<double> widths, medians;
        for (auto const& first : all) {
            auto const& stated = first[point];
            widths.push_back((stated.high - stated.low) / stated.median);
            medians.push_back(stated.median);
            for (auto const& second : all) {
                if (&first == &second) { continue; }
                ++of;
                here += second[point].median >= stated.low && second[point].median <= stated.high ? 1 : 0;
            }
        }
        std::ranges::sort(widths);
        auto const [least, most] = std::ranges::minmax(medians);
        std::printf("%-40s %2d of %2d  intervals %5.1f %% wide, medians within %5.1f %%\n",
                    measured_point(points[point]).label.c_str(), here, of, 100.0 * widths[widths.size() / 2],
                    100.0 * (most / least - 1.0));
        inside += here, looked += of;
    }
    std::printf("%d of %d medians of a run lie in the interval of another: %.1f %%\n", inside, looked,
                100.0 * inside / looked);
    return 10 * inside >= 9 * looked ? 0 : 1;
}

} // namespace
} // namespace headroom::probe

int main(int argc, char** argv) {
    int const runs = argc > 1 ? std::max(std::atoi(argv[1]), 2) : 6;
    return headroom::probe::compare(runs, argc > 2 ? std::atof(argv[2]) : 60.0);
}
