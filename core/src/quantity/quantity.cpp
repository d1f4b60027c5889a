#include "headroom/quantity.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace headroom {

namespace {

// ---- units ------------------------------------------------------------------------------------------------------

constexpr Dimension bytes{.bytes = 1};
constexpr Dimension flops{.flops = 1};
constexpr Dimension seconds{.seconds = 1};
constexpr Dimension dollars{.dollars = 1};
constexpr Dimension joules{.joules = 1};
constexpr Dimension bytes_per_second{.bytes = 1, .seconds = -1};
constexpr Dimension flops_per_second{.flops = 1, .seconds = -1};
constexpr Dimension flops_per_byte{.bytes = -1, .flops = 1};
constexpr Dimension seconds_per_byte{.bytes = -1, .seconds = 1};
constexpr Dimension dollars_per_second{.seconds = -1, .dollars = 1};
constexpr Dimension watts{.seconds = -1, .joules = 1};

/// A unit as it is written, worth up / down base units: two whole numbers, so that "5us" is the double nearest
/// to 5e-6 and not the product of two rounded ones.
struct Unit {
    std::string_view symbol;
    Dimension dimension;
    double up = 1.0;
    double down = 1.0;
};

// clang-format off
constexpr std::array simple_units{
    Unit{"B", bytes}, Unit{"byte", bytes}, Unit{"bytes", bytes},
    Unit{"kB", bytes, 1e3}, Unit{"KB", bytes, 1e3}, Unit{"MB", bytes, 1e6}, Unit{"GB", bytes, 1e9},
    Unit{"TB", bytes, 1e12}, Unit{"PB", bytes, 1e15}, Unit{"EB", bytes, 1e18},
    Unit{"KiB", bytes, 1024.0}, Unit{"MiB", bytes, 1048576.0}, Unit{"GiB", bytes, 1073741824.0},
    Unit{"TiB", bytes, 1099511627776.0}, Unit{"PiB", bytes, 1125899906842624.0},
    Unit{"bit", bytes, 1.0, 8.0}, Unit{"kbit", bytes, 125.0}, Unit{"Mbit", bytes, 125e3},
    Unit{"Gbit", bytes, 125e6}, Unit{"Tbit", bytes, 125e9},
    Unit{"FLOP", flops}, Unit{"kFLOP", flops, 1e3}, Unit{"MFLOP", flops, 1e6}, Unit{"GFLOP", flops, 1e9},
    Unit{"TFLOP", flops, 1e12}, Unit{"PFLOP", flops, 1e15}, Unit{"EFLOP", flops, 1e18},
    Unit{"ZFLOP", flops, 1e21}, Unit{"YFLOP", flops, 1e24},
    Unit{"ns", seconds, 1.0, 1e9}, Unit{"us", seconds, 1.0, 1e6},
    Unit{"\xC2\xB5s", seconds, 1.0, 1e6}, Unit{"\xCE\xBCs", seconds, 1.0, 1e6},
    Unit{"usec", seconds, 1.0, 1e6}, Unit{"msec", seconds, 1.0, 1e3}, Unit{"nsec", seconds, 1.0, 1e9},
    Unit{"ms", seconds, 1.0, 1e3}, Unit{"s", seconds}, Unit{"sec", seconds}, Unit{"second", seconds},
    Unit{"seconds", seconds}, Unit{"min", seconds, 60.0}, Unit{"minute", seconds, 60.0},
    Unit{"minutes", seconds, 60.0}, Unit{"h", seconds, 3600.0}, Unit{"hour", seconds, 3600.0},
    Unit{"hours", seconds, 3600.0}, Unit{"d", seconds, 86400.0}, Unit{"day", seconds, 86400.0},
    Unit{"days", seconds, 86400.0}, Unit{"w", seconds, 604800.0}, Unit{"week", seconds, 604800.0},
    Unit{"weeks", seconds, 604800.0},
    Unit{"$", dollars}, Unit{"k$", dollars, 1e3}, Unit{"M$", dollars, 1e6}, Unit{"USD", dollars},
    Unit{"J", joules}, Unit{"kJ", joules, 1e3}, Unit{"MJ", joules, 1e6}, Unit{"GJ", joules, 1e9},
    Unit{"Wh", joules, 3600.0}, Unit{"kWh", joules, 3.6e6}, Unit{"MWh", joules, 3.6e9}, Unit{"GWh", joules, 3.6e12},
    Unit{"W", watts}, Unit{"kW", watts, 1e3}, Unit{"MW", watts, 1e6}, Unit{"GW", watts, 1e9},
    Unit{"bps", bytes_per_second, 1.0, 8.0}, Unit{"kbps", bytes_per_second, 125.0},
    Unit{"Mbps", bytes_per_second, 125e3}, Unit{"Gbps", bytes_per_second, 125e6},
    Unit{"Tbps", bytes_per_second, 125e9},
};

/// Units that numbers are written in, smallest first.
constexpr std::array byte_ladder{Unit{"B", bytes}, Unit{"kB", bytes, 1e3}, Unit{"MB", bytes, 1e6},
    Unit{"GB", bytes, 1e9}, Unit{"TB", bytes, 1e12}, Unit{"PB", bytes, 1e15}, Unit{"EB", bytes, 1e18}};
constexpr std::array binary_ladder{Unit{"B", bytes}, Unit{"KiB", bytes, 1024.0}, Unit{"MiB", bytes, 1048576.0},
    Unit{"GiB", bytes, 1073741824.0}, Unit{"TiB", bytes, 1099511627776.0}, Unit{"PiB", bytes, 1125899906842624.0}};
constexpr std::array flop_ladder{Unit{"FLOP", flops}, Unit{"kFLOP", flops, 1e3}, Unit{"MFLOP", flops, 1e6},
    Unit{"GFLOP", flops, 1e9}, Unit{"TFLOP", flops, 1e12}, Unit{"PFLOP", flops, 1e15}, Unit{"EFLOP", flops, 1e18},
    Unit{"ZFLOP", flops, 1e21}, Unit{"YFLOP", flops, 1e24}};
constexpr std::array second_ladder{Unit{"ns", seconds, 1.0, 1e9}, Unit{"us", seconds, 1.0, 1e6},
    Unit{"ms", seconds, 1.0, 1e3}, Unit{"s", seconds}, Unit{"min", seconds, 60.0}, Unit{"h", seconds, 3600.0},
    Unit{"d", seconds, 86400.0}};
constexpr std::array dollar_ladder{Unit{"$", dollars}, Unit{"k$", dollars, 1e3}, Unit{"M$", dollars, 1e6}};
constexpr std::array joule_ladder{Unit{"J", joules}, Unit{"kJ", joules, 1e3}, Unit{"MJ", joules, 1e6},
    Unit{"kWh", joules, 3.6e6}, Unit{"MWh", joules, 3.6e9}, Unit{"GWh", joules, 3.6e12}};
constexpr std::array byte_rate_ladder{Unit{"B/s", bytes}, Unit{"kB/s", bytes, 1e3}, Unit{"MB/s", bytes, 1e6},
    Unit{"GB/s", bytes, 1e9}, Unit{"TB/s", bytes, 1e12}, Unit{"PB/s", bytes, 1e15}, Unit{"EB/s", bytes, 1e18}};
constexpr std::array flop_rate_ladder{Unit{"FLOP/s", flops}, Unit{"kFLOP/s", flops, 1e3},
    Unit{"MFLOP/s", flops, 1e6}, Unit{"GFLOP/s", flops, 1e9}, Unit{"TFLOP/s", flops, 1e12},
    Unit{"PFLOP/s", flops, 1e15}, Unit{"EFLOP/s", flops, 1e18}, Unit{"ZFLOP/s", flops, 1e21}};
constexpr std::array intensity_ladder{Unit{"FLOP/B", flops_per_byte}};
constexpr std::array inverse_rate_ladder{Unit{"s/TB", seconds_per_byte, 1.0, 1e12},
    Unit{"s/GB", seconds_per_byte, 1.0, 1e9}, Unit{"s/MB", seconds_per_byte, 1.0, 1e6},
    Unit{"s/kB", seconds_per_byte, 1.0, 1e3}, Unit{"s/B", seconds_per_byte}};
constexpr std::array price_ladder{Unit{"$/h", dollars_per_second, 1.0, 3600.0},
    Unit{"k$/h", dollars_per_second, 1e3, 3600.0}, Unit{"M$/h", dollars_per_second, 1e6, 3600.0}};
constexpr std::array watt_ladder{Unit{"W", watts}, Unit{"kW", watts, 1e3}, Unit{"MW", watts, 1e6},
    Unit{"GW", watts, 1e9}};
constexpr std::array count_ladder{Unit{"", {}}, Unit{"k", {}, 1e3}, Unit{"M", {}, 1e6}, Unit{"B", {}, 1e9},
    Unit{"T", {}, 1e12}};

/// What people are told and shown about a dimension.
struct Reading {
    Dimension dimension;
    std::string_view name;
    std::string_view example;
    std::span<Unit const> ladder;
    std::string_view zero;  ///< unit of nothing
};

constexpr std::array readings{
    Reading{bytes, "bytes", "80GiB", byte_ladder, "B"},
    Reading{flops, "FLOP", "2.5TFLOP", flop_ladder, "FLOP"},
    Reading{seconds, "seconds", "5us", second_ladder, "s"},
    Reading{dollars, "dollars", "$5000", dollar_ladder, "$"},
    Reading{joules, "joules", "3kWh", joule_ladder, "J"},
    Reading{bytes_per_second, "bytes per second", "450GB/s", byte_rate_ladder, "B/s"},
    Reading{flops_per_second, "FLOP per second", "312TFLOP/s", flop_rate_ladder, "FLOP/s"},
    Reading{flops_per_byte, "FLOP per byte", "156FLOP/B", intensity_ladder, "FLOP/B"},
    Reading{seconds_per_byte, "seconds per byte", "2s/TB", inverse_rate_ladder, "s/B"},
    Reading{dollars_per_second, "dollars per hour", "2.95$/h", price_ladder, "$/h"},
    Reading{watts, "watts", "700W", watt_ladder, "W"},
};
// clang-format on

Reading const* reading_of(Dimension dimension) {
    auto const found = std::ranges::find(readings, dimension, &Reading::dimension);
    return found == readings.end() ? nullptr : &*found;
}

/// A product of base units, "B^2 s^-1": for dimensions that nothing above names.
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

std::string name_of(Dimension dimension) {
    Reading const* const reading = reading_of(dimension);
    if (reading != nullptr) { return std::string{reading->name}; }
    std::string const plain = plain_unit(dimension);
    return plain.empty() ? "a plain number" : plain;
}

std::string example_of(Dimension dimension) {
    Reading const* const reading = reading_of(dimension);
    return reading != nullptr ? "for example " + quoted(reading->example) : std::string{};
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && is_space(text.back())) { text.remove_suffix(1); }
    return text;
}

/// "GB", "GB/s", "FLOP/B": one simple unit, or one over another.
std::optional<Unit> unit_from(std::string_view text) {
    auto const simple = [](std::string_view symbol) -> std::optional<Unit> {
        auto const found = std::ranges::find(simple_units, symbol, &Unit::symbol);
        return found == simple_units.end() ? std::nullopt : std::optional{*found};
    };
    std::size_t const slash = text.find('/');
    if (slash == std::string_view::npos) { return simple(text); }
    std::optional<Unit> const over = simple(trimmed(text.substr(0, slash)));
    std::optional<Unit> const under = simple(trimmed(text.substr(slash + 1)));
    if (!over || !under) { return std::nullopt; }
    Dimension const a = over->dimension, b = under->dimension;
    return Unit{.symbol = text,
                .dimension = {.bytes = a.bytes - b.bytes,
                              .flops = a.flops - b.flops,
                              .seconds = a.seconds - b.seconds,
                              .dollars = a.dollars - b.dollars,
                              .joules = a.joules - b.joules},
                .up = over->up * under->down,
                .down = over->down * under->up};
}

/// The unit that was probably meant by an unknown one, as a hint; an example when nothing is near.
std::string unit_hint(std::string_view unit, Dimension expected) {
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
    for (Unit const& simple : simple_units) {
        if (simple.dimension == expected) { candidates.emplace_back(simple.symbol); }
        Dimension rate = simple.dimension;
        rate.seconds -= 1;
        if (rate == expected) { candidates.push_back(std::string{simple.symbol} + "/s"); }
    }
    if (expected == dollars_per_second) { candidates = {"$/h", "$/s"}; }
    std::string const meant = nearest(unit, candidates);
    return meant.empty() ? example_of(expected) : "did you mean " + quoted(meant) + "?";
}

/// What a unit of the wrong dimension lacks, when it lacks only "/s" or "/h"; else an example.
std::string dimension_hint(std::string_view text, Dimension given, Dimension expected) {
    Dimension rate = given;
    rate.seconds -= 1;
    if (rate == expected && given.seconds == 0 && text.find('/') == std::string_view::npos) {
        std::string const missing = expected == dollars_per_second ? "/h" : "/s";
        return "did you mean " + quoted(std::string{text} + missing) + "?";
    }
    return example_of(expected);
}

// ---- reading ------------------------------------------------------------------------------------------------------

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

[[noreturn]] void refuse(std::string where, std::string problem, std::string why, std::string hint) {
    throw InputError{Fault::usage, ErrorText{.where = std::move(where),
                                             .problem = std::move(problem),
                                             .why = std::move(why),
                                             .hint = std::move(hint)}};
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

// ---- writing ------------------------------------------------------------------------------------------------------

/// `value` rounded to `digits` significant decimals, with its decimal exponent.
struct Rounded {
    double value = 0.0;
    int exponent = 0;
};

Rounded rounded(double value, int digits) {
    std::array<char, 64> buffer{};
    auto const written =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific, digits - 1);
    std::string_view const text{buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data())};
    Rounded result;
    result.value = value; // stays where rounding up would leave the range of a double
    std::from_chars(text.data(), text.data() + text.size(), result.value);
    std::size_t exponent = text.rfind('e') + 1;
    if (text[exponent] == '+') { ++exponent; }
    std::from_chars(text.data() + exponent, text.data() + text.size(), result.exponent);
    return result;
}

/// Fixed notation without trailing zeros.
std::string written(Rounded number, int digits) {
    std::array<char, 1100> buffer{}; // the longest doubles have 309 digits before the point or 1074 after it
    int const decimals = std::max(0, digits - 1 - number.exponent);
    auto const result =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), number.value, std::chars_format::fixed, decimals);
    std::string text{buffer.data(), result.ptr};
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') { text.pop_back(); }
    }
    return text;
}

/// A number and the largest unit of the ladder that leaves it, as rounded, at 1 or above.
struct Placed {
    std::string number;
    std::string_view symbol;
};

Placed placed(double base, std::span<Unit const> ladder, std::string_view zero, int digits) {
    digits = std::clamp(digits, 1, 17);
    if (!std::isfinite(base)) { return {std::isnan(base) ? "nan" : base > 0.0 ? "inf" : "-inf", zero}; }
    if (base == 0.0) { return {"0", zero}; }
    Rounded number;
    std::string_view symbol;
    for (std::size_t i = ladder.size(); i-- > 0;) {
        Unit const& unit = ladder[i];
        number = rounded(base * unit.down / unit.up, digits);
        symbol = unit.symbol;
        if (std::abs(number.value) >= 1.0) { break; }
        if (i > 0) { // 59.96 s is 60 s to three digits, and that is 1 min, although 0.99933 min is not
            Unit const& below = ladder[i - 1];
            Rounded const lower = rounded(base * below.down / below.up, digits);
            double const ratio = unit.up / unit.down / (below.up / below.down);
            if (std::abs(lower.value) >= ratio) {
                number = rounded(lower.value / ratio, digits);
                break;
            }
        }
    }
    return {written(number, digits), symbol};
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
        refuse(subject.where, quoted(text) + " is not a number with a unit", needs, example_of(expected));
    }
    require_usable(number, text, subject.where);

    std::string unit{number.rest};
    if (dollar_first) { // "$2.95/h" is 2.95 $/h, "$2M" is 2 M$
        std::size_t const scale = unit.find_first_of("/ ");
        unit.insert(scale == std::string::npos ? unit.size() : scale, "$");
    }
    if (unit.empty() && expected == Dimension{}) { return number.number; }
    if (unit.empty()) { refuse(subject.where, quoted(text) + " has no unit", needs, example_of(expected)); }
    std::optional<Unit> const known = unit_from(unit);
    if (!known) { refuse(subject.where, "unknown unit " + quoted(unit), needs, unit_hint(unit, expected)); }
    if (known->dimension != expected) {
        refuse(subject.where, needs + ", not " + name_of(known->dimension), "got " + quoted(text),
               dimension_hint(whole, known->dimension, expected));
    }
    double const base = number.number * known->up / known->down;
    if (!std::isfinite(base)) {
        refuse(subject.where, quoted(text) + " is not a finite number", "it is too large for a double", {});
    }
    return base;
}

std::string format_base(double base, Dimension dimension, int digits) {
    Reading const* const reading = reading_of(dimension);
    if (reading != nullptr) {
        auto const [number, symbol] = placed(base, reading->ladder, reading->zero, digits);
        return number + " " + std::string{symbol};
    }
    std::string const number = placed(base, std::span{count_ladder}.first(1), "", digits).number;
    std::string const unit = plain_unit(dimension);
    return unit.empty() ? number : number + " " + unit;
}

std::string format_binary(Bytes size, int digits) {
    auto const [number, symbol] = placed(size.base(), binary_ladder, "B", digits);
    return number + " " + std::string{symbol};
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

std::string format_count(double count, int digits) {
    auto const [number, symbol] = placed(count, count_ladder, "", digits);
    return number + std::string{symbol};
}

} // namespace headroom
