#include "tables/scaling_columns.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace headroom::io {
namespace {

constexpr ColumnRow workers_row{
    .names =
        "workers worker processors processor gpus gpu ngpus accelerators devices cores core ncores cpus cpu ncpus "
        "ranks rank nranks np worldsize processes procs nprocs threads thread nthreads nodes nnodes hosts machines "
        "tasks ntasks replicas instances servers pods vms load users clients concurrency n p k threadsperrank "
        "threadsperprocess threadspertask "
        "processespernode rankspernode gpuspernode corespernode ppn",
    .required = true,
    .what = "worker counts",
    .option = "--workers-column"};
constexpr std::array worker_words{HeadWords{"n num number nr no count of omp openmp mpi the used all", 0},
                                  HeadWords{"total", -1}};
constexpr std::array value_words{HeadWords{"avg average mean median", 0}, HeadWords{"total overall", -1},
                                 HeadWords{"min best", 30}, HeadWords{"max worst std stddev", ColumnMatch::never}};

struct ValueRow {
    ScalingQuantity quantity;
    std::string_view word;
    ColumnRow columns;
    bool per_worker = false; ///< times the workers it is such a quantity
};
constexpr std::array<ValueRow, 6> value_rows{{
    {ScalingQuantity::seconds,
     "seconds",
     {.names =
          "seconds stepseconds time steptime step runtime duration walltime wall wallseconds wallclock wallclocktime "
          "elapsed elapsedtime executiontime exectime timeperstep secondsperstep iterationtime timeperiteration "
          "latency t timetaken timetosolution makespan real realtime looptime solvetime computetime simulationtime "
          "trainingtime",
      .measure = CellMeasure::time}},
    {ScalingQuantity::throughput,
     "throughput",
     {.names =
          "throughput x samplespersecond tokenspersecond imagespersecond sequencespersecond stepspersecond "
          "itemspersecond requestspersecond transactionspersecond operationspersecond rate examplespersecond "
          "wordspersecond qps rps tps ips tput fps iops flops mflops gflops tflops pflops mlups glups mteps gteps"}},
    {ScalingQuantity::speedup, "speedup", {.names = "speedup relativespeedup"}},
    {ScalingQuantity::sync,
     "sync",
     {.names = "syncseconds sync synctime synchronisation synchronization synchronisationseconds "
               "synchronizationseconds synchronisationtime synchronizationtime barrier barrierseconds barriertime",
      .measure = CellMeasure::time}},
    {ScalingQuantity::speedup,
     "speedup",
     {.names = "efficiency parallelefficiency scalingefficiency speedupefficiency strongscalingefficiency "
               "weakscalingefficiency parallelscalingefficiency eff"},
     true},
    {ScalingQuantity::throughput, "throughput", {.names = "mfu hfu modelflopsutilization"}, true},
}};
constexpr ColumnRow weight_row{.names = "weight weights repeats repetitions"};
constexpr ColumnRow error_row{.names = "sigma stderr standarderror se std stddev standarddeviation sd",
                              .measure = CellMeasure::time};

bool is_time(ValueRow const& row) { return row.columns.measure == CellMeasure::time; }

/// A head of the form A per B, in lower case: "img/s", "frames_per_second", "Active [particles/sec]", "ms/step".
struct Quotient {
    std::string above = {}, below = {}; ///< the word before and the words behind; empty without a quotient
    static bool is_time(std::string_view word) {
        constexpr std::string_view words = " s sec secs second seconds ms us ns min minute hour h hr day d time ";
        return !word.empty() && words.find(fmt::format(" {} ", word)) != std::string_view::npos;
    }
};

std::optional<Quotient> quotient_of(std::string_view head) {
    std::vector<std::string> words(1);
    for (char const c : head) { // words of letters and digits; a slash is "per"
        if (c == '/') {
            words.insert(words.end(), {"per", ""});
        } else if (is_decimal_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'z')) {
            words.back() += lowered(c);
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    std::erase(words, "");
    auto const per = std::ranges::find(words, "per");
    if (per == words.begin() || per == words.end() || per + 1 == words.end()) { return std::nullopt; }
    Quotient quotient{.above = *(per - 1)};
    for (auto word = per + 1; word != words.end(); ++word) {
        quotient.below += (quotient.below.empty() ? "" : " ") + *word;
    }
    return quotient;
}

/// "Tokens/s" of "Tokens/s/GPU", "throughput" of "throughput (per device)"; empty where a head is of no worker.
std::string_view without_worker(std::string_view head) {
    constexpr std::string_view around = " _-./()[]";
    auto const last = head.find_last_not_of(around);
    if (last == std::string_view::npos) { return {}; }
    std::string_view const whole = head.substr(0, last + 1);
    auto const word = whole.find_last_of(around);
    constexpr std::size_t shortest = 3; // "p" and "n" are too short to tell
    if (word == std::string_view::npos || whole.size() - word <= shortest) { return {}; }
    std::string_view const name = whole.substr(word + 1);
    bool const counts = counts_workers(name) || counts_workers(std::string{name} + "s");
    std::string_view stem = whole.substr(0, word);
    bool const slash = whole[word] == '/';
    auto const per = stem.find_last_not_of(around);
    stem = stem.substr(0, per == std::string_view::npos ? 0 : per + 1);
    bool const says_per = stem.size() > 3 && same_caseless(stem.substr(stem.size() - 3), "per") &&
                          around.find(stem[stem.size() - 4]) != std::string_view::npos;
    if (!counts || (!slash && !says_per)) { return {}; }
    if (says_per) { stem.remove_suffix(3); }
    auto const end = stem.find_last_not_of(around);
    return stem.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

ColumnMatch match_value(std::string_view head, ValueRow const& row) {
    std::string_view const of_all = without_worker(head);
    bool const rate_of_one = !of_all.empty() && row.quantity == ScalingQuantity::throughput;
    if (rate_of_one && !row.per_worker) { return {}; }
    if (rate_of_one) {
        auto const rates = std::ranges::find(value_rows, ScalingQuantity::throughput, &ValueRow::quantity);
        return match_value(of_all, *rates);
    }
    ColumnMatch match = match_head(head, row.columns, value_words);
    auto const quotient = quotient_of(head);
    bool const rate = quotient && Quotient::is_time(quotient->below);
    bool const time = quotient && !rate && Quotient::is_time(quotient->above);
    if (rate && is_time(row)) { return {}; }
    if (rate && row.quantity == ScalingQuantity::throughput && match.rank > ColumnMatch::unit_alone) {
        return {.rank = ColumnMatch::unit_alone};
    }
    if (time && row.quantity == ScalingQuantity::seconds && match.rank > ColumnMatch::unit_alone) {
        return {.rank = ColumnMatch::unit_alone,
                .unit = match_head(fmt::format("time ({})", quotient->above), row.columns).unit};
    }
    // what ends in a unit of time may be any time, but no time of synchronisation
    bool const unit_alone = match.rank >= ColumnMatch::unit_alone - 1;
    return row.quantity == ScalingQuantity::sync && unit_alone ? ColumnMatch{} : match;
}

/// "time (s)" of "time 2 (s)", "time_run2 (s)"; empty where no number ends it.
std::string without_run(std::string_view head) {
    head = trimmed_line(head);
    bool const bracket = head.ends_with(')') || head.ends_with(']');
    std::size_t const open = bracket ? std::min(head.find_last_of("(["), head.size()) : head.size();
    std::string_view stem = trimmed_line(head.substr(0, open));
    auto const cut = [&](std::string_view marks) {
        auto const last = stem.find_last_not_of(marks);
        stem = stem.substr(0, last == std::string_view::npos ? 0 : last + 1);
    };
    if (stem.empty() || !is_decimal_digit(stem.back())) { return {}; }
    cut("0123456789");
    cut(" _-#.");
    for (std::string_view const word : {"run", "trial", "repeat", "rep"}) {
        bool const ends = stem.size() > word.size() && same_caseless(stem.substr(stem.size() - word.size()), word);
        if (ends) { stem.remove_suffix(word.size()); }
    }
    cut(" _-#.");
    return stem.empty() ? std::string{} : std::string{stem} + std::string{head.substr(open)};
}

std::set<std::string> values_of(CsvTable const& table, int column) {
    std::set<std::string> values;
    for (auto const& record : table.records) { values.insert(record.cells[static_cast<std::size_t>(column)]); }
    return values;
}

std::string name_at(CsvTable const& table, int column) {
    return headroom::quoted(table.header[static_cast<std::size_t>(column)]);
}

std::string head_place(CsvTable const& table, std::string_view where) {
    return fmt::format("{}:{}", where, table.head_line);
}

/// Place of the first name that may count something other than parallel resources.
int first_vague_name() {
    std::string_view const names = workers_row.names;
    std::string_view const before = names.substr(0, names.find(" load "));
    return static_cast<int>(std::ranges::count(before, ' ')) + 1;
}

/// Whether a cell may count workers.
bool is_count(std::string const& cell) {
    CellNumber const number = cell_number(cell);
    bool const counts =
        number.rest.empty() || is_count_label(number.rest) ||
        (number.rest.size() == 1 && std::string_view{"kKMGT"}.find(number.rest[0]) != std::string::npos);
    return number.fault == CellNumber::Fault::none && counts && number.value >= 1.0;
}

/// Certainty, -1 to 3, that a column of counts is the one that the values are over: it holds counts, it varies, its
/// name is no vague one, and no value of it stands in more than half of the rows.
int sureness(CsvTable const& table, ColumnMatch const& match) {
    std::map<std::string, std::size_t> rows;
    std::size_t most = 0;
    for (auto const& record : table.records) {
        most = std::max(most, ++rows[record.cells[static_cast<std::size_t>(match.column)]]);
    }
    if (std::ranges::none_of(rows, [](auto const& row) { return is_count(row.first); })) { return -1; }
    if (rows.size() < 2) { return 0; }
    if (match.rank >= first_vague_name()) { return 1; }
    return 2 * most > table.records.size() ? 2 : 3;
}

/// The column whose cells say that they count workers: "1 node", "4 nodes"; -1 where there is none.
int counted_in_cells(CsvTable const& table) {
    for (std::size_t i = 0; i < table.header.size() && !table.records.empty(); ++i) {
        bool const counts = std::ranges::all_of(table.records, [&](auto const& record) {
            CellNumber const number = cell_number(record.cells[i]);
            return number.fault == CellNumber::Fault::none && is_count_label(number.rest);
        });
        if (counts) { return static_cast<int>(i); }
    }
    return -1;
}

/// Column of the workers among several counts: the most certain by its cells, then by its name.
int varying_workers(CsvTable const& table, std::vector<std::string>& notes) {
    std::vector<ColumnMatch> matches;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        ColumnMatch match = match_head(table.header[i], workers_row, worker_words);
        match.column = static_cast<int>(i);
        if (match.rank < ColumnMatch::never) { matches.push_back(match); }
    }
    if (matches.empty()) { return counted_in_cells(table); }
    std::ranges::stable_sort(matches, {}, &ColumnMatch::rank);
    auto const sure = [&](ColumnMatch const& match) { return sureness(table, match); };
    ColumnMatch const& chosen = *std::ranges::max_element(matches, {}, sure);
    for (ColumnMatch const& match : matches) {
        if (match.column == chosen.column || (sure(match) <= 0 && sure(chosen) > 0)) { continue; }
        notes.push_back(fmt::format("workers are column {}, not {}: say --workers-column to change that",
                                    name_at(table, chosen.column), name_at(table, match.column)));
    }
    return chosen.column;
}

void find_workers(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                  ScalingColumns& columns) {
    columns.workers = question.workers_column.empty() ? varying_workers(table, columns.notes)
                                                      : asked_column(table.header, table.named, question.workers_column,
                                                                     CellMeasure::nothing, workers_row.option)
                                                            .column;
    if (columns.workers < 0) {
        refuse_missing_column(table.header, head_place(table, where), workers_row.what,
                              "name it workers, or say --workers-column NAME");
    }
}

/// The heads with the numbers of runs taken off where several columns are runs of one quantity.
std::vector<std::string> heads_of_runs(std::vector<std::string> const& header) {
    std::vector<std::string> heads = header;
    for (std::string& head : heads) {
        std::string const stem = without_run(head);
        auto const same = [&](std::string const& other) { return without_run(other) == stem; };
        if (!stem.empty() && std::ranges::count_if(header, same) > 1) { head = stem; }
    }
    return heads;
}

void take_value(CsvTable const& table, std::vector<std::string> const& heads, ValueRow const& row,
                ColumnMatch const& best, ScalingColumns& columns) {
    columns.quantity = row.quantity;
    columns.per_worker = row.per_worker;
    columns.unit = best.unit.value_or(CellUnit{});
    columns.values = {best.column};
    for (std::size_t i = 0; i < heads.size(); ++i) {
        auto const column = static_cast<int>(i);
        if (column == best.column || column == columns.workers || match_value(heads[i], row).rank != best.rank) {
            continue;
        }
        if (heads[i] == heads[static_cast<std::size_t>(best.column)]) { // a run of the same
            columns.values.push_back(column);
        } else if (best.rank >= ColumnMatch::unit_alone - 1) {
            columns.notes.push_back(fmt::format("the value is column {}, not {}: say --value-column to change that",
                                                name_at(table, best.column), name_at(table, column)));
        }
    }
}

/// Quantity that a head names together with one other word, before it or after it: "time_small", "large throughput".
ValueRow const* quantity_beside(std::string_view head) {
    constexpr std::string_view between = " _-.";
    auto const first = head.find_first_of(between), last = head.find_last_of(between);
    if (first == std::string_view::npos) { return nullptr; }
    for (ValueRow const& row : value_rows) {
        for (std::string_view const part : {head.substr(0, last), head.substr(first + 1)}) {
            if (match_value(part, row).rank < ColumnMatch::unit_alone - 1) { return &row; }
        }
    }
    return nullptr;
}

/// Refuses series that stand side by side.
void refuse_series(CsvTable const& table, std::string_view where, int workers) {
    std::vector<std::string> names;
    ValueRow const* first = nullptr;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        ValueRow const* const row = static_cast<int>(i) == workers ? nullptr : quantity_beside(table.header[i]);
        if (row == nullptr) { continue; }
        if (first == nullptr) { first = row; }
        names.push_back(headroom::quoted(table.header[i]));
    }
    if (names.empty()) { return; }
    std::string const problem =
        names.size() > 1 ? fmt::format("columns {} and {}", names[0], names[1]) : fmt::format("column {}", names[0]);
    usage_error(head_place(table, where), problem,
                names.size() > 1 ? "each may be a series of its own" : "its name does not say enough",
                fmt::format("say which: --value-column {} --quantity {}", names[0], first->word));
}

void find_value(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                ScalingColumns& columns) {
    std::vector<std::string> const heads = heads_of_runs(table.header);
    // A name that is known goes before any that only has a unit, values of all workers before those of one.
    struct Pass {
        bool unit_alone, per_worker;
    };
    for (auto const [unit_alone, per_worker] : {Pass{false, false}, {true, false}, {false, true}, {true, true}}) {
        for (ValueRow const& row : value_rows) {
            if (row.per_worker != per_worker || (per_worker && !columns.values.empty())) { continue; }
            ColumnMatch best;
            for (std::size_t i = 0; i < heads.size(); ++i) {
                ColumnMatch match = match_value(heads[i], row);
                match.column = static_cast<int>(i);
                bool const sure = match.rank < ColumnMatch::unit_alone - 1;
                if (match.column != columns.workers && sure != unit_alone && match.rank < best.rank) { best = match; }
            }
            // of times somebody may say that they are times of synchronisation
            bool const asked = question.quantity.empty() || question.quantity == row.word ||
                               (question.quantity == "sync" && is_time(row));
            if (!best.found() || !asked) { continue; }
            bool const found = !columns.values.empty();
            bool const taken = found && std::ranges::find(columns.values, best.column) != columns.values.end();
            if (found && !taken && !unit_alone && question.quantity.empty()) {
                columns.notes.push_back(fmt::format("column {} is not used: say --quantity {} for it",
                                                    name_at(table, best.column), row.word));
            }
            if (found && (unit_alone || question.quantity != row.word)) { continue; }
            take_value(table, heads, row, best, columns);
            if (question.quantity == "sync") { columns.quantity = ScalingQuantity::sync; }
        }
    }
    if (columns.values.empty()) { refuse_series(table, where, columns.workers); }
    if (columns.values.empty()) {
        refuse_missing_column(table.header, head_place(table, where),
                              question.quantity.empty() ? "seconds, throughput or speedup" : question.quantity,
                              "rename one, or say --value-column NAME and --quantity seconds, throughput or speedup");
    }
}

void find_named_value(CsvTable const& table, ScalingTableQuestion const& question, ScalingColumns& columns) {
    ColumnMatch const asked =
        asked_column(table.header, table.named, question.value_column, CellMeasure::time, "--value-column");
    columns.values = {asked.column};
    columns.unit = asked.unit.value_or(CellUnit{});
    if (!question.quantity.empty()) {
        columns.quantity = scaling_quantity(question.quantity, "--quantity");
        return;
    }
    auto const row = std::ranges::find_if(value_rows, [&](ValueRow const& one) {
        return match_value(table.header[static_cast<std::size_t>(asked.column)], one).rank < ColumnMatch::never;
    });
    if (row == value_rows.end()) {
        usage_error("--value-column",
                    fmt::format("{} may be times, throughputs or speedups", name_at(table, asked.column)),
                    "its name does not say", "say --quantity seconds, throughput or speedup");
    }
    columns.quantity = row->quantity;
    columns.per_worker = row->per_worker;
}

void find_weight(CsvTable const& table, ScalingColumns& columns) {
    ColumnMatch const weight = match_column(table.header, weight_row), error = match_column(table.header, error_row);
    auto const taken = [&](int column) {
        return column == columns.workers || std::ranges::find(columns.values, column) != columns.values.end();
    };
    if (weight.found() && !taken(weight.column)) {
        columns.weight = weight.column;
        return;
    }
    if (!error.found() || error.rank >= ColumnMatch::unit_alone || taken(error.column)) { return; }
    columns.weight = error.column;
    columns.weight_is_error = true;
    columns.weight_unit = error.unit.value_or(columns.unit);
}

/// Kind of worker that a text names; -1 where it may be any: "n", "workers".
int kind_of_worker(std::string_view text) {
    constexpr std::array kinds{"gpu device accelerator", "node host machine server", "core cpu thread"};
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        for (std::string_view names = kinds.at(kind); !names.empty();) {
            if (find_caseless(text, next_word(names)) != std::string_view::npos) { return static_cast<int>(kind); }
        }
    }
    return -1;
}

/// Refuses rates of one GPU over a count of nodes: nobody says how many of them a node has.
void check_kind_of_worker(CsvTable const& table, std::string_view where, ScalingColumns const& columns) {
    std::string const& head = table.header[static_cast<std::size_t>(columns.values.front())];
    if (!columns.per_worker || without_worker(head).empty()) { return; }
    int const of_value = kind_of_worker(std::string_view{head}.substr(without_worker(head).size()));
    int const counted = kind_of_worker(table.header[static_cast<std::size_t>(columns.workers)]);
    if (of_value < 0 || counted < 0 || of_value == counted) { return; }
    usage_error(head_place(table, where),
                fmt::format("{} is of another worker than {} counts", name_at(table, columns.values.front()),
                            name_at(table, columns.workers)),
                {}, "give the throughput of all, or counts of the same worker");
}

/// The unit of times that a column states for every row.
void find_stated_unit(CsvTable const& table, std::string_view where, ScalingColumns& columns) {
    int const column = unit_column(table.header);
    bool const times = columns.quantity == ScalingQuantity::seconds || columns.quantity == ScalingQuantity::sync;
    if (column < 0 || !times || !columns.unit.name.empty()) { return; }
    auto const at = static_cast<std::size_t>(column);
    std::set<std::string> const units = values_of(table, column);
    auto const unit = units.size() == 1 ? time_unit(*units.begin()) : std::nullopt;
    bool const any = std::ranges::any_of(units, [](std::string const& one) { return time_unit(one).has_value(); });
    if (!unit && any) {
        usage_error(head_place(table, where),
                    fmt::format("{} differs from row to row", headroom::quoted(table.header[at])),
                    one_of({units.begin(), units.end()}), "write all times in one unit");
    }
    if (!unit) { return; }
    columns.unit = *unit;
    columns.unit_stated = column;
}

/// Numbers of a column without a name; empty where a cell is none.
std::vector<double> numbers_of(CsvTable const& table, std::size_t column) {
    std::vector<double> numbers;
    for (auto const& record : table.records) {
        CellValue const cell = cell_value(record.cells[column], CellMeasure::time);
        if (!cell.is_number()) { return {}; }
        numbers.push_back(cell.value);
    }
    return numbers;
}

/// Columns by what they hold: counts are whole and vary, the one column with fractions is the value.
void find_by_content(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                     ScalingColumns& columns) {
    std::vector<int> fractions;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        std::vector<double> const numbers = numbers_of(table, i);
        bool const whole =
            std::ranges::all_of(numbers, [](double one) { return one >= 1.0 && one == std::floor(one); });
        auto const column = static_cast<int>(i);
        bool const varies = values_of(table, column).size() > 1;
        if (numbers.empty()) { continue; }
        if (!whole) { fractions.push_back(column); }
        if (whole && varies && columns.workers < 0) { columns.workers = column; }
    }
    std::string const hint = "say --workers-column 1 --value-column 2 --quantity seconds";
    if (columns.workers < 0 || fractions.size() != 1) {
        usage_error(head_place(table, where), "columns without names",
                    fmt::format("{} of {} hold fractions", fractions.size(), table.header.size()), hint);
    }
    columns.values = {fractions.front()};
    auto const counts = numbers_of(table, static_cast<std::size_t>(columns.workers));
    auto const values = numbers_of(table, static_cast<std::size_t>(fractions.front()));
    auto const least = std::ranges::min_element(counts) - counts.begin(),
               most = std::ranges::max_element(counts) - counts.begin();
    bool const falls = values[static_cast<std::size_t>(most)] < values[static_cast<std::size_t>(least)];
    if (question.quantity.empty() && !falls) {
        usage_error(head_place(table, where), "columns without names",
                    "values that rise may be throughputs or speedups", "say --quantity throughput or speedup");
    }
    columns.quantity =
        question.quantity.empty() ? ScalingQuantity::seconds : scaling_quantity(question.quantity, "--quantity");
    columns.notes.push_back(fmt::format(
        "the table has no header: column {} is taken for worker counts, column {} for {}", columns.workers + 1,
        fractions.front() + 1, question.quantity.empty() ? "seconds, as it falls" : question.quantity));
}

/// Refuses a constant count where another column of counts varies, under a name that is not known.
void check_varies(CsvTable const& table, std::string_view where, ScalingColumns const& columns) {
    int const workers = columns.workers;
    if (table.records.size() < 2 || values_of(table, workers).size() > 1) { return; }
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        std::set<std::string> const values = values_of(table, static_cast<int>(i));
        bool const counts = std::ranges::all_of(values, [](std::string const& cell) {
            CellNumber const number = cell_number(cell);
            bool const whole = number.fault == CellNumber::Fault::none && number.rest.empty();
            return whole && number.value >= 1.0 && number.value == std::floor(number.value);
        });
        bool const is_value = std::ranges::any_of(value_rows, [&](ValueRow const& row) {
            return match_value(table.header[i], row).rank < ColumnMatch::never;
        });
        bool const other = is_value || counts_repeats(table.header[i]) || static_cast<int>(i) == columns.weight ||
                           std::ranges::find(columns.values, static_cast<int>(i)) != columns.values.end();
        if (values.size() < 2 || !counts || other) { continue; }
        usage_error(head_place(table, where),
                    fmt::format("{} is {} in every row", name_at(table, workers), *values_of(table, workers).begin()),
                    "the worker counts must vary",
                    fmt::format("if they are in {} say --workers-column {}", name_at(table, static_cast<int>(i)),
                                headroom::quoted(table.header[i])));
    }
}

} // namespace

bool is_count_label(std::string_view text) {
    constexpr std::size_t shortest = 3; // "8n" and "4 p" may be anything
    bool const times = text.starts_with("x ") || text.starts_with("x") || text.starts_with("\xC3\x97");
    std::string_view const name = times ? trimmed_line(text.substr(text[0] == 'x' ? 1 : 2)) : text;
    bool const letter = !name.empty() && !is_decimal_digit(name[0]);
    if (times) { return letter; }                                                        // "8x A100"
    bool const counts = counts_workers(name) || counts_workers(std::string{name} + "s"); // "1 node"
    return letter && name.size() >= shortest && counts;
}

bool counts_workers(std::string_view head) {
    return match_head(head, workers_row, worker_words).rank < ColumnMatch::never;
}

bool counts_repeats(std::string_view head) {
    constexpr ColumnRow row{.names = "run runs trial repeat repetition rep iteration iter it seed id index sample"};
    return match_head(head, row).rank < ColumnMatch::never;
}

ScalingQuantity scaling_quantity(std::string_view word, std::string_view where) {
    std::string const known = parse_choice(word, {"seconds", "throughput", "speedup", "sync"}, where);
    return std::ranges::find(value_rows, std::string_view{known}, &ValueRow::word)->quantity;
}

ScalingColumns find_scaling_columns(CsvTable const& table, std::string_view where,
                                    ScalingTableQuestion const& question) {
    ScalingColumns columns;
    if (!table.named && question.workers_column.empty() && question.value_column.empty()) {
        find_by_content(table, where, question, columns);
        return columns;
    }
    find_workers(table, where, question, columns);
    if (question.value_column.empty()) {
        find_value(table, where, question, columns);
    } else {
        find_named_value(table, question, columns);
    }
    if (columns.values.front() == columns.workers) {
        usage_error("--value-column", "names the column of workers", {}, "name another");
    }
    find_stated_unit(table, where, columns);
    check_kind_of_worker(table, where, columns);
    if (table.named) { find_weight(table, columns); }
    if (question.workers_column.empty()) { check_varies(table, where, columns); }
    return columns;
}

} // namespace headroom::io
