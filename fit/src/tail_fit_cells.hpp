#pragma once

#include "headroom/fit/tail_fit.hpp"
#include "headroom/serving/latency_histogram.hpp"

#include <optional>
#include <span>
#include <vector>

namespace headroom::fit {

/// Values of two coefficients.
struct Pair {
    double a = 0.0, b = 0.0;
    [[nodiscard]] double dot(Pair other) const { return a * other.a + b * other.b; }
};

/// A symmetric matrix over two coefficients.
struct PairMatrix {
    double aa = 0.0, ab = 0.0, bb = 0.0;
    [[nodiscard]] Pair operator*(Pair x) const { return {aa * x.a + ab * x.b, ab * x.a + bb * x.b}; }
    [[nodiscard]] PairMatrix inverse() const {
        double const over = 1.0 / (aa * bb - ab * ab);
        return {bb * over, -ab * over, aa * over};
    }
};

/// A cell of a histogram that holds something.
struct FilledCell {
    double low = 0.0, high = 0.0;
    double count = 0.0;
    double from = 0.0; ///< samples in it and above it
};
std::vector<FilledCell> cells_of(serving::LatencyHistogram const& samples);

/// -2 ln L + 2k + 2k(k+1)/(n-k-1) of two coefficients. Source: [HurvichTsai1989]
double aicc_of(double log_likelihood, double samples);

/// Largest |F(x) - seen share| at the edges of cells, of the samples beyond a threshold where there is one.
double distance_of(serving::TailDistribution const& distribution, std::span<FilledCell const> cells);

/// Largest |fitted / seen - 1| over the quantiles 0.9, 0.99, ... with `fewest_beyond` samples beyond.
double tail_error_of(serving::TailDistribution const& distribution, serving::LatencyHistogram const& samples);

/// A family that is a location and a scale of x or of ln x: normal, lognormal, Weibull. Nothing where the likelihood has
/// no greatest value. Source: [Burridge1981]
std::optional<serving::TailFit> fit_location(serving::TailFamily family, std::span<FilledCell const> cells);

/// Generalised Pareto tail of greatest likelihood over `cells`, all from a threshold on.
/// Source: [Grimshaw1993]
struct ParetoFit {
    double scale = 0.0, shape = 0.0;
    PairMatrix covariance; ///< of the logarithm of the scale, and of the shape
    double log_likelihood = 0.0;
};
std::optional<ParetoFit> fit_pareto(std::span<FilledCell const> cells);

/// Anderson and Darling's A^2 of a Pareto tail from the first cell's low edge on: n times the integral of
/// (seen - F)^2 / (F (1 - F)) dF, samples spread evenly over what their cell holds of F.
double anderson_darling(std::span<FilledCell const> cells, ParetoFit const& fit);

/// P(A^2 as great or greater) where both coefficients were fitted. Source: [ChoulakianStephens2001]
double anderson_darling_probability(double statistic, double shape);

} // namespace headroom::fit
