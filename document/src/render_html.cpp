#include "headroom/document/chart_frame.hpp"
#include "headroom/document/page_data.hpp"
#include "headroom/document/text.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace headroom::document {
namespace {

/// Colours by name, so that a dark screen has its own; the drawings use the same names.
constexpr char const* style_sheet = R"(
:root { color-scheme: light dark; --ink: #1d2733; --paper: #fff; --soft: #5b6876; --line: #e3e8ee; --edge: #b9c4d0;
  --accent: #0072b2; --link: #0b5a8a; --marked: #e8f1fb; --code: #f5f7f9; --shadow: #1d273333;
  --chart-ink: #3a4654; --grid: #e6eaef; --faint: #8894a1; --alarm: #a4161a; --gap: #f4f5f7; }
@media screen and (prefers-color-scheme: dark) {
:root { --ink: #dde4ec; --paper: #14181d; --soft: #9aa7b5; --line: #2a323b; --edge: #465361;
  --accent: #4a9fe0; --link: #7cc0f5; --marked: #1c2f42; --code: #1d232a; --shadow: #00000099;
  --chart-ink: #c3ced9; --grid: #2a323b; --faint: #8894a1; --alarm: #ff7b72; --gap: #222932;
  --c0: #4a9fe0; --c1: #f0803c; --c2: #2bb98e; --c3: #e09cc4; --c4: #f0b030; --c5: #8ccdf5; --c6: #d6709a;
  --c7: #b8b84d; --c8: #8f86e0; --c9: #66c7b8; --c10: #d070d0; --c11: #a8a8a8; --c12: #e8dca0; --c13: #d98060; } }
body { font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 58rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.35rem; margin: 0 0 1rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
p.strong { font-weight: 600; }
h1 + p.strong { font-size: 1.1rem; border-left: 4px solid var(--accent); padding: .3rem 0 .3rem .8rem; }
.scroll { overflow-x: auto; background: linear-gradient(to right, var(--paper) 40%, transparent) 0 0 / 2.5rem 100%,
          linear-gradient(to left, var(--paper) 40%, transparent) 100% 0 / 2.5rem 100%,
          linear-gradient(to right, var(--shadow), transparent) 0 0 / .7rem 100%,
          linear-gradient(to left, var(--shadow), transparent) 100% 0 / .7rem 100%;
          background-repeat: no-repeat; background-attachment: local, local, scroll, scroll; }
.tall, details .scroll { max-height: 30rem; overflow-y: auto; } .tall { border: 1px solid var(--edge); }
.rows, .narrow { margin: .3rem 0; color: var(--soft); font-size: .85rem; } .narrow { display: none; }
.tall thead th, details thead th { position: sticky; top: 0; background: var(--paper); box-shadow: 0 2px var(--edge); }
.option { white-space: nowrap; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; border-bottom: 2px solid var(--edge); } .number { text-align: right; white-space: nowrap; }
td, th { white-space: nowrap; } td.text { white-space: normal; min-width: 12rem; }
td.words.flexible { white-space: normal; min-width: 8rem; }
h1, h2, p, li, summary, figcaption { overflow-wrap: anywhere; }
tr.marked { background: var(--marked); font-weight: 600; } tr[title] { cursor: help; }
.heat td { color: #1d2733; print-color-adjust: exact; } .heat small { white-space: normal; font-size: .75rem; }
pre { background: var(--code); padding: .8rem; overflow-x: auto; font-size: .85rem; }
figure { margin: 1.8rem 0; } figure h2 { margin-top: 0; }
figcaption { max-width: 46rem; margin-top: .35rem; } summary { cursor: pointer; color: var(--link); }
details { margin-top: .4rem; }
.drawing { position: relative; } .drawing svg { display: block; overflow: visible; }
.drawing canvas { display: block; cursor: crosshair; touch-action: pan-y; }
.drawing canvas:focus-visible { outline: 2px solid var(--accent); }
.drawing .hint { position: absolute; pointer-events: none; background: var(--ink); color: var(--paper); font-size: .8rem; line-height: 1.35;
  padding: .25rem .5rem; border-radius: 3px; max-width: 24rem; overflow-wrap: anywhere; z-index: 1; }
.tools { display: flex; flex-wrap: wrap; gap: .4rem; margin: .2rem 0 .5rem; align-items: baseline; font-size: .85rem; color: var(--soft); }
.tools button { font: inherit; color: var(--ink); background: var(--code); border: 1px solid var(--edge); border-radius: 3px; padding: .1rem .6rem; cursor: pointer; }
a.evidence { color: inherit; text-decoration: underline dotted var(--soft); text-underline-offset: .2em; } a.evidence:hover { color: var(--link); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .2rem 0 .4rem; font-size: .85rem; color: var(--chart-ink); }
.legend span { display: inline-flex; align-items: center; gap: .4rem; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .85rem; }
@media screen and (max-width: 40rem) { body { margin: 1rem auto; padding: 0 .7rem; } ul { padding-left: 1.2rem; }
  table { font-size: .8rem; } th, td { padding: .2rem .35rem; } td.text { min-width: 6.5rem; }
  td.words, td.words.flexible { white-space: normal; min-width: 6.5rem; } .spare { display: none; } .narrow { display: block; } }
@page { margin: 1.4cm; }
@media print { :root { font-size: 13px; } .rows { display: none; } body { max-width: none; margin: 0; padding: 0; font-size: 12px; }
  .scroll, pre { overflow: visible; background: none; } .tall, details .scroll { max-height: none; border: 0; overflow: visible; }
  table { max-width: 100%; font-size: .8rem; } th, td { padding: .15rem .4rem; } table.many { font-size: .6rem; }
  td, th, .number, .option { white-space: normal; } td.text { min-width: 0; overflow-wrap: anywhere; }
  table.many td, table.many th { overflow-wrap: anywhere; padding: .1rem .2rem; }
  .tall thead th, details thead th { position: static; box-shadow: none; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; } .drawing svg { max-width: 100%; height: auto; }
  tr, figure .drawing, .legend, pre { break-inside: avoid; } h2, figcaption { break-after: avoid; } })";

std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : printable_lines(text)) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        case '\'': out += "&#39;"; break;
        default: out += c;
        }
    }
    return out;
}

std::string heading(std::string const& title) { return title.empty() ? "" : "<h2>" + escaped(title) + "</h2>\n"; }

/// Name of a block on its page: "Who arrives last" -> "who-arrives-last".
std::string anchor(std::string_view title) {
    std::string name;
    for (char const c : title) {
        bool const capital = c >= 'A' && c <= 'Z';
        char const small = capital ? static_cast<char>(c - 'A' + 'a') : c;
        bool const keeps = (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9');
        if (keeps) { name += small; }
        if (!keeps && !name.empty() && name.back() != '-') { name += '-'; }
    }
    return name;
}

// ---- words and tables ------------------------------------------------------------------------------------------

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// Where the option ends that begins here, "--like-this"; `at` where none does.
std::size_t end_of_option(std::string_view text, std::size_t at) {
    bool const begins = text.substr(at, 2) == "--" && at + 2 < text.size() && is_letter(text[at + 2]) &&
                        (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(');
    if (!begins) { return at; }
    std::size_t end = at + 3;
    while (end < text.size() && (is_letter(text[end]) || text[end] == '-')) { ++end; }
    return end;
}

/// A sentence, with no number parted from its "%" and no option from its hyphens.
std::string sentence(std::string_view text) {
    std::string const all = escaped(text);
    std::string out;
    for (std::size_t at = 0; at < all.size();) {
        if (std::size_t const end = end_of_option(all, at); end > at) {
            out += "<span class=\"option\">" + all.substr(at, end - at) + "</span>";
            at = end;
        } else if (all.compare(at, 2, " %") == 0) {
            out += "&nbsp;";
            ++at;
        } else {
            out += all[at++];
        }
    }
    return out;
}

/// Text of a cell; a narrow screen may break a list after its commas.
std::string cell_words(std::string_view text) {
    std::string const all = sentence(text);
    std::string out;
    for (char const c : all) {
        out += c;
        if (c == ',') { out += "<wbr>"; }
    }
    return out;
}

constexpr std::size_t many_rows = 60;    ///< a table of more is moved through in a window of its own
constexpr std::size_t many_columns = 11; ///< a table of more is printed small

/// Classes of a cell: numbers, texts by their length, and what a narrow screen leaves out.
std::string class_of(Column const& column, std::size_t columns) {
    std::string const kind = column.align == Align::right ? "number"
                             : columns > 30               ? "text" // a sentence is not squeezed into a word a line
                             : columns > 16               ? "words"
                                                          : "";
    std::string all = kind;
    for (auto const& [holds, name] : {std::pair{column.spare, "spare"}, std::pair{column.flexible, "flexible"}}) {
        if (holds) { all += (all.empty() ? "" : " ") + std::string{name}; }
    }
    return all;
}

/// Columns that a narrow screen leaves out, in words that only it shows.
std::string left_out_note(Table const& table) {
    std::vector<std::string> names;
    for (Column const& column : table.columns) {
        if (column.spare) { names.push_back(column.title); }
    }
    if (names.empty()) { return {}; }
    return "<p class=\"narrow\">A wider window also shows " + escaped(join(names, ", ")) + ".</p>\n";
}

void add_html(std::string& out, Paragraph const& paragraph, std::set<std::string> const& evidence) {
    out += paragraph.strong ? "<p class=\"strong\">" : "<p>";
    if (!paragraph.label.empty()) { out += "<b>" + escaped(paragraph.label) + ":</b> "; }
    if (paragraph.linked.empty()) { out += sentence(paragraph.text); }
    bool first = true;
    for (Sentence const& one : paragraph.linked) {
        std::string const words = (first ? "" : " ") + sentence(one.text);
        bool const links = evidence.contains(one.evidence);
        out += links ? "<a class=\"evidence\" href=\"#" + anchor(one.evidence) + "\">" + words + "</a>" : words;
        first = false;
    }
    out += "</p>\n";
}

void add_html(std::string& out, Table const& table) {
    auto const row = [&](std::vector<std::string> const& cells, char const* tag) {
        for (std::size_t c = 0; c < cells.size(); ++c) {
            bool const number = table.columns[c].align == Align::right;
            std::string const kind = class_of(table.columns[c], columns_of(cells[c]));
            out += std::string{"<"} + tag + (kind.empty() ? "" : " class=\"" + kind + "\"") + ">" +
                   (number ? escaped(cells[c]) : cell_words(cells[c])) + "</" + tag + ">";
        }
        out += "</tr>\n";
    };
    out += heading(table.title) +
           (table.rows.size() > many_rows ? "<div class=\"scroll tall\">" : "<div class=\"scroll\">") +
           (table.columns.size() > many_columns ? "<table class=\"many\">" : "<table>") + "\n<thead><tr>";
    std::vector<std::string> titles;
    for (Column const& column : table.columns) { titles.push_back(column.title); }
    row(titles, "th");
    out += "</thead>\n<tbody>\n";
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        std::string const hint =
            r < table.hints.size() && !table.hints[r].empty() ? " title=\"" + escaped(table.hints[r]) + "\"" : "";
        out += (table.marked == r ? "<tr class=\"marked\"" : "<tr") + hint + ">";
        row(table.rows[r], "td");
    }
    out += "</tbody></table></div>\n" + left_out_note(table);
    if (table.rows.size() > many_rows) {
        out += "<p class=\"rows\">" + counted(table.rows.size(), "row") + ", more than the frame shows at once.</p>\n";
    }
}

/// Title, drawing, what to see in it, and its numbers; the script that draws closes the numbers.
template <class Figure> void add_figure(std::string& out, Figure const& figure, std::string const& title) {
    out += "<figure>\n" + heading(title) + "<div class=\"drawing\"></div>\n<figcaption>" + sentence(figure.caption) +
           "</figcaption>\n<details open><summary>The numbers</summary>\n";
    add_html(out, numbers_of(figure));
    out += "</details>\n</figure>\n";
}

void add_html(std::string& out, Chart const& chart) { add_figure(out, chart, chart.title); }

void add_html(std::string& out, Gantt const& gantt) { add_figure(out, gantt, gantt.title); }

void add_html(std::string& out, SpanTimeline const& timeline) { add_figure(out, timeline, timeline.title); }

void add_html(std::string& out, StackedBars const& bars) { add_figure(out, bars, bars.title + ", " + bars.unit); }

/// White for the least value, blue for the largest: dark text is read on both.
std::string shade(double share) {
    constexpr double red = 0x56, green = 0xb4, blue = 0xe9, white = 255.0;
    auto const mixed = [share](double full) {
        return std::to_string(static_cast<int>(white + share * (full - white)));
    };
    return "rgb(" + mixed(red) + "," + mixed(green) + "," + mixed(blue) + ")";
}

/// Coloured cells, which need no script; one that runs draws them anew, as `headroom serve` does.
void add_html(std::string& out, HeatMap const& map) {
    Table const table = numbers_of(map);
    auto const shares = shares_of(map);
    out += "<figure>\n" + heading(map.title + ", " + map.unit) +
           "<div class=\"drawing scroll\"><table class=\"heat\">\n<thead><tr>";
    for (Column const& column : table.columns) { out += "<th>" + escaped(column.title) + "</th>"; }
    out += "</tr></thead>\n<tbody>\n";
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        out += "<tr><th>" + escaped(table.rows[r].front()) + "</th>";
        for (std::size_t c = 1; c < table.rows[r].size(); ++c) {
            std::string const note = map.notes.empty() ? "" : map.notes[r][c - 1];
            out += "<td class=\"number\" style=\"background:" + shade(shares[r][c - 1]) + "\">" +
                   escaped(table.rows[r][c]) + (note.empty() ? "" : "<br><small>" + escaped(note) + "</small>") +
                   "</td>";
        }
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n<figcaption>" + sentence(map.caption) + "</figcaption>\n</figure>\n";
}

void add_html(std::string& out, Items const& list) {
    out += heading(list.title) + "<ul>\n";
    for (std::string const& item : list.items) { out += "<li>" + sentence(item) + "</li>\n"; }
    out += "</ul>\n";
}

void add_html(std::string& out, Verbatim const& verbatim) {
    out += heading(verbatim.title) + "<pre>" + escaped(verbatim.text) + "</pre>\n";
}

/// `maps`: heat maps count, which are coloured tables without a script.
bool has_figures(Document const& document, bool maps) {
    return std::ranges::any_of(document.blocks, [maps](Block const& block) {
        return std::holds_alternative<Chart>(block) || std::holds_alternative<StackedBars>(block) ||
               std::holds_alternative<Gantt>(block) || std::holds_alternative<SpanTimeline>(block) ||
               (maps && std::holds_alternative<HeatMap>(block));
    });
}

/// Nothing is fetched, and no script runs but the library: not even one that a name has smuggled in.
std::string policy(ChartLibrary const& library) {
    std::string const script = library.hash.empty() ? "" : "; script-src '" + std::string{library.hash} + "'";
    return "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'" +
           script + "\">\n";
}

/// Where the figures are, when they are not drawn.
std::string drawing_note(Document const& document, ChartLibrary const& library) {
    if (!has_figures(document, false)) { return {}; }
    if (library.script.empty()) {
        return "<p>This program was built without the chart library: its figures are left out, their numbers stand in "
               "the tables.</p>\n";
    }
    return "<noscript><p>The figures are drawn by a script, which is switched off here; their numbers stand in the "
           "tables.</p></noscript>\n";
}

/// The figures' numbers and what draws them, at the end of the page.
std::string drawing_script(Document const& document, ChartLibrary const& library) {
    if (!has_figures(document, true) || library.script.empty()) { return {}; }
    return "<script type=\"application/json\" id=\"figures\">\n" + page_data(document) + "</script>\n<script>" +
           std::string{library.script} + "</script>\n";
}

template <class Content> std::string title_of(Content const& content) {
    if constexpr (requires { content.title; }) { return content.title; }
    return {};
}

/// Titles of blocks to which sentences of the document link.
std::set<std::string> evidence_in(Document const& document) {
    std::set<std::string> asked, there;
    for (Block const& block : document.blocks) {
        std::string const title = std::visit([](auto const& content) { return title_of(content); }, block);
        auto const* paragraph = std::get_if<Paragraph>(&block);
        for (Sentence const& one : paragraph == nullptr ? std::vector<Sentence>{} : paragraph->linked) {
            asked.insert(one.evidence);
        }
        if (!title.empty()) { there.insert(title); }
    }
    std::set<std::string> both;
    std::ranges::set_intersection(asked, there, std::inserter(both, both.begin()));
    return both;
}

} // namespace

std::string render_html(Document const& document, ChartLibrary const& library) {
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" + policy(library) +
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
                      escaped(document.title) + "</title>\n<style>" + style_sheet + "</style>\n</head>\n<body>\n<h1>" +
                      escaped(document.title) + "</h1>\n";
    std::set<std::string> const evidence = evidence_in(document);
    std::set<std::string> to_come = evidence; // the first block of a title is the one that links lead to
    for (Block const& block : document.blocks) {
        std::visit(
            [&](auto const& content) {
                std::string const title = title_of(content);
                if (to_come.erase(title) > 0) { out += "<span id=\"" + anchor(title) + "\"></span>\n"; }
                if constexpr (requires { content.linked; }) {
                    add_html(out, content, evidence);
                } else {
                    add_html(out, content);
                }
            },
            block);
    }
    return out + drawing_note(document, library) + "<footer>" + escaped(document.footer) + "</footer>\n" +
           drawing_script(document, library) + "</body>\n</html>\n";
}

} // namespace headroom::document
