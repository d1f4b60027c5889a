#include "support/training.hpp"

#include "headroom/training/kernel.hpp"
#include "headroom/training/smooth_maximum.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headroom {

using namespace headroom::training;

namespace {

using namespace units;

/// A chip of round numbers: 100 TFLOP/s, 100 units, memory that is never in the way.
KernelRates round_rates() {
    KernelRates rates;
    rates.gemm = rates.head_gemm = rates.attention = rates.unfused = 100.0 * TFLOP / s;
    rates.memory = BytesPerSecond{1e30};
    rates.units = 100;
    rates.traffic.fill(1.0);
    return rates;
}

double seconds(double m, double n, double k, KernelRates const& rates) {
    return product_time({.m = m, .n = n, .k = k}, rates.gemm, rates).base();
}

TEST(SmoothMaximum, LiesBetweenTheLargerAndTheCubeRootOfTwo) {
    EXPECT_EQ(smooth_maximum(0.0, 0.0), 0.0);
    EXPECT_EQ(smooth_maximum(3.0, 0.0), 3.0);
    EXPECT_DOUBLE_EQ(smooth_maximum(1.0, 1.0), std::cbrt(2.0)); // the widest rounding: 26 %
    for (double a = 1e-9; a < 1e9; a *= 7.3) {
        for (double b = 1e-9; b < 1e9; b *= 5.1) {
            double const smooth = smooth_maximum(a, b);
            EXPECT_GE(smooth, std::max(a, b));
            EXPECT_EQ(smooth, smooth_maximum(b, a));
            EXPECT_NEAR(smooth / std::cbrt(a * a * a + b * b * b), 1.0, 1e-12);
        }
    }
}

TEST(PowerRatio, IsOfTheWattsThatAGenerationIsKnownBy) {
    auto const ratio = [](char const* chip) { return power_ratio(training::catalog().accelerator(chip)); };
    // Expectation: a T4 has 70 W for 65 TFLOP/s, V100 SXM of the same node of 12 nm 300 W for 125.
    EXPECT_DOUBLE_EQ(ratio("t4"), (70.0 / 65.0) / (300.0 / 125.0));
    for (char const* known : {"v100-sxm2-32gb", "a100-sxm-80gb", "h100-sxm-80gb"}) {
        EXPECT_NEAR(ratio(known), 1.0, 1e-3) << known;
    }
}

TEST(GemmTime, ReachesTheRateOnWholeTilesAndWaves) {
    // Expectation: 100 tiles of 256 x 128 fill the 100 units once; nothing is lost.
    auto const rates = round_rates();
    double const m = 10 * 256.0, n = 10 * 128.0, k = 4096;
    EXPECT_DOUBLE_EQ(seconds(m, n, k, rates), 2.0 * m * n * k / 1e14);
}

TEST(GemmTime, OneTileMoreThanAWaveCostsAWave) {
    // Expectation: the 101st tile of the largest kind would take a second wave; smaller tiles soften it, but the step
    // is visible: over 20 % for 1 % more work.
    auto const rates = round_rates();
    double const full = seconds(100 * 256.0, 128, 4096, rates);
    double const more = seconds(101 * 256.0, 128, 4096, rates);
    EXPECT_GT(more, 1.05 * full);
    EXPECT_LE(more, 2.0 * full);
    // Expectation: with a thousand tiles the last wave no longer matters that much.
    EXPECT_LT(seconds(2001 * 256.0, 128, 4096, rates), 1.03 * seconds(2000 * 256.0, 128, 4096, rates));
}

TEST(GemmTime, NeverBeatsTheRateNorTheMemory) {
    auto rates = round_rates();
    for (double const bandwidth : {1e11, 3.35e12, 1e30}) {
        rates.memory = BytesPerSecond{bandwidth};
        for (double m = 1; m < 1e5; m = std::ceil(m * 2.7)) {
            for (double n = 1; n < 1e5; n = std::ceil(n * 3.1)) {
                for (double k = 1; k < 1e5; k = std::ceil(k * 4.3)) {
                    double const time = seconds(m, n, k, rates);
                    EXPECT_GE(time, 2.0 * m * n * k / 1e14 * (1.0 - 1e-12)) << m << " " << n << " " << k;
                    EXPECT_GE(time, 2.0 * (m * k + k * n + m * n) / bandwidth * (1.0 - 1e-12));
                }
            }
        }
    }
}

TEST(GemmTime, MoreWorkIsNeverFaster) {
    // Expectation: steps, but no drops: a larger product never takes less time.
    auto rates = round_rates();
    rates.memory = 3.35 * TB / s;
    for (double const n : {64.0, 1000.0, 8192.0}) {
        double last_m = 0.0, last_n = 0.0, last_k = 0.0;
        for (double size = 1; size < 40000; size += 97) {
            double const by_m = seconds(size, n, 4096, rates);
            double const by_n = seconds(n, size, 4096, rates);
            double const by_k = seconds(n, 4096, size, rates);
            EXPECT_GE(by_m, last_m) << size;
            EXPECT_GE(by_n, last_n) << size;
            EXPECT_GE(by_k, last_k) << size;
            last_m = by_m;
            last_n = by_n;
            last_k = by_k;
        }
    }
}

TEST(GemmTime, AThinProductIsReadingItsWeights) {
    // Expectation: one row against an 8192 x 8192 matrix of two bytes at 0.1 TB/s: 134 MB take 1.34 ms, whatever the
    // arithmetic of the one tile row could do.
    auto rates = round_rates();
    rates.memory = 0.1 * TB / s;
    EXPECT_NEAR(seconds(1, 8192, 8192, rates), 1.342e-3, 2e-6);
}

TEST(GemmTime, WithoutUnitsThereAreNoWaves) {
    auto rates = round_rates();
    rates.units = 0;
    EXPECT_DOUBLE_EQ(seconds(1000, 77, 333, rates), 2.0 * 1000 * 77 * 333 / 1e14);
}

TEST(AttentionTime, CountsTheCausalHalf) {
    // Expectation: 2 s^2 d operations a head forward, 2.5 times that backward, at the asymptote.
    auto const rates = round_rates();
    Operation core{
        .name = "core", .kind = OperationKind::attention, .m = 32, .n = 4096, .k = 4096, .d = 128, .keys = 2048};
    double const forward = 32.0 * 2.0 * 4096.0 * 4096.0 * 128.0 / 1e14;
    EXPECT_DOUBLE_EQ(attention_time(core, rates).base(), forward);
    core.phase = Phase::recompute;
    EXPECT_DOUBLE_EQ(attention_time(core, rates).base(), forward);
    core.phase = Phase::backward;
    EXPECT_DOUBLE_EQ(attention_time(core, rates).base(), 2.5 * forward);
}

TEST(AttentionTime, ShortSequencesAndSmallHeadsAreSlower) {
    auto rates = round_rates();
    rates.half_length = 512;
    rates.small_head = 0.5;
    rates.backward = 0.8;
    Operation core{.name = "core", .kind = OperationKind::attention, .m = 1, .n = 512, .k = 512, .d = 128, .keys = 256};
    auto const efficiency = [&] {
        double const passes = core.phase == Phase::backward ? 2.5 : 1.0;
        return passes * 2.0 * core.m * core.n * core.k * core.d / 1e14 / attention_time(core, rates).base();
    };
    EXPECT_DOUBLE_EQ(efficiency(), 0.5); // half of the asymptote at the half length
    core.d = 64;
    EXPECT_DOUBLE_EQ(efficiency(), 0.25);
    core.phase = Phase::backward;
    EXPECT_DOUBLE_EQ(efficiency(), 0.2);
    core.d = 81; // the limit lies at 80
    EXPECT_DOUBLE_EQ(efficiency(), 0.4);
}

TEST(UnfusedAttention, ComputesTheWholeSquare) {
    // Expectation: twice the causal work, and a head dimension that is no multiple of 8 runs at a fraction.
    auto rates = round_rates();
    rates.misaligned = 0.25;
    Operation core{.name = "core", .kind = OperationKind::unfused_attention, .m = 8, .n = 2048, .k = 2048, .d = 128};
    double const work = 4.0 * 8 * 2048.0 * 2048.0 * 128.0;
    EXPECT_DOUBLE_EQ(kernel_time(core, rates).base(), work / (1e14 * 128.0 / 168.0));
    core.d = 100;
    double const per_d = kernel_time(core, rates).base() / 100.0;
    core.d = 96;
    EXPECT_GT(per_d, 2.0 * kernel_time(core, rates).base() / 96.0);
}

TEST(UnfusedAttention, OutsideTheTensorUnitsHasThe32BitPeak) {
    // Expectation: a head dimension that is no multiple of 8 leaves the tensor units, so that the rate falls by the ratio of
    // the two peaks: 19.5 of 312 TFLOP/s with an A100 in 16 bits, of 156 in TF32; in 32 bits nothing is lost.
    Accelerator a100;
    a100.generation = Generation::ampere;
    constexpr auto tflops = units::TFLOP / units::s;
    a100.peak.fp32 = 19.5 * tflops, a100.peak.tf32 = 156.0 * tflops, a100.peak.bf16 = 312.0 * tflops;
    auto const share = [&a100](Precision precision) { return kernel_rates(a100, precision, {}, {}).misaligned; };
    EXPECT_DOUBLE_EQ(share(Precision::bf16), 19.5 / 312.0);
    EXPECT_DOUBLE_EQ(share(Precision::tf32), 19.5 / 156.0);
    EXPECT_DOUBLE_EQ(share(Precision::fp32), 1.0);
    a100.peak.fp32 = {};
    EXPECT_DOUBLE_EQ(share(Precision::bf16), 19.5 / 312.0); // no source states it
}

TEST(AttentionTime, AWindowIsNoSlowerThanNone) {
    // Expectation: keys of a causal window w in s tokens are w - w^2 / 2s on average, and a kernel that sees so many is as
    // efficient as one over a sequence of twice as many: never slower than over the whole sequence.
    auto rates = round_rates();
    rates.half_length = 600;
    Model model;
    model.hidden = model.heads = model.kv_heads = model.head_dim = 64;
    model.layers = 1;
    double last = 0.0;
    for (int const window : {64, 256, 512, 768, 896, 1000, 1023, 0}) {
        model.window = window;
        auto const program = step_program(model, shape_of({}, {.sequence_length = 1024}), {});
        for (auto const& o : program.blocks.front().program.operations()) {
            if (o.kind != OperationKind::attention || o.phase != Phase::forward) { continue; }
            EXPECT_GT(attention_time(o, rates).base(), last) << window;
            last = attention_time(o, rates).base();
        }
    }
    EXPECT_DOUBLE_EQ(last, 64 * 4.0 * 1024 * 512 * 64 / (1e14 * 1024 / 1624 * 1.0));
}

TEST(GroupedProducts, ShareOneQueueOfTiles) {
    // Expectation: 8 products of 256 x 1280 rows and columns are 8 x 10 tiles: one wave of 100 units, where one after the
    // other they would be 8 waves with a tenth of the units each.
    auto rates = round_rates();
    Operation experts{
        .name = "experts", .kind = OperationKind::grouped_gemm, .m = 256, .n = 1280, .k = 4096, .times = 8};
    double const work = 2.0 * 8 * 256 * 1280 * 4096;
    EXPECT_DOUBLE_EQ(product_time(experts, rates.gemm, rates).base(), work / 1e14);
    rates.grouped = 0.5;
    EXPECT_DOUBLE_EQ(product_time(experts, rates.gemm, rates).base(), work / 0.5e14);
    // Expectation: each reads its own weights: 8 of 1280 x 4096 elements, and rows, of two bytes.
    rates.memory = 1e6 * BytesPerSecond{1.0}; // so slow that the products take no part
    double const bytes = 8 * 2.0 * (256.0 * 4096 + 4096.0 * 1280 + 256.0 * 1280);
    EXPECT_NEAR(product_time(experts, rates.gemm, rates).base() / (bytes / 1e6), 1.0, 1e-9);
}

TEST(Products, MoveWhatTheySayTheyMove) {
    // Expectation: a convolution reads its input once, not once a tap: the bytes of the operation, not of three matrices.
    auto rates = round_rates();
    rates.memory = 1e9 * BytesPerSecond{1.0};
    Operation convolution{
        .name = "3x3", .kind = OperationKind::gemm, .m = 3136, .n = 64, .k = 576, .bytes = Bytes{1e6}};
    EXPECT_NEAR(product_time(convolution, rates.gemm, rates).base(), 1e-3, 1e-9);
    convolution.times = 3;
    EXPECT_NEAR(product_time(convolution, rates.gemm, rates).base(), 3e-3, 3e-9);
}

TEST(KernelTime, MovesBytesAtTheMemoryRate) {
    auto rates = round_rates();
    rates.memory = 2.0 * TB / s;
    rates.traffic[static_cast<std::size_t>(MemoryClass::feed_forward)] = 1.5;
    Operation const copy{
        .name = "copy", .kind = OperationKind::memory, .bytes = 4.0 * GB, .memory = MemoryClass::hidden};
    EXPECT_DOUBLE_EQ(kernel_time(copy, rates).in(ms), 2.0);
    Operation const gelu{
        .name = "gelu", .kind = OperationKind::memory, .bytes = 4.0 * GB, .memory = MemoryClass::feed_forward};
    EXPECT_DOUBLE_EQ(kernel_time(gelu, rates).in(ms), 3.0);
    EXPECT_EQ(kernel_time({.name = "all-reduce", .kind = OperationKind::collective, .bytes = 1.0 * GB}, rates),
              Seconds{});
}

TEST(KernelRates, FollowThePrecision) {
    // Expectation: 8-bit products run at the 8-bit peak; the head and attention stay in 16 bits.
    auto const constants = training::fitted().values();
    auto const framework = training::catalog().framework("megatron-core");
    auto const h100 = training::catalog().accelerator("h100-sxm-80gb");
    auto const bf16 = kernel_rates(h100, Precision::bf16, framework, constants);
    auto const fp8 = kernel_rates(h100, Precision::fp8, framework, constants);
    EXPECT_NEAR(bf16.gemm / (h100.peak.bf16 * constants[Constant::gemm_hopper]), 1.0, 1e-12);
    EXPECT_NEAR(fp8.gemm / bf16.gemm, h100.peak.fp8 / h100.peak.bf16, 1e-12);
    EXPECT_EQ(fp8.head_gemm, bf16.gemm);
    EXPECT_EQ(fp8.attention, bf16.attention);
    auto const fp32 = kernel_rates(h100, Precision::fp32, framework, constants);
    EXPECT_NEAR(fp32.head_gemm / (h100.peak.fp32 * constants[Constant::gemm_fp32]), 1.0, 1e-12); // no tensor units
}

TEST(KernelRates, AreBelowTheBestThatWasMeasuredOnTheChip) {
    // Expectation: whatever the constant, an MI300X sustains no more than the 668.4 of 1307 TFLOP/s that [StasMlEngineering] found at the best
    // shape, though one constant stands for all such chips; a framework with kernels of its own is not bound by
    // libraries.
    auto const constants = training::fitted().values();
    auto const framework = training::catalog().framework("megatron-core");
    for (auto const& name : training::catalog().names(io::RecordKind::accelerator)) {
        auto const chip = training::catalog().accelerator(name);
        if (chip.measured_gemm.base() <= 0.0) { continue; }
        auto const rates = kernel_rates(chip, Precision::bf16, framework, constants);
        EXPECT_LE(rates.gemm.base(), chip.measured_gemm.base() * (1.0 + 1e-12)) << name;
        EXPECT_LE(rates.head_gemm.base(), chip.measured_gemm.base() * (1.0 + 1e-12)) << name;
    }
    auto const mi300x = training::catalog().accelerator("mi300x");
    auto const own = training::catalog().framework("tinygrad");
    auto high = constants;
    high[Constant::gemm_cdna] = 0.9;
    EXPECT_NEAR(kernel_rates(mi300x, Precision::bf16, framework, high).gemm / (668.4 * TFLOP / s), 1.0, 1e-12);
    EXPECT_NEAR(kernel_rates(mi300x, Precision::bf16, own, constants).gemm /
                    (mi300x.peak.bf16 * constants[Constant::gemm_cdna]),
                1.0, 1e-12);
}

TEST(KernelRates, AreBelowTheDatasheet) {
    // Expectation: no chip of the catalog sustains more than its peak, nor its memory more than its bandwidth.
    auto const constants = training::fitted().values();
    for (auto const& name : training::catalog().names(io::RecordKind::accelerator)) {
        auto const chip = training::catalog().accelerator(name);
        for (auto const& framework : training::frameworks()) {
            for (auto const precision :
                 {Precision::bf16, Precision::fp16, Precision::fp8, Precision::mxfp8, Precision::nvfp4}) {
                auto const rates = kernel_rates(chip, precision, framework, constants);
                auto const sixteen = peak_rate(chip, Precision::bf16);
                EXPECT_LE(rates.gemm, peak_rate(chip, precision)) << name << " " << name_of(precision);
                EXPECT_LE(rates.head_gemm, sixteen) << name;
                EXPECT_LE(rates.attention, sixteen) << name;
                EXPECT_LE(rates.unfused, sixteen) << name;
                EXPECT_LE(rates.memory, chip.memory_bandwidth) << name;
            }
        }
    }
}

TEST(KernelRates, NarrowerFormatsAreNoSlower) {
    // Expectation: tf32 is no slower than fp32 where cut parts sustain less of its peak than vector units of theirs, and where
    // a chip has none; FP8 gains where its peak is higher than that of 16 bits, and costs its casts where it is not.
    auto const constants = training::fitted().values();
    for (auto const* framework : {"megatron-core", "pytorch"}) {
        for (auto const& name : training::catalog().names(io::RecordKind::accelerator)) {
            auto const chip = training::catalog().accelerator(name);
            FlopsPerSecond last;
            for (auto const precision : {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp8}) {
                bool const no_gain = precision == Precision::fp8 && chip.peak.fp8 <= chip.peak.bf16;
                if (no_gain || peak_rate(chip, precision).base() == 0.0) { continue; }
                auto const rate =
                    kernel_rates(chip, precision, training::catalog().framework(framework), constants).gemm;
                EXPECT_GE(rate / last, last.base() > 0.0 ? 1.0 - 1e-12 : 0.0) << name << " " << name_of(precision);
                last = rate;
            }
        }
    }
}

TEST(KernelRates, AreContinuousInTheWattsOfAPart) {
    // Expectation: a watt more, from 1.6 to 2.5 times those of an H100, is never 1 % in the rates: H20's are those of cut parts.
    auto const constants = training::fitted().values();
    auto const framework = training::catalog().framework("megatron-core");
    auto chip = training::catalog().accelerator("h100-sxm-80gb");
    KernelRates last;
    for (int watts = 1120; watts <= 1750; ++watts) {
        chip.tdp = static_cast<double>(watts) * watt;
        auto const rates = kernel_rates(chip, Precision::bf16, framework, constants);
        if (watts > 1120) {
            EXPECT_NEAR(rates.gemm / last.gemm, 1.0, 0.01) << watts;
            EXPECT_NEAR(rates.attention / last.attention, 1.0, 0.01) << watts;
        }
        last = rates;
    }
    EXPECT_NEAR(last.attention / chip.peak.bf16, constants[Constant::attention_consumer], 1e-12);
}

TEST(KernelRates, NewerAttentionKernelsAreNoSlower) {
    auto const constants = training::fitted().values();
    auto framework = training::catalog().framework("megatron-core");
    for (auto const* name : {"a100-sxm-80gb", "h100-sxm-80gb", "b200-sxm-180gb"}) {
        auto const chip = training::catalog().accelerator(name);
        FlopsPerSecond last;
        for (auto const kernel : {AttentionKernel::flash1, AttentionKernel::flash2, AttentionKernel::flash3}) {
            framework.attention = kernel;
            auto const rate = kernel_rates(chip, Precision::bf16, framework, constants).attention;
            EXPECT_GE(rate, last) << name;
            last = rate;
        }
    }
}

} // namespace
} // namespace headroom
