#include "base/events/alarms.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace headroom::events {
namespace {

constexpr std::int64_t never = Alarms<std::int64_t>::never;

TEST(Alarms, NoneIsSetAtFirst) {
    Alarms<std::int64_t> const ticks{3};
    EXPECT_TRUE(ticks.empty());
    EXPECT_EQ(ticks.next(), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(Alarms<double>{3}.next(), std::numeric_limits<double>::infinity());
}

TEST(Alarms, ASourceThatChangesItsMindDoesOneThing) {
    Alarms<std::int64_t> alarms{2};
    alarms.set(0, 5);
    alarms.set(1, 9);
    alarms.set(0, 12); // put off
    EXPECT_EQ(alarms.next(), 9);
    EXPECT_EQ(alarms.first(), 1U);
    alarms.set(0, 3); // put forward
    EXPECT_EQ(alarms.next(), 3);
    EXPECT_EQ(alarms.take(), 0U);
    EXPECT_EQ(alarms.take(), 1U);
    EXPECT_TRUE(alarms.empty()); // 5 and 12 are over
}

TEST(Alarms, ASourceMayDoNothing) {
    Alarms<std::int64_t> alarms{3};
    for (std::uint32_t source = 0; source < 3; ++source) { alarms.set(source, 1 + source); }
    alarms.set(1, never);
    alarms.set(0, never);
    EXPECT_EQ(alarms.next(), 3);
    EXPECT_EQ(alarms.take(), 2U);
    EXPECT_TRUE(alarms.empty());
    EXPECT_EQ(alarms.next(), never);
}

TEST(Alarms, OfOneTimeTheFirstThatWasSetComesFirst) {
    Alarms<std::int64_t> alarms{4};
    for (std::uint32_t const source : {2, 0, 3, 1}) { alarms.set(source, 7); }
    alarms.set(0, 7); // is set for it already
    alarms.set(3, 8);
    alarms.set(3, 7); // is set again
    for (std::uint32_t const source : {2U, 0U, 1U, 3U}) { EXPECT_EQ(alarms.take(), source); }
}

/// Alarms as a plain list, by source: its time, and when it was set.
class List {
public:
    explicit List(std::size_t sources) : set_(sources, {never, 0}) {}
    void set(std::uint32_t source, std::int64_t time) {
        if (set_[source].first != time) { set_[source] = {time, ++sets_}; }
    }
    [[nodiscard]] std::uint32_t first() const {
        return static_cast<std::uint32_t>(std::ranges::min_element(set_) - set_.begin());
    }
    [[nodiscard]] std::int64_t next() const { return set_[first()].first; }

private:
    std::vector<std::pair<std::int64_t, int>> set_;
    int sets_ = 0;
};

/// Sources that are set again and again, most of them for later: also what is in memory stays bounded.
TEST(Alarms, AreTheSmallestOfAListWhateverIsSetAndTaken) {
    test::CounterRandom random{17};
    for (std::size_t sources = 1; sources < 40; ++sources) {
        Alarms<std::int64_t> alarms{sources};
        List list{sources};
        for (int step = 0; step < 3000; ++step) {
            ASSERT_EQ(alarms.next(), list.next());
            ASSERT_EQ(alarms.empty(), list.next() == never);
            ASSERT_LE(alarms.held(), 2 * sources + 16);
            if (!alarms.empty() && random.below(8) == 0) {
                std::uint32_t const source = list.first();
                ASSERT_EQ(alarms.first(), source);
                ASSERT_EQ(alarms.take(), source);
                list.set(source, never);
                continue;
            }
            bool const next = !alarms.empty() && random.below(4) == 0;
            auto const source = next ? list.first() : static_cast<std::uint32_t>(random.next() % sources);
            std::int64_t const time = random.below(6) == 0 ? never : random.below(60);
            alarms.set(source, time);
            list.set(source, time);
        }
    }
}

} // namespace
} // namespace headroom::events
