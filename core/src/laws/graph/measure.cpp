#include "paths.hpp"

#include "headroom/error.hpp"
#include "headroom/laws/dag.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

namespace headroom::laws {
namespace {

constexpr Ticks most_burden = (Ticks{1} << 62) - 1; ///< over all tasks: with the costs it stays within 64 bits

void check_burden(Dag const& dag, Ticks burden) {
    if (burden < 0) { throw ContractError{"a burden is no less than zero"}; }
    if (dag.size() > 0 && burden > most_burden / static_cast<Ticks>(dag.size())) {
        throw ContractError{"a burden times the tasks is below 2^62 ticks"};
    }
}

/// Predecessor for which `task` waited longest, the smallest number of several; `task` itself where it waited for none.
template <class Time> TaskId waited_for(Dag const& dag, Time const* finish, TaskId task, Time burden) {
    Time const begin = finish[task] - static_cast<Time>(dag.cost(task));
    TaskId last = task;
    for (TaskId const before : dag.predecessors(task)) {
        if (finish[before] + burden == begin && (last == task || before < last)) { last = before; }
    }
    return last;
}

/// Found by going back from the end, so that no predecessor has to be kept for every task.
template <class Time> std::vector<TaskId> critical_path(Dag const& dag, Time const* finish, TaskId end, Time burden) {
    // memory that is never written is never had: a short path costs little
    auto const reversed = std::make_unique_for_overwrite<TaskId[]>(dag.size());
    std::size_t length = 0;
    reversed[length++] = end;
    for (TaskId task = end, before = waited_for(dag, finish, task, burden); before != task;
         task = before, before = waited_for(dag, finish, task, burden)) {
        reversed[length++] = before;
    }
    std::vector<TaskId> path(length);
    std::reverse_copy(reversed.get(), reversed.get() + length, path.begin());
    return path;
}

/// Depth and critical path.
template <class Time> void measure_depth(Dag const& dag, Time burden, DagMeasure& result) {
    auto const finish = graph::longest_paths<graph::From::sources>(dag, graph::OwnCost{dag.costs().data()}, burden);
    Time const* const last = std::max_element(finish.get(), finish.get() + dag.size()); // the first of several
    result.depth = static_cast<Ticks>(*last);
    result.critical_path = critical_path(dag, finish.get(), static_cast<TaskId>(last - finish.get()), burden);
}

} // namespace

DagMeasure dag_measure(Dag const& dag, Ticks burden) {
    check_burden(dag, burden);
    DagMeasure result;
    if (dag.size() == 0) { return result; }
    result.work = std::accumulate(dag.costs().begin(), dag.costs().end(), Ticks{0});
    // the pass waits for finish times from anywhere in memory: where they fit, times of half the size lie closer
    Ticks const longest_possible = result.work + burden * static_cast<Ticks>(dag.size() - 1);
    if (longest_possible <= std::numeric_limits<std::uint32_t>::max()) {
        measure_depth(dag, static_cast<std::uint32_t>(burden), result);
    } else {
        measure_depth(dag, burden, result);
    }
    return result;
}

LevelProfile level_profile(Dag const& dag) {
    LevelProfile profile;
    if (dag.size() == 0) { return profile; }
    // the most edges of a path are its length when tasks cost nothing and edges one
    auto const level = graph::longest_paths<graph::From::sources>(dag, graph::NoCost{}, std::uint32_t{1});
    auto const levels = std::size_t{*std::max_element(level.get(), level.get() + dag.size())} + 1;
    profile.tasks.assign(levels, 0);
    profile.work.assign(levels, 0);
    for (std::size_t v = 0; v < dag.size(); ++v) {
        ++profile.tasks[level[v]];
        profile.work[level[v]] += dag.costs()[v];
    }
    return profile;
}

} // namespace headroom::laws
