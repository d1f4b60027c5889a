#include "base/events/event_queue.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headroom::events {
namespace {

TEST(EventQueue, EventsOfOneTimeKeepTheOrderOfTheirBirth) {
    EventQueue<int, int> events;
    for (int i = 0; i < 100; ++i) { events.put(i % 3, i); }
    int before = -1;
    for (int time = 0; time < 3; ++time) {
        for (int i = time; i < 100; i += 3) {
            ASSERT_EQ(events.next(), time);
            ASSERT_EQ(events.first(), i);
            ASSERT_EQ(events.take(), i);
            before = i;
        }
    }
    EXPECT_TRUE(events.empty());
    EXPECT_EQ(before, 98);
}

/// A list that is sorted by time and birth says what comes next, whatever is put in, taken off and replaced.
TEST(EventQueue, IsASortedListWhateverComesAndGoes) {
    test::CounterRandom random{5};
    for (int round = 0; round < 200; ++round) {
        EventQueue<double, std::uint64_t> events;
        std::vector<std::pair<double, std::uint64_t>> sorted; // births are the events themselves
        std::uint64_t births = 0;
        std::uint64_t const times = 1 + random.next() % 20;
        for (int step = 0; step < 300; ++step) {
            double const time = static_cast<double>(random.next() % times);
            std::uint64_t const action = random.next() % 5;
            if (!sorted.empty()) {
                ASSERT_EQ(events.next(), sorted.front().first);
                ASSERT_EQ(events.first(), sorted.front().second);
            }
            if (sorted.empty() || action < 2) {
                events.put(time, births);
            } else if (action < 4) {
                ASSERT_EQ(events.take(), sorted.front().second);
                sorted.erase(sorted.begin());
                continue;
            } else {
                events.replace_first(time, births);
                sorted.erase(sorted.begin());
            }
            std::pair const made{time, births++};
            sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), made), made);
            ASSERT_EQ(events.size(), sorted.size());
        }
    }
}

TEST(EventQueue, WithoutBirthsTimesStillCome) {
    EventQueue<std::int64_t, std::uint32_t, Ties::any> events;
    test::CounterRandom random{9};
    std::vector<std::int64_t> times;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        times.push_back(static_cast<std::int64_t>(random.next() % 100));
        events.put(times.back(), i);
    }
    std::ranges::sort(times);
    for (std::int64_t const time : times) {
        ASSERT_EQ(events.next(), time);
        events.take();
    }
    EXPECT_TRUE(events.empty());
}

TEST(EventQueue, WhatIsKeptKeepsItsOrder) {
    test::CounterRandom random{3};
    for (int round = 0; round < 100; ++round) {
        EventQueue<int, std::uint64_t> events;
        std::vector<std::pair<int, std::uint64_t>> kept;
        std::uint64_t const nth = 1 + random.next() % 5;
        for (std::uint64_t i = 0; i < 60; ++i) {
            int const time = random.below(10);
            events.put(time, i);
            if (i % nth == 0 && time != 7) { kept.emplace_back(time, i); }
        }
        events.keep_only([nth](int time, std::uint64_t i) { return i % nth == 0 && time != 7; });
        std::uint64_t const late = 60;
        events.put(3, late); // behind those of its time that were kept
        kept.emplace_back(3, late);
        std::ranges::sort(kept);
        ASSERT_EQ(events.size(), kept.size());
        for (auto const& [time, event] : kept) {
            ASSERT_EQ(events.next(), time);
            ASSERT_EQ(events.take(), event);
        }
    }
}

} // namespace
} // namespace headroom::events
