#pragma once

namespace headroom {

/// P(Z > x) of a standard normal Z.
double normal_beyond(double x);

/// ln of the density of a standard normal Z.
double log_normal_density(double x);

/// x with P(Z > x) = `share`, for shares in (0, 1).
double normal_exceeded_by(double share);

} // namespace headroom
