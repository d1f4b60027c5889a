#include "support/graph_files.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdio>

namespace headroom {

using namespace headroom::laws;

namespace {

using test::costs_of;
using test::edges_of;
using test::kind_of;
using test::resource_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TaskGraph json(std::string_view text) { return io::read_task_graph(text, "graph.json"); }
std::string refused(std::string_view text) { return test::refused(text, "graph.json"); }

TEST(JsonGraph, ReadsTasksEdgesKindsAndResources) {
    TaskGraph const graph = json(R"({"name": "demo", "resources": {"gpu0": 1, "link": 2},
        "tasks": [{"id": "a", "cost": 3, "kind": "gemm", "resource": "gpu0"},
                  {"id": "b", "cost": 5, "kind": "norm", "resource": "gpu0"}, {"id": 7, "cost": 0}],
        "edges": [["a", "b"], {"from": "b", "to": 7, "cost": 2, "resource": "link"}]})");
    EXPECT_EQ(graph.name, "demo");
    EXPECT_EQ(graph.unit, "");
    EXPECT_EQ(graph.per_tick, 1.0);
    EXPECT_THAT(graph.names, ElementsAre("a", "b", "7", "b -> 7"));
    EXPECT_THAT(graph.dag.costs(), ElementsAre(3, 5, 0, 2));
    EXPECT_THAT(edges_of(graph), ElementsAre("a -> b", "b -> b -> 7", "b -> 7 -> 7"));
    EXPECT_EQ(kind_of(graph, 0), "gemm");
    EXPECT_EQ(kind_of(graph, 2), "task");
    EXPECT_EQ(kind_of(graph, 3), "message");
    EXPECT_EQ(resource_of(graph, 3), "link");
    EXPECT_EQ(graph.resources[1].capacity, 2);
    // Expectation: what names no resource gets one of its own with room for all of them.
    EXPECT_EQ(resource_of(graph, 2), "no resource");
    EXPECT_EQ(graph.resources[2].capacity, 1);
    EXPECT_THAT(graph.notes, ElementsAre("1 task made of edges that carry a cost",
                                         "1 task without a resource, which never waits for one"));
}

TEST(JsonGraph, ABareListOfEdgesCountsEveryTaskAsOneInTheOrderOfNumbers) {
    TaskGraph const graph = json("[[0, 2], [0, 1], [2, 3], [1, 3]]");
    EXPECT_THAT(graph.names, IsEmpty()); // called 0, 1, 2, 3
    EXPECT_THAT(graph.dag.costs(), ElementsAre(1, 1, 1, 1));
    EXPECT_THAT(edges_of(graph), ElementsAre("0 -> 2", "0 -> 1", "1 -> 3", "2 -> 3"));
    EXPECT_TRUE(graph.dag.is_ordered());
    EXPECT_EQ(graph.unit, "tasks");
    EXPECT_EQ(graph.name, "graph.json");

    TaskGraph const gaps = json("[[10, 7]]");
    EXPECT_THAT(gaps.names, ElementsAre("7", "10"));
    EXPECT_THAT(edges_of(gaps), ElementsAre("10 -> 7"));
    TaskGraph const words = json(R"([["b", "a"]])");
    EXPECT_THAT(words.names, ElementsAre("b", "a"));
}

TEST(JsonGraph, EdgesOfABareListMayCarryCosts) {
    // Expectation: where anything states a cost, what states none counts as nothing.
    TaskGraph const graph = json(R"([[0, 1], [1, 2, "3ms"], [0, 2, {"weight": "1us", "colour": "red"}]])");
    EXPECT_EQ(graph.unit, "seconds");
    EXPECT_EQ(graph.per_tick, 1e-12);
    EXPECT_THAT(graph.dag.costs(), ElementsAre(0, 0, 0, 3'000'000'000, 1'000'000));
    EXPECT_THAT(edges_of(graph), ElementsAre("0 -> 1", "0 -> 0 -> 2", "1 -> 1 -> 2", "1 -> 2 -> 2", "0 -> 2 -> 2"));
    EXPECT_THAT(graph.notes, testing::Contains("not read: 'colour'"));
    EXPECT_THAT(graph.notes, testing::Contains("3 of 3 tasks without a cost of its own, counted as 0"));
}

TEST(JsonGraph, ReadsNodeLinkDataOfNetworkx) {
    TaskGraph const graph = json(R"({"directed": true, "multigraph": false, "graph": {"x": [1, {}]},
        "nodes": [{"cost": 1.25, "id": "a"}, {"weight": 2, "id": "b", "label": "bee"}],
        "links": [{"source": "a", "target": "b", "key": 0}]})");
    EXPECT_THAT(graph.names, ElementsAre("a", "bee"));
    EXPECT_THAT(costs_of(graph), ElementsAre(1.25, 2.0));
    EXPECT_EQ(refused(R"({"directed": false, "nodes": [], "links": []})"),
              "graph.json:1: an undirected graph (it does not state which task waits for which). use a DiGraph");
}

TEST(JsonGraph, TasksMayNameWhatTheyWaitFor) {
    TaskGraph const graph = json(R"({"tasks": [{"id": "b", "after": ["a"]}, {"id": "c", "deps": "b"}, "a"]})");
    EXPECT_THAT(edges_of(graph), ElementsAre("b -> c", "a -> b"));
    TaskGraph const numbered = json(R"({"tasks": [{"cost": 3}, {"cost": 4}], "edges": [[1, 0]]})");
    EXPECT_THAT(edges_of(numbered), ElementsAre("1 -> 0"));
    EXPECT_THAT(numbered.dag.costs(), ElementsAre(3, 4));
}

TEST(JsonGraph, TicksKeepCostsExactWhereTheyCan) {
    // Whole numbers: a tick is one. Fractions: the coarsest power of ten that makes all of them whole.
    EXPECT_EQ(json(R"({"tasks": [{"cost": 3}, {"cost": 10}]})").per_tick, 1.0);
    TaskGraph const tenths = json(R"({"tasks": [{"cost": 0.1}, {"cost": 0.25}, {"cost": 3}]})");
    EXPECT_EQ(tenths.per_tick, 0.01);
    EXPECT_THAT(tenths.dag.costs(), ElementsAre(10, 25, 300));
    EXPECT_THAT(tenths.notes, ElementsAre(HasSubstr("no edges")));

    // Seconds: picoseconds, whatever they are written in.
    TaskGraph const times = json(R"({"unit": "ms", "tasks": [{"cost": 0.1}, {"cost": 7}]})");
    EXPECT_EQ(times.per_tick, 1e-12);
    EXPECT_THAT(times.dag.costs(), ElementsAre(100'000'000, 7'000'000'000));

    // Values that do not fit are rounded, with a note: a third, and a year in picoseconds.
    TaskGraph const third = json(R"({"tasks": [{"cost": 0.3333333333333333}]})");
    EXPECT_NEAR(costs_of(third)[0], 1.0 / 3.0, 1e-16);
    EXPECT_THAT(third.notes, Contains(HasSubstr("rounded to 1e-")));
    TaskGraph const year = json(R"({"unit": "days", "tasks": [{"cost": 365.5}, {"cost": 0.5}]})");
    EXPECT_DOUBLE_EQ(costs_of(year)[0], 365.5 * 86400.0);
    EXPECT_LE(year.dag.cost(0), Ticks{1} << 62);

    // Amounts of any size keep their value: far below a picosecond, and far above 2^62.
    for (double const cost : {1e-29, 3.7e-20, 5e18, 1.5e25, 1e30}) {
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), R"({"tasks": [{"cost": %.17g}]})", cost);
        TaskGraph const graph = json(text.data());
        EXPECT_NEAR(costs_of(graph)[0] / cost, 1.0, 0.05) << cost;
        EXPECT_LE(graph.dag.cost(0), Ticks{1} << 62);
    }
}

TEST(JsonGraph, UnitsAreOneKindAndWrittenOneWay) {
    EXPECT_EQ(json(R"({"tasks": [{"cost": "2GFLOP"}, {"cost": "5 MFLOP"}]})").unit, "FLOPs");
    EXPECT_EQ(json(R"({"tasks": [{"cost": "2GFLOP"}, {"cost": "5 MFLOP"}]})").dag.cost(1), 5'000'000);
    EXPECT_EQ(json(R"({"tasks": [{"cost": 3}], "unit": "GFLOPs"})").dag.cost(0), 3'000'000'000);
    EXPECT_EQ(json(R"({"tasks": [{"cost": "4KiB"}]})").unit, "bytes");
    EXPECT_EQ(json(R"({"tasks": [{"cost": 3}], "unit": "cycles"})").unit, "cycles");
    EXPECT_EQ(refused(R"({"tasks": [{"cost": "2GFLOP"},
 {"cost": "3ms"}]})"),
              "graph.json:2: cost '3ms' counts seconds (other costs count FLOPs). a graph has one kind of cost");
    EXPECT_EQ(refused(R"({"tasks": [{"cost": 2}, {"cost": "3ms"}]})"),
              "graph.json:1: a cost with a unit (earlier costs have none). write all costs one way");
    EXPECT_THAT(refused(R"({"unit": "FLOPs", "tasks": [{"cost": "3ms"}]})"), HasSubstr("the costs count seconds"));
    EXPECT_THAT(refused(R"({"tasks": [{"cost": "3 parsecs"}]})"), HasSubstr("unknown unit"));
    EXPECT_THAT(refused(R"({"tasks": [{"cost": "many"}]})"), HasSubstr("no amount"));
    EXPECT_THAT(refused(R"({"tasks": [{"cost": true}]})"), HasSubstr("no number"));
}

TEST(JsonGraph, WhatIsNoGraphIsNamedWithItsLine) {
    EXPECT_EQ(refused("[[0, 1],\n [1, 2],\n [2, 0]]"),
              "graph.json:3: edge '2' -> '0' closes a cycle ('0' -> '1' -> '2' -> '0'). remove one of them");
    EXPECT_EQ(refused("[[0, 1],\n [1, 0, 5]]"),
              "graph.json:2: edge '1 -> 0' closes a cycle ('0' -> '1' -> '0'). remove one of them");
    EXPECT_EQ(refused("[[0, 1],\n [1, 1]]"),
              "graph.json:2: task '1' waits for itself (it could never begin). remove the edge");
    EXPECT_EQ(refused("[[0, 1],\n [1, 1, 5]]"),
              "graph.json:2: edge '1 -> 1' leads back to its own task (it could never begin). remove the edge");
    EXPECT_EQ(
        refused("{\"tasks\": [\"alpha\", \"beta\"],\n\"edges\": [[\"alpha\",\n\"bata\"]]}"),
        "graph.json:2: unknown task 'bata' (an edge names it and the list of tasks does not). did you mean 'beta'?");
    EXPECT_EQ(refused("{\"tasks\": [{\"id\": 1, \"cost\": 1},\n{\"id\": 2, \"cost\": -3}]}"),
              "graph.json:2: negative cost -3 (a task takes at least nothing)");
    EXPECT_EQ(refused("{\"tasks\": [\"a\",\n\"b\", \"a\"]}"),
              "graph.json:2: task 'a' twice (first at graph.json:1). tasks are identified by name");
    EXPECT_THAT(refused(R"({"resources": {"gpu0": 1}, "tasks": [{"id": "a", "resource": "gpu1"}]})"),
                HasSubstr("unknown resource 'gpu1' (it is not among the resources of the file). did you mean 'gpu0'?"));
    EXPECT_THAT(refused(R"({"resources": {"gpu0": 0}, "tasks": ["a"]})"), HasSubstr("'gpu0' is no count"));
}

TEST(JsonGraph, LongCyclesAreShortened) {
    std::string text = "[[99, 0]";
    for (int i = 0; i < 99; ++i) { text += ", [" + std::to_string(i) + ", " + std::to_string(i + 1) + "]"; }
    EXPECT_EQ(refused(text + "]"), "graph.json:1: edge '99' -> '0' closes a cycle ('0' -> '1' -> '2' -> '3' -> "
                                   "(93 more) -> '97' -> '98' -> '99' -> '0'). remove one of them");
}

TEST(JsonGraph, DamageIsNamedWithItsLine) {
    EXPECT_EQ(refused(""), "graph.json: an empty file");
    EXPECT_EQ(refused(" \n"), "graph.json: an empty file");
    EXPECT_EQ(refused("[[0, 1],\n[1"), "graph.json:2: not valid JSON (the text ends before the value does)");
    EXPECT_EQ(refused("[[0, 1],\n[1, 2],,]"), "graph.json:2: not valid JSON (unexpected text from here on)");
    EXPECT_EQ(refused("{\"tasks\": [{\"cost\": NaN}]}"), "graph.json:1: a number that is not finite (JSON has none)");
    EXPECT_EQ(refused("{\"tasks\": [{\"cost\": 1e999}]}"), "graph.json:1: a number out of range (no double holds it)");
    EXPECT_EQ(refused("{\"tasks\": [{\"cost\": 1e31}]}"), "graph.json:1: cost 1e+31 is too large (1e30 is most)");
    EXPECT_EQ(refused("[[\"a\", \"b\xff\"]]"), "graph.json:1: not valid UTF-8 (at byte 9)");
    EXPECT_EQ(refused(std::string_view{"[[\"a\0b\", 1]]", 12}), "graph.json:1: a zero byte (the file is not text)");
    EXPECT_EQ(refused("{}"), "graph.json:1: no list of tasks or edges. write {\"tasks\": [...], \"edges\": [...]} or a "
                             "list of edges");
    EXPECT_THAT(refused("{\"tasks\": []}"), HasSubstr("a graph without tasks"));
    EXPECT_THAT(refused("[[0]]"), HasSubstr("an edge of fewer than two tasks"));
    EXPECT_THAT(refused("[[0, 1, 2, 3]]"), HasSubstr("more than three values"));
    EXPECT_THAT(refused("[[0, 1.5]]"), HasSubstr("neither text nor a whole number"));
    EXPECT_THAT(refused("[{\"from\": 1}]"), HasSubstr("an edge without 'to'"));
    EXPECT_THAT(refused("[{\"from\": 1, \"source\": 2, \"to\": 3}]"), HasSubstr("repeats an earlier key"));
    EXPECT_THAT(refused("{\"tasks\": [\"a\"], \"tasks\": []}"), HasSubstr("key 'tasks' twice"));
    EXPECT_THAT(refused("{\"edges\": [], \"links\": []}"), HasSubstr("a second list of edges"));
    EXPECT_THAT(refused("7"), HasSubstr("neither a list nor an object"));
}

TEST(JsonGraph, DeepNestingIsPassedOver) {
    std::string const deep(200'000, '['), closed(200'000, ']');
    TaskGraph const graph = json("{\"x\": " + deep + closed + ", \"edges\": [[0, 1]]}");
    EXPECT_EQ(graph.dag.size(), 2U);
    EXPECT_THAT(refused(" " + deep), HasSubstr("a list or an object where a task is due"));
}

TEST(TaskGraphFile, AProfilersTraceIsOne) {
    try {
        json(R"({"schemaVersion": 1, "traceEvents": []})");
        FAIL() << "it has no event";
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::insufficient) << "of a known format, and empty";
        EXPECT_THAT(error.what(), HasSubstr("no event in this trace"));
    }
    auto const graph = json(R"([{"name": "x", "ph": "X", "ts": 1, "dur": 5, "pid": 1, "tid": 1},
                                {"name": "y", "ph": "X", "ts": 9}])");
    EXPECT_THAT(graph.notes, testing::Contains(HasSubstr("event without duration")));
}

TEST(TaskGraphFile, WhatIsNoGraphFileIsSaid) {
    EXPECT_THAT(refused(R"({"workload_graph": []})"), HasSubstr("a Chakra trace written as JSON"));
    EXPECT_THAT(refused(R"({"nodes": [{"id": 2, "ctrl_deps": 1}]})"), HasSubstr("PyTorch execution trace"));
    EXPECT_EQ(test::refused("\x1f\x8b\x08 more", "trace.et.gz"),
              "trace.et.gz: a gzip file (it is not read as a graph). unpack it first: gunzip");
    EXPECT_THAT(test::refused("PK\x03\x04 more", "model.pt"), HasSubstr("a zip archive"));
    EXPECT_THAT(test::refused("hello", "notes.txt"), HasSubstr("no known format of graphs"));
    EXPECT_THAT(test::refused("hello", "graph.json"), HasSubstr("graph.json:1: not valid JSON"));
    EXPECT_THAT(test::refused(",,,,", "graph.json"), HasSubstr("graph.json:1: not valid JSON"));
    EXPECT_THAT(test::refused(std::string{"\xff\xfe[\0[\0", 6}, "graph.json"), HasSubstr("text in UTF-16"));
    EXPECT_THAT(test::refused("graph [ directed 1 node [ id 0 ] ]", "g.gml"), HasSubstr("g.gml:1: a GML file"));
}

TEST(TaskGraphFile, TheFormatIsKnownByTheBytesWhateverTheName) {
    EXPECT_EQ(io::read_task_graph("\xEF\xBB\xBF [[0, 1]]", "graph").dag.size(), 2U);
    EXPECT_EQ(io::read_task_graph("// a graph {\nSTRICT DiGraph { a -> b }", "graph.txt").dag.size(), 2U);
}

/// Edges and costs under other names are read, or the graph is refused: without them all tasks look independent and alike.
TEST(JsonGraph, KeysThatLookLikeEdgesOrCostsAreNotPassedOver) {
    for (std::string const key : {"dependsOn", "depends", "requires", "needs", "parents"}) {
        TaskGraph const graph = json(R"({"tasks": [{"id": "a"}, {"id": "b", ")" + key + R"(": ["a"]}]})");
        EXPECT_THAT(edges_of(graph), ElementsAre("a -> b")) << key;
    }
    for (std::string const key : {"successors", "dependency_list", "children"}) {
        EXPECT_THAT(refused(R"({"tasks": [{"id": "a", ")" + key + R"(": ["b"]}, {"id": "b"}]})"),
                    HasSubstr("it may say which task waits for which"))
            << key;
    }
    for (std::string const key : {"duration_ms", "start", "data", "runtime_s"}) {
        EXPECT_THAT(refused(R"({"tasks": [{"id": "a", ")" + key + R"(": 3}, {"id": "b"}], "edges": [["a", "b"]]})"),
                    HasSubstr("it may hold costs, and no task has another"))
            << key;
        EXPECT_EQ(json(R"({"tasks": [{"id": "a", "cost": 2, ")" + key + R"(": 3}]})").dag.size(), 1U) << key;
    }
    EXPECT_THAT(refused(R"({"tasks": [{"id": "a", "cost": 2}, {"id": "b", "runtime_s": 3}]})"),
                HasSubstr("it may hold the cost of a task that states no other"));
    EXPECT_EQ(json(R"({"tasks": [{"id": "a", "cost": 2}, {"id": "b", "start": 3}]})").dag.size(), 2U);
    for (std::string const key : {"dependencies", "adjacency", "edge_list", "Connections"}) {
        std::string const list = R"(, ")" + key + R"(": [["a", "b"]])";
        EXPECT_THAT(refused(R"({"nodes": [{"id": "a"}, {"id": "b"}])" + list + "}"), HasSubstr("and nothing else does"))
            << key;
        EXPECT_EQ(json(R"({"edges": [["a", "b"]])" + list + "}").dag.size(), 2U) << key;
    }
    EXPECT_EQ(json(R"({"nodes": [{"id": "a"}], "metadata": {"links": []}})").dag.size(), 1U);
}

} // namespace
} // namespace headroom
