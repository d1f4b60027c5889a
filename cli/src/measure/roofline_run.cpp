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

/// As many rounds as fill the slot: what takes no time that can be read is done ten times as often, and tried again.
void fill_slot(TimedPoint& timed, double slot) {
    constexpr int most_tries = 12;
    constexpr double most_growth = 10.0, most_rounds = 1e15;
    for (int i = 0; i < most_tries; ++i) {
        double const seconds = timed.seconds(timed.rounds);
        if (!(seconds < slot / 2.0)) { return; }
        double const growth = seconds > 0.0 ? std::min(most_growth, slot / seconds) : most_growth;
        double const rounds = static_cast<double>(timed.rounds) * growth;
        if (rounds > most_rounds) { return; }
        timed.rounds = std::max(timed.rounds + 1, static_cast<std::uint64_t>(rounds));
        if (seconds > slot / most_growth) { return; } // near enough to trust the growth
    }
}

/// Not a number: it could not be had.
double value_of(TimedPoint const& timed) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    if (timed.whole) { return timed.whole().value_or(none); }
    double const seconds = timed.seconds(timed.rounds);
    return seconds > 0.0 ? timed.work * static_cast<double>(timed.rounds) / seconds : none;
}

Sample take_one(TimedPoint const& timed, std::uint32_t point, std::uint32_t repetition) {
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
        double const value = value_of(timed);
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
    std::vector<bool> filled(bench.points.size(), false);
    double const all = static_cast<double>(bench.points.size()) * plan.repetitions;
    std::size_t taken = done.size();
    for (std::uint32_t round = 0; round < plan.repetitions; ++round) {
        for (std::uint32_t const point : order_of_round(bench.points.size(), task.seed, round)) {
            if (watch.interrupted()) { return false; }
            if (done.contains({round, point})) { continue; }
            TimedPoint& timed = bench.points[point];
            if (!filled[point] && !timed.whole) { fill_slot(timed, plan.slot_seconds); }
            filled[point] = true;
            recorder.add(take_one(timed, point, round));
            watch.progress(static_cast<double>(++taken) / all);
        }
    }
    return true;
}

} // namespace headroom::cli
