#include "tail_fit_cells.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom::fit {

namespace {

constexpr double lowest_shape = -1.0; // below it the likelihood has no bound

/// ln P(X > y) of a Pareto excess, and its derivatives by ln of the scale and by the shape.
struct LogAbove {
    double value = 0.0, by_scale = 0.0, by_shape = 0.0, share = 1.0;
};

LogAbove log_above(double y, double scale, double shape) {
    constexpr double series_below = 1e-3; // of shape y / scale, where the closed form loses its digits
    double const w = y / scale, grown = shape * w;
    if (grown <= -1.0) { return {.value = -1e300, .share = 0.0}; }
    LogAbove above;
    above.by_scale = w / (1.0 + grown);
    if (std::abs(grown) < series_below) {
        above.value = -w * (1.0 - grown * (1.0 / 2.0 - grown * (1.0 / 3.0 - grown / 4.0)));
        above.by_shape = w * w * (1.0 / 2.0 - grown * (2.0 / 3.0 - grown * (3.0 / 4.0 - grown * 4.0 / 5.0)));
    } else {
        double const logarithm = std::log1p(grown);
        above.value = -logarithm / shape;
        above.by_shape = (logarithm / shape - above.by_scale) / shape;
    }
    above.share = std::exp(above.value);
    return above;
}

/// ln L, its slope, and the information as sum of squares of the cells' slopes.
struct ParetoLikelihood {
    double value = 0.0;
    Pair slope;
    PairMatrix information;
};

std::optional<ParetoLikelihood> likelihood(std::span<FilledCell const> cells, double scale, double shape) {
    ParetoLikelihood sum;
    double const threshold = cells.front().low;
    double edge = -1.0;
    LogAbove high;
    for (FilledCell const& cell : cells) {
        LogAbove const low = cell.low == edge ? high : log_above(cell.low - threshold, scale, shape);
        edge = cell.high;
        high = log_above(edge - threshold, scale, shape);
        double const inside = high.share == 0.0 ? 1.0 : -std::expm1(high.value - low.value); // of what is above `low`
        if (low.value < -700.0 || !(inside > 0.0)) { return std::nullopt; }
        double const kept = 1.0 - inside;
        Pair const slope{(low.by_scale - kept * high.by_scale) / inside,
                         (low.by_shape - kept * high.by_shape) / inside};
        sum.value += cell.count * (low.value + std::log(inside));
        Pair const weighted{cell.count * slope.a, cell.count * slope.b};
        sum.slope = {sum.slope.a + weighted.a, sum.slope.b + weighted.b};
        sum.information = {sum.information.aa + weighted.a * slope.a, sum.information.ab + weighted.a * slope.b,
                           sum.information.bb + weighted.b * slope.b};
    }
    return sum;
}

/// The excess that a share of the samples does not exceed, to a cell.
double excess_of(std::span<FilledCell const> cells, double share) {
    double const beyond = (1.0 - share) * cells.front().from;
    auto const found =
        std::ranges::partition_point(cells, [&](FilledCell const& cell) { return cell.from - cell.count > beyond; });
    FilledCell const& cell = found == cells.end() ? cells.back() : *found;
    return 0.5 * (cell.low + cell.high) - cells.front().low;
}

/// Scale and shape with the median and the upper quartile of the excesses, and no sample out of reach:
/// Q(3/4) / Q(1/2) = 2^shape + 1, whatever the scale.
Pair start_of(std::span<FilledCell const> cells) {
    double const median = excess_of(cells, 0.5), reach = cells.back().high - cells.front().low;
    double const shape = std::clamp(std::log2(std::max(0.5, excess_of(cells, 0.75) / median - 1.0)), -0.5, 8.0);
    double const grown = std::expm1(shape * std::numbers::ln2);
    double const scale = grown == 0.0 ? median / std::numbers::ln2 : median * shape / grown;
    return {std::log(std::max(scale, -1.01 * shape * reach)), shape};
}

} // namespace

std::optional<ParetoFit> fit_pareto(std::span<FilledCell const> cells) {
    constexpr int most_steps = 100, most_halvings = 30;
    constexpr double close = 1e-6; // of ln L: 1e-3 of the standard errors
    constexpr double worth = 0.1;  // of what the slope promises: less means that the step went across the top
    Pair place = start_of(cells);
    auto now = likelihood(cells, std::exp(place.a), place.b);
    for (int step = 0; now && step < most_steps; ++step) {
        PairMatrix const covariance = now->information.inverse();
        Pair change = covariance * now->slope;
        if (place.b <= lowest_shape && change.b < 0.0) { change = {now->slope.a / now->information.aa, 0.0}; }
        double const gain = now->slope.dot(change);
        if (!std::isfinite(gain) || gain < 0.0) { return std::nullopt; }
        bool moved = false;
        double part = gain < close ? 0.0 : 1.0;
        for (int halving = 0; part > 0.0 && !moved && halving < most_halvings; ++halving, part *= 0.5) {
            Pair const there{place.a + part * change.a, std::max(lowest_shape, place.b + part * change.b)};
            auto const next = likelihood(cells, std::exp(there.a), there.b);
            if (!next || next->value < now->value + worth * part * gain) { continue; }
            place = there;
            now = next;
            moved = true;
        }
        if (moved && step + 1 < most_steps) { continue; }
        // Near the lowest shape ln L has a kink at the end of each cell: the place found is the best there is.
        return ParetoFit{std::exp(place.a), place.b, now->information.inverse(), now->value};
    }
    return std::nullopt;
}

} // namespace headroom::fit
