#include "units.hpp"

#include <algorithm>

namespace headroom::units_of_text {

Reading const* reading_of(Dimension dimension) {
    auto const found = std::ranges::find(readings, dimension, &Reading::dimension);
    return found == readings.end() ? nullptr : &*found;
}

std::string plain_unit(Dimension dimension) {
    std::string text;
    auto const add = [&text](std::string_view base, int exponent) {
        if (exponent == 0) { return; }
        if (!text.empty()) { text += ' '; }
        text += base;
        if (exponent != 1) { text += "^" + std::to_string(exponent); }
    };
    add("B", dimension.bytes);
    add("FLOP", dimension.flops);
    add("$", dimension.dollars);
    add("J", dimension.joules);
    add("s", dimension.seconds);
    return text;
}

} // namespace headroom::units_of_text
