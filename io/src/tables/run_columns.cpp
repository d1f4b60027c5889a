#include "tables/run_columns.hpp"

#include "records/record.hpp"
#include "records/record_words.hpp"
#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/foreign_heads.hpp"
#include "tables/numbers.hpp"
#include "tables/quotient.hpp"
#include "tables/rows.hpp"
#include "tables/run_derived.hpp"
#include "tables/run_facts.hpp"
#include "tables/run_heads.hpp"
#include "tables/run_layout.hpp"
#include "tables/run_rates.hpp"
#include "tables/run_switches.hpp"
#include "tables/scaling_cells.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
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
constexpr std::array unit_columns{
    UnitColumn{
        "measured_step_seconds",
        {.names = "steptime measuredsteptime iterationtime itertime timeperstep timeperiteration "
                  "measuredstep elapsedtimeperiteration elapsedtimeperstep step iteration iter timestep timeiteration "
                  "timeiter",
         .measure = CellMeasure::time},
        8,
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

constexpr std::string_view rate_columns = "measured_tokens_per_s_total measured_tokens_per_s_per_gpu samples_per_s";

/// One column of the file and the unit of its head.
struct Found {
    int column = -1;
    std::optional<CellUnit> unit = {};
    bool unread = false; ///< brackets of its head
};

constexpr std::array mean_words{HeadWords{"mean avg average median p50 real actual total whole", 0}};
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

/// Bytes of memory of the accelerator that a cell names, behind a count or not: "8x H100"; zero for others.
double capacity_of(std::string_view cell, Catalog const& catalog) {
    for (std::size_t at = 0; at < cell.size(); ++at) {
        bool const begins = at == 0 || std::string_view{" x*"}.find(cell[at - 1]) != std::string_view::npos;
        auto const record =
            begins ? record_in_words(catalog, RecordKind::accelerator, trimmed_line(cell.substr(at))) : std::nullopt;
        if (record) { return catalog.accelerator(*record).memory.base(); }
    }
    return 0.0;
}

/// Whether a column of memory holds what accelerators have, not what a run took: whole sizes that parts are sold with, or
/// those of the records, under a head that does not speak of use.
bool is_capacity(CsvTable const& table, std::size_t column, std::optional<CellUnit> const& unit,
                 Catalog const& catalog) {
    constexpr double gib = 1024.0 * 1024.0 * 1024.0, giga = 1e9;
    constexpr std::array sold{11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 144, 180, 192, 256, 288};
    constexpr std::string_view use = "peak max maximum used use usage alloc allocated reserved measured footprint smi";
    constexpr std::string_view part = "gpu gpus device accelerator card chip vram hbm";
    auto const words = words_in(table.header[column]);
    auto const has = [&](std::string_view list) {
        return std::ranges::any_of(words, [list](auto const& word) { return is_word_of(list, word); });
    };
    if (has(use)) { return false; }
    bool const of_part = has(part) || normalised(table.header[column]).starts_with("gpumem");
    std::map<std::string, double> capacities;
    int const named = table.column("accelerator");
    bool any = false;
    for (auto const& record : table.records) {
        CellValue const cell = cell_value(record.cells[column], CellMeasure::size);
        if (says_nothing(record.cells[column])) { continue; }
        if (!cell.is_number() || !(cell.value > 0.0)) { return false; }
        bool const with_unit = cell.kind == CellValue::Kind::with_unit;
        double const bytes = with_unit ? cell.value : unit ? unit->base(cell.value) : cell.value * gib;
        auto const is_near = [bytes](double size, double share) {
            return std::abs(bytes - size * gib) <= share * size * gib ||
                   std::abs(bytes - size * giga) <= share * size * giga;
        };
        std::string const name = named < 0 ? std::string{} : record.cells[static_cast<std::size_t>(named)];
        auto const [at, fresh] = capacities.try_emplace(name, 0.0);
        if (fresh) { at->second = capacity_of(name, catalog); }
        double const printed = cell_number(record.cells[column]).value;
        bool const whole = printed == std::floor(printed);
        constexpr double exact = 0.005, close = 0.03;
        bool const listed =
            of_part && whole && std::ranges::any_of(sold, [&](int size) { return is_near(size, exact); });
        double const own = at->second;
        bool const of_record =
            own > 0.0 && (is_near(own / gib, of_part ? close : exact) || is_near(own / giga, of_part ? close : exact));
        if (!listed && !of_record) { return false; }
        any = true;
    }
    return any;
}

/// Whether a head is of an extreme or a spread: "step time (max)", "step time (min)" next to it, "step time std".
bool is_extreme(std::vector<std::string> const& header, std::size_t column) {
    static constexpr std::string_view extremes = "max maximum worst slowest best fastest std stddev p90 p95 p99";
    auto const words = words_in(header[column]);
    return is_minimum(header, header[column]) ||
           std::ranges::any_of(words, [](std::string const& word) { return is_word_of(extremes, word); });
}

Found find_unit_column(CsvTable const& table, UnitColumn const& row, std::vector<int> const& used,
                       Catalog const& catalog) {
    Found found;
    int best = ColumnMatch::unit_alone;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        bool const memory = row.heads.measure == CellMeasure::size;
        ColumnMatch const match = match_head(table.header[i], row.heads, memory ? peak_words : mean_words);
        bool const sure = match.unit || match.unread || has_units(table, i, row.heads.measure) ||
                          match.rank < static_cast<int>(row.sure);
        bool const is_used = std::ranges::find(used, static_cast<int>(i)) != used.end();
        if (is_used || !sure || match.rank >= best || (!memory && is_extreme(table.header, i))) { continue; }
        if (memory && is_capacity(table, i, match.unit, catalog)) { continue; }
        best = match.rank;
        found = {static_cast<int>(i), match.unit, match.unread};
    }
    return found;
}

/// Whether the first cell of a column that says something is a number.
bool holds_numbers(CsvTable const& table, std::size_t column) {
    for (auto const& record : table.records) {
        if (!says_nothing(record.cells[column])) { return is_plain_number(record.cells[column]); }
    }
    return false;
}

bool holds_training(CsvTable const& table, std::size_t column) {
    return std::ranges::all_of(table.records,
                               [column](auto const& record) { return !trained_from(record.cells[column]).empty(); });
}

/// Whether the cells of a column are of the kind that a head means, where it may mean others.
bool may_hold(CsvTable const& table, std::string_view name, std::size_t column) {
    if (name == "accelerator") { return !holds_numbers(table, column); } // "GPUs" of "8x H100", of 8
    if (name == "train") { return holds_training(table, column); }       // "method" of LoRA, of FSDP
    std::string const head = normalised(table.header[column]);
    if (name == "activation_recompute" && is_word_of("ckpt checkpointing gc ac", head)) { // also files, clipping
        return std::ranges::all_of(table.records, [column](auto const& record) {
            std::string_view const cell = record.cells[column];
            return says_nothing(cell) || (!is_plain_number(cell) && recompute_from(cell));
        });
    }
    if (name == "zero_stage_or_fsdp" && head == "fsdp") { // a version, a degree or a switch
        return std::ranges::none_of(table.records,
                                    [column](auto const& record) { return is_plain_number(record.cells[column]); });
    }
    return true;
}

int find_other_head(CsvTable const& table, std::string_view name, std::vector<int> const& used) {
    int best = -1, surest = 0;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        bool const is_used = std::ranges::find(used, static_cast<int>(i)) != used.end();
        auto const place = is_used ? std::nullopt : place_of_head(name, table.header[i]);
        if (!place || (best >= 0 && *place >= surest) || !may_hold(table, name, i)) { continue; }
        best = static_cast<int>(i);
        surest = *place;
    }
    return best;
}

/// Whether the text behind a number names the things that its column counts: "64 seqs", "64 (sequences)".
bool names_what_is_counted(std::string_view name, CellNumber const& number) {
    std::string_view rest = number.rest;
    if (rest.size() > 2 && rest.front() == '(' && rest.back() == ')') { rest = rest.substr(1, rest.size() - 2); }
    return number.fault == CellNumber::Fault::none && !rest.empty() && is_word_of(remarks_of(name), trimmed_line(rest));
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
        auto const scaled = is_word_of(rate_columns, name) ? scaled_number(record.cells[column], marks) : std::nullopt;
        if (name == "seq_len" && kilo) { record.cells[column] = fmt::format("{}", number.value * 1024.0); } // "8k"
        if (scaled) { record.cells[column] = fmt::format("{}", *scaled); }
        if (names_what_is_counted(name, number)) {
            record.cells[column] = fmt::format("{}", number.value);
        } // "64 seqs"
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

/// Adds the head of a batch that no column took: what it states cannot be assumed, as batch_not_read.
void add_unread_batch(CsvTable& table, std::vector<int>& used) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        bool const is_used = std::ranges::find(used, static_cast<int>(i)) != used.end();
        if (is_used || !speaks_of_batch(table.header[i])) { continue; }
        std::string const head = table.header[i];
        used.push_back(static_cast<int>(table.header.size()));
        table.header.emplace_back("batch_not_read");
        for (auto& record : table.records) { record.cells.push_back(head); }
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
CsvTable arranged_table(std::string_view csv, std::string_view where, std::vector<Issue>& issues) {
    auto const is_head = [](std::string_view head) { return is_run_head(in_english(head)); };
    std::string const untitled = without_titles(csv, is_head, issues);
    CsvTable table = read_csv(untitled, where, {.repeated_names = true});
    arrange_runs(table, is_head);
    join_parts(table, where, is_head, issues);
    for (auto const& [written, english] : translate_heads(table)) {
        issues.push_back(
            {.kind = "head in another language", .count = 1, .column = written, .text = english, .kept = true});
    }
    std::ranges::move(take_all_marks(table, false), std::back_inserter(issues));
    std::set<std::string_view> names;
    bool const repeated = std::ranges::any_of(
        table.header, [&](auto const& head) { return !head.empty() && !names.insert(head).second; });
    return repeated ? read_csv(untitled, where) : table; // which refuses it
}

} // namespace

CsvTable read_run_table(std::string_view csv, std::string_view where, Catalog const& catalog,
                        std::vector<Issue>& issues) {
    CsvTable table = arranged_table(csv, where, issues);
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
        bool const number = is_word_of(number_columns, name);
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
        Found const found = row != unit_columns.end() ? find_unit_column(table, *row, used, catalog)
                                                      : Found{find_other_head(table, name, used)};
        if (found.column >= 0) { take(name, found); }
    }
    write_switches(table, header);
    add_switched_columns(table, used);
    join_offload(table, used);
    add_derived_columns(table, used, catalog);
    divide_batches_of_tokens(table, issues);
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
    drop_steps_of_optimizers(table, used);
    add_memory_kind(table, header, used);
    check_needed(table, header, where);
    add_unread_batch(table, used);
    report_unused(issues, unused_columns(table.header, used));
    return table;
}

} // namespace headroom::io
