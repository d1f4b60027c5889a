// Folders to files, files to sets: what is taken, what is left out, and that nothing but the files matters.

#include "support/compressed.hpp"
#include "support/without_rights.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace headroom;
using namespace headroom::trace;
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// A folder that goes away with its test.
class TraceFolder : public testing::Test {
protected:
    fs::path root = fs::temp_directory_path() / ("headroom-files-" + std::to_string(::getpid()) + "-" +
                                                 testing::UnitTest::GetInstance()->current_test_info()->name());
    void SetUp() override { fs::create_directories(root); }
    void TearDown() override { fs::remove_all(root); }

    fs::path put(std::string const& name, std::string const& content) const {
        fs::path const path = root / name;
        fs::create_directories(path.parent_path());
        std::ofstream{path, std::ios::binary} << content;
        return path;
    }
    std::vector<std::string> below(std::vector<fs::path> const& paths) const {
        std::vector<std::string> names;
        for (fs::path const& path : paths) { names.push_back(path.lexically_relative(root).string()); }
        return names;
    }
    io::TraceFiles files() const { return io::trace_files({root.string()}); }
};

std::string trace_text(int kernels, std::string const& head = "") {
    std::string text = "{" + head + R"("traceEvents": [)";
    for (int i = 0; i < kernels; ++i) {
        text += std::string{i > 0 ? "," : ""} + R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":)" +
                std::to_string(100 * i) + R"(,"dur":50,"args":{"stream":7,"device":0}})";
    }
    return text + "]}";
}
std::string rank_head(int rank) { return R"("distributedInfo":{"rank":)" + std::to_string(rank) + "},"; }

TEST_F(TraceFolder, EverythingBelowInTheOrderOfNumbers) {
    for (char const* const name : {"rank10.json", "rank2.json", "node1/rank3.json.gz", "node1/deep/er/rank4.json"}) {
        put(name, std::string{name}.ends_with("gz") ? test::gzip_of(trace_text(2)) : trace_text(2));
    }
    put(".hidden.json", trace_text(1));
    put(".cache/rank0.json", trace_text(1));
    put("notes.txt", "what we ran\n");
    put("DONE", "");
    put("report.nsys-rep", "binary");
    put("stats.csv", "Time (%),Total Time (ns),Instances,Name\n60.0,6000,3,gemm\n");
    put("summary.txt",
        " ** CUDA GPU Kernel Summary\n\n Time (%)  Total Time (ns)  Instances  Name\n 60.0  6000  3  gemm\n");
    io::TraceFiles const found = files();
    EXPECT_THAT(below(found.files),
                ElementsAre("node1/deep/er/rank4.json", "node1/rank3.json.gz", "rank2.json", "rank10.json"));
    EXPECT_THAT(found.left_out, ElementsAre(HasSubstr("DONE: no trace (it is empty)"),
                                            HasSubstr("notes.txt: no trace (not a trace that headroom can read"),
                                            HasSubstr("report.nsys-rep: no trace (it is a report of Nsight Systems)"),
                                            HasSubstr("stats.csv: no trace (it is a table of nsys stats)"),
                                            HasSubstr("summary.txt: no trace (it is a table of nsys stats)")));
}

TEST_F(TraceFolder, AnEmptyFileNamedLikeATraceIsARankThatIsNotRead) {
    put("rank0.json", trace_text(2));
    put("rank1.json", "");
    put("rank2.json", "\n");
    put("run.lock", "");
    EXPECT_THAT(files().unread,
                ElementsAre(HasSubstr("rank1.json: holds nothing"), HasSubstr("rank2.json: holds nothing")));
    EXPECT_THAT(files().left_out, ElementsAre(HasSubstr("run.lock: no trace (it is empty)")));
}

TEST_F(TraceFolder, LinksLeadNowhereTwice) {
    fs::path const trace = put("a/rank0.json", trace_text(2));
    fs::create_directory_symlink(root, root / "a" / "around");
    fs::create_directory_symlink(root / "a", root / "b");
    fs::create_symlink(trace, root / "again.json");
    fs::create_hard_link(trace, root / "hard.json");
    fs::create_symlink(root / "absent", root / "dangling.json");
    io::TraceFiles const found = files();
    EXPECT_EQ(found.files.size(), 1U);
    EXPECT_THAT(found.left_out, ElementsAre(HasSubstr("dangling.json: cannot be read")));
    EXPECT_EQ(io::trace_files({trace.string(), root.string(), trace.string(), (root / "b").string()}).files.size(), 1U);
}

TEST_F(TraceFolder, APipeInAFolderIsNotWaitedFor) {
    put("rank0.json", trace_text(2));
    ASSERT_EQ(::mkfifo((root / "pipe").c_str(), 0600), 0);
    EXPECT_THAT(files().left_out, ElementsAre(HasSubstr("pipe: no regular file")));
}

TEST_F(TraceFolder, WhatIsNotThereOrHoldsNothingIsAnError) {
    auto const fault_of = [](std::string const& path) {
        try {
            io::trace_files({path});
            return std::string{"none"};
        } catch (InputError const& error) {
            return std::string{error.fault() == Fault::unreadable ? "unreadable: " : "insufficient: "} + error.what();
        }
    };
    EXPECT_THAT(fault_of((root / "absent").string()), HasSubstr("absent: no such file or folder"));
    EXPECT_THAT(fault_of(root.string()), HasSubstr("insufficient: "));
    EXPECT_THAT(fault_of(root.string()), HasSubstr("it holds no file"));
    put("notes.txt", "text");
    EXPECT_THAT(fault_of(root.string()), HasSubstr("its file is of no known format"));
    fs::create_hard_link(root / "notes.txt", root / "same.txt");
    EXPECT_THAT(fault_of(root.string()), HasSubstr("its file is of no known format"));
    fs::create_directories(root / "circle");
    fs::create_directory_symlink(root / "circle", root / "circle" / "itself");
    EXPECT_THAT(fault_of((root / "circle").string()), HasSubstr("insufficient: "));
    EXPECT_THAT(fault_of((root / "circle").string()), HasSubstr("it holds no file"));
    fs::create_symlink("loop", root / "loop");
    EXPECT_THAT(fault_of((root / "loop").string()), HasSubstr("unreadable: "));
}

TEST_F(TraceFolder, WhatCannotBeOpenedInAFolderMayBeATrace) {
    put("rank0.json", trace_text(3));
    fs::permissions(put("rank1.json", trace_text(3)), fs::perms::none);
    put("node/rank2.json", trace_text(3));
    fs::permissions(root / "node", fs::perms::none);
    io::TraceSet set;
    test::without_rights([&] { set = io::read_trace_set(files(), {}, {}); });
    fs::permissions(root / "node", fs::perms::owner_all);
    EXPECT_EQ(set.ranks.size(), 1U);
    EXPECT_THAT(set.unread, ElementsAre(HasSubstr("node: cannot be read"), HasSubstr("rank1.json: cannot be read")));
    EXPECT_THAT(set.faults, ElementsAre(Fault::unreadable, Fault::unreadable));
}

TEST_F(TraceFolder, AFileThatIsNoTraceSaysWhatItIs) {
    auto const problem_of = [&](std::string const& content) {
        try {
            io::read_traces(content, "given");
            return std::string{};
        } catch (InputError const& error) {
            EXPECT_EQ(error.fault(), Fault::unreadable);
            return std::string{error.what()};
        }
    };
    EXPECT_THAT(problem_of(""), HasSubstr("it is empty"));
    EXPECT_THAT(problem_of("words"), HasSubstr("not a trace that headroom can read"));
    EXPECT_THAT(problem_of("PK\x03\x04zip"), HasSubstr("it is a zip archive"));
    EXPECT_THAT(problem_of(test::gzip_of("words")), HasSubstr("not a trace that headroom can read"));
    EXPECT_THAT(problem_of(test::gzip_of(trace_text(4)).substr(0, 14)), HasSubstr("cut short"));
}

TEST_F(TraceFolder, DamageOfTheBytesIsCountedWithWhatWasRead) {
    std::string const whole = test::gzip_of(trace_text(2000));
    std::vector<RankTrace> const traces = io::read_traces(whole.substr(0, whole.size() - 6), "cut.json.gz");
    ASSERT_EQ(traces.size(), 1U);
    EXPECT_EQ(traces[0].size(), 2000U) << "all text is there, the trailer is not";
    ASSERT_EQ(traces[0].issues.size(), 1U);
    EXPECT_EQ(traces[0].issues[0].kind, "cut short");
    EXPECT_THAT(traces[0].issues[0].first_at, HasSubstr("cut.json.gz: byte "));
}

TEST_F(TraceFolder, SetsDoNotDependOnThreadsOrParts) {
    for (int i = 0; i < 9; ++i) {
        std::string const text = trace_text(10 + 100 * (i % 4), i < 6 ? rank_head(i % 5) : "");
        put("trace_" + std::to_string(i) + ".json", i % 2 == 1 ? test::gzip_of(text) : text);
    }
    put("trace_9.json", "{\"traceEvents\": []}");
    io::TraceFiles const found = files();
    ASSERT_EQ(found.files.size(), 10U);
    io::TraceReading reading;
    std::string const one = io::write_trace_part(io::read_trace_set(found, {}, reading));
    for (int const threads : {2, 3, 16}) {
        reading.threads = threads;
        EXPECT_TRUE(io::write_trace_part(io::read_trace_set(found, {}, reading)) == one) << threads;
    }
    for (int const parts : {2, 3, 11}) {
        std::vector<io::TraceSet> shards;
        for (int i = parts; i-- > 0;) { shards.push_back(io::read_trace_set(found, {}, reading, {i, parts})); }
        EXPECT_TRUE(io::write_trace_part(io::merge_trace_sets(shards)) == one) << parts;
    }
    // Parts as files, read as a set.
    std::vector<std::string> names;
    for (int i = 0; i < 3; ++i) {
        std::string const part = io::write_trace_part(io::read_trace_set(found, {}, reading, {i, 3}));
        names.push_back(put("parts/" + std::to_string(i), part).string());
    }
    EXPECT_TRUE(io::write_trace_part(io::read_trace_set(io::trace_files(names), {}, reading)) == one);
    EXPECT_TRUE(io::write_trace_part(io::read_trace_set(io::trace_files({(root / "parts").string()}), {}, reading)) ==
                one);
}

TEST_F(TraceFolder, OneUnreadableFileDoesNotSpoilTheOthers) {
    std::vector<std::string> const names{put("rank0.json", trace_text(3)).string(),
                                         put("rank1.json", "not a trace").string(),
                                         put("rank2.json", trace_text(3)).string()};
    io::TraceSet const set = io::read_trace_set(io::trace_files(names), {}, {});
    ASSERT_EQ(set.ranks.size(), 2U);
    EXPECT_EQ(set.ranks[1].rank, 2) << "the name says so";
    EXPECT_THAT(set.unread, ElementsAre(HasSubstr("rank1.json: cannot be read as a trace")));
    EXPECT_THROW(io::read_trace_set(io::trace_files({names[1]}), {}, {}), InputError);
}

TEST_F(TraceFolder, ProgressReachesAllBytesAndStops) {
    for (int i = 0; i < 6; ++i) { put("rank" + std::to_string(i) + ".json", trace_text(50)); }
    std::uint64_t last = 0, all = 0;
    io::TraceReading reading;
    reading.threads = 2;
    io::read_trace_set(files(), {}, reading, {}, [&](std::uint64_t done, std::uint64_t of) {
        EXPECT_GT(done, last);
        last = done;
        all = of;
        return true;
    });
    EXPECT_EQ(last, all);
    reading.threads = 1;
    io::TraceSet const stopped =
        io::read_trace_set(files(), {}, reading, {}, [](std::uint64_t, std::uint64_t) { return false; });
    EXPECT_EQ(stopped.ranks.size(), 1U);
    EXPECT_TRUE(stopped.unread.empty());
}

} // namespace
