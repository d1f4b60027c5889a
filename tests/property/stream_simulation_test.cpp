#include "support/stream_programs.hpp"

#include "headroom/error.hpp"
#include "headroom/training/stream_simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::training;

namespace {

using test::PlainStreams;
using test::random_program;

constexpr std::uint64_t programs = 3000;
constexpr Ticks any_cost = Ticks{1} << 36;

template <class Check> void for_random_programs(std::uint64_t count, int most_tasks, Ticks longest, Check check) {
    for (std::uint64_t seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) {
        StreamProgram const program = random_program(seed, most_tasks, longest);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(program.size()) + " tasks on " +
                     std::to_string(program.streams.size()) + " streams");
        check(program);
    }
}

/// Each stream has a link of its own, or none.
StreamProgram without_sharing(StreamProgram program) {
    program.slowdown = 0.0;
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
        if (program.streams[s].link != no_link) { program.streams[s].link = static_cast<LinkIndex>(s); }
    }
    return program;
}

Dag graph_of(StreamProgram const& program) {
    DagResult built = build_dag(program.cost, test::all_edges(program));
    EXPECT_FALSE(built.fault);
    return std::move(built.dag);
}

/// When tasks begin on streams that never slow each other: along numbers, for edges lead to larger ones.
std::vector<Ticks> earliest_begins(StreamProgram const& program) {
    Dag const dag = graph_of(program);
    std::vector<Ticks> begin(program.size(), 0);
    for (TaskId v = 0; v < program.size(); ++v) {
        for (TaskId const before : dag.predecessors(v)) {
            begin[v] = std::max(begin[v], begin[before] + dag.cost(before));
        }
    }
    return begin;
}

// ---- without sharing: longest paths --------------------------------------------------------------------------------

TEST(StreamSimulationProperty, WithoutSharingItIsTheLongestPath) {
    for_random_programs(programs, 150, any_cost, [](StreamProgram const& drawn) {
        StreamProgram const program = without_sharing(drawn);
        StreamRun const run = run_streams(program);
        DagMeasure const measured = dag_measure(graph_of(program));
        ASSERT_EQ(run.makespan, measured.depth);
        ASSERT_EQ(run.begin, earliest_begins(program));
        ASSERT_EQ(run.critical_path, measured.critical_path);
        ASSERT_EQ(run.critical_stretch, 0);
        for (std::size_t v = 0; v < program.size(); ++v) { ASSERT_EQ(run.end[v], run.begin[v] + program.cost[v]); }
    });
}

// ---- with it: a second simulator, tick by tick ---------------------------------------------------------------------

TEST(StreamSimulationProperty, EveryTaskBeginsAndEndsAtTheTicksOfASimulatorThatLooksAtAllOfThem) {
    int slowed = 0;
    for_random_programs(programs, 60, any_cost, [&slowed](StreamProgram const& program) {
        StreamRun const run = run_streams(program);
        PlainStreams<Ticks> plain{program};
        ASSERT_TRUE(plain.run());
        for (std::size_t v = 0; v < program.size(); ++v) {
            ASSERT_EQ(run.begin[v], plain.begin(v)) << "task " << v;
            ASSERT_EQ(run.end[v], plain.end(v)) << "task " << v;
        }
        ASSERT_EQ(run.makespan, plain.makespan());
        slowed += run.critical_stretch > 0 ? 1 : 0;
    });
    EXPECT_GT(slowed, 1000); // programs whose makespan is longer for it
}

/// The engine rounds the remaining work of a task up to whole ticks; where nothing is rounded, times are equal.
TEST(StreamSimulationProperty, RoundingIsAllThatDiffersFromRatesWithoutTicks) {
    for_random_programs(programs, 60, any_cost, [](StreamProgram drawn) {
        for (Ticks& cost : drawn.cost) { cost = cost < 1000 ? cost * 1'000'000'000 : cost; }
        StreamProgram const& program = drawn;
        StreamRun const run = run_streams(program);
        PlainStreams<long double> plain{program};
        ASSERT_TRUE(plain.run());
        for (std::size_t v = 0; v < program.size(); ++v) {
            ASSERT_NEAR(static_cast<double>(run.end[v]), static_cast<double>(plain.end(v)), 1e4) << "task " << v;
        }
    });
}

// ---- bounds --------------------------------------------------------------------------------------------------------

/// The most that a task may be stretched: all streams of its link at once, on a chip whose network never rests.
double stretch_of(StreamProgram const& program, std::size_t task) {
    Stream const& stream = program.streams[program.stream[task]];
    auto const sharers = std::ranges::count(program.streams, stream.link, &Stream::link);
    return (stream.link == no_link ? 1.0 : static_cast<double>(sharers)) / (1.0 - program.slowdown);
}

TEST(StreamSimulationProperty, NoTaskIsFasterThanAloneNorSlowerThanWithAllOthers) {
    for_random_programs(programs, 150, any_cost, [](StreamProgram const& program) {
        StreamRun const run = run_streams(program);
        std::vector<Ticks> const earliest = earliest_begins(program);
        for (std::size_t v = 0; v < program.size(); ++v) {
            double const took = static_cast<double>(run.end[v] - run.begin[v]);
            double const rounded =
                2.0 * static_cast<double>(program.size()); // a tick whenever its rate changes, and at the end
            ASSERT_GE(run.end[v] - run.begin[v], program.cost[v]);
            ASSERT_LE(took, (static_cast<double>(program.cost[v]) + rounded) * stretch_of(program, v));
            ASSERT_GE(run.begin[v], earliest[v]);
        }
        ASSERT_GE(run.makespan, dag_measure(graph_of(program)).depth);
    });
}

/// Bounds of the work done on a link up to a time: none of a task before it begins, all after its end, in between at
/// most as much as the time since its begin allows and at least all but what fits before its end.
TEST(StreamSimulationProperty, ALinkCarriesNoMoreThanItsRateAndIsNeverIdleWhileItIsAskedFor) {
    for_random_programs(programs, 150, any_cost, [](StreamProgram const& program) {
        StreamRun const run = run_streams(program);
        std::set<LinkIndex> links;
        for (Stream const& stream : program.streams) { links.insert(stream.link); }
        links.erase(no_link);
        for (LinkIndex const link : links) {
            std::vector<std::size_t> tasks;
            bool at_full_rate = true;
            for (std::size_t v = 0; v < program.size(); ++v) {
                Stream const& stream = program.streams[program.stream[v]];
                if (stream.link == link && program.cost[v] > 0) { tasks.push_back(v); }
                at_full_rate &= stream.link != link || !stream.computes;
            }
            std::ranges::sort(tasks, {}, [&run](std::size_t v) { return run.begin[v]; });
            for (std::size_t i = 0; i < tasks.size();) { // busy periods
                Ticks const from = run.begin[tasks[i]];
                Ticks until = from, work = 0;
                std::size_t const first = i;
                for (; i < tasks.size() && (i == first || run.begin[tasks[i]] < until); ++i) {
                    until = std::max(until, run.end[tasks[i]]);
                    work += program.cost[tasks[i]];
                }
                ASSERT_LE(work, until - from);
                Ticks const rounded = static_cast<Ticks>(2 * (i - first) * program.streams.size());
                if (at_full_rate) { ASSERT_GE(work, until - from - rounded); }
            }
        }
    });
}

// ---- critical path -------------------------------------------------------------------------------------------------

TEST(StreamSimulationProperty, TheCriticalPathIsAChainOfWaitsThatAddsUpToTheMakespan) {
    for_random_programs(programs, 150, any_cost, [](StreamProgram const& program) {
        StreamRun const run = run_streams(program);
        Dag const dag = graph_of(program);
        std::array<Ticks, work_kind_count> kinds{};
        Ticks now = 0, alone = 0;
        for (std::size_t i = 0; i < run.critical_path.size(); ++i) {
            TaskId const task = run.critical_path[i];
            ASSERT_EQ(run.begin[task], now);
            auto const before = dag.predecessors(task);
            if (i == 0) {
                ASSERT_TRUE(before.empty());
            } else {
                ASSERT_TRUE(std::ranges::find(before, run.critical_path[i - 1]) != before.end());
            }
            now = run.end[task];
            alone += program.cost[task];
            kinds[static_cast<std::size_t>(program.kind[task])] += run.end[task] - run.begin[task];
        }
        ASSERT_EQ(now, run.makespan);
        ASSERT_EQ(kinds, run.critical);
        ASSERT_EQ(run.critical_stretch, run.makespan - alone);
    });
}

// ---- what chips did ------------------------------------------------------------------------------------------------

/// Tick by tick.
std::vector<ChipUse> counted_use(StreamProgram const& program, StreamRun const& run) {
    std::size_t chips = 0;
    for (Stream const& stream : program.streams) { chips = std::max(chips, std::size_t{stream.chip} + 1); }
    std::vector<ChipUse> uses(chips);
    for (std::size_t chip = 0; chip < chips; ++chip) {
        ChipUse& use = uses[chip];
        for (Ticks tick = 0; tick < run.makespan; ++tick) {
            bool computes = false;
            std::set<WorkKind> kinds;
            for (std::size_t v = 0; v < program.size(); ++v) {
                Stream const& stream = program.streams[program.stream[v]];
                if (stream.chip != chip || tick < run.begin[v] || tick >= run.end[v]) { continue; }
                kinds.insert(program.kind[v]);
                computes |= stream.computes && !communicates(program.kind[v]);
            }
            for (WorkKind const kind : kinds) { ++use.busy[static_cast<std::size_t>(kind)]; }
            auto const first = std::ranges::find_if(kinds, communicates);
            if (computes) {
                ++use.computing;
            } else if (kinds.empty()) {
                ++use.idle;
            } else {
                ++use.exposed[static_cast<std::size_t>(first != kinds.end() ? *first : *kinds.begin())];
            }
        }
    }
    return uses;
}

TEST(StreamSimulationProperty, TimesOfChipsAreWhatCountingTicksFinds) {
    for_random_programs(programs, 40, 6, [](StreamProgram const& program) {
        StreamRun const run = run_streams(program);
        std::vector<ChipUse> const counted = counted_use(program, run);
        ASSERT_EQ(run.chips.size(), counted.size());
        for (std::size_t chip = 0; chip < counted.size(); ++chip) {
            ASSERT_EQ(run.chips[chip].computing, counted[chip].computing);
            ASSERT_EQ(run.chips[chip].busy, counted[chip].busy);
            ASSERT_EQ(run.chips[chip].exposed, counted[chip].exposed);
            ASSERT_EQ(run.chips[chip].idle, counted[chip].idle);
        }
    });
}

TEST(StreamSimulationProperty, EveryMomentOfAChipIsCountedOnce) {
    for_random_programs(programs, 150, any_cost, [](StreamProgram const& program) {
        StreamRun const run = run_streams(program);
        for (ChipUse const& use : run.chips) {
            ASSERT_EQ(std::accumulate(use.exposed.begin(), use.exposed.end(), use.computing + use.idle), run.makespan);
            for (std::size_t kind = 0; kind < work_kind_count; ++kind) { ASSERT_LE(use.exposed[kind], use.busy[kind]); }
        }
    });
}

// ---- circles -------------------------------------------------------------------------------------------------------

TEST(StreamSimulationProperty, ProgramsWithEdgesAnyWayRunExactlyWhenTheyHaveNoCircle) {
    int circles = 0;
    for (std::uint64_t seed = 0; seed < programs && !HasFailure(); ++seed) {
        StreamProgram const program = random_program(seed, 25, any_cost, true);
        SCOPED_TRACE("seed " + std::to_string(seed));
        bool const has_circle = build_dag(program.cost, test::all_edges(program)).fault.has_value();
        PlainStreams<Ticks> plain{program};
        ASSERT_EQ(plain.run(), !has_circle);
        if (!has_circle) {
            ASSERT_EQ(run_streams(program).makespan, plain.makespan());
            continue;
        }
        ++circles;
        ASSERT_THROW(run_streams(program), ContractError);
    }
    EXPECT_GT(circles, 300);
}

// ---- names ---------------------------------------------------------------------------------------------------------

/// Streams are only names: in another order, with tasks numbered as before, nothing changes.
TEST(StreamSimulationProperty, TheOrderOfStreamsChangesNothing) {
    for_random_programs(programs, 80, any_cost, [](StreamProgram const& program) {
        StreamProgram turned = program;
        std::ranges::reverse(turned.streams);
        for (StreamId& stream : turned.stream) { stream = static_cast<StreamId>(program.streams.size() - 1 - stream); }
        StreamRun const run = run_streams(program), other = run_streams(turned);
        ASSERT_EQ(run.begin, other.begin);
        ASSERT_EQ(run.end, other.end);
        ASSERT_EQ(run.critical_path, other.critical_path);
    });
}

} // namespace
} // namespace headroom
