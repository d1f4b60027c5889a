#include "decimal.hpp"
#include "units.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace headroom {
namespace {

using namespace units_of_text;

/// Fixed notation without trailing zeros.
std::string written(Decimal number, int digits) {
    std::string text = fixed(number, digits);
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') { text.pop_back(); }
    }
    return text;
}

/// A number and the largest unit of the ladder that leaves it, as rounded, at 1 or above.
struct Placed {
    std::string number;
    std::string_view symbol;
};

Placed placed(double base, std::span<TextUnit const> ladder, std::string_view zero, int digits) {
    digits = std::clamp(digits, 1, 17);
    if (!std::isfinite(base)) { return {std::isnan(base) ? "nan" : base > 0.0 ? "inf" : "-inf", zero}; }
    if (base == 0.0) { return {"0", zero}; }
    Decimal number;
    std::string_view symbol;
    for (std::size_t i = ladder.size(); i-- > 0;) {
        TextUnit const& unit = ladder[i];
        number = rounded(base * unit.down / unit.up, digits);
        symbol = unit.symbol;
        if (std::abs(number.value) >= 1.0) { break; }
        if (i > 0) { // 59.96 s is 60 s to three digits, and that is 1 min, although 0.99933 min is not
            TextUnit const& below = ladder[i - 1];
            Decimal const lower = rounded(base * below.down / below.up, digits);
            double const ratio = unit.up / unit.down / (below.up / below.down);
            if (std::abs(lower.value) >= ratio) {
                number = rounded(lower.value / ratio, digits);
                break;
            }
        }
    }
    return {written(number, digits), symbol};
}

} // namespace

std::string format_base(double base, Dimension dimension, int digits) {
    Reading const* const reading = reading_of(dimension);
    if (reading != nullptr) {
        auto const [number, symbol] = placed(base, reading->ladder, reading->zero, digits);
        return number + " " + std::string{symbol};
    }
    std::string const number = placed(base, std::span{count_ladder}.first(1), "", digits).number;
    std::string const unit = plain_unit(dimension);
    return unit.empty() ? number : number + " " + unit;
}

std::string format_binary(Bytes size, int digits) {
    auto const [number, symbol] = placed(size.base(), binary_ladder, "B", digits);
    return number + " " + std::string{symbol};
}

std::string format_count(double count, int digits) {
    auto const [number, symbol] = placed(count, count_ladder, "", digits);
    return number + std::string{symbol};
}

} // namespace headroom
