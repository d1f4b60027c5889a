// Slow links and slow ranks among healthy ones that differ by noise: what was planted is found, and nothing else.

#include "headroom/fit/pair_links.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace headroom::fit {
namespace {

/// All pairs of ranks on hosts of so many; those between hosts take ten times as long.
std::vector<PairTime> healthy(int ranks, int per_host, double noise, unsigned seed) {
    std::mt19937 random{seed};
    std::normal_distribution<double> error{0.0, noise};
    std::vector<PairTime> pairs;
    for (int first = 0; first < ranks; ++first) {
        for (int second = first + 1; second < ranks; ++second) {
            bool const same = first / per_host == second / per_host;
            double const least = (same ? 1e-6 : 1e-5) * std::exp(error(random));
            pairs.push_back({first, second, same, least, 1.1 * least * std::exp(error(random))});
        }
    }
    return pairs;
}

void slow_down(PairTime& pair, double factor) {
    pair.least_seconds *= factor;
    pair.median_seconds *= factor;
}

RC_GTEST_PROP(PairLinks, NothingIsNamedWhereLinksDifferByNoise, ()) {
    int const ranks = *rc::gen::inRange(2, 25), per_host = *rc::gen::inRange(1, 9);
    auto const pairs = healthy(ranks, per_host, 0.02, static_cast<unsigned>(*rc::gen::inRange(1, 1000000)));
    PairVerdict const verdict = find_slow_links(pairs);
    RC_ASSERT(verdict.links.empty() && verdict.ranks.empty());
}

RC_GTEST_PROP(PairLinks, APlantedLinkIsNamedAloneWithItsFactor, ()) {
    int const ranks = *rc::gen::inRange(5, 25);
    auto pairs = healthy(ranks, 1, 0.02, static_cast<unsigned>(*rc::gen::inRange(1, 1000000)));
    auto const at = static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(pairs.size())));
    slow_down(pairs[at], 3.0);
    PairVerdict const verdict = find_slow_links(pairs);
    RC_ASSERT(verdict.links.size() == 1u && verdict.ranks.empty());
    RC_ASSERT(verdict.links.front().pair == at && verdict.links.front().always);
    RC_ASSERT(std::abs(verdict.links.front().factor / 3.0 - 1.0) < 0.15);
}

RC_GTEST_PROP(PairLinks, ASlowRankIsNamedAndNotTheOthers, ()) {
    int const ranks = *rc::gen::inRange(4, 25), slow = *rc::gen::inRange(0, ranks);
    auto pairs = healthy(ranks, 1, 0.02, static_cast<unsigned>(*rc::gen::inRange(1, 1000000)));
    for (PairTime& pair : pairs) {
        if (pair.first == slow || pair.second == slow) { slow_down(pair, 2.0); }
    }
    PairVerdict const verdict = find_slow_links(pairs);
    RC_ASSERT(static_cast<int>(verdict.links.size()) == ranks - 1);
    RC_ASSERT(verdict.ranks.size() == 1u && verdict.ranks.front().rank == slow);
    RC_ASSERT(verdict.ranks.front().of == static_cast<std::size_t>(ranks - 1));
}

TEST(PairLinks, ALinkThatIsSlowNowAndThenIsToldApart) {
    auto pairs = healthy(6, 1, 0.02, 7);
    pairs[3].median_seconds *= 5.0; // its least time is as good as that of others
    PairVerdict const verdict = find_slow_links(pairs);
    ASSERT_EQ(verdict.links.size(), 1u);
    EXPECT_EQ(verdict.links.front().pair, 3u);
    EXPECT_FALSE(verdict.links.front().always);
}

TEST(PairLinks, FewerThanSixLikesAreNotJudged) {
    auto pairs = healthy(3, 1, 0.02, 7);
    slow_down(pairs[0], 100.0);
    EXPECT_EQ(find_slow_links(pairs).judged, 0u);
    EXPECT_TRUE(find_slow_links(pairs).links.empty());
    // pairs inside hosts are no likes of those between them: 2 hosts of 2 have 2 and 4
    EXPECT_EQ(find_slow_links(healthy(4, 2, 0.02, 7)).judged, 0u);
    EXPECT_EQ(find_slow_links(healthy(4, 1, 0.02, 7)).judged, 6u);
}

} // namespace
} // namespace headroom::fit
