#include "words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headroom::planner {
namespace {

std::string written(double value, std::chars_format format, int precision) {
    std::array<char, 400> text{};
    auto const end = std::to_chars(text.data(), text.data() + text.size(), value, format, precision).ptr;
    return {text.data(), end};
}

} // namespace

std::string rounded(double value) {
    if (!std::isfinite(value)) return "unbounded";
    if (value == 0.0) return "0";
    // the scientific form has done the rounding: its exponent is that of the rounded number
    std::string const scientific = written(value, std::chars_format::scientific, 2);
    double kept = value;
    std::from_chars(scientific.data(), scientific.data() + scientific.size(), kept);
    int const exponent = static_cast<int>(std::floor(std::log10(std::abs(kept)) + 1e-9));
    return written(kept, std::chars_format::fixed, std::max(0, 2 - exponent));
}

std::string percent(double share) { return rounded(100.0 * share) + " %"; }

std::string times(double ratio) { return rounded(ratio) + "x"; }

std::string money(Dollars amount) {
    double const dollars = amount.in(units::dollar);
    double const size = std::abs(dollars);
    if (size >= 0.9995e9) return "$" + rounded(dollars / 1e9) + "B";
    if (size >= 0.9995e6) return "$" + rounded(dollars / 1e6) + "M";
    if (size >= 0.9995e4) return "$" + rounded(dollars / 1e3) + "k";
    return "$" + rounded(dollars);
}

std::string hourly(DollarsPerSecond rate) { return money(rate * units::hour) + " an hour"; }

std::string span_of(Seconds time) {
    if (time >= 2.0 * units::day) return rounded(time.in(units::day)) + " days";
    if (time >= 2.0 * units::hour) return rounded(time.in(units::hour)) + " hours";
    if (time >= 5.0 * units::minute) return rounded(time.in(units::minute)) + " minutes";
    return format(time, 3);
}

std::string size_of(int workers, Cluster const& cluster) {
    std::string text = std::to_string(workers) + (workers == 1 ? " accelerator" : " accelerators");
    int const node = cluster.accelerators_per_node;
    if (node < 1 || workers % node != 0) return text;
    int const nodes = workers / node;
    return text + " (" + std::to_string(nodes) + (nodes == 1 ? " node)" : " nodes)");
}

std::string listed(std::vector<std::string> const& items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
        text += items[i];
    }
    return text;
}

} // namespace headroom::planner
