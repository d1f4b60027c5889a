#include "support/fake_clock.hpp"

#include "headroom/probe/fork_join.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <ostream>
#include <stdexcept>

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
    // Expectation: 1 before, then 5 parallel to 2 (the edge out and the edge back are both on either way), then 1
    // after.
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
    // Expectation: the inner scope is a part of the strand parallel to the outer child: 2 + max(4, 1) = 6 against 5.
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
    // Expectation: the first sync waits for the child of 3 only, the one of 20 goes on during what follows. With a
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

TEST(ForkJoin, ImpossibleBurdensAreRefused) {
    EXPECT_THROW(record([] {}, {.burden_seconds = -1.0}), std::invalid_argument);
    EXPECT_THROW(record([] {}, {.burden_seconds = std::nan("")}), std::invalid_argument);
}

} // namespace
} // namespace headroom::probe
