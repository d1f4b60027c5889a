#include "base/statistics/correlation.hpp"

#include "headroom/serving/latency_statistics.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace headroom::serving {
namespace {

constexpr std::size_t fewest_blocks = 16;

/// Blocks that hold equally many samples: all, or all but the last.
std::span<DigestBlock const> whole(std::span<DigestBlock const> blocks) {
    return blocks.size() > 1 && blocks.back().count < blocks.front().count ? blocks.first(blocks.size() - 1) : blocks;
}

/// From means of `size` samples each that vary by `variance`: how much more those vary than they would, and how much
/// they are like their neighbours.
double share_from(std::span<double const> means, double size, double variance) {
    double const count = static_cast<double>(means.size());
    double const middle = std::accumulate(means.begin(), means.end(), 0.0) / count;
    double squares = 0.0;
    for (double const mean : means) { squares += (mean - middle) * (mean - middle); }
    if (!(variance > 0.0) || squares == 0.0) { return 1.0; }
    double const more = size * squares / (count - 1.0) / variance * correlated_run(means, middle);
    return std::clamp(1.0 / more, 1.0 / (count * size), 1.0);
}

} // namespace

double independent_share(std::span<DigestBlock const> blocks, double variance) {
    auto const even = whole(blocks);
    if (even.size() < fewest_blocks) { return 1.0; }
    std::vector<double> means(even.size());
    std::ranges::transform(even, means.begin(), &DigestBlock::mean);
    return share_from(means, static_cast<double>(even.front().count), variance);
}

double independent_tail_share(std::span<DigestBlock const> blocks) {
    auto const even = whole(blocks);
    if (even.size() < fewest_blocks) { return 1.0; }
    double const size = static_cast<double>(even.front().count);
    std::vector<double> shares(even.size());
    std::ranges::transform(even, shares.begin(),
                           [size](DigestBlock const& block) { return static_cast<double>(block.above) / size; });
    double const share = std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
    return share_from(shares, size, share * (1.0 - share));
}

double SampleWorth::at(double q) const {
    constexpr double tail_from = 0.99; // that blocks count exceedances of
    return q >= tail_from ? tail : std::min(tail, body);
}

SampleWorth worth_of(LatencyDigest const& samples) {
    auto const& blocks = samples.blocks();
    if (blocks.empty()) { return {}; }
    return {.body = independent_share(blocks, samples.values().variance()), .tail = independent_tail_share(blocks)};
}

SampleWorth joined_worth(SampleWorth first, std::uint64_t first_count, SampleWorth second, std::uint64_t second_count) {
    auto const n = static_cast<double>(first_count), m = static_cast<double>(second_count);
    if (n + m == 0.0) { return {}; }
    return {.body = (n + m) / (n / first.body + m / second.body), .tail = (n + m) / (n / first.tail + m / second.tail)};
}

} // namespace headroom::serving
