#pragma once

// One table written in every layout that its reader takes.

#include "headroom/io/csv.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::test {

using TableCells = std::vector<std::vector<std::string>>; ///< the header first

inline constexpr std::string_view layouts[]{"comma",     "semicolon", "tab",  "markdown", "open markdown",
                                            "plain box", "box",       "wide", "comment",  "quotes and returns"};

inline std::string padded(std::string const& cell, std::size_t width) {
    return cell + std::string(width - std::min(width, cell.size()), ' ');
}

inline std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) { all += text; }
    return all;
}

/// Between `left` and `right`, cells parted by `between`, each as wide as the widest of its column.
inline std::string lines_of(TableCells const& cells, std::string_view left, std::string_view between,
                            std::string_view right, std::string_view rule_mark, std::string_view cross, bool around) {
    std::vector<std::size_t> widths(cells.front().size());
    for (auto const& row : cells) {
        for (std::size_t c = 0; c < row.size(); ++c) { widths[c] = std::max(widths[c], row[c].size()); }
    }
    std::string rule;
    for (std::size_t const width : widths) {
        rule += (rule.empty() ? std::string{} : std::string{cross}) + repeated(rule_mark, width + 2);
    }
    std::string text = around ? std::string{cross} + rule + std::string{cross} + "\n" : std::string{};
    for (std::size_t r = 0; r < cells.size(); ++r) {
        text += left;
        for (std::size_t c = 0; c < cells[r].size(); ++c) {
            text += (c > 0 ? std::string{between} : std::string{}) + padded(cells[r][c], widths[c]);
        }
        text += std::string{right} + "\n";
        if (r == 0 && !rule_mark.empty()) { text += (around ? std::string{cross} : std::string{left}) + rule + "\n"; }
    }
    return around ? text + std::string{cross} + rule + std::string{cross} + "\n" : text;
}

inline std::string delimited(TableCells const& cells, char delimiter, bool quotes, std::string_view end) {
    std::string text;
    for (auto const& row : cells) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            std::string cell = io::csv_cell(row[c]);
            bool const must = row[c].find(delimiter) != std::string::npos || quotes;
            if (must && !cell.starts_with('"')) { cell = '"' + cell + '"'; }
            text += (c > 0 ? std::string{delimiter} : std::string{}) + cell;
        }
        text += end;
    }
    return text;
}

inline std::string in_layout(TableCells const& cells, std::string_view layout) {
    if (layout == "semicolon") { return delimited(cells, ';', false, "\n"); }
    if (layout == "tab") { return delimited(cells, '\t', false, "\n"); }
    if (layout == "markdown") { return lines_of(cells, "| ", " | ", " |", "-", "|", false); }
    if (layout == "open markdown") { return lines_of(cells, "", " | ", "", "-", "|", false); }
    if (layout == "plain box") { return lines_of(cells, "| ", " | ", " |", "=", "+", true); }
    if (layout == "box") { return lines_of(cells, "│ ", " │ ", " │", "─", "┼", true); }
    if (layout == "wide") { return lines_of(cells, "", "   ", "", "", "", false); }
    if (layout == "comment") { return "# written by a test\n\n" + delimited(cells, ',', false, "\n"); }
    if (layout == "quotes and returns") { return "\xEF\xBB\xBF" + delimited(cells, ',', true, "\r\n"); }
    return delimited(cells, ',', false, "\n");
}

} // namespace headroom::test
