#pragma once

#include <Eigen/Dense>

#include <cmath>
#include <functional>

namespace headroom::fit {

/// r(z), of which the sum of squares is sought to be least.
using Residuals = std::function<Eigen::VectorXd(Eigen::VectorXd const&)>;

/// Central differences, column by column; columns are independent, so the answer does not depend on the threads.
Eigen::MatrixXd jacobian_of(Residuals const& residuals, Eigen::VectorXd const& z, double step, int threads);

struct LeastSquares {
    Eigen::VectorXd z;
    Eigen::MatrixXd jacobian; ///< there
};

/// When to stop: after so many steps, or one that moves no parameter farther.
struct Patience {
    int iterations = 60;
    double shift = 1e-9;
    double step = 1e-4; ///< of the differences; a wide one sees over the kinks that maxima have
    int threads = 1;
};

/// Levenberg-Marquardt from `z`, with the damping scaled by the normal equations. Deterministic. Source: [More1978]
LeastSquares least_squares(Residuals const& residuals, Eigen::VectorXd z, Patience const& patience);

/// Signed square root of the pseudo-Huber loss 2 d^2 (sqrt(1 + e^2/d^2) - 1): quadratic near zero, linear beyond d.
/// Source: [HollandWelsch1977]
inline double robust(double e, double d) {
    return std::copysign(std::sqrt(2.0 * d * d * (std::sqrt(1.0 + e * e / (d * d)) - 1.0)), e);
}

} // namespace headroom::fit
