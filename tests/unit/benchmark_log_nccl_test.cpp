#include "support/benchmark_logs.hpp"

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

constexpr char const* header =
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
    "time   algbw   busbw  #wrong\n";

std::string table(std::string const& rows) {
    return "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 8 minBytes 8\n" + std::string{header} + rows;
}

std::string ranks_on(std::vector<std::string> const& hosts) {
    std::string list;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        list += "#  Rank " + std::to_string(i) + " Group  0 Pid 77 on " + hosts[i] + " device 0 [0000:05:00] Card\n";
    }
    return list;
}

} // namespace

/// Two tables of two operations on two hosts, each line marked by the launcher, a warning and one wrong result.
TEST(BenchmarkLogNccl, TwoOperationsOfOneRun) {
    auto const log = sample_log("nccl_two_operations.txt");
    EXPECT_EQ(log.format, "nccl-tests");
    ASSERT_EQ(log.rows.size(), 17U);
    auto const& first = log.rows.front();
    EXPECT_EQ(first.collective, Collective::all_reduce);
    EXPECT_EQ(first.ranks, 8);
    EXPECT_EQ(first.nodes, 2);
    EXPECT_DOUBLE_EQ(first.size.size.base(), 1024.0);
    EXPECT_DOUBLE_EQ(first.time.base(), 30.02e-6);
    EXPECT_EQ(first.line, 18U);
    EXPECT_EQ(first.system, "Example GPU 80GB");
    EXPECT_EQ(log.rows.back().collective, Collective::all_to_all);
    EXPECT_DOUBLE_EQ(log.rows.back().size.size.base(), 67108864.0); // what one rank holds for all, as printed
    EXPECT_EQ(left_out(log, "wrong results"), 1U);
    EXPECT_EQ(left_out(log, "other text between the rows"), 1U);
}

TEST(BenchmarkLogNccl, InPlaceColumnsOnRequest) {
    LogQuestion question;
    question.in_place = true;
    auto const log = sample_log("nccl_two_operations.txt", question);
    ASSERT_EQ(log.rows.size(), 18U); // the wrong result is out of place
    EXPECT_DOUBLE_EQ(log.rows.front().time.base(), 29.12e-6);
    EXPECT_THAT(log.notes, testing::Contains(testing::HasSubstr("not checked")));
}

TEST(BenchmarkLogNccl, ErrorColumnOfOlderReleases) {
    auto const log = sample_log("nccl_error_column.txt");
    ASSERT_EQ(log.rows.size(), 9U);
    EXPECT_EQ(log.rows.front().collective, Collective::all_gather); // from the command
    EXPECT_EQ(log.rows.front().ranks, 4);
    EXPECT_TRUE(log.issues.empty());
}

/// Float sums differ by 2e-7 and are right; by 1e-3 they are wrong.
TEST(BenchmarkLogNccl, DeviationsDependOnTheType) {
    std::string const old =
        "all_reduce_perf -g 4\n# nThread 1 nGpus 4\n#  size count type redop time algbw busbw error time algbw "
        "busbw error\n";
    auto const log = read_benchmark_log(old + "1000 250 float sum 10.0 0.10 0.15 2e-07 10.0 0.10 0.15 0e+00\n"
                                              "1000 250 float sum 10.0 0.10 0.15 1e-03 10.0 0.10 0.15 0e+00\n"
                                              "1000 500 half sum 10.0 0.10 0.15 1e-03 10.0 0.10 0.15 0e+00\n",
                                        "x");
    EXPECT_EQ(log.rows.size(), 2U);
    EXPECT_EQ(left_out(log, "wrong results"), 1U);
}

TEST(BenchmarkLogNccl, FirstReleasesPrintMilliseconds) {
    auto const log = sample_log("nccl_milliseconds_np4.txt");
    ASSERT_EQ(log.rows.size(), 3U);
    EXPECT_DOUBLE_EQ(log.rows.front().time.base(), 0.145e-3);
    EXPECT_EQ(log.rows.front().ranks, 4); // from the name of the file
}

TEST(BenchmarkLogNccl, CutInItsLastLine) {
    auto const log = sample_log("rccl_cut.txt");
    EXPECT_EQ(log.rows.size(), 8U);
    EXPECT_EQ(log.rows.front().collective, Collective::reduce_scatter);
    EXPECT_EQ(left_out(log, "truncated"), 1U);
}

TEST(BenchmarkLogNccl, Json) {
    auto const log = sample_log("nccl_two_nodes.json");
    EXPECT_EQ(log.format, "nccl-tests json");
    ASSERT_EQ(log.rows.size(), 9U);
    EXPECT_EQ(log.rows.front().ranks, 8);
    EXPECT_EQ(log.rows.front().nodes, 2);
    EXPECT_EQ(log.rows.front().collective, Collective::all_reduce);
    EXPECT_DOUBLE_EQ(log.rows.front().time.base(), 30.01792e-6);
}

/// A run that was killed leaves the file open in its results: what is whole is read, the rest is counted.
TEST(BenchmarkLogNccl, JsonThatEndsEarly) {
    std::string const whole = io::read_file(test::log_folder() / "nccl_two_nodes.json");
    std::string const cut = whole.substr(0, whole.find("\"size\":262144") + 20);
    auto const log = read_benchmark_log(cut, "x.json");
    EXPECT_EQ(log.rows.size(), 4U);
    EXPECT_EQ(left_out(log, "truncated"), 1U);
    EXPECT_THAT(error_of_log("{\"nccl_version\":1,\"results\":[{{"), testing::HasSubstr("no JSON"));
    EXPECT_THAT(error_of_log("{\"out_of_place\":" + std::string(100'000, '[')), testing::HasSubstr("too deep"));
}

TEST(BenchmarkLogNccl, JsonWithoutSomeKeys) {
    LogQuestion question;
    question.ranks = 4;
    question.collective = "broadcast";
    auto const log = read_benchmark_log(R"({"results":[{"size":1024,"out_of_place":{"time":5.0}},
        {"size":2048,"out_of_place":null,"in_place":{"time":5.0}}, {"out_of_place":{"time":5.0}}, 7,
        {"size":4096,"out_of_place":{"time":5.0,"nwrong":3}}, {"size":8192,"out_of_place":{"time":"nan"}}]})",
                                        "x.json", question);
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_EQ(left_out(log, "wrong results"), 1U);
    EXPECT_EQ(left_out(log, "no time"), 1U);
    EXPECT_EQ(left_out(log, "N/A"), 2U);
    EXPECT_EQ(left_out(log, "unreadable"), 1U);
}

TEST(BenchmarkLogNccl, RecordsOfRccl) {
    auto const log = read_benchmark_log(
        R"([{"numCycle":0,"name":"AllReduce","nodes":1,"ranks":2,"gpusPerRank":1,"size":1000000,"type":"float",
             "redop":"sum","inPlace":0,"time":10.0,"algBw":100.0,"busBw":100.0,"wrong":"0"},
            {"name":"AllReduce","nodes":1,"ranks":2,"size":1000000,"inPlace":1,"time":9.0,"wrong":"0"}])",
        "x.json");
    ASSERT_EQ(log.rows.size(), 1U);
    EXPECT_DOUBLE_EQ(log.rows.front().time.base(), 10e-6);
}

/// 8 GPUs would print 1.75 times the algorithm bandwidth; the printed 1.5 is of 4.
TEST(BenchmarkLogNccl, RanksThatTheBandwidthsContradict) {
    EXPECT_THAT(error_of_log(table("10000000 2500000 float sum -1 100.0 100.00 150.00 0 100.0 100.00 150.00 0\n")),
                testing::HasSubstr("another count of ranks"));
}

TEST(BenchmarkLogNccl, DigitsLostInALine) {
    auto const log =
        read_benchmark_log(table("10000000 2500000 float sum -1 100.0 100.00 175.00 0 100.0 100.00 175.00 0\n"
                                 "10000000 2500000 float sum -1 10.0 100.00 175.00 0 100.0 100.00 175.00 0\n"
                                 "1000 250 float sum -1 0.00 0.00 0.00 0 100.0 0.01 0.02 0\n"
                                 "1000 250 float sum -1 N/A N/A N/A N/A 100.0 0.01 0.02 0\n"
                                 "0 0 float sum -1 9.00 0.00 0.00 0 9.00 0.00 0.00 0\n"
                                 "1000 250 flo\x01\xff sum 1e300 x\n"),
                           "x");
    EXPECT_EQ(log.rows.size(), 1U);
    EXPECT_EQ(left_out(log, "time and bandwidth disagree"), 1U);
    EXPECT_EQ(left_out(log, "time not above zero"), 1U);
    EXPECT_EQ(left_out(log, "N/A"), 1U);
    EXPECT_EQ(left_out(log, "no bytes"), 1U);
    EXPECT_EQ(left_out(log, "truncated"), 1U);
}

/// A damaged header says nothing: the columns stay those of the one before.
TEST(BenchmarkLogNccl, DamagedHeaderInATable) {
    std::string const row = "10000000 2500000 float sum -1 100.0 100.00 175.00 0 100.0 100.00 175.00 0\n";
    for (std::string const damaged : {"# busbw\n", "# time time time res root busbw i_min\n", "#,,,busbw,res\n"}) {
        auto const log = read_benchmark_log(table(row + damaged + row), "x");
        ASSERT_EQ(log.rows.size(), 2U) << damaged;
        EXPECT_EQ(log.rows[0].time, log.rows[1].time) << damaged;
    }
}

TEST(BenchmarkLogNccl, ResultsBehindAMarkAreCounted) {
    EXPECT_THAT(error_of_log(table("#  10000000 2500000 float sum -1 100.0 100.00 175.00 0 100.0 100.00 175.00 0\n")),
                testing::HasSubstr("results in a comment"));
}

TEST(BenchmarkLogNccl, TheCollectiveMustBeKnown) {
    std::string const rows = std::string{"# nThread 1 nGpus 8\n"} + header +
                             "10000000 2500000 float none -1 100.0 100.00 87.50 0 100.0 100.00 87.50 0\n";
    EXPECT_THAT(error_of_log(rows), testing::HasSubstr("--collective"));
    EXPECT_EQ(read_benchmark_log(rows, "all_gather_perf-8.txt").rows.front().collective, Collective::all_gather);
    LogQuestion question;
    question.collective = "reduce_scatter";
    EXPECT_EQ(read_benchmark_log(rows, "x", question).rows.front().collective, Collective::reduce_scatter);
    EXPECT_THAT(error_of_log("# Collective test starting: hypercube_perf\n" + rows), testing::HasSubstr("no known"));
    EXPECT_THAT(error_of_log("scatter_perf\nall_gather_perf\n" + rows), testing::HasSubstr("--collective"));
}

/// The count of iterations behind the program is not one of ranks; words like "my_test" name no collective.
TEST(BenchmarkLogNccl, OnlyTheLaunchersOwnWordsCount) {
    std::string const rows =
        std::string{header} + "10000000 2500000 float sum -1 100.0 100.00 175.00 0 100.0 100.00 175.00 0\n";
    auto const log = read_benchmark_log("cd /opt/my_test && mpirun -n 8 ./run_all_reduce_perf -n 20 | tee a_perf.log\n"
                                        "# nThread 1 nGpus 1\n" +
                                            rows,
                                        "x");
    EXPECT_EQ(log.rows.front().ranks, 8);
    EXPECT_EQ(log.rows.front().collective, Collective::all_reduce);
    // nobody says how many ranks: the bandwidths do, 1.75 = 2 x 7/8
    auto const shown = read_benchmark_log("mpirun ./all_reduce_perf -n 4\n# nThread 1 nGpus 1\n" + rows, "n5_x");
    EXPECT_EQ(shown.rows.front().ranks, 8);
    EXPECT_THAT(shown.notes, testing::Contains(testing::HasSubstr("8 ranks are taken from the ratio")));
    // at 2 (p - 1) / p = 1.99 +- 0.01 several counts of ranks lie within the rounding: nothing is guessed
    EXPECT_THAT(error_of_log("all_reduce_perf\n" + std::string{header} +
                             "1000 250 float sum -1 1.00 1.00 1.99 0 1.00 1.00 1.99 0\n"),
                testing::HasSubstr("--ranks"));
}

TEST(BenchmarkLogNccl, PrefixesOfLaunchersAndLogKeepers) {
    for (std::string const prefix :
         {"[1,0]<stdout>:", "0: ", "[0] ", "2026-01-02T03:04:05.678Z ", "2026-01-02 03:04:05,678 ",
          "2026-01-02T03:04:05.678901234Z stdout F ", "[1,0]<stdout>: 2026-01-02 03:04:05.1 "}) {
        std::string text;
        std::string const plain = table("10000000 2500000 float sum -1 100.0 100.00 175.00 0 100.0 100.00 175.00 0\n");
        for (std::size_t at = 0; at < plain.size();) {
            std::size_t const end = plain.find('\n', at);
            text += prefix + plain.substr(at, end - at) + "\r\n";
            at = end + 1;
        }
        EXPECT_EQ(read_benchmark_log(text, "x").rows.size(), 1U) << prefix;
    }
}

TEST(BenchmarkLogNccl, RanksFromTheirList) {
    std::string const rows = "10000000 2500000 float sum -1 100.0 100.00 100.00 0 100.0 100.00 100.00 0\n";
    std::string const start = "# Collective test starting: all_reduce_perf\n";
    auto const one = read_benchmark_log(start + ranks_on({"a", "a"}) + header + rows, "x");
    EXPECT_EQ(one.rows.front().nodes, 1);
    auto const two = read_benchmark_log(start + ranks_on({"a", "b"}) + header + rows, "x");
    EXPECT_EQ(two.rows.front().nodes, 2);
    // rank 0 of two hosts: two programs wrote into one file
    EXPECT_THAT(error_of_log(start + ranks_on({"a", "a"}) + ranks_on({"b", "b"}) + header + rows),
                testing::HasSubstr("--ranks"));
    std::string thousands;
    for (int i = 0; i < 4096; ++i) {
        thousands += "#  Rank " + std::to_string(i) + " Pid 1 on n" + std::to_string(i / 8) + " device 0 [0x1] Card\n";
    }
    auto const many = read_benchmark_log(
        start + thousands + header + "10000000 2500000 float sum -1 100.0 100.00 199.95 0 100.0 100.00 199.95 0\n",
        "x");
    EXPECT_EQ(many.rows.front().ranks, 4096);
    EXPECT_EQ(many.rows.front().nodes, 512);
}

/// Without a list of ranks nobody states the nodes: one node holds what its accelerators are, or eight of an unknown system.
TEST(BenchmarkLogNccl, RanksBeyondANodeAskForTheNodes) {
    auto const rows = [](int ranks) {
        std::string const bus = ranks == 16 ? "1.88" : "1.75";
        return "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus " + std::to_string(ranks) +
               " minBytes 8\n" + std::string{header} + "100000 25000 float sum -1 100.00 1.00 " + bus +
               " 0 100.00 1.00 " + bus + " 0\n";
    };
    EXPECT_EQ(read_benchmark_log(rows(8), "x").rows.front().nodes, 1);
    EXPECT_THAT(error_of_log(rows(16)), testing::HasSubstr("nodes not stated, and more ranks than a node has"));
    LogQuestion question;
    question.nodes = 2;
    EXPECT_EQ(read_benchmark_log(rows(16), "x", question).rows.front().nodes, 2);
    question = {.system = "rack", .node_size = [](std::string_view name) { return name == "rack" ? 72 : 0; }};
    EXPECT_EQ(read_benchmark_log(rows(16), "x", question).rows.front().nodes, 1);
    question.system = "box of four";
    question.node_size = [](std::string_view) { return 4; };
    EXPECT_THROW(read_benchmark_log(rows(8), "x", question), InputError);
}

/// Containers of several machines may have one name: each place of a GPU is listed once a machine.
TEST(BenchmarkLogNccl, MachinesOfOneName) {
    std::string list;
    for (int rank = 0; rank < 4; ++rank) {
        list += "#  Rank " + std::to_string(rank) + " Group  0 Pid 77 on box device " + std::to_string(rank % 2) +
                " [0000:0" + std::to_string(rank % 2) + ":00] Card\n";
    }
    auto const log = read_benchmark_log("# Collective test starting: all_reduce_perf\n" + list + header +
                                            "100000 25000 float sum -1 100.00 1.00 1.50 0 100.00 1.00 1.50 0\n",
                                        "x");
    EXPECT_EQ(log.rows.front().ranks, 4);
    EXPECT_EQ(log.rows.front().nodes, 2);
}
