#include "headroom/fit/communication_validation.hpp"

#include "scaling_statistics.hpp"

#include "headroom/fit/communication_fit_answer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace headroom::fit {

using namespace headroom::network;

namespace {

constexpr Bytes megabyte{1048576.0};

using Key = std::tuple<std::string, std::string, std::string, Collective, int, int>;

/// Whether ids name tables of rows, not single rows.
bool ids_name_tables(std::span<MeasuredCollective const> rows) {
    std::set<std::string> ids;
    return std::ranges::any_of(rows, [&ids](MeasuredCollective const& row) { return !ids.insert(row.id).second; });
}

Key key_of(MeasuredCollective const& row, bool by_id) {
    return {by_id ? row.id : std::string{}, row.system, row.interconnect, row.collective, row.ranks, row.nodes};
}

std::optional<double> median(std::vector<double> values) {
    return values.empty() ? std::nullopt : std::optional{median_of(std::move(values))};
}

std::set<double> sizes_of(std::vector<std::size_t> const& members, std::span<MeasuredCollective const> rows) {
    std::set<double> sizes;
    for (std::size_t const i : members) { sizes.insert(rows[i].size.size.base()); }
    return sizes;
}

/// Fits on the sizes at even places and predicts the others.
void fit_group(std::vector<std::size_t> const& members, std::span<MeasuredCollective const> rows,
               CommunicationValidation& result, CommunicationGroup& group) {
    std::set<double> const sizes = sizes_of(members, rows);
    std::set<double> used;
    std::size_t place = 0;
    for (double const size : sizes) {
        if (place++ % 2 == 0) { used.insert(size); }
    }
    std::vector<MeasuredCollective> training;
    for (std::size_t const i : members) {
        if (!used.contains(rows[i].size.size.base())) { continue; }
        training.push_back(rows[i]);
        training.back().algorithm.clear(); // one fit for the group, whatever ran
        training.back().protocol.clear();
        training.back().data_type.clear();
    }
    CommunicationFits const fits = fit_communication(training);
    if (fits.fits.size() != 1) {
        group.fit_skipped_reason = fits.skipped.empty() ? "cannot be fitted" : words_of(fits.skipped.front());
        return;
    }
    for (std::size_t const i : members) {
        CommunicationComparison& one = result.rows[i];
        one.fitted_on = used.contains(rows[i].size.size.base());
        if (!one.fitted_on) { one.fitted = fits.fits.front().time(rows[i].size); }
    }
}

} // namespace

CommunicationSummary summarise(std::span<CommunicationComparison const* const> rows) {
    CommunicationSummary summary;
    std::vector<double> errors, logs, above, below;
    for (CommunicationComparison const* one : rows) {
        ++summary.rows;
        if (!one->fitted && !one->fitted_on && !one->unfitted.seconds) { ++summary.skipped; }
        double const measured = one->row->time.base();
        if (one->fitted) { errors.push_back(std::abs(one->fitted->base() / measured - 1.0)); }
        if (!one->unfitted.seconds) { continue; }
        logs.push_back(std::abs(std::log(one->unfitted.seconds->base() / measured)));
        (one->row->size.size > megabyte ? above : below).push_back(logs.back());
    }
    auto const factor = [](std::vector<double> const& values) {
        std::optional<double> const middle = median(values);
        return middle ? std::optional{std::exp(*middle)} : std::nullopt;
    };
    summary.rows_fitted = static_cast<int>(errors.size());
    summary.rows_unfitted = static_cast<int>(logs.size());
    summary.median_absolute_error_fitted = median(errors);
    summary.median_factor_unfitted = factor(logs);
    summary.median_factor_above_1_mb = factor(above);
    summary.median_factor_up_to_1_mb = factor(below);
    return summary;
}

CommunicationValidation validate_communication(std::span<MeasuredCollective const> rows,
                                               std::function<UnfittedPrice(MeasuredCollective const&)> const& price,
                                               std::size_t least_sizes) {
    CommunicationValidation result;
    bool const by_id = ids_name_tables(rows);
    std::map<Key, std::size_t> places;
    std::vector<std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto const [at, added] = places.try_emplace(key_of(rows[i], by_id), result.groups.size());
        if (added) {
            result.groups.push_back(
                {rows[i].system, rows[i].interconnect, rows[i].collective, rows[i].ranks, rows[i].nodes, 0, {}, ""});
            members.emplace_back();
        }
        members[at->second].push_back(i);
        result.rows.push_back({&rows[i], at->second, false, std::nullopt, price(rows[i])});
    }
    for (std::size_t g = 0; g < members.size(); ++g) {
        CommunicationGroup& group = result.groups[g];
        group.sizes = sizes_of(members[g], rows).size();
        if (group.sizes < least_sizes) {
            group.fit_skipped_reason = "fewer than " + std::to_string(least_sizes) + " sizes";
        } else {
            fit_group(members[g], rows, result, group);
        }
        std::vector<CommunicationComparison const*> own;
        for (std::size_t const i : members[g]) { own.push_back(&result.rows[i]); }
        group.summary = summarise(own);
    }
    std::vector<CommunicationComparison const*> all;
    for (CommunicationComparison const& one : result.rows) { all.push_back(&one); }
    result.summary = summarise(all);
    return result;
}

} // namespace headroom::fit
