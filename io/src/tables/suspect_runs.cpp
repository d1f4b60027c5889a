#include "tables/suspect_runs.hpp"

#include "tables/numbers.hpp"
#include "tables/run_cells.hpp"

#include "headroom/order_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr std::array configuration{"source_family",
                                   "model_name",
                                   "layers",
                                   "hidden",
                                   "ffn_hidden",
                                   "heads",
                                   "kv_heads",
                                   "vocab",
                                   "seq_len",
                                   "moe_experts",
                                   "moe_topk",
                                   "accelerator",
                                   "accelerators_total",
                                   "accelerators_per_node",
                                   "precision",
                                   "global_batch_sequences",
                                   "micro_batch",
                                   "grad_accum",
                                   "dp",
                                   "tp",
                                   "sp",
                                   "pp",
                                   "virtual_pp",
                                   "cp",
                                   "ep",
                                   "zero_stage_or_fsdp",
                                   "activation_recompute",
                                   "overlap_flags",
                                   "framework",
                                   "compile",
                                   "kernels",
                                   "optimizer",
                                   "weights_precision",
                                   "train"};
constexpr std::array session{
    "source_repo_or_paper", "model_name", "accelerator", "accelerators_total", "dp", "tp", "pp", "virtual_pp", "cp"};

template <std::size_t count> std::string key_of(RunCells const& row, std::array<char const*, count> const& columns) {
    std::string key;
    for (auto const* column : columns) {
        key += row.text(column);
        key += '\n';
    }
    return key;
}

/// "05-26" of 'notes column "05-26"' or 'date 02-17'; empty when the notes print no day.
std::string_view day_of(RunCells const& row) {
    auto const notes = row.text("notes");
    constexpr std::size_t length = 5;
    for (std::string_view const before : {"notes column \"", "date "}) {
        auto const found = notes.find(before);
        if (found == std::string_view::npos) { continue; }
        auto const day = notes.substr(found + before.size(), length);
        if (day.size() == length && day[2] == '-' && day.find_first_not_of("0123456789-") == std::string_view::npos) {
            return day;
        }
    }
    return {};
}

/// A row and its marks.
struct Row {
    RunCells cells;
    PublishedRun* run;

    [[nodiscard]] bool measured() const { return run->counts() && run->measured.base() > 0.0; }
    void drop(std::string rule, std::string because) const {
        run->dropped_by = std::move(rule);
        run->dropped_because = std::move(because);
    }
};

/// A cell that holds no number says nothing here: the row is skipped for it.
std::optional<int> degree(RunCells const& cells, char const* column) {
    auto const text = cells.text(column);
    bool const whole = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    return whole ? cells.integer(column) : std::nullopt;
}

void drop_impossible_degrees(Row const& row) {
    auto const workers = degree(row.cells, "accelerators_total");
    if (!workers) { return; }
    double replica = 1.0; // cells can hold anything: no product overflows
    std::string words;
    for (auto const* column : {"tp", "pp", "cp"}) {
        auto const stated = degree(row.cells, column);
        if (!stated) { continue; }
        replica *= *stated;
        words += fmt::format("{}{} {}", words.empty() ? "" : " x ", column, *stated);
    }
    auto const replicas = degree(row.cells, "dp");
    bool const fits = replica <= *workers && *workers % static_cast<int>(replica) == 0;
    if (fits && replica * replicas.value_or(1) <= *workers) { return; }
    if (!fits) {
        row.drop("impossible degrees", fmt::format("{} on {} accelerators", words, *workers));
    } else {
        words += words.empty() ? "" : " x ";
        row.drop("impossible degrees", fmt::format("{}dp {} on {} accelerators", words, *replicas, *workers));
    }
}

void drop_what_its_source_calls_wrong(Row const& row) {
    auto const notes = row.cells.text("notes");
    auto const says = notes.find("SOURCE SAYS");
    if (says == std::string_view::npos || notes.find("wrong", says) == std::string_view::npos) { return; }
    auto const end = notes.find_first_of(";|", says);
    row.drop("wrong by its source", std::string{notes.substr(says, end == std::string_view::npos ? end : end - says)});
}

/// The table's own check: above the peak, days that include other work, one figure for two machines.
void drop_what_contradicts_itself(Row const& row) {
    if (row.cells.text("consistency") != "suspect") { return; }
    row.drop("contradicts itself", "its table calls it suspect");
}

/// Steps that the figures of a row come to, each with the words for it. Only a stated batch and length make steps of rates.
struct StatedStep {
    double seconds;
    std::string words;
};

/// A cell that holds no number says nothing here.
std::optional<double> figure(RunCells const& cells, char const* column) {
    auto const number = decimal_number(cells.text(column));
    return number && *number > 0.0 ? number : std::nullopt;
}

std::vector<StatedStep> stated_steps(Row const& row) {
    Question const& question = *row.run->question;
    double const batch = question.workload.global_batch, tokens = batch * question.workload.sequence_length;
    double const workers = question.strategy.workers();
    struct Rate {
        char const *column, *words;
        double work;
    };
    std::vector<StatedStep> steps;
    if (auto const stated = figure(row.cells, "measured_step_seconds")) {
        steps.push_back({*stated, fmt::format("a step of {:.4g} s", *stated)});
    }
    for (Rate const& one :
         {Rate{"measured_tokens_per_s_total", "tokens a second", tokens},
          Rate{"measured_tokens_per_s_per_gpu", "tokens a second of an accelerator", tokens / workers},
          Rate{"samples_per_s", "samples a second", batch}}) {
        auto const rate = figure(row.cells, one.column);
        if (!rate) { continue; }
        double const step = one.work / *rate;
        steps.push_back({step, fmt::format("{:.4g} {} are a step of {:.4g} s", *rate, one.words, step)});
    }
    return steps;
}

/// Figures of one row that differ by more than a factor of two.
void drop_contradicting_figures(Row const& row) {
    constexpr double far = 2.0;
    std::vector<StatedStep> const steps = stated_steps(row);
    if (steps.empty()) { return; }
    auto const [least, most] = std::ranges::minmax_element(steps, {}, &StatedStep::seconds);
    if (most->seconds > far * least->seconds) { row.drop("figures contradict", most->words + ", " + least->words); }
}

/// More operations a second than the accelerators have, with attention counted below the diagonal and no recomputation; and
/// fewer than a thousandth of them, which no transformer in their memory needs: the figure is in another unit.
void drop_what_no_accelerator_reaches(Row const& row) {
    Question const& question = *row.run->question;
    auto const& workload = question.workload;
    auto const forward =
        forward_flops(question.model, workload.tokens(), workload.attended(), AttentionConvention::causal);
    double const work = training_flops(forward, trained_work(question.strategy, question.model)).base();
    auto const& accelerator = question.cluster.accelerator;
    double peak = peak_rate(accelerator, question.strategy.precision).base();
    if (row.cells.text("precision").empty()) { peak = std::max(peak, peak_rate(accelerator, Precision::fp8).base()); }
    double const share = work * workload.global_batch / (row.run->measured.base() * question.strategy.workers() * peak);
    constexpr double least = 1e-3; // milliseconds below a head of seconds
    bool const transformer = question.model.operators.empty() && question.strategy.offload == Offload::none;
    bool const below = transformer && share < least;
    if (!(share > 1.0) && !below) { return; }
    row.drop(below ? "below a thousandth of the peak" : "above the peak",
             fmt::format("{:.4g} s are {:.3g} % of the peak of its accelerators{}", row.run->measured.base(),
                         100.0 * share, below ? ": check the unit" : ""));
}

/// Drops what arithmetic alone refutes, of rows whose cells state batch, length and accelerators.
void drop_what_arithmetic_refutes(Row const& row) {
    bool const stated = row.run->states_enough && row.run->question && row.measured();
    if (!stated) { return; }
    drop_contradicting_figures(row);
    if (row.run->counts()) { drop_what_no_accelerator_reaches(row); }
}

/// The sessions of the dropped runs, each with the run that gave it away.
using Sessions = std::map<std::string, std::string>;

std::string session_of(Row const& row) {
    auto const day = day_of(row.cells);
    return day.empty() ? std::string{} : key_of(row.cells, session) + place_of(row.cells) + '\n' + std::string{day};
}

Sessions drop_those_far_from_repeats(std::vector<Row> const& rows) {
    std::map<std::string, std::vector<Row const*>> repeats;
    for (auto const& row : rows) {
        if (row.measured()) { repeats[key_of(row.cells, configuration)].push_back(&row); }
    }
    constexpr std::size_t least = 3;
    constexpr double far = 1.5;
    Sessions sessions;
    for (auto const& [key, same] : repeats) {
        if (same.size() < least) { continue; }
        std::vector<double> steps;
        for (auto const* row : same) { steps.push_back(row->run->measured.base()); }
        double const median = quantile(steps, 0.5);
        for (auto const* row : same) {
            double const step = row->run->measured.base();
            if (step <= median * far && median <= step * far) { continue; }
            row->drop("far from its repeats",
                      fmt::format("{:.4g} s, where the median of {} runs is {:.4g} s", step, same.size(), median));
            if (auto where = session_of(*row); !where.empty()) { sessions.emplace(std::move(where), row->run->id); }
        }
    }
    return sessions;
}

} // namespace

void drop_suspects(CsvTable const& table, std::string_view where, std::span<PublishedRun> runs) {
    std::vector<Row> rows;
    rows.reserve(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        Row const row{{table, table.records[i], where}, &runs[i]};
        drop_impossible_degrees(row);
        if (row.run->counts()) { drop_what_its_source_calls_wrong(row); }
        if (row.run->counts()) { drop_what_contradicts_itself(row); }
        if (row.run->counts()) { drop_what_arithmetic_refutes(row); }
        rows.push_back(row);
    }
    auto const sessions = drop_those_far_from_repeats(rows);
    for (auto const& row : rows) {
        auto const found = row.measured() ? sessions.find(session_of(row)) : sessions.end();
        if (found != sessions.end()) {
            row.drop("taken with such a run", "the table, day, model, accelerators and degrees of " + found->second);
        }
    }
}

} // namespace headroom::io
