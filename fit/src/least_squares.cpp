#include "least_squares.hpp"

#include "headroom/interrupt.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

namespace headroom::fit {
namespace {

using Vector = Eigen::VectorXd;

Eigen::Map<Eigen::MatrixXd const> eigen_of(Matrix const& matrix) {
    return {matrix.column(0).data(), static_cast<Eigen::Index>(matrix.rows()),
            static_cast<Eigen::Index>(matrix.columns())};
}
Eigen::Map<Vector const> eigen_of(std::span<double const> values) {
    return {values.data(), static_cast<Eigen::Index>(values.size())};
}

std::vector<double> values_of(Vector const& vector) { return {vector.begin(), vector.end()}; }

/// A matrix by its columns of length 1, and the lengths that they had.
struct Scaled {
    Vector lengths;
    Eigen::MatrixXd columns;

    explicit Scaled(Matrix const& matrix)
        : lengths{eigen_of(matrix).colwise().norm().cwiseMax(std::numeric_limits<double>::min())},
          columns{eigen_of(matrix) * lengths.cwiseInverse().asDiagonal()} {}
};

std::vector<double> values_at(Residuals const& residuals, std::span<double const> z) {
    std::vector<double> r(residuals.count);
    residuals.values(z, r);
    return r;
}

Matrix jacobian_at(Residuals const& residuals, std::span<double const> z, Patience const& patience) {
    if (!residuals.slopes) { return differences(residuals, z, patience); }
    Matrix jacobian{residuals.count, z.size()};
    residuals.slopes(z, jacobian);
    return jacobian;
}

/// The step of least squares with sqrt(damping) times the identity below the scaled columns.
Vector damped_step(Scaled const& scaled, std::span<double const> r, double damping) {
    Eigen::Index const rows = scaled.columns.rows(), columns = scaled.columns.cols();
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(rows + columns, columns);
    a.topRows(rows) = scaled.columns;
    a.bottomRows(columns).diagonal().setConstant(std::sqrt(damping));
    Vector b = Vector::Zero(rows + columns);
    b.head(rows) = -eigen_of(r);
    return a.householderQr().solve(b).cwiseQuotient(scaled.lengths);
}

} // namespace

Matrix differences(Residuals const& residuals, std::span<double const> z, Patience const& patience) {
    Matrix jacobian{residuals.count, z.size()};
    std::atomic<std::size_t> next{0};
    auto const work = [&] {
        for (std::size_t j = next++; j < z.size() && !patience.stop.stop_requested(); j = next++) {
            std::vector<double> above(z.begin(), z.end()), below = above;
            above[j] += patience.step;
            below[j] -= patience.step;
            auto const high = values_at(residuals, above), low = values_at(residuals, below);
            std::ranges::transform(high, low, jacobian.column(j).begin(),
                                   [&](double h, double l) { return (h - l) / (2.0 * patience.step); });
        }
    };
    auto const threads = static_cast<std::size_t>(std::max(1, patience.threads));
    {
        std::vector<std::jthread> others;
        try {
            for (std::size_t t = 1; t < threads; ++t) { others.emplace_back(work); }
        } catch (std::system_error const&) {} // no more threads are to be had: fewer do all of it
        work();
    }
    keep_on(patience.stop);
    return jacobian;
}

double dot(std::span<double const> a, std::span<double const> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double dot(std::span<double const> a, Matrix const& m, std::span<double const> b) {
    double sum = 0.0;
    for (std::size_t j = 0; j < m.columns(); ++j) { sum += dot(a, m.column(j)) * b[j]; }
    return sum;
}

std::vector<double> linear_least_squares(Matrix const& a, std::span<double const> b) {
    Scaled const scaled{a};
    return values_of(scaled.columns.colPivHouseholderQr().solve(eigen_of(b)).cwiseQuotient(scaled.lengths));
}

std::optional<Matrix> inverse_information(Matrix const& jacobian) {
    if (jacobian.columns() == 0) { return std::nullopt; } // Eigen has no factorisation of it
    Scaled const scaled{jacobian};
    Eigen::Index const n = scaled.columns.cols();
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scaled.columns);
    qr.setThreshold(1e-10);
    if (qr.rank() < n) { return std::nullopt; }
    Eigen::MatrixXd const r = qr.matrixR().topLeftCorner(n, n).triangularView<Eigen::Upper>();
    Eigen::MatrixXd const inverse = r.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(n, n));
    Eigen::MatrixXd const root = scaled.lengths.cwiseInverse().asDiagonal() * (qr.colsPermutation() * inverse);
    Matrix result{jacobian.columns(), jacobian.columns()};
    for (std::size_t j = 0; j < result.columns(); ++j) {
        std::ranges::copy(values_of(root * root.row(static_cast<Eigen::Index>(j)).transpose()),
                          result.column(j).begin());
    }
    return result;
}

LeastSquares least_squares(Residuals const& residuals, std::vector<double> z, Patience const& patience) {
    constexpr double little_damping = 1e-3;
    double damping = little_damping;
    std::vector<double> r = values_at(residuals, z);
    double cost = dot(r, r);
    Matrix jacobian = jacobian_at(residuals, z, patience);
    for (int iteration = 0; iteration < patience.iterations; ++iteration) {
        Scaled const scaled{jacobian};
        bool improved = false;
        double shift = 0.0;
        bool held_back = false; // by damping: a short step says nothing of how far the least is
        while (!improved && damping < 1e8) {
            keep_on(patience.stop);
            Vector const step = damped_step(scaled, r, damping);
            std::vector<double> trial = values_of(eigen_of(z) + step);
            std::vector<double> trial_r = values_at(residuals, trial);
            double const trial_cost = dot(trial_r, trial_r);
            improved = trial_cost < cost;
            if (!improved) {
                damping *= 4.0;
                continue;
            }
            shift = step.cwiseAbs().maxCoeff();
            held_back = damping > little_damping;
            z = std::move(trial);
            r = std::move(trial_r);
            cost = trial_cost;
            damping = std::max(damping * 0.2, 1e-9);
        }
        if (!improved || (shift < patience.shift && !held_back)) { break; }
        jacobian = jacobian_at(residuals, z, patience);
    }
    return {std::move(z), std::move(jacobian)};
}

std::vector<double> polished(Residuals const& residuals, std::vector<double> z) {
    double before = std::numeric_limits<double>::infinity();
    for (int step = 0; step < 30 && before > 0.0; ++step) {
        Matrix const jacobian = jacobian_at(residuals, z, {});
        std::vector<double> const delta = linear_least_squares(jacobian, values_at(residuals, z));
        double length = 0.0; // of the change of the residuals, column by column
        for (std::size_t j = 0; j < z.size(); ++j) { length = std::hypot(length, delta[j] * norm(jacobian.column(j))); }
        if (!(length < 0.5 * before)) { break; } // neither NaN nor a step that does not shrink
        for (std::size_t j = 0; j < z.size(); ++j) { z[j] -= delta[j]; }
        before = length;
    }
    return z;
}

} // namespace headroom::fit
