#include "headroom/io/words.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"
#include "headroom/share.hpp"

#include <fmt/format.h>

#include <limits>

namespace headroom::io {

namespace {

std::string_view trimmed(std::string_view text) {
    auto const first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) { return {}; }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

} // namespace

int parse_whole(std::string_view text, std::string_view where) {
    double const count = parse_count(trimmed(text), where);
    if (count > static_cast<double>(std::numeric_limits<int>::max())) {
        usage_error(where, fmt::format("{} is too large", headroom::quoted(text)), "counts end at 2147483647");
    }
    return static_cast<int>(count);
}

std::string parse_choice(std::string_view text, std::vector<std::string> const& choices, std::string_view where) {
    for (auto const& choice : choices) {
        if (normalised(choice) == normalised(text)) { return choice; }
    }
    std::string const near = did_you_mean(text, choices);
    usage_error(where, fmt::format("unknown value {}", headroom::quoted(text)), {},
                near.empty() ? fmt::format("choose from {}", fmt::join(choices, ", ")) : near);
}

double parse_between(std::string_view text, double low, double high, std::string_view what, std::string_view where) {
    auto const value = share_in(text);
    if (!value || *value < low || *value > high) {
        usage_error(where, fmt::format("{} is no {}", headroom::quoted(text), what),
                    fmt::format("a number from {:g} to {:g}", low, high));
    }
    return *value;
}

} // namespace headroom::io
