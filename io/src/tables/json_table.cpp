#include "tables/json_table.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

/// A value of JSON. Quotes may be single ones, as Python prints them.
struct Value {
    enum class Kind { scalar, list, object };
    Kind kind = Kind::scalar;
    std::string_view text;              ///< as it stands, without the quotes of a string
    std::vector<std::string_view> keys; ///< of an object
    std::vector<Value> items;
    std::size_t begin = 0; ///< in the whole

    [[nodiscard]] bool holds(Kind wanted) const {
        return !items.empty() && std::ranges::all_of(items, [&](Value const& one) { return one.kind == wanted; });
    }
};

class Reader {
public:
    Reader(std::string_view text, std::string_view where) : text_{text}, where_{where} {}

    /// The next value between commas and blanks; false at the end.
    bool next(Value& value) {
        skip(" \t\r\n,");
        if (at_ == text_.size()) { return false; }
        value = read(0);
        return true;
    }

private:
    static constexpr int deepest = 64;

    void skip(std::string_view signs) { at_ = std::min(text_.find_first_not_of(signs, at_), text_.size()); }

    [[noreturn]] void fail(std::string problem) const {
        auto const line = 1 + std::ranges::count(text_.substr(0, at_), '\n');
        unreadable_error(at_ == text_.size() ? std::string{where_} : fmt::format("{}:{}", where_, line),
                         std::move(problem), {});
    }

    char sign() {
        skip(" \t\r\n");
        if (at_ == text_.size()) { fail("JSON that is cut short"); }
        return text_[at_];
    }

    Value read(int depth) {
        char const first = sign();
        Value value{.kind = Value::Kind::scalar, .text = {}, .keys = {}, .items = {}, .begin = at_};
        if (depth > deepest) { fail("JSON that is nested too deep"); }
        if (first == '{' || first == '[') {
            read_items(value, first == '{', depth);
            value.text = text_.substr(value.begin, at_ - value.begin);
        } else if (first == '"' || first == '\'') {
            value.text = quoted(first);
        } else {
            std::size_t const end = std::min(text_.find_first_of(" \t\r\n,:{}[]\"'", at_), text_.size());
            value.text = text_.substr(at_, end - at_);
            if (value.text.empty()) { fail("no whole object of JSON"); }
            at_ = end;
        }
        return value;
    }

    void read_items(Value& value, bool object, int depth) {
        value.kind = object ? Value::Kind::object : Value::Kind::list;
        ++at_;
        for (char const end = object ? '}' : ']'; sign() != end;) {
            if (object) {
                value.keys.push_back(read(depth + 1).text);
                if (sign() != ':') { fail("no whole object of JSON"); }
                ++at_;
            }
            value.items.push_back(read(depth + 1));
            if (sign() == ',') { ++at_; }
        }
        ++at_;
    }

    std::string_view quoted(char quote) {
        std::size_t const begin = ++at_;
        while (at_ < text_.size() && text_[at_] != quote) { at_ += text_[at_] == '\\' ? 2 : 1; }
        if (at_ >= text_.size()) {
            at_ = text_.size();
            fail("JSON that is cut short");
        }
        return text_.substr(begin, at_++ - begin);
    }

    std::string_view text_, where_;
    std::size_t at_ = 0;
};

using Cells = std::vector<std::pair<std::string, std::string_view>>;

std::string path_to(std::string const& path, std::string_view key) {
    return path.empty() ? std::string{key} : fmt::format("{}.{}", path, key);
}

/// Adds a value under its path: an object as its values, a list as one cell with its text.
void add(Value const& value, std::string const& path, Cells& cells) {
    if (value.kind != Value::Kind::object) { cells.emplace_back(path, value.text); }
    for (std::size_t i = 0; i < value.keys.size(); ++i) { add(value.items[i], path_to(path, value.keys[i]), cells); }
}

/// Whether a key says no more than that facts or measurements of a run are within.
bool is_group(std::string_view key) {
    constexpr std::string_view groups = "config configuration cfg args arguments params hyperparameters hparams "
                                        "settings setup model training train trainer "
                                        "parallelism parallel parallelconfig distributed strategy hardware system "
                                        "cluster environment env software metrics "
                                        "metric results result performance perf measured measurement measurements "
                                        "throughput run job experiment workload "
                                        "summary stats context";
    return is_word_of(groups, normalised(key));
}

/// Head of a path: its last key behind all that are no mere groups ("eval_seq_len"), and behind the one before where that
/// says what it is of: "time_unit", "gpu_count".
std::string head_of(std::string_view path) {
    constexpr std::string_view of_others =
        "unit units mean avg average median min max std p50 p90 p95 p99 name type count size total id";
    auto const dot = path.rfind('.');
    if (dot == path.npos) { return std::string{path}; }
    std::string_view const last = path.substr(dot + 1), before = path.substr(0, dot);
    std::string_view const parent = before.substr(before.rfind('.') + 1);
    bool const of_parent = last == "value" || is_word_of(of_others, last);
    std::string head;
    for (std::string_view left = before; !left.empty();) {
        std::size_t const end = std::min(left.find('.'), left.size());
        std::string_view const key = left.substr(0, end);
        left.remove_prefix(std::min(end + 1, left.size()));
        if (!is_group(key) || (of_parent && left.empty())) { head += fmt::format("{}_", key); }
    }
    if (last == "value" && !parent.empty()) { return head.substr(0, head.size() - 1); }
    return head + std::string{last};
}

/// The longest list of objects that no other one holds, and the values that stand next to it and above.
Value const* rows_in(Value const& value, std::string const& path, Cells& above) {
    if (value.kind == Value::Kind::list) { return value.holds(Value::Kind::object) ? &value : nullptr; }
    Value const* best = nullptr;
    std::size_t place = value.items.size();
    Cells above_best;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        Cells inner;
        Value const* const rows =
            rows_in(value.items[i], path_to(path, value.keys.empty() ? "" : value.keys[i]), inner);
        if (rows == nullptr || (best != nullptr && rows->items.size() <= best->items.size())) { continue; }
        best = rows;
        place = i;
        above_best = std::move(inner);
    }
    for (std::size_t i = 0; best != nullptr && i < value.items.size(); ++i) {
        if (i != place) { add(value.items[i], path_to(path, value.keys[i]), above); }
    }
    std::ranges::move(above_best, std::back_inserter(above));
    return best;
}

bool is_number(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_decimal_digit); }

/// Rows of one object: of columns ({"gpus": [1, 2], "time": [9, 5]}, of pandas {"gpus": {"0": 1}}), of objects under names, or itself.
std::vector<Cells> rows_of(Value const& object) {
    std::vector<Cells> rows;
    bool const lists = object.holds(Value::Kind::list), objects = object.holds(Value::Kind::object);
    auto const size = object.items.empty() ? 0 : object.items[0].items.size();
    bool const even =
        (lists || objects) && object.items.size() > 1 && size > 0 &&
        std::ranges::all_of(object.items, [&](Value const& one) {
            return one.items.size() == size && one.keys == object.items[0].keys && one.holds(Value::Kind::scalar);
        });
    bool const numbered = even && objects && std::ranges::all_of(object.items[0].keys, is_number);
    if (even && (lists || numbered)) {
        rows.resize(size);
        for (std::size_t i = 0; i < object.items.size(); ++i) {
            for (std::size_t row = 0; row < size; ++row) {
                rows[row].emplace_back(object.keys[i], object.items[i].items[row].text);
            }
        }
    } else if (objects && object.items.size() > 1 && object.items[0].keys == object.items[1].keys) {
        for (std::size_t i = 0; i < object.items.size(); ++i) {
            rows.push_back({{"name", object.keys[i]}});
            add(object.items[i], {}, rows.back());
        }
    } else {
        rows.emplace_back();
        add(object, {}, rows.back());
        if (std::ranges::all_of(rows.back(), [](auto const& cell) { return cell.second.starts_with('['); })) {
            return {};
        }
    }
    return rows;
}

/// Heads by path; the whole path where two have the same last key.
std::map<std::string, std::string, std::less<>> heads_of(std::vector<Cells> const& rows) {
    std::map<std::string, std::string, std::less<>> heads;
    std::map<std::string, int> uses;
    for (Cells const& cells : rows) {
        for (auto const& [path, text] : cells) {
            if (auto const [at, fresh] = heads.try_emplace(path, head_of(path)); fresh) { ++uses[at->second]; }
        }
    }
    for (auto& [path, head] : heads) {
        if (uses[head] > 1) { head = path; }
    }
    return heads;
}

} // namespace

std::optional<CsvTable> json_table(std::string_view text, std::string_view where) {
    std::string_view const begin = trimmed_line(text);
    std::string_view const next = trimmed_line(begin.substr(std::min<std::size_t>(1, begin.size())));
    bool const list = begin.starts_with('[') && next.find_first_of("{[") == 0;
    if (!list && !(begin.starts_with('{') && next.find_first_of("\"'}") == 0)) { return std::nullopt; }
    Reader reader{text, where};
    std::vector<Value> values;
    for (Value value; reader.next(value);) { values.push_back(std::move(value)); }
    std::vector<Cells> rows;
    std::vector<std::size_t> begins;
    auto const take = [&](Value const& row, Cells const& above) {
        rows.push_back(above);
        add(row, {}, rows.back());
        begins.push_back(row.begin);
    };
    bool const lines = values.size() > 1;
    Cells above;
    Value const* const found = lines || values.empty() ? nullptr : rows_in(values[0], {}, above);
    for (Value const& row : found != nullptr ? found->items : values) {
        bool const object = row.kind == Value::Kind::object;
        if (!object && lines) {
            auto const place = 1 + std::ranges::count(text.substr(0, row.begin), '\n');
            unreadable_error(fmt::format("{}:{}", where, place), "no whole object of JSON", {});
        }
        if (object && (lines || found != nullptr)) { take(row, above); }
    }
    if (!lines && found == nullptr && !values.empty() && values[0].kind == Value::Kind::object) {
        rows = rows_of(values[0]);
        begins.assign(rows.size(), values[0].begin);
    }
    if (rows.empty() || rows.size() > most_rows) {
        unreadable_error(where, "JSON without rows, or with more than 1,000,000",
                         "each row is an object: {\"gpus\": 8, \"time_s\": 12.3}");
    }
    CsvTable table;
    auto const heads = heads_of(rows);
    std::map<std::string_view, std::size_t> places;
    std::size_t line = 1, at = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        line += static_cast<std::size_t>(std::ranges::count(text.substr(at, begins[i] - at), '\n'));
        at = begins[i];
        table.records.push_back({.line = line, .cells = {}});
        for (auto const& [path, cell] : rows[i]) {
            auto const head = heads.find(path);
            auto const [place, fresh] = places.try_emplace(head->second, table.header.size());
            if (fresh) { table.header.push_back(head->second); }
            if (place->second >= most_columns) {
                unreadable_error(where, fmt::format("more than {} keys", most_columns), {});
            }
            auto& cells = table.records.back().cells;
            cells.resize(std::max(cells.size(), place->second + 1));
            cells[place->second] = cell;
        }
    }
    for (CsvTable::Record& record : table.records) { record.cells.resize(table.header.size()); }
    return table;
}

} // namespace headroom::io
