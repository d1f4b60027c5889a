#include "headroom/fit/serving_validation.hpp"

#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace headroom::fit {

using namespace headroom::serving;

namespace {

/// The errors of one figure with the family of each.
struct FamilyError {
    std::string const* family;
    double error;
};

ServingErrors errors_of(std::span<FamilyError const> all) {
    ServingErrors errors;
    errors.rows = static_cast<int>(all.size());
    if (all.empty()) { return errors; }
    std::vector<double> with_sign, absolute, medians;
    std::map<std::string, std::vector<double>> families;
    for (auto const& [family, error] : all) {
        with_sign.push_back(error);
        absolute.push_back(std::abs(error));
        families[*family].push_back(std::abs(error));
    }
    std::vector<WeightedValue> weighted;
    for (auto const& [family, values] : families) {
        medians.push_back(quantile(values, 0.5));
        for (double const value : values) { weighted.push_back({value, 1.0 / static_cast<double>(values.size())}); }
    }
    errors.families = static_cast<int>(families.size());
    errors.median_error = quantile(with_sign, 0.5);
    errors.median_absolute_error = quantile(absolute, 0.5);
    errors.p90_absolute_error = quantile(absolute, 0.9);
    errors.families_median_absolute_error = quantile(medians, 0.5);
    errors.families_p90_absolute_error = weighted_quantile(weighted, 0.9);
    return errors;
}

std::string batch_class(PublishedServing const& run) {
    if (!run.batch) { return "saturated"; }
    if (*run.batch <= 1.0) { return "1"; }
    if (*run.batch <= 16.0) { return "2 to 16"; }
    if (*run.batch <= 64.0) { return "17 to 64"; }
    return "over 64";
}

using Property = std::function<std::string(PublishedServing const&)>;

void add_groups(std::vector<ServingGroup>& groups, std::string const& by, std::span<ServingComparison const> rows,
                Property const& property) {
    std::map<std::pair<std::string, ServingMetric>, std::vector<FamilyError>> parts;
    for (auto const& row : rows) {
        for (ServingMetric const metric : serving_metrics) {
            if (auto const error = row.error(metric)) {
                parts[{property(*row.run), metric}].push_back({&row.run->family, *error});
            }
        }
    }
    for (auto const& [key, errors] : parts) { groups.push_back({by, key.first, key.second, errors_of(errors)}); }
}

} // namespace

std::string_view name_of(ServingMetric metric) {
    switch (metric) {
    case ServingMetric::ttft: return "ttft";
    case ServingMetric::tpot: return "tpot";
    case ServingMetric::throughput: return "throughput";
    }
    return "tpot";
}

std::optional<double> ServingComparison::error(ServingMetric metric) const {
    auto const over = [](double predicted, double measured) { return predicted / measured - 1.0; };
    switch (metric) {
    case ServingMetric::ttft:
        if (run->first_token) { return over(figures.first_token.base(), run->first_token->base()); }
        break;
    case ServingMetric::tpot:
        if (run->per_token) { return over(figures.per_token.base(), run->per_token->base()); }
        break;
    case ServingMetric::throughput:
        if (run->tokens_per_second && run->output_tokens > 1.0) {
            return over(figures.tokens_per_second, *run->tokens_per_second);
        }
        break;
    }
    return std::nullopt;
}

ServingErrors const* ServingValidation::errors(std::string_view by, std::string_view name, ServingMetric metric) const {
    auto const found = std::ranges::find_if(groups, [&](ServingGroup const& group) {
        return group.by == by && group.name == name && group.metric == metric;
    });
    return found == groups.end() ? nullptr : &found->errors;
}

ServingValidation validate_serving(std::span<PublishedServing const> runs, training::Calibration const& constants) {
    ServingValidation result;
    for (PublishedServing const& run : runs) {
        if (!run.skipped_reason.empty()) {
            result.skipped.push_back({&run, run.skipped_reason});
            continue;
        }
        ServingPricer const pricer{*run.model, *run.cluster, run.framework, constants, run.plan};
        auto const figures = served_figures(run, pricer);
        if (!figures) {
            result.skipped.push_back({&run, "the memory does not hold one request"});
        } else if (std::string why = impossible_serving(run, *figures); !why.empty()) {
            result.refused.push_back({&run, std::move(why)});
        } else {
            result.rows.push_back({&run, *figures});
        }
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
