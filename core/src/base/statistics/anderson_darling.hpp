#pragma once

namespace headroom {

/// P(A^2 > x) of Anderson and Darling's statistic of many samples: of sum_j Z_j^2 / (j (j + 1)), Z_j standard normal.
/// To ten digits, also where it is small.
/// Source: [AndersonDarling1952]
double beyond_anderson_darling(double x);

/// Standard deviation of that sum: sqrt(2 sum_j 1 / (j (j + 1))^2) = sqrt(2 pi^2 / 3 - 6).
double anderson_darling_deviation();

} // namespace headroom
