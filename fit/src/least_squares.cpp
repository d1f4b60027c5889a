#include "least_squares.hpp"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

namespace headroom::fit {

Eigen::MatrixXd jacobian_of(Residuals const& residuals, Eigen::VectorXd const& z, double step, int threads) {
    std::vector<Eigen::VectorXd> columns(static_cast<std::size_t>(z.size()));
    auto const work = [&](Eigen::Index first, int stride) {
        for (Eigen::Index i = first; i < z.size(); i += stride) {
            Eigen::VectorXd above = z, below = z;
            above[i] += step;
            below[i] -= step;
            columns[static_cast<std::size_t>(i)] = (residuals(above) - residuals(below)) / (2.0 * step);
        }
    };
    std::vector<std::jthread> others;
    for (int t = 1; t < threads; ++t) { others.emplace_back(work, t, threads); }
    work(0, std::max(1, threads));
    others.clear();
    Eigen::MatrixXd jacobian(columns.empty() ? 0 : columns.front().size(), z.size());
    for (Eigen::Index i = 0; i < z.size(); ++i) { jacobian.col(i) = columns[static_cast<std::size_t>(i)]; }
    return jacobian;
}

LeastSquares least_squares(Residuals const& residuals, Eigen::VectorXd z, Patience const& patience) {
    constexpr double little_damping = 1e-3;
    double damping = little_damping;
    Eigen::VectorXd r = residuals(z);
    double cost = r.squaredNorm();
    Eigen::MatrixXd j = jacobian_of(residuals, z, patience.step, patience.threads);
    for (int iteration = 0; iteration < patience.iterations; ++iteration) {
        Eigen::MatrixXd const normal = j.transpose() * j;
        Eigen::VectorXd const gradient = j.transpose() * r;
        bool improved = false;
        double shift = 0.0;
        bool held_back = false; // by damping: a short step says nothing of how far the least is
        while (damping < 1e8) {
            Eigen::MatrixXd damped = normal;
            damped.diagonal() += damping * normal.diagonal();
            Eigen::VectorXd const step = damped.ldlt().solve(-gradient);
            Eigen::VectorXd trial = z + step;
            Eigen::VectorXd trial_r = residuals(trial);
            if (trial_r.squaredNorm() < cost) {
                shift = step.cwiseAbs().maxCoeff();
                held_back = damping > little_damping;
                z = std::move(trial);
                r = std::move(trial_r);
                cost = r.squaredNorm();
                damping = std::max(damping * 0.2, 1e-9);
                improved = true;
                break;
            }
            damping *= 4.0;
        }
        if (!improved || (shift < patience.shift && !held_back)) { break; }
        j = jacobian_of(residuals, z, patience.step, patience.threads);
    }
    return {z, j};
}

} // namespace headroom::fit
