#include "headroom/document/chart_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>

namespace headroom::document {
namespace {

/// Widens to the values it is shown.
struct Extent {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
    [[nodiscard]] bool empty() const { return !(low <= high); }
    void add(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

/// The least distance between two bars; 1 where there is one.
double bar_pitch(Series const& series) {
    std::vector<double> places = series.x;
    std::ranges::sort(places);
    double pitch = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < places.size(); ++i) {
        if (places[i] > places[i - 1]) { pitch = std::min(pitch, places[i] - places[i - 1]); }
    }
    return std::isfinite(pitch) ? pitch : 1.0;
}

/// Every value of a series on one axis.
void add_values(Extent& extent, AxisRange const& range, Series const& series, bool vertical) {
    auto const add = [&](std::vector<double> const& values) {
        for (double const value : values) {
            if (range.holds(value)) { extent.add(value); }
        }
    };
    if (!vertical) {
        double const half = series.mark == Mark::bars && !range.logarithmic ? 0.5 * bar_pitch(series) : 0.0;
        for (double const x : series.x) {
            if (!range.holds(x)) { continue; }
            extent.add(x - half);
            extent.add(x + half);
        }
        return;
    }
    if (series.mark != Mark::band) { add(series.y); }
    add(series.low);
    add(series.high);
    if (series.mark == Mark::bars && !range.logarithmic) { extent.add(0.0); }
}

/// Extent to which references may widen the range of the data: two decades on a logarithmic axis or as far as the data
/// go, else so many times their span.
Extent reach_of(Extent const& data, AxisRange const& range, double spans) {
    if (range.logarithmic) {
        double const factor = std::max(100.0, data.high / data.low);
        return {data.low / factor, data.high * factor};
    }
    double const span = spans * std::max(data.high - data.low, 0.5 * std::abs(data.high));
    return {data.low - span, data.high + span};
}

constexpr double reach_of_lines = 0.5, reach_of_rules = 1.5; // a ceiling matters more than the ideal

/// Whether the values are one number, doubled so many times: 8, 16, 64.
bool are_doublings(std::vector<double> values) {
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.size() < 2 || !(values.front() > 0.0)) { return false; }
    return std::ranges::all_of(values, [&](double value) {
        double const times = std::log2(value / values.front());
        return std::abs(times - std::round(times)) < 1e-9;
    });
}

bool are_whole(std::vector<double> const& values) {
    return std::ranges::all_of(values, [](double value) { return value == std::round(value); });
}

void settle(AxisRange& range, Extent data, Extent const& shown) {
    if (data.empty()) { data = range.logarithmic ? Extent{1.0, 10.0} : Extent{0.0, 1.0}; }
    range.low = std::min(data.low, shown.low);
    range.high = std::max(data.high, shown.high);
    if (range.logarithmic) {
        if (range.high / range.low < 1.5) {
            range.low /= 2.0;
            range.high *= 2.0;
        }
        return;
    }
    if (range.low > 0.0 && range.low < 0.6 * range.high) { range.low = 0.0; } // near enough to show the zero
    if (range.high - range.low <= 1e-9 * std::max(std::abs(range.low), std::abs(range.high))) {
        double const half = std::max(1.0, 0.5 * std::abs(range.low));
        range.low -= half;
        range.high += half;
    }
}

/// Whether a few values own a linear axis: three quarters of them in its lowest twentieth. They are read on a logarithmic one.
bool is_owned_by_few(Chart const& chart, bool vertical) {
    constexpr std::size_t fewest = 4;
    constexpr double crowded = 0.05;
    std::vector<double> values;
    for (Series const& series : chart.series) {
        bool const is_data =
            series.mark == Mark::line || series.mark == Mark::points || (series.mark == Mark::bars && vertical);
        auto const& of_axis = vertical ? series.y : series.x;
        if (is_data) { values.insert(values.end(), of_axis.begin(), of_axis.end()); }
    }
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.size() < fewest || std::ranges::any_of(values, [](double value) { return value <= 0.0; })) {
        return false;
    }
    std::ranges::sort(values);
    return values[values.size() * 3 / 4] < crowded * values.back();
}

AxisRange range_of(Chart const& chart, bool vertical, std::vector<Rule>& inside, std::vector<Rule>& beyond) {
    AxisRange range{.logarithmic = (vertical ? chart.y : chart.x).scale == AxisScale::logarithmic ||
                                   is_owned_by_few(chart, vertical)};
    Extent data, references;
    std::vector<double> places;
    for (Series const& series : chart.series) {
        bool const is_reference = vertical && series.mark == Mark::dashed;
        add_values(is_reference ? references : data, range, series, vertical);
        bool const is_sampled = series.mark == Mark::smooth || series.mark == Mark::dashed;
        if (!vertical && !is_sampled) { places.insert(places.end(), series.x.begin(), series.x.end()); }
    }
    if (data.empty()) { std::swap(data, references); }
    Extent shown;
    if (!data.empty()) {
        if (!references.empty()) {
            Extent const reach = reach_of(data, range, reach_of_lines);
            shown.add(std::clamp(references.low, reach.low, reach.high));
            shown.add(std::clamp(references.high, reach.low, reach.high));
        }
        Extent const reach = reach_of(data, range, reach_of_rules);
        for (Rule const& rule : chart.rules) {
            if (rule.vertical == vertical) { continue; } // a vertical rule stands at a place of the x axis
            bool const near = range.holds(rule.at) && rule.at >= reach.low && rule.at <= reach.high;
            if (near) { shown.add(rule.at); }
            (near ? inside : beyond).push_back(rule);
        }
    }
    settle(range, data, shown);
    auto const is_bars = [](Series const& series) { return series.mark == Mark::bars; };
    if (range.logarithmic && vertical && std::ranges::any_of(chart.series, is_bars)) {
        range.low /= 2.0; // so that the lowest bar has a height
    }
    range.whole = !range.logarithmic && !vertical && !places.empty() && are_whole(places);
    range.doubles = range.logarithmic && !vertical && range.high < 1e5 && are_doublings(std::move(places));
    return range;
}

// ---- ticks -----------------------------------------------------------------------------------------------------

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
double round_step(double least) {
    double const decade = std::pow(10.0, std::floor(std::log10(least)));
    for (double const factor : {1.0, 2.0, 5.0}) {
        if (factor * decade >= least * (1.0 - 1e-9)) { return factor * decade; }
    }
    return 10.0 * decade;
}

std::vector<double> linear_ticks(AxisRange const& range, std::size_t most) {
    std::vector<double> ticks;
    double const span = range.high - range.low;
    double const between = span / static_cast<double>(std::max<std::size_t>(most, 2) - 1);
    double const step = round_step(range.whole && span >= 2.0 ? std::max(1.0, between) : between);
    double const first = std::ceil(range.low / step - 1e-9);
    for (double n = first; n * step <= range.high + 1e-9 * span && ticks.size() < most; n += 1.0) {
        ticks.push_back(n == 0.0 ? 0.0 : n * step); // no -0
    }
    return ticks;
}

/// base^n inside the range, every so many that there are not too many.
std::vector<double> power_ticks(AxisRange const& range, double unit, double base, std::size_t most) {
    double const first = std::ceil(std::log(range.low / unit) / std::log(base) - 1e-9);
    double const last = std::floor(std::log(range.high / unit) / std::log(base) + 1e-9);
    double const stride =
        std::max(1.0, std::ceil((last - first + 1.0) / static_cast<double>(std::max<std::size_t>(most, 1))));
    std::vector<double> ticks;
    double const begin = unit == 1.0 ? std::ceil(first / stride) * stride : first;
    for (double n = begin; n <= last; n += stride) { ticks.push_back(unit * std::pow(base, n)); }
    return ticks;
}

/// Every decade cut at the same places.
std::vector<double> decade_ticks(AxisRange const& range, std::span<double const> cuts) {
    std::vector<double> ticks;
    double const last = std::floor(std::log10(range.high) + 1e-9);
    for (double n = std::floor(std::log10(range.low) + 1e-9); n <= last; n += 1.0) {
        for (double const cut : cuts) {
            double const value = cut * std::pow(10.0, n);
            if (value >= range.low * (1.0 - 1e-9) && value <= range.high * (1.0 + 1e-9)) { ticks.push_back(value); }
        }
    }
    return ticks;
}

std::vector<double> logarithmic_ticks(AxisRange const& range, std::size_t most) {
    static constexpr std::array fine{1.0, 2.0, 5.0};
    static constexpr std::array coarse{1.0, 3.0};
    static constexpr std::array whole{1.0};
    if (range.doubles) { return power_ticks(range, range.low, 2.0, most); }
    for (std::span<double const> const cuts : {std::span<double const>{fine}, {coarse}, {whole}}) {
        std::vector<double> ticks = decade_ticks(range, cuts);
        if (ticks.size() >= 2 && ticks.size() <= most) { return ticks; }
    }
    if (std::vector<double> ticks = power_ticks(range, 1.0, 10.0, most); ticks.size() >= 2) { return ticks; }
    return linear_ticks(range, most); // less than a decade
}

} // namespace

// ---- ranges ----------------------------------------------------------------------------------------------------

double AxisRange::share(double value) const {
    if (logarithmic) { return std::log(value / low) / std::log(high / low); }
    return (value - low) / (high - low);
}

bool AxisRange::holds(double value) const {
    constexpr double most = 1e300; // spans of such numbers are numbers too
    return std::abs(value) <= most && (!logarithmic || value >= 1.0 / most);
}

bool AxisRange::inside(double value) const {
    if (!holds(value)) { return false; }
    double const at = share(value);
    return at >= -1e-9 && at <= 1.0 + 1e-9;
}

Frame frame_of(Chart const& chart) {
    Frame frame;
    frame.x = range_of(chart, false, frame.rules, frame.beyond);
    frame.y = range_of(chart, true, frame.rules, frame.beyond);
    return frame;
}

std::vector<double> ticks_of(AxisRange const& range, std::size_t most) {
    std::vector<double> ticks = range.logarithmic ? logarithmic_ticks(range, most) : linear_ticks(range, most);
    std::erase_if(ticks, [&range](double tick) { return !range.inside(tick); }); // ends are found by rounding
    return ticks;
}

std::string tick_label(double value, AxisRange const& range) {
    static constexpr std::array<char const*, 7> letters{"", "k", "M", "G", "T", "P", "E"};
    double const size = std::abs(value);
    std::array<char, 32> text{};
    if (size > 0.0 && (size < 1e-4 || size >= 1e21)) {
        std::snprintf(text.data(), text.size(), "%.3g", value);
        std::string label = text.data();
        auto const zero = label.find("e-0"); // 1e-06 reads as 1e-6
        return zero == std::string::npos ? label : label.erase(zero + 2, 1);
    }
    bool const short_ones = std::max(std::abs(range.low), std::abs(range.high)) >= 1e5; // one way on one axis
    std::size_t letter = 0;
    double shown = value;
    while (short_ones && std::abs(shown) >= 1000.0 * (1.0 - 1e-9) && letter + 1 < letters.size()) {
        shown /= 1000.0;
        ++letter;
    }
    std::snprintf(text.data(), text.size(), letter > 0 ? "%.4g" : "%.6g", shown);
    return std::string{text.data()} + letters[letter];
}

std::optional<DrawnInterval> interval_at(Series const& series, std::size_t i, AxisRange const& range) {
    if (i >= series.low.size() || i >= series.high.size() || !range.holds(series.high[i])) { return std::nullopt; }
    double const low = series.low[i];
    if (range.holds(low)) { return DrawnInterval{low, series.high[i]}; }
    if (range.logarithmic && low <= 0.0) { return DrawnInterval{std::min(range.low, series.high[i]), series.high[i]}; }
    return std::nullopt;
}

std::vector<std::size_t> drawable(Series const& series, Frame const& frame) {
    std::vector<std::size_t> points;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
        bool const has_band = interval_at(series, i, frame.y).has_value();
        bool const has_point = i < series.y.size() && frame.y.holds(series.y[i]);
        if (frame.x.holds(series.x[i]) && (series.mark == Mark::band ? has_band : has_point)) { points.push_back(i); }
    }
    return points;
}

} // namespace headroom::document
