#include "scaling_solver.hpp"

#include "scaling_statistics.hpp"

#include <cmath>
#include <limits>

namespace headroom::fit {
namespace {

constexpr double hopeless = 1e100; ///< a residual where the curve has no value

std::vector<int> free_columns(Curve const& curve, Mask const& fixed) {
    std::vector<int> columns;
    for (int j = 0; j < curve.size(); ++j) {
        if (!fixed[static_cast<std::size_t>(j)]) { columns.push_back(j); }
    }
    return columns;
}

/// A curve as a function of its free coefficients alone, each measured by how much it moves the curve at the start, so
/// that a step is as long as it changes the curve.
class FreeCoefficients {
public:
    FreeCoefficients(Curve const& curve, std::span<ScalingSample const> samples, std::vector<int> const& columns,
                     Coefficients const& start)
        : curve_{curve}, samples_{samples}, columns_{columns}, base_{start} {
        Matrix const jacobian = weighted_jacobian(curve, samples, start, columns);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            double const length = norm(jacobian.column(j));
            scale_.push_back(length > 0.0 && std::isfinite(1.0 / length) ? 1.0 / length : 1.0);
        }
    }

    [[nodiscard]] std::vector<double> start() const {
        std::vector<double> z;
        for (std::size_t j = 0; j < scale_.size(); ++j) { z.push_back(base_[place(j)] / scale_[j]); }
        return z;
    }
    [[nodiscard]] Coefficients with(std::span<double const> z) const {
        Coefficients c = base_;
        for (std::size_t j = 0; j < scale_.size(); ++j) { c[place(j)] = z[j] * scale_[j]; }
        return c;
    }
    [[nodiscard]] Residuals residuals() const {
        return {.count = samples_.size(),
                .values = [this](std::span<double const> z, std::span<double> r) { fill(z, r); },
                .slopes = [this](std::span<double const> z, Matrix& jacobian) { differentiate(z, jacobian); }};
    }

private:
    [[nodiscard]] std::size_t place(std::size_t j) const { return static_cast<std::size_t>(columns_[j]); }

    void fill(std::span<double const> z, std::span<double> r) const {
        Coefficients const c = with(z);
        Coefficients gradient{};
        for (std::size_t i = 0; i < r.size(); ++i) {
            double const error = curve_.at(samples_[i].workers, c, gradient) - samples_[i].value;
            r[i] = std::isfinite(error) ? std::sqrt(samples_[i].weight) * error : hopeless;
        }
    }
    void differentiate(std::span<double const> z, Matrix& jacobian) const {
        jacobian = weighted_jacobian(curve_, samples_, with(z), columns_);
        for (std::size_t j = 0; j < scale_.size(); ++j) {
            for (double& slope : jacobian.column(j)) { slope *= scale_[j]; }
        }
    }

    Curve const& curve_;
    std::span<ScalingSample const> samples_;
    std::vector<int> const& columns_;
    Coefficients base_;
    std::vector<double> scale_ = {};
};

/// Whether the residuals stand at right angles on every derivative that moves the curve at all; `size` is the length of
/// the vector of values.
bool stationary(Residuals const& residuals, std::span<double const> z, double size) {
    std::vector<double> r(residuals.count);
    Matrix jacobian{residuals.count, z.size()};
    residuals.values(z, r);
    residuals.slopes(z, jacobian);
    double const length = norm(r);
    for (std::size_t j = 0; j < z.size(); ++j) {
        double const column = norm(jacobian.column(j));
        bool const moves = column * std::abs(z[j]) > 1e-13 * size;
        bool const slopes = std::abs(dot(jacobian.column(j), r)) > 1e-6 * column * length;
        if (moves && slopes && length > 1e-12 * size) { return false; }
    }
    return true;
}

/// Steps until the point is stationary: a stop in a narrow valley begins again with little damping.
bool walk(Residuals const& residuals, std::vector<double>& z, double size) {
    for (int round = 0; round < 6; ++round) {
        z = least_squares(residuals, std::move(z), {.iterations = 200, .shift = 1e-9 * size}).z;
        if (stationary(residuals, z, size)) { return true; }
    }
    return false;
}

/// Without bounds, from one start.
Solution descend(Curve const& curve, std::span<ScalingSample const> samples, Coefficients const& start,
                 std::vector<int> const& columns) {
    FreeCoefficients const coefficients{curve, samples, columns, start};
    std::vector<double> z = coefficients.start();
    Solution solution;
    if (!columns.empty() && samples.size() >= columns.size()) {
        Residuals const residuals = coefficients.residuals();
        if (!curve.linear()) {
            double const values = mean_square_of(samples) * static_cast<double>(samples.size());
            solution.settled = walk(residuals, z, std::sqrt(values));
        }
        std::vector<double> better = polished(residuals, z);
        double const rough = residual_sum(curve, samples, coefficients.with(z));
        if (residual_sum(curve, samples, coefficients.with(better)) <= rough * (1.0 + 1e-9)) { z = std::move(better); }
    }
    solution.c = coefficients.with(z);
    solution.rss = residual_sum(curve, samples, solution.c);
    solution.found = std::isfinite(solution.rss) && solution.rss < hopeless;
    return solution;
}

bool inside(Curve const& curve, Coefficients const& c) {
    for (std::size_t j = 0; j < curve.law->coefficients.size(); ++j) {
        LawCoefficient const& bounds = curve.law->coefficients[j];
        if (!(c[j] >= bounds.low && c[j] <= bounds.high)) { return false; }
    }
    return true;
}

/// Keeps the better solution, of equals the first: a coefficient that no measurement determines keeps its first
/// starting value.
void keep_better(Solution& best, Solution const& other) {
    constexpr double rounding = 1e-13;
    if (other.found && (!best.found || other.rss < best.rss * (1.0 - rounding))) { best = other; }
}

/// One way of holding coefficients at their bounds.
struct Face {
    Mask held{};
    Coefficients at{};
};

/// Every way but the empty one.
std::vector<Face> faces(Curve const& curve, std::vector<int> const& columns) {
    std::vector<Face> all{Face{}};
    for (int const column : columns) {
        auto const j = static_cast<std::size_t>(column);
        LawCoefficient const& bounds = curve.law->coefficients[j];
        std::size_t const before = all.size();
        for (double const bound : {bounds.low, bounds.high}) {
            if (!std::isfinite(bound)) { continue; }
            for (std::size_t f = 0; f < before; ++f) {
                Face face = all[f];
                face.held[j] = true;
                face.at[j] = bound;
                all.push_back(face);
            }
        }
    }
    all.erase(all.begin());
    return all;
}

Solution descend_on(Face const& face, Curve const& curve, std::span<ScalingSample const> samples,
                    std::span<Coefficients const> starts, std::vector<int> const& columns) {
    std::vector<int> rest;
    for (int const column : columns) {
        if (!face.held[static_cast<std::size_t>(column)]) { rest.push_back(column); }
    }
    Solution best;
    for (Coefficients start : starts) {
        for (std::size_t j = 0; j < start.size(); ++j) {
            if (face.held[j]) { start[j] = face.at[j]; }
        }
        Solution const found = descend(curve, samples, start, rest);
        if (inside(curve, found.c)) { keep_better(best, found); }
    }
    best.at_bound = face.held;
    return best;
}

} // namespace

bool Curve::turned() const {
    if (law->gives == Gives::rate) { return !is_rate(measured); }
    return law->gives == Gives::time && is_rate(measured);
}

bool Curve::linear() const { return law->gives != Gives::rate && !turned(); }

double Curve::at(double workers, Coefficients const& c, Coefficients& gradient) const {
    double const own = law->curve(workers, c, gradient, term);
    if (!turned()) { return own; }
    double const value = work(workers) / own, slope = -value / own;
    for (double& derivative : gradient) { derivative *= slope; }
    return value;
}

std::vector<Coefficients> Curve::starts(std::span<ScalingSample const> samples) const {
    std::vector<ScalingSample> own = means_of(samples);
    for (ScalingSample& sample : own) {
        if (!turned()) { continue; }
        double const value = work(sample.workers) / sample.value, slope = value / sample.value;
        sample.value = value;
        sample.weight /= slope * slope;
    }
    return law->starts(own);
}

double residual_sum(Curve const& curve, std::span<ScalingSample const> samples, Coefficients const& c) {
    Coefficients gradient{};
    double sum = 0.0;
    for (ScalingSample const& sample : samples) {
        double const error = curve.at(sample.workers, c, gradient) - sample.value;
        sum += sample.weight * error * error;
    }
    return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
}

Solution solve(Curve const& curve, std::span<ScalingSample const> samples, std::span<Coefficients const> starts,
               Mask const& fixed) {
    std::vector<int> const columns = free_columns(curve, fixed);
    Solution best, outside;
    for (Coefficients const& start : starts) {
        Solution const found = descend(curve, samples, start, columns);
        keep_better(inside(curve, found.c) ? best : outside, found);
    }
    if (best.found && best.settled && (!outside.found || best.rss <= outside.rss)) { return best; }
    for (Face const& face : faces(curve, columns)) {
        keep_better(best, descend_on(face, curve, samples, starts, columns));
    }
    return best;
}

Matrix weighted_jacobian(Curve const& curve, std::span<ScalingSample const> samples, Coefficients const& c,
                         std::vector<int> const& columns) {
    Matrix jacobian{samples.size(), columns.size()};
    Coefficients gradient{};
    for (std::size_t i = 0; i < samples.size(); ++i) {
        curve.at(samples[i].workers, c, gradient);
        double const root = std::sqrt(samples[i].weight);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            double const slope = root * gradient[static_cast<std::size_t>(columns[j])];
            jacobian(i, j) = std::isfinite(slope) ? slope : 0.0;
        }
    }
    return jacobian;
}

} // namespace headroom::fit
