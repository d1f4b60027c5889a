#include "digest_window.hpp"

#include "histogram_cells.hpp"

#include <algorithm>

namespace headroom::serving {

using namespace histogram_cells;

double QuantilePoints::median() const {
    if (size_ == 0) { return 0.0; }
    std::size_t const half = size_ / 2;
    return size_ % 2 == 1 ? values_[half] : 0.5 * (values_[half - 1] + values_[half]);
}

QuantilePoints joined(QuantilePoints const& left, QuantilePoints const& right) {
    std::array<double, 2 * QuantilePoints::most> all{};
    auto const end = std::merge(left.values_.begin(), left.values_.begin() + static_cast<std::ptrdiff_t>(left.size_),
                                right.values_.begin(), right.values_.begin() + static_cast<std::ptrdiff_t>(right.size_),
                                all.begin());
    auto const count = static_cast<std::size_t>(end - all.begin());
    QuantilePoints both;
    if (count <= QuantilePoints::most) {
        for (std::size_t i = 0; i < count; ++i) { both.append(all[i]); }
        return both;
    }
    // Point j is the mean of the values, drawn as steps of width 1, from j share to (j + 1) share.
    double const share = static_cast<double>(count) / QuantilePoints::most;
    for (std::size_t j = 0; j < QuantilePoints::most; ++j) {
        double const from = static_cast<double>(j) * share, to = from + share;
        double sum = 0.0;
        for (auto i = static_cast<std::size_t>(from); i < count && static_cast<double>(i) < to; ++i) {
            auto const begin = static_cast<double>(i);
            sum += all[i] * (std::min(to, begin + 1.0) - std::max(from, begin));
        }
        both.append(sum / share);
    }
    return both;
}

DigestWindow::DigestWindow() : least_place_{places} {}

void DigestWindow::add(std::span<double const> values) {
    if (!touched_) { // a megabyte, which a file without samples does not need
        cells_ = std::make_unique<std::uint32_t[]>(places);
        touched_ = std::make_unique<std::uint8_t[]>(places >> group_bits);
    }
    std::uint32_t* const cells = cells_.get();
    std::uint8_t* const touched = touched_.get();
    std::uint64_t least = least_place_, greatest = most_place_;
    double most = most_;
    for (double const value : values) {
        std::uint64_t const place = place_of(value);
        most = std::max(most, value);
        if (place >= places) [[unlikely]] {
            ++zeros_;
            continue;
        }
        ++cells[place];
        touched[place >> group_bits] = 1;
        least = std::min(least, place);
        greatest = std::max(greatest, place);
    }
    count_ += values.size();
    least_place_ = least;
    most_place_ = greatest;
    most_ = most;
}

/// Each cell that holds something, in order: its value, its place and its count.
template <class Visit> void DigestWindow::each(Visit const& visit) const {
    if (least_place_ == places) { return; }
    for (std::uint64_t group = least_place_ >> group_bits; group <= most_place_ >> group_bits; ++group) {
        if (touched_[group] == 0) { continue; }
        for (std::uint64_t place = group << group_bits; place < (group + 1) << group_bits; ++place) {
            if (cells_[place] != 0) { visit(place, cells_[place]); }
        }
    }
}

DigestWindow::Summary DigestWindow::summary(double threshold) const {
    Summary found;
    double const points = static_cast<double>(std::min<std::uint64_t>(count_, QuantilePoints::most));
    double const share = static_cast<double>(count_) / points;
    std::uint64_t seen = 0;
    double next = 0.5 * share, sum = 0.0;
    auto const take = [&](double value, std::uint64_t count) {
        seen += count;
        sum += value * static_cast<double>(count);
        for (; next < static_cast<double>(seen) && found.points.values().size() < QuantilePoints::most; next += share) {
            found.points.append(value);
        }
    };
    if (zeros_ > 0) { take(0.0, zeros_); }
    std::uint64_t const limit = threshold < beyond ? place_of(threshold) : places;
    bool const above_zero = threshold < smallest;
    each([&](std::uint64_t place, std::uint64_t count) {
        take(middle_of(first_key + place), count);
        if (above_zero || place > limit) { found.above += count; }
    });
    found.mean = sum / static_cast<double>(count_);
    found.most = most_;
    return found;
}

void DigestWindow::clear() {
    if (least_place_ < places) {
        for (std::uint64_t group = least_place_ >> group_bits; group <= most_place_ >> group_bits; ++group) {
            if (touched_[group] == 0) { continue; }
            touched_[group] = 0;
            std::fill_n(&cells_[group << group_bits], std::size_t{1} << group_bits, 0U);
        }
    }
    zeros_ = count_ = most_place_ = 0;
    least_place_ = places;
    most_ = 0.0;
}

std::size_t DigestWindow::memory_bytes() {
    return places * sizeof(std::uint32_t) + (places >> group_bits) * sizeof(std::uint8_t);
}

} // namespace headroom::serving
