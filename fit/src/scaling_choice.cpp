#include "scaling_choice.hpp"

#include "scaling_statistics.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace headroom::fit {
namespace {

constexpr double acceptable = 4.0; ///< AICc above the least, from which a law has considerably less support
constexpr double equal_errors = 1e-6;

std::string number(double value, char const* shape = "%.4g") {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), shape, value);
    return text.data();
}

bool predicts_better(LawFit const& a, LawFit const& b) {
    double const worst = 1e300;
    double const error_a = a.leave_last_out_error.value_or(worst), error_b = b.leave_last_out_error.value_or(worst);
    if (std::abs(error_a - error_b) > equal_errors * std::max(error_a, error_b) + 1e-9) { return error_a < error_b; }
    return a.fitted < b.fitted;
}

/// AICc with one spare degree of freedom is all correction: such laws are judged by their prediction.
bool judged(LawFit const& fit) {
    int const samples = fit.degrees_of_freedom + fit.fitted;
    return fit.aicc && samples - (fit.counted + 1) - 1 >= 2;
}

bool predicts_far_better(LawFit const& a, LawFit const& b) {
    return a.leave_last_out_error && b.leave_last_out_error && *a.leave_last_out_error < 0.5 * *b.leave_last_out_error;
}

/// A law whose X(1) is a measurement stands beside the one that fits it, not against it.
bool stands_beside(LawFit const& fit, std::vector<LawFit> const& fits) {
    return fit.law->fixed_scale && fits.size() > 1;
}

std::string prediction_words(LawFit const& fit, double last_workers) {
    if (!fit.leave_last_out_error) { return "it is the only one"; }
    return "it predicts the measurements at " + number(last_workers, "%.0f") +
           " workers best from the others: " + number(100.0 * *fit.leave_last_out_error, "%.3g") + " % off";
}

LawFit const* fit_named(std::vector<LawFit> const& fits, std::string_view name) {
    auto const found = std::ranges::find(fits, name, [](LawFit const& fit) { return std::string_view{fit.law->name}; });
    return found == fits.end() ? nullptr : &*found;
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
    throw InputError{Fault::insufficient,
                     {.where = "--fit",
                      .problem = std::to_string(counts) + " worker count" + (counts == 1 ? "" : "s"),
                      .why = law.empty() ? why : law + ": " + why,
                      .hint = "measure at more worker counts; repeats of one count do not help here"}};
}

/// The measured counts and two doublings beyond.
std::vector<double> counts_to_predict(std::span<ScalingSample const> samples, FitQuestion const& question) {
    if (!question.predict.empty()) { return question.predict; }
    std::vector<double> counts;
    for (ScalingSample const& mean : means_of(samples)) { counts.push_back(mean.workers); }
    double const last = counts.back();
    counts.insert(counts.end(), {2.0 * last, 4.0 * last});
    return counts;
}

} // namespace

Choice choose(std::vector<LawFit> const& fits, double last_workers) {
    std::optional<double> least;
    for (LawFit const& fit : fits) {
        if (judged(fit) && !stands_beside(fit, fits)) { least = std::min(least.value_or(*fit.aicc), *fit.aicc); }
    }
    std::optional<std::size_t> best, unjudged;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < fits.size(); ++i) {
        if (stands_beside(fits[i], fits)) { continue; }
        if (!judged(fits[i])) {
            if (!unjudged || predicts_better(fits[i], fits[*unjudged])) { unjudged = i; }
        } else if (*fits[i].aicc <= *least + acceptable) {
            names.push_back(fits[i].law->name + (" " + number(*fits[i].aicc)));
            if (!best || predicts_better(fits[i], fits[*best])) { best = i; }
        }
    }
    std::string list;
    for (std::string const& name : names) { list += (list.empty() ? "" : ", ") + name; }
    if (fits.size() == 1) { return {0, "it is the only law that was fitted"}; }
    if (!best) {
        return {*unjudged, "too few measurements for the AICc of any law; of all, " +
                               prediction_words(fits[*unjudged], last_workers)};
    }
    if (unjudged && predicts_far_better(fits[*unjudged], fits[*best])) {
        return {*unjudged, "too few measurements for its AICc, but " + prediction_words(fits[*unjudged], last_workers) +
                               ", less than half the error of " + fits[*best].law->name};
    }
    if (names.size() == 1) {
        return {*best, "its AICc, " + number(*fits[*best].aicc) + ", is the least, and no other law is within 4 of it"};
    }
    return {*best, "of the laws whose AICc is within 4 of the least (" + list + "), " +
                       prediction_words(fits[*best], last_workers)};
}

SyncGrowth sync_growth(std::vector<LawFit> const& fits, ScalingData const& data, double last_workers) {
    SyncGrowth result{.growth = "unclear", .sentence = ""};
    LawFit const *chain = fit_named(fits, "linear_growth"), *tree = fit_named(fits, "logarithmic_growth");
    LawFit const *none = fit_named(fits, "constant"), *form = fit_named(fits, "normal_form");
    result.workers = last_workers;
    if (chain == nullptr || tree == nullptr) { return result; }
    auto const n = static_cast<double>(chain->degrees_of_freedom + chain->fitted);
    double const floor = 1e-24 * mean_square_of(data.samples);
    double const of_chain = std::max(chain->rss / n, floor), of_tree = std::max(tree->rss / n, floor);
    result.aicc_difference = n * std::log(of_tree / of_chain); // as many coefficients on either side
    result.likelihood_ratio = std::exp(std::min(600.0, 0.5 * std::abs(result.aicc_difference)));
    result.linear_seconds = curve_at(*chain, data, last_workers);
    result.logarithmic_seconds = curve_at(*tree, data, last_workers);
    bool const linear = result.aicc_difference > 0.0;
    LawFit const& better = linear ? *chain : *tree;
    constexpr double clear = 6.0; // 20 to 1
    std::string const odds = number(std::min(1e6, result.likelihood_ratio), "%.3g") +
                             (result.likelihood_ratio > 1e6 ? " and more to 1" : " to 1");
    std::string const seconds = linear ? number(result.logarithmic_seconds) : number(result.linear_seconds);
    std::string const other = std::string{linear ? "a tree fitted to the same measurements would give "
                                                 : "a chain fitted to the same measurements would give "} +
                              seconds + " s at " + number(last_workers, "%.0f") + " workers, the " +
                              (linear ? "chain " : "tree ") +
                              number(linear ? result.linear_seconds : result.logarithmic_seconds) + " s";
    if (none != nullptr && none->aicc && better.aicc && *none->aicc <= *better.aicc) {
        result.growth = "none";
        result.sentence = "the synchronisation does not grow with the workers beyond its scatter";
    } else if (form != nullptr && form->aicc && better.aicc && *form->aicc < *better.aicc - clear) {
        result.growth = "neither";
        result.sentence = "the synchronisation grows neither as a chain nor as a tree: " + form->formula +
                          " fits better, its AICc is " + number(*better.aicc - *form->aicc, "%.3g") + " less";
    } else if (std::abs(result.aicc_difference) < clear) {
        result.sentence = "chain or tree cannot be told from these measurements (" + odds + " for " +
                          (linear ? "a chain" : "a tree") + ", 20 to 1 would be needed): " + other;
    } else {
        result.growth = linear ? "linear" : "logarithmic";
        result.sentence = std::string{linear ? "the synchronisation grows linearly with the workers, as a chain does ("
                                             : "the synchronisation grows with the logarithm of the workers, as a tree "
                                               "does ("} +
                          odds + "): " + other;
    }
    return result;
}

ScalingReport fit_scaling(ScalingData const& data, FitQuestion const& question) {
    check(data);
    std::vector<ScalingSample> const samples = prepared_samples(data, question);
    ScalingReport report;
    for (ScalingLaw const* law : asked_laws(data, question)) {
        if (auto const why = why_not(*law, samples, question)) {
            report.left_out.push_back({law->name, *why});
        } else {
            report.fits.push_back(fit_prepared(*law, data, samples, question));
        }
    }
    if (report.fits.empty()) { too_few(report, means_of(samples).size()); }
    double const last = samples.back().workers;
    Choice const choice = choose(report.fits, last);
    report.best = choice.best;
    report.chosen_because = choice.because;
    LawFit const& best = report.fits[report.best];
    std::vector<double> const counts = counts_to_predict(samples, question);
    report.predictions = predict(best, data, question, counts);
    report.next_measurement = next_measurement(best, data, question, std::ranges::max(counts));
    bool const steps = data.measured != Measured::sync && data.measured != Measured::value;
    if (steps && means_of(samples).size() > 1) { report.karp_flatt = karp_flatt(data); }
    if (data.measured == Measured::sync) { report.sync = sync_growth(report.fits, data, last); }
    report.findings = findings_of(report, data);
    return report;
}

} // namespace headroom::fit
