#include "headroom/share.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace headroom {
namespace {

std::string_view without_spaces(std::string_view text) {
    constexpr std::string_view spaces = " \t\r\n";
    auto const first = text.find_first_not_of(spaces);
    if (first == std::string_view::npos) { return {}; }
    return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

} // namespace

std::optional<double> share_in(std::string_view text) {
    text = without_spaces(text);
    bool const in_percent = text.ends_with('%');
    if (in_percent) { text = without_spaces(text.substr(0, text.size() - 1)); }
    double value = 0.0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size() || !std::isfinite(value)) { return std::nullopt; }
    return in_percent ? value / 100.0 : value;
}

} // namespace headroom
