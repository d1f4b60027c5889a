#include "tables/run_columns.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/numbers.hpp"
#include "tables/quotient.hpp"
#include "tables/rows.hpp"
#include "tables/run_derived.hpp"
#include "tables/run_facts.hpp"
#include "tables/run_heads.hpp"
#include "tables/run_layout.hpp"
#include "tables/step_rate.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

namespace headroom::io {
namespace {

constexpr std::string_view text_columns =
    "id arch model_name accelerator "
    "source_repo_or_paper source_path_or_table source_family ffn_kind intra_node_link inter_node_link precision "
    "sp zero_stage_or_fsdp activation_recompute overlap_flags tflops_counts tflops_attention notes consistency "
    "memory_kind framework framework_version compile kernels attention_kernel fp8_recipe optimizer "
    "weights_precision train";
constexpr std::string_view number_columns =
    "layers hidden seq_len accelerators_total nodes global_batch_sequences global_batch_tokens params_b ffn_hidden "
    "heads kv_heads vocab "
    "moe_experts moe_topk accelerators_per_node micro_batch grad_accum dp tp pp virtual_pp cp ep "
    "measured_step_seconds measured_tokens_per_s_total measured_tokens_per_s_per_gpu measured_tflops_per_gpu "
    "measured_mfu_pct measured_hfu_pct measured_memory_gib_per_gpu samples_per_s power_limit_w";

/// Columns of a quantity, whose heads and cells may state its unit.
struct UnitColumn {
    std::string_view column;
    ColumnRow heads;
    std::size_t sure; ///< heads that need no unit
    double base;      ///< unit of the column
};
/// Words that the brackets of a column may hold.
constexpr std::array column_remarks{
    std::pair{"seq_len", "tokens token"},
    std::pair{"global_batch_sequences", "sequences samples"},
    std::pair{"micro_batch", "sequences samples"},
};
constexpr std::array unit_columns{
    UnitColumn{"measured_step_seconds",
               {.names = "steptime measuredsteptime iterationtime itertime timeperstep timeperiteration "
                         "measuredstep step iteration iter timestep timeiteration timeiter",
                .measure = CellMeasure::time},
               6,
               1.0},
    UnitColumn{"measured_memory_gib_per_gpu",
               {.names = "memory mem vram hbm reserved allocated memorypergpu mempergpu gpumemory gpumem memoryused "
                         "memoryusage memusage measuredmemory memoryreserved memreserved memoryallocated memallocated "
                         "reservedmemory allocatedmemory",
                .measure = CellMeasure::size},
               0,
               1024.0 * 1024.0 * 1024.0},
    UnitColumn{"power_limit_w",
               {.names = "powerlimit powercap tdp gpupowerlimit gpupowercap maxpower", .measure = CellMeasure::power},
               6,
               1.0},
};

/// Columns of which a table has one or more.
constexpr std::array<std::string_view, 6> needed{
    "model_name layers",
    "accelerator",
    "accelerators_total",
    "seq_len",
    "global_batch_sequences micro_batch",
    "measured_step_seconds measured_tokens_per_s_total measured_tokens_per_s_per_gpu samples_per_s "
    "measured_tflops_per_gpu measured_memory_gib_per_gpu"};

bool is_in(std::string_view list, std::string_view name) {
    while (!list.empty()) {
        if (next_word(list) == name) { return true; }
    }
    return false;
}

constexpr std::string_view rate_columns = "measured_tokens_per_s_total measured_tokens_per_s_per_gpu samples_per_s";

std::string_view remarks_of(std::string_view column) {
    for (auto const& [name, words] : column_remarks) {
        if (column == name) { return words; }
    }
    return {};
}

/// One column of the file and the unit of its head.
struct Found {
    int column = -1;
    std::optional<CellUnit> unit = {};
    bool unread = false; ///< brackets of its head
};

constexpr std::array mean_words{HeadWords{"mean avg average median", 0}};
constexpr std::array peak_words{HeadWords{"max maximum peak cuda torch", 0}};

/// Whether each cell of a column that says something states its unit: "58 GiB".
bool has_units(CsvTable const& table, std::size_t column, CellMeasure measure) {
    std::size_t stated = 0, others = 0;
    for (auto const& record : table.records) {
        CellValue const cell = cell_value(record.cells[column], measure);
        stated += cell.kind == CellValue::Kind::with_unit ? 1 : 0;
        others += cell.kind == CellValue::Kind::bare ? 1 : 0;
    }
    return stated > 0 && others == 0;
}

Found find_unit_column(CsvTable const& table, UnitColumn const& row, std::vector<int> const& used) {
    Found found;
    int best = ColumnMatch::unit_alone;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        bool const memory = row.heads.measure == CellMeasure::size;
        ColumnMatch const match = match_head(table.header[i], row.heads, memory ? peak_words : mean_words);
        bool const sure = match.unit || match.unread || has_units(table, i, row.heads.measure) ||
                          match.rank < static_cast<int>(row.sure);
        bool const is_used = std::ranges::find(used, static_cast<int>(i)) != used.end();
        if (is_used || !sure || match.rank >= best) { continue; }
        best = match.rank;
        found = {static_cast<int>(i), match.unit, match.unread};
    }
    return found;
}

/// Whether the first cell of a column that says something is a number.
bool holds_numbers(CsvTable const& table, std::size_t column) {
    for (auto const& record : table.records) {
        if (says_nothing(record.cells[column])) { continue; }
        CellNumber const number = cell_number(record.cells[column]);
        return number.fault == CellNumber::Fault::none && number.rest.empty();
    }
    return false;
}

bool holds_training(CsvTable const& table, std::size_t column) {
    return std::ranges::all_of(table.records,
                               [column](auto const& record) { return !trained_from(record.cells[column]).empty(); });
}

int find_other_head(CsvTable const& table, std::string_view name, std::vector<int> const& used) {
    int best = -1, surest = 0;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        bool const is_used = std::ranges::find(used, static_cast<int>(i)) != used.end();
        bool const other = (name == "accelerator" && holds_numbers(table, i)) || // "GPUs" of "8x H100", of 8
                           (name == "train" && !holds_training(table, i));       // "method" of LoRA, of FSDP
        auto const place = is_used || other ? std::nullopt : place_of_head(name, table.header[i]);
        if (!place || (best >= 0 && *place >= surest)) { continue; }
        best = static_cast<int>(i);
        surest = *place;
    }
    return best;
}

/// Column that holds a figure; rates of steps become times of one, those of an accelerator's samples rates of all.
std::string_view column_of(StepFigure figure) {
    switch (figure) {
    case StepFigure::tokens_per_second: return "measured_tokens_per_s_total";
    case StepFigure::tokens_per_second_per_accelerator: return "measured_tokens_per_s_per_gpu";
    case StepFigure::samples_per_second:
    case StepFigure::samples_per_second_per_accelerator: return "samples_per_s";
    default: return "measured_step_seconds";
    }
}

/// Rate of a column by the words of its head, else by those of all its cells: "131,072 tokens/s" below "throughput".
std::optional<StepRate> rate_of(CsvTable const& table, std::size_t column) {
    if (auto const rate = step_rate(table.header[column])) { return rate; }
    if (!is_in("throughput speed performance", normalised(table.header[column]))) { return std::nullopt; }
    std::optional<std::string> label;
    for (auto const& record : table.records) {
        if (says_nothing(record.cells[column])) { continue; }
        std::string const rest{cell_number(record.cells[column]).rest};
        if (label.value_or(rest) != rest) { return std::nullopt; }
        label = rest;
    }
    return label ? step_rate(*label) : std::nullopt;
}

/// The column of a rate that a column of published runs holds; -1 where there is none.
int find_rate(CsvTable const& table, std::string_view column, std::vector<int> const& used) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        bool const is_used = std::ranges::find(used, static_cast<int>(i)) != used.end();
        auto const rate = is_used ? std::nullopt : rate_of(table, i);
        if (rate && column_of(rate->figure) == column) { return static_cast<int>(i); }
    }
    return -1;
}

/// Writes the numbers of a column of rates as those of the column that holds them.
void write_rates(CsvTable& table, std::size_t column, NumberMarks const& marks) {
    StepRate const rate = *rate_of(table, column);
    bool const in_head = step_rate(table.header[column]).has_value();
    int const total = table.column("accelerators_total");
    for (auto& record : table.records) {
        std::string& cell = record.cells[column];
        std::size_t const label = in_head ? 0 : cell_number(cell, marks).rest.size();
        auto const number = scaled_number(cell.substr(0, cell.size() - label), marks);
        if (!number || !(*number > 0.0)) { continue; }
        double value = *number * rate.scale;
        if (rate.figure == StepFigure::steps_per_second) { value = 1.0 / value; }
        bool const of_one = rate.figure == StepFigure::samples_per_second_per_accelerator;
        auto const workers =
            of_one && total >= 0 ? decimal_number(record.cells[static_cast<std::size_t>(total)]) : std::nullopt;
        cell = of_one && !workers ? "no accelerator count" : fmt::format("{}", value * workers.value_or(1.0));
    }
}

/// Writes the numbers of a column without marks of groups, with a decimal point and in the unit of the column; other
/// text stays as it is.
void write_plainly(CsvTable& table, std::string_view name, Found const& found, UnitColumn const* row,
                   NumberMarks const& marks) {
    auto const column = static_cast<std::size_t>(found.column);
    for (auto& record : table.records) {
        CellNumber const number = cell_number(record.cells[column], marks);
        bool const scatters = std::ranges::any_of(std::array{"\xC2\xB1", "+/-", "+-"}, [&](std::string_view sign) {
            return number.fault == CellNumber::Fault::none && number.rest.starts_with(sign);
        });
        if (scatters) { // "3.60 ± 0.02"
            auto const length = static_cast<std::size_t>(number.rest.data() - record.cells[column].data());
            record.cells[column].resize(length);
        }
        CellValue const cell =
            cell_value(record.cells[column], row != nullptr ? row->heads.measure : CellMeasure::nothing, marks);
        bool const kilo = !scatters && number.fault == CellNumber::Fault::none && same_caseless(number.rest, "k");
        auto const scaled = is_in(rate_columns, name) ? scaled_number(record.cells[column], marks) : std::nullopt;
        if (name == "seq_len" && kilo) { record.cells[column] = fmt::format("{}", number.value * 1024.0); } // "8k"
        if (scaled) { record.cells[column] = fmt::format("{}", *scaled); }
        bool const bare = cell.kind == CellValue::Kind::bare;
        if (!bare && (row == nullptr || cell.kind != CellValue::Kind::with_unit)) { continue; }
        double const base = row != nullptr && (found.unit || !bare) ? row->base : 1.0;
        double const value = bare && found.unit ? found.unit->base(cell.value) : cell.value;
        record.cells[column] = fmt::format("{}", value / base);
    }
}

/// Refuses a table that lacks columns: all of them, with another head of each. `header`: as it stands in the file.
void check_needed(CsvTable const& table, std::vector<std::string> const& header, std::string_view where) {
    std::string missing;
    std::size_t count = 0;
    for (std::string_view const names : needed) {
        std::string_view left = names;
        bool any = false;
        while (!left.empty()) { any = table.column(next_word(left)) >= 0 || any; }
        if (any) { continue; }
        left = names;
        std::string_view const name = next_word(left);
        std::string const other{name == "measured_step_seconds" ? "step time (s), tokens/s/GPU, samples/s"
                                                                : usual_head(name)};
        missing += fmt::format("{}{} (or {})", ++count > 1 ? ", " : "", headroom::quoted(std::string{name}), other);
    }
    if (count == 0) { return; }
    bool const ambiguous = std::ranges::any_of(header, [](std::string const& head) {
        return is_head_of("batch", head) && find_caseless(head, "tok") == std::string_view::npos;
    });
    throw InputError{Fault::unreadable,
                     {.where = head_place(table, where),
                      .problem = fmt::format("no column{} {}", count > 1 ? "s" : "", missing),
                      .why = listed_columns(header),
                      .hint = ambiguous ? "name the batch: global batch, or batch per GPU"
                                        : "the columns are those of validation/published_runs.csv"}};
}

/// Writes the units of a column of their own behind numbers: "step_time,step_time_unit", "step time,time_unit".
void write_units(CsvTable& table, std::size_t column, bool times, std::vector<int>& used) {
    std::string const key = normalised(table.header[column]);
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        std::string const other = normalised(table.header[i]);
        bool const of_times = times && (other == "timeunit" || other == "unit");
        if (!of_times && other != key + "unit" && other != key + "units") { continue; }
        used.push_back(static_cast<int>(i));
        for (auto& record : table.records) { record.cells[column] += " " + record.cells[i]; }
        return;
    }
}

/// Adds what memory a head states, where no column does: "Peak memory reserved (GiB)".
void add_memory_kind(CsvTable& table, std::vector<std::string> const& header, std::vector<int>& used) {
    int const memory = table.column("measured_memory_gib_per_gpu");
    if (memory < 0 || table.column("memory_kind") >= 0) { return; }
    for (std::string_view const kind : {"reserved", "allocated", "nvidia-smi"}) {
        if (find_caseless(header[static_cast<std::size_t>(memory)], kind) == std::string_view::npos) { continue; }
        used.push_back(static_cast<int>(table.header.size()));
        table.header.emplace_back("memory_kind");
        for (auto& record : table.records) { record.cells.emplace_back(kind); }
        return;
    }
}

/// Whether a text names a column of measured runs.
bool is_run_head(std::string_view head) {
    std::string const key = normalised(head);
    if (key.empty()) { return false; }
    for (std::string_view left : {text_columns, number_columns}) {
        while (!left.empty()) {
            std::string_view const name = next_word(left);
            if (key == normalised(name) || is_head_of(name, head)) { return true; }
        }
    }
    bool const quantity = std::ranges::any_of(unit_columns, [&](UnitColumn const& row) {
        return match_head(head, row.heads, mean_words).rank < ColumnMatch::unit_alone;
    });
    return quantity || step_rate(head).has_value();
}

/// The table of a text with a head above each column.
CsvTable arranged_table(std::string_view csv, std::string_view where) {
    CsvTable table = read_csv(csv, where, {.repeated_names = true});
    arrange_runs(table, is_run_head);
    std::set<std::string_view> names;
    bool const repeated = std::ranges::any_of(
        table.header, [&](auto const& head) { return !head.empty() && !names.insert(head).second; });
    return repeated ? read_csv(csv, where) : table; // which refuses it
}

} // namespace

CsvTable read_run_table(std::string_view csv, std::string_view where, Catalog const& catalog,
                        std::vector<Issue>& issues) {
    CsvTable table = arranged_table(csv, where);
    std::vector<std::string> const header = table.header;
    auto const marks = number_marks(table);
    std::vector<int> used;
    auto const take = [&](std::string_view name, Found const& found) {
        used.push_back(found.column);
        auto const column = static_cast<std::size_t>(found.column);
        auto const row = std::ranges::find(unit_columns, name, &UnitColumn::column);
        bool const unitless = row != unit_columns.end() && !found.unit;
        if (unitless) { write_units(table, column, row->heads.measure == CellMeasure::time, used); }
        table.header[column] = name;
        bool const number = is_in(number_columns, name);
        if (number && found.unread) {
            refuse_unread(header[column],
                          {.names = "",
                           .measure = row == unit_columns.end() ? CellMeasure::nothing : row->heads.measure,
                           .remarks = remarks_of(name)},
                          head_place(table, where));
        }
        if (number) { write_plainly(table, name, found, row == unit_columns.end() ? nullptr : &*row, marks[column]); }
    };
    std::vector<std::string_view> others;
    for (std::string_view left : {text_columns, number_columns}) {
        while (!left.empty()) {
            std::string_view const name = next_word(left);
            std::string const key = normalised(name);
            auto const row = std::ranges::find(unit_columns, name, &UnitColumn::column);
            CellMeasure const measure = row == unit_columns.end() ? CellMeasure::nothing : row->heads.measure;
            ColumnMatch const match =
                match_column(table.header, {.names = key, .measure = measure, .remarks = remarks_of(name)});
            bool const named = match.rank < ColumnMatch::unit_alone;
            named ? take(name, {match.column, match.unit, match.unread}) : others.push_back(name);
        }
    }
    for (std::string_view const name : others) {
        auto const row = std::ranges::find(unit_columns, name, &UnitColumn::column);
        Found const found =
            row != unit_columns.end() ? find_unit_column(table, *row, used) : Found{find_other_head(table, name, used)};
        if (found.column >= 0) { take(name, found); }
    }
    add_derived_columns(table, used, catalog);
    bool any = false;
    auto const take_rate = [&](std::string_view name) {
        int const column = table.column(name) < 0 ? find_rate(table, name, used) : -1;
        auto const at = static_cast<std::size_t>(std::max(column, 0));
        // steps may be counted in micro-batches: other rates go before theirs
        if (column >= 0 && !(any && rate_of(table, at)->figure == StepFigure::steps_per_second)) {
            write_rates(table, at, marks[at]);
            table.header[at] = name;
            used.push_back(column);
        }
        any = any || table.column(name) >= 0;
    };
    for (std::string_view left = rate_columns; !left.empty();) { take_rate(next_word(left)); }
    take_rate("measured_step_seconds");
    add_memory_kind(table, header, used);
    check_needed(table, header, where);
    report_unused(issues, unused_columns(table.header, used));
    return table;
}

} // namespace headroom::io
