// Random steps of several ranks: each what-if is the step that a plain replay of the same tasks with other costs takes.

#include "support/draws.hpp"

#include "headroom/trace/trace_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

enum Lane : std::uint32_t { thread, compute_stream, transfer_stream, lanes };

/// A task before it has a number, with its dependencies: task, delay, why.
struct MadeTask {
    struct Need {
        std::size_t task = 0;
        Ticks delay = 0;
        TraceEdge why = TraceEdge::program;
    };
    SpanKind kind = SpanKind::host;
    std::string name;
    Lane lane = thread;
    Ticks cost = 0, begin = 0;
    std::vector<Need> needs;
    int run = -1;   ///< of a collective: its number on every rank
    int group = -1; ///< of a collective
    [[nodiscard]] Ticks end() const { return begin + cost; }
};

/// Tasks of one rank in the order in which they were made; the last on each lane.
struct MadeRank {
    std::vector<MadeTask> tasks;
    std::array<std::size_t, lanes> last{};

    std::size_t add(MadeTask task) {
        if (!tasks.empty()) {
            task.needs.push_back({last[task.lane], 0, task.lane == thread ? TraceEdge::program : TraceEdge::stream});
        }
        for (auto const& need : task.needs) { task.begin = std::max(task.begin, tasks[need.task].end() + need.delay); }
        last[task.lane] = tasks.size();
        tasks.push_back(std::move(task));
        return tasks.size() - 1;
    }
};

std::vector<std::string> const kernels{"gemm_a", "gemm_b", "elementwise_c", "elementwise_d", "flash_fwd"};
std::vector<std::string> const collectives{"ncclDevKernel_AllReduce", "ncclDevKernel_AllGather"};
std::vector<std::string> const group_names{"the group of all ranks", "groups of 2 ranks, 4 apart"};

/// Ranks that launch kernels and copies, allocate, wait for the device, and meet in collectives of two groups.
class MadeJob {
public:
    explicit MadeJob(std::uint64_t seed) : random_(seed) {
        ranks.resize(1 + below(3));
        for (auto& rank : ranks) { rank.add({.kind = SpanKind::annotation, .name = "begin"}); }
        int const rounds = 1 + static_cast<int>(below(4));
        for (int round = 0; round < rounds; ++round) {
            for (auto& rank : ranks) { work(rank); }
            if (ranks.size() > 1) { meet(round); }
        }
        for (auto& rank : ranks) { work(rank); }
    }
    std::vector<MadeRank> ranks;
    std::map<int, Ticks> transfer; ///< by run

private:
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    Ticks time(std::uint64_t most) { return static_cast<Ticks>(below(most)); }

    void work(MadeRank& rank) {
        auto const ops = 1 + below(12);
        for (std::uint64_t i = 0; i < ops; ++i) {
            switch (below(8)) {
            case 0: rank.add({.kind = SpanKind::launch, .name = "cudaMalloc", .cost = time(40'000)}); break;
            case 1: copy(rank); break;
            case 2: wait(rank); break;
            default: kernel(rank); break;
            }
        }
    }
    std::size_t call(MadeRank& rank, std::string name) {
        rank.add({.kind = SpanKind::host, .name = "aten::op", .cost = time(9'000)});
        return rank.add({.kind = SpanKind::launch, .name = std::move(name), .cost = 1'000 + time(3'000)});
    }
    void kernel(MadeRank& rank) {
        auto const launch = call(rank, "cudaLaunchKernel");
        rank.add({.kind = SpanKind::compute,
                  .name = kernels[below(kernels.size())],
                  .lane = compute_stream,
                  .cost = time(30'000),
                  .needs = {{launch, time(2) * 3'000, TraceEdge::launch}}});
    }
    void copy(MadeRank& rank) {
        auto const launch = call(rank, "cudaMemcpyAsync");
        rank.add({.kind = SpanKind::memory,
                  .name = "Memcpy HtoD (Pinned -> Device)",
                  .lane = compute_stream,
                  .cost = time(50'000),
                  .needs = {{launch, 0, TraceEdge::launch}}});
    }
    void wait(MadeRank& rank) {
        if (rank.last[compute_stream] == 0) { return; }
        rank.add({.kind = SpanKind::synchronization,
                  .name = "cudaStreamSynchronize",
                  .cost = time(2'000),
                  .needs = {{rank.last[compute_stream], time(2) * 5'000, TraceEdge::wait}}});
    }
    /// Every rank comes when it can; all go on when the last is there and the data has been sent.
    void meet(int run) {
        transfer[run] = 1 + time(60'000);
        int const group = static_cast<int>(below(2));
        std::string const& name = collectives[below(collectives.size())];
        Ticks last = 0;
        std::vector<std::size_t> tasks;
        for (auto& rank : ranks) {
            auto const launch = call(rank, "cudaLaunchKernelExC");
            tasks.push_back(
                rank.add({.kind = SpanKind::communication,
                          .name = name,
                          .lane = transfer_stream,
                          .needs = {{launch, 0, TraceEdge::launch}, {rank.last[compute_stream], 0, TraceEdge::wait}},
                          .run = run,
                          .group = group}));
            last = std::max(last, rank.tasks[tasks.back()].begin);
        }
        for (std::size_t r = 0; r < ranks.size(); ++r) {
            MadeTask& task = ranks[r].tasks[tasks[r]];
            task.cost = last + transfer[run] - task.begin;
            ranks[r].last[compute_stream] = tasks[r]; // computation waits for it, by order
        }
    }
    std::mt19937_64 random_;
};

/// Graphs as the readers of traces make them: tasks by begin.
struct Graphs {
    std::vector<StepGraph> ranks;
    std::vector<CollectiveLink> links;
    RunSigns signs;
};

std::uint32_t number_of(std::vector<std::string>& names, std::string const& name) {
    auto const at = std::ranges::find(names, name);
    if (at == names.end()) {
        names.push_back(name);
        return static_cast<std::uint32_t>(names.size() - 1);
    }
    return static_cast<std::uint32_t>(at - names.begin());
}

StepGraph graph_of(MadeRank const& rank, std::size_t r) {
    std::vector<std::uint32_t> order, number(rank.tasks.size());
    for (std::uint32_t i = 0; i < rank.tasks.size(); ++i) { order.push_back(i); }
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return rank.tasks[i].begin; });
    StepGraph graph;
    graph.rank = static_cast<std::int64_t>(r);
    graph.lanes = {"thread 1", "stream 7", "stream 20"};
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        MadeTask const& task = rank.tasks[order[i]];
        number[order[i]] = i;
        graph.begin.push_back(task.begin);
        graph.cost.push_back(task.cost);
        graph.kind.push_back(task.kind);
        graph.name.push_back(number_of(graph.names, task.name));
        graph.lane.push_back(task.lane);
        graph.interval.push_back(i);
        graph.collective.push_back(task.run);
        graph.step.end = std::max(graph.step.end, task.end());
        for (auto const& need : task.needs) {
            graph.edges.push_back({number[need.task], i});
            graph.edge_delay.push_back(need.delay);
            graph.edge_kind.push_back(need.why);
        }
    }
    return graph;
}

Graphs graphs_of(MadeJob const& job) {
    Graphs graphs;
    graphs.signs.groups.names = group_names;
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
        graphs.ranks.push_back(graph_of(job.ranks[r], r));
        auto& groups = graphs.signs.groups.of_run.emplace_back(job.transfer.size(), -1);
        for (MadeTask const& task : job.ranks[r].tasks) {
            if (task.run < 0) { continue; }
            groups[static_cast<std::size_t>(task.run)] = task.group;
            graphs.links.push_back({static_cast<std::uint32_t>(r), task.run, static_cast<std::uint32_t>(task.run),
                                    job.transfer.at(task.run)});
        }
    }
    return graphs;
}

/// Costs of tasks and delays under a change.
struct Change {
    std::function<Ticks(MadeTask const&, Ticks)> cost = [](MadeTask const&, Ticks now) { return now; };
    std::function<Ticks(MadeTask::Need const&, MadeTask const&)> delay = [](MadeTask::Need const& need,
                                                                            MadeTask const&) { return need.delay; };
    bool hosts_wait = true;
    bool together = true; ///< ranks wait for each other
};

bool is_host(MadeTask const& task) {
    return task.kind == SpanKind::launch || task.kind == SpanKind::synchronization || task.kind == SpanKind::host;
}

/// Ends of each rank's step: all tasks once more in the order in which they were made, a round of all ranks at a time.
std::vector<Ticks> replayed(MadeJob const& job, Change const& change) {
    std::size_t const count = job.ranks.size();
    std::vector<std::vector<Ticks>> finish(count);
    std::vector<Ticks> ends(count);
    auto const ready = [&](std::size_t r, MadeTask const& task) {
        Ticks at = 0;
        for (auto const& need : task.needs) {
            bool const left_out = !change.hosts_wait && need.why == TraceEdge::wait && is_host(task);
            if (!left_out) { at = std::max(at, finish[r][need.task] + change.delay(need, task)); }
        }
        return at;
    };
    auto const go_on = [&](std::size_t r) { // up to the next collective
        auto const& tasks = job.ranks[r].tasks;
        while (finish[r].size() < tasks.size() && tasks[finish[r].size()].run < 0) {
            MadeTask const& task = tasks[finish[r].size()];
            finish[r].push_back(ready(r, task) + change.cost(task, task.cost));
            ends[r] = std::max(ends[r], finish[r].back());
        }
    };
    for (std::size_t round = 0; round <= job.transfer.size(); ++round) {
        for (std::size_t r = 0; r < count; ++r) { go_on(r); }
        if (round == job.transfer.size()) { break; }
        std::vector<Ticks> arrival;
        for (std::size_t r = 0; r < count; ++r) { arrival.push_back(ready(r, job.ranks[r].tasks[finish[r].size()])); }
        Ticks const last = *std::ranges::max_element(arrival);
        for (std::size_t r = 0; r < count; ++r) {
            MadeTask const& task = job.ranks[r].tasks[finish[r].size()];
            Ticks const sent = change.cost(task, job.transfer.at(task.run));
            finish[r].push_back((change.together ? last : arrival[r]) + sent);
            ends[r] = std::max(ends[r], finish[r].back());
        }
    }
    return ends;
}

Ticks step_of(MadeJob const& job, Change const& change) {
    auto const ends = replayed(job, change);
    return *std::ranges::max_element(ends);
}

/// The change that a what-if asks about, as a test writes it down; a mean over ranks is none.
Change change_of(StepIf const& one) {
    auto const tasks = [](auto test, Ticks divisor) {
        return [=](MadeTask const& task, Ticks now) { return !test(task) ? now : divisor == 0 ? 0 : now / divisor; };
    };
    auto const of_kind = [](SpanKind kind) { return [kind](MadeTask const& task) { return task.kind == kind; }; };
    switch (one.change) {
    case StepChange::free_communication: return {.cost = tasks(of_kind(SpanKind::communication), 0)};
    case StepChange::faster_communication: return {.cost = tasks(of_kind(SpanKind::communication), 2)};
    case StepChange::faster_host: return {.cost = tasks(is_host, 2)};
    case StepChange::faster_kernel:
    case StepChange::faster_call:
        return {.cost = tasks([name = one.kernel](MadeTask const& task) { return task.name == name; }, 2)};
    case StepChange::faster_family: {
        std::string const part = one.kernel == "matrix products" ? "gemm" : "elementwise";
        return {.cost = tasks([part](MadeTask const& task) { return task.name.starts_with(part); }, 2)};
    }
    case StepChange::free_group: {
        int const group = static_cast<int>(std::ranges::find(group_names, one.kernel) - group_names.begin());
        return {.cost = tasks([group](MadeTask const& task) { return task.group == group; }, 0)};
    }
    case StepChange::free_allocator:
        return {.cost = tasks([](MadeTask const& task) { return task.name == "cudaMalloc"; }, 0)};
    case StepChange::free_copies: return {.cost = tasks(of_kind(SpanKind::memory), 0)};
    case StepChange::no_host_waits: return {.hosts_wait = false};
    case StepChange::no_launch_delays:
        return {.delay = [](MadeTask::Need const& need, MadeTask const&) {
            return need.why == TraceEdge::launch ? 0 : need.delay;
        }};
    case StepChange::no_late_ranks: return {.together = false};
    }
    return {};
}

TEST(TraceWhatIf, EachIsTheReplayedStepToTheNanosecond) {
    std::set<StepChange> asked;
    int const draws = test::draws_of(4'000, 400);
    for (int draw = 0; draw < draws; ++draw) {
        MadeJob const job(static_cast<std::uint64_t>(draw));
        Graphs const graphs = graphs_of(job);
        auto const answer =
            critical_path(graphs.ranks, graphs.links, std::vector<Ticks>(graphs.ranks.size(), 0), {}, graphs.signs);
        ASSERT_EQ(answer.depth, step_of(job, {})) << draw;
        for (StepIf const& one : answer.what_if) {
            auto const ends = replayed(job, change_of(one));
            Ticks expected = *std::ranges::max_element(ends);
            if (one.change == StepChange::no_late_ranks) {
                expected = 0;
                for (Ticks const end : ends) { expected += end; }
                expected /= static_cast<Ticks>(ends.size());
            }
            ASSERT_EQ(one.step, expected) << draw << ": " << words_of(one);
            ASSERT_LE(one.step, answer.depth) << draw << ": " << words_of(one);
            asked.insert(one.change);
        }
    }
    EXPECT_EQ(asked.size(), 12U); // every change there is, in some draw
}

// ---- no gap decides -----------------------------------------------------------------------------------------------

/// A kernel, and a collective on another stream that begins `gap` after its end; no events are stated.
RankTrace kernel_then_collective(Ticks gap, Ticks kernel) {
    RankTrace trace;
    trace.lanes = {{false, 0, 0}, {true, 0, 7}, {true, 0, 20}};
    trace.timeline.lanes = {"thread 1", "stream 7", "stream 20"};
    trace.timeline.names = {"cudaLaunchKernel", "gemm", "ncclDevKernel_AllReduce_Sum_f16_RING_LL"};
    auto const add = [&](SpanKind kind, std::uint32_t name, std::uint32_t lane, Ticks begin, Ticks length,
                         std::uint32_t number) {
        trace.timeline.begin.push_back(begin);
        trace.timeline.end.push_back(begin + length);
        trace.timeline.name.push_back(name);
        trace.timeline.lane.push_back(lane);
        trace.kind.push_back(kind);
        trace.correlation.push_back(number);
    };
    add(SpanKind::launch, 0, 0, 0, 5'000, 1);
    add(SpanKind::launch, 0, 0, 6'000, 5'000, 2);
    add(SpanKind::compute, 1, 1, 8'000, kernel, 1);
    add(SpanKind::communication, 2, 2, 8'000 + kernel + gap, 400'000, 2);
    return trace;
}

TEST(TraceWhatIf, CollectiveIsTiedToItsInputAtAnyGap) {
    constexpr Ticks kernel = 300'000;
    for (Ticks gap = 0; gap <= 200'000; gap += 250) {
        auto const trace = kernel_then_collective(gap, kernel);
        auto const answer = critical_path({step_graph(trace, {0, 0, 11'000}, {})}, {}, {0});
        ASSERT_EQ(answer.depth, 8'000 + kernel + gap + 400'000);
        auto const found = std::ranges::find_if(answer.what_if, [](StepIf const& one) { return one.kernel == "gemm"; });
        ASSERT_NE(found, answer.what_if.end()) << gap;
        ASSERT_EQ(found->step, answer.depth - kernel / 2) << gap; // the gap stays, the kernel is half as long
    }
}

TEST(TraceWhatIf, KernelIsTiedToATransferAcrossAGapThatIsShortAgainstItsIdleTime) {
    for (Ticks gap = 0; gap <= 30'000; gap += 500) { // 5 us at least, a tenth of 400 us here
        auto trace = kernel_then_collective(0, 20'000);
        trace.timeline.begin[2] = 408'000 + 28'000 + gap; // after the transfer, on a stream that was free all along
        trace.timeline.end[2] = trace.timeline.begin[2] + 20'000;
        trace.timeline.begin[3] = 28'000;
        trace.timeline.end[3] = 428'000;
        auto const answer = critical_path({step_graph(trace, {0, 0, 11'000}, {})}, {}, {0});
        auto const free = std::ranges::find(answer.what_if, StepChange::free_communication, &StepIf::change);
        ASSERT_NE(free, answer.what_if.end());
        ASSERT_EQ(free->step, answer.depth - 400'000) << gap;
    }
}

} // namespace
} // namespace headroom
