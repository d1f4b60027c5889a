#include "headroom/measure/round_plan.hpp"
#include "headroom/measure/run_order.hpp"
#include "headroom/probe/machine_facts.hpp"
#include "headroom/probe/roofline_bench.hpp"
#include "headroom/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace headroom::probe {

using namespace headroom::measure;

namespace {

constexpr std::uint32_t fewest = 6, most = 30; ///< repetitions that count
constexpr double usual_slot = 0.03, least_slot = 0.002, most_slot = 0.25;
constexpr double trying_share = 0.5;   ///< of the time, for the first repetitions of all points
constexpr double writing_share = 0.03; ///< of the time, for what follows: the answer and its files

/// Seconds of a run of so many rounds that it fills the slot, or a third of it at least. A run that was held up when the
/// rounds were found leaves them too few, and what is then timed is the start of threads: so every run is judged anew.
double seconds_that_fill(TimedPoint& timed, double slot, std::stop_token const& stop) {
    constexpr int most_tries = 16;
    constexpr double most_growth = 10.0, most_rounds = 1e15;
    double seconds = timed.seconds(timed.rounds);
    for (int i = 0; i < most_tries && seconds < slot / 3.0 && !stop.stop_requested(); ++i) {
        double const growth = seconds > 0.0 ? std::min(most_growth, slot / seconds) : most_growth;
        double const rounds = static_cast<double>(timed.rounds) * growth;
        if (rounds > most_rounds) { break; }
        timed.rounds = std::max(timed.rounds + 1, static_cast<std::uint64_t>(rounds));
        seconds = timed.seconds(timed.rounds);
    }
    return seconds;
}

/// Takes samples of the points within the time.
class Sampler {
public:
    Sampler(std::span<TimedPoint> points, RooflineTime const& time, std::span<Sample const> earlier,
            SampleSink const& keep, std::function<void(double)> const& progress, std::stop_token const& stop)
        : points_{points},
          time_{time},
          keep_{keep},
          progress_{progress},
          stop_{stop},
          end_{time.budget_seconds * (1.0 - writing_share)},
          costs_(points.size()),
          round_seconds_(points.size(), 0.0),
          tried_(points.size(), false),
          taken_{earlier.begin(), earlier.end()} {
        double const all = static_cast<double>(std::max<std::size_t>(points.size(), 1));
        double const left = std::max(0.0, end_ - time.now());
        slot_ = std::clamp(left / (all * (fewest + 4.0)), least_slot, usual_slot);
        for (std::size_t i = 0; i < points.size(); ++i) { costs_[i].essential = points[i].essential; }
    }

    RooflineSampling run(std::uint64_t seed) {
        try_all();
        RoundPlan const plan = planned();
        take_rounds(plan, seed);
        RooflineSampling result{.interrupted = stop_.stop_requested(), .left_out = {}};
        for (std::size_t i = 0; i < points_.size() && !result.interrupted; ++i) {
            if (!plan.taken[i]) { result.left_out.push_back(reason_of(i)); }
        }
        return result;
    }

private:
    [[nodiscard]] bool there(std::uint32_t point, std::uint32_t repetition) const {
        return std::ranges::any_of(
            taken_, [&](Sample const& one) { return one.point == point && one.repetition == repetition; });
    }

    /// Not a number: it could not be had.
    double value_of(std::uint32_t point) {
        TimedPoint& timed = points_[point];
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        if (timed.whole) { return timed.whole(stop_).value_or(none); }
        double const seconds = seconds_that_fill(timed, slot_, stop_);
        round_seconds_[point] = seconds / static_cast<double>(timed.rounds);
        return seconds > 0.0 ? timed.work * static_cast<double>(timed.rounds) / seconds : none;
    }

    /// Takes and keeps one repetition; one that a stop cut short is none.
    void take(PlannedRun const& run) {
        Sample sample{.point = run.point,
                      .repetition = run.repetition,
                      .outcome = run.warm_up ? SampleOutcome::warm_up : SampleOutcome::measured,
                      .began_ns = now_ns(),
                      .load = load_now()};
        auto const fail = [&sample](std::string why) {
            sample.outcome = SampleOutcome::unreadable;
            sample.message = std::move(why);
        };
        double const begin = time_.now();
        try {
            double const value = value_of(run.point);
            if (std::isfinite(value) && value > 0.0) {
                sample.value = value;
            } else {
                fail("the clock or the result gave no number");
            }
        } catch (std::runtime_error const& error) { fail(error.what()); }
        if (stop_.stop_requested()) { return; }
        costs_[run.point].seconds = time_.now() - begin;
        tried_[run.point] = true;
        taken_.push_back(sample);
        keep_(sample);
    }

    /// The first repetition of every point, essential ones first; the costliest once more, without what was made for it.
    void try_all() {
        double const begin = time_.now(), until = begin + trying_share * (end_ - begin);
        for (bool const essential : {true, false}) {
            for (std::uint32_t point = 0; point < points_.size(); ++point) { // smaller products before larger ones
                if (points_[point].essential != essential) { continue; }
                if (stop_.stop_requested() || time_.now() > until) { return; }
                if (takes_too_long(point)) { continue; }
                PlannedRun run{point, 0, true};
                while (there(run.point, run.repetition)) { run = {run.point, run.repetition + 1, false}; }
                take(run);
                bool const costly = costs_[run.point].seconds > 2.0 * slot_;
                PlannedRun const second{run.point, run.repetition + 1, false};
                if (costly && time_.now() < until && !there(second.point, second.repetition)) { take(second); }
                progress_((time_.now() - begin) / (end_ - begin));
            }
        }
    }

    /// Nothing stops a product amid its work: one that keeps Ctrl-C waiting is left out, as a smaller one shows.
    [[nodiscard]] bool takes_too_long(std::uint32_t point) const {
        constexpr double longest = 0.7;
        auto const& smaller = points_[point].smaller;
        return smaller && round_seconds_[*smaller] * points_[point].work / points_[*smaller].work > longest;
    }

    [[nodiscard]] RoundPlan planned() {
        double const left = std::max(0.0, end_ - time_.now());
        constexpr double no_time = 1e9;
        std::vector<PointCost> costs = costs_;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            if (!tried_[i]) { costs[i] = {.seconds = no_time, .essential = false}; }
        }
        RoundPlan plan = plan_rounds(costs, left, fewest, most);
        for (Sample const& one : taken_) { plan.repetitions = std::max(plan.repetitions, one.repetition); }
        return plan;
    }

    void take_rounds(RoundPlan const& plan, std::uint64_t seed) {
        double round_cost = 0.0;
        for (std::size_t i = 0; i < points_.size(); ++i) { round_cost += plan.taken[i] ? costs_[i].seconds : 0.0; }
        auto const left = runs_left(planned_order(points_.size(), 1, plan.repetitions, seed), taken_);
        double const begin = time_.now();
        if (plan.repetitions == most && round_cost > 0.0) { // time is left over: longer repetitions
            slot_ = std::clamp(slot_ * (end_ - begin) / (round_cost * most), slot_, most_slot);
        }
        std::uint32_t round = 0;
        for (PlannedRun const& run : left) {
            if (stop_.stop_requested()) { return; }
            if (!plan.taken[run.point]) { continue; }
            bool const begins = std::exchange(round, run.repetition) != run.repetition;
            double const now = time_.now();
            if (now + (begins && run.repetition > fewest ? round_cost : costs_[run.point].seconds) > end_) { return; }
            if (begins) { round_cost = cost_of_round(plan); }
            take(run);
            progress_(std::min(1.0, (time_.now() - begin) / std::max(end_ - begin, 1e-9)));
        }
    }

    [[nodiscard]] double cost_of_round(RoundPlan const& plan) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < points_.size(); ++i) { sum += plan.taken[i] ? costs_[i].seconds : 0.0; }
        return sum;
    }

    [[nodiscard]] std::string reason_of(std::size_t point) const {
        std::string const& label = points_[point].point.label;
        if (takes_too_long(static_cast<std::uint32_t>(point))) { return label + ": one product takes too long"; }
        if (!tried_[point]) { return label + ": no time was left to try it (--time allows more)"; }
        return label + ": a repetition takes " + text::significant(costs_[point].seconds, 2) +
               " s, and the time allows none (--time allows more)";
    }

    std::span<TimedPoint> points_;
    RooflineTime const& time_;
    SampleSink const& keep_;
    std::function<void(double)> const& progress_;
    std::stop_token const& stop_;
    double end_, slot_ = usual_slot;
    std::vector<PointCost> costs_;
    std::vector<double> round_seconds_; ///< of one round; 0: not known
    std::vector<bool> tried_;
    std::vector<Sample> taken_;
};

} // namespace

RooflineSampling take_samples(std::span<TimedPoint> points, RooflineTime const& time, std::uint64_t seed,
                              std::span<Sample const> earlier, SampleSink const& keep,
                              std::function<void(double)> const& progress, std::stop_token const& stop) {
    return Sampler{points, time, earlier, keep, progress, stop}.run(seed);
}

} // namespace headroom::probe
