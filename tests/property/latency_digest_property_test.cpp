#include "headroom/error.hpp"
#include "headroom/serving/latency_digest.hpp"
#include "headroom/serving/latency_histogram.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

/// From far below a nanosecond to years, some of them equal, some zero.
rc::Gen<double> latency() {
    return rc::gen::map(rc::gen::pair(rc::gen::inRange(-400, 360), rc::gen::inRange(0, 50)), [](auto const& pair) {
        if (pair.second == 0) { return 0.0; }
        return std::exp2(0.1 * pair.first) * (1.0 + 0.013 * pair.second);
    });
}
rc::Gen<std::vector<double>> latencies() { return rc::gen::container<std::vector<double>>(latency()); }

LatencyHistogram histogram_of(std::span<double const> values) {
    LatencyHistogram all;
    all.record(values);
    return all;
}

/// Parts of random lengths.
std::vector<std::span<double const>> parts_of(std::vector<double> const& values) {
    std::vector<std::span<double const>> parts;
    std::span<double const> rest{values};
    while (!rest.empty()) {
        auto const size = static_cast<std::size_t>(*rc::gen::inRange<int>(1, static_cast<int>(rest.size()) + 1));
        parts.push_back(rest.first(size));
        rest = rest.subspan(size);
    }
    return parts;
}

bool same(DigestBlock const& one, DigestBlock const& other) {
    return one.count == other.count && one.start == other.start && one.end == other.end && one.mean == other.mean &&
           one.median == other.median && one.most == other.most && one.above == other.above;
}

void expect_same(LatencyDigest const& one, LatencyDigest const& other) {
    RC_ASSERT(one.values() == other.values());
    RC_ASSERT(one.gaps() == other.gaps());
    RC_ASSERT(one.times_backwards() == other.times_backwards());
    RC_ASSERT(one.first_backwards() == other.first_backwards());
    RC_ASSERT(one.sent_after_answer() == other.sent_after_answer());
    RC_ASSERT(one.duration() == other.duration());
    RC_ASSERT(std::ranges::equal(one.blocks(), other.blocks(), same));
}

// Expectation: whatever the parts and the order in which they are merged, the whole comes out to the bit.
RC_GTEST_PROP(LatencyHistogramProperty, MergesExactlyInAnyOrder, ()) {
    auto const values = *latencies();
    LatencyHistogram one_by_one;
    for (double const value : values) { one_by_one.record(value); }
    std::vector<LatencyHistogram> parts;
    for (auto const part : parts_of(values)) { parts.push_back(histogram_of(part)); }
    while (parts.size() > 1) {
        auto const from = *rc::gen::inRange<std::size_t>(0, parts.size());
        LatencyHistogram const taken = parts[from];
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(from));
        parts[*rc::gen::inRange<std::size_t>(0, parts.size())].merge(taken);
    }
    RC_ASSERT(histogram_of(values) == one_by_one);
    RC_ASSERT((parts.empty() ? values.empty() : parts.front() == one_by_one));
}

// Expectation: every quantile is as near to the order statistic as the histogram says.
RC_GTEST_PROP(LatencyHistogramProperty, QuantilesLieWithinTheStatedError, ()) {
    auto values = *rc::gen::nonEmpty(latencies());
    auto const all = histogram_of(values);
    std::ranges::sort(values);
    for (std::size_t rank = 1; rank <= values.size(); ++rank) {
        double const exact = values[rank - 1];
        RC_ASSERT(std::abs(all.ranked(rank) - exact) <= exact * LatencyHistogram::relative_error);
    }
    RC_ASSERT(all.least() == values.front());
    RC_ASSERT(all.most() == values.back());
}

// Expectation: where one value cannot be recorded, nothing is, as if it had not been tried.
RC_GTEST_PROP(LatencyHistogramProperty, RecordsAllOrNothing, ()) {
    auto const before = *latencies();
    auto values = *rc::gen::nonEmpty(latencies());
    auto const place = *rc::gen::inRange<std::size_t>(0, values.size());
    values[place] = *rc::gen::element(-1e-300, -1.0, std::numeric_limits<double>::infinity(), std::exp2(128.0),
                                      std::numeric_limits<double>::quiet_NaN());
    auto all = histogram_of(before);
    auto const untouched = all;
    RC_ASSERT_THROWS_AS(all.record(values), InputError);
    RC_ASSERT(all == untouched);
    LatencyDigest digest;
    RC_ASSERT_THROWS_AS(digest.add(values), InputError);
    RC_ASSERT(digest.values().empty() && digest.blocks().empty());
}

// Expectation: the digest does not know in what pieces samples came.
RC_GTEST_PROP(LatencyDigestProperty, IsTheSameForAnyPieces, ()) {
    auto values = *latencies();
    auto const times = *rc::gen::inRange(0, 60); // many more samples than blocks
    auto const once = values;
    for (int i = 0; i < times; ++i) { values.insert(values.end(), once.begin(), once.end()); }
    LatencyDigest whole, pieces, singles;
    whole.add(values);
    for (auto const part : parts_of(values)) { pieces.add(part); }
    for (double const value : values) { singles.add(value); }
    expect_same(whole, pieces);
    expect_same(whole, singles);
}

RC_GTEST_PROP(LatencyDigestProperty, IsTheSameForAnyPiecesWithTimes, ()) {
    auto const values = *latencies();
    auto const sent = *rc::gen::container<std::vector<double>>(values.size(), latency());
    LatencyDigest whole, singles;
    whole.add(values, sent);
    for (std::size_t i = 0; i < values.size(); ++i) { singles.add(values[i], sent[i]); }
    expect_same(whole, singles);
}

// Expectation: blocks hold all samples in order, and no more of them are kept than is stated.
RC_GTEST_PROP(LatencyDigestProperty, BlocksHoldAllSamples, ()) {
    auto const count = *rc::gen::inRange<std::uint64_t>(0, 20'000);
    LatencyDigest digest;
    for (std::uint64_t i = 0; i < count; ++i) { digest.add(static_cast<double>(i)); }
    auto const& blocks = digest.blocks();
    RC_ASSERT(blocks.size() <= LatencyDigest::most_blocks);
    RC_ASSERT((count < LatencyDigest::most_blocks ? blocks.size() == count
                                                  : blocks.size() >= LatencyDigest::most_blocks / 2));
    double next = 0.0;
    for (DigestBlock const& block : blocks) {
        RC_ASSERT(block.start == next);
        RC_ASSERT(block.most == block.end);
        double const middle = 0.5 * (block.start + block.end);
        RC_ASSERT(std::abs(block.mean - middle) <= 1e-3 * middle);
        RC_ASSERT(std::abs(block.median - middle) <= 1e-3 * middle + 0.02 * static_cast<double>(block.count));
        next += static_cast<double>(block.count);
    }
    RC_ASSERT(next == static_cast<double>(count));
}

} // namespace
} // namespace headroom
