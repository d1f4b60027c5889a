#include "support/graph_files.hpp"

#include <gmock/gmock.h>

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

TaskGraph dot(std::string_view text) { return io::read_task_graph(text, "graph.dot"); }
std::string refused(std::string_view text) { return test::refused(text, "graph.dot"); }

TEST(DotGraph, ReadsNodesChainsAndGroups) {
    TaskGraph const graph = dot("digraph \"my graph\" { a -> {b c} -> d; e }");
    EXPECT_EQ(graph.name, "my graph");
    EXPECT_EQ(graph.unit, "tasks");
    EXPECT_THAT(graph.names, ElementsAre("a", "b", "c", "d", "e"));
    EXPECT_THAT(edges_of(graph), ElementsAre("a -> b", "a -> c", "b -> d", "c -> d"));
    EXPECT_THAT(graph.kind_of, IsEmpty());
}

TEST(DotGraph, CostsLabelsKindsAndResourcesComeFromAttributes) {
    TaskGraph const graph = dot("digraph { unit=us resources=\"gpu0:2, net\"\n"
                                "a [label=\"the\\nfirst \\N\" cost=3, kind=gemm; resource=gpu0][color=red]\n"
                                "b [work=1.5 class=norm resource=gpu0] c [duration=2]\n"
                                "a -> b -> c [cost=4 resource=net weight=7] }");
    EXPECT_EQ(graph.unit, "seconds");
    EXPECT_THAT(graph.names, ElementsAre("the first a", "b", "c", "a -> b", "b -> c"));
    EXPECT_THAT(graph.dag.costs(), ElementsAre(3'000'000, 1'500'000, 2'000'000, 4'000'000, 4'000'000));
    EXPECT_EQ(kind_of(graph, 0), "gemm");
    EXPECT_EQ(kind_of(graph, 1), "norm");
    EXPECT_EQ(kind_of(graph, 4), "message");
    EXPECT_EQ(resource_of(graph, 4), "net");
    EXPECT_EQ(graph.resources[0].capacity, 2);
    EXPECT_EQ(resource_of(graph, 2), "no resource");
}

TEST(DotGraph, DefaultsHoldForNodesMadeAfterThemAndInTheirSubgraph) {
    TaskGraph const graph = dot("digraph { z node [cost=1] a subgraph s { node [cost=7] b; a [cost=2] } c [work=3] }");
    EXPECT_THAT(graph.names, ElementsAre("z", "a", "b", "c"));
    EXPECT_THAT(graph.dag.costs(), ElementsAre(0, 2, 7, 3));
    EXPECT_THAT(graph.notes, Contains("1 of 4 tasks without a cost of its own, counted as 0"));
}

TEST(DotGraph, SubgraphsAreOperandsAndMayBeNamedAgain) {
    TaskGraph const graph = dot("digraph { subgraph s { a; b -> c } subgraph t { subgraph s } d -> subgraph s }");
    EXPECT_THAT(edges_of(graph), ElementsAre("b -> c", "d -> a", "d -> b", "d -> c"));
}

TEST(DotGraph, NamesAreWordsNumbersTextsOrHtml) {
    TaskGraph const graph = dot("digraph { \"quo\" + /* cut */ \"t\\\"ed\" -> <b<i>x</i>> -> -3.5 -> .5 -> n\xC3\xB6 "
                                "-> Node1:port:n -> \"node\" [label=<no>] \"no\\\nbreak\" }");
    EXPECT_THAT(graph.names,
                ElementsAre("quot\"ed", "b<i>x</i>", "-3.5", ".5", "n\xC3\xB6", "Node1", "node", "nobreak"));
}

TEST(DotGraph, CommentsAndLinesOfThePreprocessorArePassedOver) {
    TaskGraph const graph = dot("# 1 \"x\"\n/* a { */ // b {\ndigraph{a->b/*c->d*/->e//f\n#g->h\n;;}\n");
    EXPECT_THAT(edges_of(graph), ElementsAre("a -> b", "b -> e"));
}

TEST(DotGraph, AStrictGraphKeepsOneEdgeOfEach) {
    EXPECT_EQ(dot("digraph { a -> b; a -> b }").dag.edge_count(), 2U);
    EXPECT_EQ(dot("strict digraph { a -> b; c -> b; a -> b }").dag.edge_count(), 2U);
    // Expectation: as in Graphviz, the later of two edges says what holds.
    EXPECT_THAT(costs_of(dot("strict digraph { a -> b [cost=5]; a -> b [cost=4] }")), ElementsAre(0, 0, 4));
}

TEST(DotGraph, TheWeightOfAnEdgeIsLayout) {
    TaskGraph const graph = dot("digraph { a -> b [weight=100] }");
    EXPECT_EQ(graph.dag.size(), 2U);
    EXPECT_THAT(graph.notes, Contains(HasSubstr("'weight' of an edge is layout")));
    EXPECT_THAT(costs_of(dot("digraph { a [weight=100] }")), ElementsAre(100));
}

TEST(DotGraph, WhatIsNoDirectedGraphIsRefused) {
    EXPECT_EQ(
        refused("graph { a -- b }"),
        "graph.dot:1: an undirected graph (it does not state which task waits for which). write 'digraph' and '->'");
    EXPECT_EQ(
        refused("digraph {\n a -- b }"),
        "graph.dot:2: an edge without a direction '--' (it does not state which task waits for which). write '->'");
    EXPECT_EQ(refused("digraph {\n a -> b\n b -> c -> a }"),
              "graph.dot:3: edge 'c' -> 'a' closes a cycle ('a' -> 'b' -> 'c' -> 'a'). remove one of them");
    EXPECT_EQ(refused("digraph {\n a -> a }"),
              "graph.dot:2: task 'a' waits for itself (it could never begin). remove the edge");
    EXPECT_EQ(refused("digraph { a } digraph { b }"),
              "graph.dot:1: a second graph (which of the two is meant is not known). give each a file of its own");
    EXPECT_THAT(refused("digraph { }"), HasSubstr("a graph without tasks"));
}

TEST(DotGraph, DamageIsNamedWithItsLine) {
    EXPECT_EQ(refused("digraph {\n a -> b"),
              "graph.dot:2: the text ends where '}' is due (a brace or bracket is not closed)");
    EXPECT_EQ(refused("digraph {\n a ->"),
              "graph.dot:2: the text ends where a name is due (a brace or bracket is not closed)");
    EXPECT_EQ(refused("digraph {\n\"a"), "graph.dot:2: a quote that is never closed (the text runs to the end)");
    EXPECT_EQ(refused("digraph {\n<a"), "graph.dot:2: a '<' that is never closed (the text runs to the end)");
    EXPECT_EQ(refused("digraph {\n/* a"), "graph.dot:2: a comment that is never closed");
    EXPECT_EQ(refused("digraph { a [cost=-3] }"), "graph.dot:1: negative cost -3 (a task takes at least nothing)");
    EXPECT_THAT(refused("digraph { a [cost=inf] }"), HasSubstr("too large"));
    EXPECT_THAT(refused("digraph { a [cost=nan] }"), HasSubstr("no number"));
    EXPECT_THAT(refused("digraph { a [cost=\"1e999\"] }"), HasSubstr("out of range"));
    EXPECT_THAT(refused("digraph { a [cost=3ms] }"), HasSubstr("a number that runs into letters after '3'"));
    EXPECT_THAT(refused("digraph { a [cost=1e3] }"), HasSubstr("put it in quotes"));
    EXPECT_THAT(refused("digraph { a [cost=soon] }"), HasSubstr("cost 'soon' is no amount"));
    EXPECT_THAT(refused("digraph { a [cost=1 work=2] }"), HasSubstr("both 'cost' and 'work'"));
    EXPECT_THAT(refused("digraph { a [cost=\"1 GFLOP\"] b [cost=\"2ms\"] }"), HasSubstr("one kind of cost"));
    EXPECT_THAT(refused("digraph { resources=\"gpu0:x\" a }"), HasSubstr("'gpu0:x' is no resource"));
    EXPECT_THAT(refused("digraph { a @ b }"), HasSubstr("'@' makes no sense here"));
    EXPECT_THAT(refused("digraph { a = }"), HasSubstr("'}' where a value is due"));
    EXPECT_THAT(refused("digraph { node a }"), HasSubstr("'a' where '[' is due"));
    EXPECT_EQ(refused("digraph { a -> b\xff }"), "graph.dot:1: not valid UTF-8 (at byte 16)");
    EXPECT_EQ(refused(std::string_view{"digraph {\n a\0 }", 15}), "graph.dot:2: a zero byte (at byte 12)");
}

TEST(DotGraph, WhatGroupsStandForIsBounded) {
    std::string nested = "digraph ";
    for (int i = 0; i < 300; ++i) { nested += "{"; }
    EXPECT_THAT(refused(nested), HasSubstr("subgraphs nested too deeply"));
    std::string members;
    for (int i = 0; i < 9000; ++i) { members += " n" + std::to_string(i); }
    EXPECT_THAT(refused("digraph { {" + members + "} -> {" + members + "} }"),
                HasSubstr("groups stand for too many edges"));
}

/// A duration in a label is no cost: the graph is refused rather than read as tasks that all take 1.
TEST(DotGraph, DurationsInLabelsAreNotPassedOver) {
    EXPECT_THAT(refused(R"x(digraph { A [label="A (3 ms)"]; B; A -> B })x"), HasSubstr("it may hold a cost"));
    EXPECT_EQ(dot(R"x(digraph { A [label="A (3 ms)", cost="3ms"]; B [cost="2ms"]; A -> B })x").dag.size(), 2U);
    EXPECT_EQ(dot(R"x(digraph { A [label="A (first)"]; B; A -> B })x").dag.size(), 2U);
}

TEST(DotGraph, AttributesThatNameACostAreNotPassedOver) {
    for (std::string const text :
         {"digraph { a [runtime=3]; a -> b }", "digraph { a [cost=2]; b [exec_time=3]; a -> b }",
          "digraph { node [latency_ms=3]; a -> b }"}) {
        EXPECT_THAT(refused(text), HasSubstr("it may hold the cost of a task that states no other")) << text;
    }
    EXPECT_EQ(dot("digraph { a [cost=2, runtime=3, width=1, start=5]; b [cost=1] }").dag.size(), 2U);
}

} // namespace
} // namespace headroom
