#include "headroom/serving/percentile.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace headroom::serving {

std::string percentile_name(double q) {
    if (q >= 1.0) { return "max"; }
    if (q <= 0.0) { return "min"; }
    std::array<char, 32> digits{};
    auto const end = std::to_chars(digits.begin(), digits.end(), 100.0 * q, std::chars_format::general, 10).ptr;
    return "p" + std::string(digits.begin(), end);
}

std::optional<double> percentile_in(std::string_view text) {
    if (text == "median") { return 0.5; }
    if (!text.starts_with('p') && !text.starts_with('P')) { return std::nullopt; }
    std::string digits{text.substr(1)};
    if (digits.size() > 2 && digits.find('.') == std::string::npos && digits.starts_with("99")) {
        digits.insert(2, 1, '.');
    }
    double percent = 0.0;
    auto const [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
    bool const whole = error == std::errc{} && stop == digits.data() + digits.size();
    if (!whole || !(percent > 0.0 && percent < 100.0)) { return std::nullopt; }
    return std::round(percent * 1e10) / 1e12; // 0.999, not the double beside it
}

} // namespace headroom::serving
