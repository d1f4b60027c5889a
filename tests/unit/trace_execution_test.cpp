#include "support/compressed.hpp"
#include "support/graph_files.hpp"
#include "support/recorded_traces.hpp"
#include "support/trace_files.hpp"

#include <gmock/gmock.h>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::network;
using namespace headroom::trace;

namespace {

using test::Message;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string delimited(Message const& message) { return Message{}.message(1, message).bytes().substr(1); }
Message attribute(std::string_view name, std::int64_t value) { return Message{}.text(1, name).whole(9, value); }
Message flag(std::string_view name, bool value) { return Message{}.text(1, name).whole(27, value ? 1 : 0); }

/// A computation, an all-reduce that overlaps with it, and a copy that overlaps with both; the all-reduce first.
std::string chakra_file(bool begins) {
    Message reduce, gemm, load;
    reduce.whole(1, 3).text(2, "all-reduce").whole(3, 7).whole(5, 1).whole(7, 40);
    reduce.message(10, attribute("comm_type", 0))
        .message(10, attribute("comm_size", 4096))
        .message(10, flag("is_cpu_op", false));
    gemm.whole(1, 1).text(2, "gemm").whole(3, 4).whole(7, 50).message(10, flag("is_cpu_op", false));
    load.whole(1, 2).text(2, "load").whole(3, 2).whole(7, 5).message(10, flag("is_cpu_op", false));
    if (begins) { reduce.whole(6, 160), gemm.whole(6, 100), load.whole(6, 110); }
    return delimited(Message{}.text(1, "0.0.4")) + delimited(reduce) + delimited(gemm) + delimited(load);
}

TEST(ChakraAsTrace, WithoutBeginsDependenciesLayOut) {
    auto const traces = test::traces_in(io::read_chakra, chakra_file(false), "rank.et");
    ASSERT_EQ(traces.size(), 1U);
    EXPECT_THAT(test::spans_of(traces[0]),
                ElementsAre("communication all-reduce 50000-90000 @stream -1", "compute gemm 0-50000 @stream 0",
                            "memory load 0-5000 @stream -2"));
    EXPECT_EQ(test::first_place(traces[0], "no begins: laid out by what waits for what"), "rank.et: node 3");
    ASSERT_EQ(traces[0].collectives.size(), 1U);
    EXPECT_EQ(traces[0].collective_names[traces[0].collectives[0].what], "all_reduce");
    EXPECT_EQ(traces[0].collectives[0].elements_in * traces[0].collectives[0].element_bytes, 4096);
}

TEST(ChakraAsTrace, BeginsAreTakenWhereTheyAre) {
    auto const traces = test::traces_in(io::read_chakra, chakra_file(true));
    EXPECT_THAT(test::spans_of(traces[0]),
                ElementsAre("communication all-reduce 60000-100000 @stream -1", "compute gemm 0-50000 @stream 0",
                            "memory load 10000-15000 @stream -2"));
    EXPECT_TRUE(traces[0].issues.empty());
    EXPECT_EQ(traces[0].epoch_ns, 100'000);
}

TEST(ChakraAsTrace, DamageEndsItWhereItIs) {
    std::string const bytes = chakra_file(false);
    auto const cut = test::traces_in(io::read_chakra, bytes.substr(0, bytes.size() - 3), "rank.et");
    EXPECT_EQ(cut[0].size(), 2U);
    EXPECT_EQ(test::issues_of(cut[0])["cut short"], 1U);
    Message broken;
    broken.text(1, "an id that is a text");
    auto const skipped = test::traces_in(io::read_chakra, bytes + delimited(broken), "rank.et");
    EXPECT_EQ(skipped[0].size(), 3U);
    EXPECT_EQ(test::issues_of(skipped[0])["node that cannot be read"], 1U);
    EXPECT_THAT(test::trace_refusal(io::read_chakra, delimited(Message{}.text(1, "0.0.4")), Fault::insufficient),
                HasSubstr("without nodes"));
}

TEST(ChakraAsTrace, CirclesAndStrangersAreCounted) {
    Message one, two;
    one.whole(1, 1).whole(3, 4).whole(5, 2).whole(7, 10).message(10, flag("is_cpu_op", false));
    two.whole(1, 2).whole(3, 4).whole(5, 1).whole(5, 77).whole(7, 10).message(10, flag("is_cpu_op", false));
    auto const traces =
        test::traces_in(io::read_chakra, delimited(Message{}.text(1, "0")) + delimited(one) + delimited(two));
    EXPECT_EQ(traces[0].size(), 2U);
    EXPECT_EQ(test::issues_of(traces[0])["waits in a circle"], 2U);
    EXPECT_EQ(test::issues_of(traces[0])["waits for a node that is not there"], 1U);
}

TEST(ExecutionJson, ChakrasNodesAreLaidOut) {
    auto const traces = test::traces_in(io::read_execution_json, test::trace_sample("chakra_small.json"), "a.json");
    ASSERT_EQ(traces.size(), 1U);
    EXPECT_THAT(test::spans_of(traces[0]),
                ElementsAre("host aten::linear 0-30000 @thread 0", "compute gemm 30000-80000 @stream 0",
                            "host aten::relu 30000-50000 @thread 0",
                            "communication ncclKernel_AllReduce 80000-120000 @stream -1"));
    EXPECT_EQ(test::issues_of(traces[0])["waits for a node that is not there"], 1U);
    EXPECT_EQ(traces[0].collectives.size(), 1U);
}

TEST(ExecutionJson, ChakrasNodesAreAGraphAsWell) {
    std::string text = test::trace_sample("chakra_small.json");
    text.replace(text.find(", 99]"), 5, "]"); // a node that is not there: graphs refuse it
    TaskGraph const graph = io::read_task_graph(text, "a.json");
    EXPECT_EQ(graph.unit, "seconds");
    EXPECT_THAT(test::edges_of(graph),
                ::testing::UnorderedElementsAre("aten::linear -> gemm", "aten::linear -> aten::relu",
                                                "gemm -> ncclKernel_AllReduce"));
    EXPECT_THAT(graph.dag.costs(), ElementsAre(30'000'000, 50'000'000, 20'000'000, 40'000'000)); // picoseconds
    EXPECT_EQ(test::kind_of(graph, 3), "all_reduce");
    EXPECT_THAT(test::refused(text.substr(0, text.size() / 2), "a.json"), HasSubstr("cut short"));
    EXPECT_THAT(test::refused(test::trace_sample("chakra_small.json"), "a.json"), HasSubstr("it waits for node 99"));
}

TEST(ExecutionJson, ObserversOfPyTorchGiveShapesAndCollectives) {
    auto const traces = test::traces_in(io::read_execution_json, test::trace_sample("observer_1_0_1.json"), "a.json");
    RankTrace const& trace = traces.at(0);
    EXPECT_TRUE(trace.no_times);
    EXPECT_THAT(test::spans_of(trace),
                ElementsAre("annotation [pytorch|profiler|execut 0-0 @thread 1", "host aten::mm 0-0 @thread 1",
                            "communication record_param_comms 0-0 @thread 1"));
    ASSERT_EQ(trace.shapes.size(), 2U);
    EXPECT_EQ(trace.shape_texts[trace.shapes[0].text],
              "[[8, 64], [64, 32], []] [Tensor(c10::Half), Tensor(c10::Half), Double]");
    ASSERT_EQ(trace.collectives.size(), 1U);
    auto const& call = trace.collectives[0];
    EXPECT_EQ(trace.collective_names[call.what], "allreduce");
    EXPECT_EQ(trace.groups[call.group].name, "93825114103440");
    EXPECT_EQ(call.elements_in, 256);
    EXPECT_EQ(call.element_bytes, 2);
    EXPECT_EQ(test::issues_of(trace)["not a number"], 1U); // a bare -inf
}

TEST(ExecutionJson, LaterSchemasStateTheCollective) {
    auto const traces = test::traces_in(io::read_execution_json, test::trace_sample("observer_1_1_0.json"), "a.json");
    RankTrace const& trace = traces.at(0);
    ASSERT_EQ(trace.collectives.size(), 1U);
    auto const& call = trace.collectives[0];
    EXPECT_EQ(trace.collective_names[call.what], "broadcast");
    EXPECT_EQ(call.elements_in, 53120);
    EXPECT_EQ(call.elements_out, 53120);
    EXPECT_EQ(call.element_bytes, 4);
    EXPECT_EQ(call.group_size, 2);
    EXPECT_EQ(trace.groups[call.group].name, "0");
    EXPECT_EQ(trace.groups[call.group].description, "default_pg");
    EXPECT_THAT(trace.groups[call.group].ranks, ElementsAre(4, 6));
    EXPECT_EQ(trace.timeline.lanes[0], "thread 3");
}

TEST(ExecutionJson, DamageEndsItWhereItIs) {
    std::string const text = test::trace_sample("observer_1_0_1.json");
    auto const cut = test::traces_in(io::read_execution_json, text.substr(0, text.size() - 300), "a.json");
    EXPECT_EQ(cut[0].size(), 2U);
    EXPECT_EQ(test::issues_of(cut[0])["cut short"], 1U);
    EXPECT_THAT(test::trace_refusal(io::read_execution_json, "{\"schema\": \"1\", \"nodes\": [}", Fault::unreadable),
                HasSubstr("not valid JSON"));
    EXPECT_THAT(test::trace_refusal(io::read_execution_json, "{\"schema\": \"1\", \"nodes\": []}", Fault::insufficient),
                HasSubstr("without nodes"));
    EXPECT_THAT(test::trace_refusal(io::read_execution_json, std::string(200'000, '['), Fault::unreadable),
                HasSubstr("nested too deeply"));
    EXPECT_TRUE(io::looks_like_execution_json(text));
    EXPECT_TRUE(io::looks_like_execution_json(test::trace_sample("chakra_small.json")));
    EXPECT_FALSE(io::looks_like_execution_json("{\"schemaVersion\": 1, \"traceEvents\": []}"));
}

TEST(ExecutionJson, RecordedTracesOfThreeSchemasAreRead) {
    auto const root = test::recorded_traces();
    if (root.empty()) { GTEST_SKIP() << "no recorded traces here"; }
    struct Expected {
        std::string file;
        std::size_t nodes, collectives;
    };
    // Counted in the files: "id" of nodes, and record_param_comms that are no "wait".
    std::vector<Expected> const files{{"param_et/resnet_2gpu_et.json.gz", 14392, 21},
                                      {"astrasim_megatron_tp8/et/megatron_et_0.json.gz", 5424, 85},
                                      {"param_dlrm/et/dlrm_eg_0.json.gz", 1675, 8}};
    for (auto const& [file, nodes, collectives] : files) {
        auto const traces = test::traces_in(io::read_execution_json, root / file);
        ASSERT_EQ(traces.size(), 1U) << file;
        EXPECT_EQ(traces[0].size(), nodes) << file;
        EXPECT_EQ(traces[0].collectives.size(), collectives) << file;
        EXPECT_EQ(traces[0].issues.size(), 1U) << file; // no times
        for (auto const& call : traces[0].collectives) { EXPECT_GT(call.element_bytes, 0) << file; }
    }
}

TEST(ChakraAsTrace, RecordedMicrobenchmarksAreRead) {
    auto const root = test::recorded_traces();
    if (root.empty()) { GTEST_SKIP() << "no recorded traces here"; }
    for (std::string const kind : {"all_reduce", "all_gather", "all_to_all", "reduce_scatter"}) {
        auto const file = "chakra_et/microbench/" + kind + "_8npus_1MB_" + kind + ".3.et";
        auto const traces = test::traces_in(io::read_chakra, root / file);
        ASSERT_EQ(traces.at(0).collectives.size(), 1U) << file;
        EXPECT_EQ(traces[0].collective_names[traces[0].collectives[0].what], kind);
        EXPECT_EQ(traces[0].collectives[0].elements_in * traces[0].collectives[0].element_bytes, 1 << 20);
        EXPECT_TRUE(traces[0].no_times);
    }
}

} // namespace
} // namespace headroom
