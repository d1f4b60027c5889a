#include "scaling_choice.hpp"

#include "scaling_statistics.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {
namespace {

constexpr double acceptable = 4.0;    ///< AICc above the least, from which a law has considerably less support
constexpr double equal_errors = 1e-6; ///< predictions that close are the same

bool predicts_better(LawFit const& a, LawFit const& b) {
    double const worst = 1e300;
    double const error_a = a.leave_last_out_error.value_or(worst), error_b = b.leave_last_out_error.value_or(worst);
    if (std::abs(error_a - error_b) > equal_errors) { return error_a < error_b; }
    return a.fitted < b.fitted;
}

/// AICc with one spare degree of freedom is all correction: such laws are judged by their prediction.
bool judged(LawFit const& fit) {
    int const samples = fit.degrees_of_freedom + fit.fitted;
    return fit.aicc && samples - (fit.counted + 1) - 1 >= 2;
}

bool predicts_far_better(LawFit const& a, LawFit const& b) {
    if (!a.leave_last_out_error || !b.leave_last_out_error) { return false; }
    return *a.leave_last_out_error < 0.5 * *b.leave_last_out_error - equal_errors;
}

/// Laws of a problem that grows, where nobody stated that it does.
bool needs_growth(LawFit const& fit, ScalingData const& data) {
    return data.scaling == Scaling::unsaid && !fit.law->applies(data.measured, Scaling::strong);
}

/// A law whose X(1) is a measurement is listed with the one that fits it, and does not compete.
bool stands_beside(LawFit const& fit, std::vector<LawFit> const& fits) {
    return fit.law->fixed_scale && fits.size() > 1;
}

std::string prediction_words(LawFit const& fit, double last_workers) {
    if (!fit.leave_last_out_error) { return "it is the only one"; }
    return "it predicts the measurements at " + number_words(last_workers, "%.0f") +
           " workers best from the others: " + number_words(100.0 * *fit.leave_last_out_error, "%.3g") + " % off";
}

Choice of_few(std::vector<LawFit> const& fits, std::size_t best, double last_workers) {
    return {best,
            "too few measurements for the AICc of any law; of all, " + prediction_words(fits[best], last_workers)};
}

std::vector<ScalingLaw const*> asked_laws(ScalingData const& data, FitQuestion const& question) {
    std::vector<ScalingLaw const*> asked;
    for (ScalingLaw const& law : scaling_laws()) {
        bool const named = std::ranges::find(question.laws, law.name) != question.laws.end();
        if (question.laws.empty() ? law.applies(data.measured, data.scaling) : named) { asked.push_back(&law); }
    }
    return asked;
}

void check(ScalingData const& data) {
    for (ScalingSample const& sample : data.samples) {
        bool const usable = sample.workers >= 1.0 && sample.value > 0.0 && sample.weight > 0.0 &&
                            std::isfinite(sample.workers + sample.value + sample.weight);
        if (!usable) { throw ContractError{"a sample that is not above zero"}; }
    }
}

[[noreturn]] void too_few(ScalingReport const& report, std::size_t counts) {
    std::string why = "no law can be fitted", law = "";
    if (!report.left_out.empty()) {
        law = report.left_out.front().law;
        why = report.left_out.front().why;
    }
    too_little("--fit", std::to_string(counts) + " worker count" + (counts == 1 ? "" : "s"),
               law.empty() ? why : law + ": " + why,
               why == no_fit_words ? "values of such different size follow no law; look for a typing error"
                                   : "measure at more worker counts; repeats of one count do not help here");
}

/// The counts that are asked, else the measured ones and two doublings beyond; none outside of the measured where that is withheld.
std::vector<double> counts_to_predict(LawFit const& best, std::span<ScalingSample const> samples,
                                      FitQuestion const& question) {
    double const first = samples.front().workers, last = samples.back().workers;
    std::vector<double> counts = question.predict;
    if (counts.empty()) {
        for (ScalingSample const& mean : means_of(samples)) { counts.push_back(mean.workers); }
        counts.insert(counts.end(), {2.0 * last, 4.0 * last});
    }
    if (best.withheld != Withheld::nothing) {
        std::erase_if(counts, [&](double k) { return k < first || k > last; });
    }
    return counts;
}

} // namespace

Choice choose(std::vector<LawFit> const& fits, ScalingData const& data, double last_workers) {
    std::optional<double> least;
    for (LawFit const& fit : fits) {
        if (judged(fit) && !stands_beside(fit, fits)) { least = std::min(least.value_or(*fit.aicc), *fit.aicc); }
    }
    auto const supported = [&](LawFit const& fit) { return judged(fit) && *fit.aicc <= *least + acceptable; };
    bool const fixed_problem = std::ranges::any_of(fits, [&](LawFit const& fit) {
        return !stands_beside(fit, fits) && supported(fit) && !needs_growth(fit, data);
    });
    std::optional<std::size_t> best, unjudged;
    std::string list;
    for (std::size_t i = 0; i < fits.size(); ++i) {
        if (stands_beside(fits[i], fits)) { continue; }
        if (!judged(fits[i])) {
            bool const may = !needs_growth(fits[i], data);
            if (may && (!unjudged || predicts_better(fits[i], fits[*unjudged]))) { unjudged = i; }
        } else if (supported(fits[i]) && !(fixed_problem && needs_growth(fits[i], data))) {
            list +=
                (list.empty() ? "" : ", ") + std::string{fits[i].law->name} + " " + number_words(*fits[i].aicc, "%.4g");
            if (!best || predicts_better(fits[i], fits[*best])) { best = i; }
        }
    }
    if (fits.size() == 1) { return {0, "it is the only law that was fitted"}; }
    std::string const name = best ? fits[*best].law->name : "";
    if (!best) { return of_few(fits, unjudged.value_or(0), last_workers); }
    if (unjudged && predicts_far_better(fits[*unjudged], fits[*best])) {
        return {*unjudged, "too few measurements for its AICc, but " + prediction_words(fits[*unjudged], last_workers) +
                               ", less than half the error of " + name};
    }
    if (list.find(',') == std::string::npos) {
        return {*best,
                "its AICc, " + number_words(*fits[*best].aicc, "%.4g") +
                    ", is the least of laws with enough measurements for one, and no other of these is within 4 of it"};
    }
    return {*best, "of the laws whose AICc is within 4 of the least (" + list + "), " +
                       prediction_words(fits[*best], last_workers)};
}

namespace {

/// The band of the curve so far out that nothing of K is left in it.
void bound_ceiling(ScalingReport& report, ScalingData const& data, FitQuestion const& question, double last) {
    constexpr double far = 1e9, endless = 1e6; // times the largest count; times the ceiling
    LawFit const& best = report.fits[report.best];
    if (!best.law->saturates || !best.ceiling_value) { return; }
    double const workers = far * last, value = *best.ceiling_value;
    ScalingPrediction const at = predict(best, data, question, std::span{&workers, 1}).front();
    if (at.curve_low && *at.curve_low > value / endless) { report.ceiling_low = at.curve_low; }
    if (at.curve_high && *at.curve_high < value * endless) { report.ceiling_high = at.curve_high; }
}

} // namespace

ScalingReport fit_scaling(ScalingData const& data, FitQuestion const& question) {
    check(data);
    std::vector<ScalingSample> const samples = prepared_samples(data, question);
    ScalingReport report;
    for (ScalingLaw const* law : asked_laws(data, question)) {
        if (auto const why = why_not(*law, samples, question)) {
            report.left_out.push_back({law->name, *why});
        } else if (auto fit = fit_prepared(*law, data, samples, question)) {
            report.fits.push_back(*std::move(fit));
        } else {
            report.left_out.push_back({law->name, std::string{no_fit_words}});
        }
    }
    if (report.fits.empty()) { too_few(report, means_of(samples).size()); }
    double const last = samples.back().workers;
    Choice const choice = choose(report.fits, data, last);
    report.best = choice.best;
    report.chosen_because = choice.because;
    LawFit const& best = report.fits[report.best];
    std::vector<double> const counts = counts_to_predict(best, samples, question);
    report.predictions = predict(best, data, question, counts);
    bound_ceiling(report, data, question, last);
    report.next_measurement = next_measurement(best, data, question, counts.empty() ? last : std::ranges::max(counts));
    if (of_steps(data.measured) && means_of(samples).size() > 1) {
        report.karp_flatt = karp_flatt(data);
        report.held = held_efficiency(best, data, question);
    }
    if (data.measured == Measured::sync) { report.sync = sync_growth(report.fits, data, last); }
    report.findings = findings_of(report, data, question);
    return report;
}

} // namespace headroom::fit
