#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "training_logs/metrics_columns.hpp"
#include "training_logs/training_log_formats.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {
namespace {

constexpr double least_ratio = 0.8, most_ratio = 1.25; ///< of two figures of one step that agree
constexpr double thousand = 1000.0;
constexpr std::size_t enough = 3; ///< rows that show how two columns relate

double quantile_of(std::vector<double> values, double share) {
    auto const at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
    std::ranges::nth_element(values, values.begin() + at);
    return values[static_cast<std::size_t>(at)];
}

bool rates_agree(double ratio, double slack = 0.0) {
    return ratio >= least_ratio / (1.0 + slack) && ratio <= most_ratio * (1.0 + slack);
}

/// Whether a column rises from one row to the next by what it has risen a step from the beginning of training: 40016 s at step 5002.
bool rises_evenly(PrintedNumber const& from, std::int64_t first, PrintedNumber const& to, std::int64_t second) {
    double const rise = (to.value - from.value) / static_cast<double>(second - first);
    double const slack = to.half_unit > 0.0 && rise > 0.0 ? std::min(2.0 * to.half_unit / rise, 0.5) : 0.0;
    return second > 0 && rates_agree(rise * static_cast<double>(second) / to.value, slack);
}

bool counts_iterations(std::string_view head) {
    std::string const name = normalised(metric_of(head));
    return name == "iter" || name == "iteration" || name == "iters" || name == "iterations";
}

} // namespace

void MetricsReader::refuse_contradiction(std::string_view problem, std::string why) const {
    unreadable_error(where_, std::string{problem}, std::move(why), "keep the column that is right");
}

bool MetricsReader::times_iterations() const {
    bool const by_time =
        time_.at < 0 || time_.name.figure == StepFigure::seconds || time_.name.figure == StepFigure::steps_per_second;
    return by_time && micro_.at < 0 && counts_iterations(names_[static_cast<std::size_t>(step_.at)]);
}

void MetricsReader::settle_clock(std::vector<Row>& rows, TrainingLogBuilder& log) {
    if (clock_.at < 0) { return; }
    Row const* last = nullptr;
    Row const* first = nullptr;
    std::size_t pairs = 0, rises = 0, falls = 0, even = 0, singles = 0, repeats = 0, times = 0;
    for (Row const& row : rows) {
        times += row.number >= 0 && row.time ? 1 : 0;
        if (row.number < 0 || !row.clock) { continue; }
        if (first == nullptr) { first = &row; }
        if (last != nullptr && row.number > last->number) {
            ++pairs;
            // Stamps in whole seconds stand still between fast steps.
            bool const stands =
                !clock_.name.either && row.clock->half_unit > 0.0 && row.clock->value == last->clock->value;
            rises += row.clock->value > last->clock->value || stands ? 1 : 0;
            falls += row.clock->value < last->clock->value ? 1 : 0;
            even += rises_evenly(*last->clock, last->number, *row.clock, row.number) ? 1 : 0;
            singles += row.number == last->number + 1 ? 1 : 0;
        }
        repeats += last != nullptr && row.number == last->number ? 1 : 0;
        last = &row;
    }
    if (first == nullptr) { // an empty column
        clock_ = {};
        return;
    }
    std::string const head = names_[static_cast<std::size_t>(clock_.at)];
    constexpr double since_1970 = 1e8;
    bool rising = 10 * rises >= 9 * pairs && (pairs == 0 || last->clock->value != first->clock->value);
    if (clock_.name.either && rising && pairs > 0) {
        bool const tail = pairs >= enough && 10 * even >= 9 * pairs;
        double const rise =
            (last->clock->value - first->clock->value) / static_cast<double>(last->number - first->number);
        constexpr double most_warm_up = 30.0; // in steps: else the times of steps may grow
        bool const begins = first->clock->value <= most_warm_up * rise * static_cast<double>(first->number + 1);
        rising = tail || last->clock->value > std::min(since_1970, 2.0 * first->clock->value);
        if (rising && !tail && !begins && first->clock->value < since_1970 && time_.at < 0) {
            unreadable_error(where_, fmt::format("the column '{}' rises with the steps", head),
                             fmt::format("it begins at {:.4g}, so it may be a clock or the time of steps that grow",
                                         first->clock->value),
                             "name it step_time_s where it times one step");
        }
    }
    constexpr std::size_t few = 20; // of the rows: the rate of a whole run
    if (rising && time_.at >= 0 && times < 3 && rows.size() >= few) {
        log.note(fmt::format("steps from the clock '{}': the other column has only {}", head, times));
        time_ = {};
        for (Row& row : rows) { row.time.reset(); }
    }
    if (rising) {
        if (time_.at < 0 && names_[static_cast<std::size_t>(step_.at)] == "_step") {
            log.note("W&B's _step counts calls of its log(): a step here is what lies between two calls");
        }
        return;
    }
    bool const times_steps = clock_.name.either && time_.at < 0 && 10 * singles >= 9 * pairs && 10 * repeats <= pairs;
    bool const left = clock_.name.either && pairs >= 3 * enough && 10 * falls >= 9 * pairs; // time that is left
    if (time_.at < 0 && (!times_steps || left)) {
        unreadable_error(where_, fmt::format("the column '{}' does not rise with the steps", head),
                         clock_.name.either ? "it may be the time of a step or of all steps between two rows"
                                            : "it is no clock",
                         "name it step_time_s where it times one step");
    }
    for (Row& row : rows) {
        if (times_steps) { row.time = row.clock; }
        row.clock.reset();
    }
    if (times_steps) {
        time_ = clock_;
        log.note(fmt::format("steps from the column '{}', which does not rise like a clock", head));
    }
    clock_ = {};
}

void MetricsReader::prefer_clock(std::vector<Row>& rows, TrainingLogBuilder& log) {
    constexpr double coarse = 0.1;
    std::vector<double> roundings;
    for (Row const& row : rows) {
        if (row.time && row.time->value > 0.0 && row.clock) {
            roundings.push_back(row.time->half_unit / row.time->value);
        }
    }
    if (time_.at < 0 || roundings.size() < enough || quantile_of(roundings, 0.5) <= coarse) { return; }
    log.note(fmt::format("steps from the clock '{}': '{}' is rounded to {:.0f} %",
                         names_[static_cast<std::size_t>(clock_.at)], names_[static_cast<std::size_t>(time_.at)],
                         100.0 * quantile_of(roundings, 0.5)));
    time_ = {};
    for (Row& row : rows) { row.time.reset(); }
}

void MetricsReader::settle_micro(std::vector<Row>& rows) {
    Row const* last = nullptr;
    bool other = false;
    for (Row const& row : rows) {
        if (row.micro < 0 || row.number < 0) { continue; }
        other = other || (last != nullptr && row.micro - last->micro != row.number - last->number);
        last = &row;
    }
    if (other || last == nullptr || last->micro != last->number) { return; }
    micro_ = {};
    for (Row& row : rows) { row.micro = -1; }
}

/// Times of iterations are of micro-batches where a column of iterations rises faster than that of steps.
void MetricsReader::count_iterations(std::vector<Row>& rows, TrainingLogBuilder& log) {
    std::string const& head = names_[static_cast<std::size_t>(time_.at)];
    std::string const& steps = names_[static_cast<std::size_t>(step_.at)];
    auto const counter = std::ranges::find_if(names_, counts_iterations);
    bool const of_iterations = time_.name.figure == StepFigure::seconds && normalised(head).find("iter") != head.npos;
    if (!of_iterations || counter == names_.end() || counts_iterations(steps) || steps.starts_with('_')) { return; }
    Values const counts = values_of(static_cast<int>(counter - names_.begin()), rows);
    std::vector<double> ratios;
    std::size_t last = rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!counts[i] || rows[i].number < 0) { continue; }
        if (last < rows.size() && rows[i].number > rows[last].number) {
            ratios.push_back((*counts[i] - *counts[last]) / static_cast<double>(rows[i].number - rows[last].number));
        }
        last = i;
    }
    double const each = ratios.empty() ? 1.0 : std::round(quantile_of(ratios, 0.5));
    if (!(each > 1.0) || each > 1e6) { return; }
    bool const exact = std::ranges::all_of(ratios, [&](double ratio) { return ratio == each; });
    if (micro_.at >= 0 && !exact) { return; } // lines between steps: their numbers are joined
    time_.name.scale *= each;
    micro_ = {};
    for (Row& row : rows) { row.micro = -1; }
    log.note(fmt::format("a step has {:.0f} of the iterations that '{}' times", each, head));
}

/// Compares the times with other columns of times and rates: in seconds they must agree, and rates with other facts are noted.
void MetricsReader::compare_with_others(std::vector<Row> const& rows, TrainingLogBuilder& log) {
    std::string const& head = names_[static_cast<std::size_t>(time_.at)];
    for (std::size_t column = 0; column < names_.size(); ++column) {
        auto const name = metrics_name(MetricsKind::time, names_[column]);
        bool const other = static_cast<int>(column) != time_.at && !is_extreme(names_[column]);
        if (!name || !other || is_evaluation(names_[column])) { continue; }
        if (micro_.at >= 0 && name->figure != StepFigure::seconds) { continue; } // of a step, not of a micro-batch
        Values const values = values_of(static_cast<int>(column), rows);
        std::vector<double> ratios;
        double mine = 0.0, theirs = 0.0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!rows[i].time || !values[i]) { continue; }
            auto const a = log.seconds_by(time_.name.figure, rows[i].time->value * time_.name.scale, rows[i].batch);
            auto const b = log.seconds_by(name->figure, *values[i] * name->scale, rows[i].batch);
            if (!a || !b || !(*a > 0.0) || !(*b > 0.0)) { continue; }
            ratios.push_back(*a / *b);
            mine = *a;
            theirs = *b;
        }
        if (ratios.size() < enough) { continue; }
        double const ratio = quantile_of(ratios, 0.5);
        if (rates_agree(ratio)) {
            time_.name.unit_stated |= name->unit_stated;
            time_.name.scope_stated |= name->scope_stated;
            continue;
        }
        if (!name->scope_stated && rates_agree(ratio * log.workers())) { continue; } // a rate of one accelerator
        if (rates_agree(ratio / thousand) && !time_.name.unit_stated) {
            time_.name.scale /= thousand;
            time_.name.unit_stated = true;
            log.note(fmt::format("its times are in milliseconds: '{}' shows it", names_[column]));
            continue;
        }
        if (rates_agree(ratio * thousand) && !name->unit_stated) { continue; }
        std::string both = fmt::format("'{}' makes {:.4g} s a step, '{}' {:.4g} s", head, mine, names_[column], theirs);
        bool const plain = name->figure == StepFigure::seconds && time_.name.figure == StepFigure::seconds;
        if (plain) { refuse_contradiction("times that contradict each other", std::move(both)); }
        log.note(both + ": the first is used");
    }
}

void MetricsReader::compare_with_passes(std::vector<Row> const& rows) const {
    if (time_.name.figure != StepFigure::seconds) { return; }
    std::string const& head = names_[static_cast<std::size_t>(time_.at)];
    std::array<Values, 2> passes;
    for (bool const backward : {false, true}) {
        auto const heads = heads_of_pass(head, backward);
        for (std::size_t column = 0; column < names_.size(); ++column) {
            if (std::ranges::find(heads, normalised(metric_of(names_[column]))) == heads.end()) { continue; }
            passes.at(backward ? 1 : 0) = values_of(static_cast<int>(column), rows);
        }
    }
    if (passes[0].empty() || passes[1].empty()) { return; }
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].time || !passes[0][i] || !passes[1][i]) { continue; }
        double const both = *passes[0][i] + *passes[1][i];
        if (both > 0.0) { ratios.push_back(rows[i].time->value / both); }
    }
    constexpr double rounding = 0.98;
    if (ratios.size() < enough || quantile_of(ratios, 0.5) >= rounding) { return; }
    refuse_contradiction(fmt::format("'{}' is shorter than forward and backward pass together", head),
                         "it times the optimizer, or the passes are of all micro-batches");
}

/// Compares the times with the clock next to them: a factor of 1000 is one of units. Clocks that are printed coarsely are
/// compared over as many rows as it takes.
void MetricsReader::compare_with_clock(std::vector<Row> const& rows, TrainingLogBuilder& log) {
    constexpr double fine = 0.02;
    std::vector<double> times, ratios;
    Row const* last = nullptr;
    double timed = 0.0, from = 0.0, all_timed = 0.0, all_passed = 0.0, rounding = 0.0;
    std::size_t pairs = 0;
    bool const micro = micro_.at >= 0 && time_.name.figure == StepFigure::seconds;
    auto const count_of = [&](Row const& row) { return micro && row.micro >= 0 ? row.micro : row.number; };
    for (Row const& row : rows) {
        if (!row.time || row.number < 0) { continue; }
        auto const seconds = log.seconds_by(time_.name.figure, row.time->value * time_.name.scale, row.batch);
        if (!seconds) { continue; }
        times.push_back(*seconds);
        if (!row.clock) { continue; }
        double const now = row.clock->value * clock_.name.scale;
        bool const follows = last != nullptr && count_of(row) > count_of(*last) && now > from;
        if (follows) {
            double const of_pair = *seconds * static_cast<double>(count_of(row) - count_of(*last));
            timed += of_pair;
            all_timed += of_pair;
            all_passed += now - last->clock->value * clock_.name.scale;
            rounding = 2.0 * row.clock->half_unit * clock_.name.scale;
            ++pairs;
            if (rounding <= fine * (now - from)) {
                ratios.push_back(timed / (now - from));
                timed = 0.0;
                from = now;
            }
        } else if (last == nullptr || count_of(row) != count_of(*last)) {
            timed = 0.0;
            from = now;
        }
        last = &row;
    }
    if (times.empty()) { return; }
    double const step = quantile_of(times, 0.5), longest = quantile_of(times, 0.9);
    bool const compared = pairs >= 2 && all_passed > 0.0;
    std::string const& head = names_[static_cast<std::size_t>(time_.at)];
    if (!compared) {
        if (!time_.name.scope_stated && log.workers() > 1.0) {
            log.warn(fmt::format("'{}' counts as the rate of all accelerators: name it {}_per_gpu where it is of one",
                                 head, head));
        }
        double const never = table_ == MetricsTable::lines ? 0.0 : 100.0; ///< seconds that nobody logs without a unit
        if (time_.name.unit_stated || time_.name.figure != StepFigure::seconds || longest < never) { return; }
        unreadable_error(where_, "times without a unit", fmt::format("{:.4g} s a step, or {:.4g} ms", longest, longest),
                         "name the unit in the head, as in step_time_ms");
    }
    double const ratio = ratios.size() >= enough ? quantile_of(ratios, 0.5) : all_timed / all_passed;
    double const slack = ratios.size() >= enough ? 0.0 : std::min(rounding / all_passed, 0.5);
    if (rates_agree(ratio / thousand, slack) && !time_.name.unit_stated) {
        time_.name.scale /= thousand;
        log.note("its times are in milliseconds: its clock shows it");
    } else if (!time_.name.scope_stated && rates_agree(ratio / log.workers(), slack)) {
        time_.name.figure = time_.name.figure == StepFigure::tokens_per_second
                                ? StepFigure::tokens_per_second_per_accelerator
                                : StepFigure::samples_per_second_per_accelerator;
        log.note(fmt::format("'{}' is of one accelerator: its clock shows it", head));
    } else if (!rates_agree(ratio, slack)) {
        refuse_contradiction("times that contradict the clock next to them",
                             fmt::format("'{}' makes {:.4g} s a step, the clock '{}' {:.4g} s", head, step,
                                         names_[static_cast<std::size_t>(clock_.at)], step / ratio));
    } else if (ratio > 1.05 || ratio < 0.95) {
        log.note(fmt::format("its times are {:.2g} times what its clock shows between steps", ratio));
    }
}

} // namespace headroom::io
