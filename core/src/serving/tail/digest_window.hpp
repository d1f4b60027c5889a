#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace headroom::serving {

/// Points of a distribution, in order, each standing for an equal share of it: all values where they are few.
class QuantilePoints {
public:
    static constexpr std::size_t most = 31; ///< odd: the middle one is the median

    void append(double value) { values_[size_++] = value; }
    [[nodiscard]] std::span<double const> values() const { return {values_.data(), size_}; }
    [[nodiscard]] double median() const;

    /// Joins points that hold equally many samples each. If there are more than `most` points, equal shares of both are
    /// averaged.
    friend QuantilePoints joined(QuantilePoints const& left, QuantilePoints const& right);

private:
    std::array<double, most> values_{};
    std::size_t size_ = 0;
};

/// Counts of one block of samples by the cells of a histogram, quickly counted, looked at and emptied.
class DigestWindow {
public:
    DigestWindow();

    /// Values that a histogram takes.
    void add(std::span<double const> values);
    [[nodiscard]] std::uint64_t count() const { return count_; }

    struct Summary {
        double mean = 0.0, most = 0.0; ///< the mean from middles of cells, so that no order matters
        std::uint64_t above = 0;       ///< in cells above that of the threshold
        QuantilePoints points;
    };
    [[nodiscard]] Summary summary(double threshold) const;
    void clear();
    [[nodiscard]] static std::size_t memory_bytes();

private:
    // 32 bits are enough: a block of 2^32 samples is one of 2^41.
    static constexpr unsigned group_bits = 4; ///< cells that are passed over together where none was counted

    template <class Visit> void each(Visit const& visit) const;

    std::unique_ptr<std::uint32_t[]> cells_;
    std::unique_ptr<std::uint8_t[]> touched_; ///< a group each
    std::uint64_t zeros_ = 0, count_ = 0;
    std::uint64_t least_place_, most_place_ = 0;
    double most_ = 0.0;
};

} // namespace headroom::serving
