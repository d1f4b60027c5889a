#include "headroom/measure/run_order.hpp"
#include "headroom/probe/machine_facts.hpp"
#include "headroom/probe/roofline_bench.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace headroom::probe {

using namespace headroom::measure;

namespace {

constexpr std::uint32_t fewest = 7, most = 31;
constexpr double usual_slot = 0.03, least_slot = 0.002;

/// Seconds of a run of so many rounds that it fills the slot, or a third of it at least. A run that was held up when the
/// rounds were found leaves them too few, and what is then timed is the start of threads: so every run is judged anew.
double seconds_that_fill(TimedPoint& timed, double slot) {
    constexpr int most_tries = 16;
    constexpr double most_growth = 10.0, most_rounds = 1e15;
    double seconds = timed.seconds(timed.rounds);
    for (int i = 0; i < most_tries && seconds < slot / 3.0; ++i) {
        double const growth = seconds > 0.0 ? std::min(most_growth, slot / seconds) : most_growth;
        double const rounds = static_cast<double>(timed.rounds) * growth;
        if (rounds > most_rounds) { break; }
        timed.rounds = std::max(timed.rounds + 1, static_cast<std::uint64_t>(rounds));
        seconds = timed.seconds(timed.rounds);
    }
    return seconds;
}

/// Not a number: it could not be had.
double value_of(TimedPoint& timed, double slot) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    if (timed.whole) { return timed.whole().value_or(none); }
    double const seconds = seconds_that_fill(timed, slot);
    return seconds > 0.0 ? timed.work * static_cast<double>(timed.rounds) / seconds : none;
}

Sample take_one(TimedPoint& timed, double slot, PlannedRun const& run) {
    Sample sample{.point = run.point,
                  .repetition = run.repetition,
                  .outcome = run.warm_up ? SampleOutcome::warm_up : SampleOutcome::measured,
                  .began_ns = now_ns(),
                  .load = load_now()};
    auto const fail = [&sample](std::string why) {
        sample.outcome = SampleOutcome::unreadable;
        sample.message = std::move(why);
    };
    try {
        double const value = value_of(timed, slot);
        if (std::isfinite(value) && value > 0.0) {
            sample.value = value;
        } else {
            fail("the clock or the result gave no number");
        }
    } catch (std::runtime_error const& error) { fail(error.what()); }
    return sample;
}

} // namespace

RooflinePlan plan_of(RooflineTask const& task, std::size_t points) {
    double const all = static_cast<double>(std::max<std::size_t>(points, 1));
    constexpr double beside = 2.0; // rounds' worth: filling the slots, and making what is timed
    double const wanted = task.budget_seconds / (all * usual_slot) - beside;
    RooflinePlan plan;
    plan.repetitions =
        static_cast<std::uint32_t>(std::clamp(wanted, static_cast<double>(fewest), static_cast<double>(most)));
    plan.slot_seconds = std::max(least_slot, task.budget_seconds / (all * (plan.repetitions + beside)));
    return plan;
}

bool take_samples(RooflineBench& bench, RooflineTask const& task, std::span<Sample const> earlier,
                  SampleSink const& keep, std::function<bool(double)> const& progress) {
    RooflinePlan const plan = plan_of(task, bench.points.size());
    auto const order = planned_order(bench.points.size(), 1, plan.repetitions - 1, task.seed);
    auto const left = runs_left(order, earlier);
    std::size_t taken = order.size() - left.size();
    for (PlannedRun const& run : left) {
        if (!progress(static_cast<double>(taken++) / static_cast<double>(order.size()))) { return false; }
        keep(take_one(bench.points[run.point], plan.slot_seconds, run));
    }
    return true;
}

} // namespace headroom::probe
