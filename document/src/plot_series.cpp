#include "plot.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

namespace headroom::document {
namespace {

bool is_curve(Series const& series) { return series.mark == Mark::smooth || series.mark == Mark::line; }

/// The mark of the n-th series that has marks.
std::string mark_glyph(std::size_t n, std::size_t of, TextStyle style) {
    static constexpr std::array unicode{"\u25cf", "\u25c6", "\u25b2", "\u25a0", "\u25cb", "\u25c7"};
    static constexpr std::array ascii{"o", "x", "+", "#", "@", "%"};
    if (of > ascii.size()) { return std::string(1, static_cast<char>('a' + static_cast<char>(n % 26))); }
    return style.unicode ? unicode[n] : ascii[n];
}

/// The character of the n-th curve without marks; empty: lines of dots or slopes, which only one can have, unless
/// colours tell them apart.
std::string curve_glyph(std::size_t n, TextStyle style) {
    static constexpr std::array glyphs{"*", "=", "~", "&", "$", "!"};
    if (n == 0 || (style.unicode && style.colour)) { return ""; }
    return glyphs[(n - 1) % glyphs.size()];
}

/// The character of the n-th dashed line; empty: a line of dots.
std::string dash_glyph(std::size_t n, TextStyle style) {
    static constexpr std::array glyphs{".", ",", "'", ";", "`", "^"};
    if (style.unicode && (n == 0 || style.colour)) { return ""; }
    return glyphs[n % glyphs.size()];
}

void draw_curve(Plot& plot, Series const& series, std::string const& glyph, std::size_t ink) {
    bool const dashed = series.mark == Mark::dashed;
    Layer const layer = dashed ? Layer::reference : Layer::curve;
    std::optional<Place> before;
    for (std::size_t const i : drawable(series, plot.frame)) {
        Place const here = plot.at(series.x[i], series.y[i]);
        plot.canvas.line(before.value_or(here), here, glyph, layer, ink, dashed);
        before = here;
    }
}

void draw_band(Plot& plot, Series const& series, std::size_t ink) {
    std::string const glyph = plot.pick("\u2591", ":");
    std::vector<std::size_t> const points = drawable(series, plot.frame);
    for (std::size_t n = 0; n + 1 < points.size(); ++n) {
        std::size_t const i = points[n], next = points[n + 1];
        DrawnInterval const here = interval_at(series, i, plot.frame.y).value_or(DrawnInterval{});
        DrawnInterval const there = interval_at(series, next, plot.frame.y).value_or(DrawnInterval{});
        Place const low = plot.at(series.x[i], here.low), high = plot.at(series.x[i], here.high);
        Place const low2 = plot.at(series.x[next], there.low), high2 = plot.at(series.x[next], there.high);
        for (double column = std::ceil(low.column - 0.5); column <= low2.column + 0.5; column += 1.0) {
            double const share = std::clamp((column - low.column) / std::max(low2.column - low.column, 1e-9), 0.0, 1.0);
            double const bottom = low.row + share * (low2.row - low.row);
            double const top = high.row + share * (high2.row - high.row);
            double const last = static_cast<double>(plot.canvas.height()) - 1.0;
            for (double row = std::max(0.0, std::round(top)); row <= std::min(last, std::round(bottom)); row += 1.0) {
                plot.canvas.put({column, row}, glyph, Layer::band, ink);
            }
        }
    }
}

/// The least distance between neighbours, in columns.
double pitch_of(Plot const& plot, Series const& series, std::vector<std::size_t> const& points) {
    std::vector<double> columns;
    for (std::size_t const i : points) { columns.push_back(plot.at(series.x[i], plot.frame.y.high).column); }
    std::ranges::sort(columns);
    double pitch = static_cast<double>(plot.canvas.width()) / 10.0;
    for (std::size_t n = 1; n < columns.size(); ++n) {
        if (columns[n] > columns[n - 1]) { pitch = std::min(pitch, columns[n] - columns[n - 1]); }
    }
    return pitch;
}

/// Bars meet where there are many, and stand apart where there is room for a gap.
void draw_bars(Plot& plot, Series const& series, std::size_t ink) {
    double const foot =
        plot.frame.y.logarithmic ? plot.frame.y.low : std::clamp(0.0, plot.frame.y.low, plot.frame.y.high);
    std::vector<std::size_t> const points = drawable(series, plot.frame);
    double const pitch = pitch_of(plot, series, points);
    bool const apart = pitch >= 4.0;
    double const wide = apart ? std::floor(pitch) - 1.0 : pitch;
    for (std::size_t const i : points) {
        Place const from = plot.at(series.x[i], foot), to = plot.at(series.x[i], series.y[i]);
        double const left = from.column - 0.5 * wide, first = apart ? std::round(left) : std::ceil(left - 1e-9);
        double const end = (apart ? first : left) + wide - 1e-9;
        double column = first < end ? first : std::round(from.column); // narrower than a column
        do {
            plot.canvas.line({column, from.row}, {column, to.row}, plot.pick("\u2588", "#"), Layer::curve, ink);
            column += 1.0;
        } while (column < end);
    }
}

void draw_intervals(Plot& plot, Series const& series, std::size_t ink) {
    for (std::size_t const i : drawable(series, plot.frame)) {
        auto const interval = interval_at(series, i, plot.frame.y);
        if (!interval) { continue; }
        plot.canvas.line(plot.at(series.x[i], interval->low), plot.at(series.x[i], interval->high),
                         plot.pick("\u2502", "|"), Layer::curve, ink);
    }
}

void draw_marks(Plot& plot, Series const& series, bool is_first, std::string const& glyph, std::size_t ink) {
    for (std::size_t const i : drawable(series, plot.frame)) {
        bool const chosen = is_first && plot.chart.chosen == i;
        Place const place = plot.at(series.x[i], series.y[i]);
        plot.canvas.put(place, chosen ? plot.pick("\u2605", "*") : glyph, chosen ? Layer::chosen : Layer::mark,
                        chosen ? 2 : ink);
        if (i < series.labels.size() && !series.labels[i].empty()) {
            plot.labels.push_back({place, printable(series.labels[i]), ink});
        }
    }
}

/// Sign of a series in the legend.
std::string legend_glyph(Plot const& plot, Series const& series, std::string const& glyph) {
    switch (series.mark) {
    case Mark::band: return plot.pick("\u2591", ":");
    case Mark::bars: return plot.pick("\u2588", "#");
    case Mark::dashed: return glyph.empty() ? "\u2824 \u2824" : glyph + " " + glyph;
    case Mark::smooth: return glyph.empty() ? plot.pick("\u2812\u2812", "---") : glyph;
    case Mark::line:
    case Mark::points: break;
    }
    return glyph;
}

bool has_marks(Series const& series) { return series.mark == Mark::line || series.mark == Mark::points; }

bool is_smooth(Series const& series) { return series.mark == Mark::smooth; }

bool is_dashed(Series const& series) { return series.mark == Mark::dashed; }

/// `before` are the series above this one in the list.
std::string glyph_of(Series const& series, std::span<Series const> before, std::vector<Series> const& all,
                     TextStyle style) {
    auto const count = [](auto const& range, auto&& of) {
        return static_cast<std::size_t>(std::ranges::count_if(range, of));
    };
    if (has_marks(series)) { return mark_glyph(count(before, has_marks), count(all, has_marks), style); }
    if (is_smooth(series)) { return curve_glyph(count(before, is_smooth), style); }
    return is_dashed(series) ? dash_glyph(count(before, is_dashed), style) : "";
}

} // namespace

void draw_series(Plot& plot) {
    std::vector<Series> const& all = plot.chart.series;
    bool const coloured = plot.style.unicode && plot.style.colour;
    bool const crowded = std::ranges::count_if(all, is_curve) > 4 && !coloured; // lines would hide one another
    for (std::size_t n = all.size(); n-- > 0;) {
        Series const& series = all[n];
        std::size_t const ink = n + 1;
        std::string const glyph = glyph_of(series, std::span{all}.first(n), all, plot.style);
        switch (series.mark) {
        case Mark::band: draw_band(plot, series, ink); break;
        case Mark::bars: draw_bars(plot, series, ink); break;
        case Mark::dashed:
        case Mark::smooth: draw_curve(plot, series, glyph, ink); break;
        case Mark::line:
            if (!crowded) { draw_curve(plot, series, "", ink); }
            [[fallthrough]];
        case Mark::points:
            draw_intervals(plot, series, ink);
            draw_marks(plot, series, n == 0, glyph, ink);
            break;
        }
        plot.legend.insert(plot.legend.begin(), {legend_glyph(plot, series, glyph), printable(series.name), ink});
    }
    if (plot.chart.chosen) { plot.legend.push_back({plot.pick("\u2605", "*"), "chosen", 2}); }
}

} // namespace headroom::document
