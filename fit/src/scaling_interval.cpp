#include "scaling_interval.hpp"

#include "scaling_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace headroom::fit {
namespace {

constexpr double far_outside = 1e6; ///< of a profile where nothing can be fitted any more

/// A point of a profile: what was reached, and how many standard errors it is away by the likelihood.
struct ProfilePoint {
    double at = 0.0, distance = far_outside;
};
using Profile = std::function<ProfilePoint(double)>;

double distance_of(Solved const& solved, double rss) {
    return std::sqrt(std::max(0.0, rss - solved.solution.rss) / solved.variance);
}

constexpr double close_enough = 1e-7; ///< of a distance to its target

/// Between a point that is not far enough and one that is: regula falsi, Illinois variant.
double between(Profile const& profile, ProfilePoint inner, double inner_x, ProfilePoint outer, double outer_x,
               double target) {
    double low = inner.distance - target, high = outer.distance - target;
    ProfilePoint best = -low < high ? inner : outer;
    for (int i = 0; i < 60 && std::abs(best.distance - target) > close_enough * target; ++i) {
        bool const cliff = high > 1e3 * target; // nothing can be fitted there: no slope to go by
        double const x = cliff ? 0.5 * (inner_x + outer_x) : outer_x - high * (outer_x - inner_x) / (high - low);
        if (x == inner_x || x == outer_x) { break; }
        ProfilePoint const found = profile(x);
        double const side = found.distance - target;
        if (std::abs(side) < std::abs(best.distance - target)) { best = found; }
        if (side < 0.0) {
            inner_x = x;
            low = side;
            high *= 0.5;
        } else {
            outer_x = x;
            high = side;
            low *= 0.5;
        }
    }
    return best.at;
}

/// Where a profile that starts at `from` reaches `target`, going by `step`; `limit` when it ends before that; empty
/// when it never gets there.
std::optional<double> edge_of(Profile const& profile, double from, double step, double limit, double target) {
    ProfilePoint inner{from, 0.0};
    double inner_x = from;
    for (int i = 0; i < 60; ++i) {
        double const x = step > 0.0 ? std::min(from + step, limit) : std::max(from + step, limit);
        ProfilePoint const found = profile(x);
        if (std::abs(found.distance - target) <= close_enough * target) { return found.at; }
        if (found.distance > target) { return between(profile, inner, inner_x, found, x, target); }
        if (x == limit) { return limit; }
        inner = found;
        inner_x = x;
        step *= std::clamp(1.05 * target / std::max(found.distance, 1e-9), 1.2, 8.0);
    }
    return std::nullopt;
}

/// A first step: the asymptotic half width, with a part of the value where that says nothing.
double first_step(double half_width, double value) {
    if (std::isfinite(half_width) && half_width > 0.0) { return half_width; }
    return std::max(1e-3 * std::abs(value), 1e-9);
}

/// The solution, and the law's own starting values: one start alone may stay in another valley.
std::vector<Coefficients> starts_of(Solved const& solved) {
    std::vector<Coefficients> starts = solved.curve.starts(solved.points);
    starts.insert(starts.begin(), solved.solution.c);
    for (Coefficients& start : starts) {
        for (std::size_t j = 0; j < start.size(); ++j) {
            if (solved.fixed[j]) { start[j] = solved.solution.c[j]; }
        }
    }
    return starts;
}

} // namespace

std::vector<int> Solved::columns(bool at_bounds_too) const {
    std::vector<int> all;
    for (int j = 0; j < curve.size(); ++j) {
        auto const at = static_cast<std::size_t>(j);
        if (!fixed[at] && (at_bounds_too || !solution.at_bound[at])) { all.push_back(j); }
    }
    return all;
}

bool Solved::noisy() const {
    return degrees_of_freedom > 0 && variance > 1e-24 * mean_square_of(samples) && variance > 0.0;
}

std::optional<Matrix> Solved::inverse_information(std::vector<int> const& columns) const {
    return fit::inverse_information(weighted_jacobian(curve, points, solution.c, columns));
}

std::vector<double> Solved::slope(double workers, std::vector<int> const& columns) const {
    Coefficients gradient{};
    curve.at(workers, solution.c, gradient);
    std::vector<double> result;
    for (int const column : columns) { result.push_back(gradient[static_cast<std::size_t>(column)]); }
    return result;
}

std::array<std::optional<double>, most_coefficients> standard_errors(Solved const& solved) {
    std::array<std::optional<double>, most_coefficients> errors{};
    std::vector<int> const columns = solved.columns(false);
    auto const inverse = solved.inverse_information(columns);
    if (!inverse || solved.degrees_of_freedom < 1) { return errors; }
    for (std::size_t i = 0; i < columns.size(); ++i) {
        errors[static_cast<std::size_t>(columns[i])] = std::sqrt(solved.variance * (*inverse)(i, i));
    }
    return errors;
}

Edges profile_edges(Solved const& solved, int coefficient, double t, Solution& better) {
    auto const at = static_cast<std::size_t>(coefficient);
    LawCoefficient const& bounds = solved.curve.law->coefficients[at];
    Mask fixed = solved.fixed;
    fixed[at] = true;
    auto const columns = solved.columns(true);
    auto const inverse = solved.inverse_information(columns);
    double variance = 0.0;
    if (inverse) {
        auto const place = static_cast<std::size_t>(std::ranges::find(columns, coefficient) - columns.begin());
        variance = solved.variance * (*inverse)(place, place);
    }
    double const value = solved.solution.c[at], step = first_step(t * std::sqrt(variance), value);
    auto const side = [&](double direction, double limit) {
        std::vector<Coefficients> starts = starts_of(solved);
        return edge_of(
            [&](double x) {
                for (Coefficients& start : starts) { start[at] = x; }
                Solution const found = solve(solved.curve, solved.points, starts, fixed);
                if (!found.found) { return ProfilePoint{x, far_outside}; }
                starts.front() = found.c;
                if (found.rss < solved.solution.rss && (!better.found || found.rss < better.rss)) { better = found; }
                return ProfilePoint{x, distance_of(solved, found.rss)};
            },
            value, direction * step, limit, t);
    };
    return {side(-1.0, bounds.low), side(1.0, bounds.high)};
}

Edges curve_edges(Solved const& solved, double workers, double t) {
    Coefficients g{};
    double const value = solved.curve.at(workers, solved.solution.c, g);
    auto const columns = solved.columns(true);
    auto const inverse = solved.inverse_information(columns);
    auto const slope = solved.slope(workers, columns);
    double const spread = inverse ? dot(slope, *inverse, slope) : 0.0;
    if (!(spread > 0.0)) { return {}; }
    std::vector<ScalingSample> pulled = solved.points;
    pulled.push_back({.workers = workers, .value = value, .weight = 100.0 / spread});
    auto const side = [&](double direction) {
        std::vector<Coefficients> starts = starts_of(solved);
        return edge_of(
            [&](double target) {
                pulled.back().value = target;
                Solution const found = solve(solved.curve, pulled, starts, solved.fixed);
                if (!found.found) { return ProfilePoint{target, far_outside}; }
                starts.front() = found.c;
                return ProfilePoint{solved.curve.at(workers, found.c, g),
                                    distance_of(solved, residual_sum(solved.curve, solved.points, found.c))};
            },
            value, direction * first_step(t * std::sqrt(spread * solved.variance), value),
            direction * std::numeric_limits<double>::max(), t);
    };
    return {side(-1.0), side(1.0)};
}

std::vector<double> drawn_residuals(Solved const& solved) {
    auto const n = static_cast<double>(solved.samples.size());
    double const wider = std::sqrt(n / std::max(1, solved.degrees_of_freedom));
    std::vector<double> residuals;
    Coefficients g{};
    double mean = 0.0;
    for (ScalingSample const& sample : solved.samples) {
        double const error = sample.value - solved.curve.at(sample.workers, solved.solution.c, g);
        residuals.push_back(std::sqrt(sample.weight) * error * wider);
        mean += residuals.back() / n;
    }
    for (double& residual : residuals) { residual -= mean; }
    std::ranges::sort(residuals);
    return residuals;
}

std::vector<Coefficients> resampled(Solved const& solved, bool pairs, int resamples, std::uint64_t seed) {
    SeededRandom random{seed};
    std::vector<double> const residuals = drawn_residuals(solved);
    std::size_t const n = solved.samples.size(), needed = solved.columns(true).size();
    std::vector<Coefficients> all;
    std::vector<ScalingSample> drawn = solved.samples;
    Coefficients g{};
    for (int attempt = 0; attempt < 4 * resamples && static_cast<int>(all.size()) < resamples; ++attempt) {
        for (std::size_t i = 0; i < n; ++i) {
            std::size_t const pick = random.below(n);
            if (pairs) {
                drawn[i] = solved.samples[pick];
            } else {
                drawn[i].value = solved.curve.at(drawn[i].workers, solved.solution.c, g) +
                                 residuals[pick] / std::sqrt(drawn[i].weight);
            }
        }
        std::vector<ScalingSample> const points = means_of(drawn);
        if (points.size() < needed) { continue; }
        Solution const found = solve(solved.curve, points, std::span{&solved.solution.c, 1}, solved.fixed);
        if (found.found) { all.push_back(found.c); }
    }
    return all;
}

Edges percentile_edges(std::vector<double> values, double coverage) {
    std::ranges::sort(values);
    double const tail = 0.5 * (1.0 - coverage);
    return {quantile_of(values, tail), quantile_of(values, 1.0 - tail)};
}

} // namespace headroom::fit
