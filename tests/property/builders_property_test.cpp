#include "headroom/error.hpp"
#include "headroom/laws/task_graph.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

// Counted on the graph against formulas written again here, from the text books and not from the builders.

namespace headroom {

using namespace headroom::laws;

namespace {

using Number = std::int64_t;

/// Rounds of halving until one is left, the odd one kept.
Number rounds(Number n) {
    Number count = 0;
    for (; n > 1; n = (n + 1) / 2) { ++count; }
    return count;
}
Number below(Number n) { // floor(log2 n)
    Number count = 0;
    for (; n > 1; n /= 2) { ++count; }
    return count;
}
Number hillis_steele_work(Number n) { // x[i] is added to once for each power of two up to i
    Number work = 0;
    for (Number i = 1; i < n; ++i) { work += below(i) + 1; }
    return work;
}
Number merge_work(Number n) { return n < 2 ? 0 : n + merge_work(n / 2) + merge_work(n - n / 2); }
Number merge_depth(Number n) { return n < 2 ? 0 : n + merge_depth(n - n / 2); }
Number cube(Number n) { return n * n * n; }
bool is_power(Number n) { return (Number{1} << below(n)) == n; }

/// Expected measures of a builder's graph at one size.
struct Expected {
    char const* name;
    Number (*work)(Number);
    Number (*depth)(Number);
    Number (*messages)(Number); ///< tasks that are messages
    std::size_t waits;          ///< the most that a task waits for
    Number largest;             ///< size that is tried
};

Number none(Number) { return 0; }
Number one_less(Number n) { return n - 1; }
Number pairs(Number n) { return n * (n - 1); }

std::vector<Expected> const one_size{
    {"sum-chain", one_less, one_less, none, 1, 3000},
    {"sum-tree", one_less, rounds, none, 2, 3000},
    {"dot", [](Number n) { return 2 * n - 1; }, [](Number n) { return 1 + rounds(n); }, none, 2, 3000},
    {"scan-naive", one_less, one_less, none, 1, 3000},
    {"scan-blelloch", [](Number n) { return 2 * (n - 1); }, [](Number n) { return 2 * rounds(n); }, none, 2, 3000},
    {"scan-blelloch-inclusive", [](Number n) { return 2 * (n - 1) + n; }, [](Number n) { return 2 * rounds(n) + 1; },
     none, 2, 3000},
    {"scan-hillis-steele", hillis_steele_work, rounds, none, 2, 1000},
    {"chain-reduce", one_less, one_less, one_less, 2, 1000},
    {"tree-reduce", one_less, rounds, one_less, 2, 1000},
    {"chain-all-reduce", one_less, one_less, [](Number p) { return 2 * (p - 1); }, 2, 1000},
    {"tree-all-reduce", one_less, rounds, [](Number p) { return 2 * (p - 1); }, 2, 1000},
    {"ring-all-reduce", pairs, one_less, [](Number p) { return 2 * pairs(p); }, 1, 60},
    {"reduce-scatter-ring", pairs, one_less, pairs, 1, 60},
    {"all-gather-ring", none, none, pairs, 1, 60},
    {"all-to-all", none, none, pairs, 0, 60},
    {"broadcast-chain", none, none, one_less, 1, 1000},
    {"broadcast-tree", none, none, one_less, 1, 1000},
    {"recursive-doubling",
     [](Number p) {
         Number const members = Number{1} << below(p);
         return members * below(p) + (p - members);
     },
     rounds,
     [](Number p) {
         Number const members = Number{1} << below(p);
         return members * below(p) + 2 * (p - members);
     },
     2, 300},
    {"matmul", [](Number n) { return cube(n) + n * n * (n - 1); }, [](Number n) { return 1 + rounds(n); }, none, 2, 12},
    {"cholesky", cube, [](Number t) { return t == 1 ? 1 : 9 * t - 10; }, none, 3, 20},
    {"merge-sort", merge_work, merge_depth, none, 2, 3000},
    {"newton", [](Number n) { return 4 * n; }, [](Number n) { return 3 * n; }, none, 2, 500},
};

/// Builders that take powers of two alone; `of` is given log2.
std::vector<Expected> const halved{
    {"fft", [](Number k) { return k * (Number{1} << k) / 2; }, [](Number k) { return k; }, none, 2, 10},
    {"halving-doubling", [](Number k) { return pairs(Number{1} << k); }, [](Number k) { return (Number{1} << k) - 1; },
     [](Number k) { return 2 * k * (Number{1} << k); }, 8, 8},
};

TaskGraph built(std::string const& request) { return build_graph(request, "here"); }

Number tasks_of_kind(TaskGraph const& graph, std::string const& kind) {
    auto const found = std::find(graph.kinds.begin(), graph.kinds.end(), kind);
    if (found == graph.kinds.end()) { return 0; }
    if (graph.kind_of.empty()) { return static_cast<Number>(graph.dag.size()); }
    return std::count(graph.kind_of.begin(), graph.kind_of.end(), found - graph.kinds.begin());
}

/// Numbered in a topological order, as many edges in as out, columns that belong together equally long.
void is_sound(TaskGraph const& graph, std::size_t waits) {
    Dag const& dag = graph.dag;
    EXPECT_TRUE(dag.is_ordered()) << graph.name;
    std::size_t in = 0, out = 0, most = 0;
    for (TaskId task = 0; task < dag.size(); ++task) {
        in += dag.predecessors(task).size();
        out += dag.successors(task).size();
        most = std::max(most, dag.predecessors(task).size());
        for (TaskId const before : dag.predecessors(task)) { EXPECT_LT(before, task) << graph.name; }
    }
    EXPECT_EQ(in, dag.edge_count()) << graph.name;
    EXPECT_EQ(out, dag.edge_count()) << graph.name;
    EXPECT_LE(most, waits) << graph.name;
    EXPECT_TRUE(graph.kind_of.empty() ? dag.size() == 0 || graph.kinds.size() == 1 : graph.kind_of.size() == dag.size())
        << graph.name;
    EXPECT_EQ(graph.resource_of.size(), graph.resources.empty() ? 0 : dag.size()) << graph.name;
    for (auto const kind : graph.kind_of) { ASSERT_LT(kind, graph.kinds.size()) << graph.name; }
    for (auto const resource : graph.resource_of) { ASSERT_LT(resource, graph.resources.size()) << graph.name; }
}

void comes_to(Expected const& expected, Number size, Number argument) {
    TaskGraph const graph = built(std::string{expected.name} + ":" + std::to_string(size));
    is_sound(graph, expected.waits);
    DagMeasure const measured = dag_measure(graph.dag);
    EXPECT_EQ(measured.work, expected.work(argument)) << graph.name;
    EXPECT_EQ(measured.depth, expected.depth(argument)) << graph.name;
    EXPECT_EQ(tasks_of_kind(graph, "message"), expected.messages(argument)) << graph.name;
}

TEST(Builders, EverySmallSizeComesToItsClosedForm) {
    for (Expected const& expected : one_size) {
        for (Number n = 1; n <= std::min<Number>(expected.largest, 40); ++n) { comes_to(expected, n, n); }
    }
    for (Expected const& expected : halved) {
        for (Number k = 0; k <= expected.largest; ++k) { comes_to(expected, Number{1} << k, k); }
    }
}

RC_GTEST_PROP(BuildersProperty, LargerSizesComeToTheirClosedForm, ()) {
    Expected const expected = *rc::gen::elementOf(one_size);
    Number const size = *rc::gen::inRange<Number>(1, expected.largest);
    RC_LOG() << expected.name << ':' << size << '\n';
    comes_to(expected, size, size);
}

TEST(Builders, AllOfThemAreTested) {
    std::vector<std::string> tested{"stencil"};
    for (auto const& list : {one_size, halved}) {
        for (Expected const& expected : list) { tested.emplace_back(expected.name); }
    }
    for (GraphBuilder const& builder : graph_builders()) {
        EXPECT_EQ(std::count(tested.begin(), tested.end(), builder.name), 1) << builder.name;
    }
    EXPECT_EQ(tested.size(), graph_builders().size());
}

RC_GTEST_PROP(BuildersProperty, ANewtonIterationIsTwoSumsSideBySide, ()) {
    Number const iterations = *rc::gen::inRange<Number>(1, 30), points = *rc::gen::inRange<Number>(1, 200);
    TaskGraph const graph = built("newton:" + std::to_string(iterations) + ":" + std::to_string(points));
    is_sound(graph, 2);
    DagMeasure const measured = dag_measure(graph.dag);
    RC_ASSERT(measured.work == iterations * (2 * (points + points - 1) + 2));
    RC_ASSERT(measured.depth == iterations * (1 + rounds(points) + 2));
}

RC_GTEST_PROP(BuildersProperty, AStencilReachesOneNeighbourAStep, ()) {
    Number const points = *rc::gen::inRange<Number>(1, 60), steps = *rc::gen::inRange<Number>(1, 60);
    TaskGraph const graph = built("stencil:" + std::to_string(points) + ":" + std::to_string(steps));
    is_sound(graph, 3);
    DagMeasure const measured = dag_measure(graph.dag);
    RC_ASSERT(measured.work == points * steps);
    RC_ASSERT(measured.depth == steps);
    std::vector<bool> seen(graph.dag.size()); // by the first point of the last step: a cone
    seen[points * (steps - 1)] = true;
    for (auto task = static_cast<TaskId>(graph.dag.size()); task-- > 0;) {
        for (TaskId const after : graph.dag.successors(task)) { seen[task] = seen[task] || seen[after]; }
        Number const step = task / points, point = task % points;
        RC_ASSERT(seen[task] == (step < steps && point <= steps - 1 - step));
    }
}

// ---- what flows along the edges -----------------------------------------------------------------------------------

/// Every task adds what it waits for, and a one for each of two operands that no task makes.
std::vector<Number> sums_of_ones(Dag const& dag) {
    std::vector<Number> sums(dag.size());
    for (TaskId task = 0; task < dag.size(); ++task) {
        auto const before = dag.predecessors(task);
        sums[task] = 2 - static_cast<Number>(before.size());
        for (TaskId const other : before) { sums[task] += sums[other]; }
    }
    return sums;
}

TEST(Builders, SumsOfOnesCountTheNumbers) {
    for (Number n = 2; n < 300; ++n) {
        std::string const size = ":" + std::to_string(n);
        EXPECT_EQ(sums_of_ones(built("sum-tree" + size).dag).back(), n);
        std::vector<Number> const chain = sums_of_ones(built("scan-naive" + size).dag);
        std::vector<Number> const doubled = sums_of_ones(built("scan-hillis-steele" + size).dag);
        std::size_t at = 0;
        for (Number distance = 1; distance < n; distance *= 2) {
            for (Number i = distance; i < n; ++i) { ASSERT_EQ(doubled[at++], std::min(i + 1, 2 * distance)) << n; }
        }
        for (Number i = 1; i < n; ++i) { ASSERT_EQ(chain[i - 1], i + 1); }
        TaskGraph const sorted = built("merge-sort" + size);
        std::vector<Number> const merged = sums_of_ones(sorted.dag);
        for (TaskId task = 0; task < sorted.dag.size(); ++task) { ASSERT_EQ(merged[task], sorted.dag.cost(task)); }
    }
}

TEST(Builders, EveryButterflyOfTheLastStageNeedsEveryPoint) {
    for (Number const points : {2, 4, 8, 16, 32, 64, 128}) {
        Dag const dag = built("fft:" + std::to_string(points)).dag;
        std::size_t const stage = static_cast<std::size_t>(points) / 2;
        std::vector<std::uint64_t> needs(dag.size());
        for (TaskId task = 0; task < dag.size(); ++task) {
            if (task < stage) { needs[task] = std::uint64_t{1} << task; }
            for (TaskId const before : dag.predecessors(task)) { needs[task] |= needs[before]; }
            ASSERT_EQ(dag.predecessors(task).size(), task < stage ? 0U : 2U);
        }
        std::uint64_t const all = stage == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << stage) - 1;
        for (std::size_t task = dag.size() - stage; task < dag.size(); ++task) { EXPECT_EQ(needs[task], all); }
    }
}

/// Whose data each task of a collective holds: ranks as bits. A message holds its sender's, a combine its rank's too.
std::vector<std::uint64_t> contributions(TaskGraph const& graph) {
    std::vector<std::uint64_t> held(graph.dag.size());
    for (TaskId task = 0; task < graph.dag.size(); ++task) {
        std::string const& name = graph.resources[graph.resource_of[task]].name;
        held[task] = std::uint64_t{1} << std::stoul(name.substr(name.find(' ') + 1));
        for (TaskId const before : graph.dag.predecessors(task)) { held[task] |= held[before]; }
    }
    return held;
}

TEST(Builders, AnAllReduceHandsOutWhatEveryRankGave) {
    for (Number ranks = 2; ranks <= 24; ++ranks) {
        std::uint64_t const all = (std::uint64_t{1} << ranks) - 1;
        std::map<std::string, Number> const handed_out{{"chain-all-reduce", ranks - 1},
                                                       {"tree-all-reduce", ranks - 1},
                                                       {"ring-all-reduce", pairs(ranks)},
                                                       {"halving-doubling", ranks * below(ranks)}};
        for (auto const& [name, messages] : handed_out) {
            if (name == "halving-doubling" && !is_power(ranks)) { continue; }
            TaskGraph const graph = built(name + ":" + std::to_string(ranks));
            std::vector<std::uint64_t> const held = contributions(graph);
            EXPECT_TRUE(std::all_of(held.end() - messages, held.end(), [all](auto one) { return one == all; }))
                << graph.name;
            EXPECT_NE(held[held.size() - messages - 1], 0U);
            EXPECT_EQ(std::count(graph.kind_of.end() - messages, graph.kind_of.end(), 0), messages) << graph.name;
        }
        TaskGraph const doubling = built("recursive-doubling:" + std::to_string(ranks));
        std::vector<std::uint64_t> const held = contributions(doubling);
        Number const members = Number{1} << below(ranks); // the last combine of each, then those that are handed back
        EXPECT_TRUE(std::all_of(held.end() - ranks, held.end(), [all](auto one) { return one == all; })) << ranks;
        EXPECT_EQ(std::count(doubling.kind_of.end() - ranks, doubling.kind_of.end(), 1), members) << ranks;
    }
}

TEST(Builders, MessagesChainAsTheAlgorithmsDo) {
    // tasks of the longest path, messages and combines alike
    auto const hops = [](std::string const& request) {
        TaskGraph const graph = built(request);
        return graph.dag.size() == 0 ? 0 : level_profile(graph.dag).tasks.size();
    };
    EXPECT_EQ(hops("broadcast-chain:9"), 8U);
    EXPECT_EQ(hops("broadcast-tree:8"), 3U);
    EXPECT_EQ(hops("broadcast-tree:9"), 3U) << "rank 0's fourth message waits for its port, not for data";
    EXPECT_EQ(hops("all-gather-ring:9"), 8U);
    EXPECT_EQ(hops("all-to-all:9"), 1U);
    EXPECT_EQ(hops("chain-all-reduce:9"), 24U) << "eight messages with a combine each, eight back";
    EXPECT_EQ(hops("tree-all-reduce:8"), 9U);
    EXPECT_EQ(hops("ring-all-reduce:9"), 24U);
    EXPECT_EQ(hops("halving-doubling:8"), 9U);
    EXPECT_EQ(hops("recursive-doubling:8"), 6U);
}

TEST(Builders, TilesOfACholeskyWaitForWhatTheyMultiply) {
    enum Kind { potrf, trsm, syrk, gemm };
    using Kinds = std::multiset<int>;
    std::vector<std::vector<Kinds>> const allowed{
        {{}, {syrk}}, {{potrf}, {potrf, gemm}}, {{trsm}, {trsm, syrk}}, {{trsm, trsm}, {trsm, trsm, gemm}}};
    for (Number tiles = 1; tiles <= 9; ++tiles) {
        TaskGraph const graph = built("cholesky:" + std::to_string(tiles));
        std::map<std::size_t, Number> readers; // of each tile below the diagonal: one product each with the others
        for (TaskId task = 0; task < graph.dag.size(); ++task) {
            Kinds waits;
            std::set<TaskId> different;
            for (TaskId const before : graph.dag.predecessors(task)) {
                waits.insert(graph.kind_of[before]);
                different.insert(before);
            }
            auto const& right = allowed[graph.kind_of[task]];
            EXPECT_TRUE(waits == right[0] || waits == right[1]) << graph.name << " task " << task;
            EXPECT_EQ(different.size(), waits.size()) << graph.name << " task " << task;
            if (graph.kind_of[task] == trsm) { ++readers[graph.dag.successors(task).size()]; }
        }
        for (Number column = 0; column + 1 < tiles; ++column) {
            Number const below_it = tiles - 1 - column;
            EXPECT_EQ(readers[below_it], below_it) << graph.name << " column " << column;
        }
    }
}

// ---- what is refused ----------------------------------------------------------------------------------------------

std::string refusal(std::string const& request) {
    try {
        build_graph(request, "SOURCE");
    } catch (InputError const& error) { return error.what(); }
    return "accepted";
}

TEST(Builders, RefusalsNameTheSizeAndAWayOut) {
    EXPECT_EQ(refusal("sum-tre:8"), "SOURCE: unknown builder 'sum-tre'. did you mean 'sum-tree'?");
    EXPECT_EQ(refusal("sum-tree"), "SOURCE: 'sum-tree' without a size. write it like sum-tree:N");
    EXPECT_EQ(refusal("stencil:8"), "SOURCE: 'stencil' with one size. write it like stencil:N:STEPS");
    EXPECT_EQ(refusal("sum-tree:8:9"), "SOURCE: 'sum-tree' with 2 sizes. write it like sum-tree:N");
    EXPECT_EQ(refusal("sum-tree:0"), "SOURCE: '0' is not positive (the smallest count is 1)");
    EXPECT_EQ(refusal("fft:12"), "SOURCE: '12' is not a power of two (it is halved again and again). take 8 or 16");
    EXPECT_EQ(refusal("sum-tree:60M"), "SOURCE: 59999999 tasks are too many (a graph is built up to 50 million tasks "
                                       "and 100 million edges). ask for a smaller one");
    for (char const* size : {"", "-1", "2.5", "x", "1e30", "1e18", "9223372036854775807", "nan", "8x", " "}) {
        for (GraphBuilder const& builder : graph_builders()) {
            EXPECT_NE(refusal(std::string{builder.name} + ":" + size), "accepted") << builder.name << ':' << size;
        }
    }
}

TEST(Builders, ASizeOutOfRangeIsRefusedToCallersToo) {
    for (GraphBuilder const& builder : graph_builders()) {
        for (Number const size : {Number{0}, Number{-1}, std::numeric_limits<Number>::max()}) {
            std::vector<Number> const given(builder.name == "stencil" ? 2 : 1, size);
            EXPECT_THROW(builder.build(given), InputError) << builder.name << ':' << size;
        }
        EXPECT_THROW(builder.build({}), InputError) << builder.name;
    }
}

} // namespace
} // namespace headroom
