#include "headroom/probe/fork_join.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace headroom::probe {
namespace {

// ---- exceptions ---------------------------------------------------------------------------------------------------

TEST(Scope, OfSeveralExceptionsTheFirstSpawnedIsThrown) {
    // Expectation: the same one on any number of workers, after all children have ended.
    for (int const workers : {1, 2, 4}) {
        std::atomic<int> ended{0};
        Executor executor{workers};
        for (int repeat = 0; repeat < 20; ++repeat) {
            ended = 0;
            try {
                executor.run([&] {
                    PlainScope scope;
                    for (int i = 0; i < 20; ++i) {
                        scope.spawn([&, i] {
                            ++ended;
                            if (i >= 3) { throw std::runtime_error(std::to_string(i)); }
                        });
                    }
                    scope.sync();
                });
                ADD_FAILURE() << "nothing was thrown";
            } catch (std::runtime_error const& thrown) {
                EXPECT_STREQ(thrown.what(), "3");
                EXPECT_EQ(ended, 20);
            }
        }
    }
}

TEST(Scope, AfterAnExceptionAScopeIsAsNew) {
    for (int const workers : {1, 4}) {
        Executor executor{workers};
        int value = 0;
        executor.run([&] {
            PlainScope scope;
            scope.spawn([] { throw std::runtime_error("once"); });
            EXPECT_THROW(scope.sync(), std::runtime_error);
            scope.sync();
            scope.spawn([&] { value = 1; });
            scope.sync();
        });
        EXPECT_EQ(value, 1);
    }
}

TEST(Scope, TheEndOfAScopeThrowsToo) {
    auto const body = [] {
        PlainScope scope;
        scope.spawn([] { throw std::runtime_error("kept"); });
    };
    EXPECT_THROW(Executor{1}.run(body), std::runtime_error);
    EXPECT_THROW(Executor{3}.run(body), std::runtime_error);
}

TEST(Scope, WhatTheParentThrowsComesFirst) {
    // Expectation: the scope waits for its child and lets the parent's exception pass.
    for (int const workers : {1, 3}) {
        std::atomic<bool> ended{false};
        EXPECT_THROW(Executor{workers}.run([&] {
            PlainScope scope;
            scope.spawn([&] {
                std::this_thread::yield();
                ended = true;
                throw std::runtime_error("of the child");
            });
            throw std::invalid_argument("of the parent");
        }),
                     std::invalid_argument);
        EXPECT_TRUE(ended);
    }
}

TEST(Scope, CapturesAreGoneAfterTheSync) {
    for (int const workers : {1, 4}) {
        auto const held = std::make_shared<int>(1);
        Executor{workers}.run([&] {
            PlainScope scope;
            for (int i = 0; i < 50; ++i) {
                scope.spawn([held] { EXPECT_EQ(*held, 1); });
            }
            scope.sync();
            EXPECT_EQ(held.use_count(), 1);
        });
    }
}

TEST(Scope, WhatAChildHoldsIsDestroyedBeforeTheSyncEnds) {
    // Expectation: also where the child ran on another worker and the destructor takes its time.
    Executor{2}.run([] {
        std::atomic<bool> taken{false};
        bool destroyed = false;
        std::shared_ptr<int> slow{new int{0}, [&](int const* number) {
                                      std::this_thread::sleep_for(std::chrono::milliseconds{5});
                                      destroyed = true;
                                      delete number;
                                  }};
        PlainScope scope;
        scope.spawn([&taken, held = std::move(slow)] { taken = true; });
        while (!taken) { std::this_thread::yield(); }
        scope.sync();
        EXPECT_TRUE(destroyed);
    });
}

TEST(Scope, FunctionsMayBeMovedInOnly) {
    int value = 0;
    Executor{2}.run([&] {
        PlainScope scope;
        scope.spawn([&, number = std::make_unique<int>(5)] { value = *number; });
        scope.sync();
    });
    EXPECT_EQ(value, 5);
}

// ---- executor -----------------------------------------------------------------------------------------------------

template <class SomeScope> std::int64_t fibonacci(int n) {
    if (n < 2) { return n; }
    std::int64_t left = 0;
    SomeScope scope;
    scope.spawn([&] { left = fibonacci<SomeScope>(n - 1); });
    std::int64_t const right = fibonacci<SomeScope>(n - 2);
    scope.sync();
    return left + right;
}

TEST(Executor, FineGrainedRecursionIsRightOnAnyNumberOfWorkers) {
    for (int const workers : {1, 2, 4, 7}) {
        Executor executor{workers};
        for (int repeat = 0; repeat < 3; ++repeat) {
            std::int64_t plain = 0;
            executor.run([&] { plain = fibonacci<PlainScope>(17); });
            EXPECT_EQ(plain, 1597);
        }
        std::int64_t recorded = 0;
        Record const record = probe::record([&] { recorded = fibonacci<RecordedScope>(15); }, {.workers = workers});
        EXPECT_EQ(recorded, 610);
        EXPECT_EQ(record.spawns, 986u); // calls of fibonacci(n) with n >= 2: F(n+1) - 1
        EXPECT_LE(record.span_seconds, record.work_seconds);
        EXPECT_LE(record.span_seconds, record.burdened_span_seconds);
    }
}

TEST(Executor, MoreChildrenThanAQueueHolds) {
    for (int const workers : {1, 2, 4}) {
        std::vector<int> seen(20'000, 0);
        Executor{workers}.run([&] {
            PlainScope scope;
            for (int& one : seen) {
                scope.spawn([&one] { ++one; });
            }
            scope.sync();
        });
        for (int const one : seen) { ASSERT_EQ(one, 1); }
    }
}

TEST(Executor, EveryWorkerWaitsAndAllEnd) {
    // Expectation: a comb of scopes that all sync at once ends, because who waits helps whom it waits for.
    struct Comb {
        static void grow(std::atomic<int>& leaves, int depth) {
            if (depth == 0) {
                ++leaves;
                return;
            }
            PlainScope scope;
            for (int i = 0; i < 3; ++i) {
                scope.spawn([&leaves, depth] { grow(leaves, depth - 1); });
            }
            scope.sync();
        }
    };
    Executor executor{4};
    for (int repeat = 0; repeat < 10; ++repeat) {
        std::atomic<int> leaves{0};
        executor.run([&] { Comb::grow(leaves, 7); });
        EXPECT_EQ(leaves, 2187);
    }
}

void wait_for(std::atomic<bool> const& flag) {
    while (!flag) { std::this_thread::yield(); }
}

TEST(Executor, WhoWaitsOnlyRunsWhatIsDeeper) {
    // Expectation: `sibling` is not begun while two workers wait in tasks as deep as it is, or call stacks would grow with
    // the number of siblings: the one reaches past it into the queue for what is deeper, the other, whose queue it is
    // in, leaves it there. The third worker holds the child that the first two wait for.
    Executor executor{3};
    executor.run([] {
        std::atomic<bool> held_taken{false};
        std::atomic<bool> deeper_queued{false};
        std::atomic<bool> deeper_taken{false};
        std::atomic<bool> over{false};
        std::atomic<bool> sibling_begun{false};
        PlainScope scope;
        scope.spawn([&] {
            PlainScope inner;
            inner.spawn([&] {
                held_taken = true;
                wait_for(over);
            });
            wait_for(deeper_queued); // the child is somebody else's by then
            inner.sync();
        });
        wait_for(held_taken);
        scope.spawn([&] { sibling_begun = true; });
        scope.spawn([&] {
            PlainScope inner;
            inner.spawn([&] {
                deeper_taken = true;
                std::this_thread::sleep_for(std::chrono::milliseconds{5});
                EXPECT_FALSE(sibling_begun);
                over = true;
            });
            deeper_queued = true;
            wait_for(deeper_taken);
            inner.sync();
        });
        scope.sync();
        EXPECT_TRUE(sibling_begun);
    });
}

TEST(Executor, DepthsNeverFallInAQueue) {
    // Expectation: with a grandchild left in the queue, a child is run at once: behind the grandchild, nobody who
    // waits could see what is deeper.
    Executor executor{2};
    executor.run([] {
        std::atomic<bool> taken{false};
        std::atomic<bool> over{false};
        bool child_ran = false;
        PlainScope outer;
        outer.spawn([&] {
            taken = true;
            wait_for(over);
        });
        wait_for(taken); // the other worker is busy from here on
        PlainScope inner;
        inner.spawn([&] { outer.spawn([] {}); });
        inner.sync();
        inner.spawn([&] { child_ran = true; });
        EXPECT_TRUE(child_ran);
        over = true;
        inner.sync();
        outer.sync();
    });
}

TEST(Executor, SleepingWorkersWakeUp) {
    // Expectation: the child sets what the parent spins on, so somebody else must have taken it, also after a pause
    // in which everybody went to sleep.
    Executor executor{2};
    for (int repeat = 0; repeat < 5; ++repeat) {
        std::this_thread::sleep_for(std::chrono::milliseconds{3});
        executor.run([] {
            std::atomic<bool> taken{false};
            PlainScope scope;
            scope.spawn([&] { taken = true; });
            while (!taken) { std::this_thread::yield(); }
            scope.sync();
        });
    }
}

TEST(Executor, AWaitingParentSleepsUntilItsChildHasEnded) {
    Executor executor{2};
    executor.run([] {
        std::atomic<bool> taken{false};
        bool ended = false;
        PlainScope scope;
        scope.spawn([&] {
            taken = true;
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
            ended = true;
        });
        while (!taken) { std::this_thread::yield(); }
        scope.sync();
        EXPECT_TRUE(ended);
    });
}

TEST(Executor, ImpossibleWorkersAreRefused) {
    EXPECT_THROW(Executor{0}, std::invalid_argument);
    EXPECT_THROW(Executor{-1}, std::invalid_argument);
    EXPECT_THROW(Executor{1'000'000}, std::invalid_argument);
    EXPECT_THROW(record([] {}, {.workers = 0, .burden_seconds = 0.0}), std::invalid_argument);
}

TEST(Executor, OneRunAtATime) {
    Executor executor{1};
    executor.run([&] { EXPECT_THROW(executor.run([] {}), std::logic_error); });
    executor.run([] {});
}

TEST(SpawnCosts, AreMeasured) {
    // Expectation: recording costs in addition to spawning; other work on the cores may hide it once, not always.
    SpawnCosts costs;
    for (int i = 0; i < 20 && !(costs.plain_seconds < costs.recorded_seconds); ++i) { costs = measure_spawn_costs(); }
    for (double const seconds :
         {costs.plain_seconds, costs.recorded_seconds, costs.queued_seconds, costs.handover_seconds}) {
        EXPECT_GT(seconds, 0.0);
        EXPECT_LT(seconds, 60.0);
    }
    EXPECT_GE(costs.clock_seconds, 0.0);
    EXPECT_LT(costs.plain_seconds, costs.recorded_seconds);
}

} // namespace
} // namespace headroom::probe
