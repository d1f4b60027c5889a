#include "trace/repetition.hpp"

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

/// Whether a range of the host is a step, by name; a range inside of another one of its thread is part of it.
template <class IsStep> std::vector<TraceStep> outermost(RankTrace const& trace, IsStep const& is_step) {
    auto const& timeline = trace.timeline;
    std::vector<TraceStep> steps;
    auto const lanes = spans_by_lane(trace);
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
        if (trace.lanes[lane].device) { continue; }
        Ticks until = std::numeric_limits<Ticks>::min();
        for (std::uint32_t const i : lanes[lane]) {
            if (timeline.begin[i] < until || !is_step(timeline.names[timeline.name[i]])) { continue; }
            steps.push_back({0, timeline.begin[i], timeline.end[i]});
            until = timeline.end[i];
        }
    }
    return steps;
}

auto by_begin(TraceStep const& step) { return std::tuple(step.begin, step.end, step.number); }

std::vector<TraceStep> steps_named(RankTrace const& trace, std::string_view name) {
    auto const& names = trace.timeline.names;
    bool const exact = std::find(names.begin(), names.end(), name) != names.end();
    return outermost(
        trace, [&](std::string_view one) { return exact ? one == name : one.find(name) != std::string_view::npos; });
}

} // namespace

std::vector<TraceStep> annotated_steps(RankTrace const& trace, std::string_view name) {
    bool const numbered = name.empty() && !trace.steps.empty();
    auto steps = !name.empty() ? steps_named(trace, name) : numbered ? trace.steps : unnumbered_steps(trace);
    std::sort(steps.begin(), steps.end(), [](auto const& a, auto const& b) { return by_begin(a) < by_begin(b); });
    // several threads may record one step
    auto const same = [](auto const& a, auto const& b) { return by_begin(a) == by_begin(b); };
    steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
    if (!numbered) {
        for (std::size_t i = 0; i < steps.size(); ++i) { steps[i].number = static_cast<std::int64_t>(i); }
    }
    return steps;
}

} // namespace headroom::trace
