#include "priority.hpp"

#include "paths.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headroom::laws::graph {
namespace {

/// One pass of a stable sort: tasks by a small number of theirs.
template <class Key>
void sort_by(std::vector<TaskId>& tasks, std::vector<TaskId>& sorted, std::span<std::uint32_t> next, Key const& key) {
    std::ranges::fill(next, 0U);
    for (TaskId const task : tasks) { ++next[key(task)]; }
    std::exclusive_scan(next.begin(), next.end(), next.begin(), std::uint32_t{0});
    for (TaskId const task : tasks) { sorted[next[key(task)]++] = task; }
    tasks.swap(sorted);
}

/// Digit by digit, the least first, which takes a few reads of each task however many tie.
std::vector<TaskId> in_order(Dag const& dag, std::size_t pools, PoolOf pool_of) {
    constexpr int digit_bits = 11;
    std::vector<std::uint32_t> next(std::size_t{1} << digit_bits);
    std::vector<TaskId> tasks(dag.size()), sorted(dag.size());
    std::iota(tasks.begin(), tasks.end(), TaskId{0});
    if (tasks.empty()) { return tasks; }
    auto const longest = longest_paths<From::sinks, Ticks>(dag, OwnCost{dag.costs().data()});
    Ticks const top = *std::max_element(longest.get(), longest.get() + dag.size());
    for (int shift = 0; shift < 63 && top >> shift > 0; shift += digit_bits) {
        sort_by(tasks, sorted, next, [&](TaskId task) {
            return static_cast<std::size_t>((top - longest[task]) >> shift) & (next.size() - 1);
        });
    }
    if (pools > 1) {
        next.resize(pools);
        sort_by(tasks, sorted, next, pool_of);
    }
    return tasks;
}

} // namespace

Renumbered by_longest_path(Dag const& dag, std::size_t pools, PoolOf pool_of) {
    std::size_t const tasks = dag.size();
    Renumbered to{.original = in_order(dag, pools, pool_of),
                  .costs = {},
                  .resource_of = {},
                  .waits_for = {},
                  .first = {},
                  .successors = {}};
    std::vector<std::uint32_t> number(tasks);
    for (std::size_t i = 0; i < tasks; ++i) { number[to.original[i]] = static_cast<std::uint32_t>(i); }
    to.costs.resize(tasks);
    to.first.assign(tasks + 1, 0);
    to.waits_for.assign(tasks, 0);
    to.successors.reserve(dag.edge_count());
    Neighbours const after = dag.successors();
    for (std::size_t i = 0; i < tasks; ++i) {
        if (i + 2 * tasks_ahead < tasks) { fetch(&after.first[to.original[i + 2 * tasks_ahead]]); }
        if (i + tasks_ahead < tasks) {
            TaskId const soon = to.original[i + tasks_ahead];
            fetch(after[soon].data());
            fetch(&dag.costs()[soon]);
        }
        TaskId const task = to.original[i];
        to.costs[i] = dag.cost(task);
        for (TaskId const next : after[task]) {
            to.successors.push_back(number[next]);
            ++to.waits_for[number[next]];
        }
        to.first[i + 1] = static_cast<std::uint32_t>(to.successors.size());
    }
    if (!pool_of.resource_of.empty()) {
        for (TaskId const task : to.original) { to.resource_of.push_back(pool_of.resource_of[task]); }
    }
    return to;
}

} // namespace headroom::laws::graph
