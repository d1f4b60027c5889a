#include "headroom/fit/tail_fit.hpp"

#include "tail_fit_cells.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace headroom::fit {

using namespace headroom::serving;

namespace {

/// ln L of excesses over the least sample and its derivatives by the rate, in which it is concave.
struct RateLikelihood {
    double value = 0.0, slope = 0.0, curvature = 0.0;
};

RateLikelihood rate_likelihood(std::span<FilledCell const> cells, double least, double rate) {
    RateLikelihood sum;
    for (FilledCell const& cell : cells) {
        double const low = std::max(cell.low, least) - least, width = cell.high - std::max(cell.low, least);
        double const grown = std::expm1(rate * width);
        sum.value += cell.count * (std::log(-std::expm1(-rate * width)) - rate * low);
        sum.slope += cell.count * (width / grown - low);
        sum.curvature -= cell.count * width * width * (1.0 + grown) / (grown * grown);
    }
    return sum;
}

/// The least sample exceeds the least possible value by b/n on average, and as much deviates.
std::optional<TailFit> fit_exponential(std::span<FilledCell const> cells, LatencyHistogram const& samples) {
    constexpr int most_steps = 60;
    constexpr double close = 1e-9; // of ln L
    double const n = static_cast<double>(samples.count()), least = samples.least();
    double const excess = samples.mean() - least;
    if (!(excess > 0.0)) { return std::nullopt; }
    double rate = 1.0 / excess;
    RateLikelihood now = rate_likelihood(cells, least, rate);
    for (int step = 0; step < most_steps && now.slope * now.slope > -close * now.curvature; ++step) {
        rate = std::max(0.5 * rate, rate - now.slope / now.curvature);
        now = rate_likelihood(cells, least, rate);
    }
    TailFit fit;
    fit.distribution.family = TailFamily::exponential;
    fit.distribution.b = 1.0 / rate;
    fit.b_error = std::sqrt(-1.0 / now.curvature) / (rate * rate);
    fit.a_error = fit.distribution.b / n;
    fit.distribution.a = std::max(0.0, least - fit.a_error);
    fit.log_likelihood = now.value - n * rate * (least - fit.distribution.a);
    return std::isfinite(fit.log_likelihood) ? std::optional{fit} : std::nullopt;
}

} // namespace

std::vector<TailFit> fit_tails(LatencyHistogram const& samples) {
    constexpr std::uint64_t fewest = 20;
    auto const refuse = [](std::string problem, char const* why) -> InputError {
        return {Fault::insufficient,
                {.where = "samples", .problem = std::move(problem), .why = why, .hint = "give more samples"}};
    };
    if (samples.count() < fewest) { throw refuse(std::to_string(samples.count()), "a fitted tail needs 20 at least"); }
    std::vector<FilledCell> const cells = cells_of(samples);
    if (cells.size() < 2) { throw refuse("all equal", "what does not vary has no tail"); }
    std::vector<TailFit> fits;
    auto const add = [&](std::optional<TailFit> fit) {
        if (!fit) { return; }
        fit->aicc = aicc_of(fit->log_likelihood, static_cast<double>(samples.count()));
        fit->distance = distance_of(fit->distribution, cells);
        fit->tail_error = tail_error_of(fit->distribution, samples);
        fits.push_back(*fit);
    };
    for (TailFamily const family : {TailFamily::normal, TailFamily::lognormal, TailFamily::weibull}) {
        add(fit_location(family, cells));
    }
    add(fit_exponential(cells, samples));
    if (fits.empty()) { throw refuse("too few different values", "no family has a best fit"); }
    std::ranges::stable_sort(fits, {}, &TailFit::aicc);
    return fits;
}

std::vector<TailFit> fit_families_and_tail(LatencyHistogram const& samples) {
    std::vector<TailFit> fits = fit_tails(samples);
    if (auto tail = fit_pareto_tail(samples)) { fits.push_back(*tail); }
    return fits;
}

} // namespace headroom::fit
