#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "training_logs/training_log_formats.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace headroom::io {
namespace {

char delimiter_of(std::string_view line) {
    if (trimmed_line(line).starts_with('|')) { return '|'; } // Markdown
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

/// Unit that a cell below a head names, as "(ms)"; empty for all else.
bool is_unit(std::string_view cell) {
    constexpr std::array<std::string_view, 8> units{"ms", "s", "us", "sec", "seconds", "its", "toks", "sit"};
    return std::ranges::find(units, normalised(cell)) != units.end();
}

bool is_run(std::string const& head) {
    constexpr std::array<std::string_view, 6> names{"run", "runid", "runname", "runuuid", "experiment", "trial"};
    return std::ranges::find(names, normalised(head)) != names.end();
}

} // namespace

MetricsTable metrics_table(std::string_view first_line) {
    constexpr std::size_t longest = 60'000;
    if (first_line.size() > longest) { return MetricsTable::none; }
    char const delimiter = delimiter_of(first_line);
    auto const names = cells_of(first_line, delimiter);
    if (names.size() < 2) { return MetricsTable::none; }
    if (names.size() == 3 && has_all(names, {"walltime", "step", "value"})) { return MetricsTable::tensorboard; }
    for (char const* const key : {"key", "metric"}) {
        if (has_all(names, {key, "value", "step", "timestamp"})) { return MetricsTable::mlflow; }
    }
    bool step = false, time = false, wandb = false;
    for (std::string const& name : names) {
        if (printed_number(name)) { return MetricsTable::none; } // a row, not heads
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
    : table_{table},
      where_{std::move(where)},
      delimiter_{delimiter_of(first_line)},
      names_{cells_of(first_line, delimiter_)} {
    if (auto const runs = runs_of(names_); runs.size() > 1) {
        unreadable_error(where_, "steps of several runs", fmt::format("{}", fmt::join(runs, ", ")),
                         "give a file with one of them");
    }
    if (table == MetricsTable::mlflow) {
        key_ = std::max(column_named(names_, "key"), column_named(names_, "metric"));
        step_.at = column_named(names_, "step");
        time_.at = column_named(names_, "value");
        clock_.at = column_named(names_, "timestamp");
    } else if (table == MetricsTable::tensorboard) {
        step_.at = column_named(names_, "step");
        clock_.at = column_named(names_, "walltime");
        if (auto const tag = metrics_tag(where_)) {
            time_ = {column_named(names_, "value"), *tag};
            log.note("its values are the time of a step, as its name says");
        } else {
            log.note("its values say nothing of time: steps are the differences of the wall time");
        }
    }
    run_ = static_cast<int>(std::ranges::find_if(names_, is_run) - names_.begin());
    if (run_ == static_cast<int>(names_.size())) { run_ = -1; }
    epoch_ = column_named(names_, "epoch");
    for (std::string const& name : names_) {
        counts_.push_back(metrics_name(MetricsKind::step, name) || metrics_name(MetricsKind::micro, name) ||
                          metrics_name(MetricsKind::batch, name));
        small_.push_back(is_small(name));
    }
}

/// Units in a row below the heads: ",(ms)" below "step,step_time".
void MetricsReader::add_units() {
    CellRow cells;
    if (lines_.empty() || cells.split(lines_.front().second, {.delimiter = delimiter_}) != RowFault::none) { return; }
    bool units = false;
    for (std::string_view const cell : cells.cells()) {
        if (printed_number(cell)) { return; }
        units = units || is_unit(cell);
    }
    if (!units) { return; }
    for (std::size_t i = 0; i < names_.size(); ++i) {
        std::string_view const cell = cells.cell(static_cast<int>(i));
        if (is_unit(cell)) { names_[i] += " " + std::string{cell}; }
    }
    lines_.erase(lines_.begin());
}

void MetricsReader::find_column(MetricsKind kind, Column& column, TrainingLogBuilder& log) const {
    std::vector<std::string> alike;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        auto name = is_extreme(names_[i]) ? std::nullopt : metrics_name(kind, names_[i]);
        if (name && names_[i] == "_step") { name->rank += 1000; } // counts calls of W&B's log()
        if (!name || (column.at >= 0 && name->rank > column.name.rank)) { continue; }
        if (column.at >= 0 && name->rank == column.name.rank) {
            alike.push_back(names_[i]);
            continue;
        }
        alike.clear();
        column = {static_cast<int>(i), *name};
    }
    for (std::string const& other : alike) { log.issue("column like another, not used", other); }
}

void MetricsReader::choose(TrainingLogBuilder& log) {
    add_units();
    find_column(MetricsKind::step, step_, log);
    find_column(MetricsKind::micro, micro_, log);
    find_column(MetricsKind::time, time_, log);
    bool const of_steps =
        time_.at >= 0 && normalised(names_[static_cast<std::size_t>(time_.at)]).find("perstep") != std::string::npos;
    if (micro_.at == step_.at || of_steps) { micro_ = {}; }
    find_column(MetricsKind::clock, clock_, log);
    find_column(MetricsKind::memory, memory_, log);
    find_column(MetricsKind::batch, batch_, log);
    if (batch_.at >= 0 && log.workers() > 1.0) {
        std::string const& head = names_[static_cast<std::size_t>(batch_.at)];
        std::string const name = normalised(head);
        auto const of_all = [&](std::string_view word) { return name.find(word) != std::string::npos; };
        if (!of_all("global") && !of_all("total") && !of_all("effective")) {
            log.note(fmt::format(
                "'{}' is not used: it may be of one accelerator. name it global_batch_size where it is of all", head));
            batch_ = {};
        }
    }
    checkpoints_ = column_named(names_, "checkpointrow");
    for (std::size_t i = 0; i < names_.size(); ++i) {
        if (is_evaluation(names_[i]) && !is_extreme(names_[i])) { evaluations_.push_back(static_cast<int>(i)); }
        if (is_part_of_data(names_[i])) { parts_.push_back(static_cast<int>(i)); }
    }
    if (time_.at >= 0 && normalised(names_[static_cast<std::size_t>(time_.at)]).find("batch") != std::string::npos &&
        time_.name.figure == StepFigure::seconds) {
        log.note("a batch counts as a step: with gradient accumulation it is a part of one");
    }
    if (time_.at >= 0) {
        log.note(fmt::format("steps from the column '{}'", names_[static_cast<std::size_t>(time_.at)]));
    }
}

void MetricsReader::take(std::uint64_t number, std::string_view line, TrainingLogBuilder& log) {
    bool const rule = delimiter_ == '|' && line.find_first_not_of(" |-:\t\r") == line.npos;
    if (rule && !lines_.empty() && line.find('-') != line.npos) {
        unreadable_error(where_, "several tables", {}, "give the one of the training");
    }
    if (trimmed_line(line).empty() || line.starts_with('#') || rule) { return; }
    bytes_ += line.size();
    if (bytes_ > training_log_limit) { return log.issue("row beyond 256 MiB", line); }
    lines_.emplace_back(number, line);
    CellRow row;
    row.split(line, {.delimiter = delimiter_});
    std::size_t const stamps = table_ == MetricsTable::lines ? 1 : 0; // written here, with a point
    std::size_t const columns = std::min(row.cells().size(), names_.size() - stamps);
    marks_.resize(names_.size());
    for (std::size_t i = 0; i < columns; ++i) {
        marks_[i].learn(row.cells()[i]);
        if (counts_[i]) { marks_[i].learn_count(row.cells()[i]); }
        if (small_[i]) { marks_[i].learn_small(row.cells()[i]); }
    }
}

/// Completes the marks of each column by those of the others. Where some part decimals by commas and some by points, they show
/// nothing of a third. Nobody prints thousands of seconds or of steps a second: there a comma parts groups where others do, not
/// because others have a decimal point. Where nothing shows it commas part groups in rates of tokens alone.
void MetricsReader::settle_marks() {
    using Meaning = NumberMarks::Meaning;
    marks_.resize(names_.size());
    for (NumberMarks const& one : marks_) { all_marks_.learn(one); }
    bool const both = all_marks_.comma == Meaning::decimal && all_marks_.point == Meaning::decimal;
    if (table_ == MetricsTable::lines) { marks_.back().point = Meaning::decimal; } // its stamps
    auto const adopt = [](Meaning& mine, Meaning other) {
        if (mine == Meaning::unknown && other != Meaning::mixed) { mine = other; }
    };
    for (std::size_t i = 0; i < names_.size(); ++i) {
        auto const name = metrics_name(MetricsKind::time, names_[i]),
                   clock = metrics_name(MetricsKind::clock, names_[i]);
        auto const of_seconds = [](auto const& one) { return one->figure == StepFigure::seconds && one->scale >= 1.0; };
        bool const small = name ? of_seconds(name) || name->figure == StepFigure::steps_per_second
                                : clock && clock->either && of_seconds(clock);
        marks_[i] = marks_[i].completed(small || both ? NumberMarks{} : all_marks_);
        if (small) {
            adopt(marks_[i].comma, all_marks_.comma);
            adopt(marks_[i].point, all_marks_.point);
        }
        marks_[i].comma_groups = name && (name->figure == StepFigure::tokens_per_second ||
                                          name->figure == StepFigure::tokens_per_second_per_accelerator);
    }
}

std::optional<PrintedNumber> MetricsReader::measured_in(std::string_view cell, int column) const {
    if (says_nothing(cell)) { return std::nullopt; }
    CellNumber const number = cell_number(cell, marks_[static_cast<std::size_t>(column)]);
    if (number.fault == CellNumber::Fault::ambiguous_mark && (column == time_.at || column == clock_.at)) {
        unreadable_error(where_, fmt::format("{} is {}", quoted(cell), words_of(number.fault)), {},
                         std::string{hint_of(number.fault)});
    }
    bool const whole = number.fault == CellNumber::Fault::none && number.rest.empty() && std::isfinite(number.value);
    return whole ? std::optional{PrintedNumber{number.value, number.half_unit}} : std::nullopt;
}

/// The time of a step in a cell, which may state its unit: "4.32 s".
std::optional<PrintedNumber> MetricsReader::time_in(std::string_view cell) const {
    if (auto const plain = measured_in(cell, time_.at)) { return plain; }
    std::string text{cell};
    std::erase(text, ' ');
    NumberMarks const& marks = marks_[static_cast<std::size_t>(time_.at)];
    CellNumber const number = cell_number(text, marks);
    auto const seconds = time_.name.figure == StepFigure::seconds ? printed_duration(text, marks) : std::nullopt;
    if (number.fault != CellNumber::Fault::none || !seconds || !(number.value > 0.0)) { return std::nullopt; }
    double const value = *seconds / time_.name.scale;
    return PrintedNumber{value, number.half_unit * value / number.value};
}

std::optional<PrintedNumber> MetricsReader::clock_in(std::string_view cell) const {
    double const scale = clock_.name.scale;
    if (auto const value = clock_value(cell)) { return PrintedNumber{value->value / scale, value->half_unit / scale}; }
    return measured_in(cell, clock_.at);
}

MetricsReader::Row MetricsReader::row_of(std::uint64_t line, CellRow const& cells, TrainingLogBuilder& log) const {
    auto const value = [&](Column const& column) {
        return column.at < 0 ? std::nullopt : measured_in(cells.cell(column.at), column.at);
    };
    constexpr double most = 1e15;
    Row row{.line = line};
    if (time_.at >= 0) { row.time = time_in(cells.cell(time_.at)); }
    if (clock_.at >= 0) { row.clock = clock_in(cells.cell(clock_.at)); }
    std::string_view const count = step_.at < 0 ? std::string_view{} : cells.cell(step_.at);
    auto const step = step_.at < 0 ? std::nullopt : measured_in(count.substr(0, count.find('/')), step_.at); // "5/1000"
    if (step && step->value >= 0.0 && step->value <= most) {
        row.number = static_cast<std::int64_t>(step->value);
        if (static_cast<double>(row.number) != step->value) {
            unreadable_error(where_, "steps that are no whole numbers", fmt::format("{}", step->value),
                             "give a column that counts steps");
        }
    }
    if (epoch_ >= 0) { row.epoch = measured_in(cells.cell(epoch_), epoch_).value_or(PrintedNumber{}).value; }
    if (auto const micro = value(micro_); micro && micro->value >= 0.0 && micro->value <= most) {
        row.micro = static_cast<std::int64_t>(micro->value);
    }
    if (auto const bytes = value(memory_)) { log.memory(bytes->value * memory_.name.scale); }
    if (auto const batch = value(batch_); batch && batch->value >= 1.0 && batch->value <= 1e9) {
        row.batch = static_cast<int>(batch->value);
    }
    row.evaluates = std::ranges::any_of(evaluations_, [&](int column) { return !says_nothing(cells.cell(column)); });
    row.saves = checkpoints_ >= 0 && !says_nothing(cells.cell(checkpoints_));
    if (std::ranges::any_of(parts_, [&](int column) { return is_evaluated_part(cells.cell(column)); })) {
        return Row{.line = line, .evaluates = true};
    }
    return row;
}

void MetricsReader::refuse_several_runs() const {
    std::set<std::string, std::less<>> runs;
    CellRow cells;
    for (auto const& [line, text] : lines_) {
        if (run_ < 0 || cells.split(text, {.delimiter = delimiter_}) != RowFault::none) { continue; }
        if (runs.size() < 4 && !says_nothing(cells.cell(run_))) { runs.emplace(cells.cell(run_)); }
    }
    if (runs.size() > 1) {
        unreadable_error(where_, "steps of several runs", fmt::format("{}", fmt::join(runs, ", ")),
                         "give a file with one of them");
    }
}

/// The metric that times steps best in a table with one metric a row; the first where none does.
std::string MetricsReader::key_of_table(TrainingLogBuilder& log) {
    std::string chosen;
    std::optional<MetricsName> best;
    CellRow cells;
    for (auto const& [line, text] : lines_) {
        if (cells.split(text, {.delimiter = delimiter_}) != RowFault::none) { continue; }
        std::string_view const key = cells.cell(key_);
        auto const name = metrics_name(MetricsKind::time, key);
        if (chosen.empty() || (name && (!best || name->rank < best->rank))) {
            chosen = key;
            best = name;
        }
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
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        auto const& [line, text] = lines_[i];
        log.at_line(line);
        if (cells.split(text, {.delimiter = delimiter_}) != RowFault::none) {
            log.issue("row with a fault", text);
            continue;
        }
        if (key_ >= 0 && cells.cell(key_) != key) { continue; }
        Row row = row_of(line, cells, log);
        row.at = i;
        if (row.number < 0 && !row.evaluates && !row.saves) { log.issue("row without a step", text); }
        if (row.number >= 0 && !row.time && (time_.at >= 0 || !row.clock) && !row.evaluates) {
            log.issue("row without a time", text);
        }
        rows.push_back(row);
    }
    double latest = 0.0;
    for (Row const& row : rows) { latest = std::max(latest, row.clock ? row.clock->value : 0.0); }
    if (double const scale = scale_of_stamps(latest); scale < 1.0) { clock_.name.scale = scale; }
    return rows;
}

/// Puts the newest row last, and counts steps on where every epoch begins with its first.
void MetricsReader::put_in_order(std::vector<Row>& rows, TrainingLogBuilder& log) const {
    std::int64_t last = -1;
    std::size_t rises = 0, falls = 0;
    for (Row const& row : rows) {
        if (row.number < 0) { continue; }
        rises += last >= 0 && row.number > last ? 1 : 0;
        falls += row.number < last ? 1 : 0;
        last = row.number;
    }
    if (falls > 1 && rises * 20 < falls) {
        std::ranges::reverse(rows);
        log.note("its rows are newest first");
    }
    std::int64_t before = -1, gap = 1, added = 0;
    double epoch = 0.0;
    for (Row& row : rows) {
        if (row.number < 0) { continue; }
        bool const again = row.number == before && row.epoch >= epoch + 1.0; // a line an epoch, of so many steps
        constexpr std::int64_t most = 1'000'000'000'000'000'000;
        if ((again || (row.number < before && row.epoch > epoch)) && added < most) {
            added += again ? std::max(gap, row.number) : before + gap - row.number;
        }
        if (before >= 0 && row.number > before) { gap = row.number - before; }
        before = row.number;
        epoch = row.epoch;
        row.number += added;
    }
}

MetricsReader::Values MetricsReader::values_of(int column, std::vector<Row> const& rows) const {
    Values values;
    CellRow cells;
    for (Row const& row : rows) {
        bool const fine = cells.split(lines_[row.at].second, {.delimiter = delimiter_}) == RowFault::none;
        auto const number = fine ? measured_in(cells.cell(column), column) : std::nullopt;
        values.push_back(number ? std::optional{number->value} : std::nullopt);
    }
    return values;
}

void MetricsReader::finish(TrainingLogBuilder& log) {
    if (table_ != MetricsTable::mlflow && table_ != MetricsTable::tensorboard) { choose(log); }
    settle_marks();
    refuse_several_runs();
    std::vector<Row> all = rows(log);
    put_in_order(all, log);
    settle_micro(all);
    settle_clock(all, log);
    prefer_clock(all, log);
    if (time_.at >= 0) {
        count_iterations(all, log);
        if (table_ != MetricsTable::mlflow) {
            compare_with_others(all, log);
            compare_with_passes(all);
        }
        compare_with_clock(all, log);
    }
    for (Row const& row : all) {
        log.at_line(row.line);
        double const scale = time_.name.scale;
        if (row.number >= 0 && row.time) {
            bool const seconds = time_.name.figure == StepFigure::seconds;
            log.step({.number = row.number,
                      .figure = time_.name.figure,
                      .value = {row.time->value * scale, row.time->half_unit * scale},
                      .batch = row.batch,
                      .micro = seconds ? row.micro : -1,
                      .micro_batch = batches_ && (seconds || time_.name.figure == StepFigure::steps_per_second)});
        } else if (row.number >= 0 && row.clock && time_.at < 0) {
            log.clock(0, row.number, row.clock->value * clock_.name.scale, row.clock->half_unit * clock_.name.scale,
                      batches_);
        }
        if (row.evaluates) { log.evaluation(); }
        if (row.saves) { log.checkpoint(); }
    }
}

} // namespace headroom::io
