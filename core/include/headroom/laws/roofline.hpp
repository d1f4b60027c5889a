#pragma once

#include "headroom/machine.hpp"
#include "headroom/precision.hpp"
#include "headroom/quantity.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::laws {

// ---- number formats -----------------------------------------------------------------------------------------------

/// A number format that a kernel computes in, from wide to narrow.
enum class NumberFormat { fp64, fp32, tf32, bf16, fp16, fp8, fp4 };
inline constexpr std::array number_formats{NumberFormat::fp64, NumberFormat::fp32, NumberFormat::tf32,
                                           NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp8,
                                           NumberFormat::fp4};

std::string_view name_of(NumberFormat format);
std::optional<NumberFormat> number_format_from(std::string_view name);
/// Bytes of one element in memory: 8, 4 (fp32, tf32), 2, 1 and a half.
double bytes_of(NumberFormat format);
/// The format of a training precision: mxfp8 is fp8 and nvfp4 is fp4 with scales.
NumberFormat number_format_of(Precision precision);

/// A rate for each number format; zero where the processor has none.
class FormatRates {
public:
    FlopsPerSecond& operator[](NumberFormat format) { return rate_[static_cast<std::size_t>(format)]; }
    FlopsPerSecond operator[](NumberFormat format) const { return rate_[static_cast<std::size_t>(format)]; }

private:
    std::array<FlopsPerSecond, number_formats.size()> rate_{};
};

// ---- processors ---------------------------------------------------------------------------------------------------

/// One level of memory: what all of the processor's units together read and write of it in a second.
struct MemoryLevel {
    std::string name;
    BytesPerSecond bandwidth;
    Bytes capacity; ///< zero when not stated
};

/// One accelerator or one CPU, as far as a roofline asks.
struct Processor {
    std::string name;
    FormatRates peak;                       ///< dense, by whatever unit is fastest
    FormatRates vector;                     ///< outside of tensor units; zero where nobody states it
    FormatRates measured;                   ///< best measured product; zero where there is none
    std::vector<MemoryLevel> levels;        ///< main memory first, then those nearer to the units
    BytesPerSecond measured_memory;         ///< of main memory; zero where nobody measured
    bool fuses = true;                      ///< peaks count a fused multiply-add as two operations
    Bytes simd_width;                       ///< of one vector register; zero for accelerators
    int lanes = 0;                          ///< threads that share an instruction (SIMT); 0: none do
    Seconds memory_latency;                 ///< of main memory; zero when not stated
    Bytes in_flight;                        ///< that all units together can have requested; zero when not stated
    std::optional<Accelerator> accelerator; ///< with a generation, whose kernels are calibrated
    [[nodiscard]] MemoryLevel const& memory() const { return levels.front(); }
};

/// Machine that a person names: a processor, and the cluster that it is part of where one is named.
struct NamedMachine {
    Processor processor;
    std::optional<Cluster> cluster;
    std::string origin; ///< "catalog accelerator", "catalog host" or the path of a file
};

/// An accelerator as the catalog describes it: one level of memory. The 32-bit rate of a graphics processor is that of
/// its vector units; of other accelerators nobody says which units it belongs to.
/// Source: [HipHardware]
Processor processor_of(Accelerator const& accelerator);

/// The format that a processor is asked about when none is named: bf16, else the widest narrower one, else the next
/// wider one that it has. Empty when it has no arithmetic at all.
std::optional<NumberFormat> usual_format(Processor const& processor);

// ---- ceilings -----------------------------------------------------------------------------------------------------

enum class CeilingKind {
    datasheet,  ///< the roof: peaks that the vendor or the file states
    lower,      ///< the roof without a feature that the code does not use, or uses badly
    calibrated, ///< rates that kernels of the generation sustain, as in the step model
    measured,   ///< a measurement that the record or the file states
};
std::string_view name_of(CeilingKind kind);

/// One line of the picture: flat (a rate of arithmetic) or sloped (a bandwidth).
struct Ceiling {
    std::string name;
    CeilingKind kind = CeilingKind::datasheet;
    std::optional<NumberFormat> format = {}; ///< of a flat one
    FlopsPerSecond rate = FlopsPerSecond{};
    std::optional<std::size_t> level = {}; ///< of a sloped one
    BytesPerSecond bandwidth = BytesPerSecond{};
    double of_roof = 1.0; ///< share of the roof that it lowers
    std::string note = {};
};

/// Efficiency with which the code in question uses the processor.
struct Conditions {
    std::optional<int> divergence = {};   ///< ways in which the lanes of an instruction branch
    std::optional<double> occupancy = {}; ///< share of the most threads that can be resident
};

/// Throughput of lanes that branch n ways, over lanes that do not: 1 / n, for all sides execute with lanes masked.
/// Holds for:  1 <= n <= lanes, sides of equal length.
/// Source:     [HipHardware]
double divergence_throughput(int ways);

/// Bandwidth that so many requests in flight sustain, L = lambda W turned round.
///
///     B(o) = min(B, o L / W)
///
/// o is the occupancy, L the bytes in flight at full occupancy and W the latency of memory.
/// Holds for:  processors that state L and W.
/// Assumes:    every resident thread has its share of L in flight; latency does not grow with load.
/// Source:     [Little1961]
BytesPerSecond occupied_bandwidth(MemoryLevel const& memory, Bytes in_flight, Seconds latency, double occupancy);

/// Every ceiling of a processor: the roofs of all formats and levels, and below those of `format` the lower ones.
///
///     without tensor units          the vector rate, where known
///     without fused multiply-add    half of it
///     without vectors               the element over the SIMD width of it
///     n-way divergence              1/n of it
///     low occupancy                 `occupied_bandwidth`, else o B
///
/// Source:     [Williams2009]
std::vector<Ceiling> ceilings_of(Processor const& processor, NumberFormat format, Conditions const& conditions = {});

/// The ceilings of sustained rates: of large products, and of main memory.
std::vector<Ceiling> calibrated_ceilings(Processor const& processor, NumberFormat format, FlopsPerSecond gemm,
                                         BytesPerSecond sustained);

// ---- kernels under the roof ---------------------------------------------------------------------------------------

/// Work and traffic of a product as functions of the rows of its batch: rows x `work` and rows x `moved` + `fixed`.
struct Batched {
    double rows = 1.0;
    Flops work;  ///< of one row
    Bytes moved; ///< of one row
    Bytes fixed; ///< whatever the rows: the weights
};

/// Work and traffic of one kernel.
struct Kernel {
    std::string name;
    NumberFormat format = NumberFormat::fp32;
    Flops work;
    Bytes moved; ///< to and from main memory
    struct Traffic {
        std::size_t level; ///< of the processor's levels, not the first
        Bytes moved;
    };
    std::vector<Traffic> nearer = {};
    Bytes handed_over = Bytes{}; ///< of `moved`, what a producer could hand over on the chip
    bool nominal = false;        ///< `work` stands in for a count
    bool one_format = true;      ///< all that is moved is in `format`, so that a narrower one moves less
    std::optional<Batched> batched = {};
};

enum class Bound { compute, memory };
std::string_view name_of(Bound bound);

/// The intensity above which a kernel is compute-bound: R / B.
/// Source: [Williams2009]
FlopsPerByte ridge_point(FlopsPerSecond peak, BytesPerSecond bandwidth);

/// The rate that an intensity allows.
///
///     P = min(R, I B)
///
/// Holds for:  kernels whose transfers run behind their arithmetic.
/// Assumes:    one of the two is busy all the time; the other waits.
/// Source:     [Williams2009]
FlopsPerSecond attainable_rate(FlopsPerByte intensity, FlopsPerSecond peak, BytesPerSecond bandwidth);

/// Where a kernel stands.
struct Attained {
    Seconds time;         ///< the least that the roof allows
    FlopsPerSecond rate;  ///< work over time; zero without work
    double of_peak = 0.0; ///< rate over the peak of its format
    Bound bound = Bound::compute;
    std::optional<std::size_t> level = {}; ///< of memory that binds
    Seconds compute_time;                  ///< work over the peak
    Seconds memory_time;                   ///< of the level that takes longest
    FlopsPerByte intensity;                ///< of main memory; infinite without traffic
    FlopsPerByte ridge;                    ///< of the format and the level that takes longest
};

/// The hierarchical roofline: the longest of the arithmetic and of the traffic of each level.
///
///     T = max(W / R, max over levels Q_l / B_l)
///
/// A kernel at the ridge is compute-bound.
/// Holds for:  kernels with work or traffic; the format must have a rate where there is work.
/// Assumes:    levels transfer at the same time.
/// Source:     [Williams2009], [Yang2020]
Attained attained(Kernel const& kernel, Processor const& processor);

// ---- what would move it -------------------------------------------------------------------------------------------

/// Change of the processor or of the code that brings a gain.
enum class GainBy {
    memory,    ///< a memory twice as fast
    peak,      ///< twice the rate of arithmetic
    precision, ///< the next narrower format that the processor has
    batch,     ///< more rows in a product
    fusion,    ///< its input handed over on the chip
};
std::string_view name_of(GainBy by);

/// One way to make a kernel faster, and by how much at most.
struct Gain {
    GainBy by = GainBy::memory;
    double speedup = 1.0; ///< time now over time then, for the same work (`batch`: for each row)
    double at_most = 1.0; ///< with as much of it as it takes, memory and peak without limit; infinite where not known
    std::optional<NumberFormat> format = {}; ///< of `precision`
    std::optional<double> rows = {};         ///< of `batch`: where the product meets the ridge; empty: it never does
    Bytes saved = Bytes{};                   ///< of `fusion`
};

/// All that applies to a kernel, whether it helps or not.
std::vector<Gain> gains_of(Kernel const& kernel, Processor const& processor);

/// Rows at which a kernel that reads its weights once for all of them meets the ridge r.
///
///     rows = r Q_fixed / (w - r q)
///
/// w and q are the work and the traffic of one row. Empty when no number of rows does: w <= r q, or nothing is fixed.
/// Of a product of m rows with a k x n matrix: w = 2 k n, q = e (k + n), Q_fixed = e k n.
/// Source:     [Williams2009]
std::optional<double> rows_at_ridge(Batched const& batched, FlopsPerByte ridge);

} // namespace headroom::laws
