#include "headroom/document/canvas.hpp"
#include "headroom/document/chart_frame.hpp"
#include "headroom/document/gantt_pieces.hpp"
#include "headroom/document/plot_text.hpp"
#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::document {
namespace {

constexpr std::size_t most_rows = 24, widest_name = 16;

/// A character of the drawing; ink 0 is the terminal's own.
struct Cell {
    std::string glyph;
    std::size_t ink = 0;
};

/// The drawing of one lane between its frame.
using Row = std::vector<Cell>;

std::string text_of(Row const& row, TextStyle style) {
    std::string text, run;
    std::size_t ink = 0;
    for (Cell const& cell : row) {
        if (cell.ink != ink) {
            text += inked(run, ink, style);
            run.clear();
            ink = cell.ink;
        }
        run += cell.glyph;
    }
    return text + inked(run, ink, style);
}

std::string idle_glyph(TextStyle style) { return style.unicode ? "\u00b7" : "."; }

Cell cell_of(Gantt const& gantt, std::size_t kind, TextStyle style) {
    if (kind == gantt.kinds.size()) { return {idle_glyph(style), 0}; }
    return {std::string(1, gantt.kinds[kind].letter), kind + 1};
}

std::size_t column_of(Gantt const& gantt, double time, std::size_t cells) {
    double const share = std::clamp(time / gantt.end, 0.0, 1.0);
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(cells)));
}

std::size_t width_of(Gantt const& gantt, GanttBar const& bar, std::size_t cells) {
    return column_of(gantt, bar.end, cells) - column_of(gantt, bar.begin, cells);
}

/// Kinds that carry labels: those of which nearly all bars have room for theirs. None where a bar has no character of
/// its own, or where most bars would stay without.
std::vector<bool> labelled_kinds(Gantt const& gantt, std::vector<std::vector<std::size_t>> const& by_lane,
                                 std::vector<std::size_t> const& lanes, std::size_t cells) {
    std::vector<std::size_t> all(gantt.kinds.size(), 0), roomy(gantt.kinds.size(), 0);
    std::vector<bool> labelled(gantt.kinds.size(), false);
    double const cell = gantt.end / static_cast<double>(cells);
    for (std::size_t const lane : lanes) {
        for (std::size_t const index : by_lane[lane]) {
            GanttBar const& bar = gantt.bars[index];
            if (bar.end - bar.begin < cell) { return labelled; }
            ++all[bar.kind];
            roomy[bar.kind] += !bar.label.empty() && width_of(gantt, bar, cells) > columns_of(bar.label) ? 1U : 0U;
        }
    }
    std::size_t bars = 0, with_label = 0;
    for (std::size_t kind = 0; kind < all.size(); ++kind) {
        labelled[kind] = all[kind] > 0 && 10 * roomy[kind] >= 9 * all[kind];
        bars += all[kind];
        with_label += labelled[kind] ? all[kind] : 0;
    }
    if (2 * with_label < bars) { labelled.assign(labelled.size(), false); }
    return labelled;
}

/// Columns for labelled bars: as many as make the shortest bar a whole number of them, so that equal bars look equal.
std::size_t even_cells(Gantt const& gantt, std::size_t cells) {
    double shortest = gantt.end;
    for (GanttBar const& bar : gantt.bars) { shortest = std::min(shortest, bar.end - bar.begin); }
    double const each = std::floor(shortest / gantt.end * static_cast<double>(cells));
    auto const even = static_cast<std::size_t>(std::lround(each * gantt.end / shortest));
    return each >= 2.0 && 3 * even >= 2 * cells && even <= cells ? even : cells;
}

/// "F12-": each bar begins with its letter.
Row labelled_row(Gantt const& gantt, std::vector<std::size_t> const& bars, std::vector<bool> const& kinds,
                 std::size_t cells, TextStyle style) {
    Row row(cells, cell_of(gantt, gantt.kinds.size(), style));
    for (std::size_t const index : bars) {
        GanttBar const& bar = gantt.bars[index];
        std::size_t const from = column_of(gantt, bar.begin, cells), to = column_of(gantt, bar.end, cells);
        for (std::size_t at = from; at < to; ++at) { row[at] = {style.unicode ? "\u2500" : "-", bar.kind + 1}; }
        if (to == from) { continue; }
        row[from] = cell_of(gantt, bar.kind, style);
        std::vector<std::string> const letters = letters_of(printable(bar.label));
        bool const written = kinds[bar.kind] && letters.size() < to - from;
        for (std::size_t i = 0; written && i < letters.size(); ++i) { row[from + 1 + i].glyph = letters[i]; }
    }
    return row;
}

/// One letter a cell: of the kinds under way in it the one that the row still owes most, so that over a row the letters
/// are in proportion to the times.
Row shared_row(Gantt const& gantt, std::vector<std::size_t> const& bars, std::size_t cells, TextStyle style) {
    Row row;
    std::vector<double> owed(gantt.kinds.size() + 1, 0.0);
    double const width = gantt.end / static_cast<double>(cells);
    for (std::vector<double> const& cell : cell_times(gantt, bars, cells)) {
        std::optional<std::size_t> shown;
        for (std::size_t kind = 0; kind < cell.size(); ++kind) {
            owed[kind] += cell[kind];
            bool const here = cell[kind] > 1e-6 * width;
            if (here && (!shown || owed[kind] > owed[*shown] + 1e-9 * width)) { shown = kind; }
        }
        std::size_t const kind = shown.value_or(gantt.kinds.size());
        owed[kind] -= width;
        row.push_back(cell_of(gantt, kind, style));
    }
    return row;
}

/// Ticks below the rows: a mark each, and its number centred below it.
std::string axis_text(Gantt const& gantt, std::size_t margin, std::size_t cells, TextStyle style) {
    AxisRange const range{.low = 0.0, .high = gantt.end};
    std::string ruler, numbers(margin + cells + 12, ' ');
    std::vector<bool> marked(cells + 1, false);
    std::size_t free_from = 0;
    for (double const tick : ticks_of(range, std::max<std::size_t>(3, cells / 10))) {
        std::size_t const at = column_of(gantt, tick, cells);
        std::string const label = tick_label(tick, range);
        std::size_t const centre = margin + at, half = label.size() / 2;
        std::size_t const begin = centre > half ? centre - half : 0;
        if (begin < free_from || begin + label.size() > style.width) { continue; }
        marked[at] = true;
        numbers.replace(begin, label.size(), label);
        free_from = begin + label.size() + 2;
    }
    numbers.erase(numbers.find_last_not_of(' ') + 1);
    if (numbers.size() + 1 + gantt.unit.size() <= style.width) { numbers += " " + gantt.unit; }
    for (std::size_t at = 0; at <= cells; ++at) {
        ruler += marked[at] ? (style.unicode ? "\u2534" : "+") : (style.unicode ? "\u2500" : "-");
    }
    return std::string(margin, ' ') + ruler + "\n" + numbers + "\n";
}

/// A list of short entries, filled into lines.
class Entries {
public:
    explicit Entries(std::size_t width) : width_{width} {}
    void add(std::string const& text, std::size_t columns) {
        if (used_ > 0 && used_ + 2 + columns > width_) {
            out_ += "\n";
            used_ = 0;
        }
        out_ += (used_ > 0 ? "  " : "") + text;
        used_ += (used_ > 0 ? 2 : 0) + columns;
    }
    [[nodiscard]] std::string lines() const { return out_ + "\n"; }

private:
    std::size_t width_, used_ = 0;
    std::string out_;
};

/// Legend of the letters, and notes, below the axis.
std::string legend_text(Gantt const& gantt, bool labelled, std::vector<std::string> const& notes, TextStyle style) {
    std::vector<bool> used(gantt.kinds.size(), false);
    for (GanttBar const& bar : gantt.bars) {
        if (bar.kind < used.size()) { used[bar.kind] = true; }
    }
    Entries entries{style.width};
    for (std::size_t kind = 0; kind < gantt.kinds.size(); ++kind) {
        if (!used[kind]) { continue; }
        std::string const letter(1, gantt.kinds[kind].letter), name = printable(gantt.kinds[kind].name);
        entries.add(inked(letter, kind + 1, style) + " " + name, 2 + columns_of(name));
    }
    std::string const idle = printable(gantt.idle), digits = "digits: " + printable(gantt.label_name);
    entries.add(idle_glyph(style) + " " + idle, 2 + columns_of(idle));
    if (labelled && !gantt.label_name.empty()) { entries.add(digits, columns_of(digits)); }
    std::string out = entries.lines();
    for (std::string const& text : wrap(join(notes, "; "), style.width)) {
        if (!text.empty()) { out += text + "\n"; }
    }
    return out;
}

std::string cut(std::string const& name, std::size_t width) {
    std::vector<std::string> letters = letters_of(printable(name));
    if (letters.size() > width) { letters.resize(width); }
    return join(letters, "");
}

std::string padded_left(std::string const& text, std::size_t width) {
    std::size_t const used = columns_of(text);
    return std::string(width > used ? width - used : 0, ' ') + text;
}

} // namespace

std::string plot_text(Gantt const& gantt, TextStyle style) {
    if (gantt.lanes.empty() || gantt.bars.empty() || !(gantt.end > 0.0) || !std::isfinite(gantt.end)) { return {}; }
    auto const lanes = drawn_lanes(gantt.lanes.size(), most_rows);
    auto const by_lane = bars_by_lane(gantt);
    auto const times = lane_times(gantt);
    std::size_t name = 0;
    for (std::size_t const lane : lanes) { name = std::max(name, columns_of(cut(gantt.lanes[lane], widest_name))); }
    std::string const share_title = "% " + cut(gantt.idle, 8);
    std::size_t const share = std::max<std::size_t>(columns_of(share_title), 5), margin = name + 2;
    std::size_t cells = style.width > margin + share + 22 ? style.width - margin - share - 2 : 20;
    auto const kinds = labelled_kinds(gantt, by_lane, lanes, cells);
    bool const labelled = std::ranges::find(kinds, true) != kinds.end();
    if (labelled) { cells = even_cells(gantt, cells); }
    char const* const frame = style.unicode ? "\u2502" : "|";
    std::string out = std::string(margin + cells + 2, ' ') + share_title + "\n";
    bool crowded = false;
    for (std::size_t const lane : lanes) {
        auto const& bars = by_lane[lane];
        crowded = crowded || bars.size() > cells;
        Row const row =
            labelled ? labelled_row(gantt, bars, kinds, cells, style) : shared_row(gantt, bars, cells, style);
        out += padded_left(cut(gantt.lanes[lane], widest_name), name) + " " + frame + text_of(row, style) + frame +
               padded_left(percent(times[lane].back() / gantt.end), share + 1) + "\n";
    }
    std::vector<std::string> notes;
    if (lanes.size() < gantt.lanes.size()) {
        notes.push_back(std::to_string(lanes.size()) + " of " + std::to_string(gantt.lanes.size()) + " rows are drawn");
    }
    if (crowded) {
        notes.push_back("a character is " + significant(gantt.end / static_cast<double>(cells)) + " " + gantt.unit +
                        "; what shares one takes turns in proportion to its time");
    }
    return out + axis_text(gantt, margin, cells, style) + legend_text(gantt, labelled, notes, style);
}

} // namespace headroom::document
