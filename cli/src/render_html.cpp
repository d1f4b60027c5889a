#include "document.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr char const* style_sheet = R"(
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #1d2733; background: #fff;
       max-width: 58rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.35rem; margin: 0 0 1rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
p.strong { font-size: 1.1rem; font-weight: 600; border-left: 4px solid #2563a8; padding: .3rem 0 .3rem .8rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e3e8ee; text-align: left; vertical-align: top; }
th { font-weight: 600; border-bottom: 2px solid #b9c4d0; } .number { text-align: right; white-space: nowrap; }
td, th { white-space: nowrap; } td.text { white-space: normal; min-width: 12rem; }
h1, p, li { overflow-wrap: anywhere; }
tr.marked { background: #e8f1fb; font-weight: 600; }
pre { background: #f5f7f9; padding: .8rem; overflow-x: auto; font-size: .85rem; }
svg { max-width: 100%; min-width: 32rem; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: #3a4654; }
footer { margin-top: 2.5rem; color: #5b6876; font-size: .85rem; }
@media (max-width: 40rem) { body { margin: 1rem auto; padding: 0 .7rem; } ul { padding-left: 1.2rem; }
  table { font-size: .8rem; } th, td { padding: .2rem .35rem; } td.text { min-width: 9rem; } }
)";

constexpr std::array<char const*, 16> palette{"#2563a8", "#e08a1e", "#3f9b63", "#b4477c", "#7a6bc4", "#5c8f9b",
                                              "#a3a13a", "#8a5a44", "#4a5563", "#d2452d", "#79b4e8", "#f0c05a",
                                              "#8fd0a5", "#e39ac0", "#b9aee8", "#b0b8c1"};

std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : text) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        case '\'': out += "&#39;"; break;
        default:
            bool const control = (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
            out += control ? ' ' : c;
        }
    }
    return out;
}

std::string heading(std::string const& title) { return title.empty() ? "" : "<h2>" + escaped(title) + "</h2>\n"; }

/// A coordinate, to a tenth of a pixel.
std::string px(double value) { return significant(std::round(10.0 * value) / 10.0, 6); }

std::string element(std::string_view name, std::vector<std::pair<std::string, std::string>> const& attributes,
                    std::string_view body = {}) {
    std::string out = "<" + std::string{name};
    for (auto const& [key, value] : attributes) { out += " " + key + "=\"" + escaped(value) + "\""; }
    return body.empty() ? out + "/>\n" : out + ">" + std::string{body} + "</" + std::string{name} + ">\n";
}

std::string label(double x, double y, std::string_view text, std::string_view anchor = "middle") {
    return element("text", {{"x", px(x)}, {"y", px(y)}, {"text-anchor", std::string{anchor}}}, escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, std::string const& colour,
                 std::string const& dash = "none") {
    return element("line", {{"x1", px(x1)},
                            {"y1", px(y1)},
                            {"x2", px(x2)},
                            {"y2", px(y2)},
                            {"stroke", colour},
                            {"stroke-dasharray", dash}});
}

std::string svg(double width, double height, std::string const& name, std::string const& body) {
    return "<div class=\"scroll\"><svg viewBox=\"0 0 " + px(width) + " " + px(height) + "\" width=\"" + px(width) +
           "\" role=\"img\" aria-label=\"" + escaped(name) + "\">\n" + body + "</svg></div>\n";
}

// ---- speed-up --------------------------------------------------------------------------------------------------

/// Logarithmic axes of a plot: data to pixels.
struct Axes {
    double left = 60, right = 700, top = 20, bottom = 360;
    double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
    [[nodiscard]] double x(double value) const {
        return left + (std::log2(value) - x_low) / (x_high - x_low) * (right - left);
    }
    [[nodiscard]] double y(double value) const {
        return bottom - (std::log2(value) - y_low) / (y_high - y_low) * (bottom - top);
    }
};

Axes axes_of(SpeedupPlot const& plot) {
    Axes axes;
    axes.x_low = std::log2(plot.workers.front());
    axes.x_high = std::log2(plot.workers.back());
    double lowest = 1.0, highest = plot.workers.back() / plot.workers.front();
    for (double const value : plot.low) { lowest = std::min(lowest, value); }
    for (double const value : plot.high) { highest = std::max(highest, value); }
    axes.y_low = std::log2(lowest);
    axes.y_high = std::log2(highest);
    return axes;
}

std::string grid(SpeedupPlot const& plot, Axes const& axes) {
    std::string out;
    for (double const workers : plot.workers) {
        out += line(axes.x(workers), axes.top, axes.x(workers), axes.bottom, "#eef1f4");
        out += label(axes.x(workers), axes.bottom + 18, whole(workers));
    }
    for (double value = 1.0; std::log2(value) <= axes.y_high + 1e-9; value *= 2.0) {
        out += line(axes.left, axes.y(value), axes.right, axes.y(value), "#eef1f4");
        out += label(axes.left - 8, axes.y(value) + 4, significant(value) + "x", "end");
    }
    out += line(axes.left, axes.bottom, axes.right, axes.bottom, "#8894a1");
    out += line(axes.left, axes.top, axes.left, axes.bottom, "#8894a1");
    return out + label((axes.left + axes.right) / 2, axes.bottom + 38, "workers");
}

std::string points_text(std::vector<double> const& xs, std::vector<double> const& ys, Axes const& axes) {
    std::string out;
    for (std::size_t i = 0; i < xs.size(); ++i) { out += px(axes.x(xs[i])) + "," + px(axes.y(ys[i])) + " "; }
    return out;
}

void add(std::string& out, SpeedupPlot const& plot) {
    if (plot.workers.size() < 2) { return; }
    Axes const axes = axes_of(plot);
    std::string body = grid(plot, axes);
    if (plot.low.size() == plot.workers.size() && plot.high.size() == plot.workers.size()) {
        std::vector<double> xs = plot.workers, ys = plot.high;
        xs.insert(xs.end(), plot.workers.rbegin(), plot.workers.rend());
        ys.insert(ys.end(), plot.low.rbegin(), plot.low.rend());
        body += element("polygon", {{"points", points_text(xs, ys, axes)}, {"fill", "#2563a8"}, {"opacity", "0.15"}});
    }
    double const first = plot.workers.front(), last = plot.workers.back();
    body += line(axes.x(first), axes.y(1.0), axes.x(last), axes.y(last / first), "#8894a1", "5 4");
    body += label(axes.x(last) - 6, axes.y(last / first) + 34, "ideal", "end");
    body += element("polyline", {{"points", points_text(plot.workers, plot.speedup, axes)},
                                 {"fill", "none"},
                                 {"stroke", "#2563a8"},
                                 {"stroke-width", "2"}});
    for (std::size_t i = 0; i < plot.workers.size(); ++i) {
        bool const chosen = plot.chosen == i;
        double const x = axes.x(plot.workers[i]), y = axes.y(plot.speedup[i]);
        body +=
            element("circle",
                    {{"cx", px(x)}, {"cy", px(y)}, {"r", chosen ? "7" : "4"}, {"fill", chosen ? "#d2452d" : "#2563a8"}},
                    "<title>" + whole(plot.workers[i]) + " workers: " + significant(plot.speedup[i]) + "x</title>");
        if (chosen) {
            body +=
                label(x + (x > 640 ? 10 : 0), y - 12, "chosen: " + whole(plot.workers[i]), x > 640 ? "end" : "middle");
        }
    }
    if (plot.stop && *plot.stop >= first && *plot.stop <= last) {
        body += line(axes.x(*plot.stop), axes.top, axes.x(*plot.stop), axes.bottom, "#d2452d", "3 4");
        body += label(axes.x(*plot.stop) - 4, axes.top + 12, "stop: nothing gained past here", "end");
    }
    out += heading(plot.title) + svg(720, 410, plot.title, body);
    out += "<p>The band is the prediction interval of each point.</p>\n";
}

// ---- bars ------------------------------------------------------------------------------------------------------

std::string legend(StackedBars const& bars, double top) {
    std::string out;
    double x = 10;
    for (std::size_t part = 0; part < bars.parts.size(); ++part) {
        double const width = 30 + 7.0 * static_cast<double>(columns_of(bars.parts[part]));
        if (x + width > 720) {
            x = 10;
            top += 18;
        }
        out += element("rect", {{"x", px(x)},
                                {"y", px(top)},
                                {"width", "11"},
                                {"height", "11"},
                                {"fill", palette[part % palette.size()]}});
        out += label(x + 16, top + 10, bars.parts[part], "start");
        x += width;
    }
    return out;
}

void add(std::string& out, StackedBars const& bars) {
    double scale = bars.limit.value_or(0.0);
    for (auto const& row : bars.values) {
        double sum = 0.0;
        for (double const value : row) { sum += value; }
        scale = std::max(scale, sum);
    }
    if (!(scale > 0.0)) { return; }
    constexpr double left = 120, width = 520, pitch = 30;
    std::string body;
    for (std::size_t bar = 0; bar < bars.values.size(); ++bar) {
        double const y = 10 + pitch * static_cast<double>(bar);
        double x = left, sum = 0.0;
        body += label(left - 8, y + 15, bars.labels[bar], "end");
        for (std::size_t part = 0; part < bars.values[bar].size(); ++part) {
            double const value = bars.values[bar][part], length = value / scale * width;
            sum += value;
            if (!(length > 0.0)) { continue; }
            body += element("rect",
                            {{"x", px(x)},
                             {"y", px(y)},
                             {"width", px(length)},
                             {"height", "21"},
                             {"fill", palette[part % palette.size()]}},
                            "<title>" + escaped(bars.parts[part]) + ": " + significant(value) + " " +
                                escaped(bars.unit) + "</title>");
            x += length;
        }
        double const limit = bars.limit ? left + *bars.limit / scale * width : x;
        double const end = limit > x && limit < x + 60 ? limit : x; // clear of the line of the limit
        body += label(end + 6, y + 15, significant(sum) + " " + bars.unit, "start");
    }
    double bottom = 14 + pitch * static_cast<double>(bars.values.size());
    if (bars.limit) {
        double const x = left + *bars.limit / scale * width;
        body += line(x, 4, x, bottom, "#d2452d", "4 3");
        body += label(x, bottom + 12, bars.limit_name, "end");
        bottom += 16;
    }
    body += legend(bars, bottom + 6);
    out += heading(bars.title) + svg(720, bottom + 50, bars.title, body);
}

void add(std::string&, Chart const&) {}

// ---- words and tables ------------------------------------------------------------------------------------------

/// A sentence, with no number parted from its "%".
std::string sentence(std::string_view text) {
    std::string out = escaped(text);
    for (auto at = out.find(" %"); at != std::string::npos; at = out.find(" %", at)) { out.replace(at, 1, "&nbsp;"); }
    return out;
}

void add(std::string& out, Paragraph const& paragraph) {
    out += paragraph.strong ? "<p class=\"strong\">" : "<p>";
    if (!paragraph.label.empty()) { out += "<b>" + escaped(paragraph.label) + ":</b> "; }
    out += sentence(paragraph.text) + "</p>\n";
}

void add(std::string& out, Table const& table) {
    auto const row = [&](std::vector<std::string> const& cells, char const* tag) {
        for (std::size_t c = 0; c < cells.size(); ++c) {
            if (table.columns[c].title.empty()) { continue; } // bars of letters: the plots show them better
            bool const number = table.columns[c].align == Align::right;
            bool const text = columns_of(cells[c]) > 30; // a sentence is not squeezed into a word a line
            out += std::string{"<"} + tag +
                   (number ? " class=\"number\">"
                    : text ? " class=\"text\">"
                           : ">") +
                   escaped(cells[c]) + "</" + tag + ">";
        }
        out += "</tr>\n";
    };
    out += heading(table.title) + "<div class=\"scroll\"><table>\n<thead><tr>";
    std::vector<std::string> titles;
    for (Column const& column : table.columns) { titles.push_back(column.title); }
    row(titles, "th");
    out += "</thead>\n<tbody>\n";
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        out += table.marked == r ? "<tr class=\"marked\">" : "<tr>";
        row(table.rows[r], "td");
    }
    out += "</tbody></table></div>\n";
}

void add(std::string& out, Items const& list) {
    out += heading(list.title) + "<ul>\n";
    for (std::string const& item : list.items) { out += "<li>" + sentence(item) + "</li>\n"; }
    out += "</ul>\n";
}

void add(std::string& out, Verbatim const& verbatim) {
    out += heading(verbatim.title) + "<pre>" + escaped(verbatim.text) + "</pre>\n";
}

} // namespace

std::string render_html(Document const& document) {
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
                      escaped(document.title) + "</title>\n<style>" + style_sheet + "</style>\n</head>\n<body>\n<h1>" +
                      escaped(document.title) + "</h1>\n";
    for (Block const& block : document.blocks) {
        std::visit([&out](auto const& content) { add(out, content); }, block);
    }
    return out + "<footer>" + escaped(document.footer) + "</footer>\n</body>\n</html>\n";
}

} // namespace headroom::cli
