#pragma once

namespace headroom {

/// P(X > x) of a standard normal X.
double normal_above(double x);

/// x with P(X > x) = `tail`, for 0 < tail <= 1/2, to the last digits however small.
double normal_quantile_above(double tail);

/// ln of the standard normal density.
double log_normal_density(double x);

} // namespace headroom
