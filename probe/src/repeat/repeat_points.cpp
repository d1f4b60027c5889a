#include "headroom/counter_random.hpp"
#include "headroom/probe/machine_facts.hpp"
#include "headroom/probe/repeat.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>

namespace headroom::probe {
namespace {

constexpr double noisy = 0.1, believed_drift = 0.05;

struct PointState {
    std::vector<double> rounds;
    std::vector<double> deviations; ///< of single repetitions from the median of their round, over it
    std::uint32_t repetitions = 0;
    int failures = 0;
    std::string last_failure;
    bool narrow = false;
};

std::string percent(double share) { return format_count(100.0 * share, 2) + " %"; }

class Repeating {
public:
    Repeating(RepeatTask const& task, RepeatOptions const& options, SampleSink const& sink, std::stop_token const& stop,
              RepeatWorld const& world)
        : task_{task},
          options_{options},
          sink_{sink},
          stop_{stop},
          world_{world},
          random_{options.seed},
          began_{world.seconds()},
          states_(task.points) {
        take_up_earlier();
    }

    RepeatReport run() {
        for (int round = 0; !stop_.stop_requested() && round < options_.most_rounds; ++round) {
            double const spent = world_.seconds() - began_;
            if (round > 0 && spent >= options_.seconds) { break; }
            auto const order = draw(spent);
            if (order.empty()) { break; }
            if (task_.before_round) { task_.before_round(); }
            for (std::uint32_t const point : order) {
                bool const late = round > 0 && world_.seconds() - began_ >= options_.seconds;
                if (late || stop_.stop_requested()) { break; }
                visit(point);
            }
            ++report_.rounds;
        }
        return finished();
    }

private:
    void take_up_earlier() {
        for (std::uint32_t point = 0; point < states_.size(); ++point) {
            states_[point].rounds = round_medians(task_.earlier, point);
            judge(states_[point]);
        }
        for (Sample const& sample : task_.earlier) {
            if (sample.point >= states_.size()) { continue; }
            auto& next = states_[sample.point].repetitions;
            next = std::max(next, sample.repetition + 1);
        }
    }

    [[nodiscard]] bool left_alone(PointState const& state) const { return state.failures >= options_.most_failures; }

    /// Those that are not narrow; all of them, while rounds have not been spread over enough time.
    std::vector<std::uint32_t> draw(double spent) {
        std::vector<std::uint32_t> order;
        bool const early = spent < std::min(options_.least_seconds, options_.seconds) && !earlier_is_enough();
        for (std::uint32_t point = 0; point < states_.size(); ++point) {
            auto const& state = states_[point];
            if (!left_alone(state) && (early || !state.narrow)) { order.push_back(point); }
        }
        for (std::size_t i = order.size(); i > 1; --i) {
            std::swap(order[i - 1], order[static_cast<std::size_t>(random_.below(static_cast<int>(i)))]);
        }
        return order;
    }

    /// A run that goes on with nothing left to do is not begun anew.
    [[nodiscard]] bool earlier_is_enough() const {
        return !task_.earlier.empty() && report_.rounds == 0 && std::ranges::all_of(states_, &PointState::narrow);
    }

    /// One repetition, kept. Nothing where it failed or was stopped.
    std::optional<double> repetition(std::uint32_t point, bool warming) {
        auto& state = states_[point];
        Sample sample{.point = point, .repetition = state.repetitions};
        sample.began_ns = world_.now_ns();
        double const load = world_.load();
        sample.load = load;
        report_.most_load = std::max(report_.most_load, load);
        std::optional<double> value;
        try {
            value = task_.measure_once(point, stop_);
            if (!value) { return value; }
            if (!std::isfinite(*value)) {
                value.reset();
                sample.outcome = SampleOutcome::unreadable;
                sample.message = "the result is no finite number";
            }
        } catch (std::exception const& problem) {
            sample.outcome = SampleOutcome::failed;
            sample.message = problem.what();
        }
        if (value) {
            sample.value = *value;
            sample.outcome = warming ? SampleOutcome::warm_up : SampleOutcome::measured;
        } else {
            ++state.failures;
            state.last_failure = sample.message;
        }
        ++state.repetitions;
        if (sink_) { sink_(sample); }
        return value;
    }

    /// Until two repetitions agree, or a bound. Whether there is something to measure.
    bool warm_up(std::uint32_t point) {
        int const bound =
            std::max(states_[point].rounds.empty() ? options_.most_warm_ups : options_.most_warm_ups / 3, 1);
        std::optional<double> last;
        for (int i = 0; i < bound; ++i) {
            auto const value = repetition(point, true);
            if (!value) { return false; }
            if (last && std::abs(*value - *last) <= options_.settled * std::abs(*last)) { break; }
            last = value;
        }
        return true;
    }

    void visit(std::uint32_t point) {
        if (!warm_up(point)) { return; }
        auto& state = states_[point];
        std::vector<double> values;
        for (int i = 0; i < std::max(options_.in_round, 1); ++i) {
            auto const value = repetition(point, false);
            if (!value) { break; }
            values.push_back(*value);
        }
        if (values.empty()) { return; }
        double const median = summarize(values).median;
        for (double const value : values) { // not of the one that is the median itself
            if (value != median) { state.deviations.push_back(std::abs(value / median - 1.0)); }
        }
        state.rounds.push_back(median);
        judge(state);
    }

    void judge(PointState& state) const {
        if (state.rounds.size() < static_cast<std::size_t>(std::max(options_.least_rounds, 2))) { return; }
        auto const interval = repeat_interval(state.rounds, options_.least_half_width);
        bool const enough = interval.worth() >= std::min<double>(options_.least_worth, options_.least_rounds);
        state.narrow = enough && interval.width() <= options_.width;
    }

    RepeatReport finished() {
        report_.seconds = world_.seconds() - began_;
        report_.stopped = stop_.stop_requested();
        for (PointState const& state : states_) { report_.points.push_back(told(state)); }
        tell_drift();
        return report_;
    }

    [[nodiscard]] RepeatedPoint told(PointState const& state) const {
        RepeatedPoint point;
        if (state.failures > 0) {
            point.remarks.push_back(std::to_string(state.failures) +
                                    (state.failures == 1 ? " repetition failed: " : " repetitions failed: ") +
                                    state.last_failure);
        }
        if (state.rounds.empty()) {
            point.remarks.emplace_back("not measured");
            return point;
        }
        point.interval = repeat_interval(state.rounds, options_.least_half_width);
        point.narrow = state.narrow;
        point.drift = find_drift(state.rounds);
        if (!state.deviations.empty()) { point.noise = 1.4826 * summarize(state.deviations).median; }
        if (point.noise > noisy) {
            point.remarks.push_back("noisy: repetitions scatter by " + percent(point.noise) + " within a round");
        }
        auto const rounds = std::to_string(state.rounds.size()) + (state.rounds.size() == 1 ? " round" : " rounds");
        if (state.rounds.size() < 2) {
            point.remarks.push_back("one round: how far a repeat may be off is not known");
        } else if (!point.narrow) {
            point.remarks.push_back("the interval is " + percent(point.interval->width()) + " wide after " + rounds +
                                    ", " + percent(options_.width) + " was asked");
        }
        return point;
    }

    /// Of many points some rise or fall by chance alone: that is allowed for.
    void tell_drift() {
        std::vector<double> probabilities;
        for (auto const& point : report_.points) {
            if (point.drift) { probabilities.push_back(point.drift->probability); }
        }
        if (probabilities.empty()) { return; }
        auto const adjusted = adjusted_for_many(probabilities);
        std::size_t next = 0;
        for (auto& point : report_.points) {
            if (!point.drift) { continue; }
            double const probability = adjusted[next++];
            double const change = point.drift->change;
            if (probability >= believed_drift || !(std::abs(change) > options_.least_half_width)) { continue; }
            point.remarks.push_back((change > 0.0 ? "rose by " : "fell by ") + percent(std::abs(change)) +
                                    " from the first round to the last: the machine was not steady");
        }
    }

    RepeatTask const& task_;
    RepeatOptions const& options_;
    SampleSink const& sink_;
    std::stop_token const& stop_;
    RepeatWorld const& world_;
    CounterRandom random_;
    double began_;
    std::vector<PointState> states_;
    RepeatReport report_;
};

} // namespace

RepeatWorld this_machine() {
    auto const seconds = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    return {seconds, now_ns, load_now};
}

RepeatReport repeat_points(RepeatTask const& task, RepeatOptions const& options, SampleSink const& sink,
                           std::stop_token stop, RepeatWorld const& world) {
    return Repeating{task, options, sink, stop, world}.run();
}

} // namespace headroom::probe
