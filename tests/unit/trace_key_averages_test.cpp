#include "support/trace_files.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RankTrace read(std::string const& text) {
    auto traces = test::traces_in(io::read_key_averages, text, "table.txt");
    EXPECT_EQ(traces.size(), 1U);
    return traces.at(0);
}

TEST(KeyAverages, KernelsCountAndWhatRepeatsTheirTimeDoesNot) {
    RankTrace const trace = read(test::trace_sample("key_averages_cuda.txt"));
    // 4 ms of a kernel and not those of aten::mm, which started it; nccl:all_reduce and ProfilerStep* are ranges. "my
    // region" is one as well: with it the sum would pass the one that the profiler printed.
    EXPECT_THAT(test::spans_of(trace),
                ElementsAre("compute void cutlass::Kernel2<cu 0-4000000 @all streams, end to end",
                            "communication ncclDevKernel_AllReduce_ 4000000-5500000 @all streams, end to end",
                            "memory Memcpy HtoD (Pageable -> 5500000-6000125 @all streams, end to end"));
    EXPECT_THAT(trace.calls, ElementsAre(8, 4, 3));
    EXPECT_TRUE(trace.only_sums);
    auto issues = test::issues_of(trace);
    EXPECT_EQ(issues["range with device time, left out"], 3U);
    EXPECT_EQ(test::first_place(trace, "range with device time, left out"), "table.txt:5");
    EXPECT_EQ(issues["sums alone: neither overlap nor idle time is known"], 1U);
    EXPECT_EQ(trace.events, 9U);
}

TEST(KeyAverages, WithoutADeviceTheHostsOwnTimesCount) {
    RankTrace const trace = read(test::trace_sample("key_averages_cpu.txt"));
    EXPECT_THAT(test::spans_of(trace),
                ElementsAre("host aten::addmm 0-12500000 @all threads, end to end",
                            "communication gloo:all_reduce 12500000-1017500000 @all threads, end to end",
                            "host aten::relu 1017500000-1017575000 @all threads, end to end"));
    ASSERT_EQ(trace.shapes.size(), 3U);
    EXPECT_EQ(trace.shape_texts[trace.shapes[0].text], "[[64], [8, 32], [32, 64]]");
    EXPECT_FALSE(trace.lanes[0].device);
}

TEST(KeyAverages, ATableWithoutItsEndSaysSo) { // rows of communication may be among those that are gone
    std::string const text = test::trace_sample("key_averages_cuda.txt");
    EXPECT_EQ(test::issues_of(read(text))["table without its end: rows may be missing"], 0U);
    auto const cut = text.substr(0, text.find("ncclDevKernel"));
    EXPECT_EQ(test::issues_of(read(cut))["table without its end: rows may be missing"], 1U);
}

/// A table of operators and kernels with "Self CPU", "Self CUDA" and calls, and its sum below.
std::string table_of(std::vector<std::array<std::string, 3>> const& rows, std::string const& sum) {
    std::string const rule = "----------------------------------------  ------------  ------------  ------------\n";
    auto const line = [](std::string const& name, std::string const& host, std::string const& device,
                         std::string const& calls) {
        auto const right = [](std::string const& cell, std::size_t width) {
            return std::string(width - cell.size(), ' ') + cell;
        };
        return right(name, 40) + "  " + right(host, 12) + "  " + right(device, 12) + "  " + right(calls, 12) + "\n";
    };
    std::string text = rule + line("Name", "Self CPU", "Self CUDA", "# of Calls") + rule;
    for (auto const& [name, host, device] : rows) { text += line(name, host, device, "1"); }
    return text + rule + "Self CPU time total: 1.000ms\nSelf CUDA time total: " + sum + "\n";
}

TEST(KeyAverages, ASumAboveTheRowsSaysThatRowsWereNotPrinted) {
    // row_limit left operators alone, or some of the kernels
    auto const operators = read(table_of({{"aten::mm", "10.000us", "150.000us"}}, "817.000us"));
    EXPECT_EQ(test::issues_of(operators)["rows that the table does not show"], 1U);
    EXPECT_EQ(test::first_place(operators, "rows that the table does not show"), "table.txt: 667 us of device time");
    EXPECT_TRUE(operators.work_missing);
    auto const kernels =
        read(table_of({{"aten::mm", "10.000us", "150.000us"}, {"gemm_kernel", "0.000us", "150.000us"}}, "210.000us"));
    EXPECT_EQ(test::first_place(kernels, "rows that the table does not show"), "table.txt: 60 us of device time");
    EXPECT_TRUE(kernels.work_missing);
    auto const whole = read(table_of({{"aten::mm", "10.000us", "150.000us"}}, "150.000us"));
    EXPECT_EQ(test::issues_of(whole).count("rows that the table does not show"), 0U);
    EXPECT_FALSE(whole.work_missing);
}

TEST(KeyAverages, ASumMayCountRangesOnceMore) {
    std::vector<std::array<std::string, 3>> const rows{{"gemm_kernel", "0.000us", "150.000us"},
                                                       {"ncclDevKernel_AllReduce", "0.000us", "60.000us"},
                                                       {"nccl:all_reduce", "0.000us", "60.000us"},
                                                       {"ProfilerStep*", "0.000us", "205.000us"}};
    for (char const* const sum : {"210.000us", "270.000us", "415.000us", "475.000us"}) {
        auto const trace = read(table_of(rows, sum));
        EXPECT_EQ(test::issues_of(trace).count("rows that the table does not show"), 0U) << sum;
        EXPECT_FALSE(trace.work_missing) << sum;
    }
    EXPECT_TRUE(read(table_of(rows, "330.000us")).work_missing) << "no ranges add up to 120 us";
}

TEST(KeyAverages, LostAlignmentAndPrefixesOfRanksAreRead) {
    std::string const text = test::trace_sample("key_averages_cpu.txt");
    std::string prefixed, squeezed, tagged;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = text.find('\n', at);
        std::string const line = text.substr(at, end - at);
        prefixed += "[rank3]:" + line + "\r\n";
        tagged += (at % 2 == 0 ? "[default3]:" : "[1,3]<stdout>:") + line + "\n";
        squeezed += line.substr(std::min(line.find_first_not_of(' '), line.size())) + "\n";
        at = end + 1;
    }
    auto const expected = test::spans_of(read(text));
    EXPECT_EQ(test::spans_of(read(prefixed)), expected);
    EXPECT_EQ(read(prefixed).rank, 3);
    EXPECT_EQ(test::spans_of(read(tagged)), expected);
    EXPECT_EQ(read(tagged).rank, 3);
    EXPECT_EQ(test::spans_of(read(squeezed)), expected);
}

TEST(KeyAverages, OldTablesHoldTotalsAlone) {
    RankTrace const trace = read("----------  ---------------  ---------------  ---------------  ---------------\n"
                                 "Name        Self CPU total   CPU total        CUDA total       Number of Calls\n"
                                 "----------  ---------------  ---------------  ---------------  ---------------\n"
                                 "mm          10.000us         12.000us         1.500ms          2              \n"
                                 "----------  ---------------  ---------------  ---------------  ---------------\n"
                                 "Self CPU time total: 10.000us\nCUDA time total: 1.500ms\n");
    EXPECT_THAT(test::spans_of(trace), ElementsAre("compute mm 0-1500000 @all streams, end to end"));
    EXPECT_EQ(test::issues_of(trace).count("device time with that of operators inside: no self times in the table"),
              1U);
}

TEST(KeyAverages, DirtyRowsAreCounted) {
    std::string text = test::trace_sample("key_averages_cpu.txt");
    text.replace(text.find("12.500ms"), 8, "12.5xxms");
    text.replace(text.find("        75us"), 12, "          --");
    RankTrace const trace = read(text);
    EXPECT_EQ(test::issues_of(trace)["not a duration"], 1U);
    EXPECT_EQ(test::first_place(trace, "not a duration"), "table.txt:5");
    EXPECT_EQ(trace.size(), 1U);
    std::string const cut = test::trace_sample("key_averages_cuda.txt");
    EXPECT_GT(read(cut.substr(0, cut.size() * 2 / 3)).size(), 0U);
}

TEST(KeyAverages, WhatIsNoTableIsRefusedInOneLine) {
    EXPECT_THAT(test::trace_refusal(io::read_key_averages, "Self CPU\n# of Calls\n", Fault::unreadable),
                HasSubstr("trace: no table of key_averages()"));
    EXPECT_THAT(
        test::trace_refusal(io::read_key_averages,
                            "----  --------  ----------\nName  Self CPU  # of Calls\n----  --------  ----------\n",
                            Fault::insufficient),
        HasSubstr("without a time above zero"));
}

TEST(KeyAverages, IsKnownByItsHeader) {
    EXPECT_TRUE(io::looks_like_key_averages(test::trace_sample("key_averages_cpu.txt")));
    EXPECT_TRUE(io::looks_like_key_averages(test::trace_sample("key_averages_cuda.txt")));
    EXPECT_FALSE(io::looks_like_key_averages("a,b,c\n1,2,3\n"));
    EXPECT_FALSE(io::looks_like_key_averages(test::trace_sample("ncu_details.csv")));
}

} // namespace
} // namespace headroom
