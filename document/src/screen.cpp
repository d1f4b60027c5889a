#include "headroom/document/document.hpp"
#include "headroom/document/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>

namespace headroom::document {
namespace {

constexpr std::size_t most_notes = 3, lines_of_note = 3, lines_of_item = 2, longest_line = 160;

// ---- texts cut_line ---------------------------------------------------------------------------------------------------

/// Ends of the parts of a text: behind its sentences, or behind its clauses.
std::vector<std::size_t> ends_of(std::string_view text, char mark) {
    std::vector<std::size_t> ends;
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
        if (at + 2 >= text.size() || text[at + 1] != ' ') { continue; }
        char const next = text[at + 2];
        bool const begins = mark != '.' || (next >= 'A' && next <= 'Z') || (next >= '0' && next <= '9');
        if (begins) { ends.push_back(at + (mark == '.' ? 1 : 0)); }
    }
    ends.push_back(text.size());
    return ends;
}

/// As many whole sentences as `columns` hold, one at least; of a longer sentence as many clauses.
std::string cut_line(std::string_view text, std::size_t columns) {
    auto const kept = [columns](std::string_view whole, char mark) {
        std::vector<std::size_t> const ends = ends_of(whole, mark);
        std::size_t best = ends.front();
        for (std::size_t const end : ends) {
            if (columns_of(whole.substr(0, end)) <= columns) { best = end; }
        }
        return whole.substr(0, best);
    };
    std::string_view const sentences = kept(text, '.');
    return std::string{columns_of(sentences) <= columns ? sentences : kept(sentences, ';')};
}

/// Words in a row until a line is full: "a, b and 3 more".
std::string listed(std::vector<std::string> const& words, std::size_t columns) {
    constexpr std::size_t room_for_rest = 13; // " and 12 more"
    std::string text;
    std::size_t count = 0;
    for (; count < words.size(); ++count) {
        std::string const next = (count == 0 ? "" : ", ") + words[count];
        bool const last = count + 1 == words.size();
        if (count > 0 && columns_of(text) + columns_of(next) + (last ? 0 : room_for_rest) > columns) { break; }
        text += next;
    }
    return count == words.size() ? text : text + " and " + std::to_string(words.size() - count) + " more";
}

// ---- what a whole result has -------------------------------------------------------------------------------------

Part part_of(Block const& block) {
    if (auto const* paragraph = std::get_if<Paragraph>(&block)) {
        if (paragraph->part != Part::usual) { return paragraph->part; }
        if (paragraph->strong) { return Part::answer; }
        bool const assumes = paragraph->label == "assumes" || paragraph->label == "assumed";
        return assumes ? Part::assumed : Part::usual;
    }
    if (auto const* table = std::get_if<Table>(&block)) { return table->part; }
    if (auto const* items = std::get_if<Items>(&block)) { return items->part; }
    return std::holds_alternative<Verbatim>(block) ? Part::answer : Part::detail;
}

/// Sentences of a block of warnings, one a warning.
std::vector<std::string> warnings_in(Block const& block) {
    if (auto const* paragraph = std::get_if<Paragraph>(&block)) { return {paragraph->text}; }
    if (auto const* items = std::get_if<Items>(&block)) { return items->items; }
    std::vector<std::string> all;
    if (auto const* table = std::get_if<Table>(&block)) {
        for (auto const& row : table->rows) { all.push_back(row.size() > 1 ? row[0] + " (" + row[1] + ")" : row[0]); }
    }
    return all;
}

std::vector<std::string> warnings_of(Document const& whole) {
    std::vector<std::string> all;
    for (Block const& block : whole.blocks) {
        if (part_of(block) == Part::warning) { std::ranges::move(warnings_in(block), std::back_inserter(all)); }
    }
    return all;
}

/// A title without what explains it: "Roofline" of "Roofline, dense", "Over 2,000 samples" of "Over 2,000 samples (all)".
std::string short_title(std::string const& title) {
    std::size_t end = title.find_first_of(",:(");
    while (end != title.npos && title[end] == ',' && title.compare(end, 2, ", ") != 0) {
        end = title.find_first_of(",:(", end + 1);
    }
    return title.substr(0, end);
}

std::string title_of(Block const& block) {
    return std::visit(
        [](auto const& content) {
            if constexpr (requires { content.title; }) { return content.title; }
            return std::string{};
        },
        block);
}

// ---- tables cut_line --------------------------------------------------------------------------------------------------

bool says_nothing(std::string_view cell) {
    return cell.empty() || cell == "-" || (cell.front() == '0' && cell.find_first_of("123456789") == cell.npos);
}

/// Removes rows of names without values, and columns without any.
void remove_zeros(Table& table) {
    auto const empty = [&table](std::size_t row) {
        auto const& cells = table.rows[row];
        return cells.size() > 1 && std::all_of(cells.begin() + 1, cells.end(), says_nothing);
    };
    bool const named = !table.columns.empty() && table.columns.front().align == Align::left;
    for (std::size_t row = table.rows.size(); named && row-- > 0 && table.rows.size() > 1;) {
        if (!empty(row) || table.marked == row) { continue; }
        table.rows.erase(table.rows.begin() + static_cast<std::ptrdiff_t>(row));
        if (table.marked && row < *table.marked) { --*table.marked; }
    }
    for (std::size_t column = table.columns.size(); column-- > 1 && table.rows.size() > 1;) {
        bool const told = std::ranges::any_of(table.rows, [&](auto const& row) { return !says_nothing(row[column]); });
        if (told) { continue; }
        table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(column));
        for (auto& row : table.rows) { row.erase(row.begin() + static_cast<std::ptrdiff_t>(column)); }
    }
}

/// Width that a table cannot go below without breaking its words.
std::size_t least_width(Table const& table) {
    constexpr std::size_t of_text = 10;
    std::size_t sum = table.marked ? 2 : 0;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        std::size_t width = columns_of(table.columns[c].title), word = longest_word(table.columns[c].title);
        for (auto const& row : table.rows) {
            width = std::max(width, columns_of(row[c]));
            word = std::max(word, std::min(longest_word(row[c]), most_of_a_word));
        }
        bool const may_wrap = table.columns[c].align == Align::left;
        sum += (may_wrap ? std::min(width, std::max(word, of_text)) : width) + (c > 0 ? 1 : 0);
    }
    return sum;
}

/// Whether the first cells rise: "8, 16, 32 +", "p50, p90, p99, max".
bool is_sequence(Table const& table) {
    double before = -1.0;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        std::string const& cell = table.rows[row][0];
        char const* const begin = cell.c_str() + (cell.starts_with('p') ? 1 : 0);
        char* end = nullptr;
        double const value = std::strtod(begin, &end);
        bool const rises = end != begin && value > before;
        if (!rises) { return row > 1 && row + 1 == table.rows.size(); }
        before = value;
    }
    return true;
}

bool is_sum(Table const& table) {
    std::string const& name = table.rows.back()[0];
    return name == "all" || name == "total";
}

/// The `count` rows of the largest shares, in the order of the table; the first rows where no column has shares.
std::vector<std::size_t> largest(Table const& table, std::size_t count) {
    auto const share = std::ranges::find_if(
        table.columns, [](Column const& column) { return column.title.find('%') != std::string::npos; });
    std::vector<std::size_t> rows(table.rows.size() - 1);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    if (share != table.columns.end()) {
        auto const column = static_cast<std::size_t>(share - table.columns.begin());
        std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
            return std::atof(table.rows[a][column].c_str()) > std::atof(table.rows[b][column].c_str());
        });
    }
    rows.resize(count);
    std::ranges::sort(rows);
    return rows;
}

/// Rows spread over a sequence, the first of a list, or the largest parts of a sum; the marked one is among them.
Table thinned(Table const& table, std::size_t count) {
    std::size_t const all = table.rows.size();
    if (count >= all) { return table; }
    std::vector<std::size_t> kept;
    bool const spread = count > 1 && is_sequence(table);
    for (std::size_t i = 0; i < count; ++i) { kept.push_back(spread ? i * (all - 1) / (count - 1) : i); }
    if (!spread && count > 1 && is_sum(table)) {
        kept = largest(table, count - 1);
        kept.push_back(all - 1);
    }
    if (table.marked && std::ranges::find(kept, *table.marked) == kept.end()) {
        auto nearest = std::ranges::min_element(
            kept, {}, [&](std::size_t row) { return row > *table.marked ? row - *table.marked : *table.marked - row; });
        *nearest = *table.marked;
    }
    Table result = table;
    result.rows.clear();
    for (std::size_t const row : kept) {
        if (table.marked == row) { result.marked = result.rows.size(); }
        result.rows.push_back(table.rows[row]);
    }
    return result;
}

std::vector<std::string> lines_of(Document const& document, std::size_t width) {
    std::string text = render_text(document, {.width = width});
    if (text.ends_with('\n')) { text.pop_back(); }
    return split(text, '\n');
}

bool is_within(Document const& document, ScreenSize size) {
    auto const lines = lines_of(document, size.width);
    return lines.size() <= size.lines &&
           std::ranges::all_of(lines, [&](std::string const& line) { return columns_of(line) <= size.width; });
}

// ---- the screen --------------------------------------------------------------------------------------------------

/// Blocks of a first screen, and how much of each is printed.
class Screen {
public:
    Screen(Document const& whole, ScreenSize size) : size_{size}, title_{whole.title} {
        std::size_t tables = 0;
        bool begun = false; // unlabelled paragraphs belong to the answer until something else comes
        bool const chosen = std::ranges::any_of(whole.blocks, [](Block const& block) {
            return std::holds_alternative<Table>(block) && part_of(block) == Part::answer;
        });
        for (Block const& block : whole.blocks) {
            auto const* paragraph = std::get_if<Paragraph>(&block);
            bool const first_table =
                std::holds_alternative<Table>(block) && part_of(block) == Part::usual && tables++ == 0 && !chosen;
            bool const plain = paragraph != nullptr && part_of(block) == Part::usual;
            bool const leads = plain && paragraph->label.empty() && !begun;
            begun = begun || !(paragraph != nullptr && paragraph->label.empty());
            if (part_of(block) == Part::answer || first_table || leads) {
                add_answer(block);
            } else if (plain && !paragraph->label.empty()) {
                notes_.push_back(*paragraph);
            } else if (part_of(block) == Part::assumed) {
                add_assumed(block);
            } else if (std::string title = title_of(block); !title.empty() && part_of(block) != Part::warning) {
                bool const again = !further_.empty() && further_.back() == title; // a table, and its drawing
                if (!again) { further_.push_back(std::move(title)); }
            }
        }
        warnings_ = warnings_of(whole);
        shown_notes_ = std::min(most_notes, notes_.size());
    }

    /// Narrows and shortens until all fits.
    Document fitted() {
        for (Table& table : tables_) {
            remove_zeros(table);
            hidden_columns_ += narrow(table, size_.width);
        }
        for (Table const& table : tables_) { rows_.push_back(table.rows.size()); }
        bool const fits = thin(8) || drop_notes(2) || thin(5) || drop_notes(1) || shorten_answer() || thin(3) ||
                          drop_notes(0) || drop_paragraphs(3) || drop_tables() || drop_paragraphs(1);
        if (!fits) { assumed_.reset(); }
        return made();
    }

private:
    void add_answer(Block const& block) {
        if (auto const* table = std::get_if<Table>(&block)) {
            order_.push_back(tables_.size());
            tables_.push_back(*table);
            return;
        }
        order_.emplace_back();
        answers_.push_back(block);
        if (auto* items = std::get_if<Items>(&answers_.back())) {
            items->items.resize(std::min(most_notes, items->items.size()));
            for (std::string& one : items->items) { one = cut_line(one, lines_of_item * (size_.width - 4)); }
        }
    }

    void add_assumed(Block const& block) {
        std::size_t const room = size_.width - columns_of("assumed: ") - 2; // a paragraph's margin
        if (assumed_) { return; }
        if (auto const* paragraph = std::get_if<Paragraph>(&block)) {
            std::string text = cut_line(paragraph->text, room);
            assumptions_cut_ = text.size() < paragraph->text.size();
            assumed_ = {std::move(text), paragraph->label};
        } else if (auto const* table = std::get_if<Table>(&block); table != nullptr && !table->rows.empty()) {
            std::vector<std::string> words;
            for (auto const& row : table->rows) { words.push_back(row[0] + " " + row[1]); }
            assumptions_cut_ = true; // without their reasons
            assumed_ = {listed(words, room), "assumed"};
        }
    }

    [[nodiscard]] bool fits() const { return lines_of(made(), size_.width).size() <= size_.lines; }

    /// Takes rows from the longest table until it fits, or all tables have `least`.
    bool thin(std::size_t least) {
        while (!fits()) {
            auto const longest = std::ranges::max_element(rows_);
            if (longest == rows_.end() || *longest <= least) { return false; }
            --*longest;
        }
        return true;
    }

    bool drop_notes(std::size_t least) {
        while (!fits()) {
            if (shown_notes_ <= least) { return false; }
            --shown_notes_;
        }
        return true;
    }

    /// Cuts paragraphs of the answer but the first to three lines, then two, then one, the last of them first, until it fits. What saves no
    /// line stays.
    bool shorten_answer() {
        for (std::size_t lines = lines_of_note; lines > 0; --lines) {
            for (std::size_t i = answers_.size(); i-- > 1;) {
                std::size_t const before = lines_of(made(), size_.width).size();
                if (before <= size_.lines) { return true; }
                auto* paragraph = std::get_if<Paragraph>(&answers_[i]);
                if (paragraph == nullptr) { continue; }
                std::string const whole = paragraph->text;
                paragraph->text = cut_line(whole, lines * size_.width);
                if (lines_of(made(), size_.width).size() == before) { paragraph->text = whole; }
            }
        }
        return fits();
    }

    /// Leaves out the last paragraphs of the answer.
    bool drop_paragraphs(std::size_t least) {
        auto const is_paragraph = [](Block const& block) { return std::holds_alternative<Paragraph>(block); };
        while (!fits()) {
            auto const count = static_cast<std::size_t>(std::ranges::count_if(answers_, is_paragraph));
            auto const last = std::find_if(answers_.rbegin(), answers_.rend(), is_paragraph);
            if (count <= least || last == answers_.rend()) { return false; }
            std::size_t const at = answers_.size() - 1 - static_cast<std::size_t>(last - answers_.rbegin());
            answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(at));
            std::size_t seen = 0; // its place in the order
            order_.erase(std::ranges::find_if(order_, [&](auto const& one) { return !one && seen++ == at; }));
            ++dropped_;
        }
        return true;
    }

    bool drop_tables() {
        while (!fits()) {
            if (rows_.size() < 2) { return false; }
            further_.insert(further_.begin(), tables_.back().title);
            tables_.pop_back();
            rows_.pop_back();
        }
        return true;
    }

    [[nodiscard]] Document made() const {
        Document document{title_, {}, ""};
        auto& blocks = document.blocks;
        std::size_t answer = 0;
        for (auto const& table : order_) {
            if (!table) { blocks.push_back(answers_[answer++]); }
            if (table && *table < rows_.size()) { blocks.emplace_back(thinned(tables_[*table], rows_[*table])); }
        }
        for (std::size_t i = 0; i < shown_notes_; ++i) {
            blocks.emplace_back(
                Paragraph{cut_line(notes_[i].text, lines_of_note * size_.width - columns_of(notes_[i].label) - 4),
                          notes_[i].label});
        }
        if (!warnings_.empty()) { blocks.emplace_back(warning()); }
        if (assumed_) { blocks.emplace_back(*assumed_); }
        if (auto more = further(); !more.empty()) {
            std::size_t const room = size_.width - columns_of("--full adds: ") - 2;
            blocks.emplace_back(Paragraph{listed(more, room), "--full adds"});
        }
        return document;
    }

    [[nodiscard]] Paragraph warning() const {
        std::string const first = cut_line(warnings_.front(), lines_of_item * size_.width - 32);
        bool const one = warnings_.size() == 1;
        std::string const rest = one && first == warnings_.front() ? "" : " (--full has all)";
        return {(one ? "" : std::to_string(warnings_.size()) + ", first: ") + first + rest,
                one ? "warning" : "warnings"};
    }

    /// Names the content that --full adds: rows and columns, then titles.
    [[nodiscard]] std::vector<std::string> further() const {
        std::vector<std::string> words;
        std::size_t rows = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i) { rows += tables_[i].rows.size() - rows_[i]; }
        if (rows > 0) { words.push_back(counted(rows, "row")); }
        if (hidden_columns_ > 0) { words.push_back(counted(hidden_columns_, "column")); }
        for (std::string const& one : further_) { words.push_back(short_title(one)); }
        for (std::string& one : words) { one.erase(one.find_last_not_of(' ') + 1); }
        if (assumptions_cut_) { words.emplace_back("all assumptions"); }
        std::size_t const notes = notes_.size() - shown_notes_ + dropped_;
        if (notes > 0) { words.push_back(counted(notes, "note")); }
        return words;
    }

    ScreenSize size_;
    std::string title_;
    std::vector<std::optional<std::size_t>> order_; ///< a table, or the next of the other answers
    std::vector<Block> answers_;
    std::vector<Table> tables_;
    std::vector<std::size_t> rows_; ///< that are printed of each table
    std::vector<Paragraph> notes_;
    std::size_t shown_notes_ = 0, hidden_columns_ = 0;
    std::size_t dropped_ = 0; ///< paragraphs of the answer
    std::vector<std::string> warnings_, further_;
    std::optional<Paragraph> assumed_;
    bool assumptions_cut_ = false;
};

} // namespace

std::size_t narrow(Table& table, std::size_t width) {
    std::size_t count = 0;
    for (; least_width(table) > width && table.columns.size() > 2; ++count) {
        auto const spare = std::find_if(table.columns.rbegin(), table.columns.rend(),
                                        [](Column const& column) { return column.spare; });
        auto const gone = spare == table.columns.rend() ? table.columns.end() - 1 : std::next(spare).base();
        std::ptrdiff_t const at = gone - table.columns.begin();
        table.columns.erase(gone);
        for (auto& row : table.rows) { row.erase(row.begin() + at); }
    }
    return count;
}

Document screen_of(Document const& whole, ScreenSize size) {
    Document bare{whole.title, whole.blocks, ""};
    return is_within(bare, size) ? bare : Screen{whole, size}.fitted();
}

std::string line_of(Document const& whole) {
    std::string text = whole.title;
    for (Block const& block : whole.blocks) {
        auto const* paragraph = std::get_if<Paragraph>(&block);
        if (paragraph == nullptr || part_of(block) != Part::answer) { continue; }
        text = cut_line(paragraph->text, longest_line);
        break;
    }
    std::size_t const count = warnings_of(whole).size();
    return count == 0 ? text : text + " (" + counted(count, "warning") + ": --full)";
}

} // namespace headroom::document
