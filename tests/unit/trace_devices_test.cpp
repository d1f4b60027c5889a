// Profilers that tell device work by the names of processes and threads: small traces of their shapes, by hand.

#include "headroom/io/trace.hpp"
#include "headroom/trace/trace_breakdown.hpp"
#include "headroom/trace/trace_collectives.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
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
    [[nodiscard]] std::vector<RankTrace> read() const {
        return io::read_traces("{\"traceEvents\": [" + text_ + "]}", "trace.json");
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
                            .span("5", "0", "hcom_allReduce__610_0_1", 350, 200)
                            .span("5", "1", "Reduce_Inline", 350, 2000)
                            .span("6", "1", "Free", 550, 450)
                            .read();
    expect_times(traces.at(0));
    EXPECT_EQ(breakdown_of(traces[0]).steps.size(), 1U);
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
