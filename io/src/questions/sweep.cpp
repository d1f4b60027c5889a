#include "headroom/io/sweep.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace headroom::io {
namespace {

constexpr double whole_numbers = 1e15; ///< below which doubles hold each of them

/// A number with the text behind it: "450GB/s" is 450 and "GB/s".
struct Measure {
    double number = 0.0;
    std::string unit;
};

std::optional<Measure> measure_of(std::string_view text) {
    Measure measure;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), measure.number);
    bool const is_number = error == std::errc{} && std::isfinite(measure.number) && measure.number > 0.0;
    if (!is_number) { return std::nullopt; }
    measure.unit = words::trimmed(std::string_view{end, static_cast<std::size_t>(text.data() + text.size() - end)});
    return measure;
}

/// Factor of a letter of scale, "k"; nothing for a unit.
std::optional<double> factor_of(std::string_view unit, SweepScale scale) {
    if (unit.empty()) { return 1.0; }
    double const step = scale == SweepScale::binary ? 1024.0 : 1000.0;
    if (unit == "k" || unit == "K") { return step; }
    if (unit == "M") { return step * step; }
    if (unit == "B" || unit == "G") { return step * step * step; }
    return unit == "T" ? std::optional{step * step * step * step} : std::nullopt;
}

std::string written(double number, std::string const& unit) {
    bool const is_whole = number < whole_numbers && number == std::floor(number);
    return (is_whole ? fmt::format("{:.0f}", number) : fmt::format("{}", number)) + unit;
}

[[noreturn]] void refuse_many(std::string_view where, std::string const& count) {
    refuse(where, count + " combinations", "at most " + std::to_string(most_combinations) + " are answered in one call",
           "sweep over fewer values");
}

std::vector<std::string> doubled(std::string_view text, std::size_t dots, SweepScale scale, std::string_view where) {
    auto first = measure_of(words::trimmed(text.substr(0, dots)));
    auto last = measure_of(words::trimmed(text.substr(dots + 2)));
    if (!first || !last) {
        refuse(where, quoted(text) + " is not a range of numbers", "", "write 4k..128k, or the values: 4k,8k,12k");
    }
    if (first->unit != last->unit) {
        auto const low = factor_of(first->unit, scale), high = factor_of(last->unit, scale);
        if (!low || !high) {
            refuse(where, quoted(text) + " has two units", "", "write both ends of the range in one");
        }
        first = Measure{first->number * *low, ""};
        last = Measure{last->number * *high, ""};
    }
    if (last->number < first->number) {
        refuse(where, quoted(text) + " runs backwards", "", "write the smaller first");
    }
    std::vector<std::string> values;
    for (double value = first->number; value <= last->number; value *= 2.0) {
        if (values.size() == most_combinations) {
            refuse_many(where, "more than " + std::to_string(most_combinations));
        }
        values.push_back(written(value, first->unit));
    }
    return values;
}

} // namespace

std::vector<std::string> listed_values(std::string_view text, std::string_view where) {
    std::vector<std::string> values;
    for (std::string const& value : words::split(text, ',')) {
        if (value.empty()) { refuse(where, quoted(text) + " has an empty value", "", "write values like 4k,8k"); }
        if (std::ranges::find(values, value) == values.end()) { values.push_back(value); }
    }
    return values;
}

std::vector<std::string> swept_values(std::string_view text, SweepScale scale, std::string_view where) {
    auto const dots = text.find("..");
    return dots == std::string_view::npos ? listed_values(text, where) : doubled(text, dots, scale, where);
}

std::vector<std::vector<std::string>> combinations_of(std::span<Sweep const> sweeps) {
    double count = 1.0;
    for (Sweep const& sweep : sweeps) { count *= static_cast<double>(sweep.values.size()); }
    if (count > static_cast<double>(most_combinations)) { refuse_many("command line", fmt::format("{:.0f}", count)); }
    std::vector<std::vector<std::string>> all{{}};
    for (Sweep const& sweep : sweeps) {
        std::vector<std::vector<std::string>> longer;
        for (auto const& begun : all) {
            for (std::string const& value : sweep.values) {
                longer.push_back(begun);
                longer.back().push_back(value);
            }
        }
        all = std::move(longer);
    }
    return all;
}

} // namespace headroom::io
