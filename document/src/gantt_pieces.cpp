#include "headroom/document/gantt_pieces.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::document {
namespace {

/// Whether a bar can be drawn: it has a lane, a kind and a length.
bool has_length(Gantt const& gantt, GanttBar const& bar) {
    return bar.lane < gantt.lanes.size() && bar.kind < gantt.kinds.size() && std::isfinite(bar.begin) &&
           std::isfinite(bar.end) && bar.begin >= 0.0 && bar.end > bar.begin;
}

/// Bars of one lane, and the gaps between them.
void add_lane(std::vector<GanttPiece>& pieces, Gantt const& gantt, std::vector<std::size_t> const& bars,
              std::size_t lane) {
    double at = 0.0;
    auto const add_gap = [&](double until) {
        double const least = 1e-9 * gantt.end; // what rounding leaves between two bars is no gap
        if (until - at > least) { pieces.push_back({lane, gantt.kinds.size(), at, until}); }
    };
    for (std::size_t const index : bars) {
        GanttBar const& bar = gantt.bars[index];
        add_gap(bar.begin);
        pieces.push_back({lane, bar.kind, bar.begin, bar.end, 0.0, 1.0, bar.tone, bar.label});
        at = std::max(at, bar.end);
    }
    add_gap(gantt.end);
}

/// One rectangle a kind in every cell, stacked; a kind that goes on alone in the next cells is one rectangle.
void add_shares(std::vector<GanttPiece>& pieces, std::vector<std::vector<double>> const& cells, double width,
                std::size_t lane) {
    std::size_t const first = pieces.size();
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        double low = 0.0;
        double const begin = width * static_cast<double>(cell), end = width * static_cast<double>(cell + 1);
        for (std::size_t kind = 0; kind < cells[cell].size(); ++kind) {
            double const share = cells[cell][kind] / width;
            if (share < 0.005) { continue; } // thinner than can be seen
            bool const alone = share > 0.995;
            bool const goes_on = alone && pieces.size() > first && pieces.back().kind == kind &&
                                 pieces.back().low == 0.0 && pieces.back().high == 1.0;
            if (goes_on) {
                pieces.back().end = end;
            } else {
                pieces.push_back({lane, kind, begin, end, low, alone ? 1.0 : std::min(1.0, low + share)});
            }
            low += share;
        }
    }
}

} // namespace

std::vector<std::vector<std::size_t>> bars_by_lane(Gantt const& gantt) {
    std::vector<std::vector<std::size_t>> lanes(gantt.lanes.size());
    for (std::size_t i = 0; i < gantt.bars.size(); ++i) {
        if (has_length(gantt, gantt.bars[i])) { lanes[gantt.bars[i].lane].push_back(i); }
    }
    for (auto& lane : lanes) {
        std::ranges::stable_sort(lane, {}, [&gantt](std::size_t i) { return gantt.bars[i].begin; });
    }
    return lanes;
}

std::vector<std::vector<double>> lane_times(Gantt const& gantt) {
    std::vector<std::vector<double>> times;
    for (auto const& bars : bars_by_lane(gantt)) {
        times.push_back(cell_times(gantt, bars, 1).front()); // one cell: all of the time
    }
    return times;
}

std::vector<std::vector<double>> cell_times(Gantt const& gantt, std::vector<std::size_t> const& bars,
                                            std::size_t cells) {
    std::vector<std::vector<double>> times(cells, std::vector<double>(gantt.kinds.size() + 1, 0.0));
    double const width = gantt.end / static_cast<double>(cells);
    if (!(width > 0.0) || !std::isfinite(width)) { return times; }
    auto const last = static_cast<double>(cells - 1);
    for (std::size_t const index : bars) {
        GanttBar const& bar = gantt.bars[index];
        double const from = std::clamp(std::floor(bar.begin / width), 0.0, last);
        for (auto cell = static_cast<std::size_t>(from); cell < cells; ++cell) {
            double const begin = width * static_cast<double>(cell), end = width * static_cast<double>(cell + 1);
            if (begin >= bar.end) { break; }
            times[cell][bar.kind] += std::max(0.0, std::min(end, bar.end) - std::max(begin, bar.begin));
        }
    }
    for (auto& cell : times) {
        double idle = width;
        for (double const time : cell) { idle -= time; }
        cell.back() = idle > 1e-9 * gantt.end ? idle : 0.0;
    }
    return times;
}

std::vector<std::size_t> drawn_lanes(std::size_t count, std::size_t most) {
    std::vector<std::size_t> lanes;
    std::size_t const drawn = std::min(count, most);
    for (std::size_t i = 0; i < drawn; ++i) {
        lanes.push_back(drawn < 2 ? 0 : (i * (count - 1) + (drawn - 1) / 2) / (drawn - 1));
    }
    return lanes;
}

GanttDrawing drawing_of(Gantt const& gantt, std::size_t most_lanes, std::size_t most_pieces) {
    GanttDrawing drawing{drawn_lanes(gantt.lanes.size(), most_lanes), {}, {}};
    auto const by_lane = bars_by_lane(gantt);
    for (std::size_t lane = 0; lane < drawing.lanes.size(); ++lane) {
        add_lane(drawing.pieces, gantt, by_lane[drawing.lanes[lane]], lane);
    }
    if (drawing.lanes.size() < gantt.lanes.size()) {
        drawing.notes.push_back(std::to_string(drawing.lanes.size()) + " of " + std::to_string(gantt.lanes.size()) +
                                " rows are drawn");
    }
    if (drawing.pieces.size() <= most_pieces) { return drawing; }
    drawing.pieces.clear();
    std::size_t const room = most_pieces / std::max<std::size_t>(1, drawing.lanes.size());
    std::size_t const cells = std::clamp<std::size_t>(room / (gantt.kinds.size() + 1), 8, 400);
    for (std::size_t lane = 0; lane < drawing.lanes.size(); ++lane) {
        add_shares(drawing.pieces, cell_times(gantt, by_lane[drawing.lanes[lane]], cells),
                   gantt.end / static_cast<double>(cells), lane);
    }
    drawing.notes.push_back("too many to be distinguished (" + scaled(static_cast<double>(gantt.bars.size())) +
                            "): each slice of " + significant(gantt.end / static_cast<double>(cells)) + " " +
                            gantt.unit + " is shared out by time, from bottom to top");
    return drawing;
}

} // namespace headroom::document
