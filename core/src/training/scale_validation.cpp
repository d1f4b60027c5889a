#include "headroom/training/scale_validation.hpp"

#include "headroom/order_statistics.hpp"
#include "headroom/training/warm_start.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>

namespace headroom::training {
namespace {

/// Whether a run counts and its framework shares kernels with others.
bool shares_kernels(PublishedRun const& run) { return run.question && run.counts() && !run.question->framework.paced; }

/// Key that the runs of one family share.
std::string family_of(PublishedRun const& run) {
    auto const traits = traits_of(*run.question);
    return run.source + '\n' + traits.site + '\n' + traits.model + '\n' + traits.workload;
}

/// The smallest run of each family.
std::map<std::string, PublishedRun const*> smallest_of_families(std::span<PublishedRun const> runs) {
    std::map<std::string, PublishedRun const*> smallest;
    auto const size = [](PublishedRun const& run) {
        return std::tuple{run.question->strategy.workers(), run.question->workload.global_batch};
    };
    for (auto const& run : runs) {
        if (!shares_kernels(run)) { continue; }
        auto const [known, is_new] = smallest.emplace(family_of(run), &run);
        if (!is_new && size(run) < size(*known->second)) { known->second = &run; }
    }
    return smallest;
}

double half_width(Interval const& interval) { return std::sqrt(interval.high / interval.low); }

bool inside(Interval const& interval, Seconds measured) {
    return measured >= interval.low && measured <= interval.high;
}

/// `set`: with the measured step of the anchor alone.
ScaledRun scaled(PublishedRun const& run, PublishedRun const& anchor, CalibrationSet const& set) {
    CalibrationSet cold = set;
    cold.warm.steps.clear();
    auto const before = predict(*run.question, cold, Remedies::left_out);
    auto after = before;
    apply_warm_start(after, set);
    return {.run = &run,
            .anchor = &anchor,
            .before = before.step(),
            .after = after.step(),
            .error_before = before.step() / run.measured - 1.0,
            .error_after = after.step() / run.measured - 1.0,
            .factor = after.warm ? after.warm->factor : 1.0,
            .inside_before = inside(before.interval, run.measured),
            .inside_after = inside(after.interval, run.measured),
            .clipped = set.warm.steps.front().excess > 0.0,
            .same_replica = traits_of(*run.question).replica == set.warm.steps.front().traits.replica,
            .width_before = half_width(before.interval),
            .width_after = half_width(after.interval)};
}

void add_groups(std::vector<ScaleSummary>& groups, std::string const& by, std::span<ScaledRun const> rows,
                std::function<std::string(ScaledRun const&)> const& key) {
    std::map<std::string, std::vector<ScaledRun>> parts;
    for (auto const& row : rows) { parts[key(row)].push_back(row); }
    for (auto const& [name, part] : parts) { groups.push_back(summarise_scales(by, name, part)); }
}

} // namespace

std::vector<LeftOutResidual> residuals_of(Validation const& left_out) {
    std::vector<LeftOutResidual> residuals;
    for (auto const& row : left_out.rows) {
        if (!row.relative_error || !shares_kernels(*row.run)) { continue; }
        residuals.push_back({row.run->source, traits_of(*row.run->question), -std::log1p(*row.relative_error)});
    }
    return residuals;
}

WarmStart warm_start_of(std::span<LeftOutResidual const> residuals, std::string const& without) {
    WarmStart warm{.dense = likeness_of(residuals, false, without),
                   .mixtures = likeness_of(residuals, true, without),
                   .steps = {}};
    if (warm.mixtures.pairs == 0) { warm.mixtures = warm.dense; }
    return warm;
}

ScaleSummary summarise_scales(std::string by, std::string name, std::span<ScaledRun const> rows) {
    ScaleSummary summary{.by = std::move(by), .name = std::move(name), .rows = static_cast<int>(rows.size())};
    auto const of = [&rows](auto&& value) {
        std::vector<double> values;
        std::ranges::transform(rows, std::back_inserter(values), value);
        return values;
    };
    auto const before = of([](ScaledRun const& row) { return std::abs(row.error_before); });
    auto const after = of([](ScaledRun const& row) { return std::abs(row.error_after); });
    summary.median_before = quantile(before, 0.5);
    summary.p90_before = quantile(before, 0.9);
    summary.median_after = quantile(after, 0.5);
    summary.p90_after = quantile(after, 0.9);
    auto const share = [&rows](bool ScaledRun::*is) {
        return rows.empty()
                   ? 0.0
                   : static_cast<double>(std::ranges::count(rows, true, is)) / static_cast<double>(rows.size());
    };
    summary.coverage_before = share(&ScaledRun::inside_before);
    summary.coverage_after = share(&ScaledRun::inside_after);
    summary.width_before = quantile(of(&ScaledRun::width_before), 0.5);
    summary.width_after = quantile(of(&ScaledRun::width_after), 0.5);
    return summary;
}

ScaleValidation leave_one_scale(std::span<PublishedRun const> runs, CalibrationSet const& set, Folds const& folds,
                                Validation const& left_out) {
    auto sets = sets_without(set, folds);
    auto const residuals = residuals_of(left_out);
    for (auto& [source, without] : sets) { without.warm = warm_start_of(residuals, source); }
    auto const smallest = smallest_of_families(runs);
    ScaleValidation result;
    std::map<PublishedRun const*, MeasuredStep> measured; // by the anchor, whose family has one source
    for (auto const& run : runs) {
        if (!shares_kernels(run) || !sets.contains(run.source)) { continue; }
        PublishedRun const& anchor = *smallest.at(family_of(run));
        if (run.question->strategy.workers() <= anchor.question->strategy.workers()) { continue; }
        CalibrationSet without = sets.at(run.source);
        auto known = measured.find(&anchor);
        if (known == measured.end()) {
            known =
                measured.emplace(&anchor, measured_step(*anchor.question, anchor.measured, without, anchor.id)).first;
        }
        without.warm.steps = {known->second};
        result.rows.push_back(scaled(run, anchor, without));
    }
    result.families = static_cast<int>(measured.size());
    result.groups.push_back(summarise_scales("all", "all", result.rows));
    add_groups(result.groups, "kind", result.rows, [](ScaledRun const& row) { return row.run->kind; });
    add_groups(result.groups, "plan of a replica", result.rows, [](ScaledRun const& row) {
        return std::string{row.same_replica ? "that of the measured run" : "another"};
    });
    add_groups(result.groups, "source", result.rows, [](ScaledRun const& row) { return row.run->source; });
    return result;
}

} // namespace headroom::training
