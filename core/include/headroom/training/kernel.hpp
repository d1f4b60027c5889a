#pragma once

#include "headroom/machine.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/operation.hpp"

#include <array>
#include <string>

namespace headroom::training {

/// Rates of one chip with calibrated efficiencies applied: the inputs of kernel times.
struct KernelRates {
    FlopsPerSecond gemm;                              ///< peak x sustained fraction, at the precision of linear layers
    FlopsPerSecond head_gemm;                         ///< sustained bf16 rate: output projections stay in 16 bits
    FlopsPerSecond attention;                         ///< asymptote of fused attention
    FlopsPerSecond unfused;                           ///< batched score products
    BytesPerSecond memory;                            ///< sustained, of device memory
    double operand = 2, element = 2;                  ///< bytes of an element that a product reads, and writes
    double units = 0;                                 ///< SMs; 0 switches wave quantisation off
    double grouped = 1;                               ///< rate of grouped products over one product's
    double half_length = 0;                           ///< sequence length at half the attention asymptote
    double small_head = 1;                            ///< factor of fused attention with a small head dimension
    double backward = 1;                              ///< factor of its backward pass
    double misaligned = 1;                            ///< factor of unfused score products that cannot use tensor units
    std::array<double, memory_class_count> traffic{}; ///< measured over counted bytes, by MemoryClass
};

/// The rates of `chip` computing linear layers in `precision` with the kernels of `framework`: peaks times the
/// constants of the chip's generation. Formats wider than 16 bits use their own peak throughout.
KernelRates kernel_rates(Accelerator const& chip, Precision precision, Framework const& framework,
                         Calibration const& constants);

/// Work of one operation, and the bytes that it must move: its place under a roofline.
struct Demand {
    Flops work;
    Bytes moved;
    bool nominal = false; ///< `work` is not counted but assumed: one operation for each element read or written
};

/// Work and compulsory bytes of an operation, as its time is computed from them.
///
///     products            2 m n k, e_in (m k + k n) + e_out m n, `times` over; or the bytes that it states
///     fused attention     4 m n q d w, e m d (2 n + 2 k / g) forward and twice that backward
///     unfused attention   4 m n k d, e m (2 n d + 2 k d / g + 2 n k), `times` over
///     element-wise        its bytes; of the loss 2 e a logit, of scores twice a pass; one operation an element
///     collectives         nothing
///
/// q is the keys that a query sees, k those within reach, w 1 forward and 2.5 backward, g `queries_per_key`, the heads
/// that share keys and values, e the bytes of an element.
/// Holds for:  operations that `kernel_time` prices; element-wise work has no count of its own.
/// Assumes:    tensors are read once and written once; nothing stays on the chip between two operations.
/// Source:     [Williams2009], [Dao2022]
Demand demand_of(Operation const& operation, KernelRates const& rates, double queries_per_key = 1.0);

/// Time of an m x k by k x n product, or of grouped ones.
///
///     T = min over tiles (waves units 2 Tm Tn k / (R e_tile)) (+) e (m k + k n + m n) / B
///
/// waves = ceil(tiles / units) up to 12, then tiles / units + 0.5; with fewer tiles than units split-K makes it tiles / units.
/// e_tile is the efficiency of a tile's shape, e the bytes of an element, (+) `smooth_maximum`. The tiles of a group share one queue;
/// an operation that says what it moves (a convolution reads its input once, not once a tap) moves that.
/// Holds for:  dense products; on chips without units 2 m n k / R replaces the tiles.
/// Assumes:    operands are read once and the result written once.
/// Source:     [NvidiaMatmulGuide]
Seconds product_time(Operation const& operation, FlopsPerSecond rate, KernelRates const& rates);

/// Time of a fused attention core of m heads, n queries that see q keys each, k within reach, head dimension d.
///
///     T = 4 m n q d w / (R k/(k + s0) e)
///
/// q is k / 2 when causal; w is 1 forward and 2.5 backward, s0 the sequence length at half the asymptotic rate R,
/// e the factors of small heads and of the backward pass.
/// Holds for:  fused kernels (FlashAttention and alike), n = k / cp.
/// Assumes:    causal work is shared out equally among context ranks.
/// Source:     [Dao2023]
Seconds attention_time(Operation const& operation, KernelRates const& rates);

/// Time of any operation that runs on the chip, linear layers at the rate of linear layers; a collective takes
/// none here. Source: [Williams2009]
Seconds kernel_time(Operation const& operation, KernelRates const& rates);

/// The constant that holds the sustained fraction of the peak of large 16-bit products on such chips.
Constant gemm_constant(Accelerator const& chip);

/// Arithmetic of attention and of output projections.
constexpr Precision plain_precision(Precision precision) {
    return precision == Precision::fp32 || precision == Precision::tf32 ? precision : Precision::bf16;
}

/// Rate of FP8 products with finer scales over that with one scale a tensor. Llama-3-8B on eight H100 trains 19.5 % sooner than
/// in bf16 with one scale, 10.5 % sooner with a scale a row; 60 to 70 % of the bf16 step are products. Blocks: as rows, a guess.
/// Source: [TorchAO]
double recipe_factor(Precision precision, Framework const& framework);
/// Adds that factor to the terms of an explanation. Result: " * NAME"; empty where it is 1.
std::string explain_recipe(TermBook& book, Precision precision, Framework const& framework);

/// Power of a part over what its rate needs: cards with fewer watts for their peak, or under a limit, run at lower clocks
/// under load. 1: as much as the part by which the rate of its generation is known.
double power_ratio(Accelerator const& chip);
/// Share, 0 to 1, by which the products of a part are held back by design and not by power: GeForce, which sums in 32 bits at half the rate,
/// and parts with over twice the watts for each FLOP/s that their generation has, as those made for export. They sustain
/// more of their peak: attention on H20 reaches 0.87 of it. Source: [FlashAttentionH20]
/// Between 1.75 and 2.35 times the watts the share grows from 0 to 1.
double cut_share(Accelerator const& chip);
/// Rate of a part that is cut in part over that by `whole`, the constant of its generation: (cut / whole) ^ `cut_share`.
double cut_factor(Accelerator const& chip, Calibration const& constants, Constant whole, Constant cut);
/// Adds that factor to the terms of an explanation. Result: " * FACTOR"; empty where it is 1.
std::string explain_cut(TermBook& book, Accelerator const& chip, Calibration const& constants, Constant whole,
                        Constant cut);
/// Sustained fraction of the dense peak for a large matrix product. At most the best fraction measured on this chip,
/// because one constant covers several chips. Frameworks with kernels of their own have a factor of their own. Products
/// in fp32 are no faster than in tf32, whose operations take less power.
double sustained_fraction(Accelerator const& chip, Precision precision, Framework const& framework,
                          Calibration const& constants);
/// Least factor on computation (`pace_of`): with it products on vector units run at 1.05 of their peak, as published ones in fp32 do at
/// most; the factors are fitted to 16-bit runs, nearly all, where products reach less of it. 0 for products on tensor units.
double least_pace(Accelerator const& chip, Precision precision, Framework const& framework,
                  Calibration const& constants);
/// Adds the terms of that fraction to an explanation. Result: its formula.
std::string explain_sustained_fraction(TermBook& book, Accelerator const& chip, Precision precision,
                                       Framework const& framework, Calibration const& constants);
/// Adds the power of a part to the terms of an explanation. Result: its factor on the rate; empty where it is 1.
std::string explain_power(TermBook& book, Accelerator const& chip, Calibration const& constants);

/// Rate of products and attention in software that its users put together, over that in tuned software.
///
///     share = min(1, R100 / R)^untuned_exponent
///
/// R is the chip's dense 16-bit peak, R100 that of an A100: 312 TFLOP/s. Products of shapes that nobody chose, and the gaps between
/// kernels, gain less from a faster chip than its peak; tuned frameworks were rewritten for each (TMA, FP8, overlap).
/// Holds for:  frameworks whose record says `ordinary`; others: 1.
/// Assumes:    products and attention lose alike; chips below an A100's peak lose nothing, nor do vector units, whose fp32 is
///             slower than that on every chip.
/// Source:     [StasMlEngineering]: the best product reaches 0.87 of an A100's peak, 0.80 of an H100's, 0.74 of a Gaudi 3's.
double untuned_share(Accelerator const& chip, Precision precision, Framework const& framework,
                     Calibration const& constants);
/// Adds that share to the terms of an explanation. Result: " * NAME"; empty where it is 1.
std::string explain_untuned(TermBook& book, Accelerator const& chip, Precision precision, Framework const& framework,
                            Calibration const& constants);
/// Sustained rate of a chip's memory: its bandwidth times `memory_fraction`.
BytesPerSecond sustained_memory(Accelerator const& chip, Calibration const& constants);

/// Adds the rates of a chip to the terms of an explanation: gemm_rate, head_gemm_rate, attention_rate, unfused_rate and
/// memory_rate, from peaks and constants; and the factors on the bytes of element-wise work.
void explain_rates(TermBook& book, Accelerator const& chip, Precision precision, Framework const& framework,
                   Calibration const& constants);

/// Adds `kernel_time`, or `product_time` by `rate`, to the terms of an explanation as NAME_seconds, down to the operation's
/// dimensions; as a priced step counts it: times `pace`, in whole picoseconds. Needs the rates and `pace`.
void explain_kernel(TermBook& book, std::string const& name, Operation const& operation, std::string const& rate,
                    KernelRates const& rates);

} // namespace headroom::training
