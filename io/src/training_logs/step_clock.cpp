#include "training_logs/step_clock.hpp"

#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::io {

using training::LoggedStep;

/// Seconds a step of each.
std::vector<double> StepClock::rates_of(std::span<Interval const> intervals) {
    std::vector<double> rates;
    for (Interval const& one : intervals) { rates.push_back(one.seconds / one.steps); }
    return rates;
}

StepClock::StepClock(std::int64_t number, double seconds, double half_unit, MarksSoFar marks)
    : number_{number}, latest_number_{number}, seconds_{seconds}, half_unit_{half_unit}, marks_{marks} {}

/// Mean over a window, with the rounding of its pieces.
LoggedStep StepClock::step_of(Window const& window) const {
    return {.number = latest_number_,
            .steps = static_cast<std::int64_t>(window.sum.steps),
            .seconds = window.sum.seconds / window.sum.steps,
            .half_unit = 2.0 * half_unit_ * std::sqrt(static_cast<double>(window.pieces)) / window.sum.steps,
            .evaluation = window.evaluation,
            .checkpoint = window.checkpoint};
}

/// Whether the rounding of a window's mean is small.
bool StepClock::is_long_enough(Window const& window) const {
    constexpr double fine = 0.02; ///< rounding of a step that is small enough
    if (window.intervals.empty()) { return false; }
    LoggedStep const step = step_of(window);
    return step.seconds > 0.0 && step.half_unit <= fine * step.seconds;
}

/// Most that an unmarked interval may take: the median of the latest by a quarter, five robust deviations and the rounding.
StepClock::Limit StepClock::limit() const {
    constexpr double least_excess = 0.25, robust_normal = 1.4826;
    std::vector<double> values = rates_of(latest_);
    double const median = quantile(values, 0.5);
    for (double& value : values) { value = std::abs(value - median); }
    double const excess = std::max(least_excess * median, 5.0 * robust_normal * quantile(std::move(values), 0.5));
    return {median + excess, 4.0 * half_unit_};
}

/// Whether a window waits: some of its intervals differ, and there are too few to say which are far.
bool StepClock::waits(Window const& window) const {
    constexpr std::size_t fewest = 5;
    constexpr double most_ratio = 1.25;
    if (latest_.size() >= fewest) { return false; }
    double const least = std::ranges::min(rates_of(latest_));
    return std::ranges::any_of(window.intervals, [&](Interval const& one) {
        return one.seconds > most_ratio * least * one.steps + 4.0 * half_unit_;
    });
}

/// Leaves out of a window what takes far longer than all intervals do, unless more than a quarter of those do: they are no single
/// events.
void StepClock::leave_out_outliers(Window& window) {
    constexpr std::size_t fewest = 5;
    if (latest_.size() < fewest) { return; }
    Limit const most = limit();
    auto const far = [&](Interval const& one) { return one.seconds > most.step * one.steps + most.rounding; };
    auto const count = static_cast<std::size_t>(std::ranges::count_if(window.intervals, far));
    auto const of_all = static_cast<std::size_t>(std::ranges::count_if(latest_, far));
    if (count == 0 || 4 * of_all > latest_.size()) { return; }
    std::erase_if(window.intervals, far);
    window.sum = {};
    for (Interval const& one : window.intervals) { window.add(one); }
    window.pieces += static_cast<int>(count);
    outliers_ += count;
}

/// Whether an interval takes no longer than those before it, by a quarter and the rounding.
bool StepClock::is_ordinary(Interval const& interval) const {
    constexpr std::size_t fewest = 3, most = 99;
    constexpr double least_excess = 0.25;
    double step = latest_step_;
    std::span<Interval const> const latest{plain_.intervals};
    if (latest.size() >= fewest) { step = quantile(rates_of(latest.last(std::min(latest.size(), most))), 0.5); }
    return step > 0.0 && interval.seconds <= (1.0 + least_excess) * step * interval.steps + 2.0 * half_unit_;
}

/// Adds an unmarked interval to the latest.
void StepClock::remember(Interval const& interval) {
    constexpr std::size_t most = 255;
    if (latest_.size() < most) { return latest_.push_back(interval); }
    latest_[oldest_] = interval;
    oldest_ = (oldest_ + 1) % most;
}

std::optional<LoggedStep> StepClock::read(std::int64_t number, double seconds, double half_unit, MarksSoFar marks) {
    half_unit_ = half_unit;
    latest_number_ = number;
    if (!(seconds > seconds_)) { return std::nullopt; }
    Interval const interval{static_cast<double>(number - number_), seconds - seconds_};
    bool const evaluation = marks.evaluations != marks_.evaluations;
    bool const checkpoint = marks.checkpoints != marks_.checkpoints;
    bool const apart = (evaluation || checkpoint) && !is_ordinary(interval);
    number_ = number;
    seconds_ = seconds;
    marks_ = marks;
    Window& window = apart ? marked_ : plain_;
    (apart ? plain_ : marked_).open = false;
    window.pieces += window.open ? 0 : 1;
    window.open = true;
    window.evaluation |= evaluation;
    window.checkpoint |= checkpoint;
    window.intervals.push_back(interval);
    window.add(interval);
    if (!apart) { remember(interval); }
    if (!is_long_enough(window) || (!apart && waits(window))) { return std::nullopt; }
    if (!apart) { leave_out_outliers(window); }
    if (!is_long_enough(window)) { return std::nullopt; }
    LoggedStep const step = step_of(window);
    if (!apart) { latest_step_ = step.seconds; }
    window = {};
    gave_ = true;
    return step;
}

std::optional<LoggedStep> StepClock::rest() {
    if (gave_) { return std::nullopt; }
    leave_out_outliers(plain_);
    Window window = std::move(plain_.intervals.empty() ? marked_ : plain_);
    if (window.intervals.empty()) { return std::nullopt; }
    return step_of(window);
}

} // namespace headroom::io
