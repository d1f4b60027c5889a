#include "scaling_choice.hpp"
#include "scaling_statistics.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {
namespace {

constexpr double enough = 20.0; ///< to 1: odds from which one of two is called the answer

LawFit const* fit_named(std::vector<LawFit> const& fits, std::string_view name) {
    auto const found = std::ranges::find(fits, name, [](LawFit const& fit) { return std::string_view{fit.law->name}; });
    return found == fits.end() ? nullptr : &*found;
}

/// Chain against tree: as many coefficients on either side, so that only the sums of squares differ.
void weigh(SyncGrowth& result, LawFit const& chain, LawFit const& tree, double mean_square) {
    double const n = chain.degrees_of_freedom + chain.fitted, floor = 1e-24 * mean_square * n;
    double const ratio = std::log(std::max(tree.rss, floor) / std::max(chain.rss, floor));
    result.aicc_difference = n * ratio;
    constexpr double most = 300.0; // of an exponent
    result.likelihood_ratio = std::exp(std::min(most, 0.5 * chain.degrees_of_freedom * std::abs(ratio)));
}

std::string odds_words(double ratio) {
    return ratio > 1e6 ? "more than a million to 1" : number_words(ratio) + " to 1";
}

std::string both_words(SyncGrowth const& result, bool linear) {
    double const own = linear ? result.linear_seconds : result.logarithmic_seconds;
    double const other = linear ? result.logarithmic_seconds : result.linear_seconds;
    auto const time = [](double seconds) {
        return seconds >= 0.0 ? format(Seconds{seconds}) : number_words(seconds) + " s";
    };
    return std::string{"at "} + number_words(result.workers, "%.0f") + " workers the " + (linear ? "chain" : "tree") +
           " takes " + time(own) + ", a " + (linear ? "tree" : "chain") +
           " fitted to the same measurements would take " + time(other);
}

bool beats(LawFit const* fit, LawFit const& other, double by) {
    return fit != nullptr && fit->aicc && other.aicc && *fit->aicc <= *other.aicc - by;
}

} // namespace

SyncGrowth sync_growth(std::vector<LawFit> const& fits, ScalingData const& data, double last_workers) {
    SyncGrowth result{.growth = "unclear", .workers = last_workers};
    LawFit const *chain = fit_named(fits, "linear_growth"), *tree = fit_named(fits, "logarithmic_growth");
    if (chain == nullptr || tree == nullptr) {
        result.sentence =
            "chain or tree cannot be decided: both linear_growth and logarithmic_growth are needed for that";
        return result;
    }
    weigh(result, *chain, *tree, mean_square_of(data.samples));
    result.linear_seconds = curve_at(*chain, data, last_workers);
    result.logarithmic_seconds = curve_at(*tree, data, last_workers);
    bool const linear = result.aicc_difference > 0.0;
    LawFit const& better = linear ? *chain : *tree;
    LawFit const* form = fit_named(fits, "normal_form");
    std::string const both = both_words(result, linear), odds = odds_words(result.likelihood_ratio);
    bool const neither_grows = chain->c[1] <= 0.0 && tree->c[1] <= 0.0;
    if (neither_grows || beats(fit_named(fits, "constant"), better, 0.0)) {
        result.growth = "none";
        result.sentence = "the synchronisation does not grow with the workers beyond its scatter";
    } else if (beats(form, better, 2.0 * std::log(enough))) {
        result.growth = "neither";
        result.sentence = "the synchronisation grows neither as a chain nor as a tree: " + form->formula +
                          " fits better, its AICc is " + number_words(*better.aicc - *form->aicc) + " less";
    } else if (result.likelihood_ratio < enough) {
        result.sentence = "chain or tree cannot be decided from these measurements (" + odds + " for " +
                          (linear ? "a chain" : "a tree") + ", 20 to 1 would be needed): " + both;
    } else {
        result.growth = linear ? "linear" : "logarithmic";
        result.sentence = std::string{"the synchronisation grows "} +
                          (linear ? "linearly with the workers, as a chain does ("
                                  : "with the logarithm of the workers, as a tree does (") +
                          odds + "): " + both;
    }
    return result;
}

} // namespace headroom::fit
