#pragma once

// Least squares: the one solver of every fit, and the only door to the linear algebra that it stands on.

#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace headroom::fit {

/// Dense matrix, column after column.
class Matrix {
public:
    Matrix(std::size_t rows, std::size_t columns) : rows_{rows}, columns_{columns}, values_(rows * columns) {}

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] std::size_t columns() const { return columns_; }
    double& operator()(std::size_t i, std::size_t j) { return values_[j * rows_ + i]; }
    double operator()(std::size_t i, std::size_t j) const { return values_[j * rows_ + i]; }
    [[nodiscard]] std::span<double> column(std::size_t j) { return std::span{values_}.subspan(j * rows_, rows_); }
    [[nodiscard]] std::span<double const> column(std::size_t j) const {
        return std::span{values_}.subspan(j * rows_, rows_);
    }

private:
    std::size_t rows_, columns_;
    std::vector<double> values_;
};

/// a' b
double dot(std::span<double const> a, std::span<double const> b);

/// Euclidean length.
inline double norm(std::span<double const> a) { return std::sqrt(dot(a, a)); }

/// a' M b
double dot(std::span<double const> a, Matrix const& m, std::span<double const> b);

/// The x with the least |A x - b|, columns scaled to length 1; a column that depends on others gets 0.
std::vector<double> linear_least_squares(Matrix const& a, std::span<double const> b);

/// (J' J)^-1; empty where the rows do not tell the columns apart.
std::optional<Matrix> inverse_information(Matrix const& jacobian);

/// Residuals r(z), whose sum of squares is to be minimised, and their derivatives.
struct Residuals {
    std::size_t count = 0;
    std::function<void(std::span<double const> z, std::span<double> r)> values;
    std::function<void(std::span<double const> z, Matrix& jacobian)> slopes = {}; ///< empty: central differences
};

/// When to stop: after so many steps, or one that moves no parameter farther.
struct Patience {
    int iterations = 60;
    double shift = 1e-9;
    double step = 1e-4; ///< of the differences; a wide one sees over the kinks that maxima have
    int threads = 1;    ///< that make differences; the result does not depend on it
    std::stop_token stop = {};
};

/// Derivatives of the residuals by z: central differences. Columns are independent, so the result does not depend on the
/// threads. Errors: Interrupted once a stop was requested.
Matrix differences(Residuals const& residuals, std::span<double const> z, Patience const& patience);

struct LeastSquares {
    std::vector<double> z;
    Matrix jacobian; ///< there
};

/// Levenberg-Marquardt from `z`: each step is the least |r + J s|^2 + damping |D s|^2, D the lengths of J's columns.
/// Deterministic. Errors: Interrupted once a stop was requested. Source: [More1978]
LeastSquares least_squares(Residuals const& residuals, std::vector<double> z, Patience const& patience = {});

/// Full Gauss-Newton steps as long as they shrink: Levenberg-Marquardt ends where the sum of squares no longer tells
/// two points apart, which is half of the digits; the gradient still does.
std::vector<double> polished(Residuals const& residuals, std::vector<double> z);

/// Signed square root of the pseudo-Huber loss 2 d^2 (sqrt(1 + e^2/d^2) - 1): quadratic near zero, linear beyond d.
/// Source: [HollandWelsch1977]
inline double robust(double e, double d) {
    return std::copysign(std::sqrt(2.0 * d * d * (std::sqrt(1.0 + e * e / (d * d)) - 1.0)), e);
}

/// Derivative of `robust` by e: e / (robust(e) sqrt(1 + e^2/d^2)), 1 at zero.
inline double robust_slope(double e, double d) {
    return e == 0.0 ? 1.0 : e / (robust(e, d) * std::sqrt(1.0 + e * e / (d * d)));
}

} // namespace headroom::fit
