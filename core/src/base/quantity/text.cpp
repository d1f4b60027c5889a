#include "headroom/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

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
    return std::to_string(count) + " " + what + (count == 1 ? "" : what.ends_with("ch") ? "es" : "s");
}

std::string join(std::vector<std::string> const& parts, std::string_view separator) {
    std::string result;
    for (std::string const& part : parts) {
        if (!result.empty()) { result += separator; }
        result += part;
    }
    return result;
}

Character first_character(std::string_view text) {
    auto const byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    auto const continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0U) == 0x80U; };
    if (text.empty()) { return {}; }
    std::uint8_t const lead = byte(0);
    if (lead < 0x80U) { return {1, lead < 0x20U || lead == 0x7FU}; }
    if (lead < 0xC2U || lead > 0xF4U || !continues(1)) { return {}; }
    if (lead < 0xE0U) { return {2, (lead == 0xC2U && byte(1) < 0xA0U) || text.starts_with("\u061C")}; }
    if (!continues(2)) { return {}; }
    if (lead < 0xF0U) {
        if ((lead == 0xE0U && byte(1) < 0xA0U) || (lead == 0xEDU && byte(1) > 0x9FU)) { return {}; }
        std::string_view const one = text.substr(0, 3);
        bool const turns = one == "\u200E" || one == "\u200F" || (one >= "\u2028" && one <= "\u202E") ||
                           (one >= "\u2066" && one <= "\u2069");
        return {3, turns};
    }
    bool const outside = (lead == 0xF0U && byte(1) < 0x90U) || (lead == 0xF4U && byte(1) > 0x8FU);
    return {continues(3) && !outside ? std::size_t{4} : std::size_t{0}, false};
}

std::string printable(std::string_view text, std::size_t limit) {
    std::string clean;
    clean.reserve(std::min(text.size(), limit));
    while (!text.empty()) {
        Character const one = first_character(text);
        std::size_t const taken = std::max<std::size_t>(one.length, 1);
        if (clean.size() + taken > limit) { return clean + "..."; }
        if (one.length > 0 && !one.steers) {
            clean += text.substr(0, taken);
        } else {
            clean += text[0] == '\n' || text[0] == '\t' || text[0] == '\r' ? ' ' : '?';
        }
        text.remove_prefix(taken);
    }
    return clean;
}

std::string printable_lines(std::string_view text) {
    std::string clean;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = std::min(text.find('\n', at), text.size());
        clean += printable(text.substr(at, end - at));
        if (end < text.size()) { clean += '\n'; }
        at = end + 1;
    }
    return clean;
}

} // namespace headroom::text
