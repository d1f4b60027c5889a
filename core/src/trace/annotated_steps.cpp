#include "trace/repetition.hpp"
#include "trace/step_names.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace headroom::trace {
namespace {

/// Ranges of the host that are steps but do not say which: "ProfilerStep*" in tables that cut names short.
std::vector<TraceStep> unnumbered_steps(RankTrace const& trace) {
    auto const& timeline = trace.timeline;
    auto const is_step = [](std::string_view name) { return name.starts_with("ProfilerStep"); };
    if (std::none_of(timeline.names.begin(), timeline.names.end(), is_step)) { return {}; }
    std::vector<TraceStep> steps;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (trace.lanes[timeline.lane[i]].device || !is_step(timeline.names[timeline.name[i]])) { continue; }
        steps.push_back({-1, timeline.begin[i], timeline.end[i]});
    }
    return steps;
}

/// Ranges of each thread of the host that are steps, by the number of their names; a range inside of another one of its
/// thread is part of it.
std::vector<std::vector<TraceStep>> steps_by_thread(RankTrace const& trace, std::vector<char> const& is_step) {
    auto const& timeline = trace.timeline;
    std::vector<std::vector<TraceStep>> threads;
    auto const lanes = spans_by_lane(trace);
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
        if (trace.lanes[lane].device) { continue; }
        threads.emplace_back();
        Ticks until = std::numeric_limits<Ticks>::min();
        for (std::uint32_t const i : lanes[lane]) {
            if (timeline.begin[i] < until || is_step[timeline.name[i]] == 0) { continue; }
            auto const named = named_step(timeline.names[timeline.name[i]]);
            threads.back().push_back({named ? named->number.value_or(-1) : -1, timeline.begin[i], timeline.end[i],
                                      named ? named->phase : StepPhase{}});
            until = timeline.end[i];
        }
    }
    return threads;
}

/// Steps of the thread that has most of them, by number and then by time. Several threads may record one step: of the
/// others it takes what neither overlaps with these nor has a number of theirs.
std::vector<TraceStep> outermost(RankTrace const& trace, std::vector<char> const& is_step) {
    auto threads = steps_by_thread(trace, is_step);
    std::ranges::stable_sort(threads, std::ranges::greater{}, [](std::vector<TraceStep> const& steps) {
        Ticks time = 0;
        for (TraceStep const& step : steps) { time += step.end - step.begin; }
        return std::pair(steps.size(), time);
    });
    std::map<Ticks, Ticks> taken; // end by begin
    std::set<std::int64_t> numbers;
    std::vector<TraceStep> steps;
    for (auto const& of_thread : threads) {
        std::size_t const before = steps.size();
        for (TraceStep const& step : of_thread) {
            auto const next = taken.lower_bound(std::max(step.end, step.begin + 1));
            bool const overlaps = next != taken.begin() && std::prev(next)->second > step.begin;
            if (!overlaps && !numbers.contains(step.number)) { steps.push_back(step); }
        }
        for (std::size_t i = before; i < steps.size(); ++i) {
            taken.emplace(steps[i].begin, steps[i].end);
            if (steps[i].number >= 0) { numbers.insert(steps[i].number); }
        }
    }
    return steps;
}

/// Leaves one of several ranges of a number at one time: the longest. `steps` are by begin.
void join_threads(std::vector<TraceStep>& steps) {
    std::vector<TraceStep> joined;
    for (TraceStep const& step : steps) {
        bool const again = !joined.empty() && joined.back().number == step.number &&
                           (step.begin < joined.back().end || step.begin == joined.back().begin);
        if (!again) {
            joined.push_back(step);
        } else if (step.end - step.begin > joined.back().end - joined.back().begin) {
            joined.back() = step;
        }
    }
    steps = std::move(joined);
}

auto by_begin(TraceStep const& step) { return std::tuple(step.begin, step.end, step.number); }

std::vector<TraceStep> steps_named(RankTrace const& trace, std::string_view name) {
    auto const& names = trace.timeline.names;
    bool const exact = std::find(names.begin(), names.end(), name) != names.end();
    std::vector<char> is_step;
    for (std::string_view const one : names) {
        is_step.push_back((exact ? one == name : one.find(name) != std::string_view::npos) ? 1 : 0);
    }
    return outermost(trace, is_step);
}

/// Ranges of the only name that means a step of training and repeats, without a number: "train_step".
std::vector<TraceStep> steps_without_number(RankTrace const& trace) {
    std::vector<TraceStep> found;
    auto const& names = trace.timeline.names;
    for (std::uint32_t name = 0; name < names.size(); ++name) {
        if (!names_training_step(names[name])) { continue; }
        std::vector<char> is_step(names.size(), 0);
        is_step[name] = 1;
        auto steps = outermost(trace, is_step);
        if (steps.size() < 2) { continue; }
        if (!found.empty()) { return {}; }
        found = std::move(steps);
    }
    return found;
}

/// Ranges that frameworks put round their steps; empty below two.
std::vector<TraceStep> framework_steps(RankTrace const& trace) {
    std::vector<char> is_step;
    for (std::string_view const one : trace.timeline.names) { is_step.push_back(named_step(one) ? 1 : 0); }
    if (std::find(is_step.begin(), is_step.end(), 1) == is_step.end()) { return {}; }
    auto steps = outermost(trace, is_step);
    return steps.size() < 2 ? std::vector<TraceStep>{} : steps;
}

/// Numbers as the names state them, where each has another; else by order.
void number_steps(std::vector<TraceStep>& steps) {
    auto const rises = [](TraceStep const& a, TraceStep const& b) { return a.number >= b.number; };
    bool const stated = std::ranges::none_of(steps, [](TraceStep const& step) { return step.number < 0; }) &&
                        std::ranges::adjacent_find(steps, rises) == steps.end();
    for (std::size_t i = 0; !stated && i < steps.size(); ++i) { steps[i].number = static_cast<std::int64_t>(i); }
}

} // namespace

std::vector<TraceStep> annotated_steps(RankTrace const& trace, std::string_view name) {
    bool const numbered = name.empty() && !trace.steps.empty();
    auto steps = !name.empty() ? steps_named(trace, name) : numbered ? trace.steps : unnumbered_steps(trace);
    if (steps.empty() && name.empty()) { steps = framework_steps(trace); }
    if (steps.empty() && name.empty()) { steps = steps_without_number(trace); }
    if (steps.empty() && name.empty()) { steps = trace.device_steps; }
    std::sort(steps.begin(), steps.end(), [](auto const& a, auto const& b) { return by_begin(a) < by_begin(b); });
    join_threads(steps);
    if (!numbered) { number_steps(steps); }
    return steps;
}

} // namespace headroom::trace
