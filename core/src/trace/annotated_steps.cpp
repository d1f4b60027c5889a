#include "trace/repetition.hpp"
#include "trace/step_names.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

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

/// Ranges of the host that are steps, by the number of their names; a range inside of another one of its thread is part
/// of it.
std::vector<TraceStep> outermost(RankTrace const& trace, std::vector<char> const& is_step) {
    auto const& timeline = trace.timeline;
    std::vector<TraceStep> steps;
    auto const lanes = spans_by_lane(trace);
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
        if (trace.lanes[lane].device) { continue; }
        Ticks until = std::numeric_limits<Ticks>::min();
        for (std::uint32_t const i : lanes[lane]) {
            if (timeline.begin[i] < until || is_step[timeline.name[i]] == 0) { continue; }
            auto const named = named_step(timeline.names[timeline.name[i]]);
            steps.push_back({named ? named->number.value_or(-1) : -1, timeline.begin[i], timeline.end[i],
                             named ? named->phase : StepPhase{}});
            until = timeline.end[i];
        }
    }
    return steps;
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
    if (steps.empty() && name.empty()) { steps = trace.device_steps; }
    std::sort(steps.begin(), steps.end(), [](auto const& a, auto const& b) { return by_begin(a) < by_begin(b); });
    // several threads may record one step
    auto const same = [](auto const& a, auto const& b) { return by_begin(a) == by_begin(b); };
    steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
    if (!numbered) { number_steps(steps); }
    return steps;
}

} // namespace headroom::trace
