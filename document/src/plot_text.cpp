#include "headroom/document/plot_text.hpp"

#include "plot.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::document {
namespace {

constexpr std::size_t widest_plot = 100, plain_height = 14, tall_height = 19;

struct YAxis {
    std::vector<std::string> labels; ///< of each row; mostly empty
    std::size_t width = 0;
};

YAxis y_axis(Plot const& plot) {
    YAxis axis{std::vector<std::string>(plot.canvas.height()), 0};
    for (double const tick : ticks_of(plot.frame.y, plot.canvas.height() / 2)) {
        auto const row = static_cast<std::size_t>(std::round(plot.at(plot.frame.x.low, tick).row));
        std::string& label = axis.labels.at(std::min(row, plot.canvas.height() - 1));
        if (label.empty()) { label = tick_label(tick, plot.frame.y); }
        axis.width = std::max(axis.width, columns_of(label));
    }
    return axis;
}

/// The line below the canvas with its tick marks, and the numbers below it.
std::string x_axis(Plot const& plot, std::size_t margin) {
    std::vector<std::string> marks(plot.canvas.width(), plot.pick("\u2500", "-"));
    std::string numbers;
    for (double const tick : ticks_of(plot.frame.x, std::min<std::size_t>(12, plot.canvas.width() / 6))) {
        auto const column = static_cast<std::size_t>(
            std::clamp(std::round(plot.at(tick, plot.frame.y.low).column), 0.0, double(plot.canvas.width() - 1)));
        std::string const label = tick_label(tick, plot.frame.x);
        std::size_t const middle = margin + column;
        std::size_t const from = std::min(middle - std::min(middle, label.size() / 2),
                                          margin + plot.canvas.width() - std::min(margin, label.size()));
        if (!numbers.empty() && from < numbers.size() + 1) { continue; }
        marks[column] = plot.pick("\u252c", "+");
        numbers.resize(from, ' ');
        numbers += label;
    }
    return std::string(margin - 1, ' ') + plot.pick("\u2514", "+") + join(marks, "") + "\n" + numbers + "\n";
}

std::string legend_lines(std::vector<LegendEntry> const& legend, std::size_t margin, TextStyle style) {
    std::string out, line(margin, ' ');
    std::size_t used = margin;
    for (LegendEntry const& entry : legend) {
        std::string name = entry.name;
        std::size_t const most = style.width - margin - columns_of(entry.glyph) - 1;
        if (columns_of(name) > most) { name = wrap(name, most).front(); }
        std::size_t const wide = columns_of(entry.glyph) + 1 + columns_of(name);
        if (used > margin && used + 3 + wide > style.width) {
            out += line + "\n";
            line = std::string(margin, ' ');
            used = margin;
        }
        if (used > margin) {
            line += "   ";
            used += 3;
        }
        line += inked(entry.glyph, entry.ink, style);
        if (!name.empty()) { line.append(" ").append(name); }
        used += wide;
    }
    return used > margin ? out + line + "\n" : out;
}

std::string drawn(Plot const& plot, YAxis const& axis) {
    std::size_t const margin = axis.width + 2;
    std::string out = printable(plot.chart.y.title) + "\n";
    for (std::size_t row = 0; row < plot.canvas.height(); ++row) {
        std::string const& label = axis.labels[row];
        std::string const edge = label.empty() ? plot.pick("\u2502", "|") : plot.pick("\u2524", "+");
        out.append(axis.width - columns_of(label), ' ').append(label).append(" ").append(edge);
        out.append(plot.canvas.row_text(row)).append("\n");
    }
    out += x_axis(plot, margin);
    std::string const title = printable(plot.chart.x.title);
    std::size_t const middle = margin + plot.canvas.width() / 2;
    out += std::string(middle - std::min(middle, columns_of(title) / 2), ' ') + title + "\n";
    out += legend_lines(plot.legend, margin, plot.style);
    for (Rule const& rule : plot.frame.beyond) {
        std::string const where = rule.vertical ? "beyond the sides: " : "beyond the top or bottom: ";
        for (std::string const& line : wrap(where + printable(rule.label), plot.style.width - margin)) {
            out += std::string(margin, ' ') + line + "\n";
        }
    }
    return out;
}

} // namespace

std::string plot_text(Chart const& chart, TextStyle style) {
    Frame frame = frame_of(chart);
    std::size_t points = 0, labelled = 0;
    for (Series const& series : chart.series) {
        points += drawable(series, frame).size();
        labelled += series.labels.size();
    }
    if (points < 2) { return {}; }
    std::size_t const height = labelled > 6 || chart.series.size() > 3 ? tall_height : plain_height;
    std::size_t const page = std::min(style.width, widest_plot);
    Plot plot{chart, style, std::move(frame), Canvas{page - 10, height, style}};
    YAxis const axis = y_axis(plot); // its width decides that of the canvas
    plot.canvas = Canvas{page - axis.width - 3, height, style};
    draw_rules(plot);
    draw_series(plot);
    draw_labels(plot);
    return drawn(plot, axis);
}

} // namespace headroom::document
