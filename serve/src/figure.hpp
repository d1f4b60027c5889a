#pragma once

#include <string>
#include <string_view>

namespace headroom::serve {

/// Answers a chart in JSON, `{"title", "x": {"title", "logarithmic"}, "y", "series": [{"name", "mark", "x", "y", "low", "high",
/// "labels"}], "rules": [{"vertical", "at", "label"}], "chosen"}`, by the figure that a report of it would hold: with ranges,
/// ticks and those points that can be drawn. Several answers are so compared in one picture.
/// Errors: InputError{usage}.
std::string figure_of(std::string_view chart);

} // namespace headroom::serve
