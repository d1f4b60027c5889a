#include "base/events/alarms.hpp"
#include "base/events/event_queue.hpp"
#include "base/events/moments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stop_token>
#include <string>

namespace headroom::events {
namespace {

TEST(RunMoments, AllOfAMomentHappensBeforeWhatFollows) {
    EventQueue<std::int64_t, char> events;
    for (char const event : {'a', 'b', 'c'}) { events.put(event == 'b' ? 2 : 4, event); }
    std::string told;
    std::int64_t now = 0;
    auto const happens = [&](char event) {
        told += std::to_string(now) + event;
        if (event == 'a') { events.put(now, 'd'); } // for the same moment, behind those that are there
    };
    auto const settle = [&] {
        if (told.back() == 'b') { events.put(now, 'e'); } // a moment of its own at the same time
        if (told.back() == 'd') { events.put(9, 'f'); }
        told += '|';
    };
    EXPECT_TRUE(run_moments(events, now, {}, happens, settle));
    EXPECT_EQ(told, "2b|2e|4a4c4d|9f|");
    EXPECT_EQ(now, 9);
}

TEST(RunMoments, NothingIsNoMoment) {
    Alarms<double> alarms{4};
    double now = 3.0;
    EXPECT_TRUE(run_moments(
        alarms, now, {}, [](std::uint32_t) { FAIL(); }, [] { FAIL(); }));
    EXPECT_EQ(now, 3.0);
}

TEST(RunMoments, TimeNeverGoesBack) {
    Alarms<double> alarms{1};
    alarms.set(0, 1.0);
    double now = 1.5;
    auto const happens = [](std::uint32_t) {};
    auto const settle = [] {};
    EXPECT_THROW(run_moments(alarms, now, {}, happens, settle), ContractError);
    now = 1.0; // the time that it is
    EXPECT_TRUE(run_moments(alarms, now, {}, happens, settle));
}

TEST(RunMoments, StopsBetweenMoments) {
    EventQueue<int, int> events;
    for (int i = 0; i < 10; ++i) { events.put(i / 2, i); }
    std::stop_source stop;
    int now = 0, happened = 0, settled = 0;
    auto const happens = [&](int event) {
        ++happened;
        if (event == 4) { stop.request_stop(); }
    };
    EXPECT_FALSE(run_moments(events, now, stop.get_token(), happens, [&] { ++settled; }));
    EXPECT_EQ(happened, 6);
    EXPECT_EQ(settled, 3);
    EXPECT_EQ(now, 2);
    EXPECT_EQ(events.size(), 4U);
}

} // namespace
} // namespace headroom::events
