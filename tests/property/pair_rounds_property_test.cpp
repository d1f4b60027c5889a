// Every pair of ranks meets once, in as few rounds of disjoint pairs as there can be.

#include "headroom/measure/pair_rounds.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace headroom {

using namespace headroom::measure;

namespace {

RC_GTEST_PROP(PairRounds, EveryPairIsInOneRoundAndNoRankInTwoPairsOfOne, ()) {
    int const ranks = *rc::gen::inRange(1, 130);
    auto const rounds = pair_rounds(Ranks{ranks});
    RC_ASSERT(static_cast<int>(rounds.size()) == (ranks < 2 ? 0 : ranks % 2 == 0 ? ranks - 1 : ranks));
    std::set<RankPair> met;
    for (auto const& round : rounds) {
        std::set<int> busy;
        for (auto const& [first, second] : round) {
            RC_ASSERT(0 <= first && first < second && second < ranks);
            RC_ASSERT(busy.insert(first).second && busy.insert(second).second);
            RC_ASSERT(met.insert({first, second}).second);
        }
        RC_ASSERT(static_cast<int>(round.size()) == ranks / 2); // at most one rank rests
    }
    RC_ASSERT(static_cast<int>(met.size()) == ranks * (ranks - 1) / 2);
}

TEST(PairRounds, FourRanksMeetInThreeRounds) {
    std::vector<std::vector<RankPair>> const expected{{{0, 3}, {1, 2}}, {{0, 2}, {1, 3}}, {{0, 1}, {2, 3}}};
    EXPECT_EQ(pair_rounds(Ranks{4}), expected);
}

} // namespace
} // namespace headroom
