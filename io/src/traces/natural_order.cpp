#include "traces/natural_order.hpp"

#include <algorithm>

namespace headroom::io {

namespace {

bool is_digit(char character) { return character >= '0' && character <= '9'; }

/// Cuts the digits off the front of `text`, without zeros before them.
std::string_view number_of(std::string_view& text) {
    auto const last = std::find_if_not(text.begin(), text.end(), is_digit);
    std::string_view digits = text.substr(0, static_cast<std::size_t>(last - text.begin()));
    text.remove_prefix(digits.size());
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

/// A folder's end comes before every other character.
int weight(char character) { return character == '/' ? -1 : static_cast<unsigned char>(character); }

} // namespace

bool natural_less(std::string_view left, std::string_view right) {
    std::string_view const whole_left = left, whole_right = right;
    while (!left.empty() && !right.empty()) {
        if (is_digit(left.front()) && is_digit(right.front())) {
            std::string_view const a = number_of(left), b = number_of(right);
            if (a.size() != b.size()) { return a.size() < b.size(); }
            if (a != b) { return a < b; }
            continue;
        }
        if (left.front() != right.front()) { return weight(left.front()) < weight(right.front()); }
        left.remove_prefix(1);
        right.remove_prefix(1);
    }
    if (left.empty() != right.empty()) { return left.empty(); }
    return whole_left < whole_right;
}

} // namespace headroom::io
