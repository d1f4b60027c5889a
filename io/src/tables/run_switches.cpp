#include "tables/run_switches.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace headroom::io {
namespace {

/// The column of one of these names, in letters and digits, that no reader took and whose cells all are as asked; -1 without.
template <class IsCell>
int free_column(CsvTable const& table, std::vector<int> const& used, std::string_view names, IsCell is_cell) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        bool const taken = std::ranges::find(used, static_cast<int>(i)) != used.end();
        if (taken || !is_word_of(names, normalised(table.header[i]))) { continue; }
        bool const all = std::ranges::all_of(table.records, [&](CsvTable::Record const& record) {
            return says_nothing(record.cells[i]) || is_cell(record.cells[i]);
        });
        if (all) { return static_cast<int>(i); }
    }
    return -1;
}

bool is_switch(std::string_view cell) { return yes_or_no(cell).has_value(); }

std::string_view cell_at(CsvTable::Record const& record, int column) {
    return column < 0 ? std::string_view{} : std::string_view{record.cells[static_cast<std::size_t>(column)]};
}

void add_column(CsvTable& table, std::vector<int>& used, std::string_view name) {
    used.push_back(static_cast<int>(table.header.size()));
    table.header.emplace_back(name);
    for (CsvTable::Record& record : table.records) { record.cells.emplace_back(); }
}

/// Format of a row: the narrowest that is on; two halves at once are none, and neither is fp32.
std::string switched_precision(std::array<std::optional<bool>, 5> const& on) {
    auto const [fp8, bf16, fp16, tf32, fp32] = on;
    if (fp8 == true) { return "fp8"; }
    if (bf16 == true) { return fp16 == true ? "bf16 and fp16" : "bf16"; }
    if (fp16 == true) { return "fp16"; }
    if (tf32 == true) { return "tf32"; }
    return fp32 == true || (bf16 == false && fp16 == false) ? "fp32" : "";
}

void add_precision(CsvTable& table, std::vector<int>& used) {
    constexpr std::array<std::string_view, 5> names{"fp8 usefp8", "bf16 usebf16", "fp16 usefp16", "tf32 usetf32",
                                                    "fp32 usefp32"};
    std::array<int, 5> columns{};
    for (std::size_t i = 0; i < names.size(); ++i) {
        columns.at(i) = free_column(table, used, names.at(i), is_switch);
        if (columns.at(i) >= 0) { used.push_back(columns.at(i)); }
    }
    if (table.column("precision") >= 0 || std::ranges::max(columns) < 0) { return; }
    add_column(table, used, "precision");
    for (CsvTable::Record& record : table.records) {
        std::array<std::optional<bool>, 5> on;
        for (std::size_t i = 0; i < on.size(); ++i) { on.at(i) = yes_or_no(cell_at(record, columns.at(i))); }
        record.cells.back() = switched_precision(on);
    }
}

void add_trained(CsvTable& table, std::vector<int>& used) {
    if (table.column("train") >= 0) { return; }
    int const whole = free_column(table, used, "lora uselora", is_switch),
              quantised = free_column(table, used, "qlora useqlora", is_switch),
              rank = free_column(table, used, "lorarank lorar", is_plain_number);
    for (int const column : {whole, quantised, rank}) {
        if (column >= 0) { used.push_back(column); }
    }
    if (std::max({whole, quantised, rank}) < 0) { return; }
    add_column(table, used, "train");
    for (CsvTable::Record& record : table.records) {
        auto const on = yes_or_no(cell_at(record, whole)), of_four_bits = yes_or_no(cell_at(record, quantised));
        auto const number = decimal_number(cell_at(record, rank));
        std::string& cell = record.cells.back();
        if (number.value_or(0.0) > 0.0 && on != false) {
            cell = fmt::format("lora:{}", *number);
        } else if (on == true || of_four_bits == true) {
            cell = of_four_bits == true ? "qlora" : "lora";
        } else if (on == false || of_four_bits == false || number) {
            cell = "all";
        }
    }
}

/// Seconds of a cell below a head of times.
std::optional<double> seconds_in(CsvTable::Record const& record, ColumnMatch const& column) {
    if (column.column < 0) { return std::nullopt; }
    CellValue const cell = cell_value(cell_at(record, column.column), CellMeasure::time);
    if (!cell.is_number()) { return std::nullopt; }
    bool const stated = cell.kind == CellValue::Kind::with_unit;
    return stated || !column.unit ? cell.value : column.unit->base(cell.value);
}

} // namespace

void write_switches(CsvTable& table, std::vector<std::string> const& header) {
    int const sharding = table.column("zero_stage_or_fsdp"), sp = table.column("sp"), tp = table.column("tp");
    auto const head_of = [&](int column) {
        bool const stands = column >= 0 && static_cast<std::size_t>(column) < header.size();
        return stands ? normalised(header[static_cast<std::size_t>(column)]) : std::string{};
    };
    std::string const degree = head_of(sp);
    bool const degrees = degree == "sp" || degree.ends_with("degree") || degree.ends_with("size");
    bool const zeros = sp >= 0 && std::ranges::any_of(table.records, [sp](auto const& record) {
                           return record.cells[static_cast<std::size_t>(sp)] == "0";
                       });
    for (auto& record : table.records) {
        if (head_of(sharding) == "fsdp") {
            std::string& cell = record.cells[static_cast<std::size_t>(sharding)];
            if (auto const on = yes_or_no(cell)) { cell = *on ? "FSDP" : "none"; }
        }
        if (!degrees || zeros) { continue; }
        std::string& cell = record.cells[static_cast<std::size_t>(sp)];
        bool const all = tp >= 0 && is_plain_number(cell) && cell == record.cells[static_cast<std::size_t>(tp)];
        cell = cell == "1" ? "no" : all ? "yes" : cell;
    }
}

void add_switched_columns(CsvTable& table, std::vector<int>& used) {
    add_precision(table, used);
    add_trained(table, used);
}

void join_offload(CsvTable& table, std::vector<int>& used) {
    auto const is_place = [](std::string_view cell) {
        constexpr std::array<std::string_view, 6> places{"cpu", "nvme", "host", "optim", "param", "all"};
        return is_switch(cell) || std::ranges::any_of(places, [cell](std::string_view place) {
                   return find_caseless(cell, place) != std::string_view::npos;
               });
    };
    int const any = free_column(table, used, "offload cpuoffload offloading cpuoffloading", is_place),
              state = free_column(table, used, "offloadoptimizer optimizeroffload offloadoptim optimoffload", is_place),
              weights = free_column(
                  table, used, "offloadparam paramoffload offloadparams offloadparameters parameteroffload", is_place);
    for (int const column : {any, state, weights}) { // others are in the issues
        if (column >= 0) { used.push_back(column); }
    }
    auto const is_on = [](std::string_view cell) { return !says_nothing(cell) && yes_or_no(cell) != false; };
    for (std::size_t row = 0; row < table.records.size(); ++row) {
        auto const cell = [&](int column) { return cell_at(table.records[row], column); };
        bool const of_state = is_on(cell(state)), of_weights = is_on(cell(weights));
        std::string words;
        if (is_on(cell(any))) { words = fmt::format(" offload {}", yes_or_no(cell(any)) ? "" : cell(any)); }
        if (of_state || of_weights) {
            words += of_state && of_weights ? " offload full" : of_state ? " offload optimizer" : " offload parameters";
        }
        if (words.empty()) { continue; }
        if (table.column("zero_stage_or_fsdp") < 0) { add_column(table, used, "zero_stage_or_fsdp"); }
        std::string& sharding = table.records[row].cells[static_cast<std::size_t>(table.column("zero_stage_or_fsdp"))];
        bool const stage = sharding.size() == 1 && is_decimal_digit(sharding[0]);
        sharding = fmt::format("{}{}{}", stage ? "ZeRO " : "", says_nothing(sharding) ? "" : sharding, words);
    }
}

void drop_steps_of_optimizers(CsvTable& table, std::vector<int> const& used) {
    int const step = table.column("measured_step_seconds");
    auto const passes = [&](std::string_view names) {
        std::vector<std::string> heads = table.header;
        for (int const column : used) { heads[static_cast<std::size_t>(column)].clear(); }
        return match_column(heads, {.names = names, .measure = CellMeasure::time});
    };
    ColumnMatch const forward = passes("forward fwd forwardtime fwdtime timeforward forwardpass fwdpass"),
                      backward = passes("backward bwd backwardtime bwdtime timebackward backwardpass bwdpass");
    if (step < 0 || forward.rank >= ColumnMatch::unit_alone || backward.rank >= ColumnMatch::unit_alone) { return; }
    constexpr std::array rates{"measured_tokens_per_s_total", "measured_tokens_per_s_per_gpu", "samples_per_s"};
    for (CsvTable::Record& record : table.records) {
        std::string& cell = record.cells[static_cast<std::size_t>(step)];
        auto const seconds = decimal_number(cell), one = seconds_in(record, forward),
                   other = seconds_in(record, backward);
        constexpr double rounding = 0.98;
        if (!seconds || !one || !other || *seconds >= rounding * (*one + *other)) { continue; }
        bool const rated = std::ranges::any_of(
            rates, [&](char const* name) { return decimal_number(cell_at(record, table.column(name))).has_value(); });
        cell = rated ? std::string{} : cell + " s next to longer passes";
    }
}

void divide_batches_of_tokens(CsvTable& table, std::vector<Issue>& issues) {
    constexpr double most_sequences = 65'536.0;
    int const batch = table.column("global_batch_sequences"), length = table.column("seq_len");
    if (batch < 0 || length < 0) { return; }
    for (CsvTable::Record& record : table.records) {
        std::string& cell = record.cells[static_cast<std::size_t>(batch)];
        auto const tokens = decimal_number(cell), each = decimal_number(cell_at(record, length));
        bool const counts = tokens && each && *tokens > most_sequences && *each > 1.0;
        if (!counts || std::fmod(*tokens, *each) != 0.0) { continue; }
        count_issue(issues, Issue{.kind = "batch taken for tokens",
                                  .count = 1,
                                  .line = record.line,
                                  .column = "global_batch_sequences",
                                  .text = cell,
                                  .kept = true});
        cell = fmt::format("{}", *tokens / *each);
    }
}

} // namespace headroom::io
