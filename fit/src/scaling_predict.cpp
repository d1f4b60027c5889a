#include "scaling_choice.hpp"
#include "scaling_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace headroom::fit {
namespace {

std::optional<double> finite(double value) { return std::isfinite(value) ? std::optional{value} : std::nullopt; }

/// A measurement scatters around the curve, and the curve is not known: both, as independent errors. No measurement is
/// below zero, unless the curve itself may be.
Edges with_noise(Edges curve, double value, double noise) {
    auto const side = [&](std::optional<double> edge, double direction) -> std::optional<double> {
        if (!edge) { return std::nullopt; }
        return std::max(std::min(0.0, *edge), value + direction * std::hypot(*edge - value, noise));
    };
    return {side(curve.low, -1.0), side(curve.high, 1.0)};
}

struct Bands {
    Edges curve, measurement;
};

Bands drawn_bands(Solved const& solved, FitQuestion const& question, std::vector<Coefficients> const& drawn,
                  double workers) {
    std::vector<double> const residuals = drawn_residuals(solved);
    SeededRandom random{question.seed + 1};
    std::vector<double> curve, measured;
    Coefficients g{};
    for (Coefficients const& c : drawn) {
        curve.push_back(solved.curve.at(workers, c, g));
        double const error = residuals[random.below(residuals.size())];
        measured.push_back(curve.back() + error / std::sqrt(solved.weight_of(curve.back())));
    }
    return {percentile_edges(std::move(curve), question.coverage),
            percentile_edges(std::move(measured), question.coverage)};
}

/// Standard error of the curve, by the coefficients away from their bounds.
std::optional<double> curve_error(Solved const& solved, double workers) {
    std::vector<int> const columns = solved.columns(false);
    auto const inverse = solved.inverse_information(columns);
    auto const slope = solved.slope(workers, columns);
    return inverse ? std::optional{std::sqrt(solved.variance * dot(slope, *inverse, slope))} : std::nullopt;
}

Bands bands_at(Solved const& solved, FitQuestion const& question, std::vector<Coefficients> const& drawn,
               double workers, double value) {
    if (solved.degrees_of_freedom < 1) { return {}; }
    if (!solved.noisy()) { return {{value, value}, {value, value}}; }
    if (!drawn.empty()) { return drawn_bands(solved, question, drawn, workers); }
    double const t = student_t_quantile(0.5 * (1.0 + question.coverage), solved.degrees_of_freedom);
    Edges curve;
    if (question.intervals == Intervals::asymptotic) {
        if (auto const error = curve_error(solved, workers)) { curve = {value - t * *error, value + t * *error}; }
    } else {
        curve = curve_edges(solved, workers, t);
    }
    return {curve, with_noise(curve, value, t * std::sqrt(solved.variance / solved.weight_of(value)))};
}

/// Counts that a next measurement could be at: those measured, powers of two and counts between neighbours, and one
/// doubling beyond.
std::vector<double> candidates_of(std::span<ScalingSample const> means, double target) {
    std::set<double> counts;
    double const most = 2.0 * means.back().workers;
    for (std::size_t i = 0; i < means.size(); ++i) {
        counts.insert(means[i].workers);
        if (i > 0) { counts.insert(std::round(std::sqrt(means[i - 1].workers * means[i].workers))); }
    }
    for (double k = 1.0; k <= most; k *= 2.0) {
        if (k >= means.front().workers) { counts.insert(k); }
    }
    counts.insert(most);
    std::erase_if(counts, [&](double k) { return k > std::max(target, means.back().workers); });
    return {counts.begin(), counts.end()};
}

/// The share of the variance g' M^-1 g of the curve at `target` that one more measurement leaves, by the rank-one update
/// of the inverse.
double variance_left(Solved const& solved, Matrix const& inverse, double target, double measured) {
    std::vector<int> const columns = solved.columns(true);
    auto const at = solved.slope(target, columns), more = solved.slope(measured, columns);
    Coefficients g{};
    double const weight = solved.weight_of(solved.curve.at(measured, solved.solution.c, g));
    double const now = dot(at, inverse, at), shared = dot(at, inverse, more);
    return now > 0.0 ? 1.0 - weight * shared * shared / (1.0 + weight * dot(more, inverse, more)) / now : 1.0;
}

/// Speedups of a curve over `base_workers`.
struct CurveSpeedups {
    CurveSpeedups(LawFit const& law, ScalingData const& measurements)
        : fit{law},
          data{measurements},
          means{means_of(data.samples)},
          base{base_workers(data)},
          unit{data.measured == Measured::speedup ? 1.0 : rate_of(data, base, curve_at(fit, data, base))} {}

    LawFit const& fit;
    ScalingData const& data;
    std::vector<ScalingSample> means;
    double base, unit;

    [[nodiscard]] std::optional<double> at(double workers) const {
        double const speedup = rate_of(data, workers, curve_at(fit, data, workers)) / unit;
        return speedup > 0.0 ? finite(speedup) : std::nullopt;
    }
    [[nodiscard]] double ideal(double workers) const {
        ScalingSample const& first = means.front();
        if (data.measured == Measured::speedup) { return workers / base; }
        if (is_rate(data.measured)) { return first.value * workers / first.workers; }
        return data.scaling == Scaling::weak ? first.value : first.value * first.workers / workers;
    }
};

void add_speedup(ScalingPrediction& row, CurveSpeedups const& speedups) {
    double const k = row.workers;
    row.speedup = speedups.at(k);
    if (row.speedup) { row.efficiency = *row.speedup * speedups.base / k; }
    auto const measured = std::ranges::lower_bound(speedups.means, k, {}, &ScalingSample::workers);
    bool const was = measured != speedups.means.end() && measured->workers == k;
    double const value = was ? measured->value : row.value;
    row.ideal = speedups.ideal(k);
    row.ratio = finite(value / *row.ideal);
    if (speedups.data.measured == Measured::seconds) { row.worker_hours = finite(k * value / 3600.0); }
}

std::string reason(double workers, double target, double now, double then, std::span<ScalingSample const> means) {
    auto const whole = [](double count) { return std::to_string(std::llround(count)); };
    bool const again = std::ranges::any_of(means, [&](ScalingSample const& m) { return m.workers == workers; });
    return std::string{again ? "once more at " : "at "} + whole(workers) + (workers == 1.0 ? " worker" : " workers") +
           ": the curve's band at " + whole(target) + " narrows from +-" + number_words(100.0 * now) + " % to +-" +
           number_words(100.0 * then) + " %, more than a measurement anywhere else would do";
}

} // namespace

std::vector<ScalingPrediction> predict(LawFit const& fit, ScalingData const& data, FitQuestion const& question,
                                       std::span<double const> workers) {
    Solved const solved = resolved(fit, data, question);
    std::vector<Coefficients> drawn;
    bool const pairs = question.intervals == Intervals::bootstrap_pairs;
    if ((pairs || question.intervals == Intervals::bootstrap) && solved.noisy()) {
        drawn = resampled(solved, pairs, question.resamples, question.seed);
    }
    double const last = solved.samples.back().workers;
    std::optional<CurveSpeedups> speedups;
    if (of_steps(data.measured)) { speedups.emplace(fit, data); }
    std::vector<ScalingPrediction> predictions;
    for (double const k : workers) {
        ScalingPrediction row{.workers = k, .value = curve_at(fit, data, k)};
        Bands const bands = bands_at(solved, question, drawn, k, row.value);
        row.curve_low = bands.curve.low;
        row.curve_high = bands.curve.high;
        row.low = bands.measurement.low;
        row.high = bands.measurement.high;
        row.beyond = k > last;
        if (speedups) { add_speedup(row, *speedups); }
        predictions.push_back(row);
    }
    return predictions;
}

std::optional<HeldEfficiency> held_efficiency(LawFit const& fit, ScalingData const& data, FitQuestion const& question) {
    if (!question.efficiency) { return std::nullopt; }
    HeldEfficiency held{.efficiency = *question.efficiency, .measured = fit.withheld != Withheld::nothing};
    constexpr double rounding = 1e-12, furthest = 1024.0; // the latter in largest measured counts
    double const base = base_workers(data), least = held.efficiency * (1.0 - rounding);
    std::vector<ScalingSample> const speedups = measured_speedups(data);
    auto const failing = std::ranges::find_if(
        speedups, [&](ScalingSample const& mean) { return mean.value * base / mean.workers < least; });
    if (failing == speedups.begin()) { return held; }
    double low = (failing - 1)->workers;
    if (held.measured) {
        held.workers = low;
        return held;
    }
    // between and beyond the measurements the curve, over the same ideal as they are
    CurveSpeedups const curve{fit, data};
    bool const rate = is_rate(data.measured);
    auto const holds = [&](double k) {
        double const value = curve_at(fit, data, k), ideal = curve.ideal(k);
        return value > 0.0 && (rate ? value / ideal : ideal / value) >= least;
    };
    double high = failing == speedups.end() ? 2.0 * low : failing->workers;
    for (; failing == speedups.end() && holds(high); high *= 2.0) {
        low = high;
        held.endless = high > furthest * speedups.back().workers;
        if (held.endless) { return held; }
    }
    while (high - low > 1.0) {
        double const middle = std::floor(0.5 * (low + high));
        (holds(middle) ? low : high) = middle;
    }
    held.workers = low;
    return held;
}

std::optional<NextMeasurement> next_measurement(LawFit const& fit, ScalingData const& data, FitQuestion const& question,
                                                double target) {
    Solved const solved = resolved(fit, data, question);
    auto const inverse = solved.inverse_information(solved.columns(true));
    if (!inverse || !solved.noisy()) { return std::nullopt; }
    ScalingPrediction const now = predict(fit, data, question, std::span{&target, 1}).front();
    if (!now.curve_low || !now.curve_high || !(now.value > 0.0)) { return std::nullopt; }
    std::vector<ScalingSample> const means = means_of(solved.samples);
    double best = means.front().workers, least = 2.0;
    for (double const candidate : candidates_of(means, target)) {
        double const left = variance_left(solved, *inverse, target, candidate);
        if (left < least * (1.0 - 1e-9)) {
            least = left;
            best = candidate;
        }
    }
    double const band = (*now.curve_high - *now.curve_low) / (2.0 * now.value);
    double const share = 0.5 * (1.0 + question.coverage);
    double const narrower = student_t_quantile(share, solved.degrees_of_freedom + 1) /
                            student_t_quantile(share, solved.degrees_of_freedom); // one more degree of freedom
    NextMeasurement next{.workers = best, .target = target, .band_now = band};
    next.band_then = band * narrower * std::sqrt(std::max(0.0, least));
    if (!std::isfinite(next.band_now)) { return std::nullopt; }
    next.why = reason(best, target, next.band_now, next.band_then, means);
    return next;
}

} // namespace headroom::fit
