#include "headroom/text.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace headroom::text {

std::string significant(double value, int digits) {
    if (!std::isfinite(value)) { return "-"; }
    if (value == 0.0) { return "0"; }
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*e", digits - 1, value);
    double const rounded = std::strtod(buffer.data(), nullptr);
    int const exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-12));
    if (exponent < -5 || exponent > 11) { return buffer.data(); }
    int const decimals = exponent >= digits - 1 ? 0 : digits - 1 - exponent;
    std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, rounded);
    return buffer.data();
}

std::string percent(double ratio, int digits) {
    return std::abs(ratio) < 1e-5 ? "0" : significant(100.0 * ratio, digits);
}

std::string counted(std::size_t count, std::string const& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string join(std::vector<std::string> const& parts, std::string_view separator) {
    std::string result;
    for (std::string const& part : parts) {
        if (!result.empty()) { result += separator; }
        result += part;
    }
    return result;
}

std::string printable(std::string_view text) {
    std::string result{text};
    for (char& c : result) {
        auto const code = static_cast<unsigned char>(c);
        if ((code < 0x20U && c != '\n' && c != '\t') || code == 0x7FU) { c = '?'; }
    }
    return result;
}

} // namespace headroom::text
