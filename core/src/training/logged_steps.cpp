#include "headroom/training/logged_steps.hpp"

#include "training/step_interval.hpp"

#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>

namespace headroom::training {
namespace {

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

/// Whether two times of a step differ by more than ordinary scatter.
bool differ(Centre const& a, Centre const& b) {
    double const apart = std::abs(std::log(a.median / b.median));
    return apart > least_excess && apart > 2.0 * (a.spread + b.spread);
}

constexpr std::size_t fewest = 3; ///< lines that have a median to rely on

/// Lines of a run: their times, and how often each batch stands there.
struct RunLines {
    std::vector<double> seconds;
    std::map<int, std::size_t> batches;
    [[nodiscard]] Centre centre() const { // without the first, which warms up
        return centre_of({seconds.begin() + (seconds.size() > 1 ? 1 : 0), seconds.end()});
    }
    [[nodiscard]] int batch() const {
        auto const most = std::ranges::max_element(batches, {}, [](auto const& one) { return one.second; });
        return most == batches.end() ? 0 : most->first;
    }
};

/// Leaves out the earlier runs whose batch or time of a step is not that of the last run of three lines; their medians.
std::vector<Seconds> leave_out_runs(std::vector<Line>& lines) {
    std::map<int, RunLines> runs;
    for (Line const& line : lines) {
        RunLines& run = runs[line.step.run];
        run.seconds.push_back(line.step.seconds);
        if (line.step.batch > 0) { ++run.batches[line.step.batch]; }
    }
    int last = runs.rbegin()->first;
    for (auto const& [number, run] : runs) {
        if (run.seconds.size() >= fewest) { last = number; }
    }
    std::size_t const comparable = std::min(fewest, runs[last].seconds.size());
    Centre const latest = runs[last].centre();
    int const batch = runs[last].batch();
    std::vector<Seconds> medians;
    std::set<int> others;
    for (auto const& [number, run] : runs) {
        Centre const earlier = run.centre();
        bool const other_batch = batch > 0 && run.batch() > 0 && run.batch() != batch;
        bool const alike = !other_batch && !differ(earlier, latest);
        if (number >= last || run.seconds.size() < comparable || alike) { continue; }
        medians.emplace_back(earlier.median);
        others.insert(number);
    }
    for (Line& line : lines) {
        if (others.contains(line.step.run)) { line.use = StepUse::other_run; }
    }
    return medians;
}

/// Leaves the lines of another batch out; the batch of most lines, the later of two with equally many.
int leave_out_batches(std::vector<Line>& lines) {
    std::map<int, std::size_t> counts;
    int most = 0;
    for (Line const& line : lines) {
        bool const stated = line.use == StepUse::steady && line.step.batch > 0;
        if (stated && ++counts[line.step.batch] >= counts[most]) { most = line.step.batch; }
    }
    for (Line& line : lines) {
        if (line.use == StepUse::steady && line.step.batch > 0 && line.step.batch != most) {
            line.use = StepUse::other_batch;
        }
    }
    return most;
}

/// Leaves marked lines out; false where most lines are marked and fewer than three are not.
bool leave_out_marked(std::vector<Line>& lines) {
    std::size_t steady = 0, marked = 0;
    for (Line const& line : lines) {
        if (line.use != StepUse::steady) { continue; }
        ++steady;
        marked += line.step.evaluation || line.step.checkpoint ? 1 : 0;
    }
    if (2 * marked > steady && steady - marked < fewest) { return false; }
    for (Line& line : lines) {
        if (line.use != StepUse::steady) { continue; }
        if (line.step.checkpoint) { line.use = StepUse::checkpoint; }
        if (line.step.evaluation) { line.use = StepUse::evaluation; }
    }
    return true;
}

/// Steps that warming up may take at most: ten, or a tenth of all.
double most_warm_up(double steps) { return std::max(10.0, 0.1 * steps); }

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

/// Leaves out lines far from the median; false where more than a fifth of ten or more lie there within threefold: steps of several
/// times, and no events.
bool leave_out_outliers(std::span<Line> lines) {
    constexpr std::size_t fewest_mixed = 10;
    auto const values = steady_values(lines);
    Centre const centre = centre_of(values);
    double const limit = std::max(least_excess, 5.0 * centre.spread), event = std::log(3.0);
    auto const distance = [&](double seconds) { return std::abs(std::log(seconds / centre.median)); };
    auto const mixed = static_cast<std::size_t>(std::ranges::count_if(
        values, [&](double seconds) { return distance(seconds) > limit && distance(seconds) <= event; }));
    bool const several = values.size() >= fewest_mixed && 5 * mixed > values.size();
    for (Line& line : lines) {
        bool const far = distance(line.step.seconds) > (several ? std::max(limit, event) : limit);
        if (line.use == StepUse::steady && far) { line.use = StepUse::outlier; }
    }
    return !several;
}

/// A steady line among those that are searched for regimes.
struct Place {
    double seconds = 0.0, steps = 0.0;
    std::size_t line = 0;
};

/// Sum of steps.
double steps_of(std::span<Place const> places) {
    double sum = 0.0;
    for (Place const& place : places) { sum += place.steps; }
    return sum;
}

Centre centre_of(std::span<Place const> first, std::span<Place const> second = {}) {
    std::vector<double> values;
    for (Place const& place : first) { values.push_back(place.seconds); }
    for (Place const& place : second) { values.push_back(place.seconds); }
    return centre_of(std::move(values));
}

/// The stretch whose values lie lowest or highest as a whole: that with the greatest sum of ranks, less what it would be without
/// order. It ends at an end of all where the time changed once.
std::pair<std::size_t, std::size_t> likeliest_stretch(std::span<Place const> places) {
    std::vector<double> sorted;
    for (Place const& place : places) { sorted.push_back(place.seconds); }
    std::ranges::sort(sorted);
    double sum = 0.0, lowest = 0.0, highest = 0.0;
    std::size_t low = 0, high = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        auto const below = std::ranges::lower_bound(sorted, places[i].seconds) - sorted.begin();
        auto const upto = std::ranges::upper_bound(sorted, places[i].seconds) - sorted.begin();
        sum +=
            static_cast<double>(below + upto) - static_cast<double>(places.size()); // twice the mean rank less the mean
        if (sum < lowest) {
            lowest = sum;
            low = i + 1;
        }
        if (sum > highest) {
            highest = sum;
            high = i + 1;
        }
    }
    return std::minmax(low, high);
}

constexpr std::size_t many = 5; ///< lines that are no single event

/// Up to five places before and behind one.
std::pair<std::span<Place const>, std::span<Place const>> sides_of(std::span<Place const> places, std::size_t at) {
    std::size_t const before = std::min(many, at), after = std::min(many, places.size() - at);
    return {places.subspan(at - before, before), places.subspan(at, after)};
}

/// Robust deviation of a line from its neighbours, on logarithms: that of the lines where the time of a step jumps or drifts.
double local_scatter(std::span<Place const> places) {
    std::vector<double> residuals;
    for (std::size_t i = 0; i < places.size(); ++i) {
        std::size_t const begin = i - std::min(many / 2, i), end = std::min(i + many / 2 + 1, places.size());
        double const median = centre_of(places.subspan(begin, end - begin)).median;
        residuals.push_back(std::abs(std::log(places[i].seconds / median)));
    }
    return residuals.empty() ? 0.0 : robust_normal * quantile(std::move(residuals), 0.5);
}

/// Steps of a log, and how far a line scatters about its neighbours.
struct Whole {
    double steps = 0.0, scatter = 0.0;
};

/// Whether the time of a step jumps at a place.
bool jumps(std::span<Place const> places, std::size_t at, Whole const& all) {
    auto const [before, after] = sides_of(places, at);
    if (before.empty() || after.empty()) { return true; } // an end of all
    double const apart = std::abs(std::log(centre_of(after).median / centre_of(before).median));
    return apart > std::max(least_excess, 4.0 * all.scatter);
}

/// The place nearest to one at which times are no longer more like those of the stretch behind it than of the one before it.
std::size_t exact_change(std::span<Place const> places, std::size_t at, double before, double after) {
    auto const is_after = [&](std::size_t i) {
        double const seconds = places[i].seconds;
        return std::abs(std::log(seconds / after)) < std::abs(std::log(seconds / before));
    };
    while (at > 1 && is_after(at - 1)) { --at; }
    while (at + 1 < places.size() && !is_after(at)) { ++at; }
    return at;
}

/// Adds the places at which the time of a step changes.
void add_changes(std::span<Place const> places, std::size_t offset, Whole const& all, std::set<std::size_t>& changes) {
    auto const enough = [&](std::span<Place const> some) {
        double const steps = steps_of(some);
        bool const single = some.size() < many || steps <= 0.1 * all.steps;
        return some.size() >= fewest && (steps > most_warm_up(all.steps) || !single);
    };
    auto [begin, end] = likeliest_stretch(places);
    if (!enough(places.first(begin))) { begin = 0; }
    if (!enough(places.subspan(end))) { end = places.size(); }
    if ((begin == 0 && end == places.size()) || !enough(places.subspan(begin, end - begin))) { return; }
    Centre const within = centre_of(places.subspan(begin, end - begin)),
                 outside = centre_of(places.first(begin), places.subspan(end));
    bool const apart = std::abs(std::log(within.median / outside.median)) > least_excess;
    if (!differ(within, outside) && !(apart && jumps(places, begin, all) && jumps(places, end, all))) { return; }
    std::size_t const exact_begin = begin > 0 ? exact_change(places, begin, outside.median, within.median) : 0;
    std::size_t const exact_end =
        end < places.size() ? exact_change(places, end, within.median, outside.median) : places.size();
    bool const still = exact_begin < exact_end && enough(places.subspan(exact_begin, exact_end - exact_begin)) &&
                       (begin == 0 || enough(places.first(exact_begin))) &&
                       (end == places.size() || enough(places.subspan(exact_end)));
    if (still) { std::tie(begin, end) = std::pair{exact_begin, exact_end}; }
    auto const before = places.first(begin), inside = places.subspan(begin, end - begin), after = places.subspan(end);
    changes.insert({offset + begin, offset + end});
    add_changes(before, offset, all, changes);
    add_changes(inside, offset + begin, all, changes);
    add_changes(after, offset + end, all, changes);
}

/// Lines of one time of a step.
struct Stretch {
    StepRegime regime;
    double steps = 0.0;
    std::size_t line = 0, end = 0; ///< its first, and the first behind it
};

bool alike(Stretch const& a, Stretch const& b) {
    return std::abs(std::log(a.regime.step / b.regime.step)) <= least_excess;
}

/// The stretches of a log; one where the time of a step does not change.
std::vector<Stretch> stretches_of(std::span<Line const> lines) {
    std::vector<Place> places;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].use != StepUse::steady) { continue; }
        places.push_back({lines[i].step.seconds, static_cast<double>(lines[i].step.steps), i});
    }
    std::span<Place const> const all{places};
    std::set<std::size_t> changes;
    add_changes(all, 0, Whole{steps_of(all), local_scatter(all)}, changes);
    changes.insert({0, places.size()});
    std::vector<Stretch> stretches;
    for (auto at = changes.begin(); std::next(at) != changes.end(); ++at) {
        auto const some = all.subspan(*at, *std::next(at) - *at);
        Stretch next{.regime = {Seconds{centre_of(some).median}, lines[some.front().line].step.number,
                                lines[some.back().line].step.number},
                     .steps = steps_of(some),
                     .line = some.front().line,
                     .end = some.back().line + 1};
        if (stretches.empty() || !alike(stretches.back(), next)) {
            stretches.push_back(next);
            continue;
        }
        Stretch& last = stretches.back(); // a change that was none
        last.regime.last_step = next.regime.last_step;
        last.steps += next.steps;
        last.end = next.end;
    }
    return stretches;
}

/// Leaves out outliers of each stretch, then the stretches of another time than most steps have, unless both come back: they are
/// steps of several times, as those of text of several lengths (`mixed`).
std::vector<StepRegime> leave_out_stretches(std::span<Line> lines, bool& mixed) {
    auto const stretches = stretches_of(lines);
    if (stretches.empty()) { return {}; }
    Stretch const* most = nullptr;
    double most_steps = 0.0, all_steps = 0.0, of_several_times = 0.0;
    for (Stretch const& one : stretches) {
        all_steps += one.steps;
        if (!leave_out_outliers(lines.subspan(one.line, one.end - one.line))) { of_several_times += one.steps; }
        double steps = 0.0;
        for (Stretch const& other : stretches) { steps += alike(one, other) ? other.steps : 0.0; }
        if (steps >= most_steps) {
            most_steps = steps;
            most = &one;
        }
    }
    mixed = of_several_times > 0.5 * all_steps;
    if (mixed) { return {}; } // stretches of steps of several times differ by chance
    std::vector<StepRegime> regimes;
    auto const of_most = std::ranges::count_if(stretches, [&](Stretch const& one) { return alike(one, *most); });
    bool const recurs = of_most >= 3 && std::ssize(stretches) - of_most >= 3;
    mixed = recurs;
    for (Stretch const& one : stretches) {
        if (stretches.size() > 1) { regimes.push_back(one.regime); }
        if (recurs || alike(one, *most)) { continue; }
        for (Line& line : lines.subspan(one.line, one.end - one.line)) {
            if (line.use == StepUse::steady) { line.use = StepUse::other_regime; }
        }
    }
    return regimes;
}

} // namespace

std::size_t& StepCounts::operator[](StepUse use) {
    switch (use) {
    case StepUse::other_run: return other_run;
    case StepUse::other_batch: return other_batch;
    case StepUse::evaluation: return evaluation;
    case StepUse::checkpoint: return checkpoint;
    case StepUse::warm_up: return warm_up;
    case StepUse::other_regime: return other_regime;
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
    result.earlier_runs = leave_out_runs(lines);
    result.batch = leave_out_batches(lines);
    result.marked_everywhere = !leave_out_marked(lines);
    leave_out_warm_ups(lines);
    result.regimes = leave_out_stretches(lines, result.mixed);
    std::set<int> runs, ranks;
    for (LoggedStep const& line : given) {
        runs.insert(line.run);
        ranks.insert(line.rank);
    }
    result.runs = static_cast<int>(runs.size());
    result.ranks = static_cast<int>(ranks.size());
    bool const marked = *ranks.rbegin() >= 0;
    if (!marked) { result.lines_a_step = static_cast<double>(given.size()) / static_cast<double>(lines.size()); }
    double all = 0.0, steps = 0.0, half_unit = 0.0, kept = 0.0, kept_steps = 0.0; ///< kept: with outliers
    for (Line const& line : lines) {
        ++result.counts.read;
        ++result.counts[line.use];
        if (line.use == StepUse::other_batch || line.use == StepUse::other_run) { continue; }
        all += line.step.seconds * static_cast<double>(line.step.steps);
        steps += static_cast<double>(line.step.steps);
        if (line.use == StepUse::steady || line.use == StepUse::outlier) {
            kept += line.step.seconds * static_cast<double>(line.step.steps);
            kept_steps += static_cast<double>(line.step.steps);
        }
        if (line.use == StepUse::steady) { half_unit = std::max(half_unit, line.step.half_unit); }
    }
    std::vector<SteadyLine> steady;
    for (Line const& line : lines) {
        if (line.use == StepUse::steady) {
            steady.push_back({line.step.seconds, static_cast<double>(line.step.steps), line.step.number});
        }
    }
    set_step(result, steady, half_unit);
    result.with_outliers = Seconds{kept / kept_steps};
    result.steady_share = std::min(1.0, steps * result.step.base() / all);
    return result;
}

} // namespace headroom::training
