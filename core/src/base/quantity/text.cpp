#include "headroom/text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace headroom::text {

namespace {

std::string written(double value, std::chars_format format, int digits) {
    std::array<char, 400> buffer{}; // the largest number in full
    auto const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits).ptr;
    return {buffer.data(), end};
}

} // namespace

std::string significant(double value, int digits) {
    if (!std::isfinite(value)) { return "-"; }
    if (value == 0.0) { return "0"; }
    std::string const scientific = written(value, std::chars_format::scientific, digits - 1);
    double rounded = 0.0;
    std::from_chars(scientific.data(), scientific.data() + scientific.size(), rounded);
    int const exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-12));
    if (exponent < -5 || exponent > 11) { return scientific; }
    int const decimals = exponent >= digits - 1 ? 0 : digits - 1 - exponent;
    return written(rounded, std::chars_format::fixed, decimals);
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
