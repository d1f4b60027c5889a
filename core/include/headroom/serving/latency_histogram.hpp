#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace headroom::serving {

/// Number of values of each size, in memory that does not grow with their number.
///
/// Every octave [2^e, 2^(e+1)) is cut into `cells_per_octave` cells of equal width, an octave taking memory once a value
/// falls into it. Which cell a value falls into depends on the value alone, so histograms of parts add up to the
/// histogram of the whole, to the bit, in any order.
///
/// Quantiles, and all else that is read out of cells, lie within `relative_error` of the values themselves:
///
///     |estimate - value| <= value / (2 cells_per_octave)
///
/// the middle of a cell standing for all of it. The least and the greatest value are exact.
/// Holds for:  finite values not below 0, from 2^-128 to 2^128; smaller ones count as zero. In any unit, seconds by custom.
/// Source:     [Tene2013] (log-linear cells), [Masson2019] (relative error, merging)
class LatencyHistogram {
public:
    static constexpr int cells_per_octave = 1024;
    static constexpr double relative_error = 0.5 / cells_per_octave;
    static constexpr int least_exponent = -128, most_exponent = 127;

    LatencyHistogram();
    ~LatencyHistogram();
    LatencyHistogram(LatencyHistogram const& other);
    LatencyHistogram& operator=(LatencyHistogram const& other);
    LatencyHistogram(LatencyHistogram&&) noexcept;
    LatencyHistogram& operator=(LatencyHistogram&&) noexcept;

    /// Errors: InputError{usage} for a value that is negative, not finite, or 2^128 and more.
    void record(double value, std::uint64_t count = 1);
    /// Records many values, faster. Nothing is recorded where one of them cannot be.
    void record(std::span<double const> values);
    void merge(LatencyHistogram const& other);

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// Errors: InputError{insufficient} where the histogram is empty, as for all below.
    [[nodiscard]] double least() const;
    [[nodiscard]] double most() const;
    /// From the middles of cells: within `relative_error`, and the same for any order of records and merges.
    [[nodiscard]] double mean() const;
    /// Unbiased, from the middles of cells; 0 for one value.
    [[nodiscard]] double variance() const;
    /// The k-th smallest value, from 1 to count().
    [[nodiscard]] double ranked(std::uint64_t rank) const;
    /// The smallest value that at least a share q of all do not exceed: ranked(ceil(q count)), of 1 at least.
    [[nodiscard]] double quantile(double q) const;
    /// The middle value, of an even number the mean of the two in the middle, as `summarize` has it. Where values were
    /// recorded with counts, as buckets of a report are, the quantile of 1/2, which the report states.
    [[nodiscard]] double median() const;
    /// Number of values up to `value`; those of its own cell count as if spread evenly over it.
    [[nodiscard]] double count_up_to(double value) const;
    /// Share of all that exceed `value`.
    [[nodiscard]] double share_above(double value) const;

    /// Values in one cell.
    struct Cell {
        double low = 0.0, high = 0.0; ///< [low, high)
        double value = 0.0;           ///< that stands for them
        std::uint64_t count = 0;
    };
    /// Each cell that holds something, from the smallest values on.
    void each(std::function<void(Cell const&)> const& visit) const;
    /// The cell a value falls into, empty.
    [[nodiscard]] static Cell cell_of(double value);

    [[nodiscard]] std::size_t memory_bytes() const;
    bool operator==(LatencyHistogram const& other) const;

private:
    static constexpr int octaves = most_exponent - least_exponent + 1;
    using Octave = std::array<std::uint64_t, cells_per_octave>;

    std::uint64_t* cells(int octave);
    void take_back(std::span<double const> values);

    std::array<std::unique_ptr<Octave>, octaves> octaves_;
    std::uint64_t zeros_ = 0, count_ = 0;
    double least_, most_;
    bool counted_ = false; ///< some were recorded with a count
};

} // namespace headroom::serving
