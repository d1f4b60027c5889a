// Logs of perftest, ds_bench of DeepSpeed and comms of PARAM.

#include "support/benchmark_logs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

using namespace headroom;
using namespace headroom::network;
using headroom::test::error_of_log;
using headroom::test::left_out;
using io::LogQuestion;
using io::read_benchmark_log;

namespace {

std::string perftest(std::string_view title, std::string_view heads, std::string_view row) {
    return "-----\n                    " + std::string{title} + "\n Dual-port       : OFF\n-----\n " +
           std::string{heads} + "\n" + std::string{row} + "-----\n";
}
constexpr std::string_view latency_heads = "#bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    "
                                           "t_avg[usec]    t_stdev[usec]   99% percentile[usec]";
constexpr std::string_view latency_row = " 4096  1000  2.10  9.00  2.30  2.40  0.06  2.90\n";

std::string ds_bench(std::string_view operation, int ranks, std::string_view rows) {
    return "\n---- Performance of " + std::string{operation} + " on " + std::to_string(ranks) +
           " devices -----------------\nSize (Bytes)         Description               Duration             Throughput "
           "(Gbps)    "
           "BusBW (Gbps)        \n--------------------\n" +
           std::string{rows};
}

} // namespace

/// ib_write_lat prints half a round trip; a read is a whole one, and bandwidth tests keep many messages in flight.
TEST(BenchmarkLogTools, PerftestStatesMessages) {
    auto const log = read_benchmark_log(perftest("RDMA_Write Latency Test", latency_heads, latency_row), "x");
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_EQ(log.rows[0].collective, Collective::point_to_point);
    EXPECT_EQ(log.rows[0].nodes, 2);
    EXPECT_EQ(log.rows[0].size.size.base(), 4096.0);
    EXPECT_NEAR(log.rows[0].time.base(), 2.4e-6, 1e-15); // the mean
    auto const old = read_benchmark_log(perftest("Send Latency Test",
                                                 "#bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]",
                                                 " 2 1000 1.0 9.0 1.1\n"),
                                        "x");
    EXPECT_NEAR(old.rows.at(0).time.base(), 1.1e-6, 1e-15);
    EXPECT_THAT(error_of_log(perftest("RDMA_Read Latency Test", latency_heads, latency_row)),
                testing::HasSubstr("collective"));
    EXPECT_THAT(error_of_log(perftest("RDMA_Write BW Test",
                                      "#bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
                                      " 65536 5000 11500.11 11480.25 0.18\n")),
                testing::HasSubstr("stream of messages"));
}

/// The size of an all-gather is one rank's; the throughput of an all-reduce is twice the algorithm bandwidth.
TEST(BenchmarkLogTools, DeepSpeedStatesRanksAndSizes) {
    // 4 MiB in 1 ms on 8 ranks: busbw = 4.194 GB/s x 2 x 7/8 = 58.72 Gbps
    auto const reduce = read_benchmark_log(
        ds_bench("all_reduce", 8,
                 "4.0 MB               1048576x4                 1.000 ms             67.109               58.720\n"),
        "x");
    ASSERT_EQ(reduce.rows.size(), 1U);
    EXPECT_EQ(reduce.rows[0].ranks, 8);
    EXPECT_EQ(reduce.rows[0].size.size.base(), 4194304.0);
    EXPECT_NEAR(reduce.rows[0].time.base(), 1e-3, 1e-12);
    auto const gather = read_benchmark_log(
        ds_bench("all_gather", 8,
                 "1.0 MB               262144x4                  200.000 us           335.544              293.601\n"),
        "x");
    EXPECT_EQ(gather.rows.at(0).size.size.base(), 8.0 * 1048576.0);
    EXPECT_EQ(read_benchmark_log(ds_bench("pt2pt", 2, "1.0 MB  262144x4  200.000 us  41.943  41.943\n"), "x")
                  .rows.at(0)
                  .collective,
              Collective::point_to_point);
}

TEST(BenchmarkLogTools, ParamStatesMedians) {
    std::string const log =
        "\t COMMS-RES-all_reduce-float32   total-size (B)  nElementsPerRank   nElementsPerPair   Latency(us):p50   p75 "
        "  "
        "p95   Min   Max   AlgBW(GB/s)   BusBW(GB/s)\n"
        "\t COMMS-RES-all_reduce-float32 1048576 262144 0 107.0 112.0 118.0 96.0 128.0 9.800 18.375\n";
    auto const read = read_benchmark_log(log, "x", {.ranks = 16, .nodes = 2});
    ASSERT_EQ(read.rows.size(), 1U);
    EXPECT_EQ(read.rows[0].collective, Collective::all_reduce);
    EXPECT_NEAR(read.rows[0].time.base(), 107e-6, 1e-12);
    EXPECT_THAT(error_of_log(log), testing::HasSubstr("ranks"));
}
