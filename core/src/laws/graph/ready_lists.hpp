#pragma once

#include "number_set.hpp"

#include "headroom/laws/dag.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom::laws::graph {

/// Pool of workers that each task needs.
struct PoolOf {
    std::span<std::uint16_t const> resource_of; ///< by task; empty: there is one pool
    std::uint32_t operator()(TaskId task) const { return resource_of.empty() ? 0 : resource_of[task]; }
};

/// Tasks of each pool, one pool after the other: where each begins, and the end.
std::vector<std::uint32_t> pool_begins(std::size_t tasks, std::size_t pools, PoolOf pool_of);

/// Ready tasks of each pool, taken in the order in which they were put in.
class ArrivalLists {
public:
    ArrivalLists(std::span<std::uint32_t const> begins, PoolOf pool_of)
        : pool_of_{pool_of}, tasks_(begins.back()), next_(begins.begin(), begins.end() - 1), end_{next_} {}

    /// Whether the order in which tasks are put in matters.
    static constexpr bool keeps_order = true;

    void put(TaskId task) { tasks_[end_[pool_of_(task)]++] = task; }
    [[nodiscard]] bool empty(std::size_t pool) const { return next_[pool] == end_[pool]; }
    TaskId take(std::size_t pool) { return tasks_[next_[pool]++]; }
    /// One that may be taken soon, so that its memory can be asked for; the pool is not empty.
    [[nodiscard]] TaskId later(std::size_t pool) const { return tasks_[std::min(next_[pool] + 8, end_[pool] - 1)]; }

private:
    PoolOf pool_of_;
    std::vector<TaskId> tasks_; ///< each pool has room for all that will ever come
    std::vector<std::uint32_t> next_, end_;
};

/// Ready tasks of each pool, the smallest number first. Numbers are sorted by pool.
class NumberLists {
public:
    NumberLists(std::span<std::uint32_t const> begins, PoolOf pool_of);

    static constexpr bool keeps_order = false;

    void put(TaskId task) {
        std::uint32_t const pool = pool_of_(task);
        ready_[pool].insert(task - begins_[pool]);
    }
    [[nodiscard]] bool empty(std::size_t pool) const { return ready_[pool].empty(); }
    TaskId take(std::size_t pool) { return begins_[pool] + ready_[pool].take_smallest(); }
    [[nodiscard]] TaskId later(std::size_t pool) const { return begins_[pool] + ready_[pool].smallest(); }

private:
    PoolOf pool_of_;
    std::vector<std::uint32_t> begins_;
    std::vector<NumberSet> ready_; ///< by pool, of numbers within it
};

} // namespace headroom::laws::graph
