#pragma once

#include <string>

namespace headroom {

/// A number rounded to some significant decimal digits, with its decimal exponent.
struct Decimal {
    double value = 0.0;
    int exponent = 0;
};

/// `value` to `digits` significant digits. Holds for: finite values.
Decimal rounded(double value, int digits);

/// In fixed notation with all `digits` significant digits: 0.0123, 1.60, 12300.
std::string fixed(Decimal number, int digits);

} // namespace headroom
