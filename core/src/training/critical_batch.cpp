#include "headroom/training/critical_batch.hpp"

#include "base/quantity/demand.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace headroom::training {

namespace {

constexpr double worth_having = 0.02; ///< the improvement that a stop looks for

void check_batch(double batch) { demand_size(batch, "batch", "give the samples of a batch, e.g. 1024"); }

void check_critical(double critical) {
    demand_positive(critical, "critical batch", "give it in the samples of the batch, e.g. 2000");
}

void check(BatchLaw const& law) {
    check_critical(law.critical);
    demand_size(law.fewest_samples, "fewest samples", "give what a small batch needs to the target, e.g. 1e9");
}

void check(GradientNorm const& gradient) {
    check_batch(gradient.batch);
    demand_amount(gradient.squared_norm, "squared norm of a gradient", "give its mean over some steps");
}

/// Refuses an estimate that noise has carried below zero.
void check_estimate(bool usable, char const* problem) {
    if (usable) { return; }
    throw InputError{Fault::insufficient,
                     {.where = "noise scale",
                      .problem = problem,
                      .why = "the noise of the norms hides it",
                      .hint = "average the norms over more steps, or take batch sizes further apart"}};
}

struct TimedPoint {
    BatchPoint point;
    Seconds time;
};

/// The points with their times, by workers and then by time.
std::vector<TimedPoint> in_order(std::span<BatchPoint const> points, BatchLaw const& law) {
    std::vector<TimedPoint> timed;
    timed.reserve(points.size());
    for (BatchPoint const& point : points) { timed.push_back({point, time_to_target(point.step, point.batch, law)}); }
    std::stable_sort(timed.begin(), timed.end(), [](TimedPoint const& a, TimedPoint const& b) {
        return std::tuple{a.point.workers, a.time} < std::tuple{b.point.workers, b.time};
    });
    return timed;
}

} // namespace

double samples_needed(BatchLaw const& law, double batch) {
    check(law);
    check_batch(batch);
    return law.fewest_samples * (1.0 + batch / law.critical);
}

double steps_needed(BatchLaw const& law, double batch) { return samples_needed(law, batch) / batch; }

double fewest_steps(BatchLaw const& law) {
    check(law);
    return law.fewest_samples / law.critical;
}

double sample_efficiency(double critical_batch, double batch) {
    check_critical(critical_batch);
    check_batch(batch);
    return 1.0 / (1.0 + batch / critical_batch);
}

Seconds time_to_target(Seconds step, double batch, BatchLaw const& law) {
    demand_amount(step.base(), "step", "give the time of one step, e.g. 5 s");
    return step * steps_needed(law, batch);
}

BatchPoint largest_useful_batch(std::span<BatchPoint const> points, BatchLaw const& law) {
    if (points.empty()) {
        throw InputError{Fault::usage,
                         {.where = "worker counts",
                          .problem = "empty",
                          .why = "a stop is one of a list",
                          .hint = "give at least one count with its batch and step"}};
    }
    std::vector<TimedPoint> const timed = in_order(points, law);
    // From the last to the first: the shortest time of all larger counts is known when a point is judged.
    TimedPoint stop = timed.back();
    Seconds shortest = stop.time;
    for (auto point = timed.rbegin(); point != timed.rend(); ++point) {
        if (shortest >= (1.0 - worth_having) * point->time) { stop = *point; }
        shortest = std::min(shortest, point->time);
    }
    return stop.point;
}

GradientNoise gradient_noise(GradientNorm const& one, GradientNorm const& other) {
    check(one);
    check(other);
    if (one.batch == other.batch) {
        throw InputError{Fault::usage,
                         {.where = "noise scale",
                          .problem = "both batch sizes are equal",
                          .why = "one size does not separate signal from noise",
                          .hint = "give the batch of one rank and that of all"}};
    }
    GradientNoise const noise{.squared_gradient = (one.batch * one.squared_norm - other.batch * other.squared_norm) /
                                                  (one.batch - other.batch),
                              .variance =
                                  (one.squared_norm - other.squared_norm) / (1.0 / one.batch - 1.0 / other.batch)};
    check_estimate(noise.squared_gradient > 0.0, "the estimate of the gradient is not above zero");
    check_estimate(noise.variance >= 0.0, "the estimate of the variance is below zero");
    return noise;
}

} // namespace headroom::training
