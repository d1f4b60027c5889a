#pragma once

namespace headroom::serving {

/// P(none of m marked ones is among k that are drawn of n without replacement): C(n - m, k) / C(n, k).
///
/// To 1e-10, however great the whole numbers n, m and k. Source: [DavidNagaraja2003]
double none_drawn(double m, double k, double n);

} // namespace headroom::serving
