#include "headroom/document/canvas.hpp"
#include "headroom/document/plot_text.hpp"
#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom::document {
namespace {

constexpr std::size_t widest_label = 24;

std::string letter_of(std::size_t part) {
    return std::string(1, static_cast<char>('a' + static_cast<char>(part % 26)));
}

/// Length of a bar that can be drawn: 0 for a value that is no number.
double length_of(double value) { return value > 0.0 && std::isfinite(value) ? value : 0.0; }

double sum_of(std::vector<double> const& values) {
    return std::accumulate(values.begin(), values.end(), 0.0,
                           [](double sum, double value) { return sum + length_of(value); });
}

std::string right_aligned(std::string const& text, std::size_t width) {
    std::size_t const used = columns_of(text);
    return std::string(width > used ? width - used : 0, ' ') + text;
}

/// Columns of characters of the bars.
struct BarLayout {
    std::size_t label = 0, bar = 0;
    double scale = 1.0;
    [[nodiscard]] std::size_t column(double value) const {
        return static_cast<std::size_t>(std::lround(std::clamp(value / scale, 0.0, 1.0) * static_cast<double>(bar)));
    }
};

BarLayout layout_of(StackedBars const& bars, std::size_t page) {
    BarLayout layout;
    layout.scale = length_of(bars.limit.value_or(0.0));
    std::size_t value = 0;
    for (std::size_t bar = 0; bar < bars.values.size(); ++bar) {
        layout.label = std::max(layout.label, std::min(widest_label, columns_of(bars.labels.at(bar))));
        layout.scale = std::max(layout.scale, sum_of(bars.values[bar]));
        value = std::max(value, columns_of(significant(sum_of(bars.values[bar]))));
    }
    std::size_t const rest = layout.label + value + 4;
    layout.bar = page > rest + 20 ? page - rest : 20;
    return layout;
}

/// Letters up to the ends of the parts, each rounded where it stands, so that the bar is as long as its sum.
std::string bar_text(std::vector<double> const& values, BarLayout const& layout, std::optional<double> limit,
                     TextStyle style, std::vector<bool>& shown) {
    std::vector<std::pair<std::string, std::size_t>> cells(layout.bar + 1, {" ", 0});
    double sum = 0.0;
    std::size_t from = 0;
    for (std::size_t part = 0; part < values.size(); ++part) {
        sum += length_of(values[part]);
        std::size_t const to = layout.column(sum);
        for (std::size_t at = from; at < to; ++at) { cells[at] = {letter_of(part), part + 1}; }
        shown[part] = shown[part] || to > from;
        from = std::max(from, to);
    }
    if (limit) { cells[layout.column(*limit)] = {style.unicode ? "\u2503" : "|", 0}; }
    std::string text;
    for (auto const& [glyph, ink] : cells) { text += inked(glyph, ink, style); }
    return text;
}

std::string legend(StackedBars const& bars, std::vector<bool> const& shown, std::size_t margin, TextStyle style) {
    std::string out, line(margin, ' ');
    std::size_t used = margin;
    auto const add = [&](std::string const& text, std::size_t columns) {
        if (used > margin && used + 2 + columns > style.width) {
            out += line + "\n";
            line = std::string(margin, ' ');
            used = margin;
        }
        std::string const gap = used > margin ? "  " : "";
        line += gap + text;
        used += gap.size() + columns;
    };
    std::vector<std::string> thin;
    for (std::size_t part = 0; part < bars.parts.size(); ++part) {
        std::string const name = printable(bars.parts[part]);
        bool const any =
            std::ranges::any_of(bars.values, [part](auto const& row) { return part < row.size() && row[part] > 0.0; });
        if (shown[part]) {
            add(inked(letter_of(part), part + 1, style) + " " + name, 2 + columns_of(name));
        } else if (any) {
            thin.push_back(name);
        }
    }
    if (used > margin) { out += line + "\n"; }
    if (thin.empty()) { return out; }
    for (std::string const& text : wrap("too thin to be seen: " + join(thin, ", "), style.width - margin)) {
        out += std::string(margin, ' ') + text + "\n";
    }
    return out;
}

} // namespace

std::string plot_text(StackedBars const& bars, TextStyle style) {
    BarLayout const layout = layout_of(bars, style.width);
    if (bars.values.empty() || !(layout.scale > 0.0) || !std::isfinite(layout.scale)) { return {}; }
    auto const limit = bars.limit && length_of(*bars.limit) > 0.0 ? bars.limit : std::nullopt;
    std::size_t const margin = layout.label + 2;
    std::string out;
    if (limit) {
        std::string const name = printable(bars.limit_name + " " + significant(*limit) + " " + bars.unit);
        std::size_t const at = margin + layout.column(*limit);
        bool const left = at > columns_of(name);
        out += left ? right_aligned(name, at) : std::string(at + 2, ' ') + name;
        out += "\n";
    }
    std::vector<bool> shown(bars.parts.size(), false);
    for (std::size_t bar = 0; bar < bars.values.size(); ++bar) {
        std::string const label = wrap(printable(bars.labels.at(bar)), widest_label).front();
        out += right_aligned(label, layout.label) + (style.unicode ? " \u2502" : " |") +
               bar_text(bars.values[bar], layout, limit, style, shown) + " " + significant(sum_of(bars.values[bar])) +
               "\n";
    }
    return out + legend(bars, shown, margin, style);
}

} // namespace headroom::document
