#pragma once

namespace headroom {

/// P(Binomial(n, p) <= k) for whole n and k, with p and 1 - p each to its own last digit.
///
/// The probability of k, or of k + 1, and the ratios of neighbours summed away from the middle: all terms are positive.
/// Holds for: n up to 2^53; sqrt(n) terms at most count.
/// Source:    [Loader2000] (one probability, without loss for great n)
double binomial_up_to(double k, double n, double p, double not_p);

/// P(none of m marked ones is among k that are drawn of n without replacement): C(n - m, k) / C(n, k).
///
/// To 1e-10, however great n. Source: [DavidNagaraja2003]
double none_drawn(double m, double k, double n);

} // namespace headroom
