#pragma once

#include "headroom/document/document.hpp"

#include <string>
#include <vector>

namespace headroom::document {

/// A rectangle of a drawn schedule: a bar, a gap between two, or a share of a piece of time.
struct GanttPiece {
    std::size_t lane = 0; ///< among those that are drawn
    std::size_t kind = 0; ///< as many as there are kinds: idle
    double begin = 0.0, end = 0.0;
    double low = 0.0, high = 1.0; ///< of the lane's height
    int tone = 0;
    std::string label = {};
};

/// Drawing of a schedule, within bounds.
struct GanttDrawing {
    std::vector<std::size_t> lanes; ///< lanes drawn, first and last among them
    std::vector<GanttPiece> pieces; ///< by lane, then by time; gaps included
    std::vector<std::string> notes; ///< omissions, in words
};

/// Bars that have a length, by lane and begin: indices into `Gantt::bars`, one list a lane.
std::vector<std::vector<std::size_t>> bars_by_lane(Gantt const& gantt);

/// By lane: the time of every kind, and last what is idle.
std::vector<std::vector<double>> lane_times(Gantt const& gantt);

/// By cell, of `cells` equal pieces of time: what this lane spends on every kind, and last what is idle.
std::vector<std::vector<double>> cell_times(Gantt const& gantt, std::vector<std::size_t> const& bars,
                                            std::size_t cells);

/// At most `most` of the lanes, evenly spread, first and last among them.
std::vector<std::size_t> drawn_lanes(std::size_t count, std::size_t most);

/// Every bar and gap where they are at most `most_pieces`; else equal pieces of time whose height is shared out
/// among the kinds as their time is.
GanttDrawing drawing_of(Gantt const& gantt, std::size_t most_lanes, std::size_t most_pieces);

} // namespace headroom::document
