#include "headroom/io/catalog.hpp"
#include "headroom/laws/counted_kernels.hpp"
#include "headroom/laws/roofline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headroom {

using namespace headroom::laws;

namespace {

using namespace units;

io::Catalog const& catalog() {
    static io::Catalog const embedded;
    return embedded;
}

/// Round numbers: 100 TFLOP/s in fp16, 10 in fp32, 1 TB/s of memory, 4 TB/s of cache.
Processor round_processor() {
    Processor processor;
    processor.name = "round";
    processor.peak[NumberFormat::fp16] = 100.0 * TFLOP / s;
    processor.peak[NumberFormat::fp32] = 10.0 * TFLOP / s;
    processor.vector[NumberFormat::fp32] = 10.0 * TFLOP / s;
    processor.levels = {{"memory", 1.0 * TB / s, {}}, {"L2", 4.0 * TB / s, {}}};
    processor.lanes = 32;
    return processor;
}

Kernel kernel_of(double flops, double bytes, NumberFormat format = NumberFormat::fp16) {
    Kernel kernel;
    kernel.name = "kernel";
    kernel.format = format;
    kernel.work = Flops{flops};
    kernel.moved = Bytes{bytes};
    return kernel;
}

Ceiling ceiling(std::vector<Ceiling> const& all, std::string_view name) {
    auto const found = std::ranges::find(all, name, &Ceiling::name);
    EXPECT_NE(found, all.end()) << name;
    return found == all.end() ? Ceiling{} : *found;
}

Gain gain(std::vector<Gain> const& all, GainBy by) {
    auto const found = std::ranges::find(all, by, &Gain::by);
    EXPECT_NE(found, all.end()) << name_of(by);
    return found == all.end() ? Gain{} : *found;
}

bool has(std::vector<Gain> const& all, GainBy by) { return std::ranges::find(all, by, &Gain::by) != all.end(); }

Kernel counted(std::string_view name, std::vector<double> const& sizes, NumberFormat format) {
    for (CountedKernel const& one : counted_kernels()) {
        if (one.name != name) { continue; }
        EXPECT_EQ(one.dimensions, sizes.size());
        Kernel kernel = one.count(sizes, bytes_of(format));
        kernel.format = format;
        return kernel;
    }
    ADD_FAILURE() << name;
    return {};
}

TEST(RidgePoint, IsPeakOverBandwidth) {
    // Expectation: 312 TFLOP/s over 2039 GB/s.
    Processor const a100 = processor_of(catalog().accelerator("a100-sxm-80gb"));
    double const ridge = ridge_point(a100.peak[NumberFormat::bf16], a100.memory().bandwidth).base();
    EXPECT_DOUBLE_EQ(ridge, 312e12 / 2039e9);
    EXPECT_EQ(attainable_rate(FlopsPerByte{ridge / 2.0}, a100.peak[NumberFormat::bf16], a100.memory().bandwidth),
              156.0 * TFLOP / s);
    EXPECT_EQ(attainable_rate(FlopsPerByte{ridge * 2.0}, a100.peak[NumberFormat::bf16], a100.memory().bandwidth),
              312.0 * TFLOP / s);
}

TEST(Attained, FollowsTheSlowestOfArithmeticAndTraffic) {
    Processor const processor = round_processor();
    // Expectation: 1e14 operations take a second; 5e11 bytes half of one.
    Attained at = attained(kernel_of(1e14, 5e11), processor);
    EXPECT_EQ(at.bound, Bound::compute);
    EXPECT_DOUBLE_EQ(at.time.base(), 1.0);
    EXPECT_DOUBLE_EQ(at.of_peak, 1.0);
    EXPECT_DOUBLE_EQ(at.intensity.base(), 200.0);
    EXPECT_DOUBLE_EQ(at.ridge.base(), 100.0);
    // Expectation: 2e12 bytes take two seconds; half the peak is left.
    at = attained(kernel_of(1e14, 2e12), processor);
    EXPECT_EQ(at.bound, Bound::memory);
    EXPECT_EQ(at.level, 0u);
    EXPECT_DOUBLE_EQ(at.time.base(), 2.0);
    EXPECT_DOUBLE_EQ(at.rate.base(), 5e13);
    EXPECT_DOUBLE_EQ(at.of_peak, 0.5);
    // Expectation: at the ridge both take as long; it counts as compute-bound.
    EXPECT_EQ(attained(kernel_of(1e14, 1e12), processor).bound, Bound::compute);
}

TEST(Attained, NamesTheLevelThatBinds) {
    Processor const processor = round_processor();
    Kernel kernel = kernel_of(1e14, 5e11);
    kernel.nearer = {{1, Bytes{12e12}}}; // three seconds of cache
    Attained const at = attained(kernel, processor);
    EXPECT_EQ(at.bound, Bound::memory);
    EXPECT_EQ(at.level, 1u);
    EXPECT_DOUBLE_EQ(at.time.base(), 3.0);
    EXPECT_DOUBLE_EQ(at.ridge.base(), 25.0);
}

TEST(Attained, WorkWithoutTrafficAndTrafficWithoutWork) {
    Processor const processor = round_processor();
    Attained const work = attained(kernel_of(1e14, 0.0), processor);
    EXPECT_EQ(work.bound, Bound::compute);
    EXPECT_TRUE(std::isinf(work.intensity.base()));
    Attained const copy = attained(kernel_of(0.0, 1e12), processor);
    EXPECT_EQ(copy.bound, Bound::memory);
    EXPECT_EQ(copy.rate.base(), 0.0);
    EXPECT_EQ(copy.intensity.base(), 0.0);
    EXPECT_DOUBLE_EQ(copy.time.base(), 1.0);
}

TEST(Divergence, TwoWaysLeaveHalf) {
    EXPECT_DOUBLE_EQ(divergence_throughput(1), 1.0);
    EXPECT_DOUBLE_EQ(divergence_throughput(2), 0.5);
    EXPECT_DOUBLE_EQ(divergence_throughput(32), 1.0 / 32.0);
}

TEST(OccupiedBandwidth, IsLittlesLawUpToTheRoof) {
    MemoryLevel const memory{"memory", 1.0 * TB / s, {}};
    // Expectation: 1 MB in flight for 500 ns is 2 TB/s; a quarter of it half of the roof, three quarters all of it.
    EXPECT_DOUBLE_EQ(occupied_bandwidth(memory, 1.0 * MB, 500.0 * ns, 0.25).base(), 5e11);
    EXPECT_EQ(occupied_bandwidth(memory, 1.0 * MB, 500.0 * ns, 0.75), 1.0 * TB / s);
}

TEST(Ceilings, OfAGraphicsProcessor) {
    auto const all = ceilings_of(round_processor(), NumberFormat::fp16, {.divergence = 2, .occupancy = 0.25});
    EXPECT_DOUBLE_EQ(ceiling(all, "fp16 peak").rate.base(), 1e14);
    EXPECT_DOUBLE_EQ(ceiling(all, "without tensor units").rate.base(), 1e13);
    EXPECT_DOUBLE_EQ(ceiling(all, "without tensor units").of_roof, 0.1);
    EXPECT_DOUBLE_EQ(ceiling(all, "without fused multiply-add").rate.base(), 5e12);
    EXPECT_DOUBLE_EQ(ceiling(all, "2-way divergence").rate.base(), 5e12);
    EXPECT_DOUBLE_EQ(ceiling(all, "occupancy of 25 %").bandwidth.base(), 2.5e11);
    EXPECT_NE(ceiling(all, "occupancy of 25 %").note.find("in proportion"), std::string::npos);
    EXPECT_EQ(std::ranges::find(all, "without vectors", &Ceiling::name), all.end());
    // Expectation: in fp32 the vector units are the roof, and two ways leave half of it.
    auto const wide = ceilings_of(round_processor(), NumberFormat::fp32, {.divergence = 2});
    EXPECT_EQ(std::ranges::find(wide, "without tensor units", &Ceiling::name), wide.end());
    EXPECT_DOUBLE_EQ(ceiling(wide, "2-way divergence").of_roof, 0.5);
}

TEST(Ceilings, OfACpu) {
    Processor cpu;
    cpu.peak[NumberFormat::fp64] = 1.6 * TFLOP / s;
    cpu.levels = {{"DRAM", 200.0 * GB / s, {}}};
    cpu.simd_width = Bytes{64.0};
    cpu.memory_latency = 100.0 * ns;
    cpu.in_flight = 40.0 * kB; // 400 GB/s at full occupancy
    auto all = ceilings_of(cpu, NumberFormat::fp64, {.occupancy = 0.25});
    EXPECT_DOUBLE_EQ(ceiling(all, "without fused multiply-add").rate.base(), 0.8e12);
    EXPECT_DOUBLE_EQ(ceiling(all, "without vectors").rate.base(), 0.2e12); // eight elements
    EXPECT_DOUBLE_EQ(ceiling(all, "without vectors and fused multiply-add").rate.base(), 0.1e12);
    EXPECT_DOUBLE_EQ(ceiling(all, "occupancy of 25 %").bandwidth.base(), 100e9);
    cpu.fuses = false; // what it never does is no ceiling
    all = ceilings_of(cpu, NumberFormat::fp64);
    EXPECT_EQ(std::ranges::find(all, "without fused multiply-add", &Ceiling::name), all.end());
}

TEST(Ceilings, OfAFormatSlowerThanTheVectorsOfFp32) {
    // Expectation: half precision at 1/64 of fp32, as on graphics cards without fast fp16: its roof bounds its ceilings.
    Processor card = round_processor();
    card.peak[NumberFormat::fp16] = card.peak[NumberFormat::fp32] / 64.0;
    card.vector[NumberFormat::fp16] = {};
    auto const all = ceilings_of(card, NumberFormat::fp16);
    EXPECT_DOUBLE_EQ(ceiling(all, "without fused multiply-add").of_roof, 0.5);
    EXPECT_EQ(std::ranges::find(all, "without tensor units", &Ceiling::name), all.end());
}

TEST(Ceilings, OfATpuNameNoVectors) {
    auto const all = ceilings_of(processor_of(catalog().accelerator("tpu-v4")), NumberFormat::bf16, {});
    EXPECT_TRUE(std::ranges::none_of(all, [](Ceiling const& one) { return one.kind == CeilingKind::lower; }));
}

TEST(Ceilings, NoneIsAboveItsRoof) {
    for (auto const& name : catalog().names(io::RecordKind::accelerator)) {
        Processor const processor = processor_of(catalog().accelerator(name));
        auto const format = usual_format(processor);
        ASSERT_TRUE(format) << name;
        int const lanes = std::max(1, processor.lanes);
        for (Ceiling const& one : ceilings_of(processor, *format, {.divergence = lanes, .occupancy = 0.5})) {
            EXPECT_LE(one.of_roof, 1.0) << name << " " << one.name;
            EXPECT_GT(one.of_roof, 0.0) << name << " " << one.name;
        }
    }
}

TEST(CountedKernels, AgreeWithCountsByHand) {
    // Expectation: n products and n sums over two vectors of 4-byte elements: a quarter of an operation a byte.
    Kernel const dot = counted("dot", {1000}, NumberFormat::fp32);
    EXPECT_DOUBLE_EQ((dot.work / dot.moved).base(), 0.25);
    // Expectation: counted by loops.
    double products = 0.0, elements = 0.0;
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 5; ++j) {
            ++elements; // result
            for (int k = 0; k < 7; ++k) { products += 1.0; }
        }
    }
    elements += 6 * 7 + 7 * 5;
    Kernel const gemm = counted("gemm", {6, 5, 7}, NumberFormat::fp16);
    EXPECT_DOUBLE_EQ(gemm.work.base(), 2.0 * products);
    EXPECT_DOUBLE_EQ(gemm.moved.base(), 2.0 * elements);
    Kernel const gemv = counted("gemv", {5, 7}, NumberFormat::fp64);
    EXPECT_DOUBLE_EQ(gemv.work.base(), 70.0);
    EXPECT_DOUBLE_EQ(gemv.moved.base(), 8.0 * (35 + 5 + 7));
    Kernel const square = counted("gemm", {1024, 1024, 1024}, NumberFormat::fp32);
    EXPECT_DOUBLE_EQ((square.work / square.moved).base(), 1024.0 / 6.0); // n / 6
    EXPECT_DOUBLE_EQ(counted("adam", {1000}, NumberFormat::bf16).moved.base(), 28'000.0);
    EXPECT_DOUBLE_EQ(counted("transpose", {3, 4}, NumberFormat::fp32).moved.base(), 96.0);
    EXPECT_DOUBLE_EQ(counted("spmv", {10, 3}, NumberFormat::fp64).moved.base(), 30.0 * 12.0 + 160.0);
    EXPECT_DOUBLE_EQ(counted("attention", {2, 3, 128, 64}, NumberFormat::bf16).work.base(), 4.0 * 6 * 128 * 128 * 64);
}

TEST(CountedKernels, AreAllPossible) {
    for (CountedKernel const& one : counted_kernels()) {
        std::vector<double> const sizes(one.dimensions, 16.0);
        Kernel const kernel = one.count(sizes, 4.0);
        EXPECT_GT(kernel.moved.base(), 0.0) << one.name;
        EXPECT_LE(kernel.handed_over, kernel.moved) << one.name;
        EXPECT_EQ(std::ranges::count(one.sizes, 'x') + 1, static_cast<std::ptrdiff_t>(one.dimensions)) << one.name;
    }
}

TEST(RowsAtRidge, IsWhereAProductChangesSides) {
    Processor processor = round_processor();
    processor.levels.resize(1);
    // Expectation: 2 m k n = 100 * 2 (m k + k n + m n) with k = n = 1000: m = 1e8 / (1e6 - 2e5) = 125.
    Kernel kernel = counted("gemm", {64, 1000, 1000}, NumberFormat::fp16);
    auto const rows = rows_at_ridge(*kernel.batched, FlopsPerByte{100.0});
    ASSERT_TRUE(rows);
    EXPECT_DOUBLE_EQ(*rows, 125.0);
    EXPECT_EQ(attained(counted("gemm", {124, 1000, 1000}, NumberFormat::fp16), processor).bound, Bound::memory);
    EXPECT_EQ(attained(counted("gemm", {126, 1000, 1000}, NumberFormat::fp16), processor).bound, Bound::compute);
    // Expectation: time of a row then over now: 2e-8 s of arithmetic; now 2 (64e3 + 1e6 + 64e3) B / 1e12 / 64.
    EXPECT_NEAR(gain(gains_of(kernel, processor), GainBy::batch).speedup, 2.256e-6 / 64.0 / 2e-8, 1e-12);
    // Expectation: 2 k n / (2 (k + n)) = 50 operations a byte at most: no batch reaches 100.
    EXPECT_FALSE(rows_at_ridge(*counted("gemm", {64, 100, 100}, NumberFormat::fp16).batched, FlopsPerByte{100.0}));
}

TEST(Gains, OfAMemoryBoundKernel) {
    Processor const processor = round_processor();
    Kernel kernel = kernel_of(1e13, 2e12, NumberFormat::fp32); // two seconds of memory, one of arithmetic
    kernel.handed_over = Bytes{0.5e12};
    auto const all = gains_of(kernel, processor);
    EXPECT_DOUBLE_EQ(gain(all, GainBy::memory).speedup, 2.0);
    EXPECT_DOUBLE_EQ(gain(all, GainBy::memory).at_most, 2.0);
    EXPECT_DOUBLE_EQ(gain(all, GainBy::peak).speedup, 1.0);
    // Expectation: half the bytes and ten times the peak: one second of memory.
    EXPECT_DOUBLE_EQ(gain(all, GainBy::precision).speedup, 2.0);
    EXPECT_EQ(gain(all, GainBy::precision).format, NumberFormat::fp16);
    EXPECT_DOUBLE_EQ(gain(all, GainBy::fusion).speedup, 2.0 / 1.5);
    EXPECT_FALSE(has(all, GainBy::batch));
}

TEST(Gains, OfAComputeBoundKernel) {
    Processor const processor = round_processor();
    auto const all = gains_of(kernel_of(4e14, 1e12), processor); // four seconds and one
    EXPECT_DOUBLE_EQ(gain(all, GainBy::peak).speedup, 2.0);
    EXPECT_DOUBLE_EQ(gain(all, GainBy::peak).at_most, 4.0);
    EXPECT_DOUBLE_EQ(gain(all, GainBy::memory).speedup, 1.0);
    EXPECT_FALSE(has(all, GainBy::precision)) << "no narrower format has a rate";
    EXPECT_FALSE(has(all, GainBy::fusion));
}

TEST(NumberFormats, ReadAndWrite) {
    for (NumberFormat const format : number_formats) { EXPECT_EQ(number_format_from(name_of(format)), format); }
    EXPECT_EQ(number_format_from("FP-64"), NumberFormat::fp64);
    EXPECT_EQ(number_format_from("bfloat16"), NumberFormat::bf16);
    EXPECT_EQ(number_format_from("mxfp8"), NumberFormat::fp8);
    EXPECT_FALSE(number_format_from("int8"));
    EXPECT_EQ(usual_format(processor_of(catalog().accelerator("v100-sxm2-16gb"))), NumberFormat::fp16);
}

TEST(Attained, OfLevelsThatTieMainMemoryBinds) {
    Kernel kernel = kernel_of(0.0, 1e12);
    kernel.nearer = {{1, Bytes{4e12}}}; // a second each
    EXPECT_EQ(attained(kernel, round_processor()).level, 0u);
}

TEST(Gains, ANarrowerFormatMovesLessAtEveryLevel) {
    // Expectation: three seconds of cache, next to nothing of memory: half the bytes are twice as fast.
    Processor const processor = round_processor();
    Kernel kernel = kernel_of(1e12, 1e9, NumberFormat::fp32);
    kernel.nearer = {{1, Bytes{12e12}}};
    Gain const narrow = gain(gains_of(kernel, processor), GainBy::precision);
    EXPECT_EQ(narrow.format, NumberFormat::fp16);
    EXPECT_DOUBLE_EQ(narrow.speedup, 2.0);
}

TEST(Gains, ABatchWhoseRowsAreBoundByMemoryNeverMeetsTheRidge) {
    // Expectation: a row of 1e12 operations takes 10 ms and its 1e11 bytes 100 ms; the 9e11 fixed ones 0.9 s: ten times.
    Kernel kernel = kernel_of(1e12, 1e12);
    kernel.batched = Batched{.rows = 1.0, .work = Flops{1e12}, .moved = Bytes{1e11}, .fixed = Bytes{9e11}};
    Gain const batch = gain(gains_of(kernel, round_processor()), GainBy::batch);
    EXPECT_EQ(batch.rows, std::nullopt);
    EXPECT_DOUBLE_EQ(batch.at_most, 10.0);
}

TEST(Gains, WorkThatStandsInForACountTellsNoLimit) {
    Kernel kernel = kernel_of(1e12, 1e12);
    EXPECT_DOUBLE_EQ(gain(gains_of(kernel, round_processor()), GainBy::memory).at_most, 100.0);
    kernel.nominal = true;
    EXPECT_TRUE(std::isinf(gain(gains_of(kernel, round_processor()), GainBy::memory).at_most));
}

TEST(CountedKernels, OfAStencilAndAnOptimizer) {
    // Expectation: seven points with two weights: 2 products and 6 sums a point; 13 operations and 28 bytes of Adam.
    EXPECT_DOUBLE_EQ(counted("stencil", {1000.0}, NumberFormat::fp64).work.base(), 8000.0);
    EXPECT_DOUBLE_EQ(counted("stencil", {1000.0}, NumberFormat::fp64).moved.base(), 16000.0);
    EXPECT_DOUBLE_EQ(counted("adam", {1000.0}, NumberFormat::fp32).work.base(), 13000.0);
    EXPECT_DOUBLE_EQ(counted("adam", {1000.0}, NumberFormat::fp32).moved.base(), 28000.0);
}

} // namespace
} // namespace headroom
