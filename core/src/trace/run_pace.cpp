#include "trace/run_pace.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom::trace {
namespace {

constexpr double slower = 1.03;    ///< of the last third of the steps
constexpr double most_names = 0.9; ///< of the time: a lowered clock slows all kernels
constexpr auto computing = static_cast<std::size_t>(SpanKind::compute);

/// Runs and time of a set of kernels.
struct Sum {
    double time = 0.0, runs = 0.0;
    void add(double more, double count) { time += more, runs += count; }
    [[nodiscard]] double mean() const { return runs > 0.0 ? time / runs : 0.0; }
};

Sum kernels_in(std::vector<StepShares> const& steps, std::size_t from, std::size_t to) {
    Sum sum;
    for (std::size_t i = from; i < to; ++i) {
        auto const& shares = steps[i].shares;
        sum.add(static_cast<double>(shares.total[computing]), static_cast<double>(shares.count[computing]));
    }
    return sum;
}

/// Mean time of kernels over their mean before `early`, name by name; 1 where names differ in how much they slow down.
double slowing_by_name(RankTrace const& trace, BusyIntervals const& busy, Ticks early, Ticks late, double last_third) {
    struct Name {
        Sum first, last, all;
    };
    std::vector<Name> names(trace.timeline.names.size());
    for (BusyInterval const& one : busy.intervals) {
        if (one.kind != SpanKind::compute) { continue; }
        Name& name = names[trace.timeline.name[one.span]];
        auto const time = static_cast<double>(one.end - one.begin);
        name.all.add(time, 1.0);
        if (one.begin < early) { name.first.add(time, 1.0); }
        if (one.begin >= late) { name.last.add(time, 1.0); }
    }
    double as_early = 0.0, all = 0.0, alike = 0.0;
    for (Name const& name : names) {
        if (name.first.runs == 0.0) { continue; }
        all += name.all.time;
        as_early += name.all.runs * name.first.mean();
        bool const slows = name.last.mean() >= name.first.mean() * (1.0 + 0.5 * (last_third - 1.0));
        alike += slows ? name.all.time : 0.0;
    }
    return as_early > 0.0 && alike >= most_names * all ? std::max(1.0, all / as_early) : 1.0;
}

double slowing_of(RankTrace const& trace, BusyIntervals const& busy, std::vector<StepShares> const& steps) {
    std::size_t const third = steps.size() / 3;
    if (third < 2 || busy.on_host) { return 1.0; }
    Sum const first = kernels_in(steps, 0, third), last = kernels_in(steps, steps.size() - third, steps.size());
    bool const same_work = std::abs(first.runs - last.runs) <= 0.02 * first.runs;
    if (first.time <= 0.0 || !same_work || last.mean() < slower * first.mean()) { return 1.0; }
    return slowing_by_name(trace, busy, steps[third].step.begin, steps[steps.size() - third].step.begin,
                           last.mean() / first.mean());
}

/// Host time by name in two steps: the longest and the median one.
struct TwoSteps {
    Ticks in_long = 0, in_median = 0;
    [[nodiscard]] Ticks more() const { return in_long - in_median; }
};

std::string what_is_longer(RankTrace const& trace, TraceStep const& longest, TraceStep const& median) {
    std::vector<TwoSteps> names(trace.timeline.names.size());
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        Ticks const begin = trace.timeline.begin[i], end = trace.timeline.end[i];
        if (trace.lanes[trace.timeline.lane[i]].device || end - begin >= longest.end - longest.begin) { continue; }
        TwoSteps& name = names[trace.timeline.name[i]];
        if (begin >= longest.begin && end <= longest.end) { name.in_long += end - begin; }
        if (begin >= median.begin && end <= median.end) { name.in_median += end - begin; }
    }
    auto const most = std::ranges::max_element(names, {}, &TwoSteps::more);
    Ticks const more = (longest.end - longest.begin) - (median.end - median.begin);
    if (most == names.end() || 2 * most->more() < more) { return {}; }
    return trace.timeline.names[static_cast<std::size_t>(most - names.begin())];
}

Ticks time_of(StepShares const* step) { return step->step.end - step->step.begin; }

/// The first step warms up, and is left out.
std::string long_step_of(RankTrace const& trace, std::vector<StepShares> const& steps) {
    if (steps.size() < least_steps) { return {}; }
    std::map<std::pair<PhaseKind, std::int64_t>, std::vector<StepShares const*>> by_work;
    for (std::size_t i = 1; i < steps.size(); ++i) { by_work[work_of(steps[i].step.phase)].push_back(&steps[i]); }
    for (auto& [work, by_time] : by_work) {
        std::ranges::stable_sort(by_time, {}, time_of);
        StepShares const& median = *by_time[(by_time.size() - 1) / 2];
        StepShares const& longest = *by_time.back();
        bool const is_long =
            static_cast<double>(time_of(&longest)) >= long_step * static_cast<double>(time_of(&median));
        if (is_long) { return what_is_longer(trace, longest.step, median.step); }
    }
    return {};
}

} // namespace

RunPace run_pace(RankTrace const& trace, BusyIntervals const& busy, std::vector<StepShares> const& steps) {
    if (trace.only_sums || trace.no_times) { return {}; }
    return {slowing_of(trace, busy, steps), long_step_of(trace, steps)};
}

} // namespace headroom::trace
