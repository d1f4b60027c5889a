#include "headroom/kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom {
namespace {

/// Which constants describe a chip of a generation.
struct GenerationRow {
    Generation generation;
    Constant gemm, attention, fp8;
};

constexpr GenerationRow row_of(Generation generation) {
    using enum Generation;
    using enum Constant;
    switch (generation) {
    case volta:
    case turing: return {generation, gemm_volta, attention_other, fp8_hopper};
    case ampere: return {generation, gemm_ampere, attention_ampere, fp8_hopper};
    case ada: return {generation, gemm_ada, attention_other, fp8_hopper};
    case hopper: return {generation, gemm_hopper, attention_hopper, fp8_hopper};
    case blackwell: return {generation, gemm_blackwell, attention_blackwell, fp8_blackwell};
    case blackwell_ultra: return {generation, gemm_blackwell_ultra, attention_blackwell, fp8_blackwell};
    case ada_consumer:
    case blackwell_consumer: return {generation, gemm_consumer, attention_consumer, fp8_hopper};
    case tpu_v3:
    case tpu_v4:
    case tpu_v5e:
    case tpu_v5p:
    case tpu_v6e:
    case tpu_v7x: return {generation, gemm_tpu, attention_tpu, fp8_blackwell};
    default: return {generation, gemm_other, attention_other, fp8_hopper};
    }
}

double low_precision_factor(Precision precision, GenerationRow const& row, Calibration const& constants) {
    switch (precision) {
    case Precision::fp8: return constants[row.fp8];
    case Precision::mxfp8: return constants[Constant::mxfp8];
    case Precision::nvfp4: return constants[Constant::nvfp4];
    default: return 1.0;
    }
}

double attention_kernel_factor(AttentionKernel kernel, Generation generation, Calibration const& constants) {
    bool const hopper_or_later = generation == Generation::hopper || generation == Generation::blackwell ||
                                 generation == Generation::blackwell_ultra;
    switch (kernel) {
    case AttentionKernel::flash1: return constants[hopper_or_later ? Constant::flash1_hopper : Constant::flash1_factor];
    case AttentionKernel::flash2: return hopper_or_later ? constants[Constant::flash2_hopper] : 1.0;
    default: return 1.0;
    }
}

struct Tile {
    double m, n, efficiency;
};
// Smaller tiles reuse operands less: efficiencies relative to the largest, from the vendor's guide.
constexpr std::array<Tile, 4> tiles{{{256, 128, 1.0}, {128, 128, 0.93}, {128, 64, 0.75}, {64, 64, 0.55}}};
constexpr double waves_that_quantise = 12.0; // later waves drain unevenly and fill each other's gaps

double waves(double tile_count, double units) {
    double const exact = tile_count / units;
    return exact <= waves_that_quantise ? std::ceil(exact) : exact + 0.5;
}

} // namespace

double smooth_maximum(double a, double b) {
    double const larger = std::max(a, b);
    if (larger <= 0.0) { return 0.0; }
    double const ratio = std::min(a, b) / larger;
    double const r2 = ratio * ratio;
    double const r4 = r2 * r2;
    return larger * std::sqrt(std::sqrt(std::sqrt(1.0 + r4 * r4)));
}

KernelRates kernel_rates(Accelerator const& chip, Precision precision, Framework const& framework,
                         Calibration const& constants) {
    auto const row = row_of(chip.generation);
    double const fraction = constants[row.gemm];
    auto const sixteen_bit =
        peak_rate(chip, precision == Precision::fp32 || precision == Precision::tf32 ? precision : Precision::bf16);
    double const fused = framework.fused_elementwise ? constants[Constant::fused_bytes] : 1.0;
    KernelRates rates;
    rates.gemm = peak_rate(chip, precision) * fraction * low_precision_factor(precision, row, constants);
    rates.head_gemm = sixteen_bit * fraction;
    rates.attention = sixteen_bit * constants[row.attention] *
                      attention_kernel_factor(framework.attention, chip.generation, constants);
    rates.unfused = sixteen_bit * fraction * constants[Constant::unfused_gemm];
    rates.memory = chip.memory_bandwidth * constants[Constant::memory_fraction];
    rates.element = element_bytes(precision);
    rates.units = chip.units;
    rates.prologue = constants[Constant::gemm_prologue];
    rates.half_length = constants[Constant::attention_half_length];
    rates.small_head = constants[Constant::attention_small_head];
    rates.backward = constants[Constant::attention_backward];
    rates.misaligned = constants[Constant::misaligned_head];
    rates.unfused_passes = constants[Constant::unfused_passes];
    rates.traffic = {constants[Constant::bytes_hidden] * fused,
                     constants[Constant::bytes_sharded] * fused,
                     constants[Constant::bytes_ffn] * fused,
                     constants[Constant::bytes_logit],
                     constants[Constant::cast_bytes],
                     constants[Constant::unfused_passes],
                     1.0};
    rates.gap = Seconds{framework.host == HostPace::native ? 0.0 : constants[Constant::kernel_gap]};
    return rates;
}

Seconds gemm_time(double m, double n, double k, FlopsPerSecond rate, KernelRates const& rates) {
    double const bytes = rates.element * (m * k + k * n + m * n);
    double const memory_seconds = bytes / rates.memory.base();
    double best = 2.0 * m * n * k / rate.base();
    if (rates.units > 0.0) {
        double const padded_k = k + rates.prologue;
        double least = 0.0;
        for (auto const& tile : tiles) {
            double const count = std::ceil(m / tile.m) * std::ceil(n / tile.n);
            double const work = count <= rates.units ? rates.units * std::ceil(count) / rates.units
                                                     : waves(count, rates.units) * rates.units;
            // fewer tiles than units: split-K keeps every unit busy on a share of each tile
            double const cost = work * tile.m * tile.n / tile.efficiency;
            if (least == 0.0 || cost < least) { least = cost; }
        }
        best = 2.0 * least * padded_k / rate.base();
    }
    return Seconds{smooth_maximum(best, memory_seconds)};
}

Seconds attention_time(Operation const& operation, KernelRates const& rates) {
    bool const backward = operation.phase == Phase::backward;
    double const causal_half = 0.5 * 4.0 * operation.m * operation.n * operation.k * operation.d;
    double const work = causal_half * (backward ? 2.5 : 1.0);
    double const reach = operation.k / (operation.k + rates.half_length);
    double const head = operation.d <= 80.0 ? rates.small_head : 1.0;
    double const pass = backward ? rates.backward : 1.0;
    return Seconds{work / (rates.attention.base() * reach * head * pass)};
}

namespace {

/// Score products over the whole square, both of them; backward makes them twice.
Seconds unfused_attention_time(Operation const& operation, KernelRates const& rates) {
    double const work = 4.0 * operation.m * operation.n * operation.k * operation.d * operation.times;
    double const d = operation.d;
    double rate = rates.unfused.base() * d / (d + 40.0);
    auto const remainder = [d](double unit) { return std::fmod(d, unit) != 0.0; };
    if (remainder(8.0)) {
        rate *= rates.misaligned;
    } else if (remainder(64.0)) {
        rate *= 0.72;
    }
    return Seconds{work / rate};
}

} // namespace

Seconds kernel_time(Operation const& operation, KernelRates const& rates) {
    switch (operation.kind) {
    case OperationKind::gemm:
        return gemm_time(operation.m, operation.n, operation.k, rates.gemm, rates) * operation.times;
    case OperationKind::attention: return attention_time(operation, rates);
    case OperationKind::unfused_attention: return unfused_attention_time(operation, rates);
    case OperationKind::memory:
        return operation.bytes * rates.traffic[static_cast<std::size_t>(operation.memory)] / rates.memory;
    case OperationKind::collective: return Seconds{};
    }
    return Seconds{};
}

} // namespace headroom
