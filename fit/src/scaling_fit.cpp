#include "scaling_choice.hpp"
#include "scaling_interval.hpp"
#include "scaling_normal_form.hpp"
#include "scaling_statistics.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {
namespace {

/// An error as a share of the mean at its count.
void weigh_relatively(std::vector<ScalingSample>& samples) {
    std::vector<ScalingSample> const means = means_of(samples);
    for (ScalingSample& sample : samples) {
        auto const mean = std::ranges::lower_bound(means, sample.workers, {}, &ScalingSample::workers);
        sample.weight /= mean->value * mean->value;
    }
}

/// In rising order, so that the order of rows does not matter, with weights of mean 1.
std::vector<ScalingSample> prepared(ScalingData const& data, FitQuestion const& question) {
    std::vector<ScalingSample> samples = question.centre == Centre::median ? medians_of(data.samples) : data.samples;
    if (question.relative_errors) { weigh_relatively(samples); }
    std::ranges::sort(samples, [](ScalingSample const& a, ScalingSample const& b) {
        if (a.workers != b.workers) { return a.workers < b.workers; }
        return a.value != b.value ? a.value < b.value : a.weight < b.weight;
    });
    double sum = 0.0;
    for (ScalingSample const& sample : samples) { sum += sample.weight; }
    for (ScalingSample& sample : samples) { sample.weight *= static_cast<double>(samples.size()) / sum; }
    return samples;
}

std::size_t counts_of(std::span<ScalingSample const> samples) { return means_of(samples).size(); }

bool chooses_term(ScalingLaw const& law) { return law.gives == Gives::value; }

bool scale_is_given(ScalingLaw const& law, FitQuestion const& question) {
    return law.gives == Gives::rate && (law.fixed_scale || question.normalise);
}

/// Coefficients that are not fitted, and their values: gamma where it is X(1) as measured, the factor of a term that is
/// not there.
struct Given {
    Mask fixed{};
    Coefficients at{};
};

Given given_of(Curve const& curve, std::span<ScalingSample const> samples, FitQuestion const& question) {
    Given given;
    ScalingLaw const& law = *curve.law;
    if (scale_is_given(law, question)) {
        ScalingSample const first = means_of(samples).front();
        given.fixed[0] = true;
        given.at[0] = curve.turned() ? curve.work(1.0) / first.value : first.value;
    }
    if (chooses_term(law) && curve.term.constant()) { given.fixed[1] = true; }
    return given;
}

/// A problem that is not solved yet.
Solved unsolved(ScalingLaw const& law, ScalingData const& data, std::vector<ScalingSample> samples,
                FitQuestion const& question) {
    Solved problem{
        .curve = {&law, data.measured, data.scaling, {}}, .samples = std::move(samples), .points = {}, .solution = {}};
    problem.points = means_of(problem.samples);
    auto point = problem.points.begin();
    for (ScalingSample const& sample : problem.samples) {
        while (point->workers < sample.workers) { ++point; }
        problem.within += sample.weight * (sample.value - point->value) * (sample.value - point->value);
        problem.relative += sample.weight * point->value * point->value / static_cast<double>(problem.samples.size());
    }
    if (!question.relative_errors) { problem.relative = 0.0; }
    return problem;
}

/// Fits one law to prepared samples.
Solved solved_of(ScalingLaw const& law, ScalingData const& data, std::vector<ScalingSample> samples,
                 FitQuestion const& question) {
    Solved solved = unsolved(law, data, std::move(samples), question);
    if (chooses_term(law)) { solved.curve.term = choose_normal_form(solved.points, question.negative_exponents).term; }
    Given const given = given_of(solved.curve, solved.samples, question);
    std::vector<Coefficients> starts = solved.curve.starts(solved.points);
    for (Coefficients& start : starts) {
        for (std::size_t j = 0; j < start.size(); ++j) { start[j] = given.fixed[j] ? given.at[j] : start[j]; }
    }
    solved.fixed = given.fixed;
    solved.solution = solve(solved.curve, solved.points, starts, given.fixed);
    return solved;
}

/// Marks what sits at a bound and takes the errors' measure.
void settle(Solved& solved) {
    int fitted = 0;
    for (std::size_t j = 0; j < solved.curve.law->coefficients.size(); ++j) {
        LawCoefficient const& bounds = solved.curve.law->coefficients[j];
        double const value = solved.solution.c[j];
        solved.solution.at_bound[j] = !solved.fixed[j] && (value == bounds.low || value == bounds.high);
        fitted += solved.fixed[j] ? 0 : 1;
    }
    solved.degrees_of_freedom = static_cast<int>(solved.samples.size()) - fitted;
    solved.variance = (solved.solution.rss + solved.within) / std::max(1, solved.degrees_of_freedom);
}

/// Intervals of every coefficient; a better minimum found on the way ends in `better`.
std::vector<Edges> intervals_of(Solved const& solved, FitQuestion const& question, Solution& better) {
    std::vector<Edges> edges(solved.curve.law->coefficients.size());
    double const t = student_t_quantile(0.5 * (1.0 + question.coverage), solved.degrees_of_freedom);
    auto const errors = standard_errors(solved);
    bool const draws = question.intervals == Intervals::bootstrap || question.intervals == Intervals::bootstrap_pairs;
    std::vector<Coefficients> drawn;
    if (draws && solved.noisy()) {
        drawn = resampled(solved, question.intervals == Intervals::bootstrap_pairs, question.resamples, question.seed);
    }
    for (int const j : solved.columns(true)) {
        auto const at = static_cast<std::size_t>(j);
        double const value = solved.solution.c[at];
        if (solved.degrees_of_freedom < 1) { continue; }
        if (!solved.noisy()) {
            edges[at] = {value, value};
        } else if (!drawn.empty()) {
            std::vector<double> values;
            for (Coefficients const& c : drawn) { values.push_back(c[at]); }
            edges[at] = percentile_edges(std::move(values), question.coverage);
        } else if (question.intervals == Intervals::asymptotic) {
            if (errors[at]) { edges[at] = {value - t * *errors[at], value + t * *errors[at]}; }
        } else if (question.intervals == Intervals::profile) {
            edges[at] = profile_edges(solved, j, t, better);
        }
    }
    return edges;
}

/// Solves, settles, and starts again where a profile found something better than all the starts did.
std::vector<Edges> settled_intervals(Solved& solved, FitQuestion const& question) {
    for (int round = 0;; ++round) {
        settle(solved);
        Solution better;
        std::vector<Edges> edges = intervals_of(solved, question, better);
        bool const worth = better.found && better.rss < solved.solution.rss * (1.0 - 1e-6) && round < 3;
        if (!worth) { return edges; }
        Solution const again = solve(solved.curve, solved.points, std::span{&better.c, 1}, solved.fixed);
        if (!again.found) { return edges; }
        solved.solution = again;
    }
}

void write_coefficients(LawFit& fit, Solved const& solved, std::vector<Edges> const& edges) {
    auto const errors = standard_errors(solved);
    for (std::size_t j = 0; j < solved.curve.law->coefficients.size(); ++j) {
        if (chooses_term(*fit.law) && solved.fixed[j]) { continue; } // no term
        fit.coefficients.push_back({.name = solved.curve.law->coefficients[j].name,
                                    .value = solved.solution.c[j],
                                    .low = edges[j].low,
                                    .high = edges[j].high,
                                    .standard_error = errors[j],
                                    .at_bound = solved.solution.at_bound[j],
                                    .fixed = solved.fixed[j]});
    }
}

/// Mean relative error at the largest count, predicted from the others.
std::optional<double> leave_last_out(ScalingLaw const& law, ScalingData const& data,
                                     std::span<ScalingSample const> samples, FitQuestion const& question) {
    double const last = samples.back().workers;
    std::vector<ScalingSample> others;
    for (ScalingSample const& sample : samples) {
        if (sample.workers < last) { others.push_back(sample); }
    }
    if (others.empty() || counts_of(others) < law.coefficients.size() - (scale_is_given(law, question) ? 1U : 0U)) {
        return std::nullopt;
    }
    Solved const solved = solved_of(law, data, std::move(others), question);
    if (!solved.solution.found) { return std::nullopt; }
    double sum = 0.0, weights = 0.0;
    Coefficients g{};
    double const predicted = solved.curve.at(last, solved.solution.c, g);
    for (ScalingSample const& sample : samples) {
        if (sample.workers < last) { continue; }
        sum += sample.weight * std::abs(predicted - sample.value) / sample.value;
        weights += sample.weight;
    }
    return std::isfinite(sum) ? std::optional{sum / weights} : std::nullopt;
}

void write_figures(LawFit& fit, Solved const& solved) {
    int const chosen = chooses_term(*fit.law) && !fit.term.constant() ? 2 : 0; // both exponents were fitted too
    fit.fitted = static_cast<int>(solved.samples.size()) - solved.degrees_of_freedom;
    // X(1) is a measurement that the curve was put through: an estimate, although no refit moves it
    fit.counted = fit.fitted + chosen + (fit.law->gives == Gives::rate && solved.fixed[0] ? 1 : 0);
    fit.rss = solved.solution.rss + solved.within;
    fit.degrees_of_freedom = solved.degrees_of_freedom;
    if (fit.degrees_of_freedom > 0) { fit.residual_standard_error = std::sqrt(solved.variance); }
    fit.adjusted_r2 = adjusted_r2_of(solved.samples, fit.rss, fit.degrees_of_freedom);
    fit.aicc = aicc_of(fit.rss, mean_square_of(solved.samples), static_cast<int>(solved.samples.size()), fit.counted);
    std::vector<double> actual, predicted;
    Coefficients g{};
    for (ScalingSample const& sample : solved.samples) {
        actual.push_back(sample.value);
        predicted.push_back(solved.curve.at(sample.workers, fit.c, g));
    }
    fit.smape = smape_of(actual, predicted);
}

std::optional<double> finite(double value) { return std::isfinite(value) ? std::optional{value} : std::nullopt; }

/// Whether more measurements lie outside of their interval than chance explains (two standard deviations), and twice as many as its
/// coverage allows.
bool leaves_out_measurements(Solved const& solved, FitQuestion const& question) {
    if (solved.degrees_of_freedom < 1) { return false; }
    auto const n = static_cast<double>(solved.samples.size());
    double const noise =
        student_t_quantile(0.5 * (1.0 + question.coverage), solved.degrees_of_freedom) * std::sqrt(solved.variance);
    Coefficients g{};
    double outside = 0.0;
    for (ScalingSample const& sample : solved.samples) {
        double const error = sample.value - solved.curve.at(sample.workers, solved.solution.c, g);
        double const rounding = 1e-9 * std::abs(sample.value); // of a file without noise
        outside += std::sqrt(sample.weight) * std::abs(error) > noise + rounding ? 1.0 : 0.0;
    }
    double const share = 1.0 - question.coverage;
    return outside > n * share + std::max(n * share, 2.0 * std::sqrt(n * share * question.coverage));
}

/// Whether a mean lies beyond the end of the law by more than measurements scatter.
bool beyond_ceiling(LawFit const& fit, Solved const& solved, FitQuestion const& question) {
    if (!fit.ceiling_value || solved.degrees_of_freedom < 1) { return false; }
    double const t = student_t_quantile(0.5 * (1.0 + question.coverage), solved.degrees_of_freedom);
    return std::ranges::any_of(solved.points, [&](ScalingSample const& point) {
        double const above =
            is_rate(solved.curve.measured) ? point.value - *fit.ceiling_value : *fit.ceiling_value - point.value;
        return above > t * std::sqrt(solved.variance / solved.weight_of(point.value));
    });
}

/// Peak, ceiling and limit, over the workers that speedups are over.
void write_ceiling(LawFit& fit, Solved const& solved, ScalingData const& data) {
    if (!of_steps(data.measured)) { return; }
    Coefficients g{};
    double const base = base_workers(data);
    auto const rate = [&](double k) { return rate_of(data, k, solved.curve.at(k, fit.c, g)); };
    double const unit = data.measured == Measured::speedup ? 1.0 : rate(base);
    auto const value_of = [&](std::optional<double> speedup) {
        if (!speedup || data.scaling == Scaling::weak) { return std::optional<double>{}; }
        return finite(is_rate(data.measured) ? unit * *speedup : 1.0 / (unit * *speedup));
    };
    if (auto const peak = fit.law->peak(fit.c)) { fit.peak_workers = finite(std::max(1.0, *peak)); }
    auto const limit = fit.law->limit(fit.c); // over one worker
    if (limit) { fit.limit = finite(*limit * rate(1.0) / unit); }
    // what falls from the first count on is highest there; a curve that leaves the values that can be has no ceiling
    auto const highest = fit.peak_workers ? finite(rate(*fit.peak_workers) / unit) : fit.limit;
    if (highest && *highest > 0.0 && unit > 0.0) { fit.ceiling = std::max(rate(base) / unit, *highest); }
    fit.ceiling_value = value_of(fit.ceiling);
    fit.limit_value = value_of(fit.limit);
}

void withhold(LawFit& fit, Withheld reason, std::string because) {
    fit.withheld = reason;
    fit.withheld_because = std::move(because);
    fit.peak_workers = fit.ceiling = fit.ceiling_value = fit.limit = fit.limit_value = std::nullopt;
}

void judge_reach(LawFit& fit, Solved const& solved, ScalingData const& data, FitQuestion const& question) {
    std::string const asks = asks_scaling(data);
    if (!data.mixed.empty()) {
        withhold(fit, Withheld::series, data.mixed);
    } else if (fit.smape >= most_smape) {
        withhold(fit, Withheld::smape, "it misses by a SMAPE of " + number_words(fit.smape) + " %");
    } else if (leaves_out_measurements(solved, question)) {
        std::string const coverage = number_words(100.0 * question.coverage);
        withhold(fit, Withheld::interval, "its " + coverage + " % interval leaves out too many measurements");
    } else if (beyond_ceiling(fit, solved, question)) {
        withhold(fit, Withheld::ceiling, "measurements lie beyond its ceiling");
    } else if (!asks.empty()) {
        withhold(fit, Withheld::scaling, asks);
    }
}

std::string normalisation_of(Solved const& solved) {
    ScalingLaw const& law = *solved.curve.law;
    if (law.gives != Gives::rate) { return "none: the coefficients are in the units of what was measured"; }
    if (solved.fixed[0]) { return "gamma fixed to X(1) as measured"; }
    return "gamma fitted: X(1) as the curve has it";
}

} // namespace

std::optional<LawFit> fit_prepared(ScalingLaw const& law, ScalingData const& data,
                                   std::vector<ScalingSample> const& samples, FitQuestion const& question) {
    Solved solved = solved_of(law, data, samples, question);
    if (!solved.solution.found) { return std::nullopt; }
    std::vector<Edges> const edges = settled_intervals(solved, question);
    LawFit fit{.law = &law, .formula = law.formula, .term = solved.curve.term, .c = solved.solution.c};
    if (chooses_term(law)) {
        fit.formula = normal_form_words(fit.term);
        fit.cross_validation = choose_normal_form(means_of(samples), question.negative_exponents).validation;
    }
    write_coefficients(fit, solved, edges);
    write_figures(fit, solved);
    fit.leave_last_out_error = leave_last_out(law, data, samples, question);
    write_ceiling(fit, solved, data);
    judge_reach(fit, solved, data, question);
    fit.normalisation = normalisation_of(solved);
    return fit;
}

std::optional<std::string> why_not(ScalingLaw const& law, std::span<ScalingSample const> samples,
                                   FitQuestion const& question) {
    std::size_t const counts = counts_of(samples);
    bool const scaled = scale_is_given(law, question);
    if (scaled && (samples.empty() || samples.front().workers != 1.0)) { return "it needs a row of 1 worker"; }
    std::size_t const needed = chooses_term(law)
                                   ? fewest_for_normal_form
                                   : std::max<std::size_t>(2, law.coefficients.size() - (scaled ? 1U : 0U) + 1U);
    if (counts >= needed) { return std::nullopt; }
    return "it needs " + std::to_string(needed) + " worker counts, there are " + std::to_string(counts);
}

LawFit fit_law(ScalingLaw const& law, ScalingData const& data, FitQuestion const& question) {
    std::vector<ScalingSample> const samples = prepared(data, question);
    if (auto const why = why_not(law, samples, question)) { too_little(law.name, "too few measurements", *why); }
    std::optional<LawFit> fit = fit_prepared(law, data, samples, question);
    if (!fit) { too_little(law.name, "no fit", std::string{no_fit_words}); }
    return *std::move(fit);
}

std::vector<ScalingSample> prepared_samples(ScalingData const& data, FitQuestion const& question) {
    return prepared(data, question);
}

Solved resolved(LawFit const& fit, ScalingData const& data, FitQuestion const& question) {
    Solved solved = unsolved(*fit.law, data, prepared(data, question), question);
    solved.curve.term = fit.term;
    solved.solution = {
        .c = fit.c, .rss = residual_sum(solved.curve, solved.points, fit.c), .at_bound = {}, .found = true};
    solved.fixed = given_of(solved.curve, solved.samples, question).fixed;
    settle(solved);
    return solved;
}

double curve_at(LawFit const& fit, ScalingData const& data, double workers, Coefficients* gradient) {
    Coefficients unused{};
    Curve const curve{fit.law, data.measured, data.scaling, fit.term};
    return curve.at(workers, fit.c, gradient != nullptr ? *gradient : unused);
}

} // namespace headroom::fit
