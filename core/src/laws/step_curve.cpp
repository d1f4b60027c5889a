#include "headroom/laws/step_curve.hpp"

#include "search.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::laws {
namespace {

constexpr double ln2 = 0.693147180559945309417;

bool grows(StepCurve const& curve) { return curve.per_level > Seconds{} || curve.per_worker > Seconds{}; }

/// Whether the computation still hides all that may overlap: T = W/K + (1-o) N there, and N beyond.
bool hides_all(StepCurve const& curve, double workers) {
    return compute_at(curve, workers) >= curve.overlap * communication_at(curve, workers);
}

/// N(K) - N(K-1), without the cancellation of the difference.
Seconds communication_step(StepCurve const& curve, double workers) {
    return curve.per_worker + curve.per_level * (std::log1p(1.0 / (workers - 1.0)) / ln2);
}

int sign_of_difference(Seconds rise, Seconds fall) {
    if (rise > fall * (1.0 + tie_slack)) { return 1; }
    return rise < fall * (1.0 - tie_slack) ? -1 : 0;
}

/// The sign of T(K) - T(K-1) for K >= 2; it never falls as K grows.
int change_at(StepCurve const& curve, double workers) {
    if (!grows(curve) && curve.overlap == 0.0) { return curve.work > Seconds{} ? -1 : 0; }
    Seconds const rise = communication_step(curve, workers);
    if (!hides_all(curve, workers - 1.0)) { return rise > Seconds{} ? 1 : 0; }
    if (hides_all(curve, workers)) {
        Seconds const fall = curve.work / (workers * (workers - 1.0));
        return sign_of_difference((1.0 - curve.overlap) * rise, fall);
    }
    int const sign = sign_of_difference(step_at(curve, workers), step_at(curve, workers - 1.0));
    return grows(curve) ? sign : std::min(sign, 0);
}

/// The root K of d K^2 + c/ln 2 K = W: where W/K + share x N(K) is least.
double valley(StepCurve const& curve, double share) {
    double const c = share * curve.per_level.base() / ln2, d = share * curve.per_worker.base();
    double const w = curve.work.base();
    if (c <= 0.0 && d <= 0.0) { return std::numeric_limits<double>::infinity(); }
    return 2.0 * w / (c + std::sqrt(c * c + 4.0 * d * w));
}

/// The K at which the computation just hides the share that may overlap, W/K = o N(K).
double last_hidden(StepCurve const& curve) {
    if (curve.overlap <= 0.0) { return std::numeric_limits<double>::infinity(); }
    double low = 0.0, high = 100.0 * ln2; // K as a power of e; to 1e30
    if (!hides_all(curve, 1.0)) { return 1.0; }
    if (hides_all(curve, std::exp(high))) { return std::numeric_limits<double>::infinity(); }
    for (int step = 0; step < 100; ++step) {
        double const middle = 0.5 * (low + high);
        (hides_all(curve, std::exp(middle)) ? low : high) = middle;
    }
    return std::exp(high);
}

} // namespace

std::string_view name_of(Growth growth) {
    switch (growth) {
    case Growth::fixed: return "fixed";
    case Growth::logarithmic: return "log";
    case Growth::linear: return "linear";
    }
    return "";
}

StepCurve curve_of(Profile const& profile, Growth growth, double overlap) {
    double const k0 = profile.workers.count();
    StepCurve curve{.work = profile.compute * k0, .fixed = {}, .per_level = {}, .per_worker = {}, .overlap = overlap};
    if (growth != Growth::fixed && profile.workers.count() == 1) {
        refuse("communication on 1 worker", "cannot grow with the workers",
               "log2 1 and 1 - 1 are 0, so one worker does not show how it grows", "profile on two or more");
    }
    switch (growth) {
    case Growth::fixed: curve.fixed = profile.communication; break;
    case Growth::linear:
        curve.per_worker = profile.communication / (k0 - 1.0);
        curve.links = true;
        break;
    case Growth::logarithmic: curve.per_level = profile.communication / std::log2(k0); break;
    }
    return curve;
}

Seconds compute_at(StepCurve const& curve, double workers) { return curve.work / workers; }

Seconds communication_at(StepCurve const& curve, double workers) {
    return curve.fixed + curve.per_level * std::log2(workers) +
           curve.per_worker * (workers - (curve.links ? 1.0 : 0.0));
}

Seconds exposed_at(StepCurve const& curve, double workers) {
    Seconds const all = communication_at(curve, workers);
    return all - std::min(curve.overlap * all, compute_at(curve, workers));
}

Seconds step_at(StepCurve const& curve, double workers) {
    if (!hides_all(curve, workers)) { return communication_at(curve, workers); }
    return compute_at(curve, workers) + (1.0 - curve.overlap) * communication_at(curve, workers);
}

double exposed_share_at(StepCurve const& curve, double workers) {
    Seconds const step = step_at(curve, workers);
    return step > Seconds{} ? std::max(0.0, exposed_at(curve, workers) / step) : 0.0;
}

Seconds weak_step_at(StepCurve const& curve, Ranks reference, Ranks workers) {
    Seconds const compute = compute_at(curve, reference.count()), all = communication_at(curve, workers.count());
    return std::max(compute + (1.0 - curve.overlap) * all, all);
}

bool is_amdahl(StepCurve const& curve) { return !grows(curve) && curve.overlap == 0.0; }

// ---- where it stops -----------------------------------------------------------------------------------------------

std::optional<double> best_real_workers(StepCurve const& curve) {
    double const best = std::min(valley(curve, 1.0 - curve.overlap), last_hidden(curve));
    if (curve.work <= Seconds{}) { return 1.0; }
    return std::isfinite(best) ? std::optional{std::max(1.0, best)} : std::nullopt;
}

std::optional<std::int64_t> best_workers(StepCurve const& curve) {
    return first_where([&](double k) { return change_at(curve, k + 1.0) >= 0; });
}

std::optional<std::int64_t> first_slower_workers(StepCurve const& curve) {
    auto const last = first_where([&](double k) { return change_at(curve, k + 1.0) > 0; });
    return last ? std::optional{*last + 1} : std::nullopt;
}

Seconds least_step(StepCurve const& curve) {
    if (auto const best = best_workers(curve)) { return step_at(curve, static_cast<double>(*best)); }
    if (!grows(curve)) { return curve.fixed; }
    return step_at(curve, best_real_workers(curve).value_or(1.0));
}

std::optional<std::int64_t> workers_for_step(StepCurve const& curve, Seconds step) {
    Seconds const enough = step * (1.0 + tie_slack);
    return first_where([&](double k) { return step_at(curve, k) <= enough; },
                       best_workers(curve).value_or(largest_count));
}

std::optional<std::int64_t> workers_for_share_of_ceiling(StepCurve const& curve, double share) {
    Seconds const least = least_step(curve);
    if (least <= Seconds{}) { return std::nullopt; }
    return workers_for_step(curve, least / share);
}

// ---- an index that is no time -------------------------------------------------------------------------------------

double amdahl_of_share_at(StepCurve const& curve, Ranks workers) {
    return amdahl_speedup(exposed_share_at(curve, workers.count()), workers);
}

std::optional<IndexPeak> index_peak(StepCurve const& curve) {
    if (!is_amdahl(curve) || curve.fixed <= Seconds{}) { return std::nullopt; }
    double const r = curve.work / curve.fixed;
    IndexPeak peak{.workers = 1.0 + std::sqrt(1.0 + r)};
    if (!(peak.workers < static_cast<double>(largest_count))) { return std::nullopt; }
    auto const index = [r](double k) { return k * (k + r) / (k * k + r); };
    double const below = std::floor(peak.workers);
    double const best = index(below) >= index(below + 1.0) ? below : below + 1.0;
    peak.integer = static_cast<std::int64_t>(best);
    peak.value = index(best);
    return peak;
}

} // namespace headroom::laws
