// Motivation: prices of collectives are asked by the million in a plan, and schedules of whole jobs are simulated while
// their user waits. A closed form is arithmetic; a simulated message is a read and a write of both ends' progress, so that
// what it can reach is set by this machine's caches and memory: measured in the same run.
// Targets, one core: a price of a table row in 15 ns; a ring all-reduce of 4,096 ranks message by message (33.5 million)
// in 3 s and 500 MB, followed for one rank in 0.05 s with the same picoseconds; a pairwise all-to-all of 1 MB a rank
// among 1,024 ranks on a 2:1 oversubscribed fat tree, max-min fair, in 10 s.
// Last result (one core of a shared 2.6 GHz x86-64 virtual machine with five times its cores' work to do, g++ 12 -O2,
// processor time): 2.3 ns a price; the ring 0.19 s and 0.6 MB, 170 million messages a second, from the caches (1.3 times
// what memory streams); by symmetry 0.06 ms; the fat tree 0.5 s and 1.3 MB, 2 million messages a second, as long with 1 MB
// a pair. Where a hash spreads the routes nearly every message ends at a moment of its own: 2.7 s, 4.3 s with 1 MB a pair.
#include "../tests/support/shifts.hpp"
#include "memory.hpp"

#include "headroom/network/flow_simulation.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace headroom {

using namespace headroom::network;

namespace {

Link const port{.latency = Seconds{2e-6}, .bandwidth = BytesPerSecond{50e9}};

CollectiveAlgorithm const& row_of(Collective collective, std::string_view name) {
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        if (row.collective == collective && row.name == name) { return row; }
    }
    throw std::runtime_error{"no such algorithm"};
}

CollectiveCall call_of(int ranks, Bytes size) {
    return {.size = {size}, .layout = Layout::uniform(Ranks{ranks}, port), .reduction = SecondsPerByte{1e-12}};
}

/// Memory had before a benchmark is not its own.
class Report {
public:
    Report() : before_{bytes_now} { bytes_most = bytes_now; }
    /// `bytes_each`: what cannot but be read or written for a message.
    void messages(benchmark::State& state, std::int64_t messages, double bytes_each) const {
        std::size_t const most = bytes_most - before_;
        auto const all = static_cast<double>(messages) * static_cast<double>(state.iterations());
        state.counters["messages"] = benchmark::Counter(all, benchmark::Counter::kIsRate);
        state.counters["of_stream"] = benchmark::Counter(all * bytes_each / stream_rate(), benchmark::Counter::kIsRate);
        state.counters["peak_MB"] = 1e-6 * static_cast<double>(most);
    }

private:
    std::size_t before_;
};

/// One price through the table, of a size that changes. Target 15 ns.
void closed_form(benchmark::State& state) {
    CollectiveAlgorithm const& row = row_of(Collective::all_reduce, "ring");
    CollectiveCall call = call_of(4096, 64.0 * units::MiB);
    for (auto _ : state) {
        benchmark::DoNotOptimize(call);
        benchmark::DoNotOptimize(row.time(call).total());
    }
}
BENCHMARK(closed_form);

/// Target 3 s and 500 MB. `of_stream`: of what memory streams, if all were; a message is written and read once (40 B), and
/// so is the time of each end. Above 1 it comes from the caches.
void ring_of_4096(benchmark::State& state) {
    Report const report;
    CollectiveCall const call = call_of(4096, 64.0 * units::MiB);
    auto const schedule = row_of(Collective::all_reduce, "ring").schedule(call);
    SimulatedCollective result;
    for (auto _ : state) { result = simulate(*schedule, call.layout, call.reduction, Symmetry::ignored); }
    report.messages(state, result.messages, 2.0 * sizeof(Message) + 4.0 * sizeof(Ticks));
}
BENCHMARK(ring_of_4096)->Unit(benchmark::kMillisecond);

/// Target 50 ms, and what all ranks come to.
void ring_of_4096_by_symmetry(benchmark::State& state) {
    Report const report;
    CollectiveCall const call = call_of(4096, 64.0 * units::MiB);
    auto const schedule = row_of(Collective::all_reduce, "ring").schedule(call);
    SimulatedCollective result;
    for (auto _ : state) { result = simulate(*schedule, call.layout, call.reduction); }
    Ticks const all = simulate(*schedule, call.layout, call.reduction, Symmetry::ignored).picoseconds;
    if (result.picoseconds != all) { state.SkipWithError("not the picoseconds of all ranks"); }
    report.messages(state, result.messages, 0.0);
}
BENCHMARK(ring_of_4096_by_symmetry)->Unit(benchmark::kMillisecond);

/// A pairwise all-to-all among 1,024 ranks, 1 MB a rank or 1 MB a pair; leaves of 32 ports, pods of 32 or of 8 leaves.
/// Target 10 s. `of_stream`: four links to a route, a line of the cache to a link. `of_bound`: the simulated time
/// over what the busiest link needs for its bytes alone.
void fat_tree(benchmark::State& state, double block, int pod, Spread spread) {
    Report const report;
    Topology const tree = build_topology(FatTreeNetwork{.endpoints = 1024,
                                                        .port = port,
                                                        .leaf = 32,
                                                        .pod = pod,
                                                        .oversubscription = 2.0,
                                                        .hop = Seconds{3e-7},
                                                        .spread = spread});
    test::Shifts const schedule{1024, block};
    Layout const layout = Layout::uniform(Ranks{1024}, port);
    std::vector<int> endpoints(1024);
    std::iota(endpoints.begin(), endpoints.end(), 0);
    PlacedSchedule const placed{
        .schedule = &schedule, .layout = &layout, .endpoints = endpoints, .start = {}, .reduction = {}};
    SimulatedFlows result;
    for (auto _ : state) { result = simulate_flows({&placed, 1}, tree); }
    report.messages(state, result.messages, 4.0 * 64.0);
    state.counters["settlements"] = static_cast<double>(result.settlements);
    double bound = 0.0; // what no sharing of the busiest link can beat
    for (LinkId link = 0; link < tree.links().size(); ++link) {
        bound = std::max(bound, result.carried[link] / tree.links()[link].capacity / units::s);
    }
    state.counters["of_bound"] = static_cast<double>(result.last()) * 1e-12 / bound;
    state.counters["simulated_ms"] = static_cast<double>(result.last()) * 1e-9;
}
BENCHMARK_CAPTURE(fat_tree, a_rank, 1e6 / 1024, 32, Spread::destination)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fat_tree, a_pair, 1e6, 32, Spread::destination)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fat_tree, a_rank_three_levels, 1e6 / 1024, 8, Spread::destination)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fat_tree, a_rank_hashed, 1e6 / 1024, 8, Spread::hash)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fat_tree, a_pair_hashed, 1e6, 8, Spread::hash)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace headroom
