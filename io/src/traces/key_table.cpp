#include "traces/key_table.hpp"

#include "graphs/graph_draft.hpp"

#include <algorithm>

namespace headroom::io {

namespace {

constexpr std::size_t most_columns = 32, most_rows = 200'000;

/// Where columns begin and end in every line of a table.
struct Stretch {
    std::size_t begin = 0, end = 0;
};

/// "-----  ---  ----": at least three groups of dashes and nothing else.
std::vector<Stretch> rule_of(std::string_view line) {
    std::vector<Stretch> groups;
    if (line.find_first_not_of("- \t\r") != std::string_view::npos) { return groups; }
    for (std::size_t at = 0; (at = line.find('-', at)) != std::string_view::npos;) {
        std::size_t const end = std::min(line.find_first_not_of('-', at), line.size());
        if (end - at >= 3) { groups.push_back({at, end}); }
        at = end;
    }
    if (groups.size() < 3 || groups.size() > most_columns) { groups.clear(); }
    return groups;
}

/// Cells by place: only where spaces stand between the columns.
std::vector<std::string_view> cells_by_place(std::string_view line, std::vector<Stretch> const& rule) {
    std::vector<std::string_view> cells;
    for (std::size_t i = 0; i < rule.size(); ++i) {
        std::size_t const before = i == 0 ? 0 : rule[i - 1].end;
        std::size_t const begin = std::min(rule[i].begin, line.size()), end = std::min(rule[i].end, line.size());
        auto const gap = line.substr(std::min(before, begin), begin - std::min(before, begin));
        if (gap.find_first_not_of(" \t") != std::string_view::npos) { return {}; }
        cells.push_back(trimmed(line.substr(begin, end - begin)));
    }
    std::size_t const behind = std::min(rule.back().end, line.size());
    if (line.find_first_not_of(" \t\r", behind) != std::string_view::npos) { return {}; }
    return cells;
}

/// Cells between two spaces or more: tables that lost their alignment on the way.
std::vector<std::string_view> cells_by_gap(std::string_view line) {
    std::vector<std::string_view> cells;
    line = trimmed(line.substr(0, line.find_last_not_of('\r') + 1));
    while (!line.empty()) {
        std::size_t const gap = std::min({line.find("  "), line.find('\t'), line.size()});
        cells.push_back(trimmed(line.substr(0, gap)));
        line = trimmed(line.substr(gap));
    }
    return cells;
}

/// Takes off a line what tells whose it is, its digits: "[rank3]:", "[default3]:" of torchrun, "[1,3]<stdout>:" of mpirun.
std::string_view take_rank(std::string_view& line) {
    struct Mark {
        std::string_view before, behind;
    };
    for (Mark const mark : {Mark{"[rank", "]:"}, Mark{"[default", "]:"}, Mark{"[1,", "]<stdout>:"}}) {
        if (!line.starts_with(mark.before)) { continue; }
        std::size_t const first = mark.before.size(), end = line.find_first_not_of("0123456789", first);
        if (end == std::string_view::npos || end == first || !line.substr(end).starts_with(mark.behind)) { continue; }
        auto const digits = line.substr(first, end - first);
        line.remove_prefix(end + mark.behind.size());
        return digits;
    }
    return {};
}

class KeyTableReader {
public:
    explicit KeyTableReader(std::string_view text) : text_{text} {}

    KeyTable read() {
        while (!text_.empty()) { take_line(); }
        table_.cut = state_ == State::rows;
        return std::move(table_);
    }

private:
    enum class State : std::uint8_t { before, header, rows, behind };

    void take_line() {
        std::size_t const end = std::min(text_.find('\n'), text_.size());
        std::string_view line = text_.substr(0, end);
        text_.remove_prefix(std::min(end + 1, text_.size()));
        ++number_;
        if (line.ends_with('\r')) { line.remove_suffix(1); }
        auto const rank = take_rank(line);
        if (table_.rank.empty()) { table_.rank = rank; }
        if (auto const rule = rule_of(line); !rule.empty()) {
            take_rule(rule);
        } else if (!trimmed(line).empty()) {
            take_text(line);
        }
    }

    void take_rule(std::vector<Stretch> const& rule) {
        switch (state_) {
        case State::before:
            rule_ = rule;
            state_ = State::header;
            break;
        case State::header: // a rule of something else came before
            if (table_.header.empty()) { rule_ = rule; }
            state_ = table_.header.empty() ? State::header : State::rows;
            break;
        case State::rows: state_ = State::behind; break;
        case State::behind: table_.more = true; break;
        }
    }

    void take_text(std::string_view line) {
        if (state_ == State::header) { return take_header(line); }
        if (state_ == State::behind && !table_.more) { table_.footer.push_back(trimmed(line)); }
        if (state_ != State::rows) { return; }
        auto cells = cells_by_place(line, rule_);
        if (cells.size() != table_.header.size()) { cells = cells_by_gap(line); }
        if (cells.size() == table_.header.size() && table_.rows.size() < most_rows) {
            table_.rows.push_back({number_, std::move(cells)});
        } else if (line.find_first_of("%") == std::string_view::npos && trimmed(line).starts_with("Self ")) {
            state_ = State::behind; // the rule below the rows was lost
            table_.footer.push_back(trimmed(line));
        } else {
            table_.unread.push_back(number_);
        }
    }

    void take_header(std::string_view line) {
        if (!table_.header.empty()) { return; }
        auto cells = cells_by_place(line, rule_);
        if (cells.size() != rule_.size() || std::ranges::find(cells, "Name") == cells.end()) {
            cells = cells_by_gap(line);
        }
        if (std::ranges::find(cells, "Name") == cells.end()) {
            state_ = State::before;
            return;
        }
        table_.header = std::move(cells);
    }

    std::string_view text_;
    std::size_t number_ = 0;
    State state_ = State::before;
    std::vector<Stretch> rule_;
    KeyTable table_;
};

} // namespace

int KeyTable::column(std::string_view name) const {
    auto const found = std::ranges::find(header, name);
    return found == header.end() ? -1 : static_cast<int>(found - header.begin());
}

KeyTable key_table(std::string_view text) { return KeyTableReader{text}.read(); }

} // namespace headroom::io
