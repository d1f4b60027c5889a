#include "tables/worker_columns.hpp"

#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace headroom::io {
namespace {

constexpr ColumnRow workers_row{
    .names =
        "workers worker processors processor gpus gpu ngpus accelerators devices cores core ncores cpus cpu ncpus "
        "ranks rank nranks np worldsize processes procs nprocs threads thread nthreads nodes nnodes hosts machines "
        "tasks ntasks replicas instances servers pods vms load users clients concurrency p n k threadsperrank "
        "threadsperprocess threadspertask "
        "processespernode rankspernode gpuspernode corespernode ppn",
    .required = true,
    .what = "worker counts",
    .option = "--workers-column"};
constexpr std::array worker_words{HeadWords{"n num number nr no count of omp openmp mpi the used all", 0},
                                  HeadWords{"total", -1}};

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

int find_worker_column(CsvTable const& table, std::string_view where, std::string const& asked,
                       std::vector<std::string>& notes) {
    int const column =
        asked.empty() ? varying_workers(table, notes)
                      : asked_column(table.header, table.named, asked, CellMeasure::nothing, workers_row.option).column;
    if (column < 0) {
        refuse_missing_column(table.header, head_place(table, where), workers_row.what,
                              "name it workers, or say --workers-column NAME");
    }
    return column;
}

} // namespace headroom::io
