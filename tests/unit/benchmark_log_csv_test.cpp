#include "support/benchmark_logs.hpp"

#include "headroom/error.hpp"
#include "headroom/network/comparison.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

using namespace headroom;
using namespace headroom::network;
using headroom::test::error_of_log;
using headroom::test::left_out;
using io::LogQuestion;
using io::read_benchmark_log;

TEST(BenchmarkLogCsv, SizesInKbThatArePowersOfTwoAreNoted) {
    auto const noted = [](std::string const& sizes) {
        std::string text = "collective,ranks,size,time_us\n";
        for (std::string rest = sizes + " "; !rest.empty(); rest.erase(0, rest.find(' ') + 1)) {
            text += "all_reduce,8," + rest.substr(0, rest.find(' ')) + ",20\n";
        }
        auto const log = read_benchmark_log(text, "log.csv");
        EXPECT_DOUBLE_EQ(log.rows.back().size.size.base(), 64e3) << sizes;
        return std::ranges::any_of(log.notes, [](auto const& note) { return note.find("KiB") != std::string::npos; });
    };
    EXPECT_TRUE(noted("512B 1KB 2KB 64KB"));
    EXPECT_FALSE(noted("1KB 10KB 64KB"));
    EXPECT_FALSE(noted("1000 2000 64KB")) << "one size shows nothing";
}

TEST(BenchmarkLogCsv, ColumnsOfAnyOrderAndUnit) {
    auto const log = read_benchmark_log("Avg latency (ms),op,Message Size (KiB),max latency (ms),nprocs,nodes,algo\n"
                                        "2.5,MPI_Allreduce,64,9.9,8,2,ring\n",
                                        "log.csv");
    ASSERT_EQ(log.rows.size(), 1U);
    auto const& row = log.rows.front();
    EXPECT_EQ(row.collective, Collective::all_reduce);
    EXPECT_DOUBLE_EQ(row.size.size.base(), 65536.0);
    EXPECT_DOUBLE_EQ(row.time.base(), 2.5e-3);
    EXPECT_EQ(row.ranks, 8);
    EXPECT_EQ(row.nodes, 2);
    EXPECT_EQ(row.algorithm, "ring");
    EXPECT_EQ(row.line, 2U);
    EXPECT_EQ(log.format, "csv");
}

/// One column for each collective: the one that is asked for is read, else each.
TEST(BenchmarkLogCsv, HeadsThatNameCollectives) {
    std::string const text = "msg_size_MB,all_reduce_ms,all_gather_ms,world_size\n1,0.024,0.012,8\n16,0.085,0.043,8\n";
    auto const all = read_benchmark_log(text, "log.csv");
    ASSERT_EQ(all.rows.size(), 4U);
    EXPECT_EQ(all.rows[0].collective, Collective::all_reduce);
    EXPECT_DOUBLE_EQ(all.rows[0].time.base(), 24e-6);
    EXPECT_EQ(all.rows[1].collective, Collective::all_gather);
    EXPECT_DOUBLE_EQ(all.rows[1].time.base(), 12e-6);
    EXPECT_DOUBLE_EQ(all.rows[3].size.size.base(), 16e6);
    auto const gather = read_benchmark_log(text, "log.csv", {.collective = "all_gather"});
    ASSERT_EQ(gather.rows.size(), 2U);
    EXPECT_DOUBLE_EQ(gather.rows[1].time.base(), 43e-6);
    EXPECT_THAT(error_of_log(text, {.collective = "broadcast"}), ::testing::HasSubstr("no column of broadcast"));
    auto const rates =
        read_benchmark_log("size,gpus,reduce_scatter busbw (GB/s),busbw reduce [GB/s]\n1e9,4,1.00,2.00\n", "log.csv",
                           {.collective = "reduce_scatter"});
    ASSERT_EQ(rates.rows.size(), 1U);
    EXPECT_DOUBLE_EQ(rates.rows[0].time.base(), 0.75); // 3/4 of 1e9 bytes at 1 GB/s
}

/// 1 MB is 10^6 bytes unless the rows show another: by time and bandwidth, or by sizes that double through 512 KB and 1 MB.
TEST(BenchmarkLogCsv, PrefixesOf1024ShowInTheRows) {
    auto const size = [](std::string const& table) {
        return read_benchmark_log(table, "log.csv").rows.back().size.size.base();
    };
    std::string const timed = "op,ranks,size,time (us),algbw (GB/s)\n";
    EXPECT_DOUBLE_EQ(size(timed + "all_reduce,8,64 MB,671.09,100.00\n"), 64.0 * 1048576);
    EXPECT_DOUBLE_EQ(size(timed + "all_reduce,8,64 MB,640.00,100.00\n"), 64e6);
    std::string const rated = "op,ranks,size,busbw (GB/s)\n";
    EXPECT_DOUBLE_EQ(size(rated + "all_reduce,8,256KB,90.1\nall_reduce,8,512KB,95.1\nall_reduce,8,1MB,99.1\n"),
                     1048576);
    EXPECT_DOUBLE_EQ(size(rated + "all_reduce,8,250KB,90.1\nall_reduce,8,500KB,95.1\nall_reduce,8,1MB,99.1\n"), 1e6);
    EXPECT_DOUBLE_EQ(size(rated + "all_reduce,8,1MB,90.1\nall_reduce,8,2MB,95.1\nall_reduce,8,4MB,99.1\n"), 4e6);
}

TEST(BenchmarkLogCsv, UnitsInCells) {
    auto const log = read_benchmark_log("collective,ranks,size,time\nbcast,4,1 MB,3ms\nbcast,4,1M,40 us\n", "log.csv");
    ASSERT_EQ(log.rows.size(), 2U);
    EXPECT_DOUBLE_EQ(log.rows[0].size.size.base(), 1e6);
    EXPECT_DOUBLE_EQ(log.rows[0].time.base(), 3e-3);
    EXPECT_DOUBLE_EQ(log.rows[1].size.size.base(), 1048576.0); // benchmarks write 2^20 bytes so
    EXPECT_DOUBLE_EQ(log.rows[1].time.base(), 40e-6);
}

/// 2 x 3/4 x 1e9 bytes in 1.5 s are 1 GB/s of bus bandwidth; 1e9 bytes at 0.5 GB/s take 2 s.
TEST(BenchmarkLogCsv, TimeFromABandwidth) {
    auto const log = read_benchmark_log("collective,gpus,bytes,time_us,algbw_gbps,busbw_gbps\n"
                                        "all_reduce,4,1e9,,,1.00\nall_reduce,4,1e9,,0.500,\n",
                                        "log.csv");
    ASSERT_EQ(log.rows.size(), 2U);
    EXPECT_DOUBLE_EQ(log.rows[0].time.base(), 1.5);
    EXPECT_DOUBLE_EQ(log.rows[1].time.base(), 2.0);
    for (char const* const head : {"busbw (Gbit/s)", "busbw [Gb/s]", "busbw_Gbps"}) {
        auto const bits = read_benchmark_log(fmt::format("op,gpus,size,{}\nallreduce,4,1e9,8.00\n", head), "log.csv");
        ASSERT_EQ(bits.rows.size(), 1U) << head;
        EXPECT_DOUBLE_EQ(bits.rows[0].time.base(), 1.5) << head;
    }
    EXPECT_THROW(read_benchmark_log("op,gpus,size,busbw (words/s)\nallreduce,4,1e9,8.00\n", "log.csv"), InputError);
    auto const alone = read_benchmark_log("op,gpus,size,busbw (GB/s)\nallreduce,4,1e9,1.00\n", "log.csv");
    ASSERT_EQ(alone.rows.size(), 1U); // the unit of its head makes it no second bandwidth
    EXPECT_DOUBLE_EQ(alone.rows[0].time.base(), 1.5);
}

TEST(BenchmarkLogCsv, RowsThatAreNotUsedAreCounted) {
    auto const log = read_benchmark_log("collective,gpus,nodes,bytes,time_us,busbw_gbps\n"
                                        "all_reduce,8,1,1024,,0.00\n"   // rounded to nothing
                                        "all_reduce,8,1,1024,,0.01\n"   // a half of it may be rounding
                                        "all_reduce,8,1,1024,,\n"       // states neither
                                        "all_reduce,8,1,1024,N/A,\n"    //
                                        "all_reduce,8,1,1024,0.00,\n"   //
                                        "all_reduce,8,1,1024,-4,\n"     //
                                        "all_reduce,8,1,1024,1e300,\n"  //
                                        "all_reduce,8,1,1024,1e999,\n"  //
                                        "all_reduce,8,1,0,5,\n"         //
                                        ",8,1,1024,5,\n"                //
                                        "sum,8,1,1024,5,\n"             //
                                        "all_reduce,,1,1024,5,\n"       //
                                        "all_reduce,1,1,1024,5,\n"      //
                                        "all_reduce,8,3,1024,5,\n"      //
                                        "all_reduce,8,1,1000000,10,1\n" // 175 GB/s it would be
                                        "all_reduce,8,1,1024,5,\n"      //
                                        "all_reduce,8,1,10",
                                        "log.csv");
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_EQ(log.rows.front().line, 17U);
    EXPECT_EQ(left_out(log, "bandwidth rounded too far to give a time"), 2U);
    EXPECT_EQ(left_out(log, "no time"), 2U);
    EXPECT_EQ(left_out(log, "time not above zero"), 2U);
    EXPECT_EQ(left_out(log, "absurd time"), 1U);
    EXPECT_EQ(left_out(log, "unreadable"), 1U);
    EXPECT_EQ(left_out(log, "no bytes"), 1U);
    EXPECT_EQ(left_out(log, "collective not named"), 1U);
    EXPECT_EQ(left_out(log, "operation of no known collective"), 1U);
    EXPECT_EQ(left_out(log, "ranks not stated"), 1U);
    EXPECT_EQ(left_out(log, "one rank"), 1U);
    EXPECT_EQ(left_out(log, "ranks not even over the nodes"), 1U);
    EXPECT_EQ(left_out(log, "time and bandwidth disagree"), 1U);
    EXPECT_EQ(left_out(log, "truncated"), 1U);
}

/// Tools mean either: 1e6 bytes on 8 ranks in 10 us are 100 GB/s, and 175 GB/s of bus bandwidth.
TEST(BenchmarkLogCsv, ABandwidthOfNoNameIsNeither) {
    std::string const rows = "\nall_reduce,8,1000000,10,100\n";
    EXPECT_EQ(read_benchmark_log("collective,ranks,bytes,time_us,bandwidth (GB/s)" + rows, "log.csv").rows.size(), 1U);
    EXPECT_EQ(read_benchmark_log("collective,ranks,bytes,time_us,GB/s" + rows, "log.csv").rows.size(), 1U);
    EXPECT_THAT(error_of_log("collective,ranks,bytes,bandwidth (GB/s)\nall_reduce,8,1000000,100\n"),
                testing::HasSubstr("columns for the size and the time"));
}

TEST(BenchmarkLogCsv, AnswersFillWhatIsNotStated) {
    LogQuestion question;
    question.ranks = 16;
    question.nodes = 2;
    question.collective = "all_gather";
    question.system = "lab";
    auto const log = read_benchmark_log("bytes,us\n1024,5\n", "log.csv", question);
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_EQ(log.rows.front().ranks, 16);
    EXPECT_EQ(log.rows.front().nodes, 2);
    EXPECT_EQ(log.rows.front().collective, Collective::all_gather);
    EXPECT_EQ(log.rows.front().system, "lab");
    EXPECT_THAT(error_of_log("bytes,us\n1024,5\n"), testing::HasSubstr("--collective"));
}

TEST(BenchmarkLogCsv, ATimeNeedsAUnit) {
    EXPECT_THAT(error_of_log("collective,ranks,bytes,time\nall_reduce,8,1024,5\n"), testing::HasSubstr("time_us"));
}

/// 1e6 bytes at 100 GB/s take 10 us: the bare 10 is of microseconds. The table of rccl-tests has both places and a count
/// of wrong results.
TEST(BenchmarkLogCsv, TheBandwidthTellsTheUnit) {
    std::string const table = "numCycle, name, nodes, ranks, size, type, redop, inPlace, time, algBw, busBw, wrong\n"
                              "0,AllReduce,1,2,8,float,sum,0,9.5,0.00,0.00,0\n"
                              "0,AllReduce,1,2,1000000,float,sum,0,10.0,100.0,100.0,0\n"
                              "0,AllReduce,1,2,1000000,float,sum,1,9.0,111.1,111.1,0\n"
                              "0,AllReduce,1,2,1000000,float,sum,0,10.0,100.0,100.0,3\n";
    auto const log = read_benchmark_log(table, "x.csv");
    ASSERT_EQ(log.rows.size(), 2U);
    EXPECT_DOUBLE_EQ(log.rows.front().time.base(), 9.5e-6);
    EXPECT_DOUBLE_EQ(log.rows.back().time.base(), 10e-6);
    EXPECT_EQ(left_out(log, "wrong results"), 1U);
    LogQuestion question;
    question.in_place = true;
    EXPECT_DOUBLE_EQ(read_benchmark_log(table, "x.csv", question).rows.front().time.base(), 9e-6);
}

TEST(BenchmarkLogCsv, WhatIsNoLogIsRefused) {
    EXPECT_THAT(error_of_log(""), testing::HasSubstr("an empty file"));
    EXPECT_THAT(error_of_log("dear all,\nthe cluster is down\n"), testing::HasSubstr("no known output"));
    EXPECT_THAT(error_of_log(std::string{"\xff\xfe"} + std::string("b\0y\0", 4)), testing::HasSubstr("UTF-16"));
    EXPECT_THAT(error_of_log(std::string{"\x1f\x8b\x08"}), testing::HasSubstr("gzip"));
}

TEST(BenchmarkLogCsv, ZeroBytesCostTheirLineAlone) {
    std::string const damaged = std::string{"collective,ranks,bytes,us\nall_reduce,8,1024,5\nall_"} +
                                std::string(3, '\0') + "ce,8,2048,6\nall_reduce,8,4096,7\n";
    auto const log = read_benchmark_log(damaged, "log.csv");
    EXPECT_EQ(log.rows.size(), 2U);
    EXPECT_EQ(log.rows.back().line, 4U);
    EXPECT_EQ(left_out(log, "zero bytes in the text"), 1U);
}

TEST(BenchmarkLogCsv, ByteOrderMarkTabsAndCarriageReturns) {
    auto const log =
        read_benchmark_log("\xEF\xBB\xBF# run 7\r\ncollective\tranks\tbytes\tus\r\nreduce\t8\t1024\t5\r\n", "log.csv");
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_EQ(log.rows.front().line, 3U);
}

/// The published table: every row but the 13 that its own check calls suspect, and the times that are not printed as
/// its bandwidths give them.
TEST(BenchmarkLogCsv, PublishedMeasurements) {
    std::filesystem::path const path = HEADROOM_SOURCE_DIR "/validation/published_communication.csv";
    auto const log = read_benchmark_log(io::read_file(path), path.string());
    EXPECT_EQ(log.format, "published");
    EXPECT_EQ(log.rows.size(), 646U);
    EXPECT_EQ(left_out(log, "marked suspect by its source"), 13U);
    for (auto const& row : log.rows) {
        ASSERT_TRUE(row.bus_bandwidth.has_value());
        double const rate = bus_bandwidth_factor(row.collective, Ranks{row.ranks}) * (row.size.size / row.time).base();
        ASSERT_NEAR(row.bus_bandwidth->base(), rate, 0.1 * rate + 6e6) << row.line;
    }
}

/// "latency (us)" names a message from one rank to another only where nothing says more ranks.
TEST(BenchmarkLogCsv, ALatencyOfManyRanksIsNoMessage) {
    std::string const many = "size,ranks,latency (us)\n1024,8,30\n4096,8,31\n";
    EXPECT_THAT(error_of_log(many), ::testing::HasSubstr("collective not named"));
    auto const asked = read_benchmark_log(many, "log.csv", {.collective = "all_reduce"});
    ASSERT_EQ(asked.rows.size(), 2U);
    EXPECT_EQ(asked.rows[0].collective, Collective::all_reduce);
    auto const pair = read_benchmark_log("size,ranks,latency (us)\n1024,2,3\n", "log.csv");
    EXPECT_EQ(pair.rows.front().collective, Collective::point_to_point);
}

/// A quantity over its unit labels a column: "size/B", "time/us".
TEST(BenchmarkLogCsv, QuantitiesOverTheirUnits) {
    auto const log =
        read_benchmark_log("size/KiB,time/us\n1,30\n", "log.csv", {.ranks = 8, .collective = "all_reduce"});
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_DOUBLE_EQ(log.rows[0].time.base(), 30e-6);
    EXPECT_DOUBLE_EQ(log.rows[0].size.size.base(), 1024.0);
}

TEST(BenchmarkLogCsv, SharesAndSumsAreNotTakenForTheWhole) {
    for (std::string const head : {"per-rank bytes", "send bytes"}) {
        std::string const gather = "collective," + head + ",ranks,time_us\nall_gather,128,8,30\n";
        EXPECT_THAT(error_of_log(gather), ::testing::HasSubstr("size of unknown meaning")) << head;
        std::string const reduce = "collective," + head + ",ranks,time_us\nall_reduce,128,8,30\n";
        EXPECT_EQ(read_benchmark_log(reduce, "log.csv").rows.size(), 1U) << head;
    }
    EXPECT_THAT(error_of_log("collective,size,ranks,total_time_us,iters\nall_reduce,1024,8,600,20\n"),
                ::testing::HasSubstr("'total_time_us' may sum up all 'iters'"));
    auto const one = read_benchmark_log("collective,size,ranks,time_us,iters\nall_reduce,1024,8,30,20\n", "log.csv");
    EXPECT_DOUBLE_EQ(one.rows[0].time.base(), 30e-6);
}

TEST(BenchmarkLogCsv, FailedRunsAndRanksOfANode) {
    auto const log = read_benchmark_log("collective,bytes,ranks,gpus_per_node,time_us,status\n"
                                        "all_reduce,1024,16,8,30,ok\nall_reduce,4096,16,8,1,FAILED\n",
                                        "log.csv");
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_EQ(log.rows[0].nodes, 2);
    EXPECT_EQ(left_out(log, "failed run"), 1U);
}
