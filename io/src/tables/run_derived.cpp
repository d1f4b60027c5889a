#include "tables/run_derived.hpp"

#include "records/record.hpp"
#include "records/record_words.hpp"
#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"
#include "tables/phrases.hpp"

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

/// A text without the word of nodes that it begins with: "x 8" of "nodes x 8". Their sign stands behind.
std::string_view without_nodes(std::string_view rest) {
    for (std::string_view const word : {" nodes", " node", "nodes", "node ", " gpus"}) {
        bool const stands = rest.size() > word.size() && same_caseless(rest.substr(0, word.size()), word);
        rest = stands ? trimmed_line(rest.substr(word.size())) : rest;
    }
    return rest;
}

/// A count before a name or behind it, taken off: "8x H100", "2 nodes x 8 H100", "4*8 H100", "H100 x8", "H100:8".
std::optional<double> take_count(std::string_view& name) {
    CellNumber const count = cell_number(name);
    std::string_view rest = without_nodes(count.rest);
    for (std::string_view const times : {"x ", "x", "X", "*", "\xC3\x97", "of "}) {
        bool const found = count.fault == CellNumber::Fault::none && trimmed_line(rest).starts_with(times);
        if (!found) { continue; }
        name = trimmed_line(trimmed_line(rest).substr(times.size()));
        return count.value;
    }
    constexpr double most = 1000.0; // "4090 24G", "7900 XTX"
    bool const apart = rest.size() > 1 && rest.data() > name.data() && rest.data()[-1] == ' ';
    if (count.fault == CellNumber::Fault::none && apart && count.value < most && !is_decimal_digit(rest[0])) {
        name = rest;
        return count.value;
    }
    auto const digits = name.find_last_not_of("0123456789");
    if (digits == name.npos || digits + 1 == name.size() || digits == 0) { return std::nullopt; }
    std::string_view const before = trimmed_line(name.substr(0, digits + 1));
    for (std::string_view const times : {" x", "*", ":", "\xC3\x97"}) {
        if (!before.ends_with(times)) { continue; }
        auto const number = decimal_number(name.substr(digits + 1));
        name = trimmed_line(before.substr(0, before.size() - times.size()));
        return number;
    }
    return std::nullopt;
}

/// Counts of accelerators and nodes that a row states, and those of its cell of accelerators.
class Counts {
public:
    Counts(CsvTable& table, std::vector<int>& used, std::size_t row) : table_{table}, used_{used}, row_{row} {}

    [[nodiscard]] std::optional<double> stated(std::string_view column) const {
        return decimal_number(text_in(table_, table_.records[row_], column));
    }
    /// Errors later: a cell that states another number becomes "8 and 16", which is refused as no count.
    void add(std::string_view column, double count) {
        fill(table_, used_, row_, column, fmt::format("{}", count));
        std::string& cell = table_.records[row_].cells[static_cast<std::size_t>(table_.column(column))];
        if (stated(column) && *stated(column) != count) { cell += fmt::format(" and {}", count); }
    }
    /// One count of accelerators: of all, of the nodes that are stated where it is theirs ("64 H100" of 8), or of each.
    void add_count(double count) {
        constexpr double usual_node = 8.0;
        auto const nodes = stated("nodes"), total = stated("accelerators_total");
        bool const of_all = count > usual_node && nodes && std::fmod(count, *nodes) == 0.0;
        if ((!nodes && !total) || of_all || (total && count >= *total)) {
            add("accelerators_total", count);
        } else {
            add("accelerators_per_node", count);
        }
    }

private:
    CsvTable& table_;
    std::vector<int>& used_;
    std::size_t row_;
};

/// Slices of a row: "slices" of 2 are twice the chips of "v5e-256".
double slices_of(CsvTable const& table, std::vector<int>& used, std::size_t row) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        std::string const key = normalised(table.header[i]);
        if (key != "slices" && key != "numslices" && key != "nslices") { continue; }
        used.push_back(static_cast<int>(i));
        return decimal_number(table.records[row].cells[i]).value_or(1.0);
    }
    return 1.0;
}

/// Nodes in brackets at the end of a name, taken off it: "16 H100 (2 nodes)".
std::optional<double> take_nodes(std::string_view& name) {
    auto const open = name.rfind('(');
    if (open == std::string_view::npos || !name.ends_with(')')) { return std::nullopt; }
    CellNumber const count = cell_number(name.substr(open + 1, name.size() - open - 2));
    bool const nodes = same_caseless(count.rest, "nodes") || same_caseless(count.rest, "node");
    if (count.fault != CellNumber::Fault::none || !nodes) { return std::nullopt; }
    name = trimmed_line(name.substr(0, open));
    return count.value;
}

/// Takes a limit of power from the end of a name, "H100 (500W)", "H100-96GB (HBM2e, 500 W)".
std::optional<double> take_power(std::string& name) {
    constexpr std::string_view between = " ([,";
    bool const closes = name.ends_with(')') || name.ends_with(']');
    std::string_view const text = std::string_view{name}.substr(0, name.size() - (closes ? 1 : 0));
    auto cut = text.find_last_of(between);
    if (cut != text.npos && is_word_of("w watt watts", in_lower_case(text.substr(cut + 1)))) { // "500 W"
        auto const number = text.find_last_not_of(' ', cut);
        cut = number == text.npos ? number : text.find_last_of(between, number);
    }
    if (cut == text.npos) { return std::nullopt; }
    CellValue const power = cell_value(text.substr(cut + 1), CellMeasure::power);
    if (power.kind != CellValue::Kind::with_unit) { return std::nullopt; }
    std::string_view rest = text.substr(0, cut + 1);
    rest = rest.substr(0, rest.find_last_not_of(" ([,") + 1);
    bool const open = rest.find_first_of("([") != rest.npos && rest.find_first_of(")]") == rest.npos;
    name = std::string{rest} + (open ? ")" : "");
    return power.value;
}

/// "8xH100 (500W)", "2 nodes x 8 H100", "2x DGX H100", "p5.48xlarge": counts of all, of nodes or of each, the name, the limit of
/// its power.
void read_accelerator(CsvTable& table, std::vector<int>& used, std::size_t row, Catalog const& catalog) {
    std::string const whole = text_in(table, table.records[row], "accelerator");
    std::string_view name = trimmed_line(whole);
    Counts counts{table, used, row};
    if (auto const nodes = take_nodes(name)) { counts.add("nodes", *nodes); }
    auto first = take_count(name);
    if (first && (catalog.has_accelerator(whole) || catalog.has_node(whole))) {
        first.reset();
        name = whole;
    }
    auto second = first ? take_count(name) : std::nullopt;
    bool const says_nodes = find_caseless(whole, "node") != std::string_view::npos;
    if (second && *second < *first && *first <= 8.0 && !says_nodes) { std::swap(first, second); } // "8x2 H100"
    std::string read{name};
    if (auto const watts = take_power(read)) { fill(table, used, row, "power_limit_w", fmt::format("{}", *watts)); }
    auto const slice = tpu_slice(read);
    if (slice) { read = slice->accelerator; }
    if (read != whole) { table.records[row].cells[static_cast<std::size_t>(table.column("accelerator"))] = read; }
    if (slice) {
        return counts.add("accelerators_total", slice->chips * first.value_or(1.0) * slices_of(table, used, row));
    }
    bool const chip = !catalog.has_node(read) && record_in_words(catalog, RecordKind::accelerator, read).has_value();
    auto const node = chip ? std::nullopt : record_in_words(catalog, RecordKind::node, read);
    if (Cluster const rack = node ? catalog.cluster(*node) : Cluster{};
        first && rack.domain > rack.accelerators_per_node) {
        return counts.add("accelerators_total", *first * rack.domain); // "2x GB200 NVL72"
    }
    if (second || (first && node)) { counts.add("nodes", *first); }
    if (second) { counts.add("accelerators_per_node", *second); }
    bool const of_nodes = counts.stated("nodes") && !counts.stated("accelerators_per_node");
    if (node && of_nodes) { counts.add("accelerators_per_node", catalog.cluster(*node).accelerators_per_node); }
    if (first && !second && !node) { counts.add_count(*first); }
}

/// "16 GPUs", "2x8" and "8 (1 node)" as counts: of all, of nodes and of those of each.
void read_total(CsvTable& table, std::vector<int>& used, std::size_t row) {
    int const column = table.column("accelerators_total");
    std::string const whole = text_in(table, table.records[row], "accelerators_total");
    std::string_view text = trimmed_line(whole);
    if (column < 0 || text.empty() || decimal_number(text)) { return; }
    auto const nodes = take_nodes(text);
    auto const whole_number = [](CellNumber const& one) {
        return one.fault == CellNumber::Fault::none && one.value >= 1.0 && one.value == std::floor(one.value);
    };
    CellNumber const first = cell_number(text);
    std::string_view rest = without_nodes(first.rest);
    std::optional<double> each;
    for (std::string_view const times : {"x", "X", "*", "\xC3\x97"}) {
        if (!rest.starts_with(times)) { continue; }
        rest = trimmed_line(rest.substr(times.size()));
        CellNumber const second = cell_number(rest);
        if (whole_number(second)) { each = second.value, rest = second.rest; }
        break;
    }
    constexpr std::string_view labels =
        "gpu gpus accelerator accelerators chip chips card cards device devices npus tpus";
    if (!whole_number(first) || !(rest.empty() || is_word_of(labels, rest))) { return; } // refused as no count
    double const all = first.value * each.value_or(1.0);
    table.records[row].cells[static_cast<std::size_t>(column)] = fmt::format("{}", all);
    Counts counts{table, used, row};
    if (nodes) { counts.add("nodes", *nodes); }
    if (!each) { return; }
    bool const of_each_first = *each < first.value && first.value <= 8.0; // "8x2"
    counts.add("nodes", of_each_first ? *each : first.value);
    counts.add("accelerators_per_node", of_each_first ? first.value : *each);
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
    auto const stated = decimal_number(text_in(table, table.records[row], "global_batch_sequences"));
    fill(table, used, row, "global_batch_sequences", std::move(batch));
    bool const agrees = !stated || !length || std::ranges::any_of(scales, [&](double scale) {
        constexpr double rounding = 0.05;
        return std::abs(*stated * *length - tokens.value * scale) <= rounding * tokens.value * scale;
    });
    if (!agrees) { // refused as no number
        auto const sequences = static_cast<std::size_t>(table.column("global_batch_sequences"));
        table.records[row].cells[sequences] += fmt::format(" and {} tokens", trimmed_line(cell));
    }
}

} // namespace

std::optional<double> scaled_number(std::string_view cell, NumberMarks const& marks) {
    CellNumber const number = cell_number(cell, marks);
    std::string_view rest = number.rest;
    double const scale = take_letter(rest)[0];
    bool const whole = number.fault == CellNumber::Fault::none && rest.empty() && std::isfinite(number.value);
    return whole ? std::optional{number.value * scale} : std::nullopt;
}

void add_derived_columns(CsvTable& table, std::vector<int>& used, Catalog const& catalog) {
    int const tokens = column_of_tokens(table);
    if (tokens >= 0 && std::ranges::find(used, tokens) == used.end()) { used.push_back(tokens); }
    for (std::size_t row = 0; row < table.records.size(); ++row) {
        read_total(table, used, row);
        read_accelerator(table, used, row, catalog);
        auto const nodes = decimal_number(text_in(table, table.records[row], "nodes"));
        auto const all = decimal_number(text_in(table, table.records[row], "accelerators_total"));
        if (nodes && all && *nodes > 0.0) {
            fill(table, used, row, "accelerators_per_node", fmt::format("{}", *all / *nodes));
        }
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
