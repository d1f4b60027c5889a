#include "plot.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::document {
namespace {

constexpr std::size_t label_letters = 26; ///< points that one alphabet names

double last_column(Plot const& plot) { return static_cast<double>(plot.canvas.width() - 1); }

double last_row(Plot const& plot) { return static_cast<double>(plot.canvas.height() - 1); }

/// A text from this place on, and the blanks that keep it apart from its neighbours.
struct Slot {
    double column = 0.0, row = 0.0;
    std::size_t gap_before = 1, gap_after = 1;
};

/// Writes where nothing above `layer` is hidden.
bool write_if_free(Canvas& canvas, Slot const& slot, std::string const& text, Layer layer, std::size_t ink) {
    std::size_t const wide = columns_of(text);
    double const end = slot.column + static_cast<double>(wide);
    if (slot.row < 0.0 || slot.column < 0.0 || end > static_cast<double>(canvas.width())) { return false; }
    auto const column = static_cast<std::size_t>(slot.column), row = static_cast<std::size_t>(slot.row);
    std::size_t const before = std::min(slot.gap_before, column);
    std::size_t const after = std::min(slot.gap_after, canvas.width() - column - wide);
    if (!canvas.is_free(column - before, row, before + wide + after, layer)) { return false; }
    canvas.write(column, row, text, ink);
    return true;
}

// ---- points ----------------------------------------------------------------------------------------------------

/// Puts a label next to, above or below its point.
bool place_label(Canvas& canvas, Label const& label) {
    double const column = std::round(label.at.column), row = std::round(label.at.row);
    double const wide = static_cast<double>(columns_of(label.text));
    std::array<Slot, 8> const slots{{{column + 2.0, row, 0, 1},
                                     {column - wide - 1.0, row, 1, 0},
                                     {column + 1.0, row - 1.0},
                                     {column - std::floor(wide / 2.0), row - 1.0},
                                     {column - wide, row - 1.0},
                                     {column + 1.0, row + 1.0},
                                     {column - std::floor(wide / 2.0), row + 1.0},
                                     {column - wide, row + 1.0}}};
    return std::ranges::any_of(std::array{Layer::empty, Layer::rule}, [&](Layer layer) {
        return std::ranges::any_of(
            slots, [&](Slot const& slot) { return write_if_free(canvas, slot, label.text, layer, label.ink); });
    });
}

/// Names that are label_letters already: the keys of a table.
bool are_keys(std::vector<Label> const& labels) {
    return !labels.empty() && std::ranges::all_of(labels, [](Label const& one) { return columns_of(one.text) == 1; });
}

/// Points named by a letter in place of their mark; a letter whose cell is taken stands in a free one next to it.
void place_letters(Plot& plot) {
    static constexpr std::array<Place, 9> around{
        {{0, 0}, {1, 0}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}}};
    bool const keys = are_keys(plot.labels);
    std::size_t const series_entries = plot.legend.size();
    for (std::size_t n = 0; n < plot.labels.size(); ++n) {
        Label const& label = plot.labels[n];
        std::string const counted{
            static_cast<char>((n < label_letters ? 'a' : 'A') + static_cast<char>(n % label_letters))};
        std::string const letter = keys ? label.text : counted;
        std::ranges::any_of(around, [&](Place const& beside) {
            Slot const slot{std::round(label.at.column) + beside.column, std::round(label.at.row) + beside.row, 0, 0};
            return write_if_free(plot.canvas, slot, letter, Layer::mark, label.ink);
        });
        plot.legend.push_back({letter, label.text, label.ink});
    }
    for (LegendEntry& entry : plot.legend) { // the marks are gone
        auto const own = [&entry](LegendEntry const& one) { return &one > &entry && one.ink == entry.ink; };
        auto const first = std::ranges::find_if(plot.legend, own);
        bool const is_series = &entry < &plot.legend[plot.chart.series.size()];
        if (!is_series || first == plot.legend.end()) { continue; }
        std::string last;
        for (LegendEntry const& one : plot.legend) {
            if (own(one)) { last = one.glyph; }
        }
        entry.glyph = first->glyph + "-" + last;
    }
    if (keys) { plot.legend.resize(series_entries); } // a table names them
}

/// Names next to the points where all have room, else label_letters and a key.
void name_points(Plot& plot) {
    Canvas with_names = plot.canvas;
    bool const all = std::ranges::all_of(plot.labels, [&](Label const& one) { return place_label(with_names, one); });
    if (all && !are_keys(plot.labels)) {
        plot.canvas = std::move(with_names);
    } else if (plot.labels.size() <= 2 * label_letters) {
        place_letters(plot);
    } else { // what has room; tables name the rest
        for (Label const& label : plot.labels) { place_label(plot.canvas, label); }
    }
}

// ---- rules -----------------------------------------------------------------------------------------------------

double column_of(Plot const& plot, Rule const& rule) {
    return std::round(plot.frame.x.share(rule.at) * last_column(plot));
}

double row_of(Plot const& plot, Rule const& rule) {
    return std::round((1.0 - plot.frame.y.share(rule.at)) * last_row(plot));
}

/// Places for the name of a vertical rule: from the top down, to the right of it and to the left.
std::vector<Slot> slots_beside(Plot const& plot, Rule const& rule, double wide) {
    std::vector<Slot> slots;
    double const column = column_of(plot, rule);
    for (double row = 0.0; row <= last_row(plot); row += 1.0) {
        bool const seen =
            plot.canvas.is_free(static_cast<std::size_t>(column), static_cast<std::size_t>(row), 1, Layer::rule);
        if (!seen) { continue; } // a name beside something else would be its name
        slots.push_back({column + 2.0, row, 0, 2});
        slots.push_back({column - wide - 1.0, row, 2, 0});
    }
    return slots;
}

/// Places for the name of a horizontal rule: above it, below it, from the right end on.
std::vector<Slot> slots_along(Plot const& plot, Rule const& rule, double wide) {
    std::vector<Slot> slots;
    double const row = row_of(plot, rule);
    for (double const line : {row - 1.0, row + 1.0}) {
        for (double column = last_column(plot) - wide; column >= 1.0; column -= 1.0) {
            slots.push_back({column, line, 3, 3}); // two names in one line are not one
        }
    }
    return slots;
}

bool name_rule(Plot& plot, Rule const& rule) {
    std::string const text = printable(rule.label);
    double const wide = static_cast<double>(columns_of(text));
    std::vector<Slot> const slots = rule.vertical ? slots_beside(plot, rule, wide) : slots_along(plot, rule, wide);
    return std::ranges::any_of(std::array{Layer::empty, Layer::band, Layer::reference, Layer::rule}, [&](Layer layer) {
        return std::ranges::any_of(slots,
                                   [&](Slot const& slot) { return write_if_free(plot.canvas, slot, text, layer, 0); });
    });
}

} // namespace

void draw_rules(Plot& plot) {
    for (Rule const& rule : plot.frame.rules) {
        Place const from{rule.vertical ? column_of(plot, rule) : 0.0, rule.vertical ? 0.0 : row_of(plot, rule)};
        Place const to{rule.vertical ? from.column : last_column(plot), rule.vertical ? last_row(plot) : from.row};
        std::string const glyph = rule.vertical ? plot.pick("\u2506", "|") : plot.pick("\u2504", "-");
        plot.canvas.line(from, to, glyph, Layer::rule, 0);
    }
}

void draw_labels(Plot& plot) {
    for (Rule const& rule : plot.frame.rules) {
        if (rule.label.empty() || name_rule(plot, rule)) { continue; }
        std::string const glyph = rule.vertical ? plot.pick("\u2506", "|") : plot.pick("\u2504", "-");
        plot.legend.push_back({glyph, printable(rule.label), 0});
    }
    name_points(plot);
}

} // namespace headroom::document
