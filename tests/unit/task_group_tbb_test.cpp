#include "support/fake_clock.hpp"

#include "headroom/probe/tbb_task_group.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace headroom::probe {
namespace {

using test::FakeClock;
using FakeGroup = BasicTaskGroup<Recording<FakeClock>>;

constexpr std::int64_t burden = 1000;

std::int64_t ticks(double seconds) { return std::llround(seconds * 1e9); }

template <class Body> Record record_on(int workers, Body const& body) {
    return record<FakeClock, TaskArena>(body, {.workers = workers, .burden_seconds = 1e-9 * burden});
}

void add_up(std::int64_t numbers) {
    if (numbers == 1) { return; }
    FakeGroup group;
    group.run([=] { add_up(numbers / 2); });
    add_up(numbers - numbers / 2);
    group.wait();
    FakeClock::pass(1);
}

TEST(TaskGroup, ABalancedSumIsLogarithmic) {
    // Expectation: as with scopes, N - 1 additions in a tree ceil(log2 N) high; the tallest branch has two edges a
    // level.
    for (int const workers : {1, 2, 4}) {
        for (std::int64_t numbers : {1, 2, 5, 64, 1000}) {
            auto const height = static_cast<std::int64_t>(std::ceil(std::log2(static_cast<double>(numbers))));
            Record const record = record_on(workers, [&] { add_up(numbers); });
            EXPECT_EQ(ticks(record.work_seconds), numbers - 1);
            EXPECT_EQ(ticks(record.span_seconds), height);
            EXPECT_EQ(ticks(record.burdened_span_seconds), height * (1 + 2 * burden));
            EXPECT_EQ(record.spawns, static_cast<std::uint64_t>(numbers - 1));
        }
    }
}

TEST(TaskGroup, ExceptionsPassAndTheRecordGoesOn) {
    // Expectation: 1 + 3 + 2; the parent's strand during the child takes nothing.
    for (int const workers : {1, 2}) {
        Record const record = record_on(workers, [] {
            FakeClock::pass(1);
            FakeGroup group;
            group.run([] {
                FakeClock::pass(3);
                throw std::runtime_error("stop");
            });
            EXPECT_THROW(group.wait(), std::runtime_error);
            FakeClock::pass(2);
        });
        EXPECT_EQ(ticks(record.work_seconds), 6);
        EXPECT_EQ(ticks(record.span_seconds), 6);
    }
}

TEST(TaskGroup, PlainGroupsAreNotMeasured) {
    Record const record = record_on(2, [] {
        PlainTaskGroup group;
        group.run([] {});
        group.wait();
        FakeClock::pass(4);
    });
    EXPECT_EQ(ticks(record.work_seconds), 4);
    EXPECT_EQ(record.spawns, 0u);
}

} // namespace
} // namespace headroom::probe
