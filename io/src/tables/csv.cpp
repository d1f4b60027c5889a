#include "headroom/io/csv.hpp"

#include "records/record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

namespace {

/// More are no table that somebody wrote: without an end a line of commas takes sixty times its size in memory.
constexpr std::size_t most_columns = 16'384;

/// Splits a text into records, one call a record.
class CsvReader {
public:
    CsvReader(std::string_view text, std::string_view where) : text_{text}, where_{where} {
        if (text_.starts_with(byte_order_mark)) { text_.remove_prefix(byte_order_mark.size()); }
        auto const nul = text_.find('\0');
        if (nul != std::string_view::npos) {
            line_ += static_cast<std::size_t>(std::ranges::count(text_.substr(0, nul), '\n'));
            fail("a zero byte", "the file is not text");
        }
    }

    /// The next record; false at the end. Empty lines are skipped.
    bool next(CsvTable::Record& record) {
        while (at_ < text_.size() && end_of_line()) { take_line_end(); }
        if (at_ >= text_.size()) { return false; }
        record.line = line_;
        record.cells.clear();
        for (;;) {
            if (record.cells.size() == most_columns) {
                fail_at(record.line, fmt::format("more than {} cells in a line", most_columns), "it is no table");
            }
            bool const quote = at_ < text_.size() && text_[at_] == '"';
            record.cells.push_back(quote ? quoted_cell() : plain_cell());
            if (at_ >= text_.size()) { return true; }
            if (end_of_line()) {
                take_line_end();
                return true;
            }
            ++at_; // the comma
        }
    }

    [[noreturn]] void fail(std::string problem, std::string why, std::string hint = {}) const {
        fail_at(line_, std::move(problem), std::move(why), std::move(hint));
    }

    [[noreturn]] void fail_at(std::size_t line, std::string problem, std::string why, std::string hint = {}) const {
        unreadable_error(fmt::format("{}:{}", where_, line), std::move(problem), std::move(why), std::move(hint));
    }

private:
    /// At a line feed, or at a carriage return before one or before the end.
    [[nodiscard]] bool end_of_line() const {
        if (text_[at_] == '\n') { return true; }
        return text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n');
    }

    void take_line_end() {
        if (text_[at_] == '\r') { ++at_; }
        if (at_ < text_.size() && text_[at_] == '\n') { ++at_; }
        ++line_;
    }

    std::string plain_cell() {
        std::size_t const begin = at_;
        while (at_ < text_.size() && text_[at_] != ',' && !end_of_line()) {
            if (text_[at_] == '"') { fail("a quote inside a cell", "a cell with quotes is quoted whole"); }
            ++at_;
        }
        return std::string{text_.substr(begin, at_ - begin)};
    }

    std::string quoted_cell() {
        std::size_t const opened = line_;
        std::string cell;
        for (++at_;; ++at_) {
            if (at_ >= text_.size()) { fail_at(opened, "a quote that is never closed", "the cell runs to the end"); }
            char const c = text_[at_];
            if (c == '\n') { ++line_; }
            if (c != '"') {
                cell += c;
            } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
                cell += c;
                ++at_;
            } else {
                break;
            }
        }
        ++at_;
        if (at_ < text_.size() && text_[at_] != ',' && !end_of_line()) {
            fail("text after a closing quote", "a quoted cell ends at a comma or a line end",
                 "double the quotes inside a cell");
        }
        return cell;
    }

    std::string_view text_, where_;
    std::size_t at_ = 0, line_ = 1;
};

} // namespace

int CsvTable::column(std::string_view name) const {
    auto const found = std::ranges::find(header, name);
    return found == header.end() ? -1 : static_cast<int>(found - header.begin());
}

CsvTable read_csv(std::string_view text, std::string_view where, std::vector<CsvTable::Record>* ragged) {
    CsvReader reader{text, where};
    CsvTable table;
    CsvTable::Record record;
    if (!reader.next(record)) { unreadable_error(where, "an empty table", "there is no header line"); }
    table.header = record.cells;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        auto const& name = table.header[i];
        if (table.column(name) != static_cast<int>(i)) {
            reader.fail_at(record.line, fmt::format("column {} twice", headroom::quoted(name)),
                           "columns are told apart by name");
        }
    }
    while (reader.next(record)) {
        bool const fits = record.cells.size() == table.header.size();
        if (!fits && ragged != nullptr) {
            ragged->push_back(std::move(record));
            continue;
        }
        if (!fits) {
            reader.fail_at(record.line, fmt::format("{} cells", record.cells.size()),
                           fmt::format("the header has {}", table.header.size()));
        }
        table.records.push_back(std::move(record));
    }
    return table;
}

std::string csv_cell(std::string_view text) {
    bool const plain = text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with(byte_order_mark);
    if (plain) { return std::string{text}; }
    std::string cell = "\"";
    for (char const c : text) { cell.append(c == '"' ? 2 : 1, c); }
    return cell + '"';
}

} // namespace headroom::io
