#pragma once

// Uncertainty of the coefficients and of the curve of a fitted law.

#include "scaling_solver.hpp"

#include <cstdint>

namespace headroom::fit {

/// A solved problem, and what its errors look like.
struct Solved {
    Curve curve;
    std::vector<ScalingSample> samples; ///< weights of mean 1
    std::vector<ScalingSample> points;  ///< their means, with the sums of their weights: the same problem, but for
    double within = 0.0;                ///< the sum of squares around the means, which no curve changes
    Solution solution;                  ///< of the points
    Mask fixed{};
    double relative = 0.0; ///< where errors are a share of the value: the weight of a measurement of 1; else 0
    int degrees_of_freedom = 0;
    double variance = 0.0; ///< of an error with weight 1

    [[nodiscard]] std::vector<int> columns(bool at_bounds_too) const;
    /// (J'J)^-1 over these; empty where the measurements do not tell the coefficients apart.
    [[nodiscard]] std::optional<Matrix> inverse_information(std::vector<int> const& columns) const;
    /// Derivatives of the curve at K by these coefficients.
    [[nodiscard]] std::vector<double> slope(double workers, std::vector<int> const& columns) const;
    /// Weight of one more measurement, the average of those that are there.
    [[nodiscard]] double weight_of(double value) const { return relative > 0.0 ? relative / (value * value) : 1.0; }
    /// Whether the errors are above the rounding of the values.
    [[nodiscard]] bool noisy() const;
};

struct Edges {
    std::optional<double> low, high;
};

/// Roots of the diagonal of (J'J)^-1 s^2 over the coefficients away from their bounds, by their place in the law; empty
/// elsewhere.
std::array<std::optional<double>, most_coefficients> standard_errors(Solved const& solved);

/// Values of one coefficient at which the refitted sum of squares has risen by s^2 t^2. A better minimum that turns up
/// on the way is written to `better`. Source: [BatesWatts1988]
Edges profile_edges(Solved const& solved, int coefficient, double t, Solution& better);

/// Values that the curve takes at K while the refitted sum of squares stays below its least plus s^2 t^2. Each point of
/// that profile is a fit with one more measurement at K, which pulls the curve. Source: [BatesWatts1988]
Edges curve_edges(Solved const& solved, double workers, double t);

/// Coefficients of refits to resampled measurements: the curve plus residuals (widened by sqrt(n / degrees of freedom)),
/// or the measurements themselves. Deterministic in the seed. Source: [EfronTibshirani1993]
std::vector<Coefficients> resampled(Solved const& solved, bool pairs, int resamples, std::uint64_t seed);

/// Residuals on the scale of weight 1, widened and centred as `resampled` draws them; sorted.
std::vector<double> drawn_residuals(Solved const& solved);

/// The edges that leave the same share on either side. `values` is not empty.
Edges percentile_edges(std::vector<double> values, double coverage);

} // namespace headroom::fit
