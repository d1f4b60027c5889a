#include "support/fake_clock.hpp"

#include "headroom/probe/fork_join.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace headroom::probe {
namespace {

using test::FakeClock;
using FakeScope = BasicScope<Recording<FakeClock>>;

constexpr std::int64_t burden = 1000;

/// Work and span in whole ticks.
struct Ticks {
    std::int64_t work, span, burdened;
    std::uint64_t spawns, syncs;
    bool operator==(Ticks const&) const = default;
};

void PrintTo(Ticks const& ticks, std::ostream* out) {
    *out << "work " << ticks.work << ", span " << ticks.span << ", burdened " << ticks.burdened << ", spawns "
         << ticks.spawns << ", syncs " << ticks.syncs;
}

template <class Body> Ticks ticks_of(Body const& body, int workers = 1) {
    Record const record = probe::record<FakeClock>(body, {.workers = workers, .burden_seconds = 1e-9 * burden});
    auto const whole = [](double seconds) { return std::llround(seconds * 1e9); };
    return {whole(record.work_seconds), whole(record.span_seconds), whole(record.burdened_span_seconds), record.spawns,
            record.syncs};
}

void work(std::int64_t ticks) { FakeClock::pass(ticks); }

TEST(ForkJoin, SerialCodeIsOneStrand) {
    // Expectation: nothing is spawned, so all of the work waits for itself.
    EXPECT_EQ(ticks_of([] { work(7); }), (Ticks{7, 7, 7, 0, 0}));
}

TEST(ForkJoin, EmptyScopesAreNothing) {
    // Expectation: a scope that spawned nothing has nothing to wait for; its syncs are no edges.
    EXPECT_EQ(ticks_of([] {
                  FakeScope scope;
                  work(2);
                  scope.sync();
                  work(3);
                  scope.sync();
              }),
              (Ticks{5, 5, 5, 0, 0}));
}

TEST(ForkJoin, TwoBranchesTakeTheLonger) {
    // Expectation: 1 before, then 5 beside 2 (the edge out and the edge back are both on either way), then 1 after.
    auto const body = [] {
        work(1);
        FakeScope scope;
        scope.spawn([] { work(5); });
        work(2);
        scope.sync();
        work(1);
    };
    for (int const workers : {1, 2, 4}) {
        EXPECT_EQ(ticks_of(body, workers), (Ticks{9, 7, 7 + 2 * burden, 1, 1})) << workers;
    }
}

TEST(ForkJoin, AChainHasNoParallelism) {
    // Expectation: each child is waited for before the next: n links of 3 in a row, two edges each.
    constexpr int n = 50;
    EXPECT_EQ(ticks_of([] {
                  FakeScope scope;
                  for (int i = 0; i < n; ++i) {
                      scope.spawn([] { work(3); });
                      scope.sync();
                  }
              }),
              (Ticks{3 * n, 3 * n, 3 * n + 2 * n * burden, n, n}));
}

void add_up(std::int64_t numbers) {
    if (numbers == 1) { return; }
    FakeScope scope;
    scope.spawn([=] { add_up(numbers / 2); });
    add_up(numbers - numbers / 2);
    scope.sync();
    work(1);
}

TEST(ForkJoin, ABalancedSumIsLogarithmic) {
    // Expectation: N numbers take N - 1 additions, and the tree of them is ceil(log2 N) high.
    for (std::int64_t numbers : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100, 1000, 4096, 5000}) {
        auto const height = static_cast<std::int64_t>(std::ceil(std::log2(static_cast<double>(numbers))));
        for (int const workers : {1, 4}) {
            Ticks const ticks = ticks_of([&] { add_up(numbers); }, workers);
            EXPECT_EQ(ticks.work, numbers - 1);
            EXPECT_EQ(ticks.span, height);
            EXPECT_EQ(ticks.spawns, static_cast<std::uint64_t>(numbers - 1));
            EXPECT_EQ(ticks.syncs, static_cast<std::uint64_t>(numbers - 1));
        }
    }
}

TEST(ForkJoin, ALoopOfSpawnsDelaysTheLastChild) {
    // Expectation: child i begins after i ticks of the loop and takes 3 i: the last ends at 10 + 30, behind ten edges
    // along the loop's spawns and one back. Nothing after that is longer.
    EXPECT_EQ(ticks_of([] {
                  FakeScope scope;
                  for (int i = 1; i <= 10; ++i) {
                      work(1);
                      scope.spawn([i] { work(3 * i); });
                  }
                  scope.sync();
              }),
              (Ticks{10 + 3 * 55, 40, 40 + 11 * burden, 10, 1}));
}

TEST(ForkJoin, ScopesNestInOneFunction) {
    // Expectation: the inner scope is a piece of what runs beside the outer child: 2 + max(4, 1) = 6 against 5.
    EXPECT_EQ(ticks_of([] {
                  FakeScope outer;
                  outer.spawn([] { work(5); });
                  work(2);
                  {
                      FakeScope inner;
                      inner.spawn([] { work(4); });
                      work(1);
                      inner.sync();
                  }
                  outer.sync();
              }),
              (Ticks{12, 6, 6 + 4 * burden, 2, 2}));
}

TEST(ForkJoin, ScopesMayOverlap) {
    // Expectation: the first sync waits for the child of 3 only, the one of 20 goes on beside what follows. With a
    // burden as large as here, 3 + 4 behind four edges is longer than 20 behind two.
    EXPECT_EQ(ticks_of([] {
                  FakeScope first;
                  FakeScope second;
                  second.spawn([] { work(20); });
                  first.spawn([] { work(3); });
                  first.sync();
                  work(4);
                  second.sync();
              }),
              (Ticks{27, 20, 7 + 4 * burden, 2, 2}));
}

TEST(ForkJoin, SyncingTwiceWaitsOnce) {
    EXPECT_EQ(ticks_of([] {
                  FakeScope scope;
                  scope.spawn([] { work(5); });
                  scope.sync();
                  scope.sync();
                  work(1);
              }),
              (Ticks{6, 6, 6 + 2 * burden, 1, 1}));
}

TEST(ForkJoin, TheEndOfAScopeIsASync) {
    EXPECT_EQ(ticks_of([] {
                  {
                      FakeScope scope;
                      scope.spawn([] { work(5); });
                      work(1);
                  }
                  work(2);
              }),
              (Ticks{8, 7, 7 + 2 * burden, 1, 1}));
}

TEST(ForkJoin, AChildMaySpawnIntoTheScopeAboveIt) {
    // Expectation: 1 + 2 + 10 through the grandchild, out by two edges and back by one; the child itself ends at 4.
    auto const body = [] {
        FakeScope scope;
        work(1);
        scope.spawn([&scope] {
            work(2);
            scope.spawn([] { work(10); });
            work(1);
        });
        scope.sync();
    };
    for (int const workers : {1, 3}) {
        EXPECT_EQ(ticks_of(body, workers), (Ticks{14, 13, 13 + 3 * burden, 2, 1})) << workers;
    }
}

TEST(ForkJoin, ReadingTheClockIsTakenOff) {
    // Expectation: with a clock that takes 5 ticks to read and strands that do nothing, nothing is left.
    Record const record = probe::record<test::SlowClock>(
        [] {
            BasicScope<Recording<test::SlowClock>> scope;
            for (int i = 0; i < 10; ++i) {
                scope.spawn([] {});
            }
            scope.sync();
        },
        {.burden_seconds = 0.0});
    EXPECT_DOUBLE_EQ(record.clock_seconds, 5e-9);
    EXPECT_EQ(record.work_seconds, 0.0);
    EXPECT_EQ(strands(record), 22u);
    EXPECT_FALSE(parallelism(record).has_value());
}

TEST(ForkJoin, OutsideOfARunScopesAreSerial) {
    // Expectation: the child runs where it is spawned, before the next line.
    int value = 0;
    Scope scope;
    scope.spawn([&] { value = 1; });
    EXPECT_EQ(value, 1);
    scope.sync();
}

TEST(ForkJoin, AnotherRecordInsideIsItsOwn) {
    Record inner;
    Ticks const outer = ticks_of([&] {
        work(2);
        inner = probe::record<FakeClock>([] { work(3); }, {.burden_seconds = 0.0});
        work(4);
    });
    EXPECT_EQ(outer, (Ticks{9, 9, 9, 0, 0})); // the inner run is a part of one strand of the outer
    EXPECT_DOUBLE_EQ(inner.work_seconds, 3e-9);
}

TEST(ForkJoin, ScopesOfAnotherKindAreNotMeasured) {
    EXPECT_EQ(ticks_of([] {
                  PlainScope scope;
                  scope.spawn([] { work(4); });
                  scope.sync();
              }),
              (Ticks{4, 4, 4, 0, 0}));
}

// ---- exceptions ---------------------------------------------------------------------------------------------------

TEST(ForkJoin, OfSeveralExceptionsTheFirstSpawnedIsThrown) {
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

TEST(ForkJoin, AfterAnExceptionAScopeIsAsNew) {
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

TEST(ForkJoin, TheEndOfAScopeThrowsToo) {
    auto const body = [] {
        PlainScope scope;
        scope.spawn([] { throw std::runtime_error("kept"); });
    };
    EXPECT_THROW(Executor{1}.run(body), std::runtime_error);
    EXPECT_THROW(Executor{3}.run(body), std::runtime_error);
}

TEST(ForkJoin, WhatTheParentThrowsComesFirst) {
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

TEST(ForkJoin, WorkBeforeAnExceptionIsCounted) {
    EXPECT_EQ(ticks_of([] {
                  FakeScope scope;
                  scope.spawn([] {
                      work(3);
                      throw std::runtime_error("stop");
                  });
                  work(1);
                  EXPECT_THROW(scope.sync(), std::runtime_error);
                  work(1);
              }),
              (Ticks{5, 4, 4 + 2 * burden, 1, 1}));
}

TEST(ForkJoin, CapturesAreGoneAfterTheSync) {
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

TEST(ForkJoin, WhatAChildHoldsIsDestroyedBeforeTheSyncEnds) {
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

TEST(ForkJoin, FunctionsMayBeMovedInOnly) {
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
    // Expectation: `sibling` is not begun while two workers wait in tasks as deep as it is, or stacks would grow with
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

TEST(ForkJoin, ImpossibleBurdensAreRefused) {
    EXPECT_THROW(record([] {}, {.burden_seconds = -1.0}), std::invalid_argument);
    EXPECT_THROW(record([] {}, {.burden_seconds = std::nan("")}), std::invalid_argument);
}

TEST(Executor, OneRunAtATime) {
    Executor executor{1};
    executor.run([&] { EXPECT_THROW(executor.run([] {}), std::logic_error); });
    executor.run([] {});
}

TEST(SpawnCosts, AreMeasured) {
    SpawnCosts const costs = measure_spawn_costs();
    for (double const seconds :
         {costs.plain_seconds, costs.recorded_seconds, costs.queued_seconds, costs.handover_seconds}) {
        EXPECT_GT(seconds, 0.0);
        EXPECT_LT(seconds, 1.0);
    }
    EXPECT_GE(costs.clock_seconds, 0.0);
    EXPECT_LT(costs.plain_seconds, costs.recorded_seconds);
}

} // namespace
} // namespace headroom::probe
