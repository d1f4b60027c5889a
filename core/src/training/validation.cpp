#include "headroom/training/validation.hpp"

#include "headroom/error.hpp"
#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace headroom::training {
namespace {

RunComparison compare_run(PublishedRun const& run, PublishedRun const* anchor, CalibrationSet const& calibration) {
    RunComparison row;
    row.run = &run;
    if (!run.question) { return row; }
    Question question = *run.question;
    row.anchor = anchor;
    if (anchor != nullptr) { question.pace = pace_to_meet(*anchor, calibration); }
    auto const prediction = predict(question, calibration, Remedies::left_out);
    row.pace = prediction.pace;
    row.predicted = prediction.step();
    row.relative_error = prediction.step() / run.measured - 1.0;
    row.extrapolation = prediction.interval.kind;
    row.band = band_of(calibration.bands, row.extrapolation);
    row.inside_interval = run.measured >= prediction.interval.low && run.measured <= prediction.interval.high;
    if (run.measured_memory) { row.predicted_memory = memory_of_kind(prediction.memory, run.memory_kind); }
    return row;
}

std::vector<RunComparison> rows_that(std::span<RunComparison const> rows,
                                     std::function<bool(RunComparison const&)> const& hold) {
    std::vector<RunComparison> kept;
    std::ranges::copy_if(rows, std::back_inserter(kept), hold);
    return kept;
}

void add_groups(std::vector<ErrorGroup>& groups, std::string const& by, std::span<RunComparison const> rows,
                std::function<std::string(PublishedRun const&)> const& key) {
    std::map<std::string, std::vector<RunComparison>> parts;
    for (auto const& row : rows) { parts[key(*row.run)].push_back(row); }
    for (auto const& [name, part] : parts) { groups.push_back({by, name, summarise(part)}); }
}

bool trains_adapters(PublishedRun const& run) {
    return run.question && run.question->strategy.trained == Trained::lora;
}

Validation grouped(std::vector<RunComparison> rows) {
    Validation result;
    result.rows = std::move(rows);
    result.summary = summarise(result.rows);
    result.memory = summarise_memory(result.rows);
    add_groups(result.groups, "kind", result.rows, [](PublishedRun const& run) { return run.kind; });
    add_groups(result.groups, "source", result.rows, [](PublishedRun const& run) { return run.source; });
    add_groups(result.groups, "accelerator", result.rows, [](PublishedRun const& run) { return run.accelerator; });
    add_groups(result.groups, "strategy", result.rows, [](PublishedRun const& run) { return run.strategy_kind; });
    auto const stated = rows_that(result.rows, [](auto const& row) { return row.run->states_enough; });
    add_groups(result.groups, "states enough", stated, [](PublishedRun const& run) { return run.kind; });
    auto const given = rows_that(result.rows, [](auto const& row) { return row.anchor != nullptr; });
    add_groups(result.groups, "given the 1-worker row", given, [](PublishedRun const& run) { return run.kind; });
    if (!given.empty()) { result.groups.push_back({"given the 1-worker row", "all", summarise(given)}); }
    auto const trained = rows_that(result.rows, [](auto const& row) { return trains_adapters(*row.run); });
    add_groups(result.groups, "trained", trained, [](PublishedRun const&) { return std::string{"LoRA"}; });
    auto const assumed = rows_that(result.rows, [](auto const& row) { return row.run->structural_assumption; });
    if (!assumed.empty()) { result.groups.push_back({"assumed", "assumed", summarise(assumed)}); }
    return result;
}

} // namespace

ErrorSummary summarise(std::span<RunComparison const> rows, Suspects suspects) {
    ErrorSummary summary;
    std::vector<double> absolute, of_predicted;
    double signed_sum = 0.0, absolute_sum = 0.0;
    int predicted = 0, inside = 0;
    for (auto const& row : rows) {
        if (row.run->only_memory()) { continue; }
        if (!row.run->counts() && suspects == Suspects::dropped) {
            ++summary.dropped;
            continue;
        }
        ++summary.rows;
        summary.states_enough += row.run->states_enough ? 1 : 0;
        if (!row.relative_error) {
            ++summary.skipped;
            if (row.run->states_enough) { absolute.push_back(1.0); }
            continue;
        }
        ++predicted;
        summary.predicted_of_stating_enough += row.run->states_enough ? 1 : 0;
        absolute.push_back(std::abs(*row.relative_error));
        of_predicted.push_back(std::abs(*row.relative_error));
        signed_sum += *row.relative_error;
        absolute_sum += std::abs(*row.relative_error);
        inside += row.inside_interval ? 1 : 0;
    }
    summary.median_absolute_error = quantile(absolute, 0.5);
    summary.p90_absolute_error = quantile(absolute, 0.9);
    summary.median_absolute_error_predicted = quantile(of_predicted, 0.5);
    if (predicted > 0) {
        summary.mean_error = signed_sum / predicted;
        summary.mean_absolute_error = absolute_sum / predicted;
        summary.interval_coverage = static_cast<double>(inside) / predicted;
    }
    return summary;
}

MemorySummary summarise_memory(std::span<RunComparison const> rows) {
    std::vector<double> errors;
    for (auto const& row : rows) {
        auto const error = row.memory_error();
        if (error && row.run->counts()) { errors.push_back(std::abs(*error)); }
    }
    if (errors.empty()) { return {}; }
    return {.rows = static_cast<int>(errors.size()),
            .median_absolute_error = quantile(errors, 0.5),
            .largest_absolute_error = std::ranges::max(errors)};
}

std::vector<DroppedRows> dropped_rows(std::span<RunComparison const> rows) {
    std::vector<DroppedRows> found;
    for (auto const& row : rows) {
        if (row.run->counts()) { continue; }
        auto rule = std::ranges::find(found, row.run->dropped_by, &DroppedRows::rule);
        if (rule == found.end()) { rule = found.insert(found.end(), {row.run->dropped_by, {}}); }
        rule->runs.push_back(row.run);
    }
    return found;
}

std::map<PublishedRun const*, PublishedRun const*> anchors(std::span<PublishedRun const> runs) {
    std::map<std::string, PublishedRun const*> alone;
    auto const paced = [](PublishedRun const& run) { return run.question && run.question->framework.paced; };
    for (auto const& run : runs) {
        if (paced(run) && run.counts() && run.question->strategy.workers() == 1) { alone.emplace(run.table, &run); }
    }
    std::map<PublishedRun const*, PublishedRun const*> found;
    for (auto const& run : runs) {
        if (!paced(run) || run.question->strategy.workers() == 1) { continue; }
        if (auto const one = alone.find(run.table); one != alone.end()) { found.emplace(&run, one->second); }
    }
    return found;
}

std::vector<PublishedRun> unnamed_runs(std::span<PublishedRun const> runs) {
    std::vector<PublishedRun> found;
    for (auto const& run : runs) {
        if (!run.question || !run.unnamed) { continue; }
        found.push_back(run);
        found.back().question = run.unnamed;
    }
    return found;
}

double pace_to_meet(PublishedRun const& run, CalibrationSet const& calibration) {
    Question question = *run.question;
    auto const time_at = [&](double pace) {
        question.pace = pace;
        return predict(question, calibration, Remedies::left_out).time;
    };
    auto const time = time_at(1.0);
    Seconds const computation = time.compute + time.host;
    constexpr double least = 0.01; // a step that is shorter than its fixed parts still computes something
    // Exposed communication and waits depend on the pace, which makes the step nonlinear in it: the secant method
    // solves for it.
    double before = 1.0, pace = std::max(least, (run.measured - (time.total() - computation)) / computation);
    Seconds step_before = time.total();
    constexpr int enough = 50;
    for (int i = 0; i < enough && pace != before; ++i) {
        Seconds const step = time_at(pace).total();
        constexpr double tolerance = 1e-9; // a price is made of whole picoseconds
        if (std::abs(step / run.measured - 1.0) < tolerance || step == step_before) { break; }
        double const next = pace + (run.measured - step) / ((step - step_before) / (pace - before));
        before = std::exchange(pace, std::max(least, next));
        step_before = step;
    }
    return pace;
}

Validation part_of(Validation const& all, std::function<bool(PublishedRun const&)> const& holds) {
    return grouped(rows_that(all.rows, [&](RunComparison const& row) { return holds(*row.run); }));
}

Validation validate(std::span<PublishedRun const> runs, CalibrationSet const& calibration) {
    auto const anchor = anchors(runs);
    std::vector<RunComparison> rows;
    rows.reserve(runs.size());
    for (auto const& run : runs) {
        auto const found = anchor.find(&run);
        rows.push_back(compare_run(run, found == anchor.end() ? nullptr : found->second, calibration));
    }
    return grouped(std::move(rows));
}

std::string mixture_of(PublishedRun const& run) {
    Seen seen;
    if (!run.question || &experience_with(run.question->model, seen) != &seen.mixtures) { return {}; }
    std::string const& name = run.question->model.name;
    return normalised(std::string_view{name}.substr(0, name.find('(')));
}

Seen seen_by(std::span<PublishedRun const> runs, std::string const& without) {
    constexpr int enough = 5;
    std::map<std::pair<bool, Generation>, int> on;
    std::map<std::pair<bool, std::string>, int> with;
    Seen seen;
    for (auto const& run : runs) {
        if (!run.question || !run.counts() || run.question->framework.paced || run.source == without) { continue; }
        bool const mixes = !mixture_of(run).empty();
        Experience& here = mixes ? seen.mixtures : seen.dense;
        Generation const generation = run.question->cluster.accelerator.generation;
        auto const& framework = run.question->framework.name;
        if (++on[{mixes, generation}] >= enough) { here.hardware.insert(generation); }
        if (++with[{mixes, framework}] >= enough) { here.frameworks.insert(framework); }
    }
    return seen;
}

namespace {

CalibrationSet with_values(CalibrationSet set, Calibration const& values) {
    for (auto const& info : constants()) { set[info.id].value = values[info.id]; }
    return set;
}

/// Value of a key in a map, or a default value.
template <class Map> typename Map::mapped_type entry(Map const& map, std::string const& key) {
    auto const found = map.find(key);
    return found == map.end() ? typename Map::mapped_type{} : found->second;
}

} // namespace

std::map<std::string, CalibrationSet> sets_without(CalibrationSet const& set, Folds const& folds) {
    std::map<std::string, CalibrationSet> sets;
    for (auto const& [source, values] : folds.without) {
        CalibrationSet without = with_values(set, values);
        without.pace = entry(folds.pace, source);
        without.bands = entry(folds.bands, source);
        if (auto const seen = folds.seen.find(source); seen != folds.seen.end()) { without.seen = seen->second; }
        sets.emplace(source, std::move(without));
    }
    return sets;
}

Validation validate_left_out(std::span<PublishedRun const> runs, CalibrationSet const& set, Folds const& folds) {
    auto const sets = sets_without(set, folds);
    auto const anchor = anchors(runs);
    std::vector<RunComparison> rows;
    rows.reserve(runs.size());
    for (auto const& run : runs) {
        auto const fold = sets.find(run.source);
        auto const found = anchor.find(&run);
        rows.push_back(
            compare_run(run, found == anchor.end() ? nullptr : found->second, fold == sets.end() ? set : fold->second));
    }
    return grouped(std::move(rows));
}

Validation validate_models_left_out(std::span<PublishedRun const> runs, CalibrationSet const& set, Folds const& folds) {
    std::vector<RunComparison> rows;
    for (auto const& [model, values] : folds.without_model) {
        CalibrationSet without = with_values(set, values);
        without.bands = entry(folds.bands_model, model);
        for (auto const& run : runs) {
            if (mixture_of(run) == model) { rows.push_back(compare_run(run, nullptr, without)); }
        }
    }
    return grouped(std::move(rows));
}

std::vector<BandSummary> summarise_bands(std::span<RunComparison const> rows) {
    std::vector<BandSummary> summaries;
    for (Extrapolation const kind : extrapolations) {
        BandSummary summary{.kind = kind};
        std::vector<double> widths, errors;
        std::set<std::string> sources;
        int inside = 0;
        for (auto const& row : rows) {
            if (!row.relative_error || !row.run->counts() || row.extrapolation != kind) { continue; }
            ++summary.rows;
            inside += row.inside_interval ? 1 : 0;
            widths.push_back(row.band.half_width());
            errors.push_back(std::abs(*row.relative_error));
            sources.insert(row.run->source);
        }
        if (summary.rows == 0) { continue; }
        summary.sources = static_cast<int>(sources.size());
        summary.coverage = static_cast<double>(inside) / summary.rows;
        summary.median_half_width = quantile(widths, 0.5);
        summary.median_absolute_error = quantile(errors, 0.5);
        summaries.push_back(summary);
    }
    return summaries;
}

} // namespace headroom::training
