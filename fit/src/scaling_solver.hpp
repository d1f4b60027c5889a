#pragma once

// Least squares under bounds: the floor under every fit of a scaling law.

#include "least_squares.hpp"

#include "headroom/fit/scaling_fit.hpp"

#include <array>
#include <span>
#include <vector>

namespace headroom::fit {

/// p^(n/d) log2(p)^j.
double term_at(double workers, TermExponents const& term);

/// A law as a curve of what was measured: rates turned into times, or times into rates, where needed.
struct Curve {
    ScalingLaw const* law = nullptr;
    Measured measured = Measured::seconds;
    Scaling scaling = Scaling::unsaid;
    TermExponents term = {};

    [[nodiscard]] int size() const { return static_cast<int>(law->coefficients.size()); }
    [[nodiscard]] double work(double workers) const { return scaling == Scaling::weak ? workers : 1.0; }
    /// Whether the law's own value is work over what was measured.
    [[nodiscard]] bool turned() const;
    /// Whether the curve is a sum of its coefficients times known functions: one step of least squares solves it.
    [[nodiscard]] bool linear() const;
    double at(double workers, Coefficients const& c, Coefficients& gradient) const;
    /// Starting values from the measurements.
    [[nodiscard]] std::vector<Coefficients> starts(std::span<ScalingSample const> samples) const;
};

using Mask = std::array<bool, most_coefficients>;

struct Solution {
    Coefficients c{};
    double rss = 0.0;
    Mask at_bound{};
    bool found = false;
    bool settled = true; ///< the steps ended at a stationary point
};

/// sum w (y - f)^2.
double residual_sum(Curve const& curve, std::span<ScalingSample const> samples, Coefficients const& c);

/// The least sum of squares over the coefficients that are not fixed. Steps of `least_squares` know no bounds; where
/// they lead outside, every set of coefficients is tried at its bounds and the best point that stays inside is kept. Fixed coefficients keep the value that the starts give them. Source: [More1978]
Solution solve(Curve const& curve, std::span<ScalingSample const> samples, std::span<Coefficients const> starts,
               Mask const& fixed);

/// Weighted derivatives of the curve by the coefficients in `columns`, a row a sample.
Matrix weighted_jacobian(Curve const& curve, std::span<ScalingSample const> samples, Coefficients const& c,
                         std::vector<int> const& columns);

} // namespace headroom::fit
