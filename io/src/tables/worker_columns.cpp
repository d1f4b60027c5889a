#include "tables/worker_columns.hpp"

#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/numbers.hpp"
#include "tables/quotient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace headroom::io {
namespace {

constexpr ColumnRow workers_row{
    .names = "workers worker processors processor gpus gpu ngpus accelerators devices chips tpus tpucores gcds npus "
             "hpus cores core ncores cpus cpu ncpus "
             "ranks rank nranks np worldsize processes procs nprocs threads thread nthreads pes sockets cpucores "
             "gpucores nodes nnodes hosts machines "
             "tasks ntasks replicas instances servers pods vms "
             "load users clients concurrency p n k threadsperrank "
             "threadsperprocess threadspertask "
             "processespernode rankspernode gpuspernode corespernode ppn",
    .required = true,
    .what = "worker counts",
    .option = "--workers-column",
    .remarks = "gpu gpus node nodes core cores rank ranks process processes thread threads device devices accelerator "
               "accelerators mpi omp openmp total count number physical logical each per"};
constexpr std::array worker_words{HeadWords{"n num number nr no count of omp openmp mpi the used all", 0},
                                  HeadWords{"total", -1},
                                  HeadWords{"a100 h100 h200 b200 v100 p100 a800 h800 mi250x mi300x gh200 gb200", 0}};

/// Names of one worker, which count where the head says so: "Node count", "number of hosts".
constexpr ColumnRow counted_row{.names = "node host machine server task process device accelerator replica instance"};

ColumnMatch match_workers(std::string_view head) {
    ColumnMatch const match = match_head(head, workers_row, worker_words);
    if (match.rank < ColumnMatch::never) { return match; }
    std::vector<std::string> const words = words_in(head);
    bool const counts = std::ranges::any_of(
        words, [](std::string const& word) { return word == "count" || word == "number" || word == "num"; });
    if (!counts) { return match; }
    constexpr int later = 45; // GPUs go before a count of nodes
    ColumnMatch counted = match_head(head, counted_row, worker_words);
    counted.rank = std::min(counted.rank + later, ColumnMatch::never);
    return counted;
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
    bool const whole = number.value == std::floor(number.value) || !number.rest.empty(); // "1.5K"
    return number.fault == CellNumber::Fault::none && counts && whole && number.value >= 1.0;
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
        ColumnMatch match = match_workers(table.header[i]);
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

bool counts_workers(std::string_view head) { return match_workers(head).rank < ColumnMatch::never; }

bool counts_repeats(std::string_view head) {
    constexpr ColumnRow row{.names = "run runs trial repeat repetition rep iteration iter it seed id index sample"};
    return match_head(head, row).rank < ColumnMatch::never;
}

namespace {

/// Heads of two counts whose product is the number of workers.
struct Factors {
    std::string_view outer, inner;
    bool both; ///< both must vary: threads of one rank over a fixed number of ranks are a scaling of their own
};
constexpr std::array factors{
    Factors{"nodes nnodes hosts nhosts machines servers",
            "gpuspernode gpupernode ngpuspernode devicespernode acceleratorspernode rankspernode processespernode "
            "procspernode taskspernode ntaskspernode corespernode ppn threadspernode",
            false},
    Factors{"ranks nranks processes procs nprocs np tasks ntasks",
            "threadsperrank threadsperprocess threadspertask cpuspertask", true},
    Factors{"p", "q", false}, // the grid of processes of HPL
};

/// Whole counts of a column, 0 where a cell has no digit ("Total"); empty where another cell is none.
std::vector<double> counts_of(CsvTable const& table, int column) {
    std::vector<double> counts;
    for (auto const& record : table.records) {
        std::string const& cell = record.cells[static_cast<std::size_t>(column)];
        CellNumber const number = cell_number(cell);
        if (std::ranges::none_of(cell, is_decimal_digit)) {
            counts.push_back(0.0);
            continue;
        }
        bool const whole = number.fault == CellNumber::Fault::none && number.rest.empty() && number.value >= 1.0 &&
                           number.value == std::floor(number.value);
        if (!whole) { return {}; }
        counts.push_back(number.value);
    }
    return counts;
}

bool varies(std::vector<double> const& counts) {
    double const most = counts.empty() ? 0.0 : std::ranges::max(counts);
    return std::ranges::any_of(counts, [&](double count) { return count > 0.0 && count != most; });
}

/// Whether another column counts all workers by a name of its own.
bool has_total(CsvTable const& table, int outer, int inner) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        ColumnMatch const match = match_workers(table.header[i]);
        auto const column = static_cast<int>(i);
        bool const other = column != outer && column != inner && match.rank < first_vague_name();
        if (other && varies(counts_of(table, column))) { return true; }
    }
    return false;
}

} // namespace

std::vector<int> multiply_workers(CsvTable& table) {
    for (Factors const& one : factors) {
        bool const letters = one.outer.size() == 1;
        int const outer =
            match_column(table.header, {.names = one.outer}, letters ? std::span<HeadWords const>{} : worker_words)
                .column;
        int const inner =
            match_column(table.header, {.names = one.inner}, letters ? std::span<HeadWords const>{} : worker_words)
                .column;
        if (!table.named || outer < 0 || inner < 0 || outer == inner || has_total(table, outer, inner)) { continue; }
        auto const outers = counts_of(table, outer), inners = counts_of(table, inner);
        bool const single = std::ranges::all_of(outers, [](double count) { return count <= 1.0; });
        bool const needed =
            letters ? varies(inners) || varies(outers) : varies(inners) && !single && (!one.both || varies(outers));
        if (outers.empty() || inners.empty() || !needed) { continue; }
        std::string const name = fmt::format("{} x {}", table.header[static_cast<std::size_t>(outer)],
                                             table.header[static_cast<std::size_t>(inner)]);
        table.header.push_back(name);
        for (std::size_t i = 0; i < table.records.size(); ++i) {
            double const product = outers[i] * inners[i];
            std::string const text = table.records[i].cells[static_cast<std::size_t>(outers[i] > 0.0 ? inner : outer)];
            table.records[i].cells.push_back(product > 0.0 ? fmt::format("{}", product) : text);
        }
        return {outer, inner, static_cast<int>(table.header.size()) - 1};
    }
    return {};
}

int find_worker_column(CsvTable const& table, std::string_view where, std::string const& asked,
                       std::vector<std::string>& notes) {
    int const column =
        asked.empty() ? varying_workers(table, notes)
                      : asked_column(table.header, table.named, asked, CellMeasure::nothing, workers_row.option).column;
    if (column >= 0 && asked.empty()) {
        std::string const& head = table.header[static_cast<std::size_t>(column)];
        if (match_workers(head).unread) { refuse_unread(head, workers_row, head_place(table, where)); }
    }
    if (column < 0) {
        refuse_missing_column(table.header, head_place(table, where), workers_row.what,
                              "name it workers, or say --workers-column NAME");
    }
    return column;
}

} // namespace headroom::io
