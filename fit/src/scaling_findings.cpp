#include "scaling_choice.hpp"
#include "scaling_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {
namespace {

std::string whole(double value) { return number_words(value, "%.0f"); }

/// Speedups over the smallest count, from the means.
std::vector<KarpFlattPoint> speedups_of(ScalingData const& data) {
    std::vector<ScalingSample> const means = means_of(data.samples);
    auto const rate = [&](ScalingSample const& mean) {
        if (is_rate(data.measured)) { return mean.value; }
        return (data.scaling == Scaling::weak ? mean.workers : 1.0) / mean.value;
    };
    std::vector<KarpFlattPoint> points;
    for (ScalingSample const& mean : means) {
        double const k = mean.workers / means.front().workers, s = rate(mean) / rate(means.front());
        if (!(k > 1.0)) { continue; }
        points.push_back(
            {.workers = mean.workers, .speedup = s, .serial_fraction = (1.0 / s - 1.0 / k) / (1.0 - 1.0 / k)});
    }
    return points;
}

/// Least squares of e over log2 K: its slope, that slope's standard error, the mean and the first and last of the line.
struct Trend {
    double slope = 0.0, error = 0.0, mean = 0.0, first = 0.0, last = 0.0;
};

Trend trend_of(std::vector<KarpFlattPoint> const& points) {
    auto const n = static_cast<double>(points.size());
    double mean_x = 0.0, xx = 0.0, xy = 0.0, rss = 0.0;
    Trend trend;
    for (KarpFlattPoint const& p : points) {
        mean_x += std::log2(p.workers) / n;
        trend.mean += p.serial_fraction / n;
    }
    for (KarpFlattPoint const& p : points) {
        double const x = std::log2(p.workers) - mean_x;
        xx += x * x;
        xy += x * (p.serial_fraction - trend.mean);
    }
    trend.slope = xx > 0.0 ? xy / xx : 0.0;
    auto const at = [&](KarpFlattPoint const& p) { return trend.mean + trend.slope * (std::log2(p.workers) - mean_x); };
    for (KarpFlattPoint const& p : points) { rss += std::pow(p.serial_fraction - at(p), 2.0); }
    trend.error = n > 2.0 && xx > 0.0 ? std::sqrt(rss / (n - 2.0) / xx) : 0.0;
    trend.first = at(points.front());
    trend.last = at(points.back());
    return trend;
}

void judge(KarpFlatt& result) {
    if (result.points.size() < 3) {
        result.trend = "unclear";
        result.verdict = "fewer than three counts beyond the smallest: whether the fraction rises cannot be told";
        return;
    }
    Trend const trend = trend_of(result.points);
    double const t = student_t_quantile(0.95, static_cast<int>(result.points.size()) - 2);
    double const change = std::abs(trend.last - trend.first);
    constexpr double matters = 0.1; // of the mean: less is flat, however well it is measured
    bool const large = change > matters * std::abs(trend.mean) && change > 1e-4;
    bool const sure = std::abs(trend.slope) > t * trend.error;
    std::string const range = number_words(result.points.front().serial_fraction) + " at " +
                              whole(result.points.front().workers) + " workers, " +
                              number_words(result.points.back().serial_fraction) + " at " +
                              whole(result.points.back().workers);
    bool const below = std::ranges::all_of(result.points, [](auto const& p) { return p.serial_fraction < 0.0; });
    if (below) {
        result.trend = !large ? "flat" : !sure ? "unclear" : trend.slope > 0.0 ? "rising" : "falling";
        result.verdict =
            "it is below zero (" + range + "): faster than the workers alone explain, so no serial part is seen";
    } else if (large && sure && trend.slope > 0.0) {
        result.trend = "rising";
        result.verdict = "it rises with the workers (" + range + "): overhead grows, it is not a serial part alone";
    } else if (large && sure) {
        result.trend = "falling";
        result.verdict = "it falls with the workers (" + range + "): more is gained than a fixed serial part allows";
    } else if (!large) {
        result.trend = "flat";
        result.verdict = "it stays the same (" + range + "): a part that does not divide";
    } else {
        result.trend = "unclear";
        result.verdict = "it scatters too much to say whether it rises (" + range + ")";
    }
}

void add_superlinear(std::vector<Finding>& findings, ScalingData const& data) {
    double const baseline = means_of(data.samples).front().workers;
    for (KarpFlattPoint const& p : speedups_of(data)) {
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

/// Times that rise although the problem was taken to stay the same.
void add_growing_times(std::vector<Finding>& findings, ScalingData const& data) {
    std::vector<ScalingSample> const means = means_of(data.samples);
    bool const rises = means.size() > 2 && means.back().value > means.front().value &&
                       std::ranges::is_sorted(means, {}, &ScalingSample::value);
    if (data.measured == Measured::seconds && data.scaling != Scaling::weak && rises) {
        findings.push_back({.kind = "times_rise",
                            .text = "every time is longer than the one with fewer workers: if the work grows with the "
                                    "workers say --scaling weak, if these are times of synchronisation --quantity sync",
                            .workers = {}});
    }
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

KarpFlatt karp_flatt(ScalingData const& data) {
    KarpFlatt result{
        .baseline = means_of(data.samples).front().workers, .points = speedups_of(data), .trend = {}, .verdict = {}};
    judge(result);
    return result;
}

std::vector<Finding> findings_of(ScalingReport const& report, ScalingData const& data, FitQuestion const& question) {
    std::vector<Finding> findings;
    LawFit const& best = report.fits[report.best];
    if (data.measured != Measured::sync && data.measured != Measured::value) { add_superlinear(findings, data); }
    add_growing_times(findings, data);
    add_bounds(findings, best);
    add_below_zero(findings, report);
    if (!question.relative_errors) {
        add_lack_of_fit(findings, best, data);
        add_unequal_times(findings, data);
    }
    return findings;
}

} // namespace headroom::fit
