#include "scaling_choice.hpp"
#include "scaling_statistics.hpp"

#include "headroom/laws/laws_answers.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {
namespace {

std::string whole(double value) { return number_words(value, "%.0f"); }

/// Serial fractions of the counts above the one that speedups are over.
std::vector<KarpFlattPoint> fractions_of(ScalingData const& data) {
    double const base = base_workers(data);
    std::vector<KarpFlattPoint> points;
    for (ScalingSample const& mean : measured_speedups(data)) {
        auto const fraction = laws::karp_flatt_fraction(mean.value, mean.workers / base);
        if (fraction) { points.push_back({mean.workers, mean.value, *fraction}); }
    }
    return points;
}

laws::FractionTrend trend_of(std::vector<KarpFlattPoint> const& points) {
    std::vector<laws::FractionPoint> fractions;
    for (KarpFlattPoint const& point : points) { fractions.push_back({point.workers, point.serial_fraction}); }
    return laws::trend_of(fractions);
}

std::string verdict_words(laws::FractionTrend trend, std::vector<KarpFlattPoint> const& points) {
    if (points.size() < 2) { return "fewer than two counts beyond the smallest: no trend of the fraction"; }
    auto const at = [](KarpFlattPoint const& point) {
        return number_words(point.serial_fraction) + " at " + whole(point.workers);
    };
    std::string const range =
        at(points.front()) + " workers, " + at(points.back()) + (points.size() == 2 ? ", two counts only" : "");
    if (std::ranges::all_of(points, [](auto const& p) { return p.serial_fraction < 0.0; })) {
        return "it is below zero (" + range + "): faster than the workers alone explain, so no serial part is seen";
    }
    switch (trend) {
    case laws::FractionTrend::rising:
        return "it rises with the workers (" + range + "): overhead grows, it is not a serial part alone";
    case laws::FractionTrend::falling:
        return "it falls with the workers (" + range + "): more is gained than a fixed serial part allows";
    case laws::FractionTrend::flat: return "it stays the same (" + range + "): a part that does not divide";
    default: return "it scatters too much to say whether it rises (" + range + ")";
    }
}

void add_superlinear(std::vector<Finding>& findings, ScalingData const& data) {
    double const baseline = base_workers(data);
    for (KarpFlattPoint const& p : fractions_of(data)) {
        double const ideal = p.workers / baseline;
        if (p.speedup <= ideal * (1.0 + 1e-9)) { continue; }
        findings.push_back({.kind = "superlinear",
                            .text = whole(p.workers) + " workers are " + number_words(p.speedup, "%.4g") +
                                    " times as fast as " + whole(baseline) + ", above the ideal " +
                                    number_words(ideal, "%.4g") +
                                    ": more cache or memory for each, a smaller share of the data, or a slow baseline",
                            .workers = p.workers});
    }
}

/// Predictions that were asked for and are not given.
void add_withheld(std::vector<Finding>& findings, ScalingReport const& report) {
    LawFit const& best = report.fits[report.best];
    if (best.withheld == Withheld::nothing) { return; }
    findings.push_back({.kind = "withheld",
                        .text = std::string{best.law->name} +
                                " gives no peak, no ceiling and nothing outside of the "
                                "measured counts: " +
                                best.withheld_because,
                        .workers = {}});
}

/// Times of very different length under errors that count in seconds.
void add_unequal_times(std::vector<Finding>& findings, ScalingData const& data) {
    bool const times = data.measured == Measured::seconds || data.measured == Measured::sync;
    auto const [least, most] = std::ranges::minmax_element(data.samples, {}, &ScalingSample::value);
    bool const weighed = std::ranges::any_of(
        data.samples, [&](ScalingSample const& sample) { return sample.weight != data.samples.front().weight; });
    constexpr double unequal = 10.0;
    if (!times || weighed || most->value < unequal * least->value) { return; }
    findings.push_back(
        {.kind = "unequal_times",
         .text = "the longest time is " + number_words(most->value / least->value) +
                 " times the shortest and errors count in seconds, so that the short ones hardly count: if "
                 "they are a share of the time say --errors relative",
         .workers = {}});
}

void add_bounds(std::vector<Finding>& findings, LawFit const& best) {
    for (FittedCoefficient const& one : best.coefficients) {
        if (!one.at_bound) { continue; }
        findings.push_back({.kind = "at_bound",
                            .text = std::string{best.law->name} + ": " + one.name + " is at its bound " +
                                    number_words(one.value) +
                                    ": the measurements show none of it, or speak for the other side",
                            .workers = {}});
    }
}

/// A curve that leaves the values that can be.
void add_below_zero(std::vector<Finding>& findings, ScalingReport const& report) {
    for (ScalingPrediction const& row : report.predictions) {
        if (row.value > 0.0) { continue; }
        findings.push_back({.kind = "below_zero",
                            .text = std::string{report.fits[report.best].law->name} + " is not above zero at " +
                                    whole(row.workers) + " workers: the law does not hold that far",
                            .workers = row.workers});
        return;
    }
}

/// Repeats tell how far measurements scatter; a law that misses by much more is wrong somewhere.
void add_lack_of_fit(std::vector<Finding>& findings, LawFit const& best, ScalingData const& data) {
    std::vector<ScalingSample> const means = means_of(data.samples);
    double within = 0.0, total = 0.0;
    for (ScalingSample const& sample : data.samples) {
        auto const mean = std::ranges::find(means, sample.workers, &ScalingSample::workers);
        within += sample.weight * std::pow(sample.value - mean->value, 2.0);
        total += sample.weight;
    }
    within *= static_cast<double>(data.samples.size()) / total;
    bool const reduced = best.degrees_of_freedom + best.fitted != static_cast<int>(data.samples.size());
    if (reduced) { return; } // medians: what they miss by holds none of the scatter
    int const repeats = static_cast<int>(data.samples.size() - means.size());
    int const spare = static_cast<int>(means.size()) - best.fitted;
    if (repeats < 2 || spare < 1 || !(within > 0.0)) { return; }
    double const scatter = std::sqrt(within / repeats), lack = std::sqrt(std::max(0.0, best.rss - within) / spare);
    constexpr double much = 3.0;
    if (lack > much * scatter) {
        findings.push_back({.kind = "lack_of_fit",
                            .text = std::string{best.law->name} + " misses the means by " +
                                    number_words(lack / scatter) +
                                    " times the scatter of repeats: no law here describes these measurements, and the "
                                    "bands do not know that",
                            .workers = {}});
    }
}

} // namespace

std::string asks_scaling(ScalingData const& data) {
    std::vector<ScalingSample> const means = means_of(data.samples);
    if (data.measured != Measured::seconds || data.scaling != Scaling::unsaid || means.size() < 2) { return ""; }
    auto const [least, most] = std::ranges::minmax_element(means, {}, &ScalingSample::value);
    ScalingSample const first = means.front(), last = means.back();
    constexpr double hardly = 1.5, gain = 1.25, doubling = 2.0;
    bool const rises =
        means.size() > 2 && std::ranges::is_sorted(means, {}, &ScalingSample::value) && last.value > first.value;
    bool const level = last.workers >= doubling * first.workers && most->value < hardly * least->value &&
                       first.value < gain * least->value;
    if (!rises && !level) { return ""; }
    return std::string{level ? "the times hardly change" : "every time is longer than the one with fewer workers"} +
           ": if the work grows with the workers say --scaling weak, if it stays the same --scaling strong" +
           (level ? "" : ", if these are times of synchronisation --quantity sync");
}

KarpFlatt karp_flatt(ScalingData const& data) {
    KarpFlatt result{.baseline = base_workers(data), .points = fractions_of(data), .trend = {}, .verdict = {}};
    laws::FractionTrend const trend = trend_of(result.points);
    bool const known = trend != laws::FractionTrend::unknown;
    result.trend = known ? laws::name_of(trend) : "unclear";
    result.verdict = verdict_words(trend, result.points);
    return result;
}

std::vector<Finding> findings_of(ScalingReport const& report, ScalingData const& data, FitQuestion const& question) {
    std::vector<Finding> findings;
    LawFit const& best = report.fits[report.best];
    if (data.measured != Measured::sync && data.measured != Measured::value) { add_superlinear(findings, data); }
    add_withheld(findings, report);
    add_bounds(findings, best);
    add_below_zero(findings, report);
    if (!question.relative_errors) {
        add_lack_of_fit(findings, best, data);
        add_unequal_times(findings, data);
    }
    return findings;
}

} // namespace headroom::fit
