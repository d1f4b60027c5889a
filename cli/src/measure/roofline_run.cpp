#include "measure/roofline_run.hpp"

#include "headroom/probe/machine_facts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace headroom::cli {
namespace {

constexpr std::uint32_t fewest = 7, most = 31;
constexpr double usual_slot = 0.03, least_slot = 0.002;

/// Fisher and Yates, with numbers that are the same everywhere.
std::vector<std::uint32_t> order_of_round(std::size_t count, std::uint64_t seed, std::uint32_t round) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::mt19937_64 numbers{seed * 1'000'003 + round};
    for (std::size_t left = count; left > 1; --left) { std::swap(order[left - 1], order[numbers() % left]); }
    return order;
}

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

Sample take_one(TimedPoint& timed, double slot, std::uint32_t point, std::uint32_t repetition) {
    Sample sample{.point = point,
                  .repetition = repetition,
                  .outcome = repetition == 0 ? SampleOutcome::warm_up : SampleOutcome::measured,
                  .began_ns = probe::now_ns(),
                  .load = probe::load_now()};
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

using Done = std::set<std::pair<std::uint32_t, std::uint32_t>>;

Done done_before(Campaign const& campaign) {
    Done done;
    for (Sample const& sample : campaign.samples) { done.emplace(sample.repetition, sample.point); }
    return done;
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

bool take_samples(RooflineBench& bench, RooflineTask const& task, Recorder& recorder, Watch& watch) {
    RooflinePlan const plan = plan_of(task, bench.points.size());
    Done const done = done_before(recorder.campaign());
    double const all = static_cast<double>(bench.points.size()) * plan.repetitions;
    std::size_t taken = done.size();
    for (std::uint32_t round = 0; round < plan.repetitions; ++round) {
        for (std::uint32_t const point : order_of_round(bench.points.size(), task.seed, round)) {
            if (watch.interrupted()) { return false; }
            if (done.contains({round, point})) { continue; }
            recorder.add(take_one(bench.points[point], plan.slot_seconds, point, round));
            watch.progress(static_cast<double>(++taken) / all);
        }
    }
    return true;
}

} // namespace headroom::cli
