#pragma once

#include "headroom/document/document.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::document {

/// Range of an axis, and the positions of its round numbers.
struct AxisRange {
    bool logarithmic = false;
    double low = 0.0, high = 1.0;
    bool doubles = false; ///< its values are one number doubled: ticks stand at the values
    bool whole = false;   ///< its values are counts: no tick stands between two of them
    /// 0 at the low end, 1 at the high end; not limited to them.
    [[nodiscard]] double share(double value) const;
    /// Whether the value can be drawn: a number of any sensible size, above zero where the axis is logarithmic.
    [[nodiscard]] bool holds(double value) const;
    [[nodiscard]] bool inside(double value) const;
};

/// The part of the plane that a chart shows. The data decide; references (dashed lines and rules) may widen it to a
/// point, so that a ceiling far away does not squeeze the curve into a line.
struct Frame {
    AxisRange x, y;
    std::vector<Rule> rules;  ///< rules inside the frame
    std::vector<Rule> beyond; ///< rules too far away to be drawn
};
Frame frame_of(Chart const& chart);

/// At most `most` round numbers inside a range, ascending; two at least where the range allows it.
std::vector<double> ticks_of(AxisRange const& range, std::size_t most);

/// A round number in a few letters: 0.25, 8192, 1e-6; where the range goes beyond 1e5, 20k, 2.5M.
std::string tick_label(double value, AxisRange const& range);

struct DrawnInterval {
    double low = 0.0, high = 0.0;
};

/// The interval of the i-th point, where it has one. A logarithmic axis has no place for an end at or below zero:
/// there it reaches down to the end of the axis, for the widest intervals must not be those that are left out.
std::optional<DrawnInterval> interval_at(Series const& series, std::size_t i, AxisRange const& range);

/// Points of a series that can be drawn in this frame.
std::vector<std::size_t> drawable(Series const& series, Frame const& frame);

/// The numbers of a figure as a table: one row a point, one column a series where all have the same x.
Table numbers_of(Chart const& chart);
/// One row a bar, one column a part.
Table numbers_of(StackedBars const& bars);
/// One row a lane, one column a kind: how long, and how much of it is idle.
Table numbers_of(Gantt const& gantt);
/// A row a lane: intervals, busy time, the name with most of it.
Table numbers_of(SpanTimeline const& timeline);
/// Its values, a row a row: with the names of both in the first title.
Table numbers_of(HeatMap const& map);

/// Place of each value between the least (0) and the largest (1); 0 where there is no value, or all are equal.
std::vector<std::vector<double>> shares_of(HeatMap const& map);

} // namespace headroom::document
