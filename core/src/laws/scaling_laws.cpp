#include "headroom/laws/scaling_laws.hpp"

#include "search.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::laws {
namespace {

double denominator(UniversalScalability const& law, double workers) {
    return 1.0 + law.alpha * (workers - 1.0) + law.beta * workers * (workers - 1.0);
}

double relative_throughput(UniversalScalability const& law, double workers) {
    return workers / denominator(law, workers);
}

/// T_o(W, K) / W in parts: how strongly each term falls as W grows.
double overhead_over_work(std::vector<OverheadTerm> const& terms, double work, double workers) {
    double sum = 0.0;
    for (OverheadTerm const& term : terms) {
        double const factor = term.coefficient * std::pow(workers, term.worker_exponent) *
                              std::pow(std::log2(workers), term.log_exponent);
        if (factor > 0.0) { sum += factor * std::pow(work, term.work_exponent - 1.0); } // none at one worker, W = 0 too
    }
    return sum;
}

} // namespace

double sun_ni_speedup(double serial_fraction, Ranks workers, double growth_exponent) {
    double const s = serial_fraction, k = workers.count();
    double const divisible = (1.0 - s) * std::pow(k, growth_exponent);
    return (s + divisible) / (s + divisible / k);
}

// ---- Universal Scalability Law ------------------------------------------------------------------------------------

std::optional<double> usl_speedup(UniversalScalability const& law, Ranks workers) {
    auto const end = usl_breaks_at(law);
    if (end && workers.count() >= *end) { return std::nullopt; }
    return relative_throughput(law, workers.count());
}

std::optional<double> usl_breaks_at(UniversalScalability const& law) {
    // beta K^2 + (alpha - beta) K + 1 - alpha = 0; D(1) = 1, so both roots lie on one side of 1
    double const a = law.beta, b = law.alpha - law.beta, c = 1.0 - law.alpha;
    if (law.alpha >= 0.0) { return std::nullopt; }
    double const inside = b * b - 4.0 * a * c;
    if (inside < 0.0) { return std::nullopt; }
    double const first = 2.0 * c / (-b + std::sqrt(inside)); // b < 0: nothing cancels, and a = 0 is no special case
    return first > 1.0 ? std::optional{first} : std::nullopt;
}

std::optional<double> usl_peak(UniversalScalability const& law) {
    if (law.alpha > 1.0) { return 1.0; }
    if (law.beta <= 0.0 || usl_breaks_at(law)) { return std::nullopt; }
    return std::sqrt(std::max(1.0, (1.0 - law.alpha) / law.beta));
}

std::optional<std::int64_t> usl_best_workers(UniversalScalability const& law) {
    // X(K+1) > X(K) where (K+1) D(K) > K D(K+1), and that is 1 - alpha > beta K (K+1).
    if (!usl_peak(law)) { return std::nullopt; }
    return first_where([&](double k) { return law.beta * k * (k + 1.0) >= (1.0 - law.alpha) * (1.0 - tie_slack); });
}

std::optional<double> usl_ceiling(UniversalScalability const& law) {
    if (auto const best = usl_best_workers(law)) { return relative_throughput(law, static_cast<double>(*best)); }
    if (law.beta > 0.0 || law.alpha <= 0.0) { return std::nullopt; }
    return 1.0 / law.alpha;
}

std::optional<std::int64_t> workers_for_share_of_ceiling(UniversalScalability const& law, double share) {
    auto const ceiling = usl_ceiling(law);
    if (!ceiling) { return std::nullopt; }
    double const enough = *ceiling * share * (1.0 - tie_slack);
    return first_where([&](double k) { return relative_throughput(law, k) >= enough; },
                       usl_best_workers(law).value_or(largest_count));
}

std::optional<double> karp_flatt_fraction(double speedup, double k) {
    if (!(k > 1.0) || speedup <= 0.0) { return std::nullopt; }
    return (1.0 / speedup - 1.0 / k) / (1.0 - 1.0 / k);
}

// ---- isoefficiency ------------------------------------------------------------------------------------------------

double total_overhead(std::vector<OverheadTerm> const& terms, double work, double workers) {
    return work > 0.0 ? work * overhead_over_work(terms, work, workers) : 0.0;
}

double efficiency_of_work(std::vector<OverheadTerm> const& terms, double work, double workers) {
    return 1.0 / (1.0 + overhead_over_work(terms, work, workers));
}

std::optional<double> isoefficient_work(std::vector<OverheadTerm> const& terms, double workers, double efficiency) {
    double const allowed = (1.0 - efficiency) / efficiency;
    auto const too_small = [&](double logarithm) {
        return overhead_over_work(terms, std::exp(logarithm), workers) > allowed;
    };
    double low = -700.0, high = 700.0; // all doubles; the overhead's share falls as W grows
    if (!too_small(low)) { return 0.0; }
    if (too_small(high)) { return std::nullopt; }
    for (int step = 0; step < 100; ++step) {
        double const middle = 0.5 * (low + high);
        (too_small(middle) ? low : high) = middle;
    }
    // one step of W = T_o(W) E/(1-E) takes back what the logarithm rounded; it draws nearer for exponents below 1
    double const work = total_overhead(terms, std::exp(high), workers) / allowed;
    return std::isfinite(work) ? std::optional{work} : std::nullopt;
}

std::optional<std::int64_t> largest_efficient_workers(std::vector<OverheadTerm> const& terms, double work,
                                                      double efficiency) {
    double const enough = efficiency * (1.0 - tie_slack);
    auto const past = first_where([&](double k) { return efficiency_of_work(terms, work, k) < enough; });
    if (!past || *past == 1) { return std::nullopt; }
    return *past - 1;
}

} // namespace headroom::laws
