#include "headroom/fit/serving_validation.hpp"

#include "headroom/family_errors.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace headroom::fit {

using namespace headroom::serving;

namespace {

ServingErrors errors_of(std::span<FamilyError const> all) {
    ServingErrors errors;
    errors.rows = static_cast<int>(all.size());
    if (all.empty()) { return errors; }
    FamilyErrors const of = family_errors(all);
    errors.families = of.families;
    errors.median_error = of.median;
    errors.median_absolute_error = of.median_absolute;
    errors.p90_absolute_error = of.p90_absolute;
    errors.families_median_absolute_error = of.families_median_absolute;
    errors.families_p90_absolute_error = of.families_p90_absolute;
    return errors;
}

std::string batch_class(PublishedServing const& run) {
    if (!run.batch) { return "saturated"; }
    if (*run.batch <= 1.0) { return "1"; }
    if (*run.batch <= 16.0) { return "2 to 16"; }
    if (*run.batch <= 64.0) { return "17 to 64"; }
    return "over 64";
}

std::optional<double> error_of(std::optional<ServingPair> const& pair) {
    return pair ? std::optional{pair->predicted / pair->measured - 1.0} : std::nullopt;
}

/// Share of the rows inside their intervals, families alike.
double coverage_of(std::span<std::pair<std::string const*, bool> const> rows) {
    std::map<std::string, std::pair<int, int>> families;
    for (auto const& [family, inside] : rows) {
        auto& [all, held] = families[*family];
        ++all, held += inside ? 1 : 0;
    }
    double sum = 0.0;
    for (auto const& [family, counts] : families) { sum += static_cast<double>(counts.second) / counts.first; }
    return families.empty() ? 0.0 : sum / static_cast<double>(families.size());
}

/// Errors of the rows of a group.
struct GroupRows {
    std::vector<FamilyError> in_use, left_out;
    std::vector<std::pair<std::string const*, bool>> inside;
};

using Property = std::function<std::string(PublishedServing const&)>;

void add_groups(std::vector<ServingGroup>& groups, std::string const& by, std::span<ServingComparison const> rows,
                Property const& property) {
    std::map<std::pair<std::string, ServingMetric>, GroupRows> parts;
    for (auto const& row : rows) {
        for (ServingMetric const metric : serving_metrics) {
            auto const error = row.error(metric);
            if (!error) { continue; }
            auto& part = parts[{property(*row.run), metric}];
            part.in_use.push_back({row.run->family, *error});
            part.left_out.push_back({row.run->family, *row.left_out_error(metric)});
            part.inside.emplace_back(&row.run->family, *row.inside(metric));
        }
    }
    for (auto const& [key, part] : parts) {
        ServingBothErrors const errors{errors_of(part.in_use), errors_of(part.left_out), coverage_of(part.inside)};
        groups.push_back({by, key.first, key.second, errors});
    }
}

} // namespace

std::optional<double> ServingComparison::error(ServingMetric metric) const {
    return error_of(served_pair(*run, figures, metric));
}

std::optional<double> ServingComparison::left_out_error(ServingMetric metric) const {
    return error_of(served_pair(*run, left_out, metric));
}

std::optional<bool> ServingComparison::inside(ServingMetric metric) const {
    auto const pair = served_pair(*run, left_out, metric);
    if (!pair) { return std::nullopt; }
    bool const rate = metric == ServingMetric::throughput;
    double const ratio = rate ? pair->predicted / pair->measured : pair->measured / pair->predicted;
    auto const& band = metric == ServingMetric::ttft ? bands.first_token : bands.pace;
    return ratio >= band.low && ratio <= band.high;
}

ServingBothErrors const* ServingValidation::errors(std::string_view by, std::string_view name,
                                                   ServingMetric metric) const {
    auto const found = std::ranges::find_if(groups, [&](ServingGroup const& group) {
        return group.by == by && group.name == name && group.metric == metric;
    });
    return found == groups.end() ? nullptr : &found->errors;
}

ServingSamples serving_samples(std::span<PublishedServing const> runs, training::Calibration const& constants) {
    ServingSamples result;
    for (PublishedServing const& run : runs) {
        if (!run.skipped_reason.empty()) {
            result.skipped.push_back({&run, run.skipped_reason});
            continue;
        }
        ServingPricer const pricer{*run.model, *run.cluster, run.framework, constants, run.plan};
        auto const loads = served_loads(run, pricer);
        if (!loads) {
            result.skipped.push_back({&run, "the memory does not hold one request"});
        } else if (std::string why = impossible_serving(run, *loads); !why.empty()) {
            result.refused.push_back({&run, std::move(why)});
        } else {
            result.samples.push_back({&run, *loads});
        }
    }
    return result;
}

ServingValidation validate_serving(ServingSamples samples, ServingCalibration const& calibration,
                                   std::map<std::string, ServingCalibration> const& without) {
    ServingValidation result{
        .rows = {}, .skipped = std::move(samples.skipped), .refused = std::move(samples.refused), .groups = {}};
    for (auto const& [run, loads] : samples.samples) {
        auto const found = without.find(run->family);
        auto const& fold = found == without.end() ? calibration : found->second;
        result.rows.push_back({.run = run,
                               .held_batch = loads.batch,
                               .figures = served_figures(*run, loads, calibration.law(run->engine)),
                               .left_out = served_figures(*run, loads, fold.law(run->engine)),
                               .bands = fold.bands(run->engine)});
    }
    auto& groups = result.groups;
    add_groups(groups, "all", result.rows, [](PublishedServing const&) { return "all"; });
    add_groups(groups, "family", result.rows, [](PublishedServing const& run) { return run.family; });
    add_groups(groups, "engine", result.rows, [](PublishedServing const& run) { return run.engine; });
    add_groups(groups, "accelerator", result.rows, [](PublishedServing const& run) { return run.accelerator; });
    add_groups(groups, "batch", result.rows, batch_class);
    add_groups(groups, "precision", result.rows,
               [](PublishedServing const& run) { return std::string{headroom::name_of(run.plan.weights)}; });
    return result;
}

} // namespace headroom::fit
