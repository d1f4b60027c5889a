#include "headroom/serving/latency_histogram.hpp"

#include "base/statistics/sample_values.hpp"
#include "histogram_cells.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom::serving {
using namespace histogram_cells;

void histogram_cells::check(double value) {
    if (value >= 0.0 && value < beyond) { return; }
    refuse("samples", "a value that is not a finite number from 0 to 2^128", {}, "a latency is not negative");
}

LatencyHistogram::LatencyHistogram() : least_{std::numeric_limits<double>::infinity()}, most_{0.0} {}
LatencyHistogram::~LatencyHistogram() = default;
LatencyHistogram::LatencyHistogram(LatencyHistogram&&) noexcept = default;
LatencyHistogram& LatencyHistogram::operator=(LatencyHistogram&&) noexcept = default;

LatencyHistogram::LatencyHistogram(LatencyHistogram const& other)
    : zeros_{other.zeros_}, count_{other.count_}, least_{other.least_}, most_{other.most_}, counted_{other.counted_} {
    for (std::size_t i = 0; i < octaves_.size(); ++i) {
        if (other.octaves_[i]) { octaves_[i] = std::make_unique<Octave>(*other.octaves_[i]); }
    }
}

LatencyHistogram& LatencyHistogram::operator=(LatencyHistogram const& other) {
    if (this != &other) { *this = LatencyHistogram{other}; }
    return *this;
}

std::uint64_t* LatencyHistogram::cells(int octave) {
    auto& held = octaves_[static_cast<std::size_t>(octave)];
    if (!held) { held = std::make_unique<Octave>(); }
    return held->data();
}

void LatencyHistogram::record(double value, std::uint64_t count) {
    check(value);
    if (count == 0) { return; }
    counted_ = counted_ || count > 1;
    count_ += count;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    if (value < smallest) {
        zeros_ += count;
        return;
    }
    std::uint64_t const place = place_of(value);
    cells(static_cast<int>(place >> cell_bits))[place & (cells_per_octave - 1)] += count;
}

void LatencyHistogram::record(std::span<double const> values) {
    double least = least_, most = most_;
    std::uint64_t zeros = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        double const value = values[i];
        std::uint64_t const place = place_of(value);
        if (place >= places) [[unlikely]] { // zero, as good as zero, or no latency
            if (!(value >= 0.0 && value < smallest)) {
                take_back(values.first(i));
                check(value);
            }
            ++zeros;
        } else {
            auto& octave = octaves_[place >> cell_bits];
            if (!octave) [[unlikely]] { octave = std::make_unique<Octave>(); }
            ++(*octave)[place & (cells_per_octave - 1)];
        }
        least = std::min(least, value);
        most = std::max(most, value);
    }
    zeros_ += zeros;
    count_ += values.size();
    least_ = least;
    most_ = most;
}

/// Undoes what `record` did to cells before it met a value that cannot be recorded.
void LatencyHistogram::take_back(std::span<double const> values) {
    for (double const value : values) {
        std::uint64_t const place = place_of(value);
        if (place < places) { --(*octaves_[place >> cell_bits])[place & (cells_per_octave - 1)]; }
    }
    for (auto& octave : octaves_) {
        bool const is_empty = octave && std::ranges::all_of(*octave, [](std::uint64_t count) { return count == 0; });
        if (is_empty) { octave.reset(); }
    }
}

void LatencyHistogram::merge(LatencyHistogram const& other) {
    for (std::size_t i = 0; i < octaves_.size(); ++i) {
        if (!other.octaves_[i]) { continue; }
        std::uint64_t* const mine = cells(static_cast<int>(i));
        for (std::size_t cell = 0; cell < other.octaves_[i]->size(); ++cell) {
            mine[cell] += (*other.octaves_[i])[cell];
        }
    }
    counted_ = counted_ || other.counted_;
    zeros_ += other.zeros_;
    count_ += other.count_;
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
}

void LatencyHistogram::each(std::function<void(Cell const&)> const& visit) const {
    if (zeros_ > 0) { visit({.low = 0.0, .high = smallest, .value = 0.0, .count = zeros_}); }
    for (std::size_t octave = 0; octave < octaves_.size(); ++octave) {
        if (!octaves_[octave]) { continue; }
        for (std::size_t cell = 0; cell < octaves_[octave]->size(); ++cell) {
            std::uint64_t const count = (*octaves_[octave])[cell];
            if (count == 0) { continue; }
            std::uint64_t const key = first_key + (octave << cell_bits) + cell;
            visit({.low = low_of(key),
                   .high = low_of(key + 1),
                   .value = std::clamp(middle_of(key), least_, most_),
                   .count = count});
        }
    }
}

LatencyHistogram::Cell LatencyHistogram::cell_of(double value) {
    check(value);
    if (value < smallest) { return {.low = 0.0, .high = smallest, .value = 0.0}; }
    std::uint64_t const key = key_of(value);
    return {.low = low_of(key), .high = low_of(key + 1), .value = middle_of(key)};
}

namespace {

void check_filled(LatencyHistogram const& samples) {
    if (!samples.empty()) { return; }
    too_little("samples", "no sample", {}, "give at least one");
}

} // namespace

double LatencyHistogram::least() const {
    check_filled(*this);
    return least_;
}

double LatencyHistogram::most() const {
    check_filled(*this);
    return most_;
}

double LatencyHistogram::mean() const {
    check_filled(*this);
    double sum = 0.0;
    each([&](Cell const& cell) { sum += cell.value * static_cast<double>(cell.count); });
    return sum / static_cast<double>(count_);
}

double LatencyHistogram::variance() const {
    double const centre = mean();
    if (count_ < 2) { return 0.0; }
    double sum = 0.0;
    each([&](Cell const& cell) {
        double const off = cell.value - centre;
        sum += off * off * static_cast<double>(cell.count);
    });
    return sum / static_cast<double>(count_ - 1);
}

double LatencyHistogram::ranked(std::uint64_t rank) const {
    check_filled(*this);
    if (rank <= 1) { return least_; }
    if (rank >= count_) { return most_; }
    if (rank <= zeros_) { return 0.0; }
    std::uint64_t below = zeros_;
    for (std::size_t octave = 0; octave < octaves_.size(); ++octave) {
        if (!octaves_[octave]) { continue; }
        for (std::size_t cell = 0; cell < octaves_[octave]->size(); ++cell) {
            below += (*octaves_[octave])[cell];
            if (below >= rank) {
                return std::clamp(middle_of(first_key + (octave << cell_bits) + cell), least_, most_);
            }
        }
    }
    return most_;
}

double LatencyHistogram::quantile(double q) const {
    if (!(q >= 0.0 && q <= 1.0)) { refuse("samples", "a quantile outside 0 to 1"); }
    double const n = static_cast<double>(count_);
    return ranked(static_cast<std::uint64_t>(std::max(1.0, std::ceil(q * n * (1.0 - 1e-15)))));
}

double LatencyHistogram::median() const {
    if (count_ == 0 || count_ % 2 == 1 || counted_) { return quantile(0.5); }
    return median_of(std::array{ranked(count_ / 2), ranked(count_ / 2 + 1)});
}

double LatencyHistogram::count_up_to(double value) const {
    check_filled(*this);
    if (value >= most_) { return static_cast<double>(count_); }
    if (!(value >= least_)) { return 0.0; }
    double sum = 0.0;
    each([&](Cell const& cell) {
        if (cell.high <= value) {
            sum += static_cast<double>(cell.count);
        } else if (cell.low <= value) {
            sum += static_cast<double>(cell.count) * (value - cell.low) / (cell.high - cell.low);
        }
    });
    return sum;
}

double LatencyHistogram::share_above(double value) const {
    return 1.0 - count_up_to(value) / static_cast<double>(count_);
}

std::size_t LatencyHistogram::memory_bytes() const {
    auto const held = std::ranges::count_if(octaves_, [](auto const& octave) { return octave != nullptr; });
    return sizeof *this + static_cast<std::size_t>(held) * sizeof(Octave);
}

bool LatencyHistogram::operator==(LatencyHistogram const& other) const {
    if (zeros_ != other.zeros_ || count_ != other.count_ || least_ != other.least_ || most_ != other.most_) {
        return false;
    }
    for (std::size_t i = 0; i < octaves_.size(); ++i) {
        bool const mine = octaves_[i] != nullptr;
        if (mine != (other.octaves_[i] != nullptr)) { return false; }
        if (mine && *octaves_[i] != *other.octaves_[i]) { return false; }
    }
    return true;
}

} // namespace headroom::serving
