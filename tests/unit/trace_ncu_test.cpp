#include "support/trace_files.hpp"

#include <gmock/gmock.h>

namespace headroom {

using namespace headroom::trace;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NcuCsv, DetailsGiveTimeWorkAndTraffic) {
    auto const traces = test::traces_in(io::read_ncu, test::trace_sample("ncu_details.csv"), "ncu.csv");
    ASSERT_EQ(traces.size(), 1U);
    RankTrace const& trace = traces[0];
    EXPECT_THAT(test::spans_of(trace), ElementsAre("compute gemm(float const*, float 0-1234560 @stream 7",
                                                   "compute copy<\"half\">(int) 1234560-1235360 @stream 7",
                                                   "compute late(int) 1235360-1235360 @stream 7"));
    ASSERT_EQ(trace.counted.size(), 2U);
    EXPECT_DOUBLE_EQ(trace.counted[0].flops, 4'001'000.0); // an addition is one, a multiply-add two
    EXPECT_DOUBLE_EQ(trace.counted[0].bytes, 3'000'000.0);
    EXPECT_DOUBLE_EQ(trace.counted[1].bytes, 800'000.0); // 1000 GB/s for 800 ns
    EXPECT_TRUE(trace.only_sums);
    auto issues = test::issues_of(trace);
    EXPECT_EQ(issues["unit that is not known"], 1U);
    EXPECT_EQ(test::first_place(trace, "unit that is not known"), "ncu.csv:12");
    EXPECT_EQ(issues["kernel without a duration"], 1U);
}

TEST(NcuCsv, RowsOfMetricsEndBeforeTheColumnsOfRules) {
    std::string const head = "\"ID\",\"Process ID\",\"Kernel Name\",\"Stream\",\"Section Name\",\"Metric Name\","
                             "\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"\n";
    std::string const rule =
        "\"0\",\"7\",\"gemm\",\"7\",\"SpeedOfLight\",\"\",\"\",\"\",\"Bound\",\"OPT\",\"small, so\"\n";
    for (char const* const end : {"", ",", ",\"\"", ",,"}) {
        std::string const metrics = "\"0\",\"7\",\"gemm\",\"7\",\"S\",\"Duration\",\"us\",\"150\"" + std::string{end} +
                                    "\n" + rule + "\"1\",\"7\",\"relu\",\"7\",\"S\",\"Duration\",\"ns\",\"60000\"" +
                                    end + "\n";
        auto const traces = test::traces_in(io::read_ncu, head + metrics, "ncu.csv");
        EXPECT_THAT(test::spans_of(traces.at(0)),
                    ElementsAre("compute gemm 0-150000 @stream 7", "compute relu 150000-210000 @stream 7"))
            << end;
        EXPECT_EQ(traces[0].issues.size(), 1U) << "that kernels run one at a time, and nothing else";
    }
    // A row that ends before its value has none.
    auto const cut = test::traces_in(io::read_ncu,
                                     head + "\"0\",\"7\",\"gemm\",\"7\",\"S\",\"Duration\",\"us\",\"150\"\n" +
                                         "\"1\",\"7\",\"relu\",\"7\",\"S\",\"Duration\"\n",
                                     "ncu.csv");
    EXPECT_EQ(test::issues_of(cut.at(0))["row that does not fit the header"], 1U);
}

TEST(NcuCsv, TheRawPageAndDecimalCommas) {
    auto const traces = test::traces_in(io::read_ncu, test::trace_sample("ncu_raw.csv"), "ncu.csv");
    ASSERT_EQ(traces.size(), 2U); // a process on a device is a rank
    EXPECT_THAT(
        test::spans_of(traces[0]),
        ElementsAre("compute gemm 0-12250 @stream 7", "communication ncclDevKernel_AllReduce 12250-112250 @stream 20"));
    // 10 fused operations a cycle over 1000 cycles, and a million in tensor cores.
    EXPECT_DOUBLE_EQ(traces[0].counted.at(0).flops, 1'020'000.0);
    EXPECT_DOUBLE_EQ(traces[0].counted.at(0).bytes, 3'500'000.0);
    EXPECT_THAT(test::spans_of(traces[1]), ElementsAre("compute gemm 0-10000 @stream 7"));
}

TEST(NcuCsv, PlainCellsHaveUnitsToo) { // as other tools save the raw page
    auto const traces = test::traces_in(io::read_ncu,
                                        "ID,Kernel Name,Stream,dram__bytes.sum,gpu__time_duration.sum\n"
                                        ",,,Kbyte,us\n0,gemm,7,3,12.25\n",
                                        "ncu.csv");
    EXPECT_THAT(test::spans_of(traces.at(0)), ElementsAre("compute gemm 0-12250 @stream 7"));
    EXPECT_DOUBLE_EQ(traces[0].counted.at(0).bytes, 3000.0);
}

TEST(NcuCsv, FrequenciesAreInGhz) { // the page of details since 2022; cycles are told by them
    auto const traces = test::traces_in(io::read_ncu,
                                        "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                                        "\"0\",\"gemm\",\"Duration\",\"us\",\"1\"\n"
                                        "\"0\",\"gemm\",\"SM Frequency\",\"Ghz\",\"1.5\"\n"
                                        "\"0\",\"gemm\",\"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum."
                                        "per_cycle_elapsed\",\"inst/cycle\",\"10\"\n",
                                        "ncu.csv");
    EXPECT_EQ(test::issues_of(traces.at(0))["unit that is not known"], 0U);
    EXPECT_DOUBLE_EQ(traces[0].counted.at(0).flops, 15'000.0);
}

TEST(NcuCsv, CyclesAreTimeByTheStatedClockOnly) {
    std::string const head = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                             "\"0\",\"gemm\",\"gpu__time_duration.sum\",\"cycle\",\"3000\"\n";
    auto const traces =
        test::traces_in(io::read_ncu, head + "\"0\",\"gemm\",\"SM Frequency\",\"Ghz\",\"1.5\"\n", "ncu.csv");
    EXPECT_THAT(test::spans_of(traces.at(0)), ElementsAre(HasSubstr("gemm 0-2000 ")));
    EXPECT_THAT(test::trace_refusal(io::read_ncu, head, Fault::insufficient), HasSubstr("no kernel has a duration"));
}

TEST(NcuCsv, DirtyRowsAreCounted) {
    std::string text = test::trace_sample("ncu_details.csv");
    text.insert(text.find("\"1\",\"4711\""), "hello from the program\n\"3\",\"4711\",\"short row\"\n\"4\",\"open\n");
    text += "\"5\",\"4711\",\"python3";
    auto const traces = test::traces_in(io::read_ncu, text, "ncu.csv");
    auto issues = test::issues_of(traces[0]);
    EXPECT_EQ(issues["line that is no row"], 1U);
    EXPECT_EQ(test::first_place(traces[0], "line that is no row"), "ncu.csv:10");
    EXPECT_EQ(issues["row that does not fit the header"], 1U);
    EXPECT_GE(issues["row with an open quote"], 1U);
}

TEST(NcuCsv, WhatIsNoTableIsRefusedInOneLine) {
    EXPECT_THAT(test::trace_refusal(io::read_ncu, "a,b\n1,2\n", Fault::unreadable),
                HasSubstr("no table of Nsight Compute"));
    EXPECT_THAT(test::trace_refusal(io::read_ncu, "\"ID\",\"Kernel Name\"\n", Fault::insufficient),
                HasSubstr("without kernels"));
    EXPECT_TRUE(io::looks_like_ncu(test::trace_sample("ncu_details.csv")));
    EXPECT_TRUE(io::looks_like_ncu(test::trace_sample("ncu_raw.csv")));
    EXPECT_FALSE(io::looks_like_ncu(test::trace_sample("key_averages_cpu.txt")));
}

} // namespace
} // namespace headroom
