#include "headroom/training/likeness.hpp"

#include "headroom/order_statistics.hpp"
#include "headroom/training/validation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace headroom::training {
namespace {

/// site, model, workload, layout, replica, noise
constexpr std::size_t effects = 6;
using Variances = std::array<double, effects>;
using Unshared = std::array<bool, effects>;

constexpr Unshared unshared_by_sites{true, true, true, true, true, true};

Unshared unshared(StepTraits const& a, StepTraits const& b) {
    if (a.site != b.site) { return unshared_by_sites; }
    return {false, a.model != b.model, a.workload != b.workload, a.layout != b.layout, a.replica != b.replica, true};
}

/// Half the mean squared difference of many pairs, by the fourth power of the mean root: a few wild pairs do not carry
/// it. Source: [CressieHawkins1980]
struct RobustMean {
    double roots = 0.0;
    int pairs = 0;
    void add(double difference) {
        roots += std::sqrt(std::abs(difference));
        ++pairs;
    }
    [[nodiscard]] double half_square() const {
        double const n = pairs, mean = roots / n;
        return 0.5 * std::pow(mean, 4.0) / (0.457 + 0.494 / n + 0.045 / (n * n));
    }
};

/// One equation: the unshared variances add up to `half_square`.
struct Moment {
    Unshared unshared{};
    double half_square = 0.0, weight = 0.0;
    [[nodiscard]] double sum(Variances const& of) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < effects; ++i) { sum += unshared[i] ? of[i] : 0.0; }
        return sum;
    }
};

constexpr double least_variance = 1e-4; ///< (1 %)^2: noise of timing itself

/// Variance between repeated steps of one plan, in the median source. The steadiness of one source does not carry over
/// to others, so each source has one vote, however many repeats it has.
std::optional<double> noise_of(std::vector<Moment> const& moments) {
    std::vector<double> of_sources;
    for (auto const& moment : moments) {
        if (std::ranges::count(moment.unshared, true) == 1) { of_sources.push_back(moment.half_square); }
    }
    if (of_sources.empty()) { return std::nullopt; }
    return std::max(least_variance, quantile(std::move(of_sources), 0.5));
}

/// Variances by least squares of relative errors under x >= 0, by coordinate descent; the noise is fixed where it is
/// known. Each equation is scaled by its larger side, so that a measured value far above the model's counts once.
Variances solved(std::vector<Moment> const& moments) {
    Variances x{};
    x.fill(least_variance * 10);
    auto const noise = noise_of(moments);
    if (noise) { x.back() = *noise; }
    std::size_t const unknown = noise ? effects - 1 : effects;
    constexpr int rounds = 400;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < unknown; ++i) {
            double top = 0.0, bottom = 0.0;
            for (auto const& moment : moments) {
                if (!moment.unshared[i]) { continue; }
                double const sum = moment.sum(x), scale = std::max({sum, moment.half_square / 4, least_variance});
                double const weight = moment.weight / (scale * scale);
                top += weight * (moment.half_square - (sum - x[i]));
                bottom += weight;
            }
            double const least = i + 1 == effects ? least_variance : 0.0;
            if (bottom > 0.0) { x[i] = std::max(least, top / bottom); }
        }
    }
    return x;
}

/// y of (K) y = b for a symmetric positive definite K, by Cholesky.
std::vector<double> solution(std::vector<double> k, std::vector<double> b) {
    std::size_t const n = b.size();
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t m = 0; m < j; ++m) { k[j * n + j] -= k[j * n + m] * k[j * n + m]; }
        k[j * n + j] = std::sqrt(k[j * n + j]);
        for (std::size_t i = j + 1; i < n; ++i) {
            for (std::size_t m = 0; m < j; ++m) { k[i * n + j] -= k[i * n + m] * k[j * n + m]; }
            k[i * n + j] /= k[j * n + j];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t m = 0; m < i; ++m) { b[i] -= k[i * n + m] * b[m]; }
        b[i] /= k[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t m = i + 1; m < n; ++m) { b[i] -= k[m * n + i] * b[m]; }
        b[i] /= k[i * n + i];
    }
    return b;
}

} // namespace

double Likeness::shared(StepTraits const& a, StepTraits const& b) const {
    if (a.site != b.site) { return 0.0; }
    return site + (a.model == b.model ? model : 0.0) + (a.workload == b.workload ? workload : 0.0) +
           (a.layout == b.layout ? layout : 0.0) + (a.replica == b.replica ? replica : 0.0);
}

WarmPosterior warm_posterior(StepTraits const& asked, std::span<MeasuredStep const> steps, Likeness const& likeness) {
    std::vector<MeasuredStep const*> related;
    std::vector<double> with_asked;
    for (auto const& step : steps) {
        double const shared = likeness.shared(asked, step.traits);
        if (shared <= 0.0) { continue; }
        related.push_back(&step);
        with_asked.push_back(shared);
    }
    std::size_t const n = related.size();
    if (n == 0) { return {}; }
    std::vector<double> covariance(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            covariance[i * n + j] = likeness.shared(related[i]->traits, related[j]->traits);
        }
        double const excess = related[i]->excess, deviation = related[i]->deviation;
        covariance[i * n + i] += std::max(likeness.noise, least_variance) + excess * excess + deviation * deviation;
    }
    auto const weights = solution(std::move(covariance), with_asked);
    WarmPosterior posterior{.related = static_cast<int>(n)};
    double explained = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        posterior.log_factor += weights[i] * related[i]->log_factor;
        explained += weights[i] * with_asked[i];
    }
    posterior.narrowing = std::sqrt(std::clamp(1.0 - explained / likeness.total(), 0.0, 1.0));
    posterior.deviation = posterior.narrowing * std::sqrt(likeness.total());
    return posterior;
}

Likeness likeness_of(std::span<LeftOutResidual const> residuals, bool mixtures, std::string const& without) {
    std::map<std::string_view, std::size_t> sources; // number of each: texts of every pair would be compared
    std::vector<std::pair<std::size_t, LeftOutResidual const*>> counted;
    for (auto const& one : residuals) {
        if (one.traits.mixture != mixtures || one.source == without) { continue; }
        counted.emplace_back(sources.emplace(one.source, sources.size()).first->second, &one);
    }
    std::map<std::pair<Unshared, std::string>, RobustMean> means;
    std::set<std::string> with_pairs;
    Likeness likeness;
    double squares = 0.0; // of pairs of two sources
    int pairs = 0;
    for (std::size_t i = 0; i < counted.size(); ++i) {
        auto const& [source, a] = counted[i];
        for (std::size_t j = 0; j < i; ++j) {
            auto const& [other, b] = counted[j];
            double const difference = a->log_factor - b->log_factor;
            if (source != other) {
                squares += difference * difference;
                ++pairs;
            } else if (a->traits.site == b->traits.site) { // two sites of a source share what nobody knows
                means[{unshared(a->traits, b->traits), a->source}].add(difference);
                ++likeness.pairs;
                with_pairs.insert(a->source);
            }
        }
    }
    std::vector<Moment> moments;
    constexpr int few = 3;
    for (auto const& [key, mean] : means) {
        if (mean.pairs >= few) { moments.push_back({key.first, mean.half_square(), std::sqrt(mean.pairs)}); }
    }
    // With the wild ones: the effect of a site is what a measured step is there for, however large it is.
    if (pairs >= few) { moments.push_back({unshared_by_sites, 0.5 * squares / pairs, std::sqrt(pairs)}); }
    likeness.sources = static_cast<int>(with_pairs.size());
    constexpr int enough = 30; // pairs for six variances
    if (likeness.pairs < enough) { return {}; }
    auto const x = solved(moments);
    std::tie(likeness.site, likeness.model, likeness.workload, likeness.layout, likeness.replica, likeness.noise) =
        std::tuple{x[0], x[1], x[2], x[3], x[4], x[5]};
    return likeness;
}

} // namespace headroom::training
