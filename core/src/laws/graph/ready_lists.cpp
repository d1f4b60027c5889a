#include "ready_lists.hpp"

#include <numeric>

namespace headroom::laws::graph {

std::vector<std::uint32_t> pool_begins(std::size_t tasks, std::size_t pools, PoolOf pool_of) {
    std::vector<std::uint32_t> begins(pools + 1, 0);
    for (std::size_t v = 0; v < tasks; ++v) { ++begins[pool_of(static_cast<TaskId>(v))]; }
    std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), std::uint32_t{0});
    return begins;
}

NumberLists::NumberLists(std::span<std::uint32_t const> begins, PoolOf pool_of)
    : pool_of_{pool_of}, begins_(begins.begin(), begins.end()) {
    ready_.reserve(begins.size() - 1);
    for (std::size_t pool = 0; pool + 1 < begins.size(); ++pool) {
        ready_.emplace_back(begins[pool + 1] - begins[pool]);
    }
}

} // namespace headroom::laws::graph
