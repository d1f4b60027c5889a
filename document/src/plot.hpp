#pragma once

#include "headroom/document/canvas.hpp"
#include "headroom/document/chart_frame.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::document {

/// A label that waits for its place.
struct Label {
    Place at;
    std::string text;
    std::size_t ink = 0;
};

struct LegendEntry {
    std::string glyph, name;
    std::size_t ink = 0;
};

/// A chart on its way to text: what it is drawn on, and what was drawn.
struct Plot {
    Chart const& chart;
    TextStyle style;
    Frame frame;
    Canvas canvas;
    std::vector<LegendEntry> legend = {};
    std::vector<Label> labels = {};

    [[nodiscard]] Place at(double x, double y) const {
        return {frame.x.share(x) * static_cast<double>(canvas.width() - 1),
                (1.0 - frame.y.share(y)) * static_cast<double>(canvas.height() - 1)};
    }
    [[nodiscard]] std::string pick(std::string_view unicode, std::string_view ascii) const {
        return std::string{style.unicode ? unicode : ascii};
    }
};

/// Lines across the canvas.
void draw_rules(Plot& plot);
/// Every series, the first on top; labels of points are kept for later.
void draw_series(Plot& plot);
/// Names of rules and of points, where they hide nothing; what has no room goes to the legend.
void draw_labels(Plot& plot);

} // namespace headroom::document
