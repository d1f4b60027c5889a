// Parts of sets: bytes and back, in any order, and refused where they are not what was written.

#include "support/digests.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace headroom;
using test::random_digest;

std::string name_of_file(std::size_t i) { return "run/trace_" + std::to_string(i) + ".json"; }

io::TraceSet set_of(std::uint64_t seed, std::size_t files) {
    io::TraceSet set;
    for (std::size_t i = 0; i < files; ++i) { set.ranks.push_back(random_digest(100 * seed + i, name_of_file(i))); }
    set.unread = {"run/broken.json: cannot be read (it is empty)"};
    set.faults = {Fault::unreadable};
    return set;
}

std::string problem_of(std::string const& bytes) {
    try {
        io::read_trace_part(bytes, "part");
        return "";
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::unreadable);
        return error.what();
    }
}

TEST(TracePart, RoundTrip) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        io::TraceSet const set = set_of(seed, seed % 4);
        std::string const bytes = io::write_trace_part(set);
        EXPECT_TRUE(io::looks_like_trace_part(bytes));
        io::TraceSet const back = io::read_trace_part(bytes, "part");
        ASSERT_TRUE(io::write_trace_part(back) == bytes) << seed;
        ASSERT_EQ(back.ranks.size(), set.ranks.size());
        EXPECT_EQ(back.unread, set.unread);
        for (std::size_t i = 0; i < set.ranks.size(); ++i) {
            EXPECT_EQ(back.ranks[i].source, set.ranks[i].source);
            EXPECT_EQ(back.ranks[i].stated_rank, set.ranks[i].stated_rank);
            EXPECT_TRUE(back.ranks[i].runs == set.ranks[i].runs);
            EXPECT_EQ(back.ranks[i].graph.has_value(), set.ranks[i].graph.has_value());
            EXPECT_EQ(back.ranks[i].breakdown.whole.exposed, set.ranks[i].breakdown.whole.exposed);
            EXPECT_EQ(back.ranks[i].issues, set.ranks[i].issues);
        }
    }
}

TEST(TracePart, CutAnywhereIsRefusedWithThePlace) {
    std::string const bytes = io::write_trace_part(set_of(1, 2));
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        std::string const problem = problem_of(bytes.substr(0, cut));
        ASSERT_NE(problem.find("part: byte "), std::string::npos) << cut;
    }
    EXPECT_NE(problem_of(bytes + "x").find("other bytes follow"), std::string::npos);
}

TEST(TracePart, AnyChangedByteIsRefused) {
    std::string const bytes = io::write_trace_part(set_of(2, 2));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
        ASSERT_NE(problem_of(changed), "") << i;
    }
    EXPECT_NE(problem_of("headroom.trace-part/1\nwhatever").find("another version"), std::string::npos);
    EXPECT_FALSE(io::looks_like_trace_part("{\"traceEvents\": []}"));
}

TEST(TracePart, MergesInAnyOrderToTheSame) {
    std::mt19937_64 generator{7};
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        io::TraceSet const all = set_of(seed, 7);
        std::string const whole = io::write_trace_part(io::merge_trace_sets({all}));
        for (std::size_t const parts : {2U, 3U, 7U, 9U}) {
            std::vector<io::TraceSet> shards(parts);
            shards[seed % parts].unread = all.unread;
            shards[seed % parts].faults = all.faults;
            for (std::size_t i = 0; i < all.ranks.size(); ++i) { shards[i % parts].ranks.push_back(all.ranks[i]); }
            for (io::TraceSet& shard : shards) { // as it comes from another process
                shard = io::read_trace_part(io::write_trace_part(shard), "part");
            }
            std::shuffle(shards.begin(), shards.end(), generator);
            ASSERT_TRUE(io::write_trace_part(io::merge_trace_sets(shards)) == whole) << seed << " " << parts;
        }
    }
}

TEST(TracePart, MergingWhatWasMergedChangesNothing) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        io::TraceSet const all = set_of(seed, 6);
        io::TraceSet first, second;
        for (std::size_t i = 0; i < 6; ++i) { (i < 3 ? first : second).ranks.push_back(all.ranks[i]); }
        first.unread = all.unread;
        first.faults = all.faults;
        io::TraceSet const merged_first = io::merge_trace_sets({first});
        EXPECT_TRUE(io::write_trace_part(io::merge_trace_sets({second, merged_first})) ==
                    io::write_trace_part(io::merge_trace_sets({all})));
    }
}

TEST(TracePart, PartsThatAreMissingAreUnread) {
    io::TraceSet const all = set_of(3, 3);
    std::vector<io::TraceSet> parts(3);
    for (int i = 0; i < 3; ++i) {
        auto& part = parts[static_cast<std::size_t>(i)];
        part.ranks.push_back(all.ranks[static_cast<std::size_t>(i)]);
        part.shards = {{i, 3}};
        part = io::read_trace_part(io::write_trace_part(part), "part");
    }
    io::TraceSet whole = io::merge_trace_sets(parts);
    io::name_missing_parts(whole);
    EXPECT_TRUE(whole.unread.empty());
    io::TraceSet first = io::merge_trace_sets({parts[0]});
    io::name_missing_parts(first);
    ASSERT_EQ(first.unread.size(), 1U);
    EXPECT_EQ(first.unread[0], "--shard 2/3, 3/3: not among the parts that are given");
    EXPECT_EQ(first.faults, std::vector{Fault::unreadable});
    io::TraceSet rest = io::merge_trace_sets({io::merge_trace_sets({parts[0], parts[2]}), parts[1]});
    io::name_missing_parts(rest);
    EXPECT_TRUE(rest.unread.empty()) << "parts of parts";
    io::TraceSet wrong = parts[0];
    wrong.shards = {{3, 3}};
    EXPECT_NE(problem_of(io::write_trace_part(wrong)).find("out of range"), std::string::npos);
}

TEST(TracePart, FilesOfOneNameFromSeveralMachinesMergeInAnyOrder) {
    std::vector<io::TraceSet> parts(3);
    for (std::uint64_t machine = 0; machine < 3; ++machine) {
        parts[machine].ranks = {random_digest(machine, "/tmp/trace.json"),
                                random_digest(10 + machine, "/tmp/trace.json")};
    }
    std::string const expected = io::write_trace_part(io::merge_trace_sets(parts));
    std::vector<std::size_t> order{0, 1, 2};
    while (std::next_permutation(order.begin(), order.end())) {
        EXPECT_TRUE(io::write_trace_part(io::merge_trace_sets({parts[order[0]], parts[order[1]], parts[order[2]]})) ==
                    expected);
    }
}

TEST(TracePart, WithoutAnyRankTheFirstUnreadFileIsTheError) {
    io::TraceSet a, b;
    a.unread = {"rank10.json: holds no event"};
    a.faults = {Fault::insufficient};
    b.unread = {"rank2.json: no such file"};
    b.faults = {Fault::unreadable};
    for (auto const& parts : {std::vector{a, b}, std::vector{b, a}}) {
        try {
            io::merge_trace_sets(parts);
            FAIL();
        } catch (InputError const& error) {
            EXPECT_EQ(std::string{error.what()}, "rank2.json: no such file");
            EXPECT_EQ(error.fault(), Fault::unreadable);
        }
    }
    EXPECT_TRUE(io::merge_trace_sets({}).ranks.empty());
}

} // namespace
