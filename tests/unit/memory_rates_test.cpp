#include "memory/pointer_chain.hpp"
#include "memory/stream_kernels.hpp"

#include "headroom/probe/memory_rates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

namespace headroom::probe {

using namespace headroom::measure;

namespace {

using testing::HasSubstr;

/// Four cores with two nearer caches of their own and a last one of all.
MachineShape four_cores() {
    return {.cores = 4,
            .core_ids = {0, 1, 2, 3},
            .caches = {{.level = 1, .bytes = 32U << 10U, .cores = 1},
                       {.level = 2, .bytes = 1U << 20U, .cores = 1},
                       {.level = 3, .bytes = 32U << 20U, .cores = 4}},
            .memory_bytes = std::uint64_t{64} << 30U};
}

MemoryPoint find(std::vector<MemoryPoint> const& points, MemoryKernel kernel, std::string const& level, int threads) {
    for (auto const& point : points) {
        if (point.kernel == kernel && point.level == level && point.threads == threads && !point.curve) {
            return point;
        }
    }
    throw std::runtime_error{"no such point"};
}

/// What a kernel puts into c, by its definition.
double defined(MemoryKernel kernel, double a, double b, double before) {
    switch (kernel) {
    case MemoryKernel::write: return 3.0;
    case MemoryKernel::copy: return a;
    case MemoryKernel::scale: return 3.0 * a;
    case MemoryKernel::add: return a + b;
    case MemoryKernel::triad: return a + 3.0 * b;
    case MemoryKernel::read:
    case MemoryKernel::chase: break;
    }
    return before;
}

void check_kernels_of(StreamTarget const& target, void* seen) {
    static_cast<std::set<std::string>*>(seen)->insert(target.name);
    constexpr std::size_t most = 300, guard = 16;
    struct alignas(128) Room {
        double values[most + guard];
    };
    static Room a, b, c;
    for (std::size_t size = 0; size <= most; ++size) {
        double sum = 0.0;
        for (std::size_t i = 0; i < most + guard; ++i) {
            a.values[i] = static_cast<double>(i % 37) + 1.0, b.values[i] = static_cast<double>(i % 41) - 5.0;
            sum += i < size ? a.values[i] : 0.0;
        }
        StreamArrays const arrays{a.values, b.values, c.values, size};
        EXPECT_EQ(stream_passes(MemoryKernel::read, Stores::ordinary, arrays, 3), 3.0 * sum)
            << target.name << ' ' << size;
        for (auto const kernel :
             {MemoryKernel::write, MemoryKernel::copy, MemoryKernel::scale, MemoryKernel::add, MemoryKernel::triad}) {
            for (auto const stores : {Stores::ordinary, Stores::past_caches}) {
                std::fill_n(c.values, most + guard, -1.0);
                stream_passes(kernel, stores, arrays, 1);
                for (std::size_t i = 0; i < most + guard; ++i) {
                    double const expected = i < size ? defined(kernel, a.values[i], b.values[i], -1.0) : -1.0;
                    ASSERT_EQ(c.values[i], expected)
                        << target.name << ' ' << name_of(kernel) << ' ' << i << " of " << size;
                }
            }
        }
    }
}

TEST(MemoryKernels, ComputeWhatTheyAreDefinedAsForEveryLengthAndInstructionSet) {
    std::set<std::string> seen;
    for_each_stream_target(check_kernels_of, &seen);
    EXPECT_FALSE(seen.empty());
    EXPECT_TRUE(seen.contains(stream_target().name)); // the best is back
}

TEST(PointerChain, IsOneCycleThroughAllLines) {
    for (std::uint64_t const lines : {2U, 3U, 64U, 1000U}) {
        PointerChain chain{lines * 64, 64, lines};
        ASSERT_EQ(chain.lines(), lines);
        std::set<void const*> seen;
        std::size_t neighbours = 0;
        void const* before = chain.first();
        for (std::uint64_t i = 0; i < lines; ++i) {
            void const* const at = chain.walk(1);
            EXPECT_TRUE(chain.holds(at));
            seen.insert(at);
            neighbours += static_cast<std::byte const*>(at) - static_cast<std::byte const*>(before) == 64 ? 1U : 0U;
            before = at;
        }
        EXPECT_EQ(seen.size(), lines);
        EXPECT_EQ(before, chain.first());
        if (lines == 1000U) { EXPECT_LT(neighbours, 10U); } // without order: about one
    }
}

TEST(PointerChain, WalksAsFarAsItIsTold) {
    PointerChain one{100 * 128, 128, 1}, other{100 * 128, 128, 1};
    void const* step = nullptr;
    for (int i = 0; i < 37; ++i) { step = one.walk(1); }
    auto const offset = [](PointerChain const& chain, void const* place) {
        return static_cast<std::byte const*>(place) - static_cast<std::byte const*>(chain.first());
    };
    EXPECT_EQ(offset(one, step), offset(other, other.walk(37)));
    EXPECT_FALSE(one.holds(static_cast<std::byte const*>(one.first()) + 8));
    EXPECT_FALSE(one.holds(static_cast<std::byte const*>(one.first()) + 100 * 128));
}

TEST(MemoryPoints, StandForEveryLevelOnOneCoreAndOnAll) {
    auto const points = memory_points(four_cores(), {.curve = false});
    EXPECT_EQ(find(points, MemoryKernel::read, "L1", 1).bytes, 16U << 10U);
    EXPECT_EQ(find(points, MemoryKernel::read, "L1", 4).bytes, 64U << 10U);
    EXPECT_EQ(find(points, MemoryKernel::read, "L2", 4).bytes, 2U << 20U);
    EXPECT_EQ(find(points, MemoryKernel::read, "L3", 1).bytes, 16U << 20U);
    EXPECT_EQ(find(points, MemoryKernel::read, "L3", 4).bytes, 16U << 20U); // half of it together
    auto const triad = find(points, MemoryKernel::triad, "memory", 4);
    EXPECT_GE(triad.bytes, 512U << 20U);
    EXPECT_GE(triad.bytes / 3 + 4096, 4U * (32U << 20U));
    for (auto const& point : points) {
        EXPECT_EQ(point.threads == 1 || point.kernel != MemoryKernel::chase, true);
        EXPECT_EQ(point.stores == Stores::ordinary || point.level == "memory", true);
    }
}

TEST(MemoryPoints, ACacheNoLargerThanTheNearerOnesIsMeasuredBesideThem) {
    auto shape = four_cores();
    shape.caches[2].bytes = 4U << 20U; // 1 MiB a core, as much as the second: half of it would lie in the second alone
    auto const points = memory_points(shape, {.curve = false});
    EXPECT_EQ(find(points, MemoryKernel::read, "L3", 4).bytes, 4U * (1U << 20U) + 4U * (1U << 19U));
}

TEST(MemoryPoints, EveryOneHasANameOfItsOwn) {
    std::set<std::string> labels;
    auto const points = memory_points(four_cores());
    for (auto const& point : points) { labels.insert(measured_point(point).label); }
    EXPECT_EQ(labels.size(), points.size());
    EXPECT_TRUE(std::ranges::any_of(points, &MemoryPoint::curve));
    auto const stored = measured_point(find(points, MemoryKernel::triad, "L1", 1));
    EXPECT_EQ(fact(stored.parameters, "kernel"), "triad");
    EXPECT_EQ(stored.unit, "bytes/second");
    EXPECT_EQ(measured_point(find(points, MemoryKernel::chase, "memory", 1)).unit, "seconds");
}

TEST(MemoryPoints, LittleMemoryIsKeptToAndSaid) {
    auto shape = four_cores();
    shape.memory_bytes = std::uint64_t{1} << 30U;
    for (auto const& point : memory_points(shape)) { EXPECT_LE(point.bytes, shape.memory_bytes / 8); }
    ASSERT_EQ(memory_remarks(shape).size(), 1U);
    EXPECT_THAT(memory_remarks(shape)[0], HasSubstr("less than four times the last caches (32 MiB)"));
    EXPECT_TRUE(memory_remarks(four_cores()).empty());
    shape.caches.clear();
    EXPECT_THAT(memory_remarks(shape)[0], HasSubstr("no caches"));
}

TEST(MemoryPoints, OneCoreIsMeasuredOnce) {
    auto shape = four_cores();
    shape.cores = 1, shape.core_ids = {2};
    for (auto const& point : memory_points(shape)) { EXPECT_EQ(point.threads, 1); }
}

/// The fastest of some measurements, until one is believable: other work on the cores slows one down, and speeds none up.
double measured(MemoryBench& bench, MemoryPoint const& point, double least, double most) {
    bool const is_time = point.kernel == MemoryKernel::chase;
    double best = is_time ? std::numeric_limits<double>::infinity() : 0.0;
    for (int i = 0; i < 50 && !(best > least && best < most); ++i) {
        double const value = bench.measure_once(point).value();
        best = is_time ? std::min(best, value) : std::max(best, value);
    }
    return best;
}

TEST(MemoryBench, MeasuresEveryKernelHere) {
    auto const shape = machine_shape();
    MemoryBench bench{shape, 0.001};
    for (auto const& point : memory_points(shape, {.curve = false, .most_bytes = 6U << 20U})) {
        double const least = point.kernel == MemoryKernel::chase ? 1e-10 : 1e6;
        double const most = point.kernel == MemoryKernel::chase ? 1e-4 : believable_limit(point);
        double const value = measured(bench, point, least, most);
        EXPECT_GT(value, least) << measured_point(point).label;
        EXPECT_LT(value, most) << measured_point(point).label;
    }
    bench.renew_pages();
    EXPECT_TRUE(bench.measure_once({MemoryKernel::add, Stores::ordinary, 3 * 512, 1, "L1"}));
    EXPECT_THAT(std::string{*fact(bench.conditions(), "memory kernels")}, HasSubstr(stream_target().name));
    EXPECT_TRUE(fact(bench.conditions(), "huge pages"));
}

TEST(MemoryBench, ACoreThatIsNotThereIsSaidAndNotFatal) {
    MachineShape nowhere;
    nowhere.core_ids = {1 << 20};
    MemoryBench bench{nowhere, 0.001};
    EXPECT_TRUE(bench.measure_once({MemoryKernel::triad, Stores::ordinary, 3 * 4096, 1, "L1"}));
    EXPECT_THAT(std::string{*fact(bench.conditions(), "threads on cores of their own")}, HasSubstr("no: "));
}

TEST(MemoryBench, MoreThreadsThanCoresAreRefused) {
    MachineShape one;
    one.core_ids = {machine_shape().core_ids.front()};
    MemoryBench bench{one, 0.001};
    EXPECT_THROW(bench.measure_once({MemoryKernel::triad, Stores::ordinary, 1U << 20U, 2, "L1"}), std::runtime_error);
}

TEST(LastCache, AFactReadsBack) {
    LastCache const cache{.bytes = 16U << 20U, .told = 260U << 20U, .knee = true};
    EXPECT_EQ(fact_of(cache), "16777216 of 272629760 bytes");
    auto const found = last_cache_from(fact_of(cache));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->bytes, cache.bytes);
    EXPECT_EQ(found->told, cache.told);
    EXPECT_TRUE(found->knee);
    EXPECT_FALSE(last_cache_from(fact_of({.bytes = 1, .told = 2, .knee = false}))->knee);
    for (char const* other : {"", "16 MiB", "16777216 of", "x of 3 bytes"}) {
        EXPECT_FALSE(last_cache_from(other).has_value()) << other;
    }
}

TEST(LastCache, IsNotLookedForWhereItsClaimAsksForNoLargerArrays) {
    MachineShape shape = machine_shape();
    shape.caches = {{.level = 1, .bytes = 32U << 10U}, {.level = 2, .bytes = 1U << 20U}};
    EXPECT_FALSE(probe_last_cache(shape, {}, 256U << 20U, {}).has_value());
}

TEST(LastCache, IsNoLargerThanTheSystemTells) {
    MachineShape shape = machine_shape();
    shape.caches = {{.level = 1, .bytes = 32U << 10U}, {.level = 2, .bytes = 256U << 10U}};
    auto const found = probe_last_cache(shape, {.least_array = 64U << 10U}, 1U << 20U, {});
    ASSERT_TRUE(found.has_value());
    EXPECT_LE(found->bytes, 256U << 10U);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(probe_last_cache(shape, {.least_array = 64U << 10U}, 1U << 20U, stop.get_token()).has_value());
}

TEST(MemoryBench, AStopGivesNoValue) {
    std::stop_source stop;
    stop.request_stop();
    MemoryBench bench{machine_shape(), 10.0};
    EXPECT_FALSE(bench.measure_once({MemoryKernel::read, Stores::ordinary, 1U << 20U, 1, "L1"}, stop.get_token()));
}

TEST(CountedBytes, AreThoseOfStream) {
    EXPECT_EQ(counted_bytes(MemoryKernel::copy), 16);
    EXPECT_EQ(counted_bytes(MemoryKernel::scale), 16);
    EXPECT_EQ(counted_bytes(MemoryKernel::add), 24);
    EXPECT_EQ(counted_bytes(MemoryKernel::triad), 24);
}

} // namespace
} // namespace headroom::probe
