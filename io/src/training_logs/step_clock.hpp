#pragma once

#include "headroom/training/logged_steps.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headroom::io {

/// Evaluations and checkpoints that a log has reported so far.
struct MarksSoFar {
    std::uint64_t evaluations = 0, checkpoints = 0;
    bool operator==(MarksSoFar const&) const = default;
};

/// Times of steps between the readings of a clock, over as many steps as its rounding asks for: steps that take longer because of an
/// evaluation or a checkpoint have windows of their own, and a step far longer than the latest ones is left out.
class StepClock {
public:
    StepClock(std::int64_t number, double seconds, double half_unit, MarksSoFar marks);
    /// A reading when step `number` was done, above the latest one; a step where a window is long enough.
    std::optional<training::LoggedStep> read(std::int64_t number, double seconds, double half_unit, MarksSoFar marks);
    /// The mean of what was read, where no window was long enough.
    [[nodiscard]] std::optional<training::LoggedStep> rest();
    [[nodiscard]] std::int64_t latest_number() const { return latest_number_; }
    [[nodiscard]] double latest_seconds() const { return seconds_; }
    [[nodiscard]] std::size_t outliers() const { return outliers_; }              ///< left out so far
    [[nodiscard]] std::size_t marked() const { return marked_.intervals.size(); } ///< with a mark, and in no step

private:
    struct Interval {
        double steps = 0.0, seconds = 0.0;
    };
    static std::vector<double> rates_of(std::span<Interval const> intervals);
    struct Window {
        std::vector<Interval> intervals = {};
        Interval sum = {};
        int pieces = 0; ///< stretches without a gap, each of which is rounded
        bool open = false;
        bool evaluation = false, checkpoint = false;
        void add(Interval const& one) {
            sum.steps += one.steps;
            sum.seconds += one.seconds;
        }
    };
    struct Limit {
        double step = 0.0, rounding = 0.0; ///< seconds: of a step, of an interval
    };
    [[nodiscard]] Limit limit() const;
    [[nodiscard]] bool waits(Window const& window) const;
    void remember(Interval const& interval);
    void leave_out_outliers(Window& window);
    [[nodiscard]] bool is_ordinary(Interval const& interval) const;
    [[nodiscard]] training::LoggedStep step_of(Window const& window) const;
    [[nodiscard]] bool is_long_enough(Window const& window) const;

    Window plain_, marked_;
    std::vector<Interval> latest_;                ///< without a mark, at most 255
    std::size_t oldest_ = 0;                      ///< of those
    std::int64_t number_ = 0, latest_number_ = 0; ///< when the clock moved last; the latest
    double seconds_ = 0.0, half_unit_ = 0.0;
    double latest_step_ = 0.0; ///< of a window without marked steps; 0: none yet
    MarksSoFar marks_;
    std::size_t outliers_ = 0;
    bool gave_ = false;
};

} // namespace headroom::io
