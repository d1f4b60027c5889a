#include "support/random.hpp"

#include "headroom/trace/trace_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::trace;

namespace {

/// A trace written by hand: thread 0, and streams from 1 on.
struct Recorder {
    RankTrace trace;

    explicit Recorder(std::uint32_t streams = 2, std::uint32_t threads = 1) {
        for (std::uint32_t i = 0; i < threads; ++i) { lane(false, i, "thread " + std::to_string(i)); }
        for (std::uint32_t i = 0; i < streams; ++i) { lane(true, i, "stream " + std::to_string(i)); }
    }
    void lane(bool device, std::uint32_t number, std::string name) {
        trace.lanes.push_back({device, 0, number});
        trace.timeline.lanes.push_back(std::move(name));
    }
    std::uint32_t add(SpanKind kind, std::string const& name, std::uint32_t lane, Ticks begin, Ticks end,
                      std::uint32_t correlation = 0) {
        auto& names = trace.timeline.names;
        auto const known = std::find(names.begin(), names.end(), name);
        trace.timeline.name.push_back(static_cast<std::uint32_t>(known - names.begin()));
        if (known == names.end()) { names.push_back(name); }
        trace.timeline.begin.push_back(begin);
        trace.timeline.end.push_back(end);
        trace.timeline.lane.push_back(lane);
        trace.kind.push_back(kind);
        trace.correlation.push_back(correlation);
        return static_cast<std::uint32_t>(trace.size() - 1);
    }
};

CollectiveRuns runs_of(RankTrace const& trace) {
    CollectiveRuns runs;
    runs.labels.emplace_back();
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (trace.kind[i] != SpanKind::communication) { continue; }
        CollectiveRun run;
        run.span = i;
        runs.runs.push_back(run);
    }
    return runs;
}

PathAnswer path_of(RankTrace const& trace, Ticks end) {
    auto const graph = step_graph(trace, {0, 0, end}, runs_of(trace));
    return critical_path({graph}, {}, {0});
}

Ticks of_kind(PathAnswer const& answer, SpanKind kind) { return answer.by_kind[static_cast<std::size_t>(kind)]; }

Ticks step_if(PathAnswer const& answer, std::string const& what) {
    for (auto const& question : answer.what_if) {
        if (words_of(question) == what) { return question.step; }
    }
    return -1;
}

void expect_sums(PathAnswer const& answer) {
    EXPECT_EQ(std::accumulate(answer.by_kind.begin(), answer.by_kind.end(), answer.delays), answer.depth);
    EXPECT_EQ(std::accumulate(answer.delays_by.begin(), answer.delays_by.end(), Ticks{0}), answer.delays);
    Ticks pieces = 0;
    for (auto const& piece : answer.pieces) { pieces += piece.duration + piece.delay; }
    EXPECT_EQ(pieces, answer.depth);
    EXPECT_EQ(answer.depth, answer.measured);
}

TEST(TracePath, OperatorThatLaunchesHasThePiecesAroundItsCall) {
    Recorder recorder;
    recorder.add(SpanKind::host, "op", 0, 0, 100'000);
    recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 40'000, 50'000, 1);
    recorder.add(SpanKind::compute, "kernel", 1, 55'000, 80'000, 1);
    auto const graph = step_graph(recorder.trace, {0, 0, 100'000}, {});
    // begin of the step, op before the call, the call, op after it, kernel, end of the step
    EXPECT_EQ(graph.cost, (std::vector<Ticks>{0, 40'000, 10'000, 50'000, 25'000, 0}));
    auto const answer = path_of(recorder.trace, 100'000);
    EXPECT_EQ(answer.depth, 100'000);
    EXPECT_EQ(answer.work, 125'000); // the op's own 90, the call's 10, the kernel's 25
    EXPECT_EQ(of_kind(answer, SpanKind::host), 90'000);
    EXPECT_EQ(of_kind(answer, SpanKind::launch), 10'000);
    expect_sums(answer);
}

TEST(TracePath, CountsCallsAndNotTheirPieces) {
    Recorder recorder;
    recorder.add(SpanKind::host, "op", 0, 0, 100'000);
    recorder.add(SpanKind::host, "inner", 0, 10'000, 20'000);
    recorder.add(SpanKind::host, "inner", 0, 40'000, 50'000);
    recorder.add(SpanKind::host, "op", 0, 100'000, 120'000);
    auto const answer = path_of(recorder.trace, 120'000);
    std::map<std::string, std::int64_t> counts;
    for (auto const& name : answer.names) { counts[name.name] = name.count; }
    EXPECT_EQ(counts["op"], 2) << "the first is in three pieces around the two inside of it";
    EXPECT_EQ(counts["inner"], 2);
    expect_sums(answer);
}

TEST(TracePath, HostThatWaitsForItsDeviceDoesNoWork) {
    Recorder recorder;
    recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 0, 10'000, 1);
    recorder.add(SpanKind::compute, "kernel", 1, 15'000, 95'000, 1);
    recorder.add(SpanKind::synchronization, "cudaDeviceSynchronize", 0, 20'000, 100'000, 2);
    auto const answer = path_of(recorder.trace, 100'000);
    EXPECT_EQ(of_kind(answer, SpanKind::compute), 80'000);
    EXPECT_EQ(of_kind(answer, SpanKind::launch), 10'000);
    EXPECT_EQ(of_kind(answer, SpanKind::synchronization), 5'000); // what it took to return
    EXPECT_EQ(answer.delays, 5'000);                              // of the launch
    EXPECT_EQ(step_if(answer, "kernel twice as fast"), 60'000);
    EXPECT_EQ(step_if(answer, "no launch delays"), 95'000);
    expect_sums(answer);
}

TEST(TracePath, HostThatEndsBeforeItsDeviceIsNotWaitedFor) {
    for (bool const late_operator : {false, true}) { // what the host does beside the kernels holds nothing up
        Recorder recorder;
        recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 0, 5'000, 1);
        if (late_operator) { recorder.add(SpanKind::host, "aten::view", 0, 200'000, 210'000); }
        recorder.add(SpanKind::compute, "gemm", 1, 100'000, 1'100'000, 1);
        auto const answer = path_of(recorder.trace, 1'100'000); // the whole file is the step
        EXPECT_EQ(step_if(answer, "gemm twice as fast"), 600'000);
        EXPECT_EQ(of_kind(answer, SpanKind::compute), 1'000'000);
        expect_sums(answer);
    }
}

TEST(TracePath, CopyCallThatBlocksWaitsForTheWorkBeforeItsCopy) {
    for (auto const* const call : {"cudaMemcpyAsync", "hipMemcpyWithStream", "urEnqueueUSMMemcpy", "aclrtMemcpy"}) {
        Recorder recorder;
        recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 0, 10'000, 1);
        recorder.add(SpanKind::compute, "gemm", 1, 20'000, 1'020'000, 1);
        recorder.add(SpanKind::launch, call, 0, 15'000, 1'050'500, 2);
        recorder.add(SpanKind::memory, "Memcpy DtoH", 1, 1'025'000, 1'045'000, 2);
        recorder.add(SpanKind::host, "aten::item", 0, 1'060'000, 1'080'000);
        auto const answer = path_of(recorder.trace, 1'080'000);
        EXPECT_EQ(step_if(answer, "gemm twice as fast"), 580'000) << call;
        EXPECT_EQ(of_kind(answer, SpanKind::compute), 1'000'000) << call;
        EXPECT_EQ(of_kind(answer, SpanKind::launch), 10'000 + 5'500) << call; // it starts the kernel, and returns
        expect_sums(answer);
    }
}

TEST(TracePath, CopyCallOnAnIdleStreamHasTheTimeToHandItsCopyOver) {
    Recorder recorder;
    recorder.add(SpanKind::launch, "cudaMemcpy", 0, 0, 60'000, 1);
    recorder.add(SpanKind::memory, "Memcpy HtoD", 1, 20'000, 50'000, 1);
    auto const answer = path_of(recorder.trace, 60'000);
    EXPECT_EQ(of_kind(answer, SpanKind::launch), 20'000 + 10'000);
    EXPECT_EQ(of_kind(answer, SpanKind::memory), 30'000);
    EXPECT_EQ(step_if(answer, "host twice as fast"), 45'000);
    expect_sums(answer);
}

TEST(TracePath, LaunchOfAGraphIsNoWaitForTheFirstCopyInIt) {
    Recorder recorder;
    recorder.add(SpanKind::launch, "cudaGraphLaunch", 0, 0, 100'000, 1);
    recorder.add(SpanKind::memory, "Memcpy DtoD", 1, 20'000, 30'000, 1);
    recorder.add(SpanKind::compute, "gemm", 1, 30'000, 90'000, 1);
    auto const answer = path_of(recorder.trace, 100'000);
    EXPECT_EQ(of_kind(answer, SpanKind::launch), 100'000);
    expect_sums(answer);
}

TEST(TracePath, TimeBetweenOperatorsIsTheHostsOwn) {
    Recorder recorder;
    recorder.add(SpanKind::host, "a", 0, 10'000, 20'000);
    recorder.add(SpanKind::host, "b", 0, 50'000, 60'000);
    auto const answer = path_of(recorder.trace, 100'000);
    EXPECT_EQ(answer.depth, 100'000);
    EXPECT_EQ(answer.delays_by[static_cast<std::size_t>(TraceEdge::program)], 80'000);
    EXPECT_EQ(step_if(answer, "host twice as fast"), 50'000);
    expect_sums(answer);
}

TEST(TracePath, StepLastsAsLongAsTheDeviceFallsBehind) {
    Recorder recorder;
    recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 0, 10'000, 1);
    recorder.add(SpanKind::compute, "kernel", 1, 10'000, 150'000, 1);
    EXPECT_EQ(path_of(recorder.trace, 100'000).measured, 150'000);
    // as far behind when it began: the step is as long as the host's
    recorder.add(SpanKind::compute, "of the step before", 2, -60'000, 50'000);
    EXPECT_EQ(path_of(recorder.trace, 100'000).measured, 100'000);
}

TEST(TracePath, StreamThatBeginsWhenAnotherIsDoneWaitedForIt) {
    Recorder recorder;
    recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 0, 5'000, 1);
    recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 5'000, 10'000, 2);
    recorder.add(SpanKind::compute, "kernel", 1, 6'000, 80'000, 1);
    recorder.add(SpanKind::communication, "ncclDevKernel_AllReduce", 2, 82'000, 100'000, 2);
    recorder.add(SpanKind::synchronization, "cudaDeviceSynchronize", 0, 10'000, 100'000, 3);
    auto const answer = path_of(recorder.trace, 100'000);
    EXPECT_EQ(of_kind(answer, SpanKind::compute), 74'000);
    EXPECT_EQ(of_kind(answer, SpanKind::communication), 18'000);
    EXPECT_EQ(step_if(answer, "communication is free"), 82'000);
    ASSERT_EQ(answer.notes.size(), 1U);
    EXPECT_NE(answer.notes.front().find("wait for the kernel launched before them"), std::string::npos);
    expect_sums(answer);
}

TEST(TracePath, KernelThatBeginsWhenATransferIsDoneWaitedForIt) {
    Recorder recorder; // no order of launches tells that: the kernel was launched first
    recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 0, 5'000, 1);
    recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 5'000, 10'000, 2);
    recorder.add(SpanKind::communication, "ncclDevKernel_AllReduce", 2, 8'000, 80'000, 1);
    recorder.add(SpanKind::compute, "kernel", 1, 82'000, 100'000, 2);
    recorder.add(SpanKind::synchronization, "cudaDeviceSynchronize", 0, 10'000, 100'000, 3);
    auto const answer = path_of(recorder.trace, 100'000);
    EXPECT_EQ(of_kind(answer, SpanKind::communication), 72'000);
    // the kernel begins 8 us after its launch, as the transfer did, and takes 18 us
    EXPECT_EQ(step_if(answer, "communication is free"), 13'000 + 18'000);
    ASSERT_EQ(answer.notes.size(), 1U);
    EXPECT_NE(answer.notes.front().find("inferred"), std::string::npos);
    expect_sums(answer);
}

TEST(TracePath, StatedWaitNeedsNoGuess) {
    Recorder recorder;
    recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 0, 5'000, 1);
    recorder.add(SpanKind::launch, "cudaEventRecord", 0, 5'000, 6'000, 2);
    recorder.add(SpanKind::launch, "cudaStreamWaitEvent", 0, 6'000, 7'000, 3);
    recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 7'000, 10'000, 4);
    recorder.add(SpanKind::compute, "first", 1, 6'000, 80'000, 1);
    auto const wait = recorder.add(SpanKind::device_wait, "Stream Wait Event", 2, 6'500, 6'500, 3);
    recorder.add(SpanKind::compute, "second", 2, 90'000, 100'000, 4);
    recorder.trace.waits.push_back({wait, 1, 2});
    auto const answer = path_of(recorder.trace, 10'000);
    EXPECT_EQ(of_kind(answer, SpanKind::compute), 84'000);
    EXPECT_EQ(answer.delays_by[static_cast<std::size_t>(TraceEdge::wait)], 10'000);
    expect_sums(answer);
}

TEST(TracePath, MainThreadWaitsForTheThreadThatGoesBackward) {
    Recorder recorder(1, 2);
    recorder.add(SpanKind::host, "forward", 0, 0, 100'000);
    recorder.add(SpanKind::host, "backward of a layer", 1, 110'000, 480'000);
    recorder.add(SpanKind::host, "optimizer", 0, 500'000, 600'000);
    auto const answer = path_of(recorder.trace, 600'000);
    EXPECT_EQ(of_kind(answer, SpanKind::host), 570'000);
    EXPECT_EQ(answer.delays_by[static_cast<std::size_t>(TraceEdge::handover)], 30'000);
    EXPECT_EQ(answer.pieces.size(), 3U);
    expect_sums(answer);
}

TEST(TracePath, RanksMeetInCollectivesAndWaitingIsNoWork) {
    std::vector<StepGraph> graphs;
    for (Ticks const compute : {20'000, 60'000}) {
        Recorder recorder;
        recorder.trace.rank = static_cast<std::int64_t>(graphs.size());
        recorder.add(SpanKind::compute, "gemm", 1, 0, compute);
        recorder.add(SpanKind::communication, "nccl", 1, compute, 100'000);
        graphs.push_back(step_graph(recorder.trace, {0, 0, 100'000}, runs_of(recorder.trace)));
    }
    auto const answer = critical_path(graphs, {{0, 0, 0, 40'000}, {1, 0, 0, 40'000}}, {0, 0});
    EXPECT_EQ(answer.depth, 100'000);
    EXPECT_EQ(of_kind(answer, SpanKind::compute), 60'000);
    EXPECT_EQ(of_kind(answer, SpanKind::communication), 40'000);
    EXPECT_EQ(answer.work, 20'000 + 60'000 + 2 * 40'000);
    EXPECT_EQ(step_if(answer, "communication is free"), 60'000);
    EXPECT_EQ(step_if(answer, "no waiting for late ranks"), (60'000 + 100'000) / 2);
    expect_sums(answer);
}

TEST(TracePath, WholeIsATaskGraphOfTheSameDepth) {
    Recorder recorder;
    recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, 0, 10'000, 1);
    recorder.add(SpanKind::compute, "kernel", 1, 15'000, 95'000, 1);
    auto const graph = step_graph(recorder.trace, {0, 0, 20'000}, {});
    auto const whole = task_graph_of({graph}, {}, {0});
    EXPECT_EQ(dag_measure(whole.dag).depth, 95'000);
    EXPECT_EQ(whole.names.size(), whole.dag.size());
    EXPECT_EQ(whole.kind_of.size(), whole.dag.size());
    EXPECT_EQ(whole.resource_of.size(), whole.dag.size());
}

// ---- random steps, run forward by known rules -----------------------------------------------------------------------

/// A host that launches kernels of random length onto streams and waits now and then, simulated.
struct Simulated {
    Recorder recorder{3};
    Ticks makespan = 0;
};

Simulated simulated(std::uint64_t seed, Ticks divisor) {
    test::CounterRandom random{seed};
    auto const below = [&](Ticks bound) {
        return static_cast<Ticks>((random.next() >> 32U) % static_cast<std::uint64_t>(bound));
    };
    Simulated run;
    std::vector<Ticks> free(3, 0);
    Ticks now = 0;
    std::uint32_t correlation = 0;
    constexpr Ticks delay = 4'000; // from the begin of a call to its kernel at the earliest
    for (int i = 0; i < 200; ++i) {
        Ticks const own = 1'000 + below(20'000);
        run.recorder.add(SpanKind::host, "op", 0, now, now + own + 5'000);
        now += own;
        run.recorder.add(SpanKind::launch, "cudaLaunchKernel", 0, now, now + 2'000, ++correlation);
        auto const stream = static_cast<std::size_t>(below(3));
        Ticks const begin = std::max(free[stream], now + delay);
        Ticks length = 2'000 * (1 + below(30));
        bool const target = below(4) == 0;
        if (target) { length /= divisor; }
        run.recorder.add(SpanKind::compute, target ? "target" : "kernel " + std::to_string(stream),
                         static_cast<std::uint32_t>(stream) + 1, begin, begin + length, correlation);
        free[stream] = begin + length;
        now += 5'000;
        if (below(10) == 0) {
            Ticks const done = std::max(now, *std::max_element(free.begin(), free.end())) + 3'000;
            run.recorder.add(SpanKind::synchronization, "cudaDeviceSynchronize", 0, now, done, ++correlation);
            now = done;
        }
    }
    run.makespan = std::max(now, *std::max_element(free.begin(), free.end()));
    run.recorder.trace.timeline.begin.front() = 0;
    // the thread's last moment ends the host's step
    run.recorder.add(SpanKind::host, "last", 0, now, now + 1'000);
    run.makespan = std::max(run.makespan, now + 1'000);
    return run;
}

Ticks host_end(RankTrace const& trace) {
    Ticks end = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (!trace.lanes[trace.timeline.lane[i]].device) { end = std::max(end, trace.timeline.end[i]); }
    }
    return end;
}

TEST(TracePath, RandomStepsAreAsLongAsTheyWereSimulatedToBe) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto const run = simulated(seed, 1);
        auto const answer = path_of(run.recorder.trace, host_end(run.recorder.trace));
        ASSERT_EQ(answer.depth, run.makespan) << seed;
        expect_sums(answer);
    }
}

TEST(TracePath, WhatIfForeseesTheStepOfFasterKernels) {
    std::size_t asked = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto const run = simulated(seed, 1), faster = simulated(seed, 2);
        auto const answer = path_of(run.recorder.trace, host_end(run.recorder.trace));
        Ticks const foreseen = step_if(answer, "target twice as fast");
        if (foreseen < 0) { continue; } // none on the path
        ++asked;
        // a launch delay that was hidden while a stream was busy may show: one for each wait of the host
        EXPECT_NEAR(static_cast<double>(foreseen), static_cast<double>(faster.makespan),
                    0.01 * static_cast<double>(faster.makespan))
            << seed;
    }
    EXPECT_GT(asked, 50U);
}

TEST(TracePath, OrderOfTheInputChangesNothing) {
    auto const run = simulated(7, 1);
    auto const& trace = run.recorder.trace;
    auto shuffled = trace;
    std::vector<std::size_t> order(trace.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    test::CounterRandom random{3};
    for (std::size_t i = order.size() - 1; i > 0; --i) { std::swap(order[i], order[random.next() % (i + 1)]); }
    for (std::size_t i = 0; i < order.size(); ++i) {
        shuffled.timeline.begin[i] = trace.timeline.begin[order[i]];
        shuffled.timeline.end[i] = trace.timeline.end[order[i]];
        shuffled.timeline.name[i] = trace.timeline.name[order[i]];
        shuffled.timeline.lane[i] = trace.timeline.lane[order[i]];
        shuffled.kind[i] = trace.kind[order[i]];
        shuffled.correlation[i] = trace.correlation[order[i]];
    }
    TraceStep const step{0, 0, host_end(trace)};
    auto const one = step_graph(trace, step, {}), other = step_graph(shuffled, step, {});
    EXPECT_EQ(one.begin, other.begin);
    EXPECT_EQ(one.cost, other.cost);
    EXPECT_EQ(one.edges, other.edges);
    EXPECT_EQ(one.edge_delay, other.edge_delay);
}

TEST(TracePath, AnyMessIsAGraphThatLeadsForward) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        test::CounterRandom random{seed};
        auto const below = [&](std::uint64_t bound) { return random.next() % bound; };
        Recorder recorder(3, 3);
        for (int i = 0; i < 60; ++i) {
            auto const lane = static_cast<std::uint32_t>(below(6));
            auto const kind = lane < 3 ? span_kinds[below(2) == 0 ? 1 : 4 + below(4)] : span_kinds[below(4)];
            auto const begin = static_cast<Ticks>(below(50)) * 1000;
            static std::vector<std::string> const names{"a", "c10d::allreduce_", "cudaMemcpyAsync",
                                                        "cudaDeviceSynchronize", "cudaStreamSynchronize"};
            recorder.add(kind, names[below(names.size())], lane, begin, begin + static_cast<Ticks>(below(30)) * 1000,
                         static_cast<std::uint32_t>(below(12)));
        }
        auto const graph = step_graph(recorder.trace, {0, 10'000, 40'000}, runs_of(recorder.trace));
        for (std::size_t e = 0; e < graph.edges.size(); ++e) {
            auto const& edge = graph.edges[e];
            ASSERT_LT(edge.from, edge.to);
            ASSERT_GE(graph.edge_delay[e], 0);
            ASSERT_LE(graph.begin[edge.from] + graph.cost[edge.from] + graph.edge_delay[e], graph.begin[edge.to]);
        }
        ASSERT_TRUE(std::is_sorted(graph.edges.begin(), graph.edges.end(),
                                   [](Edge const& a, Edge const& b) { return a.to < b.to; }));
        auto const answer = critical_path({graph}, {}, {0});
        expect_sums(answer);
        std::vector<CollectiveLink> links;
        for (std::uint32_t i = 0; i < 40; ++i) {
            links.push_back({static_cast<std::uint32_t>(below(2)), static_cast<std::int32_t>(below(20)),
                             static_cast<std::uint32_t>(below(8)), static_cast<Ticks>(below(5000))});
        }
        auto const joined = critical_path({graph, graph}, links, {0, static_cast<Ticks>(below(9000))});
        EXPECT_EQ(std::accumulate(joined.by_kind.begin(), joined.by_kind.end(), joined.delays), joined.depth);
    }
}

} // namespace
} // namespace headroom
