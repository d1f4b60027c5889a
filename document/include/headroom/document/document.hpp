#pragma once

#include "headroom/issue.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headroom::document {

/// Part of a block in the first screen of a result, which `screen_of` makes.
enum class Part {
    usual,   ///< by its kind: a strong paragraph or the first table is the answer, a labelled paragraph a note
    answer,  ///< always there: it answers an option that was given
    warning, ///< missing, damaged or uncertain data: counted in a line, never left out
    assumed, ///< values that nobody stated: in one line
    detail,  ///< not there
};

/// A sentence, and the title of the block that holds its evidence; empty: none.
struct Sentence {
    std::string text, evidence = {};
};

/// A sentence or a few, wrapped to the page. `label` stands before it ("why: ...").
struct Paragraph {
    std::string text;
    std::string label = {};
    bool strong = false;
    Part part = Part::usual;
    std::vector<Sentence> linked = {}; ///< its sentences, which a page links to their evidence
};

enum class Align { left, right };

/// A column of numbers, or as `left`, `wrapped` and `spare` make it.
struct Column {
    Column(char const* text) : title{text} {}
    Column(std::string text, Align where = Align::right) : title{std::move(text)}, align{where} {}

    std::string title; ///< with its unit: "step s"
    Align align = Align::right;
    bool flexible = false; ///< may be wrapped when the page is too narrow
    bool spare = false;    ///< the first to be left out of a screen, or of a page, that is too narrow
};
/// A column of words.
inline Column left(std::string title) { return {std::move(title), Align::left}; }
/// A column of words that may be wrapped when the page is too narrow.
inline Column wrapped(std::string title, Align align = Align::left) {
    Column column{std::move(title), align};
    column.flexible = true;
    return column;
}
/// A column that is the first to be left out of a screen, or of a page, that is too narrow.
inline Column spare(std::string title, Align align = Align::right) {
    Column column{std::move(title), align};
    column.spare = true;
    return column;
}

struct Table {
    std::string title;
    std::vector<Column> columns = {};
    std::vector<std::vector<std::string>> rows = {};
    std::optional<std::size_t> marked = {}; ///< the chosen row
    Part part = Part::usual;
    std::vector<std::string> hints = {}; ///< of rows, which a page shows to a pointer; empty: none
};

struct Items {
    std::string title;
    std::vector<std::string> items;
    Part part = Part::usual;
};

/// Parts of a whole, one bar a label.
struct StackedBars {
    std::string title, unit;
    std::vector<std::string> parts, labels;
    std::vector<std::vector<double>> values; ///< a row a label, a value a part
    std::optional<double> limit = {};
    std::string limit_name = {};
    std::string caption = {}; ///< point of the drawing, in words
    /// A page draws each bar from here to its sum, shorter ones to the left: changes of one value. Empty: from 0.
    std::optional<double> origin = {};
};

// ---- charts ---------------------------------------------------------------------------------------------------

enum class AxisScale { linear, logarithmic };

struct Axis {
    std::string title; ///< with its unit: "workers", "step ms"
    AxisScale scale = AxisScale::linear;
};

/// Drawing of the points of a series.
enum class Mark {
    line,   ///< a curve, with a mark at each point
    smooth, ///< a curve alone: a law, sampled
    dashed, ///< a reference: the ideal
    points, ///< measurements
    band,   ///< between `low` and `high`
    bars,   ///< one bar a point
};

struct Series {
    std::string name;
    Mark mark = Mark::line;
    std::vector<double> x = {}, y = {};
    std::vector<double> low = {}, high = {}; ///< the interval of each point (band, and bars of error)
    std::vector<std::string> labels = {};    ///< next to each point; empty: none
};

/// A line across the chart: a ceiling (horizontal), a knee or a peak (vertical).
struct Rule {
    bool vertical = false;
    double at = 0.0;
    std::string label = {};
};

/// A figure on two axes: drawn by characters in a terminal, by the chart library on a page, where its numbers
/// stand below it as a table. Of thousands of points, draw every so many and say so in the caption.
struct Chart {
    std::string title;
    std::string caption; ///< point of the chart, in words
    Axis x, y;
    std::vector<Series> series = {};
    std::vector<Rule> rules = {};
    std::optional<std::size_t> chosen = {}; ///< a point of the first series
};

/// Name of the bars of one kind, and their letter in a terminal.
struct GanttKind {
    std::string name; ///< "forward"
    char letter = '#';
};

/// One thing that a lane does, from `begin` to `end`.
struct GanttBar {
    std::size_t lane = 0, kind = 0;
    double begin = 0.0, end = 0.0;
    std::string label = {}; ///< short: "12"; written where it has room
    int tone = 0;           ///< of several alike (chunks of a model) each has its own; later ones are paler
};

/// Schedule of work: a row a lane, time across. Time that no bar of a lane covers is `idle`. Bars of one lane do not
/// overlap. Whatever the number of bars, drawings and pages are bounded: where there are more bars than can be
/// distinguished, each slice of time shows its shares, and the drawing states that.
struct Gantt {
    std::string title;
    std::string caption;            ///< point of the drawing, in words
    std::string unit;               ///< of time: "ms"
    std::vector<std::string> lanes; ///< from top to bottom
    std::vector<GanttKind> kinds;
    std::vector<GanttBar> bars;
    double end = 0.0;            ///< of the drawing; it begins at 0
    std::string idle = "idle";   ///< name of a gap
    std::string label_name = {}; ///< meaning of a label: "micro-batch"
    std::string tone_name = {};  ///< meaning of a tone: "chunk"
};

/// One interval of a lane; numbers into the lists of its timeline. Times are nanoseconds.
struct TimelineSpan {
    std::uint32_t lane = 0, name = 0, kind = 0;
    std::int64_t begin = 0, duration = 0;
};

/// Lane of a timeline: a thread or stream of a rank.
struct TimelineLane {
    std::string process, name;
};

/// Intervals with their names, on a page: a canvas to zoom and to move, with names under the pointer, and a button that
/// writes them as a Chrome trace. A terminal leaves it out.
struct SpanTimeline {
    std::string title;
    std::string caption; ///< point of the drawing, in words
    std::string file;    ///< name of what the button writes
    std::vector<TimelineLane> lanes;
    std::vector<std::string> kinds, names;
    std::vector<TimelineSpan> spans; ///< by lane, there by begin; of a lane without overlap
    std::string path_name = {};      ///< of the chain that is marked
    std::vector<TimelineSpan> path = {};
    std::int64_t end = 0; ///< of the drawing; it begins at 0
};

/// Values over two lists: a table whose cells a page colours by their size.
struct HeatMap {
    std::string title;
    std::string caption;          ///< point of the drawing, in words
    std::string unit;             ///< "tokens/s"
    std::string row_name = {};    ///< meaning of the rows: "micro-batch"
    std::string column_name = {}; ///< meaning of the columns
    std::vector<std::string> rows, columns;
    std::vector<std::vector<std::optional<double>>> values; ///< a list a row; empty where there is none
    std::vector<std::vector<std::string>> notes = {};       ///< below each value, on a page: "tp4 pp2"; empty: none
};

/// Text to be shown as it is.
struct Verbatim {
    std::string title, text;
};

/// The block with another part in a first screen.
template <class Content> Content as(Part part, Content content) {
    content.part = part;
    return content;
}

using Block = std::variant<Paragraph, Table, Items, StackedBars, Chart, Gantt, SpanTimeline, HeatMap, Verbatim>;

/// A table; nothing where it has no rows.
void add_table(std::vector<Block>& blocks, Table table);

/// Faults of the input and content of it that was not used, as a list; nothing where there is none.
void add_issues(std::vector<Block>& blocks, std::vector<Issue> const& issues);

/// A result for people: one list of blocks, drawn as text, as Markdown or as a page.
struct Document {
    std::string title;
    std::vector<Block> blocks;
    std::string footer;
};

/// Room of a first screen.
struct ScreenSize {
    std::size_t lines = 25, width = 80;
};

/// The first screen of a whole result: answer, table, at most three notes, a line of assumptions, a line that counts the
/// warnings, and a line that names what `--full` adds. Rows and columns without a value other than zero are left out;
/// then rows, notes and columns until it fits.
Document screen_of(Document const& whole, ScreenSize size);

/// Leaves out columns until a table fits a width: those that are spare, then the last. Returns how many are gone.
std::size_t narrow(Table& table, std::size_t width);

/// The answer of a whole result in one line, with the number of its warnings.
std::string line_of(Document const& whole);

struct TextStyle {
    bool colour = false;
    bool unicode = false;
    std::size_t width = 80;
};

/// Script that draws the figures of a page, and the hash by which the page allows it and no other. Empty in a program
/// that was built without the chart library; its pages carry tables.
struct ChartLibrary {
    std::string_view script, hash;
};

std::string render_text(Document const& document, TextStyle style);
std::string render_markdown(Document const& document);
std::string render_html(Document const& document, ChartLibrary const& library);

/// Rows for machines: exact numbers, RFC 4180.
struct Sheet {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows = {};
};
std::string render_csv(Sheet const& sheet);

} // namespace headroom::document
