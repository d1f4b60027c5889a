#include "tables/cell_text.hpp"
#include "tables/rows.hpp"
#include "training_logs/training_log_formats.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {
namespace {

/// Names of a column, `normalised`, parted by blanks, the surest first; its scale to base units.
struct MetricsRow {
    std::string_view names;
    double scale = 1.0;
    StepFigure figure = StepFigure::seconds;
};

constexpr std::array step_rows{MetricsRow{"trainerglobalstep globalstep trainglobalstep step iteration iter"}};
constexpr std::array time_rows{
    MetricsRow{"elapsedtimeperiterationms iterationtimems steptimems timeperstepms timemetricsendtoendms", 1e-3},
    MetricsRow{"trainsteptiminginss steptimes trainsteptimes timemetricsendtoends secondsperstep trainsteptiminginsec "
               "trainsteptimingins perfsteptime timingperstep"},
    MetricsRow{"iterationtime itertime steptime trainsteptime timeperstep timeperiteration trainiterationtime"},
    MetricsRow{
        "throughputbatchespersec trainstepspersecond stepspersecond throughputdevicebatchespersec devicebatchespersec",
        1.0, StepFigure::steps_per_second},
    MetricsRow{"throughputtokenspersec tokenspersecond tokenspersec traintokenspersecond", 1.0,
               StepFigure::tokens_per_second},
    MetricsRow{"throughputdevicetokenspersec tokenspersecpergpu tokenspersecondpergpu deviceitemspersec throughputtps "
               "throughputdeviceitemspersec",
               1.0, StepFigure::tokens_per_second_per_accelerator},
    MetricsRow{"throughputsamplespersec trainsamplespersecond samplespersecond", 1.0, StepFigure::samples_per_second},
    MetricsRow{"devicesamplespersec throughputdevicesamplespersec", 1.0,
               StepFigure::samples_per_second_per_accelerator},
};
constexpr std::array clock_rows{MetricsRow{"runtime timestamp walltime relativetimeprocess time timetotal"}};
constexpr std::array memory_rows{
    MetricsRow{"maxmemoryallocated maxmemoryreserved cudamaxmemoryreserved"},
    MetricsRow{"memorymaxreservedgib memorymaxactivegib memorymaxallocatedgib", 1073741824.0},
    MetricsRow{"memorypeakreservedmem", 1e9},
};
constexpr std::array batch_rows{MetricsRow{"globalbatchsize batchsize"}};

bool names_it(std::string_view names, std::string_view name, int& rank) {
    for (rank = 0; !names.empty(); ++rank) {
        if (next_word(names) == name) { return true; }
    }
    return false;
}

/// "run-7 - train/step_time" of an export of W&B's charts, without the run.
std::string_view without_run(std::string_view name) {
    auto const dash = name.rfind(" - ");
    return dash == std::string_view::npos ? name : name.substr(dash + 3);
}

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

bool is_extreme(std::string_view name) { return name.ends_with("__MIN") || name.ends_with("__MAX"); }

bool names_tensorboard(std::vector<std::string> const& names) {
    return names.size() == 3 && normalised(names[0]) == "walltime" && normalised(names[1]) == "step" &&
           normalised(names[2]) == "value";
}

} // namespace

MetricsTable metrics_table(std::string_view first_line) {
    constexpr std::size_t longest = 60'000;
    if (first_line.size() > longest) { return MetricsTable::none; }
    auto const names = cells_of(first_line, delimiter_of(first_line));
    if (names.size() < 2) { return MetricsTable::none; }
    if (names_tensorboard(names)) { return MetricsTable::tensorboard; }
    bool step = false, time = false, wandb = false;
    int rank = 0;
    for (std::string const& name : names) {
        std::string const plain = normalised(without_run(name));
        wandb = wandb || name == "_step" || name == "_runtime" || name == "_timestamp" || name.find(" - ") != name.npos;
        step = step || names_it(step_rows[0].names, plain, rank);
        time = time || names_it(clock_rows[0].names, plain, rank) ||
               std::ranges::any_of(time_rows, [&](MetricsRow const& row) { return names_it(row.names, plain, rank); });
    }
    if (!step || !time) { return MetricsTable::none; }
    return wandb ? MetricsTable::wandb : MetricsTable::lightning;
}

MetricsReader::MetricsReader(MetricsTable table, std::string_view first_line, std::string_view name,
                             TrainingLogBuilder& log)
    : delimiter_{delimiter_of(first_line)} {
    if (table != MetricsTable::tensorboard) {
        choose(cells_of(first_line, delimiter_), log);
        return;
    }
    std::string const tag = normalised(name.substr(name.find_last_of('/') + 1));
    bool const seconds = tag.find("iterationtime") != tag.npos || tag.find("steptime") != tag.npos;
    step_.at = 1;
    if (seconds) {
        time_.at = 2;
        log.note("its values are taken as seconds a step, as its name says");
    } else {
        clock_.at = 0;
        log.note("its values say nothing of time: steps are the differences of the wall time");
    }
}

void MetricsReader::choose(std::vector<std::string> const& names, TrainingLogBuilder& log) {
    std::vector<std::string> used;
    auto const find = [&](auto const& rows, Column& column) {
        int best = 1000;
        std::vector<std::string> alike;
        for (std::size_t r = 0; r < rows.size() && best == 1000; ++r) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                int rank = 0;
                bool const ours =
                    !is_extreme(names[i]) && names_it(rows[r].names, normalised(without_run(names[i])), rank);
                if (!ours || rank > best) { continue; }
                if (rank == best) {
                    alike.push_back(names[i]);
                    continue;
                }
                best = rank;
                alike.clear();
                column = {static_cast<int>(i), rows[r].scale, rows[r].figure};
            }
        }
        for (std::string const& other : alike) { log.issue("column of another run, not used", other); }
        if (column.at >= 0) { used.push_back(names[static_cast<std::size_t>(column.at)]); }
    };
    find(step_rows, step_);
    find(time_rows, time_);
    find(clock_rows, clock_);
    find(memory_rows, memory_);
    find(batch_rows, batch_);
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::string const plain = normalised(without_run(names[i]));
        bool const evaluates = plain.starts_with("val") || plain.starts_with("eval");
        if (evaluates && !is_extreme(names[i])) { evaluations_.push_back(static_cast<int>(i)); }
    }
    if (time_.at >= 0) { log.note(fmt::format("steps from the column '{}'", used[1])); }
}

void MetricsReader::take(std::string_view line, TrainingLogBuilder& log) {
    if (trimmed_line(line).empty()) { return; }
    CellRow row;
    if (row.split(line, {.delimiter = delimiter_}) != RowFault::none) { return log.issue("row with a fault", line); }
    auto const value = [&](Column const& column) -> std::optional<PrintedNumber> {
        if (column.at < 0 || says_nothing(row.cell(column.at))) { return std::nullopt; }
        return printed_number(row.cell(column.at));
    };
    bool const evaluates =
        std::ranges::any_of(evaluations_, [&](int column) { return !says_nothing(row.cell(column)); });
    auto const step = value(step_), time = value(time_), clock = value(clock_);
    if (auto const most = value(memory_)) { log.memory(most->value * memory_.scale); }
    constexpr double most = 1e15;
    bool const numbered = step && step->value >= 0.0 && step->value <= most;
    if (!numbered && !evaluates) { log.issue("row without a step", line); }
    if (numbered) {
        auto const number = static_cast<std::int64_t>(step->value);
        auto const batch = value(batch_);
        bool const stated = batch && batch->value >= 1.0 && batch->value <= 1e9;
        if (time) {
            log.step({.number = number,
                      .figure = time_.figure,
                      .value = {time->value * time_.scale, time->half_unit * time_.scale},
                      .batch = stated ? static_cast<int>(batch->value) : 0});
        } else if (clock && time_.at < 0) {
            log.clock(0, number, clock->value, clock->half_unit);
        } else if (!evaluates) {
            log.issue("row without a time", line);
        }
    }
    if (evaluates) { log.evaluation(); }
}

} // namespace headroom::io
