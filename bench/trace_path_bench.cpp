// Motivation: the critical path of a step of a large model has hundreds of thousands of intervals a rank; whoever looks
// at it asks several questions, and across ranks. The Python tool for it takes about 70 us an interval.
// Target, one core: at least 1 million events a second, from a rank's trace to the answer with all of its what-ifs, for
// one rank of 1 million events and for 8 ranks that meet in collectives.
// Last result (one core of a shared 2.6 GHz x86-64 virtual machine, g++ 12 -O2, others at work): 1.20 million events a second for
// one rank (graph 0.42 s, path, advice and 10 what-ifs 0.41 s), 1.27 for 8.
#include "headroom/trace/trace_path.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

constexpr std::uint32_t layers_names = 40;
constexpr std::int64_t ranks = 8;

void add(RankTrace& trace, SpanKind kind, std::uint32_t name, std::uint32_t lane, Ticks begin, Ticks length,
         std::uint32_t correlation = 0) {
    trace.timeline.begin.push_back(begin);
    trace.timeline.end.push_back(begin + length);
    trace.timeline.name.push_back(name);
    trace.timeline.lane.push_back(lane);
    trace.kind.push_back(kind);
    trace.correlation.push_back(correlation);
}

/// Operators of three levels, each with a launch and a kernel; every tenth kernel is a collective on a stream of its own.
RankTrace training_step(std::size_t events, std::int64_t rank) {
    RankTrace trace;
    trace.rank = rank;
    trace.lanes = {{false, 1, 1}, {true, 0, 7}, {true, 0, 20}};
    trace.timeline.lanes = {"thread 1", "stream 7", "stream 20"};
    for (std::uint32_t i = 0; i < layers_names; ++i) {
        std::string const family = i % 3 == 0 ? "gemm_" : i % 3 == 1 ? "elementwise_" : "softmax_";
        trace.timeline.names.push_back(family + std::to_string(i));
    }
    trace.timeline.names.emplace_back("cudaLaunchKernel");
    Ticks now = 0, compute = 0, transfer = 0;
    std::uint32_t correlation = 0;
    while (trace.size() + 5 <= events) {
        std::uint32_t const name = ++correlation % layers_names;
        bool const sends = correlation % 10 == 0;
        add(trace, SpanKind::host, name, 0, now, 9000);
        add(trace, SpanKind::host, (name + 1) % layers_names, 0, now + 500, 8000);
        add(trace, SpanKind::host, (name + 2) % layers_names, 0, now + 1000, 7000);
        add(trace, SpanKind::launch, layers_names, 0, now + 2000, 3000, correlation);
        Ticks& lane = sends ? transfer : compute;
        lane = std::max({lane + 1000, now + 5500, sends ? compute : Ticks{0}});
        Ticks const length = 4000 + 100 * ((correlation * 7 + rank) % 50);
        add(trace, sends ? SpanKind::communication : SpanKind::compute, name, sends ? 2 : 1, lane, length, correlation);
        lane += length;
        now += 10000;
    }
    return trace;
}

CollectiveRuns runs_of(RankTrace const& trace) {
    CollectiveRuns runs;
    runs.labels.emplace_back();
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (trace.kind[i] != SpanKind::communication) { continue; }
        CollectiveRun run;
        run.span = i;
        run.lane = trace.timeline.lane[i];
        run.begin = trace.timeline.begin[i];
        run.end = trace.timeline.end[i];
        runs.runs.push_back(run);
    }
    return runs;
}

TraceStep whole(RankTrace const& trace) {
    Ticks end = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) { end = std::max(end, trace.timeline.end[i]); }
    return {0, 0, end};
}

struct Times {
    double graph = 0.0, path = 0.0; ///< processor seconds
    std::size_t changes = 0;        ///< that were measured
};

double seconds_since(std::clock_t begin) { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }

Times measure_ranks(std::vector<RankTrace> const& traces) {
    Times times;
    std::vector<CollectiveRuns> runs;
    for (auto const& trace : traces) { runs.push_back(runs_of(trace)); }
    std::clock_t const begin = std::clock();
    std::vector<StepGraph> graphs;
    for (std::size_t r = 0; r < traces.size(); ++r) {
        graphs.push_back(step_graph(traces[r], whole(traces[r]), runs[r]));
    }
    times.graph = seconds_since(begin);
    std::vector<CollectiveLink> links;
    for (std::uint32_t r = 0; traces.size() > 1 && r < traces.size(); ++r) {
        for (std::uint32_t run = 0; run < runs[r].size(); ++run) {
            links.push_back({r, static_cast<std::int32_t>(run), run, 0});
        }
    }
    RunSigns signs; // two process groups in turn: every sort of what-if is asked
    signs.groups.names = {"groups of 8 neighbouring ranks", "groups of 4 ranks, 8 apart"};
    for (auto const& rank : runs) {
        auto& of_run = signs.groups.of_run.emplace_back();
        for (std::size_t run = 0; run < rank.size(); ++run) { of_run.push_back(static_cast<std::int32_t>(run % 2)); }
    }
    std::clock_t const joined = std::clock();
    auto const answer = critical_path(graphs, links, std::vector<Ticks>(traces.size(), 0), {}, signs);
    times.changes = answer.what_if.size();
    times.path = seconds_since(joined);
    if (answer.depth == 0) { std::puts("no path"); }
    return times;
}

void report(char const* what, std::vector<RankTrace> const& traces) {
    std::size_t events = 0;
    for (auto const& trace : traces) { events += trace.size(); }
    Times best{1e30, 1e30, 0};
    for (int i = 0; i < 3; ++i) {
        auto const times = measure_ranks(traces);
        if (times.graph + times.path < best.graph + best.path) { best = times; }
    }
    std::printf("%s: %zu events, graph %.3f s, path, advice and %zu what-ifs %.3f s: %.2f million events a second\n",
                what, events, best.graph, best.changes, best.path,
                static_cast<double>(events) / (best.graph + best.path) / 1e6);
}

} // namespace
} // namespace headroom

int main() {
    using namespace headroom;
    using namespace headroom::trace;
    constexpr std::size_t events = 1'000'000;
    report("one rank", {training_step(events, 0)});
    std::vector<RankTrace> several;
    for (std::int64_t rank = 0; rank < ranks; ++rank) { several.push_back(training_step(events, rank)); }
    report("8 ranks", several);
}
