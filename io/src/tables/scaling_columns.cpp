#include "tables/scaling_columns.hpp"

#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

namespace headroom::io {
namespace {

using Names = std::span<std::string_view const>;

/// Names of each kind, the plainest first: of several columns the earliest name wins.
constexpr std::array<std::string_view, 26> workers_names{
    "workers", "worker",  "processors",  "processor", "gpus",     "gpu",       "accelerators",
    "devices", "ranks",   "np",          "processes", "procs",    "worldsize", "cores",
    "cpus",    "threads", "nodes",       "hosts",     "machines", "tasks",     "load",
    "users",   "clients", "concurrency", "n",         "p"};
constexpr std::array<std::string_view, 1> workers_letter{"k"};
constexpr std::array<std::string_view, 20> seconds_names{
    "seconds",     "stepseconds",    "time",          "steptime",  "step",    "runtime",     "duration",
    "walltime",    "wall",           "wallseconds",   "wallclock", "elapsed", "elapsedtime", "executiontime",
    "timeperstep", "secondsperstep", "iterationtime", "latency",   "t",       "totaltime"};
constexpr std::array<std::string_view, 19> throughput_names{"throughput",
                                                            "x",
                                                            "samplespersecond",
                                                            "tokenspersecond",
                                                            "imagespersecond",
                                                            "sequencespersecond",
                                                            "stepspersecond",
                                                            "itemspersecond",
                                                            "requestspersecond",
                                                            "transactionspersecond",
                                                            "operationspersecond",
                                                            "rate",
                                                            "examplespersecond",
                                                            "wordspersecond",
                                                            "qps",
                                                            "rps",
                                                            "tps",
                                                            "ips",
                                                            "tput"};
constexpr std::array<std::string_view, 2> speedup_names{"speedup", "relativespeedup"};
constexpr std::array<std::string_view, 12> sync_names{"syncseconds",
                                                      "sync",
                                                      "synctime",
                                                      "synchronisation",
                                                      "synchronization",
                                                      "synchronisationseconds",
                                                      "synchronizationseconds",
                                                      "synchronisationtime",
                                                      "synchronizationtime",
                                                      "barrier",
                                                      "barrierseconds",
                                                      "barriertime"};
constexpr std::array<std::string_view, 4> weight_names{"weight", "weights", "repeats", "repetitions"};
constexpr std::array<std::string_view, 8> error_names{"sigma", "stderr", "standarderror",     "se",
                                                      "std",   "stddev", "standarddeviation", "sd"};

struct Kind {
    ScalingQuantity quantity;
    std::string_view word;
    Names names;
    bool time;
};
constexpr std::array<Kind, 4> kinds{{
    {ScalingQuantity::seconds, "seconds", seconds_names, true},
    {ScalingQuantity::throughput, "throughput", throughput_names, false},
    {ScalingQuantity::speedup, "speedup", speedup_names, false},
    {ScalingQuantity::sync, "sync", sync_names, true},
}};

/// A header without the unit that it ends in: "time_ms", "time (ms)", "ms".
struct Header {
    std::string name;
    double unit = 1.0;
    bool has_unit = false;
};

Header without_unit(std::string_view header) {
    std::string text{header};
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::erase_if(text, [](char c) { return c == ')' || c == ']'; });
    while (!text.empty() && text.back() == ' ') { text.pop_back(); }
    auto const cut = text.find_last_of(" _-([./");
    std::string const unit = cut == std::string::npos ? text : text.substr(cut + 1);
    bool const rate = cut != std::string::npos && text[cut] == '/'; // samples/s
    bool const bracket = cut != std::string::npos && (text[cut] == '(' || text[cut] == '[');
    bool const unclear = unit == "min" || unit == "h" || (cut == std::string::npos && unit == "s"); // minimum, speedup
    auto const seconds = seconds_in(unit);
    if (!seconds || rate || (unclear && !bracket)) { return {.name = normalised(header)}; }
    std::string const rest = cut == std::string::npos ? "" : normalised(text.substr(0, cut));
    return {.name = rest.empty() ? "time" : rest, .unit = *seconds, .has_unit = true};
}

/// "pictures/s", "frames_per_second".
bool names_a_rate(std::string_view header) {
    std::string const name = normalised(header);
    return header.ends_with("/s") || header.ends_with("/sec") || name.ends_with("persecond") ||
           name.ends_with("persec");
}

struct Match {
    int column = -1;
    double unit = 1.0;
    std::size_t rank = 0;
};

/// Whole names go before names with a unit taken off: "seconds" is no "time" in seconds.
Match best_match(CsvTable const& table, Names names, bool time) {
    Match best{.column = -1, .unit = 1.0, .rank = 2 * names.size()};
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        auto const whole = std::ranges::find(names, normalised(table.header[i])) - names.begin();
        auto rank = static_cast<std::size_t>(whole);
        double unit = 1.0;
        if (rank >= names.size() && names.data() == throughput_names.data() && names_a_rate(table.header[i])) {
            rank = names.size(); // after every name that is known
            if (rank < best.rank) { best = {static_cast<int>(i), unit, rank}; }
            continue;
        }
        if (rank >= names.size()) {
            Header const header = without_unit(table.header[i]);
            if (!time || !header.has_unit) { continue; }
            rank = static_cast<std::size_t>(std::ranges::find(names, header.name) - names.begin());
            if (rank >= names.size()) { continue; }
            unit = header.unit;
        }
        if (rank < best.rank) { best = {static_cast<int>(i), unit, rank}; }
    }
    return best;
}

std::string listed(CsvTable const& table) {
    std::string list;
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < table.header.size() && i < most; ++i) {
        list += (i > 0 ? ", " : "") + headroom::quoted(table.header[i]);
    }
    return "the columns are " + list + (table.header.size() > most ? ", ..." : "");
}

[[noreturn]] void no_column(CsvTable const& table, std::string_view where, std::string_view what, std::string hint) {
    if (table.header.size() == 1 && table.header.front().find_first_of(";\t|") != std::string::npos) {
        hint = "separate columns by commas";
    }
    usage_error(fmt::format("{}:1", where), fmt::format("no column of {}", what), listed(table), std::move(hint));
}

int named_column(CsvTable const& table, std::string_view where, std::string const& name, std::string_view option) {
    int const exact = table.column(name);
    if (exact >= 0) { return exact; }
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        if (normalised(table.header[i]) == normalised(name)) { return static_cast<int>(i); }
    }
    std::string const near = did_you_mean(name, table.header);
    usage_error(option, fmt::format("no column {} in {}", headroom::quoted(name), where), listed(table), near);
}

void find_workers(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                  ScalingColumns& columns) {
    if (!question.workers_column.empty()) {
        columns.workers = named_column(table, where, question.workers_column, "--workers-column");
        return;
    }
    columns.workers = best_match(table, workers_names, false).column;
    if (columns.workers < 0) { columns.workers = best_match(table, workers_letter, false).column; }
    if (columns.workers < 0) {
        no_column(table, where, "worker counts", "name it workers, or say --workers-column NAME");
    }
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        bool const other = std::ranges::find(workers_names, normalised(table.header[i])) != workers_names.end();
        if (other && static_cast<int>(i) != columns.workers) {
            columns.notes.push_back(
                fmt::format("workers are column {}, not {}: say --workers-column to change that",
                            headroom::quoted(table.header[static_cast<std::size_t>(columns.workers)]),
                            headroom::quoted(table.header[i])));
        }
    }
}

void find_value(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                ScalingColumns& columns) {
    bool found = false;
    for (Kind const& kind : kinds) {
        Match const match = best_match(table, kind.names, kind.time);
        if (match.column < 0 || match.column == columns.workers) { continue; }
        // of times somebody may say that they are times of synchronisation
        bool const asked =
            question.quantity.empty() || question.quantity == kind.word || (question.quantity == "sync" && kind.time);
        if (!asked) { continue; }
        std::string const name = headroom::quoted(table.header[static_cast<std::size_t>(match.column)]);
        if (found && match.column != columns.value && question.quantity.empty()) {
            columns.notes.push_back(fmt::format("column {} is not used: say --quantity {} for it", name, kind.word));
        }
        if (found && question.quantity != kind.word) { continue; }
        columns.value = match.column;
        columns.unit = match.unit;
        columns.quantity = question.quantity == "sync" ? ScalingQuantity::sync : kind.quantity;
        found = true;
    }
    if (!found) {
        no_column(table, where, question.quantity.empty() ? "seconds, throughput or speedup" : question.quantity,
                  "rename one, or say --value-column NAME --quantity seconds");
    }
}

void find_named_value(CsvTable const& table, std::string_view where, ScalingTableQuestion const& question,
                      ScalingColumns& columns) {
    columns.value = named_column(table, where, question.value_column, "--value-column");
    std::string const& name = table.header[static_cast<std::size_t>(columns.value)];
    columns.unit = without_unit(name).unit;
    if (!question.quantity.empty()) {
        columns.quantity = scaling_quantity(question.quantity, "--quantity");
        return;
    }
    for (Kind const& kind : kinds) {
        CsvTable const alone{.header = {name}, .records = {}};
        if (best_match(alone, kind.names, kind.time).column == 0) {
            columns.quantity = kind.quantity;
            return;
        }
    }
    usage_error("--value-column", fmt::format("{} may be times, throughputs or speedups", headroom::quoted(name)),
                "its name does not say", "say --quantity seconds, throughput or speedup");
}

void find_weight(CsvTable const& table, ScalingColumns& columns) {
    Match const weight = best_match(table, weight_names, false), error = best_match(table, error_names, true);
    bool const taken = weight.column == columns.workers || weight.column == columns.value;
    if (weight.column >= 0 && !taken) {
        columns.weight = weight.column;
        return;
    }
    if (error.column < 0 || error.column == columns.value) { return; }
    columns.weight = error.column;
    columns.weight_is_error = true;
    std::string const& name = table.header[static_cast<std::size_t>(error.column)];
    columns.weight_unit = without_unit(name).has_unit ? error.unit : columns.unit;
}

} // namespace

ScalingQuantity scaling_quantity(std::string_view word, std::string_view where) {
    std::string const known = parse_choice(word, {"seconds", "throughput", "speedup", "sync"}, where);
    for (Kind const& kind : kinds) {
        if (kind.word == known) { return kind.quantity; }
    }
    return ScalingQuantity::value;
}

ScalingColumns find_scaling_columns(CsvTable const& table, std::string_view where,
                                    ScalingTableQuestion const& question) {
    ScalingColumns columns;
    find_workers(table, where, question, columns);
    if (question.value_column.empty()) {
        find_value(table, where, question, columns);
    } else {
        find_named_value(table, where, question, columns);
    }
    if (columns.value == columns.workers) {
        usage_error("--value-column", "names the column of workers", {}, "name another");
    }
    find_weight(table, columns);
    return columns;
}

} // namespace headroom::io
