#include "headroom/document/chart_frame.hpp"
#include "headroom/document/document.hpp"
#include "headroom/document/plot_text.hpp"
#include "headroom/document/text.hpp"
#include "headroom/io/csv.hpp"

#include <algorithm>
#include <charconv>

namespace headroom::document {
namespace {

std::string bold(std::string const& text, TextStyle style) {
    return style.colour ? "\x1b[1m" + text + "\x1b[0m" : text;
}

void add_wrapped(std::string& out, std::string_view text, std::string_view first, std::string_view rest,
                 TextStyle style, bool strong = false) {
    bool is_first = true;
    for (std::string const& line : wrap(printable(text), style.width - columns_of(rest))) {
        out += is_first ? first : rest;
        out += strong ? bold(line, style) : line;
        out += '\n';
        is_first = false;
    }
}

// ---- tables ----------------------------------------------------------------------------------------------------

std::vector<std::size_t> natural_widths(Table const& table) {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        std::size_t width = columns_of(table.columns[c].title);
        for (auto const& row : table.rows) { width = std::max(width, columns_of(row.at(c))); }
        widths.push_back(width);
    }
    return widths;
}

struct Layout {
    std::vector<std::size_t> widths;
    std::size_t gap = 2, margin = 0;
};

/// Widths that fit the page: first the gaps narrow, then flexible columns give way, the widest first, then texts, whose words
/// are broken last of all.
Layout layout_of(Table const& table, std::size_t page) {
    Layout layout{natural_widths(table), 2, table.marked ? std::size_t{2} : std::size_t{0}};
    auto const total = [&layout] {
        std::size_t sum = layout.margin + layout.gap * (layout.widths.empty() ? 0 : layout.widths.size() - 1);
        for (std::size_t const width : layout.widths) { sum += width; }
        return sum;
    };
    std::vector<std::size_t> words; // longest of a column
    for (Column const& column : table.columns) { words.push_back(longest_word(column.title)); }
    for (auto const& row : table.rows) {
        for (std::size_t c = 0; c < row.size() && c < words.size(); ++c) {
            words[c] = std::max(words[c], std::min(longest_word(row[c]), most_of_a_word));
        }
    }
    auto const narrow = [&](bool any_text, bool whole_words, std::size_t least) {
        while (total() > page) {
            std::optional<std::size_t> widest;
            for (std::size_t c = 0; c < layout.widths.size(); ++c) {
                Column const& column = table.columns[c];
                bool const may = column.flexible || (any_text && column.align == Align::left);
                std::size_t const floor = whole_words ? std::max(least, words[c]) : least;
                if (may && layout.widths[c] > floor && (!widest || layout.widths[c] > layout.widths[*widest])) {
                    widest = c;
                }
            }
            if (!widest) { return; }
            --layout.widths[*widest];
        }
    };
    narrow(false, false, 24);
    if (total() > page) { layout.gap = 1; }
    narrow(false, true, 12);
    narrow(true, true, 6);
    narrow(false, false, 12);
    narrow(true, false, 6);
    return layout;
}

std::string padded(std::string const& text, std::size_t width, Align align) {
    std::size_t const used = columns_of(text);
    std::string const space(width > used ? width - used : 0, ' ');
    return align == Align::right ? space + text : text + space;
}

void add_row(std::string& out, Table const& table, Layout const& layout, std::vector<std::string> const& cells,
             bool marked, TextStyle style) {
    std::vector<std::vector<std::string>> lines;
    std::size_t height = 1;
    for (std::size_t c = 0; c < cells.size(); ++c) {
        std::string const cell = printable(cells[c]);
        lines.push_back(columns_of(cell) <= layout.widths[c] ? std::vector{cell} : wrap(cell, layout.widths[c]));
        height = std::max(height, lines.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
        std::string text = layout.margin == 0 ? "" : marked && line == 0 ? "* " : "  ";
        for (std::size_t c = 0; c < cells.size(); ++c) {
            if (c > 0) { text.append(layout.gap, ' '); }
            text += padded(line < lines[c].size() ? lines[c][line] : std::string{}, layout.widths[c],
                           table.columns[c].align);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += marked ? bold(text, style) : text;
        out += '\n';
    }
}

void add_text(std::string& out, Table const& table, TextStyle style) {
    if (!table.title.empty()) { add_wrapped(out, table.title, "", "", style, true); }
    Layout const layout = layout_of(table, style.width);
    std::vector<std::string> titles, rules;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        titles.push_back(table.columns[c].title);
        std::string rule;
        for (std::size_t i = 0; i < layout.widths[c] && !table.columns[c].title.empty(); ++i) {
            rule += style.unicode ? "\u2500" : "-";
        }
        rules.push_back(std::move(rule));
    }
    add_row(out, table, layout, titles, false, style);
    add_row(out, table, layout, rules, false, style);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        add_row(out, table, layout, table.rows[r], table.marked == r, style);
    }
}

// ---- the rest --------------------------------------------------------------------------------------------------

void add_text(std::string& out, Paragraph const& paragraph, TextStyle style) {
    std::string const label = paragraph.label.empty() ? "" : paragraph.label + ": ";
    add_wrapped(out, label + paragraph.text, "", paragraph.label.empty() ? "" : "  ", style, paragraph.strong);
}

std::string figure_title(Chart const& chart) { return chart.title; }

std::string figure_title(Gantt const& gantt) { return gantt.title; }

std::string figure_title(StackedBars const& bars) { return bars.title + ", " + bars.unit; }

void add_text(std::string& out, Items const& list, TextStyle style) {
    if (!list.title.empty()) { add_wrapped(out, list.title, "", "", style, true); }
    for (std::string const& item : list.items) { add_wrapped(out, item, "  - ", "    ", style); }
}

/// A chart or bars: title, drawing, and what to see in it.
template <class Figure> void add_figure(std::string& out, Figure const& figure, TextStyle style) {
    std::string const drawing = plot_text(figure, style);
    if (drawing.empty()) { return; }
    if (!figure.title.empty()) { add_wrapped(out, figure_title(figure), "", "", style, true); }
    out += drawing;
    if (!figure.caption.empty()) { add_wrapped(out, figure.caption, "", "", style); }
}

void add_text(std::string& out, StackedBars const& bars, TextStyle style) { add_figure(out, bars, style); }

void add_text(std::string& out, Chart const& chart, TextStyle style) { add_figure(out, chart, style); }

void add_text(std::string& out, Gantt const& gantt, TextStyle style) { add_figure(out, gantt, style); }

void add_text(std::string& /*out*/, SpanTimeline const& /*timeline*/, TextStyle /*style*/) {} // of pages alone

void add_text(std::string& out, HeatMap const& map, TextStyle style) {
    Table table = numbers_of(map);
    table.title = map.title + ", " + map.unit;
    add_text(out, table, style);
    if (!map.caption.empty()) { add_wrapped(out, map.caption, "", "", style); }
}

void add_text(std::string& out, Verbatim const& verbatim, TextStyle style) {
    if (!verbatim.title.empty()) { add_wrapped(out, verbatim.title, "", "", style, true); }
    out += printable_lines(verbatim.text);
    if (verbatim.text.empty() || verbatim.text.back() != '\n') { out += '\n'; }
}

// ---- Markdown --------------------------------------------------------------------------------------------------

/// Text that says in Markdown what it says here: no tags, no code, no line of its own.
std::string markdown_text(std::string_view text) {
    std::string result;
    for (char const c : printable(text)) {
        if (c == '<' || c == '`' || c == '|') { result += '\\'; }
        result += c;
    }
    return result;
}

void add_heading(std::string& out, std::string const& title) {
    if (!title.empty()) { out += "### " + markdown_text(title) + "\n\n"; }
}

void add_markdown(std::string& out, Table const& table) {
    add_heading(out, table.title);
    auto const row = [&](std::vector<std::string> const& cells, bool strong) {
        out += '|';
        for (std::size_t c = 0; c < cells.size(); ++c) {
            std::string const text = markdown_text(cells[c]);
            out += strong && !text.empty() ? " **" + text + "** |" : " " + text + " |";
        }
        out += '\n';
    };
    std::vector<std::string> titles, rules;
    for (Column const& column : table.columns) {
        titles.push_back(column.title);
        rules.emplace_back(column.align == Align::right ? "---:" : "---");
    }
    row(titles, false);
    row(rules, false);
    for (std::size_t r = 0; r < table.rows.size(); ++r) { row(table.rows[r], table.marked == r); }
}

void add_markdown(std::string& out, Paragraph const& paragraph) {
    if (!paragraph.label.empty()) { out += "*" + markdown_text(paragraph.label) + ":* "; }
    std::string const text = markdown_text(paragraph.text);
    out += paragraph.strong ? "**" + text + "**\n" : text + "\n";
}

void add_markdown(std::string& out, Items const& list) {
    add_heading(out, list.title);
    for (std::string const& item : list.items) { out += "- " + markdown_text(item) + "\n"; }
}

template <class Figure> void add_markdown_figure(std::string& out, Figure const& figure) {
    std::string const drawing = plot_text(figure, {});
    if (drawing.empty()) { return; }
    add_heading(out, figure_title(figure));
    out += "```\n" + drawing + "```\n";
    if (!figure.caption.empty()) { out += "\n" + markdown_text(figure.caption) + "\n"; }
}

void add_markdown(std::string& out, StackedBars const& bars) { add_markdown_figure(out, bars); }

void add_markdown(std::string& out, Chart const& chart) { add_markdown_figure(out, chart); }

void add_markdown(std::string& out, Gantt const& gantt) { add_markdown_figure(out, gantt); }

void add_markdown(std::string& /*out*/, SpanTimeline const& /*timeline*/) {}

void add_markdown(std::string& out, HeatMap const& map) {
    Table table = numbers_of(map);
    table.title = map.title + ", " + map.unit;
    add_markdown(out, table);
    if (!map.caption.empty()) { out += "\n" + markdown_text(map.caption) + "\n"; }
}

void add_markdown(std::string& out, Verbatim const& verbatim) {
    add_heading(out, verbatim.title);
    out += "```\n" + printable_lines(verbatim.text) + (verbatim.text.ends_with('\n') ? "" : "\n") + "```\n";
}

} // namespace

std::string render_text(Document const& document, TextStyle style) {
    std::string out;
    bool after_label = false; // labelled paragraphs stand together
    for (Block const& block : document.blocks) {
        std::string part;
        std::visit([&](auto const& content) { add_text(part, content, style); }, block);
        if (part.empty()) { continue; }
        bool const labelled = std::holds_alternative<Paragraph>(block) && !std::get<Paragraph>(block).label.empty();
        if (!out.empty() && !(labelled && after_label)) { out += '\n'; }
        out += part;
        after_label = labelled;
    }
    if (!document.footer.empty()) {
        out += '\n';
        add_wrapped(out, document.footer, "", "", style);
    }
    return out;
}

std::string render_markdown(Document const& document) {
    std::string out = "## " + markdown_text(document.title) + "\n";
    for (Block const& block : document.blocks) {
        std::string part;
        std::visit([&part](auto const& content) { add_markdown(part, content); }, block);
        if (!part.empty()) { out += "\n" + part; }
    }
    if (!document.footer.empty()) { out += "\n" + markdown_text(document.footer) + "\n"; }
    return out;
}

namespace {

/// A cell that a spreadsheet takes for text or a number, never for a formula: an apostrophe goes before other cells that
/// begin with =, +, - or @.
std::string inert(std::string_view cell) {
    std::string const text = printable(cell);
    if (text.size() < 2 || std::string_view{"=+-@"}.find(text[0]) == std::string_view::npos) { return text; }
    double value = 0.0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool const number = error == std::errc{} && end == text.data() + text.size();
    return number ? text : "'" + text;
}

} // namespace

std::string render_csv(Sheet const& sheet) {
    std::string out;
    auto const line = [&out](std::vector<std::string> const& cells) {
        for (std::size_t c = 0; c < cells.size(); ++c) {
            if (c > 0) { out += ','; }
            out += io::csv_cell(inert(cells[c]));
        }
        out += '\n';
    };
    line(sheet.header);
    for (auto const& row : sheet.rows) { line(row); }
    return out;
}

} // namespace headroom::document
