// Single events, by hand.

#include "traces/byte_source.hpp"
#include "traces/chrome_numbers.hpp"
#include "traces/chrome_text.hpp"
#include "traces/trace_formats.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"
#include "headroom/trace/trace_breakdown.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

std::vector<RankTrace> read(std::string const& events, std::string const& more = "") {
    return io::read_traces("{\"traceEvents\": [" + events + "]" + more + "}", "trace.json");
}

std::uint64_t issues(RankTrace const& trace, std::string_view kind) {
    auto const found =
        std::find_if(trace.issues.begin(), trace.issues.end(), [&](TraceIssue const& one) { return one.kind == kind; });
    return found == trace.issues.end() ? 0 : found->count;
}

TEST(ChromeEvents, TimesAreExact) {
    auto const thousandths = [](std::string_view text) {
        std::int64_t value = -1;
        return io::read_thousandths(text, value) ? value : -1;
    };
    EXPECT_EQ(thousandths("1712195495814543.873"), 1712195495814543873); // beyond 2^53: a double would lose the end
    EXPECT_EQ(thousandths("1.5e3"), 1'500'000);
    EXPECT_EQ(thousandths("12.3456"), 12346); // half of a nanosecond and more goes up
    EXPECT_EQ(thousandths("12.3455"), 12346);
    EXPECT_EQ(thousandths("12.3454999999999999999999999"), 12345);
    EXPECT_EQ(thousandths("0.0004"), 0);
    EXPECT_EQ(thousandths("1e30"), -1);
    EXPECT_EQ(thousandths("1.2.3"), -1);
    auto const traces = read(R"({"ph":"X","name":"a","ts":1712195495814543.873,"dur":0.001,"pid":1,"tid":2})");
    EXPECT_EQ(traces[0].epoch_ns, 1712195495814543873);
    EXPECT_EQ(traces[0].timeline.end[0], 1);
    EXPECT_TRUE(traces[0].clock_is_absolute);
}

/// A kernel on a stream, and the call that launched it.
std::string kernel(std::string const& name, std::int64_t begin, std::int64_t length, int stream, int correlation) {
    return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","pid":0,"tid":)" + std::to_string(stream) +
           R"(,"ts":)" + std::to_string(begin) + R"(,"dur":)" + std::to_string(length) +
           R"(,"args":{"device":0,"stream":)" + std::to_string(stream) + R"(,"correlation":)" +
           std::to_string(correlation) + "}}";
}
std::string launch(std::int64_t begin, int correlation) {
    return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" + std::to_string(begin) +
           R"(,"dur":5,"args":{"correlation":)" + std::to_string(correlation) + "}}";
}

TEST(ChromeEvents, EventsWithoutATimeOfTheRecordingAreLeftOut) {
    std::int64_t const day = 1'698'107'929'000'000, boot = 3'600'000'000; // microseconds
    for (std::int64_t const at : {day, boot}) {
        auto const good = kernel("gemm", at + 100, 50, 7, 1) + "," + kernel("gemm", at + 200, 100, 7, 2);
        for (auto const& bad :
             {kernel("lost", 0, 0, 7, 3) + "," + kernel("lost", 0, 0, 7, 4), // of no length, and of one
              kernel("lost", 0, 5, 7, 3) + "," + launch(0, 3)}) {
            auto const traces = read(bad + "," + good);
            EXPECT_EQ(issues(traces[0], "event without time"), 2U) << at;
            EXPECT_EQ(traces[0].size(), 2U);
            EXPECT_EQ(traces[0].epoch_ns, (at + 100) * 1000);
            EXPECT_EQ(traces[0].clock_is_absolute, at == day);
        }
        for (std::int64_t const far : {std::int64_t{3'900'000'000'000'000}, std::int64_t{-1}}) {
            auto const traces = read(good + "," + kernel("lost", far < 0 ? at - 40'000'000'000'000 : far, 5, 7, 3));
            EXPECT_EQ(issues(traces[0], "event of another epoch"), 1U) << at;
            EXPECT_EQ(traces[0].size(), 2U);
        }
    }
    // Clocks that begin with the recording begin with zero.
    auto const relative = read(kernel("gemm", 0, 50, 7, 1) + "," + kernel("gemm", 200, 100, 7, 2));
    EXPECT_EQ(relative[0].size(), 2U);
    EXPECT_TRUE(relative[0].issues.empty());
}

TEST(ChromeEvents, KernelsOfAStreamEndWhereTheNextBegins) {
    auto const traces = read(kernel("long", 100, 1'600'000, 7, 1) + "," + kernel("gemm", 200, 100, 7, 2) + "," +
                             kernel("gemm", 300, 100, 7, 3) + "," + kernel("other", 450, 50, 20, 4) + "," +
                             kernel("gemm", 500, 100, 7, 5));
    EXPECT_EQ(issues(traces[0], "kernels overlap on one stream"), 1U);
    EXPECT_EQ(traces[0].timeline.end[0] - traces[0].timeline.begin[0], 100'000);
    EXPECT_NE(traces[0].issues[0].first_at.find("1599600000 ns of kernels around others are not counted"),
              std::string::npos)
        << traces[0].issues[0].first_at;
    auto const partly = read(kernel("late", 160, 50, 7, 2) + "," + kernel("early", 100, 70, 7, 1)); // not in order
    EXPECT_EQ(issues(partly[0], "kernels overlap on one stream"), 1U);
    EXPECT_EQ(partly[0].timeline.end[1] - partly[0].timeline.begin[1], 60'000);
    for (auto const& fine : {
             kernel("a", 100, 70, 7, 1) + "," + kernel("b", 160, 50, 7, 1),  // of one launch: a graph
             kernel("a", 100, 61, 7, 1) + "," + kernel("b", 160, 50, 7, 2),  // clocks round
             kernel("a", 100, 70, 7, 1) + "," + kernel("b", 160, 50, 20, 2), // another stream
             kernel("b", 300, 50, 7, 2) + "," + kernel("a", 100, 70, 7, 1),  // not in order
         }) {
        EXPECT_EQ(issues(read(fine)[0], "kernels overlap on one stream"), 0U) << fine;
    }
}

TEST(ChromeEvents, SizesAreThoseOfTheWholeTextHoweverItIsRead) {
    std::string events = kernel("gemm", 100, 50, 7, 1);
    for (int i = 2; i < 4000; ++i) { events += "," + kernel("gemm", 100 * i, 50, 7, i); }
    auto const traces = read(events);
    EXPECT_EQ(traces[0].bytes_read, events.size() + std::string_view{R"({"traceEvents": []})"}.size());
    EXPECT_EQ(traces[0].text_bytes, traces[0].bytes_read);
}

TEST(ChromeEvents, BeginsFindTheirEnds) {
    auto const traces =
        read(R"({"ph":"B","name":"outer","pid":1,"tid":1,"ts":1},{"ph":"B","name":"inner","pid":1,"tid":1,"ts":2},
        {"ph":"B","name":"other","pid":1,"tid":2,"ts":2},{"ph":"E","pid":1,"tid":1,"ts":3},{"ph":"E","pid":1,"tid":1,"ts":5},
        {"ph":"E","pid":1,"tid":1,"ts":6})");
    auto const& line = traces[0].timeline;
    ASSERT_EQ(line.size(), 2U); // "other" never ends
    EXPECT_EQ(line.end[0] - line.begin[0], 4000);
    EXPECT_EQ(line.end[1] - line.begin[1], 1000);
    EXPECT_EQ(issues(traces[0], "begin without end"), 1U);
    EXPECT_EQ(issues(traces[0], "end without begin"), 1U);
}

TEST(ChromeEvents, AsynchronousBeginsFindTheirEndsByTheirIdentifiers) {
    auto const traces = // two on one thread, the first of which ends first
        read(R"({"ph":"b","id":1,"cat":"comm","name":"one","pid":1,"tid":1,"ts":1},
        {"ph":"b","id":"0x2","cat":"comm","name":"two","pid":1,"tid":1,"ts":2},
        {"ph":"e","id":1,"cat":"comm","name":"one","pid":1,"tid":1,"ts":5},
        {"ph":"e","id":"0x2","cat":"comm","name":"two","pid":1,"tid":1,"ts":9})");
    auto const& line = traces[0].timeline;
    ASSERT_EQ(line.size(), 2U);
    EXPECT_EQ(line.end[0] - line.begin[0], 4000);
    EXPECT_EQ(line.end[1] - line.begin[1], 7000);
    EXPECT_TRUE(traces[0].issues.empty());
}

TEST(ChromeEvents, RanksInOneFileAreApart) {
    auto const traces =
        read(R"({"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":1,"args":{"rank":1,"stream":7}},
        {"ph":"X","cat":"kernel","name":"b","pid":1,"tid":7,"ts":2,"dur":1,"args":{"rank":0,"stream":7}},
        {"ph":"X","cat":"gpu_memset","name":"c","pid":1,"tid":7,"ts":3,"dur":1,"args":{"bytes":5}})");
    ASSERT_EQ(traces.size(), 2U);
    EXPECT_EQ(traces[0].rank, 0);
    EXPECT_EQ(traces[0].size(), 2U); // what states no rank goes with its process
    EXPECT_EQ(traces[0].copies.at(0).span, 1U);
    EXPECT_EQ(traces[1].rank, 1);
}

TEST(ChromeEvents, WaitsNameTheStreamAndTheRecord) {
    std::string const row = R"({"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":7,"ts":3,"dur":1,
        "args":{"cuda_sync_kind":"Stream Wait Event","stream":7,"correlation":9,"device":0,"wait_on_stream":)";
    std::string const work = R"({"ph":"X","cat":"kernel","name":"a","pid":0,"tid":20,"ts":1,"dur":1,
        "args":{"device":0,"stream":20,"correlation":4}},)";
    auto const events = work + row + R"(20,"wait_on_cuda_event_record_corr_id":5}},)" + row +
                        R"(20,"wait_on_cuda_event_record_corr_id":-1}},)" + row +
                        R"(-1,"wait_on_cuda_event_record_corr_id":-1}},)" + row + "99}}";
    for (std::size_t const block : {std::size_t{64}, std::size_t{1} << 20}) {
        io::TraceReading reading;
        reading.block = block;
        reading.threads = 2;
        auto const trace = io::read_traces("[" + events + "]", "trace.json", reading).at(0);
        ASSERT_EQ(trace.size(), 5U);
        ASSERT_EQ(trace.waits.size(), 2U); // "none" and a stream on which nothing ran say nothing
        EXPECT_EQ(trace.kind[1], SpanKind::device_wait);
        EXPECT_EQ(trace.waits[0].span, 1U);
        EXPECT_EQ(trace.lanes[trace.waits[0].lane].thread, 20);
        EXPECT_EQ(trace.waits[0].record, 5U);
        EXPECT_EQ(trace.waits[1].span, 2U);
        EXPECT_EQ(trace.waits[1].record, 0U);
    }
}

TEST(ChromeEvents, CollectivesSayWhatTheyMove) {
    auto const traces = read(
        R"({"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":9,"tid":9,"ts":1,"dur":1,"args":{"External id":5,
            "Collective name":"allreduce","In msg nelems":64,"Out msg nelems":64,"Group size":2,"dtype":"BFloat16"}},
        {"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic","pid":0,"tid":7,"ts":2,"dur":1,"args":{"External id":5,"stream":7}},
        {"ph":"X","cat":"kernel","name":"some kernel","pid":0,"tid":7,"ts":4,"dur":1,"args":{"stream":7,
            "Collective name":"_allgather_base","Process Group Name":"1","Process Group Ranks":"[0, 3]","Seq":8}})");
    auto const& trace = traces.at(0);
    ASSERT_EQ(trace.collectives.size(), 2U);
    EXPECT_EQ(trace.kind[2], SpanKind::communication); // its name does not say so
    EXPECT_EQ(trace.collectives[0].span, 1U);          // from its call on the host
    EXPECT_EQ(trace.collectives[0].element_bytes, 2);
    EXPECT_EQ(trace.collectives[1].sequence, 8);
    EXPECT_EQ(trace.groups[trace.collectives[1].group].ranks, (std::vector<std::int32_t>{0, 3}));
}

TEST(ChromeEvents, SendsAndReceivesNameTheirPeers) {
    auto const what_of = [](std::string const& arguments) {
        auto const traces = read(R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv","pid":0,"tid":7,"ts":4,
            "dur":1,"args":{"stream":7,"Process Group Name":"3","Group size":4,"Rank":1,)" +
                                 arguments + "}}");
        return traces.at(0).collective_names.at(traces[0].collectives.at(0).what);
    };
    EXPECT_EQ(what_of(R"("Collective name":"send","Dst Rank":5)"), "send ->5");
    EXPECT_EQ(what_of(R"("Collective name":"recv","Src Rank":"4")"), "recv <-4");
    EXPECT_EQ(what_of(R"("Collective name":"recv","Src Rank":4,"Dst Rank":5)"), "recv <-4");
    EXPECT_EQ(what_of(R"("Collective name":"send","Src Rank":4,"Dst Rank":5)"), "send ->5");
    EXPECT_EQ(what_of(R"("Collective name":"send","Dst Rank":-1)"), "send");
    EXPECT_EQ(what_of(R"("Collective name":"broadcast","Src Rank":4)"), "broadcast");
}

TEST(ChromeEvents, HostsCommunicateWhereNoDeviceDoes) {
    constexpr auto gloo = R"({"ph":"X","name":"gloo:all_reduce","pid":1,"tid":1,"ts":1,"dur":1})";
    constexpr auto kernel = R"({"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":1})";
    EXPECT_EQ(read(gloo)[0].kind[0], SpanKind::communication);
    EXPECT_EQ(read(std::string(gloo) + "," + kernel)[0].kind[0], SpanKind::host);
}

TEST(ChromeEvents, CallsOfPyTorchThatStartTransfersAreNone) {
    constexpr auto events = R"({"name":"c10d::allreduce_","ph":"X","ts":10,"dur":2,"tid":1,"pid":"CPU functions"},
        {"name":"gloo:all_reduce","ph":"X","ts":11,"dur":9,"tid":2,"pid":"CPU functions"},
        {"name":"aten::mm","ph":"X","ts":13,"dur":5,"tid":1,"pid":"CPU functions"})";
    auto const whole = trace::breakdown_of(read(events).at(0)).whole;
    EXPECT_EQ(whole.count[1], 1);
    EXPECT_EQ(whole.communication, 9'000);
    EXPECT_EQ(whole.exposed, 4'000);
}

TEST(ChromeEvents, ThreadsThatStartTransfersGoOn) {
    auto const event = [](std::string const& category, std::string const& name, int begin, int end) {
        return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":1,"tid":1,"ts":)" +
               std::to_string(begin) + R"(,"dur":)" + std::to_string(end - begin) + "}";
    };
    auto const traces =
        read(event("cpu_op", "aten::mm", 100, 200) + "," + event("cpu_op", "c10d::allreduce_", 140, 145) + "," +
             event("user_annotation", "gloo:all_reduce", 150, 400) + "," +
             event("user_annotation", "gloo:all_reduce", 250, 500) + "," + event("cpu_op", "aten::mm", 260, 300));
    auto const whole = trace::breakdown_of(traces.at(0)).whole;
    EXPECT_EQ(whole.count[1], 2);
    EXPECT_EQ(whole.compute, 135'000);
    EXPECT_EQ(whole.communication, 350'000);
    EXPECT_EQ(whole.exposed, 260'000);
}

TEST(ChromeEvents, DevicesThatWereNotRecordedAreMissing) {
    auto const traces = read(R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5},
        {"ph":"X","cat":"user_annotation","name":"nccl:all_reduce","pid":1,"tid":1,"ts":7,"dur":2},
        {"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":7,"dur":1,
         "args":{"Collective name":"allreduce"}})");
    EXPECT_TRUE(traces.at(0).work_missing);
    EXPECT_TRUE(traces[0].collectives.empty());
    EXPECT_EQ(issues(traces[0], "transfers of a device that was not recorded"), 1U);
    EXPECT_EQ(trace::breakdown_of(traces[0]).whole.communication, 0);
}

TEST(ChromeEvents, DevicesOfPyTorchBeforeKineto) {
    auto const traces = read(R"({"ph":"X","name":"aten::mm","pid":"CPU functions","tid":1,"ts":1,"dur":5},
        {"ph":"X","name":"aten::mm","pid":"CUDA functions","tid":0,"ts":50,"dur":400})");
    auto const breakdown = trace::breakdown_of(traces.at(0));
    EXPECT_FALSE(breakdown.on_host);
    EXPECT_EQ(breakdown.whole.compute, 400'000);
}

TEST(ChromeEvents, CategoriesOfRocprofTellDeviceWork) {
    auto const event = [](std::string const& category, std::string const& name, int thread, int begin, int end) {
        return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":1,"tid":)" +
               std::to_string(thread) + R"(,"ts":)" + std::to_string(begin) + R"(,"dur":)" +
               std::to_string(end - begin) + "}";
    };
    for (std::string const before : {"", "rocm_"}) {
        auto const traces = read(event(before + "hip_api", "hipStreamSynchronize", 9, 0, 900) + "," +
                                 event(before + "kernel_dispatch", "Cijk_Ailk_Bljk_SB", 2, 50, 400) + "," +
                                 event(before + "kernel_dispatch", "ncclDevKernel_Generic_4(x)", 3, 300, 600) + "," +
                                 event(before + "memory_copy", "MEMORY_COPY_HOST_TO_DEVICE", 4, 700, 800));
        EXPECT_EQ(traces.at(0).format, "chrome");
        auto const breakdown = trace::breakdown_of(traces[0]);
        EXPECT_FALSE(breakdown.on_host);
        EXPECT_EQ(breakdown.whole.compute, 350'000);
        EXPECT_EQ(breakdown.whole.exposed, 200'000);
        EXPECT_EQ(breakdown.whole.memory, 100'000);
    }
}

TEST(ChromeEvents, AgentsOfRocprofAreRanks) {
    auto const event = [](std::string const& category, char const* key, int agent, int begin, int end) {
        return R"({"ph":"X","cat":")" + category + R"(","name":"k","pid":1,"tid":)" + std::to_string(agent) +
               R"(,"ts":)" + std::to_string(begin) + R"(,"dur":)" + std::to_string(end - begin) + R"(,"args":{")" +
               key + "\":" + std::to_string(agent) + "}}";
    };
    auto const traces =
        read(event("kernel_dispatch", "agent", 4, 0, 400) + "," + event("kernel_dispatch", "agent", 5, 0, 300) + "," +
             event("memory_copy", "dst_agent", 5, 300, 350));
    ASSERT_EQ(traces.size(), 2U);
    EXPECT_EQ(trace::breakdown_of(traces[0]).whole.compute, 400'000);
    EXPECT_EQ(trace::breakdown_of(traces[1]).whole.compute, 300'000);
    EXPECT_EQ(trace::breakdown_of(traces[1]).whole.memory, 50'000);
}

TEST(ChromeEvents, NumbersThatAreNoRanksStateNone) {
    for (std::string const rank : {"-1", "1000000000000", "null"}) {
        auto const traces = read(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"rank":)" + rank + "}}",
                                 R"(,"distributedInfo":{"rank":)" + rank + "}");
        EXPECT_FALSE(traces.at(0).rank) << rank;
    }
}

TEST(ChromeEvents, DamageIsCountedWithItsPlace) {
    auto const traces =
        read(R"json({"ph":"X","name":"a","ts":"1","dur":-1,"pid":1,"tid":1},{"ph":"X","name":"b","dur":1},
        {"ph":"X","name":"c","ts":1} {"ph":"X","name":"L("x", 1)","ts":1,"dur":1},
        {
    "ph" : "X", "name" : "d", "ts" : 1, "args" : {"x":[{"ph":1},{}]
        ,{
            "ph" : "X", "name" : "e", "ts" : 1, "dur" : 1, "pid" : 1, "tid" : 1},)json");
    auto const& trace = traces.at(0);
    for (auto const kind : {"number in quotes", "negative duration", "event without time", "event without duration",
                            "comma missing", "unreadable event", "comma at the end"}) {
        EXPECT_EQ(issues(trace, kind), 1U) << kind;
    }
    EXPECT_EQ(trace.issues.front().first_at.substr(0, 17), "trace.json: byte ");
    EXPECT_EQ(trace.timeline.names.back(), "e");
}

TEST(ChromeEvents, NamesAreUtf8) {
    EXPECT_EQ(io::unescaped("caf\\u00e9 \\ud83d\\ude00 \\ud83d \xff \\q \\\\n"),
              "caf\xc3\xa9 \xf0\x9f\x98\x80 \xef\xbf\xbd \xef\xbf\xbd \\q \\n");
    // Two spellings of one name are one name.
    auto const traces = read(R"({"ph":"X","name":"a/b","ts":1,"dur":1},{"ph":"X","name":"a\/b","ts":1,"dur":1})");
    EXPECT_EQ(traces[0].timeline.names.size(), 1U);
}

TEST(ChromeEvents, WhatHoldsNoEventSaysSo) {
    EXPECT_TRUE(io::looks_like_chrome("\xef\xbb\xbf [\n{\"ph\": \"X\""));
    EXPECT_FALSE(io::looks_like_chrome("{\"schema\": \"1.0.1\", \"nodes\": []}"));
    for (char const* const events :
         {"", R"({"name":"process_name","ph":"M","pid":0,"tid":0,"args":{"name":"python"}})"}) {
        try {
            read(events);
            FAIL() << events;
        } catch (InputError const& error) { EXPECT_EQ(error.fault(), Fault::insufficient); }
    }
}

} // namespace
} // namespace headroom
