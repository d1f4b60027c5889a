#include "support/benchmark_logs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace headroom;
using namespace headroom::network;
using headroom::test::error_of_log;
using headroom::test::left_out;
using headroom::test::sample_log;
using io::LogQuestion;
using io::read_benchmark_log;

namespace {

std::string osu(std::string_view title, std::string_view rows) {
    return fmt::format("# OSU MPI {} Latency Test v7.4\n# Size       Avg Latency(us)\n{}", title, rows);
}

std::string imb(std::string_view name, int processes, std::string_view rows) {
    return fmt::format("# Benchmarking {} \n# #processes = {} \n       #bytes #repetitions  t_min[usec]  t_max[usec]  "
                       "t_avg[usec]\n{}\n",
                       name, processes, rows);
}

MeasuredCollective osu_row(std::string_view title) {
    LogQuestion question;
    question.ranks = 16;
    auto const log = read_benchmark_log(osu(title, "1024     10.00\n"), "x", question);
    EXPECT_EQ(log.rows.size(), 1U) << title;
    return log.rows.front();
}

MeasuredCollective imb_row(std::string_view name) {
    auto const log = read_benchmark_log(imb(name, 8, " 1024  1000  9.0  11.0  10.0\n"), "x");
    EXPECT_EQ(log.rows.size(), 1U) << name;
    return log.rows.front();
}

} // namespace

/// MPI's count of an all-gather, gather, scatter or all-to-all is one rank's share; OSU's reduce-scatter divides its
/// size among the ranks itself.
TEST(BenchmarkLogOsu, SizesBecomeTheWholeVector) {
    struct Expected {
        char const* title;
        Collective collective;
        double bytes;
    };
    for (Expected const& one : {Expected{"Allreduce", Collective::all_reduce, 1024.0},
                                {"Reduce", Collective::reduce, 1024.0},
                                {"Broadcast", Collective::broadcast, 1024.0},
                                {"Reduce_scatter", Collective::reduce_scatter, 1024.0},
                                {"Reduce_scatter_block", Collective::reduce_scatter, 1024.0},
                                {"Allgather", Collective::all_gather, 16384.0},
                                {"Gather", Collective::gather, 16384.0},
                                {"Scatter", Collective::scatter, 16384.0},
                                {"All-to-All Personalized Exchange", Collective::all_to_all, 16384.0}}) {
        auto const row = osu_row(one.title);
        EXPECT_EQ(row.collective, one.collective) << one.title;
        EXPECT_DOUBLE_EQ(row.size.size.base(), one.bytes) << one.title;
        EXPECT_DOUBLE_EQ(row.time.base(), 10e-6) << one.title;
        EXPECT_EQ(row.ranks, 16);
    }
}

TEST(BenchmarkLogOsu, PointToPointIsOfTwo) {
    auto const log =
        read_benchmark_log("# OSU MPI-CUDA Latency Test v5.9\n# Size          Latency (us)\n8   1.50\n", "x");
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_EQ(log.rows.front().ranks, 2);
    EXPECT_EQ(log.rows.front().collective, Collective::point_to_point);
}

TEST(BenchmarkLogOsu, SeveralTestsInOneFile) {
    auto const log = sample_log("osu_several.txt");
    EXPECT_EQ(log.rows.size(), 14U);
    EXPECT_EQ(log.rows.front().ranks, 16); // from the command
    EXPECT_EQ(left_out(log, "test of a stream of messages"), 2U);
    EXPECT_EQ(left_out(log, "no bytes"), 1U);
    auto const barrier = std::ranges::find(log.rows, Collective::barrier, &MeasuredCollective::collective);
    ASSERT_NE(barrier, log.rows.end());
    EXPECT_DOUBLE_EQ(barrier->time.base(), 12.34e-6);
    EXPECT_DOUBLE_EQ(barrier->size.size.base(), 0.0);
}

TEST(BenchmarkLogOsu, RanksFromTheNameOfTheFile) {
    auto const log = sample_log("osu_bcast_64ranks_4nodes.out");
    ASSERT_FALSE(log.rows.empty());
    EXPECT_EQ(log.rows.front().ranks, 64);
    EXPECT_EQ(log.rows.front().nodes, 4);
    EXPECT_THAT(log.notes, testing::Contains(testing::HasSubstr("64 ranks are taken from the name")));
    struct Named {
        char const* name;
        int ranks;
    };
    for (Named const& one :
         {Named{"osu_allreduce_np64.txt", 64}, {"runs/64/allreduce-ranks-16.log", 16}, {"osu_v7_np8_ppn4.txt", 8}}) {
        auto const named = read_benchmark_log(osu("Allreduce", "8 1.00\n"), one.name);
        EXPECT_EQ(named.rows.front().ranks, one.ranks) << one.name;
    }
    EXPECT_THAT(error_of_log(osu("Allreduce", "8 1.00\n")), testing::HasSubstr("--ranks"));
    // A single letter numbers hosts and instances as often as ranks: nothing is guessed.
    for (char const* name : {"n5_allreduce.txt", "bcast_n4.txt", "p12.out", "p4d_bcast.txt"}) {
        EXPECT_THROW(read_benchmark_log(osu("Allreduce", "8 1.00\n"), name), InputError) << name;
    }
    EXPECT_THAT(error_of_log("# x\n" + osu("Allgatherv", "8 1.00\n")), testing::HasSubstr("no known collective"));
}

TEST(BenchmarkLogOsu, OtherLibraries) {
    LogQuestion question;
    question.ranks = 8;
    std::string const rows = " Latency Test v7.4\n# Size       Avg Latency(us)\n1024 10.00\n";
    auto const log = read_benchmark_log("# OSU NCCL Allgather" + rows, "x", question);
    EXPECT_DOUBLE_EQ(log.rows.front().size.size.base(), 8192.0);
    EXPECT_THAT(error_of_log("# OSU NCCL Reduce_scatter" + rows, question),
                testing::HasSubstr("size of unknown meaning"));
    EXPECT_THAT(error_of_log("# OSU UPC Broadcast" + rows, question), testing::HasSubstr("no known collective"));
    EXPECT_THAT(error_of_log("# OSU MPI Non-blocking Allreduce" + rows, question),
                testing::HasSubstr("no known collective"));
    EXPECT_THAT(error_of_log("# OSU MPI Multi" + rows, question), testing::HasSubstr("no known collective"));
}

TEST(BenchmarkLogOsu, LinesThatAreNotUsed) {
    LogQuestion question;
    question.ranks = 4;
    std::string const header = "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)  Validation\n";
    auto const log = read_benchmark_log(header + "4  10.00 Pass\n8  11.00 Fail\n16 -1.00 Pass\n32 1e300 Pass\n"
                                                 "64 N/A\nWARNING: slow\n128 12.00 256 13.00x\n256\n512 1",
                                        "x", question);
    EXPECT_EQ(log.rows.size(), 1U);
    EXPECT_EQ(left_out(log, "wrong results"), 1U);
    EXPECT_EQ(left_out(log, "time not above zero"), 1U);
    EXPECT_EQ(left_out(log, "absurd time"), 1U);
    EXPECT_EQ(left_out(log, "N/A"), 1U);
    EXPECT_EQ(left_out(log, "other text between the rows"), 1U);
    EXPECT_EQ(left_out(log, "unreadable"), 1U);
    EXPECT_EQ(left_out(log, "truncated"), 2U); // no time, and a last time that may have had more digits
}

/// IMB: X bytes of each rank for all-gather, gather, scatter, all-to-all and reduce-scatter-block; the whole vector for
/// the others.
TEST(BenchmarkLogImb, SizesBecomeTheWholeVector) {
    struct Expected {
        char const* name;
        Collective collective;
        double bytes;
    };
    for (Expected const& one : {Expected{"Allreduce", Collective::all_reduce, 1024.0},
                                {"Reduce", Collective::reduce, 1024.0},
                                {"Bcast", Collective::broadcast, 1024.0},
                                {"Reduce_scatter", Collective::reduce_scatter, 1024.0},
                                {"Reduce_scatter_block", Collective::reduce_scatter, 8192.0},
                                {"Allgather", Collective::all_gather, 8192.0},
                                {"Gather", Collective::gather, 8192.0},
                                {"Scatter", Collective::scatter, 8192.0},
                                {"Alltoall", Collective::all_to_all, 8192.0},
                                {"Sendrecv", Collective::point_to_point, 1024.0}}) {
        auto const row = imb_row(one.name);
        EXPECT_EQ(row.collective, one.collective) << one.name;
        EXPECT_DOUBLE_EQ(row.size.size.base(), one.bytes) << one.name;
        EXPECT_DOUBLE_EQ(row.time.base(), 10e-6) << one.name;
        EXPECT_EQ(row.ranks, 8);
    }
}

TEST(BenchmarkLogImb, SeveralBlocks) {
    auto const log = sample_log("imb_mpi1.txt");
    EXPECT_EQ(log.format, "imb");
    ASSERT_EQ(log.rows.size(), 13U);
    EXPECT_EQ(log.rows.front().collective, Collective::point_to_point);
    EXPECT_EQ(log.rows.front().ranks, 2);
    EXPECT_DOUBLE_EQ(log.rows.front().time.base(), 1.5e-6);
    EXPECT_EQ(log.rows[3].ranks, 4); // with four more that wait
    EXPECT_EQ(log.rows.back().collective, Collective::barrier);
    EXPECT_DOUBLE_EQ(log.rows.back().time.base(), 3.2e-6);
    EXPECT_EQ(left_out(log, "N/A"), 1U); // out of memory
    EXPECT_EQ(left_out(log, "operation of no known collective"), 1U);
}

TEST(BenchmarkLogImb, GroupsAtOnceAndUnits) {
    std::string const groups =
        "# Benchmarking Allreduce\n# ( 4 groups of 2 processes each running simultaneous ) \n"
        "# #processes = 2\n #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n 8 10 1 1 1\n";
    EXPECT_THAT(error_of_log(groups), testing::HasSubstr("several groups at once"));
    auto const log = read_benchmark_log(
        "# Benchmarking Bcast\n# #processes = 4\n #bytes #repetitions t_avg[msec]\n 8 10 2.5\n\n", "x");
    EXPECT_DOUBLE_EQ(log.rows.front().time.base(), 2.5e-3);
}

bool may_be_cut(io::BenchmarkLog const& log, MeasuredCollective const& row) {
    return row.line == log.rows.back().line && std::ranges::any_of(log.notes, [](std::string const& note) {
               return note.find("has no end") != std::string::npos;
           });
}

/// Every cut of a log is read or refused, and no row appears that the whole does not have. The exception is the last
/// row of a table: it may end without a line's end when it is whole, and is then noted as suspect.
TEST(BenchmarkLogs, EveryCutOfASample) {
    for (auto const& entry : std::filesystem::directory_iterator{test::log_folder()}) {
        std::string const name = entry.path().filename().string(), whole = io::read_file(entry.path());
        auto const rows = read_benchmark_log(whole, name).rows;
        for (std::size_t length = 0; length < whole.size(); length += 53) {
            try {
                auto const cut = read_benchmark_log(whole.substr(0, length), name);
                for (auto const& row : cut.rows) {
                    if (may_be_cut(cut, row)) { continue; }
                    auto const same = [&](MeasuredCollective const& other) {
                        return other.line == row.line && other.size.size == row.size.size && other.time == row.time &&
                               other.collective == row.collective && other.ranks == row.ranks;
                    };
                    ASSERT_TRUE(std::ranges::any_of(rows, same))
                        << name << " cut at " << length << " line " << row.line;
                }
            } catch (InputError const&) { continue; }
        }
    }
}

/// Rows of a log, written as a table in our own sizes, are read as the same rows.
TEST(BenchmarkLogs, TheSameRowsFromATable) {
    for (auto const& entry : std::filesystem::directory_iterator{test::log_folder()}) {
        std::string const name = entry.path().filename().string();
        auto const log = sample_log(name);
        std::string table = "collective,ranks,nodes,bytes,seconds\n";
        for (auto const& row : log.rows) {
            table += fmt::format("{},{},{},{},{}\n", name_of(row.collective), row.ranks, row.nodes,
                                 row.size.size.base(), row.time.base());
        }
        auto const again = read_benchmark_log(table, "x.csv");
        ASSERT_EQ(again.rows.size(), log.rows.size()) << name;
        for (std::size_t i = 0; i < log.rows.size(); ++i) {
            EXPECT_EQ(again.rows[i].collective, log.rows[i].collective);
            EXPECT_EQ(again.rows[i].size.size, log.rows[i].size.size);
            EXPECT_EQ(again.rows[i].time, log.rows[i].time);
            EXPECT_EQ(again.rows[i].ranks, log.rows[i].ranks);
            EXPECT_EQ(again.rows[i].nodes, log.rows[i].nodes);
        }
    }
}

/// A line of a log that is damaged costs that line alone, and no damage makes a row that the log does not have.
TEST(BenchmarkLogs, GarbageBetweenTheLines) {
    std::string const garbage =
        "\x01\xff\xfe binary \x7f\x80 123 456\n" + std::string(2, '\0') + " 8 2 float\nwarning: slow link\n";
    for (char const* const name : {"nccl_two_operations.txt", "osu_several.txt", "imb_mpi1.txt", "rccl_cut.txt"}) {
        std::string const whole = io::read_file(test::log_folder() / name);
        std::string damaged;
        std::size_t lines = 0;
        for (char const c : whole) {
            damaged += c;
            if (c == '\n' && ++lines % 5 == 0) { damaged += garbage; }
        }
        auto const rows = sample_log(name).rows;
        auto const log = read_benchmark_log(damaged, name);
        ASSERT_EQ(log.rows.size(), rows.size()) << name;
        for (std::size_t i = 0; i < rows.size(); ++i) { EXPECT_EQ(log.rows[i].time, rows[i].time) << name; }
        EXPECT_GT(left_out(log, "zero bytes in the text"), 0U) << name;
        EXPECT_GT(left_out(log, "other text between the rows") + left_out(log, "unreadable"), 0U) << name;
    }
}

/// Launchers state the ranks of a node, the nodes, or a list of hosts.
TEST(BenchmarkLogMpi, CommandsStateTheNodes) {
    for (std::string const command :
         {"mpirun -np 16 -ppn 8", "mpirun -np 16 --map-by ppr:8:node", "mpirun -np 16 -H node1:8,node2:8",
          "srun -N2 --ntasks-per-node=8", "mpirun -N 8 -np 16", "mpiexec -n 16 -npernode 8",
          "mpirun --host n1,n2 -np 16", "srun -n16 -N 2", "aprun -n 16 -N 8", "srun --nodes=2 --ntasks=16"}) {
        auto const log = headroom::io::read_benchmark_log("$ " + command +
                                                              " ./osu_allreduce\n\n"
                                                              "# OSU MPI Allreduce Latency Test v7.3\n"
                                                              "# Size       Avg Latency(us)\n1024 20.1\n2048 20.2\n",
                                                          "log.txt");
        ASSERT_EQ(log.rows.size(), 2U) << command;
        EXPECT_EQ(log.rows[0].ranks, 16) << command;
        EXPECT_EQ(log.rows[0].nodes, 2) << command;
    }
}

/// Colours of a terminal are no part of a row.
TEST(BenchmarkLogMpi, ColoursAreTakenOut) {
    auto const log = headroom::io::read_benchmark_log("$ mpirun -np 16 ./osu_allreduce\n"
                                                      "# OSU MPI Allreduce Latency Test v7.3\n"
                                                      "# Size       Avg Latency(us)\n\x1b[32m1024 20.1\x1b[0m\n",
                                                      "log.txt");
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_DOUBLE_EQ(log.rows[0].time.base(), 20.1e-6);
}
