#include "training_logs/training_log_builder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace headroom::io {
namespace {

/// Lines since the last step of one run and rank.
struct Window {
    std::int64_t micro = 0, last_micro = 0, number = 0; ///< at its begin; the last
    double sum = 0.0, half_unit = 0.0;
    int lines = 0;
    bool whole = false; ///< begins where a step was done
};

/// Micro-batches and the steps they make.
struct Tally {
    double micros = 0.0, steps = 0.0;
    void add(RawStep const& raw, Window const& window) {
        micros += static_cast<double>(raw.micro - window.micro);
        steps += static_cast<double>(raw.step.number - window.number);
    }
};

class Joiner {
public:
    void take(RawStep const& raw) {
        numbers_.push_back(raw.micro);
        auto const [at, begins] = windows_.try_emplace({raw.step.run, raw.step.rank});
        Window& window = at->second;
        bool const first = begins && raw.micro <= 1 && raw.step.number == 0;
        zero_based_ |= raw.micro == 0;
        if (begins || raw.micro < window.last_micro) {
            window = {.micro = first ? 0 : raw.micro, .number = raw.step.number, .whole = first};
        }
        window.last_micro = raw.micro;
        window.sum += raw.step.seconds;
        window.half_unit = std::max(window.half_unit, raw.step.half_unit);
        ++window.lines;
        if (raw.step.number <= window.number) { return; }
        if (window.whole) {
            (window.number == 0 ? beginning_ : later_).add(raw, window);
            RawStep step = raw;
            step.step.steps = raw.step.number - window.number;
            step.step.seconds = window.sum / window.lines;
            step.step.half_unit = window.half_unit;
            joined_.push_back(std::move(step));
        }
        window = {.micro = raw.micro, .last_micro = raw.micro, .number = raw.step.number, .whole = true};
    }
    /// Micro-batches of a step; the first one alone may be numbered in another way than the others.
    [[nodiscard]] double each() const {
        Tally const& tally = later_.steps > 0.0 || zero_based_ ? later_ : beginning_;
        return tally.steps > 0.0 ? tally.micros / tally.steps : 0.0;
    }
    [[nodiscard]] bool zero_based() const { return zero_based_; }
    /// Whether all lines are of the same micro-batch of their steps: the last one holds the optimizer.
    [[nodiscard]] bool one_of_each() const {
        auto const every = std::llround(each());
        return every > 1 && std::ranges::all_of(numbers_, [&](std::int64_t number) {
                   return (number - numbers_.front()) % every == 0;
               });
    }
    [[nodiscard]] std::vector<RawStep>& joined() { return joined_; }

private:
    std::map<std::pair<int, int>, Window> windows_;
    std::vector<RawStep> joined_;
    std::vector<std::int64_t> numbers_;
    Tally beginning_, later_;
    bool zero_based_ = false;
};

/// Means over as many successive lines as pass all micro-batches of a step, of those that time batches without a number of their own:
/// one of them has the optimizer.
void average_batches(std::vector<RawStep>& raws, std::int64_t each) {
    std::map<std::pair<int, int>, std::vector<RawStep>> waiting; // by run and rank
    std::vector<RawStep> averaged;
    bool any = false;
    for (RawStep const& raw : raws) {
        if (!raw.counts_micro_batches || raw.of_clock || raw.figure != StepFigure::seconds) {
            averaged.push_back(raw);
            continue;
        }
        auto& lines = waiting[{raw.step.run, raw.step.rank}];
        std::int64_t const passed = lines.empty() ? 1 : raw.step.number - lines.back().step.number;
        if (passed < 1) { lines.clear(); }
        lines.push_back(raw);
        std::int64_t const between = lines.size() > 1 ? passed : lines.back().step.steps;
        auto const window = static_cast<std::size_t>(each / std::gcd(each, std::max<std::int64_t>(between, 1)));
        if (lines.size() < window) { continue; }
        RawStep mean = lines.back();
        double sum = 0.0;
        for (RawStep const& line : lines) { sum += line.step.seconds; }
        mean.step.seconds = sum / static_cast<double>(lines.size());
        averaged.push_back(std::move(mean));
        lines.clear();
        any = true;
    }
    if (any) { raws = std::move(averaged); }
}

} // namespace

bool join_micro_batches(std::vector<RawStep>& raws, MicroBatches& found) {
    Joiner joiner;
    RawStep const* last = nullptr;
    for (RawStep const& raw : raws) {
        if (raw.micro < 0) { continue; }
        joiner.take(raw);
        last = &raw;
    }
    found.counted = joiner.each();
    found.one_of_each = joiner.one_of_each();
    // Both are counted from the beginning of training.
    bool const whole =
        last != nullptr && !joiner.zero_based() && last->step.number > 0 && last->micro % last->step.number == 0;
    if (found.each() <= 0.0 && whole) { found.counted = static_cast<double>(last->micro / last->step.number); }
    if (found.each() <= 0.0) { return false; }
    constexpr double least = 1.05;
    if (found.counted > 0.0 && found.counted < least) { // steps are counted twice
        found.counted = 1.0;
        return true;
    }
    average_batches(raws, std::max(std::llround(found.each()), 1LL));
    bool const alone = joiner.joined().empty(); // no two lines with other numbers of steps
    std::vector<RawStep> steps;
    for (RawStep const& raw : raws) {
        if (raw.micro < 0 || alone) { steps.push_back(raw); }
    }
    std::ranges::move(joiner.joined(), std::back_inserter(steps));
    for (RawStep& raw : steps) {
        if (raw.micro < 0 && !raw.counts_micro_batches) { continue; }
        double const factor = raw.figure == StepFigure::steps_per_second ? 1.0 / found.each() : found.each();
        raw.step.seconds *= factor;
        raw.step.half_unit *= factor;
    }
    raws = std::move(steps);
    return true;
}

} // namespace headroom::io
