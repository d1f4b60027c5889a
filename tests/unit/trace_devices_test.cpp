// Profilers that tell device work by the names of processes and threads: small traces of their shapes, by hand.

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

namespace {

/// Events of a trace, in the order in which they are given.
class Events {
public:
    Events& process(std::string_view pid, std::string_view name) {
        return add(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", pid, name));
    }
    Events& thread(std::string_view pid, std::string_view tid, std::string_view name) {
        return add(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", pid,
                               tid, name));
    }
    Events& span(std::string_view pid, std::string_view tid, std::string_view name, int begin, int length,
                 std::string_view more = "") {
        return add(fmt::format(R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{}{}}})", name, pid, tid,
                               begin, length, more));
    }
    /// `more`: keys of the file, each with a comma behind it.
    [[nodiscard]] std::vector<RankTrace> read(std::string const& more = "") const {
        return io::read_traces("{" + more + "\"traceEvents\": [" + text_ + "]}", "trace.json");
    }
    Events& launch(std::string_view tid, int begin, int correlation) {
        return span("900", tid, "cudaLaunchKernel", begin, 3,
                    fmt::format(R"(,"cat":"cuda_runtime","args":{{"correlation":{}}})", correlation));
    }
    Events& kernel(int device, int begin, int length, int correlation = 0) {
        return span(
            std::to_string(device), "7", "gemm", begin, length,
            fmt::format(R"(,"cat":"kernel","args":{{"device":{},"stream":7,"correlation":{}}})", device, correlation));
    }

private:
    Events& add(std::string const& event) {
        text_ += (text_.empty() ? "" : ",") + event;
        return *this;
    }
    std::string text_;
};

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

std::vector<std::int64_t> step_numbers(RankTrace const& trace) {
    std::vector<std::int64_t> numbers;
    for (auto const& step : breakdown_of(trace).steps) { numbers.push_back(step.detected ? -1 : step.step.number); }
    return numbers;
}

using Numbers = std::vector<std::int64_t>;

/// Two devices that work one after the other, in two steps of 1000 us.
Events layers_on_two_devices() {
    Events events;
    for (int step = 0; step < 2; ++step) {
        int const at = 1000 * step;
        events.span("900", "900", fmt::format("ProfilerStep#{}", step), at, 1000, R"(,"cat":"user_annotation")")
            .launch("900", at + 10, 10 * step + 1)
            .launch("900", at + 20, 10 * step + 2)
            .kernel(0, at + 100, 400, 10 * step + 1)
            .kernel(1, at + 500, 300, 10 * step + 2);
    }
    return events;
}

TEST(TraceDevices, OfOneProcessAreRanksWithItsSteps) {
    auto const traces = layers_on_two_devices().read(
        R"("schemaVersion":1,"deviceProperties":[{"id":0,"name":"A100"},{"id":1,"name":"H100"}],)");
    ASSERT_EQ(traces.size(), 2U);
    for (std::int64_t rank = 0; rank < 2; ++rank) {
        RankTrace const& trace = traces[static_cast<std::size_t>(rank)];
        auto const breakdown = breakdown_of(trace);
        EXPECT_EQ(trace.rank, rank);
        EXPECT_EQ(trace.device.name, rank == 0 ? "A100" : "H100");
        EXPECT_EQ(breakdown.whole.compute, rank == 0 ? 800'000 : 600'000);
        EXPECT_EQ(breakdown.without_launch, 0);
        EXPECT_EQ(step_numbers(trace), (Numbers{0, 1}));
        EXPECT_EQ(breakdown.steps.at(1).shares.compute, rank == 0 ? 400'000 : 300'000);
    }
}

TEST(TraceDevices, HaveTheThreadsThatDriveThem) {
    auto const traces = Events{}
                            .span("900", "1", "ProfilerStep#4", 0, 1000, R"(,"cat":"user_annotation")")
                            .launch("1", 10, 1)
                            .launch("2", 20, 2) // a thread of its own for the second device
                            .kernel(0, 100, 400, 1)
                            .kernel(1, 100, 300, 2)
                            .read();
    ASSERT_EQ(traces.size(), 2U);
    auto const calls = [](RankTrace const& trace) {
        return std::count(trace.kind.begin(), trace.kind.end(), SpanKind::launch);
    };
    EXPECT_EQ(calls(traces[0]), 1);
    EXPECT_EQ(calls(traces[1]), 2) << "the thread of the steps is everybody's";
    EXPECT_EQ(step_numbers(traces[1]), (Numbers{4}));
}

TEST(TraceDevices, OfOneStatedRankAreNamedInAnIssue) {
    auto const traces =
        layers_on_two_devices().read(R"("schemaVersion":1,"distributedInfo":{"rank":3,"world_size":8},)");
    ASSERT_EQ(traces.size(), 1U);
    EXPECT_EQ(traces[0].rank, 3);
    ASSERT_EQ(traces[0].issues.size(), 1U);
    EXPECT_EQ(traces[0].issues[0].kind, "several devices in one rank, read as one");
    EXPECT_EQ(traces[0].issues[0].count, 2U);
}

TEST(TraceDevices, WithStrayKernelsAloneAreNoRanks) {
    auto const traces = Events{}.kernel(0, 10, 2).kernel(5, 100, 400).read();
    ASSERT_EQ(traces.size(), 1U);
    EXPECT_TRUE(traces[0].issues.empty());
}

/// Two devices of XLA, each with a kernel of 300 us in each of three steps.
Events two_devices_of_xla() {
    Events events;
    for (int device = 0; device < 2; ++device) {
        auto const pid = std::to_string(device + 1);
        events.process(pid, fmt::format("/device:GPU:{}", device)).thread(pid, "7", "Stream #7(Compute)");
        events.thread(pid, "20", "Steps");
        for (int step = 0; step < 3; ++step) { events.span(pid, "7", "fusion", 1000 * step + 100, 300); }
    }
    return events.process("701", "/host:CPU");
}

TEST(TraceDevices, OfXlaHaveTheStepsOfTheirHost) {
    auto named = two_devices_of_xla(), stated = two_devices_of_xla(), parts = two_devices_of_xla();
    for (int step = 0; step < 3; ++step) {
        named.span("701", "1", fmt::format("train {}", 10 + step), 1000 * step, 900);
        auto const number = fmt::format(R"(,"args":{{"step_num":"{}"}})", 10 + step);
        stated.span("701", "1", "train", 1000 * step, 900, number);
        parts.span("701", "1", "forward", 1000 * step, 400, number);
        parts.span("701", "1", "backward", 1000 * step + 400, 500, number);
    }
    for (auto const& events : {named, stated}) {
        auto const traces = events.read();
        ASSERT_EQ(traces.size(), 2U);
        for (auto const& trace : traces) {
            EXPECT_EQ(step_numbers(trace), (Numbers{10, 11, 12}));
            EXPECT_EQ(breakdown_of(trace).steps[1].shares.compute, 300'000);
        }
    }
    auto const host_work = [](RankTrace const& trace) {
        return std::count(trace.kind.begin(), trace.kind.end(), SpanKind::host);
    };
    EXPECT_EQ(host_work(stated.read().at(1)), 0) << "a step is no work of the host";
    auto const of_parts = parts.read();
    EXPECT_EQ(host_work(of_parts.at(0)), 6);
    for (auto const number : step_numbers(of_parts[0])) { EXPECT_EQ(number, -1) << "parts of steps are none"; }
}

TEST(TraceDevices, OfXlaDrawStepsWhereTheHostNamesNone) {
    auto events = two_devices_of_xla();
    for (int step = 0; step < 3; ++step) {
        events.span("1", "20", std::to_string(step + 5), 1000 * step + 100, 300);
        events.span("2", "20", std::to_string(step + 5), 1000 * step + 100, 300);
    }
    auto const drawn = events.read();
    ASSERT_EQ(drawn.size(), 2U);
    EXPECT_EQ(step_numbers(drawn[0]), (Numbers{5, 6, 7}));
    EXPECT_EQ(step_numbers(drawn[1]), (Numbers{5, 6, 7}));
    auto const named = events.span("701", "1", "train 0", 0, 900).span("701", "1", "train 1", 1000, 900).read();
    EXPECT_EQ(step_numbers(named.at(1)), (Numbers{0, 1}));
}

} // namespace
} // namespace headroom
