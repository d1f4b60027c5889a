#include "support/graph_files.hpp"

#include "headroom/io/file.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace headroom {

using namespace headroom::laws;

namespace {

using test::costs_of;
using test::edges_of;
using test::kind_of;
using test::Message;
using test::resource_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

// Field numbers: et_def.proto of Chakra.
constexpr int mem_load = 2, compute = 4, send = 5, collective = 7;

Message attribute(std::string_view name, std::int64_t value) { return Message{}.text(1, name).whole(9, value); }
Message flag(std::string_view name, bool value) { return Message{}.text(1, name).whole(27, value ? 1 : 0); }

struct Node {
    std::int64_t id = 0;
    int type = compute;
    std::int64_t micros = 0;
    std::vector<std::int64_t> data = {}, control = {};
    std::vector<Message> attributes = {};
    std::string name = {};
};

/// A message behind its length.
std::string delimited(Message const& message) {
    std::string bytes = Message{}.message(1, message).bytes();
    return bytes.substr(1); // without the tag of the field it would be
}

std::string trace(std::vector<Node> const& nodes) {
    std::string bytes = delimited(Message{}.text(1, "0.0.4"));
    for (Node const& node : nodes) {
        Message message;
        message.whole(1, node.id).text(2, node.name).whole(3, node.type);
        if (!node.control.empty()) { message.packed(4, node.control); }
        for (std::int64_t const before : node.data) { message.whole(5, before); } // as other writers do: not packed
        message.whole(7, node.micros);
        for (Message const& one : node.attributes) { message.message(10, one); }
        bytes += delimited(message);
    }
    return bytes;
}

TaskGraph chakra(std::vector<Node> const& nodes) { return io::read_task_graph(trace(nodes), "trace.et"); }

TEST(ChakraTrace, NodesAreTasksAndDependenciesEdges) {
    TaskGraph const graph = chakra(
        {{.id = 5, .micros = 12, .attributes = {flag("is_cpu_op", false), attribute("stream", 7)}, .name = "gemm"},
         {.id = 9,
          .type = collective,
          .micros = 30,
          .data = {5},
          .attributes = {attribute("comm_type", 0)},
          .name = "sync"},
         {.id = 2, .type = mem_load, .micros = 4, .name = "load"},
         {.id = 3, .micros = 8, .data = {9, 2}, .control = {5}, .attributes = {flag("is_cpu_op", true)}}});
    EXPECT_EQ(graph.unit, "seconds");
    EXPECT_EQ(graph.per_tick, 1e-12);
    EXPECT_THAT(graph.names, ElementsAre("gemm", "sync", "load", "3"));
    EXPECT_THAT(graph.dag.costs(), ElementsAre(12'000'000, 30'000'000, 4'000'000, 8'000'000));
    EXPECT_THAT(edges_of(graph), ElementsAre("gemm -> sync", "gemm -> 3", "sync -> 3", "load -> 3"));
    EXPECT_EQ(kind_of(graph, 0), "compute");
    EXPECT_EQ(kind_of(graph, 1), "all_reduce");
    EXPECT_EQ(kind_of(graph, 2), "memory load");
    EXPECT_EQ(resource_of(graph, 0), "gpu");
    EXPECT_EQ(resource_of(graph, 1), "network");
    EXPECT_EQ(resource_of(graph, 2), "memory");
    EXPECT_EQ(resource_of(graph, 3), "cpu");
    EXPECT_THAT(graph.notes, IsEmpty());
}

TEST(ChakraTrace, StreamsAndThreadsRunSideBySide) {
    auto const on = [](std::int64_t id, bool cpu, std::string_view key, std::int64_t unit) {
        return Node{.id = id, .micros = 1, .attributes = {flag("is_cpu_op", cpu), attribute(key, unit)}};
    };
    TaskGraph const graph = chakra({on(1, false, "stream", 7), on(2, false, "stream", 20), on(3, false, "stream", 7),
                                    on(4, true, "tid", 1), on(5, true, "tid", 2), on(6, true, "tid", 3)});
    ASSERT_EQ(graph.resources.size(), 2U);
    EXPECT_EQ(graph.resources[0].name, "cpu");
    EXPECT_EQ(graph.resources[0].capacity, 3);
    EXPECT_EQ(graph.resources[1].capacity, 2);
}

TEST(ChakraTrace, OfPyTorchControlDependenciesSayWhoCalledWhom) {
    // Expectation: they may form cycles and name what is not there; the order is in the data dependencies.
    TaskGraph const graph = chakra({{.id = 1, .micros = 1, .control = {1, 77}, .attributes = {attribute("rf_id", 0)}},
                                    {.id = 2, .micros = 1, .data = {1}, .control = {2}}});
    EXPECT_THAT(edges_of(graph), ElementsAre("1 -> 2"));
    EXPECT_THAT(graph.notes, ElementsAre(HasSubstr("3 callers left out")));
    EXPECT_THAT(test::refused(trace({{.id = 1, .control = {1}}}), "trace.et"), HasSubstr("waits for itself"));
}

TEST(ChakraTrace, WithoutDurationsOperationsAreCountedElseNodes) {
    Node const sent{.id = 2, .type = send, .data = {1}, .attributes = {attribute("comm_size", 4096)}};
    TaskGraph const operations = chakra({{.id = 1, .attributes = {attribute("num_ops", 1000)}}, sent});
    EXPECT_EQ(operations.unit, "operations");
    EXPECT_THAT(operations.dag.costs(), ElementsAre(1000, 0));
    EXPECT_THAT(operations.notes,
                Contains(HasSubstr("1 node of communication without a number of operations (4.1 kB")));
    TaskGraph const nodes = chakra({{.id = 1}, sent});
    EXPECT_EQ(nodes.unit, "tasks");
    EXPECT_THAT(nodes.dag.costs(), ElementsAre(1, 1));
    TaskGraph const mixed = chakra({{.id = 1, .micros = 3, .attributes = {attribute("num_ops", 1000)}}, sent});
    EXPECT_THAT(costs_of(mixed), ElementsAre(3e-6, 0.0));
    EXPECT_THAT(mixed.notes, ElementsAre(HasSubstr("1 node of communication without a duration (4.1 kB in all)")));
}

TEST(ChakraTrace, WhatIsNoTraceIsNamedWithItsPlace) {
    auto const refused = [](std::string_view bytes) { return test::refused(bytes, "trace.et"); };
    EXPECT_EQ(
        refused(trace({{.id = 1, .data = {2}, .name = "a"}, {.id = 2, .data = {1}, .name = "b"}})),
        "trace.et: node 1: edge 'b (2)' -> 'a (1)' closes a cycle ('a (1)' -> 'b (2)' -> 'a (1)'). remove one of them");
    EXPECT_EQ(refused(trace({{.id = 1}, {.id = 1}})),
              "trace.et: node 1: an id that an earlier node has (nodes are identified by id)");
    EXPECT_EQ(refused(trace({{.id = 1, .data = {4}}})),
              "trace.et: node 1: it waits for node 4 (there is no such node)");
    EXPECT_THAT(refused(trace({{.id = 1, .attributes = {attribute("num_ops", -5)}}})),
                HasSubstr("'num_ops' is no amount"));
    EXPECT_THAT(refused(trace({{.id = 1, .name = "a\xff"}})), HasSubstr("a name that is not text"));
    EXPECT_THAT(refused(trace({})), HasSubstr("a graph without tasks"));
    EXPECT_THAT(refused(delimited(Message{}.text(1, "v")) + delimited(Message{}.text(1, "an id?"))),
                HasSubstr("of another type than it should be"));
}

TEST(ChakraTrace, ATruncatedTraceIsRefusedUnlessItEndsBetweenNodes) {
    std::string const one = trace({{.id = 1, .micros = 5, .name = "a"}});
    std::string const two =
        trace({{.id = 1, .micros = 5, .name = "a"}, {.id = 2, .micros = 6, .data = {1}, .name = "b"}});
    for (std::size_t length = one.size() + 1; length < two.size(); ++length) {
        EXPECT_EQ(test::refused(std::string_view{two}.substr(0, length), "trace.et"),
                  "trace.et: byte " + std::to_string(one.size()) +
                      ": a node is cut short (the file ends before it does)");
    }
    EXPECT_EQ(io::read_task_graph(one, "trace.et").dag.size(), 1U);
}

// ---- traces of others, decoded a second time ----------------------------------------------------------------------------

struct Decoded {
    std::size_t nodes = 0, data_deps = 0;
    std::uint64_t micros = 0;
};

std::uint64_t varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (int shift = 0; !bytes.empty(); shift += 7) {
        auto const byte = static_cast<std::uint8_t>(bytes.front());
        bytes.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80U) { break; }
    }
    return value;
}

/// Counts what a trace holds without any of the reader's code.
Decoded decoded(std::string_view bytes) {
    Decoded result;
    for (bool metadata = true; !bytes.empty(); metadata = false) {
        std::uint64_t const length = varint(bytes);
        std::string_view node = bytes.substr(0, length);
        bytes.remove_prefix(length);
        if (metadata) { continue; }
        ++result.nodes;
        while (!node.empty()) {
            std::uint64_t const key = varint(node), tag = key >> 3U;
            bool const list = (key & 7U) == 2;
            std::uint64_t const number = varint(node); // every field of a node is a number or has a length
            std::string_view body = list ? node.substr(0, number) : std::string_view{};
            if (list) { node.remove_prefix(number); }
            if (tag == 5 && !list) { ++result.data_deps; }
            for (; tag == 5 && !body.empty(); ++result.data_deps) { varint(body); }
            if (tag == 7) { result.micros += number; }
        }
    }
    return result;
}

fs::path shared_traces() {
    char const* const folder = std::getenv("HEADROOM_SHARED");
    fs::path const root = folder != nullptr ? fs::path{folder} : fs::path{HEADROOM_SOURCE_DIR}.parent_path() / "shared";
    return root / "traces/chakra_et";
}

TEST(ChakraTrace, TracesOfOthersHoldWhatASecondDecoderFinds) {
    std::size_t files = 0;
    std::error_code none;
    for (auto const& entry : fs::recursive_directory_iterator{shared_traces(), none}) {
        if (entry.path().extension() != ".et") { continue; }
        std::string const bytes = io::read_file(entry.path());
        TaskGraph const graph = io::read_task_graph(bytes, entry.path().string());
        Decoded const expected = decoded(bytes);
        EXPECT_EQ(graph.dag.size(), expected.nodes) << entry.path();
        EXPECT_EQ(graph.dag.edge_count(), expected.data_deps) << entry.path();
        Ticks total = 0;
        for (Ticks const cost : graph.dag.costs()) { total += cost; }
        if (expected.micros > 0) { EXPECT_EQ(total, static_cast<Ticks>(expected.micros) * 1'000'000) << entry.path(); }
        ++files;
    }
    if (files == 0) { std::cout << "skipped: no traces in " << shared_traces() << '\n'; }
}

} // namespace
} // namespace headroom
