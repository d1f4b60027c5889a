// Profilers that tell device work by the names of processes and threads: small traces of their shapes, by hand.

#include "support/chrome_events.hpp"

#include "headroom/io/trace.hpp"
#include "headroom/trace/rank_digest.hpp"
#include "headroom/trace/trace_breakdown.hpp"
#include "headroom/trace/trace_collectives.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

using namespace headroom::trace;
using test::Events;

namespace {

/// Computation of 300 us, communication of 200 us, 50 us of them at once.
void expect_times(RankTrace const& trace, Ticks wall = 450'000) {
    auto const breakdown = breakdown_of(trace);
    EXPECT_FALSE(breakdown.on_host);
    EXPECT_EQ(breakdown.whole.end - breakdown.whole.begin, wall);
    EXPECT_EQ(breakdown.whole.compute, 300'000);
    EXPECT_EQ(breakdown.whole.communication, 200'000);
    EXPECT_EQ(breakdown.whole.overlap, 50'000);
}

constexpr std::string_view reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

TEST(TraceDevices, StreamsOfXlaCountAndLanesThatRestateThemDoNot) {
    auto const traces = Events{}
                            .process("1", "/device:GPU:0")
                            .thread("1", "13", "Stream #13(Compute)")
                            .thread("1", "14", "Stream #14(Compute,MemcpyP2P)")
                            .thread("1", "20", "XLA Modules")
                            .thread("1", "21", "XLA Ops")
                            .thread("1", "22", "Steps")
                            .process("701", "/host:CPU")
                            .span("1", "13", "gemm_fusion", 100, 300)
                            .span("1", "14", reduce, 350, 200)
                            .span("1", "20", "jit_step(7)", 0, 900)
                            .span("1", "21", "fusion.1", 100, 800)
                            .span("1", "22", "0", 0, 1000)
                            .span("701", "1", "$train.py:10 step", 0, 2000)
                            .read();
    ASSERT_EQ(traces.size(), 1U);
    expect_times(traces[0]);
}

TEST(TraceDevices, OperationsOfATpuCommunicateByTheirNames) {
    auto const traces = Events{}
                            .process("3", "/device:TPU:0")
                            .thread("3", "1", "Steps")
                            .thread("3", "3", "XLA Ops")
                            .thread("3", "5", "Async XLA Ops")
                            .span("3", "1", "0", 0, 1000)
                            .span("3", "3", "while.9", 100, 450) // what runs in it says what it is
                            .span("3", "3", "fusion.1", 100, 300)
                            .span("3", "5", "all-reduce-start.2", 350, 200)
                            .span("3", "3", "all-reduce-start.2", 349, 1)
                            .span("3", "3", "all-reduce-done.2", 400, 150)
                            .read();
    expect_times(traces.at(0));
    auto const runs = collective_runs(traces[0]).runs;
    EXPECT_EQ(runs.size(), 1U) << "one of them, although three events tell of it";
    auto const without = Events{}
                             .process("3", "/device:TPU:0")
                             .thread("3", "3", "XLA Ops")
                             .span("3", "3", "fusion.1", 100, 300)
                             .span("3", "3", "all-reduce-done.2", 400, 150)
                             .read();
    EXPECT_EQ(breakdown_of(without.at(0)).whole.communication, 150'000);
}

TEST(TraceDevices, TransfersOfATpuLastFromTheirStartToTheirEnd) {
    // Two transfers at once, hidden but for 20 and 30 us; the second has other numbers at start and end.
    auto const traces = Events{}
                            .process("3", "/device:TPU:0")
                            .thread("3", "3", "XLA Ops")
                            .span("3", "3", "all-gather-done.9", 0, 10) // begun before the trace
                            .span("3", "3", "all-gather-start.1", 100, 2)
                            .span("3", "3", "reduce-scatter-start.4", 102, 2)
                            .span("3", "3", "fusion.1", 104, 296)
                            .span("3", "3", "all-gather-done.1", 400, 20)
                            .span("3", "3", "fusion.2", 420, 80)
                            .span("3", "3", "reduce-scatter-done.5", 500, 30)
                            .span("3", "3", "fusion.3", 530, 70)
                            .read();
    auto const times = breakdown_of(traces.at(0)).whole;
    EXPECT_EQ(times.compute, 446'000);
    EXPECT_EQ(times.communication, 440'000) << "10 us, and from 100 to 530 us";
    EXPECT_EQ(times.overlap, 376'000);
    EXPECT_EQ(collective_runs(traces[0]).runs.size(), 3U) << "a transfer is one of start and end";
}

TEST(TraceDevices, DevicesMayNameTheirProcess) {
    auto const traces = Events{}
                            .process("3", "/device:TPU:0 (pid 3)")
                            .thread("3", "2", "XLA Modules")
                            .thread("3", "3", "XLA Ops")
                            .span("3", "2", "jit_step", 0, 900)
                            .span("3", "3", "fusion.1", 100, 300)
                            .read();
    EXPECT_EQ(breakdown_of(traces.at(0)).whole.compute, 300'000);
}

TEST(TraceDevices, OtherDevicesOfXlaAreNoHosts) {
    // Lanes of sparse cores and of networks between slices would be the work of a host that launches late.
    for (std::string_view const device : {"/device:TPU:0 SparseCore 0", "/device:CUSTOM:Megascale Trace"}) {
        auto const traces = Events{}
                                .process("3", "/device:TPU:0")
                                .thread("3", "3", "XLA Ops")
                                .span("3", "3", "fusion.1", 100, 300)
                                .process("4", device)
                                .thread("4", "1", "Steps")
                                .span("4", "1", "0", 0, 900)
                                .read();
        ASSERT_EQ(traces.size(), 1U);
        for (std::size_t span = 0; span < traces[0].size(); ++span) {
            EXPECT_NE(traces[0].kind[span], SpanKind::host) << device;
        }
        EXPECT_EQ(breakdown_of(traces[0]).whole.compute, 300'000) << device;
    }
}

TEST(TraceDevices, FusionsOfATpuCommunicateByTheirCategories) {
    constexpr std::string_view category = R"(,"args":{"hlo_category":")";
    for (auto const& [name, of] :
         std::vector<std::pair<std::string, std::string>>{{"fusion.12", "all-reduce"},
                                                          {"fusion.12", "all-gather fusion"},
                                                          {"fusion.12", "all-reduce-scatter fusion"},
                                                          {"async-collective-fusion.3", "custom fusion"},
                                                          {"async-collective-done.1", "async-done"},
                                                          {"async-done.3", "async-done"}}) {
        auto const traces = Events{}
                                .process("3", "/device:TPU:0")
                                .thread("3", "3", "XLA Ops")
                                .span("3", "3", "fusion.1", 100, 300, std::string{category} + "convolution fusion\"}")
                                .span("3", "3", name, 400, 200, std::string{category} + of + "\"}")
                                .read();
        EXPECT_EQ(breakdown_of(traces.at(0)).whole.compute, 300'000) << name << " " << of;
        EXPECT_EQ(breakdown_of(traces[0]).whole.communication, 200'000) << name << " " << of;
    }
}

TEST(TraceDevices, HostsOfXlaWaitForTheirDevice) {
    for (std::string_view const name : {"BlockHostUntilReady", "$array.py:663 block_until_ready"}) {
        auto const traces = Events{}
                                .process("3", "/device:TPU:0")
                                .thread("3", "3", "XLA Ops")
                                .span("3", "3", "fusion.1", 100, 800)
                                .process("701", "/host:CPU")
                                .span("701", "9", "PjitFunction(train_step)", 50, 30)
                                .span("701", "9", name, 90, 820)
                                .read();
        auto const graph = digest_of(traces.at(0)).graph;
        ASSERT_TRUE(graph);
        EXPECT_GT(std::ranges::count(graph->kind, SpanKind::synchronization), 0) << name;
        EXPECT_GT(std::ranges::count(graph->edge_kind, TraceEdge::wait), 0) << name;
    }
}

TEST(TraceDevices, StreamsAreProcessesInTimelinesOfTensorFlow1) {
    struct Words {
        std::string_view host, all, stream, copies;
    };
    for (auto const& words :
         {Words{"/job:localhost/replica:0/task:0/device:GPU:0 Compute", "/device:GPU:0/stream:all Compute",
                "/device:GPU:0/stream:13 Compute", "/device:GPU:0/memcpy Compute"},
          Words{"/job:localhost/replica:0/task:0/gpu:0 Compute", "/gpu:0/stream:all Compute",
                "/gpu:0/stream:13 Compute", "/gpu:0/memcpy Compute"}}) {
        auto const traces = Events{}
                                .process("1", words.host)
                                .process("2", words.all)
                                .process("3", words.stream)
                                .process("4", words.copies)
                                .process("5", "/job:localhost/replica:0/task:0/device:CPU:0 Compute")
                                .span("1", "0", "MatMul", 90, 10)
                                .span("5", "0", "Const", 80, 5)
                                .span("2", "0", "MatMul", 100, 50)
                                .span("3", "0", "MatMul", 100, 50)
                                .span("2", "0", "Conv2D", 170, 30)
                                .span("3", "0", "Conv2D", 170, 30)
                                .span("4", "0", "MEMCPYHtoD", 155, 10)
                                .read();
        ASSERT_EQ(traces.size(), 1U) << words.all;
        auto const whole = breakdown_of(traces[0]).whole;
        EXPECT_EQ(whole.compute, 80'000) << words.all;
        EXPECT_EQ(whole.memory_only, 10'000);
        EXPECT_EQ(whole.window, 100'000);
    }
    // Without streams of their own the one of all streams is the work.
    auto const traces =
        Events{}.process("2", "/device:GPU:0/stream:all Compute").span("2", "0", "MatMul", 100, 50).read();
    EXPECT_EQ(breakdown_of(traces.at(0)).whole.compute, 50'000);
}

TEST(TraceDevices, ProcessesOfAmdsToolsAreDevices) {
    for (std::string_view const name : {"6 GPU0", "GPU0"}) {
        auto const traces = Events{}
                                .process("2", "2 CPU HIP API")
                                .process("1", "1 COPY")
                                .process("6", name)
                                .span("2", "77", "hipLaunchKernel", 0, 900)
                                .span("6", "0", "Cijk_Ailk_Bljk_SB", 100, 300)
                                .span("6", "1", "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", 350, 200)
                                .span("1", "0", "CopyHostToDevice", 560, 10)
                                .read();
        expect_times(traces.at(0), 470'000);
        EXPECT_EQ(breakdown_of(traces[0]).whole.memory, 10'000);
    }
}

TEST(TraceDevices, AscendsOwnAnalysisIsNotCountedAgain) {
    constexpr auto exchange = "hcom_allReduce__610_0_1";
    for (bool const twice : {false, true}) {
        auto const traces = Events{}
                                .process("2", "Python")
                                .process("4", "Ascend Hardware")
                                .process("5", "Communication")
                                .process("6", "Overlap Analysis")
                                .thread("4", "7", "Stream 7")
                                .thread("4", "8", "Stream 8")
                                .thread("5", "0", "Group default_group Communication")
                                .thread("5", "1", "Plane 0")
                                .thread("6", "1", "Free")
                                .span("2", "100", "ProfilerStep#1", 0, 1000, R"(,"cat":"cpu_op")")
                                .span("4", "7", "MatMulV2", 100, 300)
                                .span("4", "7", "EVENT_WAIT", 400, 500)
                                .span("4", "8", "Notify_Wait", 350, 200)
                                .span("4", "8", twice ? exchange : "Notify_Wait", 350, 200)
                                .span("5", "0", exchange, 350, 200)
                                .span("5", "1", "Reduce_Inline", 350, 2000)
                                .span("6", "1", "Free", 550, 450)
                                .read();
        expect_times(traces.at(0));
        EXPECT_EQ(breakdown_of(traces[0]).steps.size(), 1U);
        EXPECT_EQ(breakdown_of(traces[0]).whole.count[1], 1);
    }
}

TEST(TraceDevices, StreamsMayBeWords) {
    auto const traces = Events{}
                            .span(R"("Device 0")", R"("Stream 7")", "sgemm", 100, 300, R"(,"cat":"cuda")")
                            .span(R"("Device 0")", R"("Stream 8")", reduce, 350, 200, R"(,"cat":"cuda")")
                            .span(R"("Device 0")", R"("NVTX 9")", "step", 0, 990, R"(,"cat":"nvtx")")
                            .read();
    expect_times(traces.at(0));
}

TEST(TraceDevices, SeveralDevicesAreRanks) {
    auto const traces = Events{}
                            .process("1", "/device:GPU:0")
                            .process("2", "/device:GPU:1")
                            .thread("1", "13", "Stream #13(Compute)")
                            .thread("2", "13", "Stream #13(Compute)")
                            .thread("2", "14", "Stream #14(Compute)")
                            .span("1", "13", "gemm", 100, 700)
                            .span("2", "13", "gemm", 100, 300)
                            .span("2", "14", reduce, 350, 200)
                            .read();
    ASSERT_EQ(traces.size(), 2U);
    EXPECT_EQ(traces[0].rank, 0);
    EXPECT_EQ(traces[1].rank, 1);
    EXPECT_EQ(breakdown_of(traces[0]).whole.compute, 700'000);
    expect_times(traces[1]);
}

TEST(TraceDevices, PredictedStepsAreReadBack) {
    auto const traces = Events{}
                            .process("0", "stage 0")
                            .process("1", "stage 1")
                            .thread("0", "0", "compute")
                            .thread("0", "1", "launch")
                            .thread("0", "2", "data parallel")
                            .thread("1", "6", "compute")
                            .span("0", "1", "launch", 0, 90, R"(,"cat":"launch")")
                            .span("0", "0", "query, key, value", 100, 300, R"(,"cat":"gemm")")
                            .span("0", "2", "gradients", 350, 200, R"(,"cat":"data")")
                            .span("1", "6", "query, key, value", 100, 100, R"(,"cat":"gemm")")
                            .read();
    ASSERT_EQ(traces.size(), 2U);
    expect_times(traces[0]);
    EXPECT_EQ(breakdown_of(traces[1]).whole.compute, 100'000);
}

TEST(TraceDevices, DrawnStepsAreReadBack) { // headroom trace --timeline
    auto const traces = Events{}
                            .process("0", "critical path")
                            .process("1", "rank 0")
                            .process("2", "rank 1")
                            .thread("1", "1", "stream 7")
                            .thread("1", "2", "stream 20")
                            .thread("2", "1", "stream 7")
                            .span("0", "0", "gemm", 0, 900, R"(,"cat":"compute","args":{"rank":0})")
                            .span("1", "1", "gemm", 100, 300, R"(,"cat":"compute")")
                            .span("1", "2", "an exchange", 350, 200, R"(,"cat":"communication")")
                            .span("2", "1", "gemm", 100, 100, R"(,"cat":"compute")")
                            .read();
    ASSERT_EQ(traces.size(), 2U);
    expect_times(traces[0]);
    EXPECT_EQ(breakdown_of(traces[1]).whole.compute, 100'000);
}

/// Traces that programs write of themselves have words alone.
TEST(TraceDevices, HostsSayCommunicationInWords) {
    std::vector<Events> const spellings{
        Events{}.span("0", "0", "forward", 100, 300).span("0", "1", "All-Reduce (grads)", 350, 200),
        Events{}.span("0", "0", "forward", 100, 300).span("0", "1", "MPI_Allreduce", 350, 200),
        Events{}.span("0", "0", "forward", 100, 300).span("0", "1", "grads", 350, 200, R"(,"cat":"comm")"),
        Events{}
            .thread("0", "1", "Communication")
            .span("0", "0", "forward", 100, 300)
            .span("0", "1", "grads", 350, 200),
        Events{}.span("0", "0", "forward", 100, 300).span("0", R"("comm")", "grads", 350, 200)};
    for (auto const& events : spellings) {
        auto const whole = breakdown_of(events.read().at(0)).whole;
        EXPECT_EQ(whole.compute, 300'000);
        EXPECT_EQ(whole.communication, 200'000);
        EXPECT_EQ(whole.overlap, 50'000);
    }
    auto const alone = Events{}.span("0", "0", "MPI_Init", 0, 100).span("0", "0", "np.broadcast_to", 100, 300).read();
    EXPECT_EQ(breakdown_of(alone.at(0)).whole.communication, 0);
}

TEST(TraceDevices, ProcessesThatAreCalledRanksAreRanks) {
    auto const traces = Events{}
                            .process("0", "rank 0")
                            .process("1", "rank 1")
                            .span("0", "0", "forward", 0, 100)
                            .span("1", "0", "allreduce", 0, 100)
                            .read();
    ASSERT_EQ(traces.size(), 2U);
    EXPECT_EQ(breakdown_of(traces[0]).whole.compute, 100'000);
    EXPECT_EQ(breakdown_of(traces[1]).whole.compute, 0);
}

TEST(TraceDevices, CategoriesGoBeforeNames) {
    auto const traces = Events{}
                            .process("0", "GPU0")
                            .span("0", "7", "gemm", 0, 100, R"(,"cat":"kernel","args":{"stream":7,"device":0})")
                            .span("0", "9", "something", 0, 900)
                            .read();
    EXPECT_EQ(breakdown_of(traces.at(0)).whole.compute, 100'000);
    auto const queues = Events{}
                            .thread("17", "3", "Stream 108") // of commands, by its category
                            .span("17", "3", "write", 0, 900, R"(,"cat":"mtia_ccp_events")")
                            .span("1", "1", "aten::mm", 0, 100, R"(,"cat":"cpu_op")")
                            .read();
    EXPECT_TRUE(breakdown_of(queues.at(0)).on_host);
}

} // namespace
} // namespace headroom
