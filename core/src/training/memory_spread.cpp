#include "headroom/training/memory_spread.hpp"

#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

namespace headroom::training {
namespace {

/// Probability that Student's t with 4 degrees of freedom is at most t: 1/2 + s (3 - s^2) / 4 with s = t / sqrt(4 + t^2).
double student_below(double t) {
    double const s = t / std::sqrt(4.0 + t * t);
    return 0.5 + 0.25 * s * (3.0 - s * s);
}

/// Its quantile: the root s = 2 sin(asin(2p - 1) / 3) of that cubic, as t = 2 s / sqrt(1 - s^2).
double student_quantile(double probability) {
    double const s = 2.0 * std::sin(std::asin(std::clamp(2.0 * probability - 1.0, -1.0, 1.0)) / 3.0);
    double const rest = 1.0 - s * s;
    if (rest <= 0.0) { return std::copysign(std::numeric_limits<double>::infinity(), s); }
    return 2.0 * s / std::sqrt(rest);
}

/// Scale of a spread that is not known to be wider: a run repeats within about 1 %.
constexpr double least_scale = 0.01;

using Weights = std::map<std::string, int>;

Weights sizes_of(std::span<MemorySample const> samples) {
    Weights sizes;
    for (auto const& sample : samples) { ++sizes[sample.family]; }
    return sizes;
}

/// Quantile of the lengths of n families that holds one more with the probability of an interval: what split conformal
/// prediction takes of n residuals, ceil((n + 1) coverage) of them, with families in the place of residuals.
double conformal_level(std::size_t families) {
    double const n = static_cast<double>(families);
    return std::min(1.0, memory_coverage * (n + 1.0) / n);
}

MemoryScale scale_of(std::span<MemorySample const> samples, MemorySpread const& spread) {
    if (samples.empty()) { return {}; }
    auto const sizes = sizes_of(samples);
    std::vector<WeightedValue> errors, lengths;
    for (auto const& one : samples) {
        Bytes const uncertain = uncertain_bytes(spread, one.predicted, one.state);
        if (uncertain <= Bytes{}) { continue; }
        double const x = (one.measured - one.predicted) / uncertain, weight = 1.0 / sizes.at(one.family);
        errors.push_back({x, weight});
        lengths.push_back({std::abs(x), weight});
    }
    double const level = conformal_level(sizes.size()), tail = 0.5 * (1.0 - level);
    double const either = weighted_quantile(lengths, level), t = student_quantile(0.5 * (1.0 + memory_coverage));
    auto const end = [&](double own) { return std::max(least_scale, 0.5 * (std::max(0.0, own) + either) / t); };
    return {.below = end(-weighted_quantile(errors, tail)),
            .above = end(weighted_quantile(errors, 1.0 - tail)),
            .rows = static_cast<int>(samples.size()),
            .families = static_cast<int>(sizes.size())};
}

std::vector<MemorySample> those(std::span<MemorySample const> samples, bool guessed) {
    std::vector<MemorySample> found;
    std::ranges::copy_if(samples, std::back_inserter(found),
                         [guessed](MemorySample const& one) { return one.guessed == guessed; });
    return found;
}

MemorySpread spread_with(std::span<MemorySample const> samples, double state_share) {
    constexpr int enough_families = 3;
    MemorySpread spread{.state_share = state_share, .seen = {}, .unseen = {}, .frameworks = {}};
    spread.seen = scale_of(those(samples, false), spread);
    spread.unseen = scale_of(those(samples, true), spread);
    if (spread.unseen.families < enough_families) { spread.unseen = scale_of(samples, spread); }
    spread.unseen.below = std::max(spread.unseen.below, spread.seen.below);
    spread.unseen.above = std::max(spread.unseen.above, spread.seen.above);
    return spread;
}

/// Mean width of the intervals over the measured memory, families weighed alike.
double width_of(std::span<MemorySample const> samples, MemorySpread const& spread) {
    auto const sizes = sizes_of(samples);
    double width = 0.0;
    for (auto const& one : samples) {
        auto const& scale = one.guessed ? spread.unseen : spread.seen;
        auto const range = memory_range(scale, one.predicted, uncertain_bytes(spread, one.predicted, one.state));
        width += (range.high - range.low) / one.measured / sizes.at(one.family);
    }
    return width;
}

} // namespace

Bytes uncertain_bytes(MemorySpread const& spread, Bytes predicted, Bytes state) {
    return std::max(Bytes{}, predicted - (1.0 - spread.state_share) * state);
}

double probability_within(MemoryScale const& scale, Bytes predicted, Bytes uncertain, Bytes limit) {
    Bytes const room = limit - predicted, unit = (room < Bytes{} ? scale.below : scale.above) * uncertain;
    if (unit <= Bytes{}) { return room < Bytes{} ? 0.0 : 1.0; }
    return student_below(room / unit);
}

double margin_factor(MemoryScale const& scale, double probability) {
    double const t = student_quantile(probability);
    return t * (t < 0.0 ? scale.below : scale.above);
}

MemoryRange memory_range(MemoryScale const& scale, Bytes predicted, Bytes uncertain) {
    constexpr double tail = 0.5 * (1.0 - memory_coverage);
    return {.low = std::max(Bytes{}, predicted + margin_factor(scale, tail) * uncertain),
            .high = predicted + margin_factor(scale, 1.0 - tail) * uncertain};
}

MemoryMargin memory_margin(MemorySpread const& spread, MemoryScale const& scale, double risk) {
    return {.factor = margin_factor(scale, 1.0 - risk),
            .state_share = spread.state_share,
            .scale = scale,
            .probability = 1.0 - risk};
}

MemorySpread fit_memory_spread(std::span<MemorySample const> samples) {
    constexpr std::array shares{0.0, 0.02, 0.05, 0.1, 0.2, 0.5};
    constexpr int enough = 5;
    MemorySpread best = spread_with(samples, shares.front());
    for (double const share : shares) {
        auto const spread = spread_with(samples, share);
        if (width_of(samples, spread) < width_of(samples, best)) { best = spread; }
    }
    std::map<std::string, int> with;
    for (auto const& one : samples) {
        if (!one.guessed && ++with[one.framework] >= enough) { best.frameworks.insert(one.framework); }
    }
    return best;
}

} // namespace headroom::training
