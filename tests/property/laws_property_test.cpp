#include "headroom/laws/laws.hpp"
#include "headroom/laws/scale_up.hpp"
#include "headroom/laws/scaling_laws.hpp"
#include "headroom/laws/step_curve.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace headroom {

using namespace headroom::laws;

namespace {

constexpr double slack = 1e-11;

double between(double low, double high) {
    return low + (high - low) * (*rc::gen::inRange(0, (1 << 20) + 1) / static_cast<double>(1 << 20));
}

/// Spread evenly over the powers of ten.
double spread(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }

Ranks any_ranks(int most) { return Ranks{*rc::gen::inRange(1, most + 1)}; }

Growth any_growth() { return *rc::gen::element(Growth::fixed, Growth::logarithmic, Growth::linear); }

double any_overlap() { return *rc::gen::arbitrary<bool>() ? 0.0 : between(0.0, 1.0); }

/// Valleys lie at a few hundred workers or fewer, so that a scan finds them.
StepCurve any_curve() {
    auto const part = [](double most) { return Seconds{*rc::gen::arbitrary<bool>() ? spread(1e-3, most) : 0.0}; };
    StepCurve const curve{.work = Seconds{spread(1e-2, 1e3)},
                          .fixed = part(1.0),
                          .per_level = part(10.0),
                          .per_worker = part(1.0),
                          .overlap = any_overlap()};
    RC_LOG() << "W " << curve.work.base() << " a " << curve.fixed.base() << " c " << curve.per_level.base() << " d "
             << curve.per_worker.base() << " o " << curve.overlap << '\n';
    return curve;
}

bool near(double a, double b, double tolerance = slack) {
    return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

// ---- the laws among each other ------------------------------------------------------------------------------------

RC_GTEST_PROP(LawsProperty, SunNiLiesBetweenAndBeyond, ()) {
    double const s = between(0.0, 1.0);
    Ranks const k = any_ranks(1 << 20);
    RC_ASSERT(near(sun_ni_speedup(s, k, 0.0), amdahl_speedup(s, k)));
    RC_ASSERT(near(sun_ni_speedup(s, k, 1.0), gustafson_speedup(s, k)));
    double const less = between(0.0, 3.0), more = less + between(0.0, 1.0);
    RC_ASSERT(sun_ni_speedup(s, k, less) <= sun_ni_speedup(s, k, more) * (1.0 + slack));
    RC_ASSERT(sun_ni_speedup(s, k, more) <= k.count() * (1.0 + slack));
}

RC_GTEST_PROP(LawsProperty, CeilingsAreLimitsAndSharesAreReachedThereAndNotBefore, ()) {
    double const s = spread(1e-4, 1.0), q = between(0.01, 0.99);
    double const ceiling = amdahl_ceiling(s).value();
    RC_ASSERT(amdahl_speedup(s, Ranks{2'000'000'000}) <= ceiling * (1.0 + slack));
    RC_ASSERT(near(amdahl_speedup(s, Ranks{2'000'000'000}), ceiling, 1e-4));
    auto const k = workers_for_share_of_ceiling(s, q).value();
    RC_ASSERT(amdahl_speedup(s, Ranks{static_cast<int>(k)}) >= q * ceiling * (1.0 - slack));
    RC_ASSERT((k == 1 || amdahl_speedup(s, Ranks{static_cast<int>(k - 1)}) < q * ceiling * (1.0 + slack)));
    RC_ASSERT(workers_for_share_of_ceiling(UniversalScalability{.alpha = s}, q) == k);
}

RC_GTEST_PROP(LawsProperty, KarpFlattReadsAmdahlBackwards, ()) {
    double const s = between(0.0, 1.0);
    Ranks const k{*rc::gen::inRange(2, 1 << 16)};
    RC_ASSERT(std::abs(karp_flatt_fraction(amdahl_speedup(s, k), k.count()).value() - s) <= 1e-9);
}

RC_GTEST_PROP(LawsProperty, UslPeakIsWhereAScanFindsIt, ()) {
    UniversalScalability const law{.alpha = between(-0.02, 1.0), .beta = spread(1e-4, 1.0)};
    RC_PRE(!usl_breaks_at(law));
    auto const best = usl_best_workers(law).value();
    double const top = usl_speedup(law, Ranks{static_cast<int>(best)}).value();
    for (int k = 1; k <= 300; ++k) { RC_ASSERT(usl_speedup(law, Ranks{k}).value() <= top * (1.0 + slack)); }
    RC_ASSERT(std::abs(static_cast<double>(best) - usl_peak(law).value()) <= 1.0);
    RC_ASSERT(usl_ceiling(law) == top);
    auto const most = workers_for_share_of_ceiling(law, 0.9).value();
    RC_ASSERT(usl_speedup(law, Ranks{static_cast<int>(most)}).value() >= 0.9 * top * (1.0 - slack));
    RC_ASSERT((most == 1 || usl_speedup(law, Ranks{static_cast<int>(most - 1)}).value() < 0.9 * top));
}

RC_GTEST_PROP(LawsProperty, UslBreaksWhereItSays, ()) {
    UniversalScalability const law{.alpha = -spread(1e-3, 1.0), .beta = between(0.0, 0.01)};
    auto const end = usl_breaks_at(law);
    auto const throughput_at = [&](double k) { return 1.0 + law.alpha * (k - 1.0) + law.beta * k * (k - 1.0); };
    if (end) {
        RC_ASSERT(std::abs(throughput_at(*end)) <= 1e-9 * (1.0 - law.alpha * *end));
        RC_ASSERT(!usl_ceiling(law));
    }
    for (double k = 1.0; k < end.value_or(2000.0); k += 1.0) { RC_ASSERT(throughput_at(k) > -slack); }
}

RC_GTEST_PROP(LawsProperty, IsoefficiencyHoldsTheEfficiency, ()) {
    std::vector<OverheadTerm> terms;
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
        terms.push_back({.coefficient = spread(1e-3, 1e3),
                         .work_exponent = *rc::gen::arbitrary<bool>() ? 0.0 : between(0.0, 0.9),
                         .worker_exponent = between(0.0, 3.0),
                         .log_exponent = between(0.0, 2.0)});
    }
    double const efficiency = between(0.05, 0.99), k = *rc::gen::inRange(2, 1 << 20);
    auto const work = isoefficient_work(terms, k, efficiency);
    RC_ASSERT(work.has_value());
    RC_ASSERT(near(efficiency_of_work(terms, *work, k), efficiency, 1e-10));
    RC_ASSERT(near(*work, efficiency / (1.0 - efficiency) * total_overhead(terms, *work, k), 1e-10));
    RC_ASSERT(isoefficient_work(terms, 2.0 * k, efficiency).value() >= *work * (1.0 - slack));
    if (terms.size() == 1) { // in closed form
        OverheadTerm const& t = terms.front();
        double const at_one = efficiency / (1.0 - efficiency) * t.coefficient * std::pow(k, t.worker_exponent) *
                              std::pow(std::log2(k), t.log_exponent);
        RC_ASSERT(near(*work, std::pow(at_one, 1.0 / (1.0 - t.work_exponent)), 1e-9));
    }
}

// ---- curves from profiles -----------------------------------------------------------------------------------------

RC_GTEST_PROP(LawsProperty, AFixedProfileIsTheSameTwoWays, ()) {
    Profile const profile{
        .compute = Seconds{spread(1e-3, 1e3)}, .communication = Seconds{spread(1e-3, 1e3)}, .workers = any_ranks(4096)};
    StepCurve const curve = curve_of(profile, Growth::fixed, 0.0);
    Ranks const k = any_ranks(1 << 20);
    RC_ASSERT(near(step_at(curve, k.count()).base(), step_at(profile, k).base()));
    RC_ASSERT(near(exposed_share_at(curve, k.count()), serial_share_at(profile, k)));
    Seconds const reference = step_at(curve, profile.workers.count());
    RC_ASSERT(near(reference / step_at(curve, k.count()), speedup_over_k0(profile, k)));
    RC_ASSERT(near(reference / least_step(curve), ceiling_over_k0(profile).value()));
    double const q = between(0.01, 0.99);
    RC_ASSERT(workers_for_share_of_ceiling(curve, q) ==
              workers_for_share_of_ceiling(serial_share_at(profile, Ranks{1}), q));
    // converted to one worker it is Amdahl's law, at every K
    double const s = exposed_share_at(curve, 1.0);
    RC_ASSERT(near(step_at(curve, 1.0) / step_at(curve, k.count()), amdahl_speedup(s, k), 1e-9));
    // the scaled problem is Gustafson's, with the share on K0
    double const one = (compute_at(curve, profile.workers.count()) * k.count() + profile.communication) / reference;
    RC_ASSERT(near(one, gustafson_speedup(exposed_share_at(curve, profile.workers.count()), k), 1e-9));
}

RC_GTEST_PROP(LawsProperty, TheStepIsThePartsThatAreNotHidden, ()) {
    StepCurve const curve = any_curve();
    double const k = any_ranks(1 << 16).count();
    Seconds const compute = compute_at(curve, k), all = communication_at(curve, k);
    RC_ASSERT(near(step_at(curve, k).base(), (compute + exposed_at(curve, k)).base(), 1e-9));
    RC_ASSERT(step_at(curve, k).base() >= std::max(compute, all).base() * (1.0 - slack));
    RC_ASSERT(step_at(curve, k).base() <= (compute + all).base() * (1.0 + slack));
    StepCurve shown = curve;
    shown.overlap = 0.0;
    RC_ASSERT(step_at(curve, k) <= step_at(shown, k) * (1.0 + slack));
}

RC_GTEST_PROP(LawsProperty, TheValleyIsWhereAScanFindsIt, ()) {
    StepCurve const curve = any_curve();
    constexpr int last = 3000;
    int best = 1, slower = 0;
    for (int k = 2; k <= last; ++k) {
        Seconds const before = step_at(curve, k - 1), after = step_at(curve, k);
        if (after < step_at(curve, best) * (1.0 - slack)) { best = k; }
        if (slower == 0 && after > before * (1.0 + slack)) { slower = k; }
    }
    auto const found = best_workers(curve), first = first_slower_workers(curve);
    if (found && *found < last) {
        // neighbours of the valley may differ by less than the scan sees
        RC_ASSERT(near(step_at(curve, static_cast<double>(*found)).base(), step_at(curve, best).base()));
        RC_ASSERT(std::abs(best_real_workers(curve).value() - static_cast<double>(*found)) <= 1.0 + 1e-6);
    }
    if (slower > 0) {
        RC_ASSERT(first.has_value());
        RC_ASSERT(*first <= slower);
        RC_ASSERT(
            near(step_at(curve, static_cast<double>(*first - 1)).base(), step_at(curve, slower - 1).base(), 1e-7));
    } else {
        Seconds const there = step_at(curve, static_cast<double>(first.value_or(last)));
        bool const flat = near(there.base(), step_at(curve, last).base(), 1e-7);
        RC_ASSERT((!first || *first >= last || flat));
    }
}

RC_GTEST_PROP(LawsProperty, SharesOfTheCeilingAreReachedThereAndNotBefore, ()) {
    StepCurve const curve = any_curve();
    double const q = between(0.05, 0.99);
    Seconds const least = least_step(curve);
    RC_PRE(least > Seconds{});
    auto const k = workers_for_share_of_ceiling(curve, q);
    RC_ASSERT(k.has_value());
    RC_ASSERT(step_at(curve, static_cast<double>(*k)) <= least / q * (1.0 + slack));
    RC_ASSERT((*k == 1 || step_at(curve, static_cast<double>(*k - 1)) > least / q * (1.0 - slack)));
    RC_ASSERT(step_at(curve, any_ranks(1 << 20).count()) >= least * (1.0 - slack));
}

RC_GTEST_PROP(LawsProperty, LessOverlapAndMoreGrowthNeverHelp, ()) {
    Profile const profile{.compute = Seconds{spread(1e-3, 1e3)},
                          .communication = Seconds{spread(1e-3, 1e3)},
                          .workers = Ranks{*rc::gen::inRange(3, 4096)}}; // log2 K / K falls from e on
    Growth const growth = any_growth();
    double const less = between(0.0, 1.0), k = profile.workers.count() * between(1.0, 64.0);
    StepCurve const curve = curve_of(profile, growth, less), hidden = curve_of(profile, growth, 1.0);
    RC_ASSERT(step_at(hidden, k) <= step_at(curve, k) * (1.0 + slack));
    RC_ASSERT(step_at(curve_of(profile, Growth::fixed, less), k) <= step_at(curve, k) * (1.0 + slack));
    RC_ASSERT(step_at(curve, k) <= step_at(curve_of(profile, Growth::linear, less), k) * (1.0 + slack));
}

RC_GTEST_PROP(LawsProperty, TheIndexPeaksWhereAScanFindsIt, ()) {
    StepCurve const curve{.work = Seconds{spread(1e-2, 1e4)}, .fixed = Seconds{1.0}, .per_level = {}, .per_worker = {}};
    IndexPeak const peak = index_peak(curve).value();
    for (int k = 1; k <= 200; ++k) { RC_ASSERT(amdahl_of_share_at(curve, Ranks{k}) <= peak.value * (1.0 + slack)); }
    RC_ASSERT(near(amdahl_of_share_at(curve, Ranks{static_cast<int>(peak.integer)}), peak.value));
    RC_ASSERT(!first_slower_workers(curve)); // and the step falls all the same
}

// ---- up or out ----------------------------------------------------------------------------------------------------

RC_GTEST_PROP(LawsProperty, AsFastAsTheFasterMachineThereAndNotBefore, ()) {
    double const s = between(0.0, 0.5), f = spread(1.0, 100.0);
    auto const k = workers_to_match(s, f);
    if (!k) {
        RC_ASSERT(f * s >= 1.0 - slack);
        return;
    }
    RC_PRE(*k < 2'000'000'000);
    RC_ASSERT(amdahl_speedup(s, Ranks{static_cast<int>(*k)}) >= f * (1.0 - 1e-9));
    RC_ASSERT((*k == 1 || amdahl_speedup(s, Ranks{static_cast<int>(*k - 1)}) < f * (1.0 + 1e-9)));
    // at the tie price both cost the same
    Ranks const workers = any_ranks(1 << 16);
    double const speedup = amdahl_speedup(s, workers);
    DollarsPerSecond const machine{spread(1e-4, 1.0)};
    RC_ASSERT(
        near((tie_price(machine, f, speedup, workers) / f).base(), price_of_work(machine, speedup, workers).base()));
}

} // namespace
} // namespace headroom
