#include "headroom/serving/latency_digest.hpp"

#include "histogram_cells.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace headroom::serving {
namespace digest { // of the digest's state, which has a name outside

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

} // namespace digest

namespace {

using namespace histogram_cells;

constexpr double watched_share = 0.99;
constexpr std::uint64_t refreshed_after = 16; ///< the threshold is found again when samples are 1/16 more
constexpr double soon = 0.1;                  ///< of a gap, that a closed loop may take from answer to request
constexpr std::size_t in_cache = 4096;        ///< values that are looked at several times in a row
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Bits of doubles from 0 on order as the numbers do; those of all that is no latency are above them.
void check_all(std::span<double const> values) {
    std::uint64_t most = 0;
    for (double const value : values) { most = std::max(most, std::bit_cast<std::uint64_t>(value)); }
    if (most < std::bit_cast<std::uint64_t>(histogram_cells::beyond)) { return; }
    std::ranges::for_each(values, histogram_cells::check);
}

} // namespace

namespace digest {

/// A block with what its median is made of when it grows.
struct HeldBlock {
    DigestBlock block;
    QuantilePoints points;
};

HeldBlock joined(HeldBlock const& left, HeldBlock const& right) {
    HeldBlock both;
    both.points = joined(left.points, right.points);
    both.block = {.count = left.block.count + right.block.count,
                  .start = std::fmin(left.block.start, right.block.start),
                  .end = std::fmax(left.block.end, right.block.end),
                  .mean = 0.5 * (left.block.mean + right.block.mean),
                  .median = both.points.median(),
                  .most = std::max(left.block.most, right.block.most),
                  .above = left.block.above + right.block.above};
    return both;
}

} // namespace digest

struct LatencyDigest::State {
    LatencyHistogram values, gaps, waited_for;
    digest::DigestWindow window; ///< the block that is being filled
    std::vector<digest::HeldBlock> held;
    std::vector<DigestBlock> shown; ///< as `blocks` gives them
    bool shown_is_old = false, ordered = true, timed = false;
    std::uint64_t block_size = 1, next_refresh = 1, backwards = 0;
    std::optional<std::uint64_t> first_backwards;
    double threshold = std::numeric_limits<double>::infinity();
    double window_start = unknown, window_end = unknown; ///< of its times
    double last_sent = unknown, last_value = 0.0;
    double first_time = unknown, last_time = unknown;

    void add(std::span<double const> some, std::span<double const> sent);
    void take_time(std::uint64_t number, double value, double sent);
    void refresh_threshold();
    [[nodiscard]] digest::HeldBlock window_block() const;
    void end_block();
    void show();
};

/// Good values, and their times where there are any.
void LatencyDigest::State::add(std::span<double const> some, std::span<double const> sent) {
    shown_is_old = true;
    while (!some.empty()) {
        if (window.count() == 0) { refresh_threshold(); }
        auto const room = static_cast<std::size_t>(block_size - window.count());
        auto const part = some.first(std::min({room, some.size(), in_cache}));
        if (!sent.empty()) {
            for (std::size_t i = 0; i < part.size(); ++i) { take_time(values.count() + i, part[i], sent[i]); }
            sent = sent.subspan(part.size());
        }
        values.record(part);
        window.add(part);
        if (window.count() == block_size) { end_block(); }
        some = some.subspan(part.size());
    }
}

void LatencyDigest::State::take_time(std::uint64_t number, double value, double sent) {
    if (!std::isnan(sent)) {
        double const gap = sent - last_sent;
        if (gap >= 0.0) {
            if (gap < histogram_cells::beyond) { gaps.record(gap); }
            if (gap >= last_value && gap - last_value <= soon * gap && gap > 0.0) { waited_for.record(last_value); }
        } else if (gap < 0.0) {
            ++backwards;
            if (!first_backwards) { first_backwards = number; }
        }
        timed = true;
        first_time = std::fmin(first_time, sent);
        last_time = std::fmax(last_time, sent);
        window_start = std::fmin(window_start, sent);
        window_end = std::fmax(window_end, sent);
    }
    last_sent = sent; // where it is not known, the next gap is not known either
    last_value = value;
}

void LatencyDigest::State::refresh_threshold() {
    if (values.count() < next_refresh) { return; }
    threshold = values.quantile(watched_share);
    next_refresh = values.count() + std::max<std::uint64_t>(1, values.count() / refreshed_after);
}

digest::HeldBlock LatencyDigest::State::window_block() const {
    auto const summary = window.summary(threshold);
    return {.block = {.count = window.count(),
                      .start = window_start,
                      .end = window_end,
                      .mean = summary.mean,
                      .median = summary.points.median(),
                      .most = summary.most,
                      .above = summary.above},
            .points = summary.points};
}

void LatencyDigest::State::end_block() {
    held.push_back(window_block());
    window.clear();
    window_start = window_end = unknown;
    if (held.size() < most_blocks) { return; }
    for (std::size_t i = 0; i < most_blocks / 2; ++i) { held[i] = joined(held[2 * i], held[2 * i + 1]); }
    held.resize(most_blocks / 2);
    block_size *= 2;
}

void LatencyDigest::State::show() {
    shown.clear();
    shown_is_old = false;
    if (!ordered) { return; }
    for (digest::HeldBlock const& one : held) { shown.push_back(one.block); }
    if (window.count() > 0) { shown.push_back(window_block().block); }
    double number = 0.0, end = first_time;
    for (DigestBlock& block : shown) {
        if (!timed) {
            block.start = number;
            number += static_cast<double>(block.count);
            block.end = number - 1.0;
        } else if (std::isnan(block.start)) { // none of its samples has a time
            block.start = block.end = end;
        }
        end = block.end;
    }
}

LatencyDigest::LatencyDigest() : state_{std::make_unique<State>()} {}
LatencyDigest::~LatencyDigest() = default;
LatencyDigest::LatencyDigest(LatencyDigest&&) noexcept = default;
LatencyDigest& LatencyDigest::operator=(LatencyDigest&&) noexcept = default;

void LatencyDigest::add(double value) {
    histogram_cells::check(value);
    state_->add({&value, 1}, {});
}

void LatencyDigest::add(double value, double sent) {
    histogram_cells::check(value);
    if (!std::isfinite(sent)) { refuse("samples", "a time that is not finite"); }
    state_->add({&value, 1}, {&sent, 1});
}

void LatencyDigest::add(std::span<double const> values) {
    check_all(values);
    state_->add(values, {});
}

void LatencyDigest::add(std::span<double const> values, std::span<double const> sent) {
    check_all(values);
    if (sent.size() != values.size()) { refuse("samples", "not as many times as values"); }
    if (std::ranges::any_of(sent, [](double time) { return std::isinf(time); })) {
        refuse("samples", "a time that is not finite");
    }
    state_->add(values, sent);
}

void LatencyDigest::add(LatencyHistogram const& values) {
    if (values.empty()) { return; }
    state_->values.merge(values);
    state_->ordered = false;
    state_->shown_is_old = true;
}

LatencyHistogram const& LatencyDigest::values() const { return state_->values; }
bool LatencyDigest::has_times() const { return state_->timed; }
double LatencyDigest::duration() const { return has_times() ? state_->last_time - state_->first_time : 0.0; }
std::uint64_t LatencyDigest::times_backwards() const { return state_->backwards; }
std::optional<std::uint64_t> LatencyDigest::first_backwards() const { return state_->first_backwards; }
LatencyHistogram const& LatencyDigest::gaps() const { return state_->gaps; }
LatencyHistogram const& LatencyDigest::waited_for() const { return state_->waited_for; }
std::uint64_t LatencyDigest::sent_after_answer() const { return state_->waited_for.count(); }

std::vector<DigestBlock> const& LatencyDigest::blocks() const {
    if (state_->shown_is_old) { state_->show(); }
    return state_->shown;
}

std::size_t LatencyDigest::memory_bytes() const {
    return sizeof(State) + state_->values.memory_bytes() + state_->gaps.memory_bytes() +
           state_->waited_for.memory_bytes() + digest::DigestWindow::memory_bytes() +
           state_->held.capacity() * sizeof(digest::HeldBlock) + state_->shown.capacity() * sizeof(DigestBlock);
}

} // namespace headroom::serving
