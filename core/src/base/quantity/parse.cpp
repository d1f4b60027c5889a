#include "units.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

namespace headroom {
namespace {

using namespace units_of_text;

std::string name_of(Dimension dimension) {
    Reading const* const reading = reading_of(dimension);
    if (reading != nullptr) { return std::string{reading->name}; }
    std::string const plain = plain_unit(dimension);
    return plain.empty() ? "a plain number" : plain;
}

/// "for example '30d'": of the amount that an option or key names, else of the quantity.
std::string example_of(Dimension dimension, std::string_view where) {
    if (where.ends_with('\'')) { where.remove_suffix(1); }
    std::string const name = normalised(where.substr(where.find_last_of(" :'.") + 1));
    for (NamedExample const& one : named_examples) {
        if (one.dimension == dimension && one.name == name) { return "for example " + quoted(one.example); }
    }
    Reading const* const reading = reading_of(dimension);
    return reading != nullptr ? "for example " + quoted(reading->example) : std::string{};
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && is_space(text.back())) { text.remove_suffix(1); }
    return text;
}

std::optional<TextUnit> unit_named(std::string_view symbol, std::span<TextUnit const> units) {
    auto const found = std::ranges::find(units, symbol, &TextUnit::symbol);
    return found == units.end() ? std::nullopt : std::optional{*found};
}

/// "GB", "GB/s", "FLOP/B", "/s": one simple unit, or one or a count over another.
std::optional<TextUnit> unit_from(std::string_view text) {
    std::size_t const slash = text.find('/');
    if (slash == std::string_view::npos) { return unit_named(text, simple_units); }
    std::string_view const above = trimmed(text.substr(0, slash));
    std::optional<TextUnit> const under = unit_named(trimmed(text.substr(slash + 1)), simple_units);
    std::optional<TextUnit> over = unit_named(above, simple_units);
    if (!over && under && under->dimension == seconds) { over = unit_named(above, counted_units); }
    if (!over || !under) { return std::nullopt; }
    Dimension const a = over->dimension, b = under->dimension;
    return TextUnit{.symbol = text,
                    .dimension = {.bytes = a.bytes - b.bytes,
                                  .flops = a.flops - b.flops,
                                  .seconds = a.seconds - b.seconds,
                                  .dollars = a.dollars - b.dollars,
                                  .joules = a.joules - b.joules},
                    .up = over->up * under->down,
                    .down = over->down * under->up};
}

/// The unit that was probably meant by an unknown one, as a hint; an example when nothing is near.
std::string unit_hint(std::string_view unit, Dimension expected, std::string_view where) {
    if (unit.size() >= 2 && unit[1] == 'b' && (unit.size() == 2 || unit.substr(2) == "/s" || unit.substr(2) == "ps")) {
        std::size_t const prefix = std::string_view{"kmgtp"}.find(normalised(unit.substr(0, 1)));
        if (prefix != std::string_view::npos) {
            std::string const letter{std::string_view{"kMGTP"}[prefix]}, rate = unit.size() == 2 ? "" : "/s";
            return "write '" + letter + "bit" + rate + "' for bits or '" + letter + "B" + rate + "' for bytes";
        }
    }
    if (unit.ends_with("Bps")) {
        return "did you mean " + quoted(std::string{unit.substr(0, unit.size() - 3)} + "B/s") + "?";
    }
    std::vector<std::string> candidates;
    for (TextUnit const& simple : simple_units) {
        if (simple.dimension == expected) { candidates.emplace_back(simple.symbol); }
        Dimension rate = simple.dimension;
        rate.seconds -= 1;
        if (rate == expected) { candidates.push_back(std::string{simple.symbol} + "/s"); }
    }
    if (expected == dollars_per_second) { candidates = {"$/h", "$/s"}; }
    if (expected == per_second) { candidates = {"rps", "requests/s", "/min"}; }
    std::string const meant = nearest(unit, candidates);
    return meant.empty() ? example_of(expected, where) : "did you mean " + quoted(meant) + "?";
}

/// Hint for a unit of the wrong dimension: the missing "/s" or "/h" if that is all, else an example.
std::string dimension_hint(std::string_view text, Dimension given, Dimension expected, std::string_view where) {
    Dimension rate = given;
    rate.seconds -= 1;
    if (rate == expected && given.seconds == 0 && text.find('/') == std::string_view::npos) {
        std::string const missing = expected == dollars_per_second ? "/h" : "/s";
        return "did you mean " + quoted(std::string{text} + missing) + "?";
    }
    return example_of(expected, where);
}

/// The place and the thing that an error line is about: "--link: 'latency'" is the field 'latency' at --link.
struct Subject {
    std::string where, name;
};

Subject subject_of(std::string_view where, std::string_view fallback) {
    std::size_t const colon = where.rfind(": '");
    if (colon != std::string_view::npos && where.back() == '\'') {
        return {std::string{where.substr(0, colon)}, std::string{where.substr(colon + 2)} + " "};
    }
    return {std::string{where}, std::string{fallback}};
}

/// A number at the start of a text, and what follows it.
struct Numbered {
    double number = 0.0;
    std::string_view digits; ///< the number as written
    std::string_view rest;   ///< trimmed
    bool found = false;
    bool in_range = true;
};

Numbered number_from(std::string_view text) {
    Numbered result;
    char const* const begin = text.data();
    char const* const end = begin + text.size();
    auto const [stop, error] = std::from_chars(begin, end, result.number);
    result.found = error != std::errc::invalid_argument;
    result.in_range = error == std::errc{} && std::isfinite(result.number);
    result.digits = text.substr(0, static_cast<std::size_t>(stop - begin));
    result.rest = trimmed(text.substr(result.digits.size()));
    return result;
}

void require_usable(Numbered const& number, std::string_view text, std::string_view where) {
    if (!number.in_range) {
        refuse(std::string{where}, quoted(text) + " is not a finite number", "it is too large, too small or no number",
               {});
    }
    if (std::signbit(number.number) && number.number != 0.0) {
        refuse(std::string{where}, quoted(text) + " is negative", "only zero and above make sense here", {});
    }
}

} // namespace

double parse_base(std::string_view text, Dimension expected, std::string_view where) {
    std::string_view const whole = trimmed(text);
    Subject const subject = subject_of(where, {});
    std::string const needs = subject.name + "needs " + name_of(expected);

    bool const dollar_first = !whole.empty() && whole.front() == '$';
    std::string_view const body = dollar_first ? trimmed(whole.substr(1)) : whole;
    Numbered const number = number_from(body);
    if (!number.found) {
        refuse(subject.where, quoted(text) + " is not a number with a unit", needs, example_of(expected, where));
    }
    require_usable(number, text, subject.where);

    std::string unit{number.rest};
    if (dollar_first) { // "$2.95/h" is 2.95 $/h, "$2M" is 2 M$
        std::size_t const scale = unit.find_first_of("/ ");
        unit.insert(scale == std::string::npos ? unit.size() : scale, "$");
    }
    if (unit.empty() && expected == Dimension{}) { return number.number; }
    if (unit.empty()) { refuse(subject.where, quoted(text) + " has no unit", needs, example_of(expected, where)); }
    std::optional<TextUnit> const known = unit_from(unit);
    if (!known) { refuse(subject.where, "unknown unit " + quoted(unit), needs, unit_hint(unit, expected, where)); }
    if (known->dimension != expected) {
        refuse(subject.where, needs + ", not " + name_of(known->dimension), "got " + quoted(text),
               dimension_hint(whole, known->dimension, expected, where));
    }
    double const base = number.number * known->up / known->down;
    if (!std::isfinite(base)) {
        refuse(subject.where, quoted(text) + " is not a finite number", "it is too large for a double", {});
    }
    return base;
}

double parse_count(std::string_view text, std::string_view where) {
    constexpr double largest = 1e18;
    std::string_view const whole = trimmed(text);
    std::string const place{where};
    Numbered const number = number_from(whole);
    if (!number.found) { refuse(place, quoted(text) + " is not a count", {}, "for example '1024', '300k' or '2T'"); }
    require_usable(number, text, where);

    int power = 0;
    if (number.rest == "k" || number.rest == "K") {
        power = 3;
    } else if (number.rest == "M") {
        power = 6;
    } else if (number.rest == "B" || number.rest == "G") {
        power = 9;
    } else if (number.rest == "T") {
        power = 12;
    } else if (number.rest.find_first_of("0123456789") != std::string_view::npos) {
        refuse(place, quoted(text) + " is not one count", {}, "for example '1024', '300k' or '2T'");
    } else if (!number.rest.empty()) {
        refuse(place, "unknown scale " + quoted(number.rest), "in the count " + quoted(text),
               "write 'k', 'M', 'B' or 'T', or the number in full");
    }
    double count = number.number;
    if (power > 0 && number.digits.find_first_of("eE") == std::string_view::npos) {
        std::string const scaled =
            std::string{number.digits} + "e" + std::to_string(power); // rounds once: 1.1B is whole
        std::from_chars(scaled.data(), scaled.data() + scaled.size(), count);
    } else {
        count *= std::pow(10.0, power);
    }
    if (count > largest) { refuse(place, quoted(text) + " is too large", "the largest count is 10^18", {}); }
    if (count != std::floor(count)) { refuse(place, quoted(text) + " is not whole", "it counts things", {}); }
    if (count < 1.0) { refuse(place, quoted(text) + " is not positive", "the smallest count is 1", {}); }
    return count;
}

} // namespace headroom
