#pragma once

#include <cstdint>

namespace headroom::serving::queueing {

/// Sums over i = 0 .. count-1 of x^i, i x^i and i^2 x^i, and x^count, for x in [0, 1].
///
/// By doubling: the sum of twice as many is that of the first half and the first half's, shifted. All terms are above
/// zero, so that nothing cancels, however near x is to 1; and a billion terms are thirty steps.
struct GeometricSums {
    double plain = 0.0, first = 0.0, second = 0.0, power = 1.0;
};

inline GeometricSums joined(GeometricSums const& a, double a_count, GeometricSums const& b) {
    return {.plain = a.plain + a.power * b.plain,
            .first = a.first + a.power * (b.first + a_count * b.plain),
            .second = a.second + a.power * (b.second + 2.0 * a_count * b.first + a_count * a_count * b.plain),
            .power = a.power * b.power};
}

inline GeometricSums geometric_sums(double x, std::int64_t count) {
    GeometricSums sums, piece{.plain = 1.0, .power = x}; // of none, and of 1, 2, 4 ... terms
    double have = 0.0, length = 1.0;
    for (; count > 0; count /= 2) {
        if (count % 2 != 0) {
            sums = joined(sums, have, piece);
            have += length;
        }
        piece = joined(piece, length, piece);
        length *= 2.0;
    }
    return sums;
}

} // namespace headroom::serving::queueing
