#include "scaling_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/NonLinearOptimization>

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

/// The residuals as MINPACK wants them: a function of the free coefficients alone.
class Residuals {
public:
    using Scalar = double;
    Residuals(Curve const& curve, std::span<ScalingSample const> samples, std::vector<int> const& columns)
        : curve_{curve}, samples_{samples}, columns_{columns} {}

    Coefficients base{};

    /// Measures each coefficient by how much it moves the curve at `base`: Eigen's pivoting takes a column for zero
    /// that is 1e-16 of another, and a rate of 1e-15 beside a share of 0.1 is that.
    void rescale() {
        scale_ = weighted_jacobian(curve_, samples_, base, columns_).colwise().norm().cwiseInverse();
        for (double& one : scale_) { one = std::isfinite(one) ? one : 1.0; }
    }
    [[nodiscard]] Eigen::VectorXd start() const {
        Eigen::VectorXd x(static_cast<Eigen::Index>(columns_.size()));
        for (std::size_t j = 0; j < columns_.size(); ++j) {
            auto const at = static_cast<Eigen::Index>(j);
            x[at] = base[static_cast<std::size_t>(columns_[j])] / scale_[at];
        }
        return x;
    }

    [[nodiscard]] Eigen::Index values() const { return static_cast<Eigen::Index>(samples_.size()); }

    [[nodiscard]] Coefficients with(Eigen::VectorXd const& x) const {
        Coefficients c = base;
        for (std::size_t j = 0; j < columns_.size(); ++j) {
            auto const at = static_cast<Eigen::Index>(j);
            c[static_cast<std::size_t>(columns_[j])] = x[at] * scale_[at];
        }
        return c;
    }

    /// Of the values themselves.
    [[nodiscard]] double size() const {
        double sum = 0.0;
        for (ScalingSample const& sample : samples_) { sum += sample.weight * sample.value * sample.value; }
        return std::sqrt(sum);
    }

    int operator()(Eigen::VectorXd const& x, Eigen::VectorXd& residuals) const {
        Coefficients const c = with(x);
        Coefficients gradient{};
        for (Eigen::Index i = 0; i < values(); ++i) {
            ScalingSample const& sample = samples_[static_cast<std::size_t>(i)];
            double const error = curve_.at(sample.workers, c, gradient) - sample.value;
            residuals[i] = std::isfinite(error) ? std::sqrt(sample.weight) * error : hopeless;
        }
        return 0;
    }

    int df(Eigen::VectorXd const& x, Eigen::MatrixXd& jacobian) const {
        jacobian = weighted_jacobian(curve_, samples_, with(x), columns_) * scale_.asDiagonal();
        return 0;
    }

private:
    Curve const& curve_;
    std::span<ScalingSample const> samples_;
    std::vector<int> const& columns_;
    Eigen::VectorXd scale_ = {};
};

/// Full Gauss-Newton steps as long as they shrink: Levenberg-Marquardt ends where the sum of squares no longer tells
/// two points apart, which is half the digits; the gradient still does.
void polish(Residuals const& residuals, Eigen::VectorXd& x) {
    double before = std::numeric_limits<double>::infinity();
    Eigen::VectorXd r(residuals.values());
    Eigen::MatrixXd j;
    for (int step = 0; step < 30; ++step) {
        residuals(x, r);
        residuals.df(x, j);
        Eigen::VectorXd const scale = j.colwise().norm().cwiseMax(std::numeric_limits<double>::min());
        j *= scale.cwiseInverse().asDiagonal();
        Eigen::VectorXd const delta = j.colPivHouseholderQr().solve(r).cwiseQuotient(scale);
        double const length = delta.cwiseProduct(scale).norm();
        if (!(length < 0.5 * before)) { return; } // neither NaN nor a step that does not shrink
        x -= delta;
        before = length;
        if (length == 0.0) { return; }
    }
}

/// Whether the residuals stand at right angles on every derivative that moves the curve at all.
bool stationary(Residuals const& residuals, Eigen::VectorXd const& x) {
    Eigen::VectorXd r(residuals.values());
    Eigen::MatrixXd j;
    residuals(x, r);
    residuals.df(x, j);
    double const norm = r.norm(), size = residuals.size();
    for (Eigen::Index k = 0; k < x.size(); ++k) {
        double const column = j.col(k).norm();
        bool const moves = column * std::abs(x[k]) > 1e-13 * size;
        if (moves && std::abs(j.col(k).dot(r)) > 1e-6 * column * norm && norm > 1e-12 * size) { return false; }
    }
    return true;
}

/// Steps until the point is stationary: a stop in a narrow valley begins again with a fresh region of trust.
bool walk(Residuals const& residuals, Eigen::VectorXd& x) {
    for (int round = 0; round < 6; ++round) {
        Residuals own = residuals;
        Eigen::LevenbergMarquardt<Residuals, double> steps{own};
        steps.parameters.ftol = steps.parameters.xtol = 1e-14;
        steps.parameters.maxfev = 200;
        steps.minimize(x);
        if (stationary(residuals, x)) { return true; }
    }
    return false;
}

/// Without bounds, from one start.
Solution descend(Curve const& curve, std::span<ScalingSample const> samples, Coefficients const& start,
                 std::vector<int> const& columns) {
    Residuals residuals{curve, samples, columns};
    residuals.base = start;
    residuals.rescale();
    Eigen::VectorXd x = residuals.start();
    bool settled = true;
    if (!columns.empty() && samples.size() >= columns.size()) {
        if (!curve.linear()) { settled = walk(residuals, x); }
        Eigen::VectorXd const rough = x;
        polish(residuals, x);
        double const polished = residual_sum(curve, samples, residuals.with(x));
        if (!(polished <= residual_sum(curve, samples, residuals.with(rough)) * (1.0 + 1e-9))) { x = rough; }
    }
    Solution solution{.c = residuals.with(x)};
    solution.settled = settled;
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

/// Of equals the first stays: a coefficient that no measurement speaks of keeps its first starting value.
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

Eigen::MatrixXd weighted_jacobian(Curve const& curve, std::span<ScalingSample const> samples, Coefficients const& c,
                                  std::vector<int> const& columns) {
    Eigen::MatrixXd jacobian(static_cast<Eigen::Index>(samples.size()), static_cast<Eigen::Index>(columns.size()));
    Coefficients gradient{};
    for (Eigen::Index i = 0; i < jacobian.rows(); ++i) {
        ScalingSample const& sample = samples[static_cast<std::size_t>(i)];
        curve.at(sample.workers, c, gradient);
        double const root = std::sqrt(sample.weight);
        for (Eigen::Index j = 0; j < jacobian.cols(); ++j) {
            double const slope = root * gradient[static_cast<std::size_t>(columns[static_cast<std::size_t>(j)])];
            jacobian(i, j) = std::isfinite(slope) ? slope : 0.0;
        }
    }
    return jacobian;
}

std::optional<Eigen::MatrixXd> inverse_information(Curve const& curve, std::span<ScalingSample const> samples,
                                                   Coefficients const& c, std::vector<int> const& columns) {
    Eigen::MatrixXd j = weighted_jacobian(curve, samples, c, columns);
    Eigen::VectorXd const scale = j.colwise().norm();
    if (columns.empty() || !(scale.minCoeff() > 0.0)) { return std::nullopt; }
    j *= scale.cwiseInverse().asDiagonal();
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(j);
    qr.setThreshold(1e-10);
    if (qr.rank() < j.cols()) { return std::nullopt; }
    Eigen::MatrixXd const r = qr.matrixR().topLeftCorner(j.cols(), j.cols()).triangularView<Eigen::Upper>();
    Eigen::MatrixXd const inverse =
        r.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(j.cols(), j.cols()));
    Eigen::MatrixXd const permuted = qr.colsPermutation() * inverse;
    return scale.cwiseInverse().asDiagonal() * (permuted * permuted.transpose()) * scale.cwiseInverse().asDiagonal();
}

} // namespace headroom::fit
