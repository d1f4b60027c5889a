// Motivation: a roof that is too low makes every program look good. What we measure of this machine is held against what
// others reach on it, in one run, the two in turns, so that a machine that is busy is busy for both.
// Targets: triad in memory within 10 % of a plain STREAM (g++ -O3 -march=native -fopenmp, threads on the same cores), best of
// all turns against best of all turns as STREAM counts, and by the median of ratios of neighbouring turns.
//     bench_measure_roofline_bench [turns]
// Last result (2 cores of a shared Zen 4 virtual machine, three runs): against a plain STREAM best/best 1.04 to 1.09, turns
// 0.97 to 1.06; against one on huge pages 0.89 to 0.94, 0.88 to 0.93. Stores past the caches, which the ceiling of memory is
// taken from, give a quarter more than either.
// Ordinary pages are what a plain STREAM gets; huge pages are asked for by ours and by the second reference, so that the
// difference between the two references is that of pages alone.
#include "stream_reference.hpp"

#include "headroom/probe/memory_rates.hpp"
#include "headroom/sample_statistics.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace headroom {
namespace {

/// Two ways to the same figure. A row more is a line more: of matrix products, too.
struct Rivals {
    std::string name;
    double to_print = 1.0; ///< of one printed unit
    std::string unit;
    std::function<double()> ours, theirs;
    std::vector<double> our_rates = {}, their_rates = {};
};

void take_turn(Rivals& rivals, bool ours_first) {
    if (ours_first) { rivals.our_rates.push_back(rivals.ours()); }
    rivals.their_rates.push_back(rivals.theirs());
    if (!ours_first) { rivals.our_rates.push_back(rivals.ours()); }
}

void print(Rivals const& rivals) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rivals.our_rates.size(); ++i) {
        ratios.push_back(rivals.our_rates[i] / rivals.their_rates[i]);
    }
    auto const median = summarize(ratios);
    double const ours = *std::ranges::max_element(rivals.our_rates),
                 theirs = *std::ranges::max_element(rivals.their_rates);
    std::printf("%-48s %8.2f %8.2f %s  best/best %.3f  turns %.3f [%.3f, %.3f]\n", rivals.name.c_str(),
                ours / rivals.to_print, theirs / rivals.to_print, rivals.unit.c_str(), ours / theirs, median.median,
                median.low, median.high);
}

probe::MemoryPoint triad_in_memory(probe::MachineShape const& shape, int threads) {
    for (auto const& point : probe::memory_points(shape, {.curve = false})) {
        bool const triad = point.kernel == probe::MemoryKernel::triad && point.stores == probe::Stores::ordinary;
        if (triad && point.level == "memory" && point.threads == threads) { return point; }
    }
    std::fputs("no triad in memory\n", stderr);
    std::exit(1);
}

int compare(int turns) {
    auto const shape = probe::machine_shape();
    auto const point = triad_in_memory(shape, shape.cores);
    probe::MemoryBench bench{shape};
    reference::bind_threads(shape.core_ids, probe::pin_to);
    reference::Stream plain{point.bytes / 24, false}, huge{point.bytes / 24, true};
    auto const ours = [&] { return bench.measure_once(point).value(); };
    std::string const what = "triad, " + std::to_string(point.bytes >> 20U) + " MiB, " + std::to_string(shape.cores) +
                             (shape.cores == 1 ? " core" : " cores");
    std::vector<Rivals> all{{what + ", plain STREAM", 1e9, "GB/s", ours, [&] { return plain.triad(); }},
                            {what + ", STREAM on huge pages", 1e9, "GB/s", ours, [&] { return huge.triad(); }}};
    for (auto& rivals : all) { static_cast<void>(rivals.ours()), static_cast<void>(rivals.theirs()); } // warm
    for (int turn = 0; turn < turns; ++turn) {
        for (auto& rivals : all) { take_turn(rivals, turn % 2 == 0); }
    }
    std::printf("%-48s %8s %8s\n", "", "ours", "theirs");
    for (auto const& rivals : all) { print(rivals); }
    for (auto const& [name, said] : bench.conditions()) { std::printf("%s: %s\n", name.c_str(), said.c_str()); }
    bool const right = plain.right() && huge.right();
    if (!right) { std::fputs("wrong results of the reference\n", stderr); }
    return right ? 0 : 1;
}

} // namespace
} // namespace headroom

int main(int argc, char** argv) { return headroom::compare(argc > 1 ? std::max(std::atoi(argv[1]), 2) : 30); }
