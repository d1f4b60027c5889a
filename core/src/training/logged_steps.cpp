#include "headroom/training/logged_steps.hpp"

#include "base/statistics/normal.hpp"

#include "headroom/order_statistics.hpp"
#include "headroom/sample_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>

namespace headroom::training {
namespace {

constexpr double coverage = 0.9;
constexpr double robust_normal = 1.4826; ///< of the median deviation, for a normal distribution
constexpr double least_excess = 0.05;    ///< below it a slow line is ordinary scatter

/// A line with its use so far.
struct Line {
    LoggedStep step;
    StepUse use = StepUse::steady;
};

/// One line a run and step: the slowest of the ranks that printed it, with the marks of all.
std::vector<Line> joined_ranks(std::span<LoggedStep const> lines) {
    std::vector<Line> joined;
    joined.reserve(lines.size());
    for (LoggedStep const& line : lines) { joined.push_back({line}); }
    std::ranges::stable_sort(joined, {}, [](Line const& l) { return std::tuple{l.step.run, l.step.number}; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < joined.size(); ++i) {
        Line const& next = joined[i];
        bool const same =
            kept > 0 && joined[kept - 1].step.run == next.step.run && joined[kept - 1].step.number == next.step.number;
        if (!same) {
            joined[kept++] = next;
            continue;
        }
        LoggedStep& last = joined[kept - 1].step;
        bool const evaluation = last.evaluation || next.step.evaluation;
        bool const checkpoint = last.checkpoint || next.step.checkpoint;
        if (next.step.seconds > last.seconds) { last = next.step; }
        last.evaluation = evaluation;
        last.checkpoint = checkpoint;
    }
    joined.resize(kept);
    return joined;
}

std::vector<double> steady_values(std::span<Line const> lines) {
    std::vector<double> values;
    for (Line const& line : lines) {
        if (line.use == StepUse::steady) { values.push_back(line.step.seconds); }
    }
    return values;
}

/// Median, and the robust standard deviation over it.
struct Centre {
    double median = 0.0, spread = 0.0;
};
Centre centre_of(std::vector<double> values) {
    if (values.empty()) { return {}; }
    double const median = quantile(values, 0.5);
    for (double& value : values) { value = std::abs(value - median); }
    return {median, robust_normal * quantile(std::move(values), 0.5) / median};
}

/// Leaves the lines of another batch out; the batch of most lines, the later of two with equally many.
int leave_out_batches(std::vector<Line>& lines) {
    std::map<int, std::size_t> counts;
    int most = 0;
    for (Line const& line : lines) {
        if (line.step.batch > 0 && ++counts[line.step.batch] >= counts[most]) { most = line.step.batch; }
    }
    for (Line& line : lines) {
        if (line.step.batch > 0 && line.step.batch != most) { line.use = StepUse::other_batch; }
    }
    return most;
}

/// Leaves marked lines out; false where most lines are marked.
bool leave_out_marked(std::vector<Line>& lines) {
    std::size_t steady = 0, marked = 0;
    for (Line const& line : lines) {
        if (line.use != StepUse::steady) { continue; }
        ++steady;
        marked += line.step.evaluation || line.step.checkpoint ? 1 : 0;
    }
    if (2 * marked > steady) { return false; }
    for (Line& line : lines) {
        if (line.use != StepUse::steady) { continue; }
        if (line.step.checkpoint) { line.use = StepUse::checkpoint; }
        if (line.step.evaluation) { line.use = StepUse::evaluation; }
    }
    return true;
}

/// Steps that warming up may take at most: ten, or a tenth of all.
double most_warm_up(double steps) { return std::max(10.0, 0.1 * steps); }

constexpr std::size_t fewest = 3; ///< lines that have a median to rely on

/// Warm-up of the steady lines of one run.
void leave_out_warm_up(std::span<Line* const> run) {
    if (run.size() < fewest) { return; }
    std::size_t const half = run.size() / 2;
    std::vector<double> later;
    for (std::size_t i = half; i < run.size(); ++i) { later.push_back(run[i]->step.seconds); }
    Centre const centre = centre_of(std::move(later));
    double const limit = centre.median * (1.0 + std::max(least_excess, 4.0 * centre.spread));
    std::size_t count = 1;
    auto const slow = [&](std::size_t i) { return i < run.size() && run[i]->step.seconds > limit; };
    double all = 0.0, warm = static_cast<double>(run.front()->step.steps);
    for (Line const* line : run) { all += static_cast<double>(line->step.steps); }
    for (; count < half && (slow(count) || slow(count + 1)); ++count) {
        warm += static_cast<double>(run[count]->step.steps);
    }
    if (count > 1 && warm > most_warm_up(all)) { return leave_out_warm_up(run.first(count)); } // another time of a step
    for (std::size_t i = 0; i < count; ++i) { run[i]->use = StepUse::warm_up; }
}

void leave_out_warm_ups(std::vector<Line>& lines) {
    std::map<int, std::vector<Line*>> runs;
    for (Line& line : lines) {
        if (line.use == StepUse::steady) { runs[line.step.run].push_back(&line); }
    }
    for (auto const& [number, run] : runs) { leave_out_warm_up(run); }
}

void leave_out_outliers(std::span<Line> lines) {
    Centre const centre = centre_of(steady_values(lines));
    double const limit = std::max(least_excess, 5.0 * centre.spread);
    for (Line& line : lines) {
        bool const far = std::abs(std::log(line.step.seconds / centre.median)) > limit;
        if (line.use == StepUse::steady && far) { line.use = StepUse::outlier; }
    }
}

/// The index behind which the values lie lowest or highest as a whole: where the sum of ranks from the first on is farthest
/// from what it would be without order.
std::size_t likeliest_split(std::vector<double> const& values) {
    std::vector<double> sorted = values;
    std::ranges::sort(sorted);
    double sum = 0.0, farthest = 0.0;
    std::size_t split = 0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        auto const below = std::ranges::lower_bound(sorted, values[i]) - sorted.begin();
        auto const upto = std::ranges::upper_bound(sorted, values[i]) - sorted.begin();
        sum +=
            static_cast<double>(below + upto) - static_cast<double>(values.size()); // twice the mean rank less the mean
        if (std::abs(sum) > farthest) {
            farthest = std::abs(sum);
            split = i + 1;
        }
    }
    return split;
}

struct Split {
    StepRegimes regimes;
    std::size_t line = 0; ///< first of the second regime
};
std::optional<Split> split_of(std::span<Line const> lines) {
    std::vector<double> values;
    std::vector<std::size_t> places;
    double steps[2] = {0.0, 0.0};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].use != StepUse::steady) { continue; }
        values.push_back(lines[i].step.seconds);
        places.push_back(i);
    }
    std::size_t const split = likeliest_split(values);
    if (split < fewest || values.size() - split < fewest) { return std::nullopt; }
    for (std::size_t i = 0; i < places.size(); ++i) {
        steps[i < split ? 0 : 1] += static_cast<double>(lines[places[i]].step.steps);
    }
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(split);
    Centre const first = centre_of({values.begin(), middle}), second = centre_of({middle, values.end()});
    double const apart = std::abs(std::log(second.median / first.median));
    bool const changed = std::min(steps[0], steps[1]) > most_warm_up(steps[0] + steps[1]) && apart > least_excess &&
                         apart > 2.0 * (first.spread + second.spread);
    if (!changed) { return std::nullopt; }
    return Split{{Seconds{first.median}, Seconds{second.median}, lines[places[split - 1]].step.number}, places[split]};
}

/// Every so many values, at most 300: the test of drift compares all pairs.
std::vector<double> thinned(std::vector<double> const& values) {
    constexpr std::size_t most = 300;
    std::size_t const stride = (values.size() + most - 1) / most;
    std::vector<double> some;
    for (std::size_t i = 0; i < values.size(); i += std::max<std::size_t>(stride, 1)) { some.push_back(values[i]); }
    return some;
}

std::optional<StepDrift> drift_of(std::vector<double> const& values) {
    constexpr double least_change = 0.03, chance = 0.01;
    auto const drift = find_drift(thinned(values));
    if (!drift || drift->probability > chance || std::abs(drift->change) < least_change) { return std::nullopt; }
    return StepDrift{drift->change, drift->probability};
}

/// The median of a third: 0 the first, 2 the last.
double median_of_third(std::vector<double> const& values, std::size_t third) {
    std::size_t const size = std::max<std::size_t>(values.size() / 3, 1);
    auto const begin = values.begin() + static_cast<std::ptrdiff_t>(third == 0 ? 0 : values.size() - size);
    return quantile({begin, begin + static_cast<std::ptrdiff_t>(size)}, 0.5);
}

void set_interval(SteadyStep& steady, std::vector<double> const& values, double half_unit) {
    auto const summary = summarize(values, coverage);
    double low = summary.low, high = summary.high;
    if (values.size() > 1 && summary.coverage < coverage) {
        auto const z = [](double share) { return normal_exceeded_by(0.5 * (1.0 - share)); };
        double const wider = z(coverage) / z(summary.coverage);
        low = summary.median * std::pow(low / summary.median, wider);
        high = summary.median * std::pow(high / summary.median, wider);
    }
    if (steady.drift) {
        double const first = median_of_third(values, 0), last = median_of_third(values, 2);
        low = std::min({low, first, last});
        high = std::max({high, first, last});
    }
    if (steady.regimes) {
        low = std::min({low, steady.regimes->first.base(), steady.regimes->second.base()});
        high = std::max({high, steady.regimes->first.base(), steady.regimes->second.base()});
    }
    constexpr double scatter_of_means = 0.03;
    if (values.size() == 1) { half_unit = std::max(half_unit, scatter_of_means * summary.median); }
    half_unit = std::min(half_unit, 0.5 * summary.median);
    steady.step = Seconds{summary.median};
    steady.low = Seconds{std::min(low, summary.median - half_unit)};
    steady.high = Seconds{std::max(high, summary.median + half_unit)};
    steady.spread = summary.spread;
}

} // namespace

std::size_t& StepCounts::operator[](StepUse use) {
    switch (use) {
    case StepUse::other_batch: return other_batch;
    case StepUse::evaluation: return evaluation;
    case StepUse::checkpoint: return checkpoint;
    case StepUse::warm_up: return warm_up;
    case StepUse::outlier: return outliers;
    case StepUse::steady: break;
    }
    return steady;
}

double SteadyStep::deviation() const {
    constexpr double ninety_per_cent = 1.6449;
    return std::log(high / low) / (2.0 * ninety_per_cent);
}

double SteadyStep::share_left_out() const {
    return 1.0 - static_cast<double>(counts.steady) / static_cast<double>(std::max<std::size_t>(counts.read, 1));
}

std::string LogAnswer::fact(std::string const& option) const {
    auto const found = std::ranges::find(facts, option, &LogFact::option);
    return found == facts.end() ? std::string{} : found->value;
}

std::optional<SteadyStep> steady_step(std::span<LoggedStep const> given) {
    std::vector<Line> lines = joined_ranks(given);
    if (lines.empty()) { return std::nullopt; }
    SteadyStep result;
    result.batch = leave_out_batches(lines);
    result.marked_everywhere = !leave_out_marked(lines);
    leave_out_warm_ups(lines);
    auto const split = split_of(lines);
    std::span<Line> const all_lines{lines};
    if (split) {
        result.regimes = split->regimes;
        leave_out_outliers(all_lines.first(split->line));
        leave_out_outliers(all_lines.subspan(split->line));
    } else {
        leave_out_outliers(all_lines);
    }
    std::set<int> runs, ranks;
    for (LoggedStep const& line : given) {
        runs.insert(line.run);
        ranks.insert(line.rank);
    }
    result.runs = static_cast<int>(runs.size());
    result.ranks = static_cast<int>(ranks.size());
    double all = 0.0, steps = 0.0, half_unit = 0.0;
    for (Line const& line : lines) {
        ++result.counts.read;
        ++result.counts[line.use];
        if (line.use == StepUse::other_batch) { continue; }
        all += line.step.seconds * static_cast<double>(line.step.steps);
        steps += static_cast<double>(line.step.steps);
        if (line.use == StepUse::steady) { half_unit = std::max(half_unit, line.step.half_unit); }
    }
    auto const values = steady_values(lines);
    result.drift = drift_of(values);
    set_interval(result, values, half_unit);
    result.steady_share = std::min(1.0, steps * result.step.base() / all);
    return result;
}

} // namespace headroom::training
