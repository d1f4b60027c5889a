#include "headroom/document/chart_frame.hpp"
#include "headroom/document/plot_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::document {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr TextStyle narrow{.width = 44};

Chart speedup() {
    Series predicted{.name = "predicted", .x = {1, 2, 4, 8}, .y = {1, 2, 4, 5}};
    Series ideal{.name = "ideal", .mark = Mark::dashed, .x = {1, 8}, .y = {1, 8}};
    return {.title = "Speedup",
            .caption = "",
            .x = {"workers", AxisScale::logarithmic},
            .y = {"speedup, x", AxisScale::logarithmic},
            .series = {predicted, ideal},
            .rules = {{false, 10.0, "ceiling 10x"}},
            .chosen = 2};
}

// Ticks stand at the worker counts, the curve leaves the ideal after 4, the chosen point is a star, the rule is named.
TEST(PlotText, SmallChartLetterByLetter) {
    EXPECT_EQ(plot_text(speedup(), narrow), R"(speedup, x
10 +---------------------------------------
   |                        ceiling 10x   .
   |                                  . .
   |                                .
 5 +                            . . ------o
   |                        -*------
   |                     ---.
   |                  .--
   |               ----
 2 +            -o-
   |         ---
   |     ----
   |  ---
 1 +o-
   ++------------+-----------+------------+
    1            2           4            8
                    workers
    o predicted   . . ideal   * chosen
)");
}

TEST(PlotText, BarsAreAsLongAsTheirSum) {
    // Expectation: 33 columns for 100. 50 ends at 16.5, which rounds to 17, 75 at 24.75: 17 letters and 8. The limit
    // of 90 stands after 29.7, rounded 30.
    StackedBars const bars{.title = "Memory",
                           .unit = "GiB",
                           .parts = {"weights", "gradients", "nothing"},
                           .labels = {"one", "two"},
                           .values = {{50, 25, 0}, {100, 0, 0}},
                           .limit = 90.0,
                           .limit_name = "usable"};
    std::string const text = plot_text(bars, narrow);
    EXPECT_THAT(text, HasSubstr("usable 90.0 GiB\n"));
    EXPECT_THAT(text, HasSubstr("a weights  b gradients\n"));
    EXPECT_THAT(text, Not(HasSubstr("nothing")));
    EXPECT_EQ(text, R"(                    usable 90.0 GiB
one |aaaaaaaaaaaaaaaaabbbbbbbb     |    75.0
two |aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|aa  100
     a weights  b gradients
)");
}

TEST(PlotText, UnicodeDrawsCurvesOfDots) {
    std::string const text = plot_text(speedup(), {.unicode = true, .width = 44});
    EXPECT_THAT(text, HasSubstr("\u25cf predicted"));
    EXPECT_THAT(text, HasSubstr("\u2605 chosen"));
    EXPECT_THAT(text, HasSubstr("\u2514\u252c\u2500"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

// Twenty names have no room: each point gets a letter, and a key.
TEST(PlotText, CrowdedPointsAreNamedByLetters) {
    Series kernels{.name = "kernels", .mark = Mark::points};
    for (int i = 0; i < 20; ++i) {
        kernels.x.push_back(i % 4);
        kernels.y.push_back(i % 5);
        kernels.labels.push_back("a kernel with a long name " + std::to_string(i));
    }
    Chart const chart{.title = "", .caption = "", .x = {"x"}, .y = {"y"}, .series = {kernels}};
    std::string const text = plot_text(chart, {});
    for (int i = 0; i < 20; ++i) {
        EXPECT_THAT(text, HasSubstr(std::string(1, static_cast<char>('a' + i)) + " a kernel with a long name " +
                                    std::to_string(i)));
    }
    EXPECT_THAT(text, HasSubstr("a-t kernels"));
}

// Names of one letter are the keys of a table: each stands at its point, and nothing repeats them below.
TEST(PlotText, KeysOfATableStandAtTheirPoints) {
    Series const kernels{
        .name = "kernels", .mark = Mark::points, .x = {0, 1, 2}, .y = {0, 1, 2}, .labels = {"C", "A", "B"}};
    Chart const chart{.title = "", .caption = "", .x = {"x"}, .y = {"y"}, .series = {kernels}};
    std::string const text = plot_text(chart, narrow);
    auto const place = [&](char key) { return text.find(std::string{' '} + key); };
    EXPECT_LT(place('B'), place('A')); // from the top down
    EXPECT_THAT(text, HasSubstr("C"));
    EXPECT_THAT(text, Not(HasSubstr("o")));
    EXPECT_EQ(std::ranges::count(text, 'A'), 1);
}

TEST(PlotText, NothingToDrawIsNoPlot) {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    Chart chart = speedup();
    chart.series = {{.name = "none", .x = {1, 2}, .y = {nan, -1}}}; // -1 has no place on a logarithmic axis
    EXPECT_EQ(plot_text(chart, {}), "");
    EXPECT_EQ(plot_text(StackedBars{.title = "", .unit = "", .parts = {"a"}, .labels = {"b"}, .values = {{0}}}, {}),
              "");
}

TEST(PlotText, NamesSteerNoTerminal) {
    Chart chart = speedup();
    chart.series[0].name = "\x1b[31mred";
    chart.rules[0].label = "\x1b]0;title\a";
    chart.x.title = "\x1b[2J";
    EXPECT_THAT(plot_text(chart, {}), Not(HasSubstr("\x1b")));
}

// ---- the frame -----------------------------------------------------------------------------------------------------

TEST(ChartFrame, DoublingsHaveTheirTicks) {
    Frame const frame = frame_of(speedup());
    EXPECT_EQ(ticks_of(frame.x, 12), (std::vector<double>{1, 2, 4, 8}));
    EXPECT_EQ(ticks_of(frame.x, 2), (std::vector<double>{1, 4}));
    EXPECT_EQ(ticks_of(frame.y, 8), (std::vector<double>{1, 2, 5, 10}));
}

TEST(ChartFrame, RoundTicksOnALinearAxis) {
    AxisRange const range{.low = 0.0, .high = 0.7};
    EXPECT_THAT(ticks_of(range, 5), testing::Pointwise(testing::DoubleEq(), std::vector<double>{0.0, 0.2, 0.4, 0.6}));
    EXPECT_EQ(tick_label(0.2 * 3.0, range), "0.6"); // not 0.6000000000000001
}

TEST(ChartFrame, NoTickStandsBetweenTwoCounts) {
    Chart const counts{.x = {"sample"}, .series = {{.mark = Mark::points, .x = {1, 2, 3}, .y = {5, 4, 5}}}};
    EXPECT_EQ(ticks_of(frame_of(counts).x, 13), (std::vector<double>{0, 1, 2, 3}));
    Chart const times{.x = {"s"}, .series = {{.mark = Mark::points, .x = {1, 2.5, 3}, .y = {5, 4, 5}}}};
    EXPECT_EQ(ticks_of(frame_of(times).x, 13).size(), 7U); // every half
}

// One of eight values is 100 times the others: on a linear axis these would be one line at its foot.
TEST(ChartFrame, AnAxisThatOneValueOwnsIsLogarithmic) {
    Chart chart{
        .x = {"run"},
        .y = {"s"},
        .series = {{.mark = Mark::points, .x = {1, 2, 3, 4, 5, 6, 7, 8}, .y = {9000, 80, 60, 50, 44, 41, 39, 38}}}};
    EXPECT_TRUE(frame_of(chart).y.logarithmic);
    EXPECT_FALSE(frame_of(chart).x.logarithmic);
    chart.series[0].y[0] = 200.0; // three quarters are below 80
    EXPECT_FALSE(frame_of(chart).y.logarithmic);
    chart.series[0].y = {9000, 80, 60, 50, 44, 41, 39, 0}; // zero has no place on a logarithmic axis
    EXPECT_FALSE(frame_of(chart).y.logarithmic);
    chart.series[0].y = {9000, 80, 60, 50, 44, 41, 39, 38};
    chart.series[0].mark = Mark::smooth; // a law that rises so steeply
    EXPECT_FALSE(frame_of(chart).y.logarithmic);
}

// An interval that reaches to nothing is the widest of all: it is drawn down to the end of the axis, not left out.
TEST(ChartFrame, IntervalsBelowALogarithmicAxisReachItsEnd) {
    Series const series{.mark = Mark::points, .x = {1, 2}, .y = {10, 20}, .low = {0, 10}, .high = {100, 40}};
    AxisRange const axis{.logarithmic = true, .low = 5.0, .high = 100.0};
    ASSERT_TRUE(interval_at(series, 0, axis));
    EXPECT_EQ(interval_at(series, 0, axis)->low, 5.0);
    EXPECT_EQ(interval_at(series, 0, axis)->high, 100.0);
    EXPECT_EQ(interval_at(series, 1, axis)->low, 10.0);
    EXPECT_FALSE(interval_at(series, 2, axis));
    EXPECT_EQ(interval_at(series, 0, {.high = 100.0})->low, 0.0);
    Series band = series;
    band.mark = Mark::band;
    EXPECT_EQ(drawable(band, {.x = {.high = 3.0}, .y = axis, .rules = {}, .beyond = {}}).size(), 2U);
}

TEST(ChartFrame, NumbersOfAnAxisAreWrittenOneWay) {
    AxisRange const small{.low = 0.0, .high = 16384.0}, large{.low = 0.0, .high = 3e6};
    EXPECT_EQ(tick_label(16384.0, small), "16384");
    EXPECT_EQ(tick_label(5e3, large), "5k");
    EXPECT_EQ(tick_label(2.5e6, large), "2.5M");
    EXPECT_EQ(tick_label(1e-6, small), "1e-6");
}

// The data would be a line at the bottom if the ceiling decided.
TEST(ChartFrame, RulesOutOfReachAreSaidNotDrawn) {
    Chart chart = speedup();
    chart.y.scale = AxisScale::linear;
    chart.rules = {{false, 1000.0, "far"}, {false, 10.5, "near"}, {true, 4.0, "knee"}};
    Frame const frame = frame_of(chart);
    ASSERT_EQ(frame.beyond.size(), 1U);
    EXPECT_EQ(frame.beyond.front().label, "far");
    EXPECT_EQ(frame.rules.size(), 2U);
    EXPECT_GE(frame.y.high, 10.0);
    EXPECT_THAT(plot_text(chart, {}), HasSubstr("beyond the top or bottom: far"));
}

// ---- the numbers ---------------------------------------------------------------------------------------------------

TEST(ChartNumbers, SeriesOfTheSamePlacesStandSideBySide) {
    Chart chart = speedup();
    chart.series[1].x = chart.series[0].x;
    chart.series[1].y = chart.series[0].x;
    Table const table = numbers_of(chart);
    EXPECT_EQ(table.rows.size(), 4U);
    EXPECT_EQ(table.rows[3], (std::vector<std::string>{"8", "5", "8"}));
    EXPECT_EQ(table.marked, 2U);
}

TEST(ChartNumbers, OtherSeriesStandBelowOneAnother) {
    Table const table = numbers_of(speedup());
    EXPECT_EQ(table.rows.size(), 6U);
    EXPECT_EQ(table.rows[5], (std::vector<std::string>{"ideal", "8", "8"}));
}

} // namespace
} // namespace headroom::document
