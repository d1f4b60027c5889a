#pragma once

#include "headroom/calibration.hpp"
#include "headroom/framework.hpp"
#include "headroom/machine.hpp"
#include "headroom/operation.hpp"

#include <array>

namespace headroom {

/// The rates of one chip with calibrated efficiencies applied: what kernel times are computed from.
struct KernelRates {
    FlopsPerSecond gemm;      ///< peak x sustained fraction, at the precision of linear layers
    FlopsPerSecond head_gemm; ///< the same in bf16: output projections stay in 16 bits
    FlopsPerSecond attention; ///< asymptote of fused attention
    FlopsPerSecond unfused;   ///< batched score products
    BytesPerSecond memory;
    double element = 2;     ///< bytes of a product's operand element
    double units = 0;       ///< SMs; 0 switches wave quantisation off
    double prologue = 0;    ///< elements of K that a tile's start-up costs
    double half_length = 0; ///< sequence length at half the attention asymptote
    double small_head = 1, backward = 1, misaligned = 1, unfused_passes = 0;
    std::array<double, 7> traffic{}; ///< measured over counted bytes, by MemoryClass
    Seconds gap;                     ///< launch gap of one kernel
};
KernelRates kernel_rates(Accelerator const& chip, Precision precision, Framework const& framework,
                         Calibration const& constants);

/// Time of an m x k by k x n product.
///
///     T = min over tiles (waves units 2 Tm Tn (K + K0) / (R e_tile)) (+) bytes / memory
///
/// waves = ceil(tiles / units) up to 12, then tiles / units + 0.5; (+) is a smooth maximum (p = 8).
/// Holds for:  dense products, split-K where tiles are fewer than units.
/// Source:     [NvidiaMatmulGuide]
Seconds gemm_time(double m, double n, double k, FlopsPerSecond rate, KernelRates const& rates);

/// Time of a fused attention core over `heads` heads; causal half of 4 s^2 d, efficiency s/(s+s0).
/// Source:     [Dao2023]
Seconds attention_time(Operation const& operation, KernelRates const& rates);

/// Time of any operation that runs on the chip (not a collective).
Seconds kernel_time(Operation const& operation, KernelRates const& rates);

/// (a^p + b^p)^(1/p) with p = 8: the larger of the two, rounded where they meet.
double smooth_maximum(double a, double b);

} // namespace headroom
