#include "headroom/validation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace headroom {
namespace {

/// Linear between the two nearest values; zero of nothing.
double quantile(std::vector<double> values, double share) {
    if (values.empty()) { return 0.0; }
    std::ranges::sort(values);
    double const position = share * static_cast<double>(values.size() - 1);
    auto const below = static_cast<std::size_t>(position);
    auto const above = std::min(below + 1, values.size() - 1);
    double const weight = position - static_cast<double>(below);
    return values[below] * (1.0 - weight) + values[above] * weight;
}

RunComparison compare_run(PublishedRun const& run, CalibrationSet const& calibration) {
    RunComparison row;
    row.run = &run;
    if (!run.question) { return row; }
    auto const prediction = predict(*run.question, calibration);
    row.predicted = prediction.step();
    row.relative_error = prediction.step() / run.measured - 1.0;
    row.inside_interval = run.measured >= prediction.interval.low && run.measured <= prediction.interval.high;
    return row;
}

void add_groups(std::vector<ErrorGroup>& groups, std::string const& by, std::span<RunComparison const> rows,
                std::function<std::string(PublishedRun const&)> const& key) {
    std::map<std::string, std::vector<RunComparison>> parts;
    for (auto const& row : rows) { parts[key(*row.run)].push_back(row); }
    for (auto const& [name, part] : parts) { groups.push_back({by, name, summarise(part)}); }
}

Validation grouped(std::vector<RunComparison> rows) {
    Validation result;
    result.rows = std::move(rows);
    result.summary = summarise(result.rows);
    add_groups(result.groups, "kind", result.rows, [](PublishedRun const& run) { return run.kind; });
    add_groups(result.groups, "source", result.rows, [](PublishedRun const& run) { return run.source; });
    add_groups(result.groups, "accelerator", result.rows, [](PublishedRun const& run) { return run.accelerator; });
    add_groups(result.groups, "strategy", result.rows, [](PublishedRun const& run) { return run.strategy_kind; });
    std::vector<RunComparison> stated;
    for (auto const& row : result.rows) {
        if (row.run->states_enough) { stated.push_back(row); }
    }
    add_groups(result.groups, "states enough", stated, [](PublishedRun const& run) { return run.kind; });
    std::vector<RunComparison> assumed;
    for (auto const& row : result.rows) {
        if (row.run->structural_assumption) { assumed.push_back(row); }
    }
    if (!assumed.empty()) { result.groups.push_back({"assumed", "assumed", summarise(assumed)}); }
    return result;
}

} // namespace

ErrorSummary summarise(std::span<RunComparison const> rows) {
    ErrorSummary summary;
    std::vector<double> absolute;
    double signed_sum = 0.0, absolute_sum = 0.0;
    int predicted = 0, inside = 0;
    for (auto const& row : rows) {
        ++summary.rows;
        if (!row.relative_error) {
            ++summary.skipped;
            if (row.run->states_enough) { absolute.push_back(1.0); }
            continue;
        }
        ++predicted;
        absolute.push_back(std::abs(*row.relative_error));
        signed_sum += *row.relative_error;
        absolute_sum += std::abs(*row.relative_error);
        inside += row.inside_interval ? 1 : 0;
    }
    summary.median_absolute_error = quantile(absolute, 0.5);
    summary.p90_absolute_error = quantile(absolute, 0.9);
    if (predicted > 0) {
        summary.mean_error = signed_sum / predicted;
        summary.mean_absolute_error = absolute_sum / predicted;
        summary.interval_coverage = static_cast<double>(inside) / predicted;
    }
    return summary;
}

Validation validate(std::span<PublishedRun const> runs, CalibrationSet const& calibration) {
    std::vector<RunComparison> rows;
    rows.reserve(runs.size());
    for (auto const& run : runs) { rows.push_back(compare_run(run, calibration)); }
    return grouped(std::move(rows));
}

Validation validate_left_out(std::span<PublishedRun const> runs, CalibrationSet const& set, Folds const& folds) {
    std::map<std::string, CalibrationSet> sets;
    for (auto const& [source, values] : folds.without) {
        CalibrationSet without = set;
        for (auto const& info : constants()) {
            without.constant[static_cast<std::size_t>(info.id)].value = values[info.id];
        }
        sets.emplace(source, std::move(without));
    }
    std::vector<RunComparison> rows;
    rows.reserve(runs.size());
    for (auto const& run : runs) {
        auto const found = sets.find(run.source);
        rows.push_back(compare_run(run, found == sets.end() ? set : found->second));
    }
    return grouped(std::move(rows));
}

} // namespace headroom
