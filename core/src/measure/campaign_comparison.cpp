#include "headroom/measure/campaign_comparison.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace headroom::measure {
namespace {

constexpr double significance = 0.05;
constexpr std::size_t fewest_compared = 4; ///< samples of a side that `compare_samples` takes

/// Probabilities of tests, adjusted for their number, in the order of the points that have one.
template <class Points, class Test, class Set> void adjust(Points& points, Test test, Set set) {
    std::vector<double> probabilities;
    for (auto const& point : points) {
        if (auto const& found = point.*test) { probabilities.push_back(found->probability); }
    }
    auto const adjusted = adjusted_for_many(probabilities);
    auto next = adjusted.begin();
    for (auto& point : points) {
        if (point.*test) { point.*set = *next++; }
    }
}

/// A time that grows is slower, a rate that grows is faster.
SampleVerdict verdict_of(ComparedPoint const& point) {
    if (!point.comparison) { return SampleVerdict::too_few; }
    if (point.probability >= significance || point.comparison->shift == 0.0) { return SampleVerdict::no_difference; }
    bool const more = point.comparison->shift > 0.0;
    if (point.unit == "seconds") { return more ? SampleVerdict::slower : SampleVerdict::faster; }
    if (point.unit.ends_with("/second")) { return more ? SampleVerdict::faster : SampleVerdict::slower; }
    return more ? SampleVerdict::more : SampleVerdict::less;
}

bool all_positive(std::vector<double> const& values) {
    return std::ranges::all_of(values, [](double value) { return value > 0.0; });
}

ComparedPoint compared(PointSummary const& first, PointSummary const& second) {
    ComparedPoint point{
        .label = first.point.label, .unit = first.point.unit, .first = *first.summary, .second = *second.summary};
    if (std::min(first.values.size(), second.values.size()) < fewest_compared) { return point; }
    point.comparison = compare_samples(first.values, second.values);
    if (all_positive(first.values) && all_positive(second.values)) {
        point.ratio = compare_ratio(first.values, second.values);
    }
    return point;
}

std::map<std::string, PointSummary const*> by_label(std::vector<PointSummary> const& points) {
    std::map<std::string, PointSummary const*> found;
    for (PointSummary const& point : points) {
        if (point.summary) { found.emplace(point.point.label, &point); }
    }
    return found;
}

} // namespace

Facts unique_facts(Facts const& facts) {
    Facts unique;
    std::set<std::string_view> seen;
    for (auto const& row : facts) {
        if (seen.insert(row.first).second) { unique.push_back(row); }
    }
    return unique;
}

std::vector<PointSummary> summarize_points(Campaign const& campaign) {
    std::vector<PointSummary> points(campaign.points.size());
    for (std::size_t at = 0; at < points.size(); ++at) { points[at].point = campaign.points[at]; }
    for (Sample const& sample : campaign.samples) {
        PointSummary& point = points.at(sample.point);
        ++point.outcomes.at(static_cast<std::size_t>(sample.outcome));
        if (sample.outcome == SampleOutcome::measured) { point.values.push_back(sample.value); }
    }
    for (PointSummary& point : points) {
        if (point.values.empty()) { continue; }
        point.summary = summarize(point.values);
        point.drift = find_drift(point.values);
    }
    adjust(points, &PointSummary::drift, &PointSummary::drift_probability);
    return points;
}

std::string_view name_of(SampleVerdict verdict) {
    constexpr std::array<std::string_view, 6> names{"faster",         "slower", "more", "less", "no difference shown",
                                                    "too few samples"};
    return names.at(static_cast<std::size_t>(verdict));
}

CampaignComparison compare_campaigns(Campaign first, Campaign second) {
    CampaignComparison result{.first = std::move(first), .second = std::move(second)};
    auto const left = summarize_points(result.first), right = summarize_points(result.second);
    auto const others = by_label(right), own = by_label(left);
    for (PointSummary const& point : left) {
        if (!point.summary) { continue; }
        auto const other = others.find(point.point.label);
        if (other == others.end()) {
            result.only_first.push_back(point.point.label);
        } else if (other->second->point.unit != point.point.unit) {
            result.other_units.push_back(point.point.label);
        } else {
            result.points.push_back(compared(point, *other->second));
        }
    }
    for (PointSummary const& point : right) {
        if (point.summary && !own.contains(point.point.label)) { result.only_second.push_back(point.point.label); }
    }
    adjust(result.points, &ComparedPoint::comparison, &ComparedPoint::probability);
    for (ComparedPoint& point : result.points) { point.verdict = verdict_of(point); }
    result.settings = differences(result.first.settings, result.second.settings);
    result.machine = differences(result.first.machine, result.second.machine);
    return result;
}

} // namespace headroom::measure
