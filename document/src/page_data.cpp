#include "headroom/document/page_data.hpp"

#include "headroom/document/chart_frame.hpp"
#include "headroom/document/gantt_pieces.hpp"
#include "headroom/document/json.hpp"

#include <span>

namespace headroom::document {
namespace {

constexpr std::size_t most_x_ticks = 13, most_y_ticks = 8;
constexpr std::size_t most_pieces = 12000; ///< of a schedule on a page: as many marks as a browser draws at once
constexpr std::size_t most_lanes = 64;

char const* name_of(Mark mark) {
    switch (mark) {
    case Mark::line: return "line";
    case Mark::smooth: return "smooth";
    case Mark::dashed: return "dashed";
    case Mark::points: return "points";
    case Mark::band: return "band";
    case Mark::bars: return "bars";
    }
    return "";
}

Json axis_json(Axis const& axis, AxisRange const& range, std::size_t most) {
    Json ticks = Json::array();
    for (double const value : ticks_of(range, most)) {
        ticks.push(Json::object().set("at", value).set("label", tick_label(value, range)));
    }
    return Json::object()
        .set("title", axis.title)
        .set("scale", range.logarithmic ? "log" : "linear")
        .set("low", range.low)
        .set("high", range.high)
        .set("ticks", ticks);
}

/// `points` names those that can be drawn: the others are in the table only.
Json series_json(Series const& series, Frame const& frame) {
    return Json::object()
        .set("name", series.name)
        .set("mark", name_of(series.mark))
        .set("x", Json::array_of(series.x))
        .set("y", Json::array_of(series.y))
        .set("low", Json::array_of(series.low))
        .set("high", Json::array_of(series.high))
        .set("labels", Json::array_of(series.labels))
        .set("points", Json::array_of(drawable(series, frame)));
}

Json rules_json(std::vector<Rule> const& rules) {
    Json list = Json::array();
    for (Rule const& rule : rules) {
        list.push(Json::object().set("vertical", rule.vertical).set("at", rule.at).set("label", rule.label));
    }
    return list;
}

Json json_of(Chart const& chart) {
    Frame const frame = frame_of(chart);
    Json series = Json::array();
    for (Series const& one : chart.series) { series.push(series_json(one, frame)); }
    return Json::object()
        .set("kind", "chart")
        .set("title", chart.title)
        .set("x", axis_json(chart.x, frame.x, most_x_ticks))
        .set("y", axis_json(chart.y, frame.y, most_y_ticks))
        .set("series", series)
        .set("rules", rules_json(frame.rules))
        .set("beyond", rules_json(frame.beyond))
        .set("chosen", chart.chosen);
}

Json json_of(StackedBars const& bars) {
    Json values = Json::array();
    for (auto const& row : bars.values) { values.push(Json::array_of(row)); }
    return Json::object()
        .set("kind", "bars")
        .set("title", bars.title)
        .set("unit", bars.unit)
        .set("parts", Json::array_of(bars.parts))
        .set("labels", Json::array_of(bars.labels))
        .set("values", values)
        .set("limit", bars.limit)
        .set("limit_name", bars.limit_name)
        .set("origin", bars.origin);
}

/// A list of lists.
template <class Value> Json grid_of(std::vector<std::vector<Value>> const& rows) {
    Json grid = Json::array();
    for (auto const& row : rows) { grid.push(Json::array_of(row)); }
    return grid;
}

/// Cells as text, with their place between the least and the largest.
Json json_of(HeatMap const& map) {
    Table const table = numbers_of(map);
    Json cells = Json::array();
    for (auto const& row : table.rows) {
        cells.push(Json::array_of(std::vector<std::string>{row.begin() + 1, row.end()}));
    }
    return Json::object()
        .set("kind", "heat")
        .set("title", map.title + ", " + map.unit)
        .set("corner", table.columns.front().title)
        .set("rows", Json::array_of(map.rows))
        .set("columns", Json::array_of(map.columns))
        .set("cells", std::move(cells))
        .set("shares", grid_of(shares_of(map)))
        .set("notes", grid_of(map.notes))
        .set("caption", map.caption);
}

/// One row a piece: lane, kind (the last: idle), begin, end, low and high share of the lane's height, tone, label.
Json pieces_json(std::vector<GanttPiece> const& pieces) {
    Json list = Json::array();
    for (GanttPiece const& piece : pieces) {
        Json row = Json::array();
        row.push(piece.lane).push(piece.kind).push(piece.begin).push(piece.end).push(piece.low).push(piece.high);
        list.push(row.push(piece.tone).push(piece.label));
    }
    return list;
}

Json json_of(Gantt const& gantt) {
    GanttDrawing const drawing = drawing_of(gantt, most_lanes, most_pieces);
    Json lanes = Json::array(), kinds = Json::array();
    for (std::size_t const lane : drawing.lanes) { lanes.push(gantt.lanes[lane]); }
    for (GanttKind const& kind : gantt.kinds) { kinds.push(kind.name); }
    return Json::object()
        .set("kind", "gantt")
        .set("title", gantt.title)
        .set("unit", gantt.unit)
        .set("x", axis_json({.title = "time " + gantt.unit}, {.low = 0.0, .high = gantt.end}, most_x_ticks))
        .set("lanes", lanes)
        .set("kinds", kinds)
        .set("idle", gantt.idle)
        .set("label_name", gantt.label_name)
        .set("tone_name", gantt.tone_name)
        .set("pieces", pieces_json(drawing.pieces))
        .set("notes", Json::array_of(drawing.notes));
}

/// Numbers of a lane's intervals, four each: begin less the end of the one before, duration, name, kind.
std::string spans_text(std::span<TimelineSpan const> spans) {
    std::string text;
    std::int64_t before = 0;
    for (TimelineSpan const& span : spans) {
        if (!text.empty()) { text += ' '; }
        text += std::to_string(span.begin - before) + ' ' + std::to_string(span.duration) + ' ' +
                std::to_string(span.name) + ' ' + std::to_string(span.kind);
        before = span.begin + span.duration;
    }
    return text;
}

Json json_of(SpanTimeline const& timeline) {
    Json lanes = Json::array(), path_lanes = Json::array();
    std::size_t next = 0;
    for (std::uint32_t lane = 0; lane < timeline.lanes.size(); ++lane) {
        std::size_t const first = next;
        while (next < timeline.spans.size() && timeline.spans[next].lane == lane) { ++next; }
        lanes.push(Json::object()
                       .set("process", timeline.lanes[lane].process)
                       .set("name", timeline.lanes[lane].name)
                       .set("spans", spans_text(std::span{timeline.spans}.subspan(first, next - first))));
    }
    for (TimelineSpan const& span : timeline.path) { path_lanes.push(span.lane); }
    return Json::object()
        .set("kind", "spans")
        .set("title", timeline.title)
        .set("file", timeline.file)
        .set("kinds", Json::array_of(timeline.kinds))
        .set("names", Json::array_of(timeline.names))
        .set("lanes", lanes)
        .set("path_name", timeline.path_name)
        .set("path", spans_text(timeline.path))
        .set("path_lanes", path_lanes)
        .set("end", timeline.end);
}

/// Outside of strings JSON has none of these three letters.
std::string safe_in_script(std::string const& json) {
    std::string out;
    for (char const c : json) {
        switch (c) {
        case '<': out += "\\u003c"; break;
        case '>': out += "\\u003e"; break;
        case '&': out += "\\u0026"; break;
        default: out += c;
        }
    }
    return out;
}

} // namespace

std::string page_data(Document const& document) {
    Json figures = Json::array();
    for (Block const& block : document.blocks) {
        if (auto const* chart = std::get_if<Chart>(&block)) { figures.push(json_of(*chart)); }
        if (auto const* bars = std::get_if<StackedBars>(&block)) { figures.push(json_of(*bars)); }
        if (auto const* gantt = std::get_if<Gantt>(&block)) { figures.push(json_of(*gantt)); }
        if (auto const* timeline = std::get_if<SpanTimeline>(&block)) { figures.push(json_of(*timeline)); }
        if (auto const* map = std::get_if<HeatMap>(&block)) { figures.push(json_of(*map)); }
    }
    return safe_in_script(figures.text());
}

} // namespace headroom::document
