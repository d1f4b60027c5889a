#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "training_logs/training_log_formats.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace headroom::io {
namespace {

char delimiter_of(std::string_view line) {
    char best = ',';
    for (char const one : {';', '\t'}) {
        if (std::ranges::count(line, one) > std::ranges::count(line, best)) { best = one; }
    }
    return best;
}

std::vector<std::string> cells_of(std::string_view line, char delimiter) {
    CellRow row;
    row.split(line, {.delimiter = delimiter});
    return {row.cells().begin(), row.cells().end()};
}

int column_named(std::vector<std::string> const& names, std::string_view name) {
    auto const found = std::ranges::find_if(names, [&](std::string const& one) { return normalised(one) == name; });
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

bool has_all(std::vector<std::string> const& names, std::initializer_list<std::string_view> wanted) {
    return std::ranges::all_of(wanted, [&](std::string_view name) { return column_named(names, name) >= 0; });
}

/// Factor to seconds of the stamps of a clock: in seconds since 1970 today is 1.8e9, in milliseconds 1.8e12.
double scale_of_stamps(double stamp) {
    if (stamp > 1e17) { return 1e-9; }
    if (stamp > 1e14) { return 1e-6; }
    return stamp > 1e11 ? 1e-3 : 1.0;
}

/// Unit of the values of a TensorBoard file, by its name: "run-1-tag-perf_step_time_ms.csv".
std::optional<MetricsName> tag_of(std::string_view file) {
    std::string tag = normalised(file.substr(file.find_last_of('/') + 1));
    if (tag.ends_with("csv")) { tag.resize(tag.size() - 3); }
    bool const times = tag.find("iterationtime") != tag.npos || tag.find("steptime") != tag.npos;
    if (!times || tag.find("eval") != tag.npos) { return std::nullopt; }
    if (tag.ends_with("timems")) { return MetricsName{.scale = 1e-3}; }
    return MetricsName{.unit_stated = tag.ends_with("times") || tag.ends_with("timesec")};
}

double quantile_of(std::vector<double> values, double share) {
    auto const at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
    std::ranges::nth_element(values, values.begin() + at);
    return values[static_cast<std::size_t>(at)];
}

} // namespace

MetricsTable metrics_table(std::string_view first_line) {
    constexpr std::size_t longest = 60'000;
    if (first_line.size() > longest) { return MetricsTable::none; }
    char const delimiter = delimiter_of(first_line);
    auto const names = cells_of(first_line, delimiter);
    if (names.size() < 2) { return MetricsTable::none; }
    if (names.size() == 3 && has_all(names, {"walltime", "step", "value"})) { return MetricsTable::tensorboard; }
    if (has_all(names, {"key", "value", "step", "timestamp"})) { return MetricsTable::mlflow; }
    bool step = false, time = false, wandb = false;
    for (std::string const& name : names) {
        wandb =
            wandb || name == "_step" || name == "_runtime" || name == "_timestamp" || name.find(run_mark) != name.npos;
        step = step || metrics_name(MetricsKind::step, name);
        time = time || metrics_name(MetricsKind::clock, name) || metrics_name(MetricsKind::time, name);
    }
    if (!step || !time) { return MetricsTable::none; }
    if (wandb) { return MetricsTable::wandb; }
    bool const lightning =
        delimiter == ',' && (has_all(names, {"epoch", "step"}) || has_all(names, {"epoch", "globalstep"}));
    return lightning ? MetricsTable::lightning : MetricsTable::plain;
}

MetricsReader::MetricsReader(MetricsTable table, std::string_view first_line, std::string where,
                             TrainingLogBuilder& log)
    : where_{std::move(where)}, delimiter_{delimiter_of(first_line)} {
    auto const names = cells_of(first_line, delimiter_);
    if (auto const runs = runs_of(names); runs.size() > 1) {
        unreadable_error(where_, "steps of several runs", fmt::format("{}", fmt::join(runs, ", ")),
                         "give a file with one of them");
    }
    if (table == MetricsTable::mlflow) {
        key_ = column_named(names, "key");
        run_ = std::max(column_named(names, "runid"), column_named(names, "runuuid"));
        step_.at = column_named(names, "step");
        time_.at = column_named(names, "value");
        clock_.at = column_named(names, "timestamp");
    } else if (table == MetricsTable::tensorboard) {
        step_.at = column_named(names, "step");
        clock_.at = column_named(names, "walltime");
        if (auto const tag = tag_of(where_)) {
            time_ = {column_named(names, "value"), *tag};
            log.note("its values are the time of a step, as its name says");
        } else {
            log.note("its values say nothing of time: steps are the differences of the wall time");
        }
    } else {
        choose(names, log);
    }
}

void MetricsReader::choose(std::vector<std::string> const& names, TrainingLogBuilder& log) {
    auto const find = [&](MetricsKind kind, Column& column) {
        std::vector<std::string> alike;
        for (std::size_t i = 0; i < names.size(); ++i) {
            auto const name = is_extreme(names[i]) ? std::nullopt : metrics_name(kind, names[i]);
            if (!name || (column.at >= 0 && name->rank > column.name.rank)) { continue; }
            if (column.at >= 0 && name->rank == column.name.rank) {
                alike.push_back(names[i]);
                continue;
            }
            alike.clear();
            column = {static_cast<int>(i), *name};
        }
        for (std::string const& other : alike) { log.issue("column like another, not used", other); }
    };
    find(MetricsKind::step, step_);
    find(MetricsKind::micro, micro_);
    if (micro_.at == step_.at) { micro_ = {}; }
    find(MetricsKind::time, time_);
    find(MetricsKind::clock, clock_);
    find(MetricsKind::memory, memory_);
    find(MetricsKind::batch, batch_);
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::string const plain = normalised(metric_of(names[i]));
        bool const evaluates = plain.starts_with("val") || plain.starts_with("eval");
        if (evaluates && !is_extreme(names[i])) { evaluations_.push_back(static_cast<int>(i)); }
    }
    if (time_.at >= 0) {
        log.note(fmt::format("steps from the column '{}'", names[static_cast<std::size_t>(time_.at)]));
    }
}

void MetricsReader::take(std::uint64_t number, std::string_view line, TrainingLogBuilder& log) {
    if (trimmed_line(line).empty()) { return; }
    bytes_ += line.size();
    if (bytes_ > training_log_limit) { return log.issue("row beyond 256 MiB", line); }
    lines_.emplace_back(number, line);
    CellRow row;
    row.split(line, {.delimiter = delimiter_});
    for (std::string_view const cell : row.cells()) { marks_.learn(cell); }
}

std::optional<PrintedNumber> MetricsReader::measured_in(std::string_view cell) const {
    if (says_nothing(cell)) { return std::nullopt; }
    NumberMarks marks = marks_;
    marks.comma_groups = false; // a time of 7,003 is as likely seven
    CellNumber const number = cell_number(cell, marks);
    if (number.fault == CellNumber::Fault::ambiguous_mark) {
        unreadable_error(where_, fmt::format("{} is {}", quoted(cell), words_of(number.fault)), {},
                         std::string{hint_of(number.fault)});
    }
    bool const whole = number.fault == CellNumber::Fault::none && number.rest.empty() && std::isfinite(number.value);
    return whole ? std::optional{PrintedNumber{number.value, number.half_unit}} : std::nullopt;
}

MetricsReader::Row MetricsReader::row_of(std::uint64_t line, CellRow const& cells, TrainingLogBuilder& log) const {
    auto const value = [&](Column const& column) {
        return column.at < 0 ? std::nullopt : measured_in(cells.cell(column.at));
    };
    auto const count = [&](Column const& column) {
        return column.at < 0 ? std::nullopt : printed_number(cells.cell(column.at));
    };
    constexpr double most = 1e15;
    Row row{.line = line, .time = value(time_), .clock = value(clock_)};
    if (auto const step = count(step_); step && step->value >= 0.0 && step->value <= most) {
        row.number = static_cast<std::int64_t>(step->value);
    }
    if (auto const micro = count(micro_); micro && micro->value >= 0.0 && micro->value <= most) {
        row.micro = static_cast<std::int64_t>(micro->value);
    }
    if (auto const bytes = value(memory_)) { log.memory(bytes->value * memory_.name.scale); }
    if (auto const batch = count(batch_); batch && batch->value >= 1.0 && batch->value <= 1e9) {
        row.batch = static_cast<int>(batch->value);
    }
    row.evaluates = std::ranges::any_of(evaluations_, [&](int column) { return !says_nothing(cells.cell(column)); });
    return row;
}

/// The metric that times steps best in a table with one metric a row; the first where none does.
std::string MetricsReader::key_of_table(TrainingLogBuilder& log) {
    std::string chosen;
    std::optional<MetricsName> best;
    std::set<std::string, std::less<>> runs;
    CellRow cells;
    for (auto const& [line, text] : lines_) {
        if (cells.split(text, {.delimiter = delimiter_}) != RowFault::none) { continue; }
        std::string_view const key = cells.cell(key_);
        auto const name = metrics_name(MetricsKind::time, key);
        if (chosen.empty() || (name && (!best || name->rank < best->rank))) {
            chosen = key;
            best = name;
        }
        if (run_ >= 0 && runs.size() < 4) { runs.emplace(cells.cell(run_)); }
    }
    if (runs.size() > 1) {
        unreadable_error(where_, "steps of several runs", fmt::format("{}", fmt::join(runs, ", ")),
                         "give a file with one of them");
    }
    if (best) {
        time_.name = *best;
        log.note(fmt::format("steps from the metric '{}'", chosen));
    } else {
        time_.at = -1;
        log.note("no metric times steps: they are the differences of the time stamps");
    }
    return chosen;
}

std::vector<MetricsReader::Row> MetricsReader::rows(TrainingLogBuilder& log) {
    std::string const key = key_ >= 0 ? key_of_table(log) : std::string{};
    std::vector<Row> rows;
    CellRow cells;
    for (auto const& [line, text] : lines_) {
        log.at_line(line);
        if (cells.split(text, {.delimiter = delimiter_}) != RowFault::none) {
            log.issue("row with a fault", text);
            continue;
        }
        if (key_ >= 0 && cells.cell(key_) != key) { continue; }
        Row const row = row_of(line, cells, log);
        if (row.number < 0 && !row.evaluates) { log.issue("row without a step", text); }
        if (row.number >= 0 && !row.time && (time_.at >= 0 || !row.clock) && !row.evaluates) {
            log.issue("row without a time", text);
        }
        rows.push_back(row);
    }
    double latest = 0.0;
    for (Row const& row : rows) { latest = std::max(latest, row.clock ? row.clock->value : 0.0); }
    clock_.name.scale = scale_of_stamps(latest);
    return rows;
}

/// Whether most rows stand behind one of a later step.
bool MetricsReader::falls(std::vector<Row> const& rows) {
    std::size_t falling = 0, rising = 0;
    std::int64_t last = -1;
    for (Row const& row : rows) {
        if (row.number < 0) { continue; }
        falling += last > row.number ? 1 : 0;
        rising += last >= 0 && last < row.number ? 1 : 0;
        last = row.number;
    }
    return falling > rising;
}

/// Compares the times with the clock next to them: a factor of 1000 is one of units.
void MetricsReader::check_unit(std::vector<Row> const& rows, TrainingLogBuilder& log) {
    std::vector<double> times, ratios;
    Row const* last = nullptr;
    for (Row const& row : rows) {
        if (!row.time || row.number < 0 || !(row.time->value > 0.0)) { continue; }
        double const seconds = row.time->value * time_.name.scale;
        times.push_back(seconds);
        bool const follows = last != nullptr && row.clock && last->clock && row.number > last->number;
        double const passed = follows ? (row.clock->value - last->clock->value) * clock_.name.scale : 0.0;
        double const count = follows ? static_cast<double>(row.number - last->number) : 0.0;
        if (passed > 0.0 && std::isfinite(seconds * count / passed)) { ratios.push_back(seconds * count / passed); }
        last = &row;
    }
    if (times.empty() || time_.name.figure != StepFigure::seconds) { return; }
    constexpr std::size_t enough = 3;
    constexpr double never = 300.0; ///< seconds of a step that nobody logs without a unit
    double const step = quantile_of(times, 0.5), longest = quantile_of(times, 0.9);
    if (ratios.size() < enough) {
        if (time_.name.unit_stated || longest < never) { return; }
        unreadable_error(where_, "times without a unit", fmt::format("{:.4g} s a step, or {:.4g} ms", longest, longest),
                         "name the unit in the head, as in step_time_ms");
    }
    double const ratio = quantile_of(ratios, 0.5);
    bool const thousand = ratio > 100.0 && ratio < 1e4;
    if (thousand && !time_.name.unit_stated) {
        time_.name.scale *= 1e-3;
        log.note("its times are in milliseconds: its clock shows it");
    } else if (ratio > 100.0 || ratio < 0.01) {
        unreadable_error(where_, "times that contradict the clock next to them",
                         fmt::format("{:.4g} s a step, and {:.4g} s by the clock", step, step / ratio),
                         "keep the column that is right");
    } else if (ratio > 1.5 || ratio < 0.3) {
        log.note(fmt::format("its times are {:.2g} times what its clock shows between steps", ratio));
    }
}

void MetricsReader::finish(TrainingLogBuilder& log) {
    std::vector<Row> all = rows(log);
    if (falls(all)) {
        std::ranges::reverse(all);
        log.note("its rows stand in falling order of steps");
    }
    if (time_.at >= 0) { check_unit(all, log); }
    for (Row const& row : all) {
        log.at_line(row.line);
        double const scale = time_.name.scale;
        if (row.number >= 0 && row.time) {
            log.step({.number = row.number,
                      .figure = time_.name.figure,
                      .value = {row.time->value * scale, row.time->half_unit * scale},
                      .batch = row.batch,
                      .micro = time_.name.figure == StepFigure::seconds ? row.micro : -1});
        } else if (row.number >= 0 && row.clock && time_.at < 0) {
            log.clock(0, row.number, row.clock->value * clock_.name.scale, row.clock->half_unit * clock_.name.scale);
        }
        if (row.evaluates) { log.evaluation(); }
    }
}

} // namespace headroom::io
