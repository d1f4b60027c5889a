#include "headroom/io/words.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"
#include "headroom/share.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace headroom::io {

int parse_whole(std::string_view text, std::string_view where) {
    double const count = parse_count(words::trimmed(text), where);
    if (count > static_cast<double>(std::numeric_limits<int>::max())) {
        refuse(where, fmt::format("{} is too large", headroom::quoted(text)), "counts end at 2147483647");
    }
    return static_cast<int>(count);
}

std::string spelled_short(std::string_view text) {
    struct Scale {
        std::string_view word, letter;
    };
    constexpr std::array scales{Scale{"trillion", "T"}, Scale{"billion", "B"},  Scale{"million", "M"},
                                Scale{"thousand", "k"}, Scale{"tokens", ""},    Scale{"token", ""},
                                Scale{"tok", ""},       Scale{"sequences", ""}, Scale{"sequence", ""}};
    std::string rest = words::trimmed(text);
    std::string scale;
    for (bool found = true; found;) {
        found = false;
        for (Scale const& one : scales) {
            if (rest.size() <= one.word.size() || !rest.ends_with(one.word) ||
                (!scale.empty() && !one.letter.empty())) {
                continue;
            }
            rest = words::trimmed(std::string_view{rest}.substr(0, rest.size() - one.word.size()));
            scale += one.letter;
            found = true;
            break;
        }
    }
    std::string grouped; // commas of thousands: every group after the first has three digits
    std::size_t since = rest.npos;
    for (char const c : rest) {
        if (c == ',' && (since == rest.npos || since == 3)) {
            since = 0;
            continue;
        }
        if (since != rest.npos && (c < '0' || c > '9')) { return rest + scale; }
        since += since == rest.npos ? 0 : 1;
        grouped += c;
    }
    return (since == rest.npos || since == 3 ? grouped : rest) + scale;
}

double parse_spelled_count(std::string_view text, std::string_view where) {
    return parse_count(spelled_short(text), where);
}

int parse_length(std::string_view text, std::string_view where) {
    std::string const given = spelled_short(text);
    bool const thousands = given.ends_with('k') || given.ends_with('K'), millions = given.ends_with('M');
    if (given.size() < 2 || (!thousands && !millions)) { return parse_whole(given, where); }
    double const units = parse_count(given.substr(0, given.size() - 1), where);
    return parse_whole(fmt::format("{:.0f}", units * (millions ? 1024.0 * 1024.0 : 1024.0)), where);
}

std::string parse_choice(std::string_view text, std::vector<std::string> const& choices, std::string_view where) {
    for (auto const& choice : choices) {
        if (normalised(choice) == normalised(text)) { return choice; }
    }
    refuse(where, fmt::format("unknown value {}", headroom::quoted(text)), {}, did_you_mean_one_of(text, choices));
}

double parse_between(std::string_view text, double low, double high, std::string_view what, std::string_view where) {
    auto const value = share_in(text);
    if (!value || *value < low || *value > high) {
        refuse(where, fmt::format("{} is no {}", headroom::quoted(text), what),
               fmt::format("a number from {:g} to {:g}", low, high));
    }
    return *value;
}

std::string did_you_mean(std::string_view name, std::vector<std::string> const& candidates,
                         std::string const& otherwise) {
    std::string const near = nearest(name, candidates);
    return near.empty() ? otherwise : fmt::format("did you mean '{}'?", near);
}

std::string did_you_mean_one_of(std::string_view name, std::vector<std::string> const& candidates) {
    return did_you_mean(name, candidates, fmt::format("choose from {}", fmt::join(candidates, ", ")));
}

std::string words::trimmed(std::string_view text) {
    auto const first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) { return {}; }
    return std::string{text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1)};
}

std::string words::shell_word(std::string_view word) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+%@";
    if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) { return std::string{word}; }
    std::string text = "'";
    for (char const c : word) { text += c == '\'' ? std::string{"'\\''"} : std::string{c}; }
    return text + "'";
}

std::vector<std::string> words::split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (true) {
        auto const at = text.find(separator);
        parts.push_back(trimmed(text.substr(0, at)));
        if (at == std::string_view::npos) { return parts; }
        text.remove_prefix(at + 1);
    }
}

std::vector<std::pair<std::string, std::string>> parse_pairs(std::string_view text, std::string_view where,
                                                             std::string_view example) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::string const& part : words::split(text, ',')) {
        auto const equals = part.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
            refuse(where, "cannot read " + headroom::quoted(part), "it is not name=value",
                   "write it like " + std::string{example});
        }
        pairs.emplace_back(words::trimmed(std::string_view{part}.substr(0, equals)),
                           words::trimmed(std::string_view{part}.substr(equals + 1)));
    }
    return pairs;
}

} // namespace headroom::io
