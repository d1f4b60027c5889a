#include "scaling_choice.hpp"
#include "scaling_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
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

/// g' C g over the coefficients away from their bounds.
std::optional<double> curve_variance(Solved const& solved, double workers) {
    auto const spread = covariance(solved);
    if (!spread) { return std::nullopt; }
    Coefficients g{};
    solved.curve.at(workers, solved.solution.c, g);
    Eigen::VectorXd slope(solved.curve.size());
    for (int j = 0; j < solved.curve.size(); ++j) { slope[j] = g[static_cast<std::size_t>(j)]; }
    return slope.dot(*spread * slope);
}

Bands bands_at(Solved const& solved, FitQuestion const& question, std::vector<Coefficients> const& drawn,
               double workers, double value) {
    if (solved.degrees_of_freedom < 1) { return {}; }
    if (!solved.noisy()) { return {{value, value}, {value, value}}; }
    if (!drawn.empty()) { return drawn_bands(solved, question, drawn, workers); }
    double const t = student_t_quantile(0.5 * (1.0 + question.coverage), solved.degrees_of_freedom);
    Edges curve;
    if (question.intervals == Intervals::asymptotic) {
        if (auto const variance = curve_variance(solved, workers)) {
            double const half = t * std::sqrt(*variance);
            curve = {value - half, value + half};
        }
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

/// g' M^-1 g at `target`, with one more measurement at each candidate by the rank-one update of the inverse.
struct Information {
    Eigen::MatrixXd inverse;
    std::vector<int> columns;
    Solved const* solved;

    [[nodiscard]] Eigen::VectorXd slope(double workers, bool weighted) const {
        Coefficients g{};
        double root = 1.0;
        double const value = solved->curve.at(workers, solved->solution.c, g);
        if (weighted) { root = std::sqrt(solved->weight_of(value)); }
        Eigen::VectorXd result(static_cast<Eigen::Index>(columns.size()));
        for (std::size_t j = 0; j < columns.size(); ++j) {
            result[static_cast<Eigen::Index>(j)] = root * g[static_cast<std::size_t>(columns[j])];
        }
        return result;
    }
    /// The variance that is left at `target`, as a share of what it is now.
    [[nodiscard]] double left(double target, double measured) const {
        Eigen::VectorXd const at = slope(target, false), more = slope(measured, true);
        Eigen::VectorXd const moved = inverse * more;
        double const now = at.dot(inverse * at), shared = at.dot(moved);
        return now > 0.0 ? 1.0 - shared * shared / (1.0 + more.dot(moved)) / now : 1.0;
    }
};

std::string percent_words(double share) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g %%", 100.0 * share);
    return text.data();
}

std::string reason(double workers, double target, double now, double then, std::span<ScalingSample const> means) {
    auto const whole = [](double count) { return std::to_string(std::llround(count)); };
    bool const again = std::ranges::any_of(means, [&](ScalingSample const& m) { return m.workers == workers; });
    return std::string{again ? "once more at " : "at "} + whole(workers) + (workers == 1.0 ? " worker" : " workers") +
           ": the curve's band at " + whole(target) + " narrows from +-" + percent_words(now) + " to +-" +
           percent_words(then) + ", more than a measurement anywhere else would do";
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
    bool const has_speedup = data.measured != Measured::sync && data.measured != Measured::value;
    double const one = curve_at(fit, data, 1.0), last = solved.samples.back().workers;
    std::vector<ScalingPrediction> predictions;
    for (double const k : workers) {
        ScalingPrediction row{.workers = k, .value = curve_at(fit, data, k)};
        Bands const bands = bands_at(solved, question, drawn, k, row.value);
        row.curve_low = bands.curve.low;
        row.curve_high = bands.curve.high;
        row.low = bands.measurement.low;
        row.high = bands.measurement.high;
        row.beyond = k > last;
        double const ratio = is_rate(data.measured) ? row.value / one : solved.curve.work(k) * one / row.value;
        if (has_speedup && ratio > 0.0) { row.speedup = finite(ratio); }
        predictions.push_back(row);
    }
    return predictions;
}

std::optional<NextMeasurement> next_measurement(LawFit const& fit, ScalingData const& data, FitQuestion const& question,
                                                double target) {
    Solved const solved = resolved(fit, data, question);
    std::vector<int> const columns = solved.columns(true);
    auto const inverse = inverse_information(solved.curve, solved.points, fit.c, columns);
    if (!inverse || !solved.noisy()) { return std::nullopt; }
    ScalingPrediction const now = predict(fit, data, question, std::span{&target, 1}).front();
    if (!now.curve_low || !now.curve_high || !(now.value > 0.0)) { return std::nullopt; }
    Information const information{*inverse, columns, &solved};
    std::vector<ScalingSample> const means = means_of(solved.samples);
    double best = means.front().workers, least = 2.0;
    for (double const candidate : candidates_of(means, target)) {
        double const left = information.left(target, candidate);
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
