// Whether the files of a set are of one run, and whether two of them are the same.

#include "traces/rank_names.hpp"
#include "traces/trace_runs.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

using testing::HasSubstr;

struct File {
    std::string name;
    std::optional<std::int64_t> stated = {};
    std::int64_t begin = 0; ///< on the clock of the day; 0: clocks do not say
    std::int64_t step = -1; ///< number of the one step that is annotated; -1: none is
};

std::vector<RankDigest> digests_of(std::vector<File> const& files) {
    std::vector<RankDigest> digests;
    for (File const& file : files) {
        RankDigest digest;
        digest.source = file.name;
        digest.stated_rank = file.stated;
        digest.clock_is_absolute = file.begin != 0;
        digest.epoch_ns = file.begin;
        digest.spans = digests.size();
        digest.breakdown.whole.end = 10;
        if (file.step >= 0) { digest.breakdown.steps.emplace_back().step.number = file.step; }
        digests.push_back(digest);
    }
    return digests;
}

/// The line with which the files are refused; empty where they are taken as one run.
std::string refusal(std::vector<File> const& files) {
    auto digests = digests_of(files);
    io::assign_ranks(digests);
    try {
        io::refuse_several_runs(digests);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_LE(std::string{error.what()}.size(), 160U);
        return error.what();
    }
    return {};
}

TEST(TraceRuns, OneRunIsTaken) {
    EXPECT_EQ(refusal({{"run/rank0.json", 0}, {"run/rank1.json", 1}}), "");
    EXPECT_EQ(refusal({{"node0/rank0.json", 0}, {"node1/rank1.json", 1}}), "") << "a folder for each node";
    EXPECT_EQ(refusal({{"rank0/trace.json", 0}, {"rank1/trace.json", 0}}), "") << "stated wrongly; the folders say it";
    EXPECT_EQ(refusal({{"0/trace.json"}, {"1/trace.json"}}), "");
    EXPECT_EQ(refusal({{"00.json"}, {"01.json"}}), "") << "numbered";
    EXPECT_EQ(refusal({{"a.json", {}, 100}, {"b.json", {}, 105}}), "") << "at the same time";
    EXPECT_EQ(refusal({{"a.json", 0, 100}, {"b.json", 0, 105}}), "") << "at the same time: stated wrongly";
    EXPECT_EQ(refusal({{"a.json", 5, 100}, {"b.json", 5, 300}}), "") << "a process that was profiled twice";
    EXPECT_EQ(refusal({{"n_7.100.pt.trace.json", {}, 100}, {"n_7.200.pt.trace.json", {}, 200}}), "");
    EXPECT_EQ(refusal({{"a.json", 5, 100, 3}, {"b.json", 5, 300, 4}}), "") << "steps count on";
    EXPECT_EQ(refusal({{"rank0.1.json", 0, 100}, {"rank0.2.json.gz", 0, 300}}), "") << "cycles of one profiler";
    EXPECT_EQ(refusal({{"rank0_3fa9.json", 0, 100}, {"rank0_bc01.json", 0, 300}}), "") << "hexadecimal numbers";
}

TEST(TraceRuns, SeveralRunsAreListedAndRefused) {
    auto const folders = refusal({{"x/a/r0.json", 0}, {"x/a/r1.json", 1}, {"x/b/r0.json", 0}, {"x/b/r1.json", 1}});
    EXPECT_THAT(folders, HasSubstr("traces of 2 runs"));
    EXPECT_THAT(folders, HasSubstr("a (ranks 0 to 1), b (ranks 0 to 1)"));
    EXPECT_THAT(refusal({{"a/worker0.100.pt.trace.json"}, {"b/worker0.200.pt.trace.json"}}), HasSubstr("2 runs"));
    EXPECT_THAT(refusal({{"a/rank1.json"}, {"b/rank1.json"}}), HasSubstr("2 runs"));
    EXPECT_THAT(refusal({{"a.json", 0}, {"b.json", 0}, {"c.json", 0}}), HasSubstr("several traces of one rank"));
    EXPECT_THAT(refusal({{"n_7.100.pt.trace.json", 0, 100}, {"n_9.200.pt.trace.json", 0, 200}}),
                HasSubstr("of one rank"))
        << "another process, later";
    EXPECT_THAT(refusal({{"rank0_0501.json", 0, 100, 3}, {"rank0_0502.json", 0, 300, 3}}), HasSubstr("of one rank"))
        << "steps of one number twice";
    EXPECT_THAT(refusal({{"before_rank0.json", 0, 100}, {"after_rank0.json", 0, 300}}), HasSubstr("of one rank"))
        << "names that differ in a word";
    EXPECT_THAT(refusal({{"run1_rank0.json", 0, 100}, {"run2_rank0.json", 0, 300}}), HasSubstr("of one rank"));
    std::vector<File> ten;
    for (int i = 0; i < 10; ++i) {
        ten.push_back({"trace_" + std::string(1, char('a' + i)) + ".json", {}, 100 + 50 * i});
    }
    EXPECT_THAT(refusal(ten), HasSubstr("10 runs"));
    EXPECT_THAT(refusal(ten), HasSubstr("and 7 more"));
    EXPECT_THAT(refusal({{"run1.json", {}, 100}, {"run2.json", {}, 500}}), HasSubstr("2 runs"))
        << "numbered, but one after the other";
    EXPECT_THAT(refusal({{"before.json"}, {"after.json"}}), HasSubstr("2 runs")) << "neither ranks nor times of day";
    EXPECT_THAT(refusal({{"step_100.json"}, {"step_200.json"}}), HasSubstr("2 runs")) << "numbers of steps";
}

TEST(TraceRuns, TheSameContentTwiceIsOneRank) {
    auto digests = digests_of({{"rank0.json", 0, 100}, {"rank0.json.gz", 0, 100}, {"rank1.json", 1, 100}});
    for (auto& digest : digests) { digest.spans = 7; }
    io::leave_copies_out(digests);
    ASSERT_EQ(digests.size(), 2U);
    EXPECT_EQ(digests[0].source, "rank0.json");
    ASSERT_EQ(digests[0].issues.size(), 1U);
    EXPECT_EQ(digests[0].issues[0].kind, "same content in another file, left out");
    EXPECT_EQ(digests[0].issues[0].first_at, "rank0.json.gz");
    EXPECT_TRUE(digests[1].issues.empty());
    io::leave_copies_out(digests);
    EXPECT_EQ(digests.size(), 2U) << "again it finds nothing";

    auto named = digests_of({{"rank0.json", {}, 100}, {"rank1.json", {}, 100}});
    named[1].spans = named[0].spans;
    io::leave_copies_out(named);
    EXPECT_EQ(named.size(), 2U) << "their names say that they are two";
}

} // namespace
} // namespace headroom
