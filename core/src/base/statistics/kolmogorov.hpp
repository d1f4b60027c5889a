#pragma once

namespace headroom {

/// P(sup |B| > x) of a Brownian bridge B on [0, 1]:
///
///     2 sum_k (-1)^(k-1) exp(-2 k^2 x^2)
///
/// Source: [Pettitt1979]
double beyond_brownian_bridge(double x);

} // namespace headroom
