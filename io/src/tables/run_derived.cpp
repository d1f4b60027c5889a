#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"
#include "tables/run_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace headroom::io {
namespace {

/// Worth of the letter of thousands that a text begins with, which is taken off it, in powers of ten and of two; 1 without.
std::array<double, 2> take_letter(std::string_view& text) {
    constexpr std::string_view letters = "kmgt";
    bool const alone = text.size() == 1 || (text.size() > 1 && text[1] == ' ');
    char const letter = alone ? lowered(text[0]) : ' ';
    auto const place = letters.find(letter == 'b' ? 'g' : letter); // "11B" are billions
    if (place == std::string_view::npos) { return {1.0, 1.0}; }
    text = trimmed_line(text.substr(1));
    double const power = static_cast<double>(place) + 1.0;
    return {std::pow(1000.0, power), std::pow(1024.0, power)};
}

bool says_tokens(std::string_view text) {
    return same_caseless(text, "tokens") || same_caseless(text, "token") || same_caseless(text, "tok");
}

std::string text_in(CsvTable const& table, CsvTable::Record const& record, std::string_view name) {
    int const column = table.column(name);
    return column < 0 ? std::string{} : record.cells[static_cast<std::size_t>(column)];
}

/// Writes a cell that says nothing yet, of a new column where there is none.
void fill(CsvTable& table, std::vector<int>& used, std::size_t row, std::string_view name, std::string value) {
    if (table.column(name) < 0) {
        used.push_back(static_cast<int>(table.header.size()));
        table.header.emplace_back(name);
        for (CsvTable::Record& record : table.records) { record.cells.emplace_back(); }
    }
    std::string& cell = table.records[row].cells[static_cast<std::size_t>(table.column(name))];
    if (says_nothing(cell)) { cell = std::move(value); }
}

/// "8xH100 (500W)": the count of all or of a node, the name, the limit of its power.
void read_accelerator(CsvTable& table, std::vector<int>& used, std::size_t row) {
    std::string const whole = text_in(table, table.records[row], "accelerator");
    std::string_view name = trimmed_line(whole);
    CellNumber const count = cell_number(name);
    for (std::string_view const times : {"x", "X", "\xC3\x97"}) {
        if (count.fault != CellNumber::Fault::none || !count.rest.starts_with(times)) { continue; }
        name = trimmed_line(count.rest.substr(times.size()));
        bool const known = decimal_number(text_in(table, table.records[row], "accelerators_total")) ||
                           decimal_number(text_in(table, table.records[row], "nodes"));
        fill(table, used, row, known ? "accelerators_per_node" : "accelerators_total", fmt::format("{}", count.value));
        break;
    }
    auto const cut = name.find_last_of(" ([");
    std::string_view last = cut == std::string_view::npos ? std::string_view{} : name.substr(cut + 1);
    if (last.ends_with(')') || last.ends_with(']')) { last.remove_suffix(1); }
    if (CellValue const power = cell_value(last, CellMeasure::power); power.kind == CellValue::Kind::with_unit) {
        fill(table, used, row, "power_limit_w", fmt::format("{}", power.value));
        name = trimmed_line(name.substr(0, cut));
    }
    if (name.size() < whole.size()) {
        table.records[row].cells[static_cast<std::size_t>(table.column("accelerator"))] = std::string{name};
    }
}

/// The column of batches in tokens, also one of batches whose cells say so; -1 where there is none.
int column_of_tokens(CsvTable const& table) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        std::string const key = normalised(table.header[i]);
        bool const batch = key == "batch" || key == "batchsize" || table.header[i] == "global_batch_sequences";
        bool const says = std::ranges::any_of(table.records, [&](CsvTable::Record const& record) {
            return find_caseless(record.cells[i], "tok") != std::string_view::npos;
        });
        if (table.header[i] == "global_batch_tokens" || (batch && says)) { return static_cast<int>(i); }
    }
    return -1;
}

/// Sequences of a batch in tokens, where they are a whole number with a letter as a power of ten, or else of two.
void count_sequences(CsvTable& table, std::vector<int>& used, std::size_t row, std::size_t column) {
    std::string const cell = table.records[row].cells[column];
    CellNumber const tokens = cell_number(cell);
    std::string_view rest = tokens.rest;
    auto const scales = take_letter(rest);
    bool const counts = says_tokens(rest) || (rest.empty() && table.header[column] == "global_batch_tokens");
    auto const length = decimal_number(text_in(table, table.records[row], "seq_len"));
    if (tokens.fault != CellNumber::Fault::none || !counts) { return; }
    std::string batch = rest.empty() ? cell + " tokens" : cell; // refused as no number of sequences
    for (double const scale : scales) {
        double const sequences = tokens.value * scale / length.value_or(INFINITY);
        double const whole = std::round(sequences);
        if (whole < 1.0 || std::abs(sequences - whole) > 1e-9 * whole) { continue; }
        batch = fmt::format("{}", whole);
        break;
    }
    if (table.header[column] == "global_batch_sequences") { table.records[row].cells[column].clear(); }
    fill(table, used, row, "global_batch_sequences", std::move(batch));
}

} // namespace

std::optional<double> scaled_number(std::string_view cell, NumberMarks const& marks) {
    CellNumber const number = cell_number(cell, marks);
    std::string_view rest = number.rest;
    double const scale = take_letter(rest)[0];
    bool const whole = number.fault == CellNumber::Fault::none && rest.empty() && std::isfinite(number.value);
    return whole ? std::optional{number.value * scale} : std::nullopt;
}

void add_derived_columns(CsvTable& table, std::vector<int>& used) {
    int const tokens = column_of_tokens(table);
    if (tokens >= 0 && std::ranges::find(used, tokens) == used.end()) { used.push_back(tokens); }
    for (std::size_t row = 0; row < table.records.size(); ++row) {
        read_accelerator(table, used, row);
        auto const nodes = decimal_number(text_in(table, table.records[row], "nodes"));
        auto const each = decimal_number(text_in(table, table.records[row], "accelerators_per_node"));
        if (nodes && each) {
            fill(table, used, row, "accelerators_total", fmt::format("{}", *nodes * *each));
            auto const total = static_cast<std::size_t>(table.column("accelerators_total"));
            std::string& cell = table.records[row].cells[total];
            bool const other = decimal_number(cell) && *decimal_number(cell) != *nodes * *each;
            if (other) { cell += fmt::format(" and {} nodes of {}", *nodes, *each); } // refused as no count
        }
        if (tokens >= 0) { count_sequences(table, used, row, static_cast<std::size_t>(tokens)); }
    }
}

} // namespace headroom::io
