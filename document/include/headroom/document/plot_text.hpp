#pragma once

#include "headroom/document/document.hpp"

#include <string>

namespace headroom::document {

/// A chart drawn by characters: axes, series, rules and a legend, without title and caption. Empty where there is
/// nothing to draw.
std::string plot_text(Chart const& chart, TextStyle style);

/// Bars of letters, one letter a part, the limit marked, and a legend.
std::string plot_text(StackedBars const& bars, TextStyle style);

/// A row of letters a lane, one letter a kind and dots where it is idle, an axis of time and a legend. Bars that are
/// wide enough carry their labels; where several share a character they take turns in proportion to their time.
std::string plot_text(Gantt const& gantt, TextStyle style);

} // namespace headroom::document
