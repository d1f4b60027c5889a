#include "support/compressed.hpp"
#include "support/recorded_traces.hpp"
#include "support/scratch_folder.hpp"
#include "traces/trace_formats.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sqlite3.h>

namespace headroom {

using namespace headroom::trace;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

/// The bytes of a database that a text in SQL makes.
std::string database(std::string const& sql) {
    sqlite3* made = nullptr;
    EXPECT_EQ(sqlite3_open(":memory:", &made), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(made, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(made);
    sqlite3_int64 size = 0;
    unsigned char* const bytes = sqlite3_serialize(made, "main", &size, 0);
    std::string text{reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(size)};
    sqlite3_free(bytes);
    sqlite3_close(made);
    return text;
}

std::string const& sample() {
    static std::string const sql = io::read_file(HEADROOM_SOURCE_DIR "/tests/data/traces/nsys_two_ranks.sql");
    return sql;
}

std::vector<RankTrace> read(std::string const& bytes) {
    auto const source = io::open_source(bytes, "run.sqlite", {std::uint64_t{1} << 30, 1100.0});
    return io::read_nsys(*source, "run.sqlite", {});
}

std::vector<RankTrace> read(fs::path const& path) {
    auto const source = io::open_source(path, {std::uint64_t{1} << 30, 1100.0});
    return io::read_nsys(*source, path.filename().string(), {});
}

std::string refusal(std::string const& bytes, Fault fault) {
    try {
        read(bytes);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), fault) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "accepted";
    return {};
}

std::vector<std::string> spans_of(RankTrace const& trace) {
    std::vector<std::string> spans;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        auto const& line = trace.timeline;
        spans.push_back(std::string{name_of(trace.kind[i])} + " " + line.names[line.name[i]].substr(0, 24) + " " +
                        std::to_string(line.begin[i]) + "-" + std::to_string(line.end[i]) + " @" +
                        line.lanes[line.lane[i]] + " #" + std::to_string(trace.correlation[i]));
    }
    return spans;
}

std::map<std::string, std::uint64_t> issues_of(RankTrace const& trace) {
    std::map<std::string, std::uint64_t> counts;
    for (auto const& issue : trace.issues) { counts[issue.kind] = issue.count; }
    return counts;
}

TEST(NsysTrace, AProcessOnADeviceIsARank) {
    auto const traces = read(database(sample()));
    ASSERT_EQ(traces.size(), 2U);
    // Processes say their MPI rank in a range: the second is rank 0.
    EXPECT_EQ(traces[0].rank, 0);
    EXPECT_EQ(traces[1].rank, 1);
    EXPECT_EQ(traces[1].rank_from, "metadata");
    EXPECT_EQ(traces[1].host_name, "node7");
    EXPECT_EQ(traces[1].device.name, "NVIDIA A100");
    EXPECT_EQ(traces[1].device.units, 108);
    EXPECT_EQ(traces[1].device.memory_bytes, 42949672960);
    EXPECT_TRUE(traces[1].clock_is_absolute);
    EXPECT_EQ(traces[1].epoch_ns, 1700000000000000800);
    EXPECT_THAT(spans_of(traces[1]),
                ElementsAre("compute void gemm<float>(float*) 200-700 @stream 7 #11",
                            "communication ncclDevKernel_AllReduce_ 400-1000 @stream 20 #12",
                            "compute void gemm<float>(float*) 1200-2200 @stream 7 #13",
                            "memory Memcpy HtoD 2200-2400 @stream 7 #14",
                            "device_wait Stream Wait Event 300-350 @stream 20 #16",
                            "launch cudaLaunchKernel 100-150 @thread 100 (python) #11",
                            "synchronization cudaStreamSynchronize 2200-2500 @thread 100 (python) #15",
                            "annotation ProfilerStep#4 0-2600 @thread 100 (python) #0",
                            "communication mpi:MPI_Barrier 10-20 @thread 100 (python) #0"));
    ASSERT_EQ(traces[1].steps.size(), 1U);
    EXPECT_EQ(traces[1].steps[0].number, 4);
    ASSERT_EQ(traces[1].copies.size(), 1U);
    EXPECT_EQ(traces[1].copies[0].bytes, 4096);
    EXPECT_EQ(traces[1].events, 0U); // counted once, in the first
    EXPECT_GT(traces[0].events, 10U);
}

TEST(NsysTrace, OnlyCallsOfMpiThatExchangeAreCommunication) {
    for (auto const& [call, moves] : std::vector<std::pair<std::string, bool>>{{"MPI_Init", false},
                                                                               {"MPI_Init_thread", false},
                                                                               {"MPI_Finalize", false},
                                                                               {"MPI_Comm_rank", false},
                                                                               {"MPI_Get_processor_name", false},
                                                                               {"MPI_Type_commit", false},
                                                                               {"MPI_Reduce_local", false},
                                                                               {"MPI_Isend", true},
                                                                               {"MPI_Ialltoallv", true},
                                                                               {"MPI_Waitall", true},
                                                                               {"MPI_Get", true},
                                                                               {"MPI_Neighbor_allgather", true}}) {
        std::string script = sample();
        for (auto at = script.find("MPI_Barrier"); at != std::string::npos; at = script.find("MPI_Barrier", at + 1)) {
            script.replace(at, 11, call);
        }
        auto const traces = read(database(script));
        EXPECT_EQ(std::ranges::count(traces[1].kind, SpanKind::communication), moves ? 2 : 1) << call;
    }
}

TEST(NsysTrace, DirtyRowsAreCountedWithTheFirstPlace) {
    auto const traces = read(database(sample()));
    auto issues = issues_of(traces[0]);
    issues.merge(issues_of(traces[1]));
    EXPECT_EQ(issues["not a whole number"], 1U);
    EXPECT_EQ(issues["row without a start"], 1U);
    EXPECT_EQ(issues["ends before it begins"], 1U);
    EXPECT_EQ(issues["range without an end"], 1U);
    EXPECT_EQ(issues["process without device work, left out"], 1U);
    // Its name is not in the table: the short name stands in, and it takes no time.
    EXPECT_THAT(spans_of(traces[0])[1], HasSubstr("compute gemm 600-600"));
    std::map<std::string, std::string> places;
    for (auto const& trace : traces) {
        for (auto const& issue : trace.issues) { places[issue.kind] = issue.first_at; }
    }
    EXPECT_EQ(places["ends before it begins"], "run.sqlite: CUPTI_ACTIVITY_KIND_KERNEL row 5");
}

TEST(NsysTrace, MemoryAndGzipAndAFileGiveTheSame) {
    std::string const bytes = database(sample());
    test::ScratchFolder const folder;
    fs::path const path = folder.path() / "nsys trace?#1.sqlite"; // a name that a URI would not take
    std::ofstream{path, std::ios::binary} << bytes;
    auto const memory = read(bytes), packed = read(test::gzip_of(bytes)), file = read(path);
    ASSERT_EQ(memory.size(), 2U);
    ASSERT_EQ(packed.size(), 2U);
    ASSERT_EQ(file.size(), 2U);
    for (std::size_t i = 0; i < memory.size(); ++i) {
        EXPECT_EQ(spans_of(memory[i]), spans_of(packed[i]));
        EXPECT_EQ(spans_of(memory[i]), spans_of(file[i]));
    }
    EXPECT_EQ(file[0].bytes_read, bytes.size());
    EXPECT_LT(packed[0].bytes_read, bytes.size());
    EXPECT_EQ(packed[0].text_bytes, bytes.size());
}

TEST(NsysTrace, ADatabaseWithALogBesideItIsRead) {
    std::string bytes = database(sample());
    bytes[18] = bytes[19] = 2; // what a writer that is still at it leaves in the header
    EXPECT_EQ(spans_of(read(bytes)[0]), spans_of(read(database(sample()))[0]));
}

TEST(NsysTrace, EveryTableButOneMayBeMissing) {
    // The oldest schemas have neither a process nor names by number.
    auto const traces = read(database("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId);"
                                      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 3, 7), (6, 8, 2, 7);"));
    ASSERT_EQ(traces.size(), 2U); // by device
    EXPECT_THAT(spans_of(traces[1]), ElementsAre("compute kernel 0-4 @stream 7 #0"));
    EXPECT_FALSE(traces[0].clock_is_absolute);
    EXPECT_EQ(issues_of(traces[0])["kernel without a name"], 2U);
}

TEST(NsysTrace, ThreadsOfAProcessGoToTheDeviceThatTheyDrive) {
    std::string sql = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                      "INSERT INTO StringIds VALUES (1, 'k'), (2, 'cudaLaunchKernel'), (3, 'cudaMalloc');"
                      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId,"
                      " globalPid, shortName);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, 1 << 24, 1),"
                      " (10, 20, 1, 7, 2, 1 << 24, 1);"
                      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, (1 << 24) + 5, 1, 2),"
                      " (1, 2, (1 << 24) + 6, 2, 2), (3, 4, (1 << 24) + 5, 3, 3), (3, 4, (1 << 24) + 7, 4, 3);";
    auto const traces = read(database(sql));
    ASSERT_EQ(traces.size(), 2U);
    EXPECT_THAT(spans_of(traces[0]),
                ElementsAre("compute k 9-19 @stream 7 #1", "launch cudaLaunchKernel 0-1 @thread 5 #1",
                            "launch cudaMalloc 2-3 @thread 5 #3", "launch cudaMalloc 2-3 @thread 7 #4"));
    EXPECT_THAT(spans_of(traces[1]),
                ElementsAre("compute k 9-19 @stream 7 #2", "launch cudaLaunchKernel 0-1 @thread 6 #2",
                            "launch cudaMalloc 2-3 @thread 7 #4"));
}

TEST(NsysTrace, NothingOfTheSchemaRuns) {
    // A view and a computed column in place of what is read: neither is seen.
    std::string const kernel = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId,"
                               " correlationId AS (start + 1)); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL"
                               " VALUES (5, 9, 0, 7);";
    auto const traces = read(database(kernel + "CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS SELECT 1 AS start, 2 AS end,"
                                               " 0 AS deviceId, 7 AS streamId;"
                                               "CREATE VIEW StringIds AS SELECT 1 AS id, randomblob(10) AS value;"));
    ASSERT_EQ(traces.size(), 1U);
    EXPECT_THAT(spans_of(traces[0]), ElementsAre("compute kernel 0-4 @stream 7 #0"));
}

TEST(NsysTrace, WhatIsNoExportIsRefusedInOneLine) {
    EXPECT_THAT(refusal(database("CREATE TABLE songs (title TEXT);"), Fault::unreadable),
                HasSubstr("run.sqlite: a database of another kind"));
    EXPECT_THAT(refusal(database("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"), Fault::insufficient),
                HasSubstr("an export without events"));
    EXPECT_THAT(refusal(database(sample()).substr(0, 100), Fault::unreadable), HasSubstr("run.sqlite: "));
}

TEST(NsysTrace, ACutDatabaseEndsWhereItIsCut) {
    std::string const bytes = database(sample());
    std::size_t readable = 0;
    for (std::size_t pages = 1; pages * 4096 < bytes.size(); ++pages) {
        try {
            auto const traces = read(bytes.substr(0, pages * 4096));
            ++readable;
            std::uint64_t damage = 0;
            for (auto const& trace : traces) {
                auto issues = issues_of(trace);
                damage += issues["damaged table"] + issues["cut short"];
            }
            EXPECT_GT(damage, 0U) << pages;
        } catch (InputError const& error) { EXPECT_THAT(error.what(), HasSubstr("run.sqlite: ")); }
    }
    EXPECT_GT(readable, 0U);
}

// ---- recorded exports -----------------------------------------------------------------------------------------------

std::int64_t length(std::vector<std::pair<Ticks, Ticks>> spans) {
    std::sort(spans.begin(), spans.end());
    Ticks end = std::numeric_limits<Ticks>::min(), sum = 0;
    for (auto const& [from, to] : spans) {
        sum += std::max<Ticks>(0, to - std::max(from, end));
        end = std::max(end, to);
    }
    return sum;
}

TEST(NsysTrace, RecordedExportsHaveTheirReferenceToTheNanosecond) {
    auto const root = test::recorded_traces();
    if (root.empty()) { GTEST_SKIP() << "no recorded traces here"; }
    auto const reference = nlohmann::json::parse(io::read_file((root / "nsys_sqlite/reference.json").string()));
    ASSERT_FALSE(reference.empty());
    for (auto const& [file, ranks] : reference.items()) {
        auto const traces = read(root / "nsys_sqlite" / file);
        ASSERT_EQ(traces.size(), ranks.size()) << file;
        auto const& expected = ranks.at("0");
        std::array<std::vector<std::pair<Ticks, Ticks>>, 3> kinds;
        std::vector<std::pair<Ticks, Ticks>> all;
        for (std::size_t i = 0; i < traces[0].size(); ++i) {
            auto const& line = traces[0].timeline;
            bool const device = traces[0].lanes[line.lane[i]].device;
            if (!device || !occupies_device(traces[0].kind[i])) { continue; }
            kinds.at(static_cast<std::size_t>(traces[0].kind[i])).emplace_back(line.begin[i], line.end[i]);
            all.emplace_back(line.begin[i], line.end[i]);
        }
        EXPECT_EQ(length(all), expected.at("busy_ns")) << file;
        EXPECT_EQ(length(kinds[0]), expected.at("comp_ns")) << file;
        EXPECT_EQ(length(kinds[1]), expected.at("comm_ns")) << file;
        EXPECT_EQ(length(kinds[2]), expected.at("mem_ns")) << file;
        EXPECT_EQ(kinds[0].size(), expected.at("counts").at("comp")) << file;
        EXPECT_EQ(kinds[2].size(), expected.at("counts").at("mem")) << file;
    }
}

TEST(NsysTrace, AllRecordedExportsAreRead) {
    auto const root = test::recorded_traces();
    if (root.empty()) { GTEST_SKIP() << "no recorded traces here"; }
    // Kernels that the export's own table counts, by file.
    std::map<std::string, std::size_t> const kernels{{"con_kernel.sqlite", 9},   {"ex-gpu.s1000.sqlite.gz", 6},
                                                     {"profile1.sqlite.gz", 12}, {"profile2.sqlite.gz", 12},
                                                     {"profile4.sqlite.gz", 12}, {"profile8.sqlite.gz", 12},
                                                     {"profile16.sqlite.gz", 12}};
    for (auto const& [file, count] : kernels) {
        auto const traces = read(root / "nsys_sqlite/extrap" / file);
        ASSERT_EQ(traces.size(), 1U) << file;
        EXPECT_EQ(std::ranges::count(traces[0].kind, SpanKind::compute), count) << file;
        EXPECT_FALSE(traces[0].device.name.empty()) << file;
        for (auto const& issue : traces[0].issues) {
            EXPECT_THAT(issue.kind, ::testing::AnyOf("range without an end", "")) << issue.first_at;
        }
    }
}

} // namespace
} // namespace headroom
