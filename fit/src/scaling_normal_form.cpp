#include "scaling_normal_form.hpp"

#include "scaling_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::fit {
namespace {

constexpr double least_share = 0.0005; ///< share that Extra-P takes for zero

/// Exponent pairs in the order in which Extra-P tries them; of equals the first stays.
constexpr std::array<TermExponents, 42> growing_terms{{
    {0, 1, 1}, {0, 1, 2}, {1, 4, 0}, {1, 3, 0},  {1, 4, 1}, {1, 3, 1}, {1, 4, 2}, {1, 3, 2}, {1, 2, 0},
    {1, 2, 1}, {1, 2, 2}, {2, 3, 0}, {3, 4, 0},  {2, 3, 1}, {3, 4, 1}, {4, 5, 0}, {2, 3, 2}, {3, 4, 2},
    {1, 1, 0}, {1, 1, 1}, {1, 1, 2}, {5, 4, 0},  {5, 4, 1}, {4, 3, 0}, {4, 3, 1}, {3, 2, 0}, {3, 2, 1},
    {3, 2, 2}, {5, 3, 0}, {7, 4, 0}, {2, 1, 0},  {2, 1, 1}, {2, 1, 2}, {9, 4, 0}, {7, 3, 0}, {5, 2, 0},
    {5, 2, 1}, {5, 2, 2}, {8, 3, 0}, {11, 4, 0}, {3, 1, 0}, {3, 1, 1},
}};

/// With them both exponents are negated, in the order in which Extra-P appends them.
constexpr std::array<TermExponents, 42> falling_terms{{
    {0, 1, -1},  {0, 1, -2},  {-1, 4, -1}, {-1, 3, -1}, {-1, 4, -2}, {-1, 3, -2}, {-1, 2, -1}, {-1, 2, -2}, {-2, 3, -1},
    {-3, 4, -1}, {-2, 3, -2}, {-3, 4, -2}, {-1, 1, -1}, {-1, 1, -2}, {-5, 4, -1}, {-4, 3, -1}, {-3, 2, -1}, {-3, 2, -2},
    {-2, 1, -1}, {-2, 1, -2}, {-5, 2, -1}, {-5, 2, -2}, {-3, 1, -1}, {-1, 4, 0},  {-1, 3, 0},  {-1, 2, 0},  {-2, 3, 0},
    {-3, 4, 0},  {-4, 5, 0},  {-1, 1, 0},  {-5, 4, 0},  {-4, 3, 0},  {-3, 2, 0},  {-5, 3, 0},  {-7, 4, 0},  {-2, 1, 0},
    {-9, 4, 0},  {-7, 3, 0},  {-5, 2, 0},  {-8, 3, 0},  {-11, 4, 0}, {-3, 1, 0},
}};

struct Line {
    double c0 = 0.0, c1 = 0.0;
};

/// y = c0 + c1 t over every point but `without`.
Line line_through(std::span<double const> t, std::span<ScalingSample const> points, std::size_t without) {
    double n = 0.0, mean_t = 0.0, mean_y = 0.0, tt = 0.0, ty = 0.0;
    for (std::size_t i = 0; i < t.size(); ++i) {
        if (i == without) { continue; }
        n += 1.0;
        mean_t += t[i];
        mean_y += points[i].value;
    }
    mean_t /= n;
    mean_y /= n;
    for (std::size_t i = 0; i < t.size(); ++i) {
        if (i == without) { continue; }
        tt += (t[i] - mean_t) * (t[i] - mean_t);
        ty += (t[i] - mean_t) * (points[i].value - mean_y);
    }
    double const slope = tt > 0.0 ? ty / tt : 0.0;
    return {mean_y - slope * mean_t, slope};
}

double least_value(std::span<ScalingSample const> points, std::size_t without) {
    double least = INFINITY;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i != without) { least = std::min(least, points[i].value); }
    }
    return least;
}

void add_error(CrossValidation& sums, double predicted, double actual, double count) {
    double const error = predicted - actual, size = std::abs(predicted) + std::abs(actual);
    sums.rss += error * error;
    sums.relative_rss += actual != 0.0 ? error * error / (actual * actual) : 0.0;
    sums.smape += size > 0.0 ? 200.0 * std::abs(error) / size / count : 0.0;
}

CrossValidation validate(std::span<double const> t, std::span<ScalingSample const> points, double constant_rss) {
    CrossValidation sums;
    auto const n = static_cast<double>(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        Line line = line_through(t, points, i);
        if (std::abs(line.c0 / least_value(points, i)) < least_share) { line.c0 = 0.0; }
        add_error(sums, line.c0 + line.c1 * t[i], points[i].value, n);
    }
    sums.adjusted_r2 = 1.0 - sums.rss / constant_rss * (n - 1.0) / (n - 2.0);
    return sums;
}

/// The mean, with the figures that Extra-P gives it: of the points that made it.
NormalForm constant_form(std::span<ScalingSample const> points) {
    NormalForm form;
    double mean = 0.0;
    auto const n = static_cast<double>(points.size());
    for (ScalingSample const& point : points) { mean += point.value / n; }
    for (ScalingSample const& point : points) { add_error(form.validation, mean, point.value, n); }
    form.validation.adjusted_r2 = 1.0;
    return form;
}

void try_term(TermExponents const& term, std::span<ScalingSample const> points, double constant_rss, NormalForm& best) {
    std::vector<double> t;
    for (ScalingSample const& point : points) { t.push_back(term_at(point.workers, term)); }
    if (!std::ranges::all_of(t, [](double value) { return std::isfinite(value); })) { return; }
    CrossValidation const validation = validate(t, points, constant_rss);
    double const slope = line_through(t, points, points.size()).c1;
    double share = 0.0;
    for (std::size_t i = 0; i < t.size(); ++i) { share = std::max(share, std::abs(slope * t[i] / points[i].value)); }
    if (!std::isfinite(validation.rss) || share < least_share) { return; }
    if (validation.smape < best.validation.smape) { best = {.term = term, .validation = validation}; }
}

std::string exponent_words(TermExponents const& term) {
    if (term.numerator == term.denominator) { return ""; }
    if (term.denominator == 1 && term.numerator > 0) { return "^" + std::to_string(term.numerator); }
    std::string const over = term.denominator == 1 ? "" : "/" + std::to_string(term.denominator);
    return "^(" + std::to_string(term.numerator) + over + ")";
}

} // namespace

NormalForm choose_normal_form(std::span<ScalingSample const> points, bool negative_exponents) {
    NormalForm best = constant_form(points);
    double const constant_rss = best.validation.rss;
    if (!(constant_rss > 0.0) || points.size() < 3) { return best; }
    bool const above_one = std::ranges::all_of(points, [](ScalingSample const& p) { return p.workers > 1.0; });
    for (TermExponents const& term : growing_terms) { try_term(term, points, constant_rss, best); }
    if (!negative_exponents) { return best; }
    for (TermExponents const& term : falling_terms) {
        if (above_one || term.logarithm == 0) { try_term(term, points, constant_rss, best); }
    }
    return best;
}

std::string normal_form_words(TermExponents const& term) {
    if (term.constant()) { return "y(K) = c0"; }
    std::string words = "y(K) = c0 + c1";
    if (term.numerator != 0) { words += " K" + exponent_words(term); }
    if (term.logarithm != 0) {
        words += " log2(K)";
        if (term.logarithm != 1) { words += term.logarithm > 0 ? "^2" : "^(" + std::to_string(term.logarithm) + ")"; }
    }
    return words;
}

} // namespace headroom::fit
