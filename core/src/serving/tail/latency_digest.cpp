#include "headroom/serving/latency_digest.hpp"

#include "digest_window.hpp"
#include "histogram_cells.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace headroom::serving {
namespace {

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

namespace digest { // of the digest's state, which has a name outside

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
    DigestWindow window; ///< the block that is being filled
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
           state_->waited_for.memory_bytes() + DigestWindow::memory_bytes() +
           state_->held.capacity() * sizeof(digest::HeldBlock) + state_->shown.capacity() * sizeof(DigestBlock);
}

} // namespace headroom::serving
