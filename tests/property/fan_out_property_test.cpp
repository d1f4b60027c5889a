#include "support/latencies.hpp"

#include "headroom/serving/fan_out.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

constexpr double slack = 1e-9;

double share() { return *rc::gen::inRange(0, (1 << 20) + 1) / static_cast<double>(1 << 20); }

/// A count spread evenly over the powers of ten up to ten million.
Ranks any_count() { return Ranks{static_cast<int>(std::pow(1e7, share()))}; }

/// From one sample to some hundreds, from equal ones to six powers of ten.
LatencyHistogram any_samples() {
    double const spread = *rc::gen::element(0.0, 0.01, 0.5, 6.0);
    LatencyHistogram samples;
    int const values = *rc::gen::inRange(1, 40);
    for (int i = 0; i < values; ++i) {
        samples.record(0.01 * std::pow(10.0, spread * share()), static_cast<std::uint64_t>(*rc::gen::inRange(1, 100)));
    }
    if (*rc::gen::inRange(0, 5) == 0) { samples.record(0.0, 3); }
    return samples;
}

TailDistribution any_distribution() {
    double const b = 0.05 + 2.0 * share();
    switch (*rc::gen::inRange(0, 4)) {
    case 0: return {.family = TailFamily::normal, .a = 10.0, .b = b};
    case 1: return {.family = TailFamily::lognormal, .a = -1.0, .b = b};
    case 2: return {.family = TailFamily::weibull, .a = 3.0, .b = 0.2 + b};
    default: return {.family = TailFamily::exponential, .a = share(), .b = b};
    }
}

RC_GTEST_PROP(FanOutProperty, MoreWorkersAreNeverFaster, ()) {
    LatencyHistogram const samples = any_samples();
    Ranks const count = any_count(), more{count.count() + *rc::gen::inRange(1, 1000)};
    double const slow = samples.quantile(share());
    FanOut const few = fan_out(samples, count, slow), many = fan_out(samples, more, slow);
    RC_ASSERT(many.slowdown >= few.slowdown * (1.0 - slack));
    RC_ASSERT(many.mean >= few.mean * (1.0 - slack));
    RC_ASSERT(many.p50 >= few.p50);
    RC_ASSERT(many.p999 >= few.p999);
    RC_ASSERT(many.probability_slow >= few.probability_slow);
    RC_ASSERT(few.slowdown >= 1.0 - slack);
    RC_ASSERT(many.mean <= samples.most() * (1.0 + slack));
    RC_ASSERT(few.p50 <= few.p90 && few.p90 <= few.p99 && few.p99 <= few.p999);
    RC_ASSERT(many.beyond_samples >= 0.0 && many.beyond_samples <= 1.0);
}

RC_GTEST_PROP(FanOutProperty, OneWorkerIsTheSamples, ()) {
    LatencyHistogram const samples = any_samples();
    FanOut const one = fan_out(samples, Ranks{1}, 1.0);
    RC_ASSERT(one.slowdown == 1.0);
    RC_ASSERT(one.p50 == samples.quantile(0.5));
    RC_ASSERT(one.p90 == samples.quantile(0.9));
    RC_ASSERT(one.p99 == samples.quantile(0.99));
    RC_ASSERT(one.p999 == samples.quantile(0.999));
    double const error = 2.0 * LatencyHistogram::relative_error * samples.mean();
    RC_ASSERT(std::abs(one.mean - samples.mean()) <= error);
}

RC_GTEST_PROP(FanOutProperty, WithoutReplacementIsSlowerThanWith, ()) {
    // A value that was drawn cannot be drawn again: the greatest of as many different ones is greater.
    LatencyHistogram const samples = any_samples();
    Ranks const count{1 + *rc::gen::inRange(0, static_cast<int>(samples.count()))};
    double const without = expected_maximum(samples, count), with = fan_out(samples, count, 1.0).mean;
    RC_ASSERT(without >= with * (1.0 - slack));
    RC_ASSERT(without <= samples.most() * (1.0 + slack));
}

RC_GTEST_PROP(FanOutProperty, DistributionsGrowWithWorkers, ()) {
    TailDistribution const tail = any_distribution();
    Ranks const count = any_count(), more{2 * count.count()};
    FanOut const few = fan_out(tail, count, 1.0), many = fan_out(tail, more, 1.0);
    RC_ASSERT(many.mean > few.mean);
    RC_ASSERT(many.slowdown > few.slowdown);
    RC_ASSERT(many.p99 > few.p99);
}

RC_GTEST_PROP(FanOutProperty, BackupsNeverSlowAStep, ()) {
    LatencyHistogram const samples = any_samples();
    Ranks const count{2 + *rc::gen::inRange(0, 3000)};
    int const backups = *rc::gen::inRange(0, count.count() - 1);
    BackupWorkers const few = backup_workers(samples, count, backups);
    BackupWorkers const more = backup_workers(samples, count, backups + 1);
    RC_ASSERT(more.mean <= few.mean * (1.0 + slack));
    RC_ASSERT(more.p50 <= few.p50);
    RC_ASSERT(more.p99 <= few.p99);
    BackupWorkers const best = best_backup_workers(samples, count);
    RC_ASSERT(!(best.useful_per_second < backup_workers(samples, count, 0).useful_per_second));
}

RC_GTEST_PROP(FanOutProperty, HedgingNeverMakesAQuantileWorse, ()) {
    LatencyHistogram const samples = any_samples();
    double const delay = *rc::gen::element(0.0, 1.0) * samples.quantile(share()), longer = delay + 0.1 * share();
    Hedge const sooner = hedged_request(samples, delay), later = hedged_request(samples, longer);
    FanOut const alone = fan_out(samples, Ranks{1}, 1.0);
    RC_ASSERT(sooner.p50 <= alone.p50);
    RC_ASSERT(sooner.p99 <= alone.p99);
    RC_ASSERT(sooner.p999 <= alone.p999);
    RC_ASSERT(sooner.mean <= alone.mean * (1.0 + slack));
    RC_ASSERT(sooner.p99 <= later.p99);
    RC_ASSERT(sooner.mean <= later.mean * (1.0 + slack) + 1e-15);
    RC_ASSERT(sooner.extra_load >= later.extra_load);
    RC_ASSERT(sooner.extra_work_cancelled <= sooner.extra_work + slack);
}

RC_GTEST_PROP(FanOutProperty, TyingIsBetweenServiceAndAlone, ()) {
    LatencyHistogram const waits = any_samples(), services = any_samples();
    double const message = 0.05 * share();
    Hedge const tied = tied_request(waits, services, 0.02 * share(), message);
    double const wait = fan_out(waits, Ranks{1}, 1.0).mean, service = fan_out(services, Ranks{1}, 1.0).mean;
    RC_ASSERT(tied.mean >= service * (1.0 - slack));
    RC_ASSERT(tied.mean <= (wait + service) * (1.0 + slack));
    RC_ASSERT(tied.p50 <= tied.p99 && tied.p99 <= tied.p999);
    RC_ASSERT(tied.extra_work >= 0.0 && tied.extra_work <= 1.0 + slack);
    RC_ASSERT(tied.extra_work_cancelled <= tied.extra_work);
}

} // namespace
} // namespace headroom
