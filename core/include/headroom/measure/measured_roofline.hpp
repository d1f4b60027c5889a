#pragma once

#include "headroom/fields.hpp"
#include "headroom/laws/roofline.hpp"
#include "headroom/measure/measurement.hpp"
#include "headroom/sample_statistics.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::measure {

// Parameters of the points of a campaign of kind "roofline", by name:
//
//     quantity         peak         product     bandwidth   latency   kernel
//     unit             flops/second flops/second bytes/second seconds flops/second
//     precision        x            x                                 x
//     instruction_set  x
//     library, order                x
//     level, capacity                           x           x
//     operations, bytes, touched                                      x
//     threads          x            x           x           x         x
//
// `freed` of a product says that it was taken without the variables that hold the library back; `own` that it is
// Headroom's. Bytes and operations are plain numbers.

/// One point with what its repetitions say.
struct MeasuredFigure {
    MeasuredPoint point;
    SampleSummary summary;
    std::optional<Drift> drift = {};
    int threads = 1;
    [[nodiscard]] std::string of(std::string_view parameter) const; ///< empty where it does not say
    [[nodiscard]] double number(std::string_view parameter) const;  ///< 0 where it does not say
};
FieldTable const& field_table_of(MeasuredFigure const*);

/// The fastest arithmetic of one precision on so many cores.
struct MeasuredPeak {
    std::string precision;
    int threads = 1;
    MeasuredFigure const* chain = nullptr; ///< of the fastest instruction set; none where only a library computes in it
    MeasuredFigure const* product = nullptr; ///< the fastest, of any library and order
    /// The roof: the chain's rate, or that of a product that is faster, by more than its interval: then a unit is at work
    /// that no chain drives.
    MeasuredFigure const* roof = nullptr;
};
FieldTable const& field_table_of(MeasuredPeak const*);

/// Where a peak meets a memory level: R / B, with the interval that both intervals allow.
struct MeasuredRidge {
    std::string precision, level;
    int threads = 1;
    double flops_per_byte = 0.0, low = 0.0, high = 0.0;
};
FieldTable const& field_table_of(MeasuredRidge const*);

/// A kernel under the roof of the cores that it ran on.
struct MeasuredKernel {
    MeasuredFigure const* figure = nullptr;
    double intensity = 0.0;                    ///< operations over the bytes that must move
    MeasuredFigure const* level = nullptr;     ///< where its data live: the nearest level that holds them all
    FlopsPerSecond roof;                       ///< min(R, I B) of that level
    laws::Bound bound = laws::Bound::compute;  ///< side of the roof: compute or memory
    double share = 0.0, low = 0.0, high = 0.0; ///< of the roof, with the interval of the kernel's own rate
};
FieldTable const& field_table_of(MeasuredKernel const*);

/// The answer of a campaign. Figures are medians; nothing is there of what was not measured.
class MeasuredRoofline {
public:
    /// Reads the samples that count. Points without one are left out and counted.
    /// Errors:     InputError{insufficient} where there is no sample at all.
    explicit MeasuredRoofline(Campaign const& campaign);
    MeasuredRoofline(MeasuredRoofline const&) = delete; // its parts point into it
    MeasuredRoofline& operator=(MeasuredRoofline const&) = delete;

    std::vector<MeasuredFigure> figures;
    std::size_t unmeasured = 0; ///< points without a sample
    std::vector<int> threads;   ///< counts of cores that were measured, ascending
    std::vector<MeasuredPeak> peaks;
    std::vector<MeasuredRidge> ridges;
    std::vector<MeasuredKernel> kernels;

    [[nodiscard]] std::vector<MeasuredFigure const*> of_quantity(std::string_view quantity) const;
    /// The bandwidths of so many cores, main memory last; of each level the fastest kernel's, for that is the ceiling.
    [[nodiscard]] std::vector<MeasuredFigure const*> levels(int of_threads) const;
    [[nodiscard]] MeasuredPeak const* peak(std::string_view precision, int of_threads) const;

private:
    void find_peaks();
    void find_ridges();
    void place(MeasuredFigure const& figure);
};

/// Reasons to distrust the measured figures: samples that scatter or drift, an interval that could not be computed, an
/// impossible order (a slower nearer cache, all cores below one, a kernel above its roof), a machine that was busy. One
/// sentence each; empty if nothing of the kind was found.
std::vector<std::string> doubts_of(MeasuredRoofline const& roofline, Campaign const& campaign);

// ---- the answer -----------------------------------------------------------------------------------------------------

/// Bandwidth of a level of memory, or its latency.
struct MeasuredLevel {
    MeasuredFigure const* figure = nullptr;
};
FieldTable const& field_table_of(MeasuredLevel const*);
struct MeasuredLatency {
    MeasuredFigure const* figure = nullptr;
};

/// Fastest of Headroom's GEMMs and fastest GEMM of any library, fp32, on equally many cores.
struct OwnAgainstLibrary {
    int threads = 1;
    MeasuredFigure const *own = nullptr, *other = nullptr;
    [[nodiscard]] double ratio() const { return own->summary.median / other->summary.median; }
};
FieldTable const& field_table_of(OwnAgainstLibrary const*);
/// Nothing where one of the two is missing.
std::optional<OwnAgainstLibrary> own_against_library(MeasuredRoofline const& roofline, int threads);

/// Answer of `headroom measure roofline`.
struct MeasuredRooflineAnswer {
    Campaign campaign;
    MeasuredRoofline roofline;
    std::vector<std::string> warnings; ///< reasons not to believe it, or not all of it
    std::vector<std::string> absent;   ///< points that were not measured, with reasons
    bool complete = true;
    std::size_t resumed = 0; ///< samples that were there before
    std::string gpu;         ///< the graphics processor; empty: none was measured
    std::string gpu_why;     ///< then why; else what of it was not
    std::string store;       ///< empty: kept nowhere

    explicit MeasuredRooflineAnswer(Campaign taken) : campaign{std::move(taken)}, roofline{campaign} {}
    /// The most cores that were measured: what "the machine" means.
    [[nodiscard]] int cores() const { return roofline.threads.back(); }
    /// Name of the processor, as the facts of the machine have it.
    [[nodiscard]] std::string processor() const;
};
FieldTable const& field_table_of(MeasuredRooflineAnswer const*);
std::vector<MeasuredLevel> levels_of(MeasuredRoofline const& roofline);

/// Warnings of the environment and the figures, the gravest first.
std::vector<std::string> warnings_of(MeasuredRooflineAnswer const& answer);
/// Reason why a kernel is where it is, in a few words.
std::string reason_of(MeasuredKernel const& kernel);
/// A figure in its unit, "117 GFLOP/s"; whole operations for int8 too.
std::string rate_words(MeasuredFigure const& figure);
/// "1 core", "16 cores"
std::string cores_words(int count);

} // namespace headroom::measure
