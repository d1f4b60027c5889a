// Charts of any shape: what is drawn stays on the page, and axes stay sensible.

#include "headroom/document/chart_frame.hpp"
#include "headroom/document/document.hpp"
#include "headroom/document/page_data.hpp"
#include "headroom/document/plot_text.hpp"
#include "headroom/document/text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace headroom::document {
namespace {

int below(int bound) { return *rc::gen::inRange(0, bound); }

/// Ordinary numbers mostly; now and then one that a program should never see.
double any_value() {
    static constexpr std::array strange{0.0,
                                        -1.0,
                                        1e308,
                                        -1e308,
                                        5e-324,
                                        std::numeric_limits<double>::infinity(),
                                        std::numeric_limits<double>::quiet_NaN()};
    if (below(12) == 0) { return strange[static_cast<std::size_t>(below(static_cast<int>(strange.size())))]; }
    return std::pow(10.0, 0.01 * (below(1200) - 300));
}

std::vector<double> any_values(int count) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i) { values.push_back(any_value()); }
    return values;
}

std::string any_text() {
    static constexpr std::array texts{"",         "a", "memory", "\u00fcber", "a name that is as long as a sentence is",
                                      "\x1b[2J\n"};
    return texts[static_cast<std::size_t>(below(static_cast<int>(texts.size())))];
}

Series any_series() {
    int const count = below(30);
    Series series{.name = any_text(), .mark = static_cast<Mark>(below(6)), .x = any_values(count)};
    series.y = any_values(below(4) == 0 ? below(30) : count); // also lists of another length
    if (below(3) == 0 || series.mark == Mark::band) {
        series.low = any_values(count);
        series.high = any_values(count);
    }
    if (below(3) == 0) {
        for (int i = 0; i < count; ++i) { series.labels.push_back(any_text()); }
    }
    return series;
}

Chart any_chart() {
    auto const scale = [] { return below(2) == 0 ? AxisScale::linear : AxisScale::logarithmic; };
    Chart chart{.title = "", .caption = "", .x = {any_text(), scale()}, .y = {any_text(), scale()}, .series = {}};
    for (int i = below(9); i > 0; --i) { chart.series.push_back(any_series()); }
    for (int i = below(5); i > 0; --i) { chart.rules.push_back({below(2) == 0, any_value(), any_text()}); }
    if (below(2) == 0) { chart.chosen = static_cast<std::size_t>(below(30)); }
    return chart;
}

RC_GTEST_PROP(PlotProperty, StaysInsideThePage, ()) {
    Chart chart = any_chart();
    chart.x.title = "x"; // a title is not cut
    chart.y.title = "y";
    TextStyle const style{.colour = false, .unicode = below(2) == 0, .width = 40 + static_cast<std::size_t>(below(80))};
    std::string const text = plot_text(chart, style);
    for (std::string const& line : split(text, '\n')) { RC_ASSERT(columns_of(line) <= style.width); }
    RC_ASSERT(text.find('\x1b') == std::string::npos);
}

RC_GTEST_PROP(PlotProperty, RangesHoldTheDataAndTicksAreInside, ()) {
    Chart const chart = any_chart();
    Frame const frame = frame_of(chart);
    auto const most = 2 + static_cast<std::size_t>(below(12));
    for (AxisRange const& range : {frame.x, frame.y}) {
        RC_ASSERT(std::isfinite(range.low) && std::isfinite(range.high) && range.low < range.high);
        std::vector<double> const ticks = ticks_of(range, most);
        RC_ASSERT(ticks.size() <= most);
        for (double const tick : ticks) { RC_ASSERT(range.inside(tick)); }
        for (std::size_t i = 1; i < ticks.size(); ++i) { RC_ASSERT(ticks[i - 1] < ticks[i]); }
    }
    for (Series const& series : chart.series) {
        for (std::size_t const i : drawable(series, frame)) {
            RC_ASSERT(frame.x.inside(series.x[i]));
            if (series.mark == Mark::band || series.mark == Mark::dashed) { continue; }
            RC_ASSERT(frame.y.inside(series.y[i]));
        }
    }
    for (Rule const& rule : frame.rules) { RC_ASSERT((rule.vertical ? frame.x : frame.y).inside(rule.at)); }
    RC_ASSERT(frame.rules.size() + frame.beyond.size() <= chart.rules.size());
}

RC_GTEST_PROP(PlotProperty, TheTableHasEveryPoint, ()) {
    Chart const chart = any_chart();
    Table const table = numbers_of(chart);
    std::size_t points = 0;
    bool same = !chart.series.empty();
    for (Series const& series : chart.series) {
        points += series.x.size();
        same = same && series.x == chart.series.front().x;
    }
    RC_ASSERT(table.rows.size() == (same ? chart.series.front().x.size() : points));
    for (auto const& row : table.rows) { RC_ASSERT(row.size() == table.columns.size()); }
}

RC_GTEST_PROP(PlotProperty, BarsStayInsideThePage, ()) {
    StackedBars bars{.title = "", .unit = "GiB", .parts = {}, .labels = {}, .values = {}};
    for (int i = below(30); i > 0; --i) { bars.parts.push_back(any_text()); }
    for (int i = below(8); i > 0; --i) {
        bars.labels.push_back(any_text());
        bars.values.push_back(any_values(static_cast<int>(bars.parts.size())));
    }
    if (below(2) == 0) { bars.limit = any_value(); }
    TextStyle const style{.unicode = below(2) == 0};
    for (std::string const& line : split(plot_text(bars, style), '\n')) { RC_ASSERT(columns_of(line) <= style.width); }
    RC_ASSERT(page_data({"", {bars}, ""}).find('<') == std::string::npos);
}

} // namespace
} // namespace headroom::document
