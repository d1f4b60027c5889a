#include "headroom/document/chrome_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace headroom::document {
namespace {

TEST(ChromeTrace, PicosecondsAreMicrosecondsToTheLastDigit) {
    EXPECT_EQ(microseconds_of(0), "0");
    EXPECT_EQ(microseconds_of(1), "0.000001");
    EXPECT_EQ(microseconds_of(2'000'000), "2");
    EXPECT_EQ(microseconds_of(1'234'567), "1.234567");
    EXPECT_EQ(microseconds_of(1'200'000), "1.2");
    EXPECT_EQ(microseconds_of(9'007'199'254'740'993), "9007199254.740993"); // 2^53 + 1: no double holds it
}

TEST(ChromeTrace, WhatItHoldsAsJson) {
    ChromeTrace trace{"time", 1};
    trace.name_process(1, "stage 1");
    trace.name_thread(1, 7, "compute");
    std::array const arguments{TraceArgument{"micro_batch", std::int64_t{3}}, TraceArgument{"kind", "gemm"}};
    trace.add({.process = 1, .thread = 7, .name = "a \"b\"\n", .category = "gemm", .begin = "1.5", .duration = "2"},
              arguments);
    EXPECT_EQ(std::move(trace).text(),
              "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tick\":\"time\"},\"traceEvents\":[\n"
              "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"stage 1\"}},\n"
              "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,\"args\":{\"sort_index\":1}},\n"
              "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":7,\"args\":{\"name\":\"compute\"}},\n"
              "{\"ph\":\"X\",\"name\":\"a \\\"b\\\"\\n\",\"cat\":\"gemm\",\"pid\":1,\"tid\":7,\"ts\":1.5,\"dur\":2,"
              "\"args\":{\"micro_batch\":3,\"kind\":\"gemm\"}}\n]}\n");
}

TEST(ChromeTrace, WithoutEventsItIsOneToo) {
    EXPECT_EQ(ChromeTrace{"time"}.text(),
              "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tick\":\"time\"},\"traceEvents\":[\n\n]}\n");
}

} // namespace
} // namespace headroom::document
