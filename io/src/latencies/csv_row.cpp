#include "latencies/csv_layout.hpp"
#include "logs/log_lines.hpp"

#include <algorithm>
#include <charconv>

namespace headroom::io {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

} // namespace

/// A cell that begins with a quote at `at`, which moves behind the closing one. Doubled quotes within stand for one.
bool CsvRow::quoted_cell(std::string_view line, std::size_t& at, char delimiter) {
    std::size_t const begin = unquoted_.size();
    while (true) {
        std::size_t const quote = line.find('"', at + 1);
        if (quote == std::string_view::npos) { return false; }
        unquoted_.append(line.substr(at + 1, quote - at - 1));
        at = quote + 1;
        if (at == line.size() || line[at] != '"') { break; }
        unquoted_ += '"';
    }
    // What stands between the closing quote and the delimiter belongs to the cell, too.
    std::size_t const end = std::min(line.find(delimiter, at), line.size());
    unquoted_.append(line.substr(at, end - at));
    at = end;
    cells_.emplace_back(unquoted_.data() + begin, unquoted_.size() - begin);
    return true;
}

bool CsvRow::split(std::string_view line, char delimiter) {
    cells_.clear();
    unquoted_.clear();
    unquoted_.reserve(line.size()); // so that cells may point into it
    std::size_t at = 0;
    bool const blanks = delimiter == ' ';
    if (blanks) { line = trimmed_line(line); }
    while (true) {
        while (!blanks && at < line.size() && line[at] == ' ') { ++at; }
        if (at < line.size() && line[at] == '"') {
            if (!quoted_cell(line, at, delimiter)) { return false; }
        } else {
            std::size_t const end = blanks ? std::min(line.find_first_of(" \t", at), line.size())
                                           : std::min(line.find(delimiter, at), line.size());
            cells_.push_back(trimmed_line(line.substr(at, end - at)));
            at = end;
        }
        if (at >= line.size()) { return true; }
        ++at;
        while (blanks && at < line.size() && is_blank(line[at])) { ++at; }
    }
}

bool FailureMark::failed(std::string_view cell) const {
    cell = trimmed_line(cell);
    if (kind == Kind::error) { return !cell.empty(); }
    if (kind == Kind::is_false) { return cell.size() == 5 && find_caseless(cell, "false") == 0; }
    int status = 0;
    auto const [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), status);
    constexpr int first_good = 200, first_bad = 400;
    return error != std::errc{} || stop != cell.data() + cell.size() || status < first_good || status >= first_bad;
}

} // namespace headroom::io
