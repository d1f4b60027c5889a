// Matched collectives of recorded sets against their references: every skew, straggler and wait, in whole microseconds
// as those traces have them.

#include "headroom/io/trace.hpp"
#include "headroom/trace/trace_collectives.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::network;
using namespace headroom::trace;

namespace {

namespace fs = std::filesystem;

fs::path shared_traces() {
    char const* const stated = std::getenv("HEADROOM_SHARED");
    fs::path const root = stated != nullptr ? fs::path(stated) : fs::path(HEADROOM_SOURCE_DIR) / ".." / "shared";
    return root / "traces";
}

CollectiveAnswer answer_of(fs::path const& folder, std::string const& names, int ranks) {
    std::vector<RankRuns> runs;
    for (int r = 0; r < ranks; ++r) {
        std::string name = names;
        name.replace(name.find('#'), 1, std::to_string(r));
        for (RankTrace const& trace : io::read_traces(folder / name)) {
            runs.push_back({r, trace.epoch_ns, trace.clock_is_absolute, trace.host_name, collective_runs(trace)});
        }
    }
    return match_collectives(runs);
}

/// k,kernel,start_skew_us,last_arriver,end_skew_us,min_dur_us,max_dur_us,last_start_to_last_end_us
std::vector<std::vector<std::string>> rows_of(fs::path const& file) {
    std::vector<std::vector<std::string>> rows;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::vector<std::string> cells;
        std::istringstream parts(line);
        for (std::string cell; std::getline(parts, cell, ',');) { cells.push_back(cell); }
        rows.push_back(cells);
    }
    if (!rows.empty()) { rows.erase(rows.begin()); }
    return rows;
}

void expect_rows(CollectiveAnswer const& answer, fs::path const& file) {
    auto const rows = rows_of(file);
    ASSERT_FALSE(rows.empty()) << file;
    ASSERT_EQ(answer.matched.size(), rows.size());
    EXPECT_EQ(answer.unmatched, 0);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        auto const& one = answer.matched[k];
        auto const in_ns = [&](std::size_t column) { return std::stoll(rows[k][column]) * 1000; };
        EXPECT_EQ(one.name, rows[k][1]);
        EXPECT_EQ(one.start_skew, in_ns(2)) << k;
        EXPECT_EQ(one.last_arriver, std::stoll(rows[k][3])) << k;
        EXPECT_EQ(one.end_skew, in_ns(4)) << k;
        EXPECT_EQ(one.shortest, in_ns(5)) << k;
        EXPECT_EQ(one.longest, in_ns(6)) << k;
        EXPECT_EQ(one.transfer, in_ns(7)) << k;
    }
    for (ClockOffset const& clock : answer.clocks) { EXPECT_FALSE(clock.corrected) << clock.rank; }
}

struct ReferenceSkew {
    std::vector<std::int64_t> last, waited_us; ///< by rank
    double end_median, end_p95, end_max, start_median, start_p95, start_max;
};

void expect_summary(CollectiveAnswer const& answer, ReferenceSkew const& expected) {
    for (std::size_t r = 0; r < expected.last.size(); ++r) {
        EXPECT_EQ(answer.waiting[r].last, expected.last[r]) << r;
        EXPECT_EQ(answer.waiting[r].waited, expected.waited_us[r] * 1000) << r;
    }
    EXPECT_NEAR(answer.end_skew_ns.p50, expected.end_median * 1e3, 1e-6);
    EXPECT_NEAR(answer.end_skew_ns.p95, expected.end_p95 * 1e3, 1e-6);
    EXPECT_NEAR(answer.end_skew_ns.max, expected.end_max * 1e3, 1e-6);
    EXPECT_NEAR(answer.start_skew_ns.p50, expected.start_median * 1e3, 1e-6);
    EXPECT_NEAR(answer.start_skew_ns.p95, expected.start_p95 * 1e3, 1e-6);
    EXPECT_NEAR(answer.start_skew_ns.max, expected.start_max * 1e3, 1e-6);
}

TEST(TraceCollectivesReference, TensorParallelOnOneClock) {
    auto const folder = shared_traces() / "astrasim_megatron_tp8";
    if (!fs::exists(folder)) { GTEST_SKIP() << "no recorded traces at " << folder; }
    auto const answer = answer_of(folder, "megatron_kineto_#.json.gz", 8);
    expect_rows(answer, folder / "exact_reference" / "megatron_tp8__skew.csv");
    expect_summary(answer, {{32, 4, 4, 15, 0, 1, 28, 0},
                            {191397, 431024, 362815, 421825, 445087, 441069, 214095, 432178},
                            30.0,
                            46.85,
                            49.0,
                            2785.0,
                            18469.5,
                            41730.0});
}

TEST(TraceCollectivesReference, RecommenderWithTwoKindsOfCollectives) {
    auto const folder = shared_traces() / "param_dlrm";
    if (!fs::exists(folder)) { GTEST_SKIP() << "no recorded traces at " << folder; }
    auto const answer = answer_of(folder, "rank#.pt.trace.json.gz", 8);
    expect_rows(answer, folder / "exact_reference" / "param_dlrm__skew.csv");
    expect_summary(answer, {{0, 0, 0, 0, 1, 2, 0, 5},
                            {5580, 11125, 3280, 9571, 6370, 6041, 3342, 1534},
                            2.5,
                            6.3,
                            7.0,
                            559.0,
                            5340.95,
                            7624.0});
    // Such kernels are named for sending and receiving only: the ranges of the host that launch them name the
    // collective.
    EXPECT_EQ(answer.matched.front().collective, Collective::all_to_all);
}

TEST(TraceCollectivesReference, BytesByTheConventionOfTotals) {
    auto const folder = shared_traces() / "hta";
    if (!fs::exists(folder)) { GTEST_SKIP() << "no recorded traces at " << folder; }
    auto const traces = io::read_traces(folder / "nccl_parser_config" / "nccl_data.json.gz");
    ASSERT_EQ(traces.size(), 1U);
    auto const runs = collective_runs(traces.front());
    auto const rows = rows_of(folder / "exact_reference" / "collectives.csv");
    ASSERT_EQ(runs.size(), rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        auto const& label = runs.label_of(runs.runs[k]);
        EXPECT_EQ(label.what, rows[k][2]);
        EXPECT_EQ(runs.runs[k].bytes, std::stoll(rows[k][6])) << k;
        EXPECT_EQ(label.group_size, std::stoi(rows[k][8]));
        EXPECT_EQ(label.group, rows[k][9]);
        EXPECT_EQ(label.group_ranks, (std::vector<std::int32_t>{0, 1}));
    }
}

} // namespace
} // namespace headroom
