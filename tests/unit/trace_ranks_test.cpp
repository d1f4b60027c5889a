// Rank of a file: as the trace states it, as its name states it, or its place.

#include "traces/natural_order.hpp"
#include "traces/rank_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace headroom;
using namespace headroom::trace;
using testing::ElementsAre;

struct File {
    std::string name;
    std::optional<std::int64_t> stated = {};
};

std::vector<RankDigest> digests_of(std::vector<File> const& files) {
    std::vector<RankDigest> digests;
    for (File const& file : files) {
        RankDigest digest;
        digest.source = file.name;
        digest.stated_rank = file.stated;
        digests.push_back(digest);
    }
    return digests;
}

std::vector<std::int64_t> ranks_of(std::vector<File> const& files, std::string const& from = "") {
    std::vector<RankDigest> digests = digests_of(files);
    io::assign_ranks(digests);
    std::vector<std::int64_t> ranks;
    for (RankDigest const& digest : digests) {
        ranks.push_back(digest.rank);
        if (!from.empty()) { EXPECT_EQ(digest.rank_from, from) << digest.source; }
    }
    return ranks;
}

TEST(TraceRanks, NamesThatSayRank) {
    EXPECT_THAT(ranks_of({{"rank0.json"}, {"rank10.json"}, {"rank2.json"}}, "file name"), ElementsAre(0, 10, 2));
    EXPECT_THAT(ranks_of({{"a/x_rank-3.pt.json.gz"}, {"a/x_RANK_1.json"}}, "file name"), ElementsAre(3, 1));
    EXPECT_THAT(ranks_of({{"rank_7/trace.json"}, {"rank_4/trace.json"}}, "file name"), ElementsAre(7, 4));
    EXPECT_THAT(ranks_of({{"run1/rank=5.json"}}, "file name"), ElementsAre(5)) << "a word tells even of one file";
    EXPECT_THAT(ranks_of({{"rank4_of_rank8.json"}}, "file name"), ElementsAre(8)) << "the last of several";
    EXPECT_THAT(ranks_of({{"frank3.json"}}, "order"), ElementsAre(0));
    EXPECT_THAT(ranks_of({{"ranks_3.json"}}, "order"), ElementsAre(0));
    EXPECT_THAT(ranks_of({{"rank.json"}, {"b.json"}}, "order"), ElementsAre(0, 1));
}

TEST(TraceRanks, NamesOfWorkersAndNumbersAtTheEnd) {
    EXPECT_THAT(
        ranks_of({{"worker0.1623143089861.pt.trace.json.gz"}, {"worker1.1623143566756.pt.trace.json.gz"}}, "file name"),
        ElementsAre(0, 1));
    EXPECT_THAT(ranks_of({{"megatron_kineto_3.json.gz"}, {"megatron_kineto_5.json.gz"}}, "file name"),
                ElementsAre(3, 5));
    EXPECT_THAT(ranks_of({{"all_reduce.2.et"}, {"all_reduce.0.et"}}, "file name"), ElementsAre(2, 0));
    EXPECT_THAT(ranks_of({{"4.json"}, {"2.json"}}, "file name"), ElementsAre(4, 2));
    EXPECT_THAT(ranks_of({{"run/4/trace.json"}, {"run/2/trace.json"}}, "file name"), ElementsAre(4, 2));
    EXPECT_THAT(ranks_of({{"trace_3.json"}}, "order"), ElementsAre(0)) << "one file is not numbered";
}

TEST(TraceRanks, NumbersThatAreNoRanks) {
    // A count of data loaders, a hash that ends in digits, a time: names that differ in more than one number.
    EXPECT_THAT(ranks_of({{"resnet50_num_workers_0__4a9c9ae5.pt.trace.json.gz"},
                          {"resnet50_num_workers_4__3e633b51.pt.trace.json.gz"}},
                         "order"),
                ElementsAre(0, 1));
    EXPECT_THAT(ranks_of({{"host_1.1623143089861.json"}, {"host_2.1623143089862.json"}}, "order"), ElementsAre(0, 1));
    EXPECT_THAT(ranks_of({{"step_100.json"}, {"step_200.json"}}, "order"), ElementsAre(0, 1));
    EXPECT_THAT(ranks_of({{"iteration-10/t.json"}, {"iteration-20/t.json"}}, "order"), ElementsAre(0, 1));
    EXPECT_THAT(ranks_of({{"a/rank1.json"}, {"b/rank1.json"}}, "order"), ElementsAre(0, 1))
        << "no numbers of their own";
}

TEST(TraceRanks, WhatATraceStatesHolds) {
    EXPECT_THAT(ranks_of({{"rank0.json", 5}, {"rank1.json", 3}}), ElementsAre(5, 3));
    EXPECT_THAT(ranks_of({{"rank0.json", 5}, {"rank1.json"}}), ElementsAre(5, 1));
    EXPECT_THAT(ranks_of({{"rank0.json", 1}, {"rank1.json"}}), ElementsAre(1, 0)) << "taken: the order tells";
}

TEST(TraceRanks, TwoThatStateTheSameAreToldApart) {
    std::vector<RankDigest> digests = digests_of({{"a", 0}, {"b", 0}, {"c", 1}, {"d"}, {"e", 0}});
    io::assign_ranks(digests);
    std::vector<std::int64_t> ranks;
    for (RankDigest const& digest : digests) { ranks.push_back(digest.rank); }
    EXPECT_THAT(ranks, ElementsAre(0, 3, 1, 2, 4));
    EXPECT_TRUE(digests[0].issues.empty());
    ASSERT_EQ(digests[1].issues.size(), 1U);
    EXPECT_EQ(digests[1].issues[0].kind, "rank stated twice");
    EXPECT_EQ(digests[1].issues[0].first_at, "b: rank 0");
    EXPECT_EQ(digests[1].rank_from, "order");

    // Once more with one file less: nothing of the first time is left.
    digests.erase(digests.begin());
    io::assign_ranks(digests);
    EXPECT_EQ(digests[0].rank, 0);
    EXPECT_EQ(digests[0].rank_from, "metadata");
    EXPECT_TRUE(digests[0].issues.empty());
}

/// A trace from `begin` to `begin` + 10 on the clock of the day.
RankDigest profiled(std::string source, std::int64_t begin, std::optional<std::int64_t> rank = {}) {
    RankDigest digest;
    digest.source = std::move(source);
    digest.stated_rank = rank;
    digest.clock_is_absolute = true;
    digest.epoch_ns = begin;
    digest.breakdown.whole.end = 10;
    return digest;
}

TEST(TraceRanks, OneProcessMayHaveWrittenSeveralTraces) {
    std::vector<RankDigest> digests{profiled("node_7.100.pt.trace.json.gz", 100),
                                    profiled("node_7.200.pt.trace.json.gz", 200),
                                    profiled("node_8.100.pt.trace.json.gz", 100),
                                    profiled("node_8.105.pt.trace.json.gz", 105),
                                    profiled("a.json", 100, 5),
                                    profiled("b.json", 300, 5),
                                    profiled("c.json", 305, 5)};
    io::assign_ranks(digests);
    std::vector<std::int64_t> ranks;
    for (RankDigest const& digest : digests) { ranks.push_back(digest.rank); }
    EXPECT_EQ(ranks[1], ranks[0]) << "one after the other";
    EXPECT_NE(ranks[2], ranks[0]) << "another process";
    EXPECT_NE(ranks[3], ranks[2]) << "at once: no process writes two";
    EXPECT_THAT(std::vector(ranks.begin() + 4, ranks.begin() + 6), ElementsAre(5, 5));
    EXPECT_NE(ranks[6], 5);
    EXPECT_EQ(digests[5].rank_from, "metadata");
    EXPECT_TRUE(digests[5].issues.empty());
    EXPECT_EQ(digests[6].issues.at(0).kind, "rank stated twice");
}

TEST(TraceRanks, NaturalOrderGoesByValue) {
    std::vector<std::string> names{
        "b",   "a10", "a2",          "a02",       "a/z", "a1/x", "a-1", "", "a10/b", "a9999999999999999999999",
        "a2b", "a",   "rank10.json", "rank9.json"};
    std::sort(names.begin(), names.end(), io::natural_less);
    EXPECT_THAT(names, ElementsAre("", "a", "a/z", "a-1", "a1/x", "a02", "a2", "a2b", "a10", "a10/b",
                                   "a9999999999999999999999", "b", "rank9.json", "rank10.json"));
}

TEST(TraceRanks, NaturalOrderIsAnOrder) {
    std::vector<std::string> const words{"",   "0",   "00", "01", "1",  "10",  "a",
                                         "a0", "a00", "a1", "/",  "a/", "a/1", "b1/2"};
    for (std::string const& a : words) {
        EXPECT_FALSE(io::natural_less(a, a));
        for (std::string const& b : words) {
            if (a != b) { EXPECT_NE(io::natural_less(a, b), io::natural_less(b, a)) << a << " " << b; }
            for (std::string const& c : words) {
                if (io::natural_less(a, b) && io::natural_less(b, c)) {
                    EXPECT_TRUE(io::natural_less(a, c)) << a << " " << b << " " << c;
                }
            }
        }
    }
}

} // namespace
