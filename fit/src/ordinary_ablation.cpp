#include "headroom/fit/ablation.hpp"
#include "headroom/order_statistics.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace headroom::fit {

using namespace headroom::training;

namespace {

using enum Constant;

constexpr double nothing = 1e-9;

void with_fused_launches(Question& q) {
    if (q.framework.host == HostPace::eager) { q.framework.host = HostPace::modern; }
}
void with_fused_updates(Question& q) {
    q.framework.foreach_update = false;
    q.framework.update_launches = 0.0;
}
void with_peer_to_peer(Question& q) { q.cluster.through_host = false; }

/// Relative error of each run, families predicted without themselves; empty where there is none.
using Errors = std::vector<std::optional<double>>;

std::vector<PublishedRun> changed(std::span<PublishedRun const> runs, void (*change)(Question&)) {
    std::vector<PublishedRun> all{runs.begin(), runs.end()};
    for (PublishedRun& run : all) {
        if (change != nullptr && run.question) { change(*run.question); }
    }
    return all;
}

Errors errors_of(std::span<PublishedRun const> runs, CalibrationSet const& set) {
    Errors errors;
    for (auto const& row : validate(runs, set).rows) {
        errors.push_back(row.run->counts() ? row.relative_error : std::nullopt);
    }
    return errors;
}

Errors left_out_errors(std::span<PublishedRun const> runs, CalibrationSet const& start, FitSettings const& settings) {
    std::map<std::string, std::vector<std::size_t>> families;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].question) { families[runs[i].source].push_back(i); }
    }
    Errors errors(runs.size());
    for (auto const& [source, rows] : families) {
        CalibrationSet set = start;
        refit_ordinary(runs, source, set, settings);
        std::vector<PublishedRun> family;
        for (std::size_t const i : rows) { family.push_back(runs[i]); }
        auto const found = errors_of(family, set);
        for (std::size_t i = 0; i < rows.size(); ++i) { errors[rows[i]] = found[i]; }
    }
    return errors;
}

/// Weights by which families weigh alike.
std::vector<WeightedValue> weighted(std::span<PublishedRun const> runs, Errors const& errors) {
    std::map<std::string_view, int> of;
    for (std::size_t i = 0; i < runs.size(); ++i) { of[runs[i].source] += errors[i] ? 1 : 0; }
    std::vector<WeightedValue> all;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (errors[i]) { all.push_back({std::abs(*errors[i]), 1.0 / of[runs[i].source]}); }
    }
    return all;
}

/// Means over the runs that an element moves: from `with` to `alone`, by the same constants.
void add_moved(OrdinaryResult& result, std::span<PublishedRun const> runs, Errors const& whole, Errors const& without,
               Errors const& with, Errors const& alone) {
    std::map<std::string_view, std::pair<double, int>> of; // sum of what the error grows by, runs
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!whole[i] || !without[i] || !with[i] || !alone[i]) { continue; }
        if (std::abs(*alone[i] - *with[i]) <= moved_by * (1.0 + *with[i])) { continue; }
        ++result.moved;
        result.errors.whole += std::abs(*whole[i]);
        result.errors.without += std::abs(*without[i]);
        auto& [sum, count] = of[runs[i].source];
        sum += std::abs(*without[i]) - std::abs(*whole[i]), ++count;
    }
    if (result.moved > 0) { result.errors.whole /= result.moved, result.errors.without /= result.moved; }
    for (auto const& [family, growth] : of) {
        double const worse = growth.first / growth.second;
        result.families_worse += worse > 1e-3 ? 1 : 0, result.families_better += worse < -1e-3 ? 1 : 0;
    }
}

} // namespace

std::vector<Ablation> ordinary_ablations() {
    return {{"whole model", "-"},
            {"launches from Python", "those of fused kernels", with_fused_launches},
            {"gathers by Python", "in no time", nullptr, {{host_gather, nothing}}},
            {"updates tensor by tensor", "one kernel", with_fused_updates},
            {"power of a part", "no part has less than its generation", nullptr, {{power_exponent, nothing}}},
            {"fast chips in software nobody tuned", "as in tuned software", nullptr, {{untuned_exponent, nothing}}},
            {"rate of AMD", "that of other chips", nullptr, {{gemm_cdna, 0.6}}},
            {"transfers through the host", "cards reach each other", with_peer_to_peer},
            {"updates on the host", "at the rate of its memory", nullptr, {{host_update, 1.0}}}};
}

std::vector<OrdinaryResult> without_ordinary_elements(std::span<PublishedRun const> runs, CalibrationSet const& set,
                                                      FitSettings const& settings) {
    std::vector<OrdinaryResult> results;
    Errors whole;
    Errors const with = errors_of(runs, set);
    for (auto const& ablation : ordinary_ablations()) {
        auto const asked = changed(runs, ablation.change);
        auto const without = left_out_errors(asked, holding(set, ablation), settings);
        if (results.empty()) { whole = without; }
        auto samples = weighted(asked, without);
        OrdinaryResult result{.name = ablation.name,
                              .instead = ablation.instead,
                              .median = weighted_quantile(samples, 0.5),
                              .p90 = weighted_quantile(samples, 0.9)};
        add_moved(result, asked, whole, without, with, errors_of(asked, holding(set, ablation)));
        results.push_back(result);
    }
    return results;
}

} // namespace headroom::fit
