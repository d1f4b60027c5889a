#pragma once

#include "headroom/laws/task_graph.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::laws::builders {

using Given = std::span<std::int64_t const>;

/// Size of a graph in closed form, known before anything is allocated. Doubles, so that no size overflows.
struct GraphSize {
    double tasks = 0.0, edges = 0.0;
};

/// Parameter of a builder at one position.
struct Parameter {
    std::string_view what = {}; ///< "numbers", "ranks"; empty: nothing there
    std::int64_t otherwise = 0; ///< where it is left out; 0: it must be given
    bool power_of_two = false;
};

/// A builder with its limits: a row of the table.
struct BuilderRow {
    std::string_view name;
    std::array<Parameter, 2> takes; ///< a size, and perhaps a second one
    std::string_view parameters, summary, source;
    GraphSize (*size)(Given);
    TaskGraph (*build)(Given);
};

constexpr double most_tasks = 50e6, most_edges = 100e6;

/// A graph while it is written: each task after those it waits for, so that the numbers are a topological order.
class Sketch {
public:
    /// Takes the memory for exactly so many tasks and edges.
    Sketch(GraphSize size, std::initializer_list<char const*> kinds);

    TaskId add(std::uint16_t kind = 0, Ticks cost = 1) {
        costs_.push_back(cost);
        if (graph_.kinds.size() > 1) { graph_.kind_of.push_back(kind); }
        return static_cast<TaskId>(costs_.size() - 1);
    }
    void after(TaskId task, TaskId before) { edges_.push_back({before, task}); }
    void after(TaskId task, std::optional<TaskId> before) {
        if (before) { after(task, *before); }
    }
    void note(std::string text) { graph_.notes.push_back(std::move(text)); }
    TaskGraph& graph() { return graph_; }

    /// Errors: ContractError when the closed form and the graph differ.
    TaskGraph finish() &&;

private:
    GraphSize promised_;
    TaskGraph graph_;
    std::vector<Ticks> costs_;
    std::vector<Edge> edges_;
};

/// A balanced tree over `leaves`: neighbours are joined level by level, and the odd one of a level is carried up.
/// Nodes are numbered leaves first, then as they are made; `join(parent, left, right)`. Depth ceil(log2 leaves).
template <class Join> void carry_tree(std::int64_t leaves, Join join) {
    auto first = TaskId{0}, length = static_cast<TaskId>(leaves),
         next = length; // a level: neighbours, then the odd one
    std::optional<TaskId> odd;
    while (length + (odd ? 1 : 0) > 1) {
        TaskId const pairs = length / 2, parents = next;
        for (TaskId i = 0; i < pairs; ++i) { join(next++, first + 2 * i, first + 2 * i + 1); }
        if (length % 2 == 1) {
            TaskId const last = first + length - 1;
            if (odd) { join(next++, last, *odd); }
            odd = odd ? std::nullopt : std::optional{last};
        }
        first = parents;
        length = next - parents;
    }
}

/// Adds up `count` tasks numbered from `leaves`, by `carry_tree`; the sum's task.
TaskId add_up(Sketch& sketch, TaskId leaves, std::int64_t count, std::uint16_t kind);

/// ceil(log2 n), n >= 1.
constexpr int levels_of(std::int64_t n) {
    int levels = 0;
    while ((std::int64_t{1} << levels) < n) { ++levels; }
    return levels;
}

// builders_sums.cpp
GraphSize sum_chain_size(Given), sum_tree_size(Given), dot_size(Given);
TaskGraph sum_chain(Given), sum_tree(Given), dot(Given);
// builders_scans.cpp
GraphSize scan_naive_size(Given), scan_blelloch_size(Given), scan_blelloch_inclusive_size(Given),
    scan_hillis_steele_size(Given);
TaskGraph scan_naive(Given), scan_blelloch(Given), scan_blelloch_inclusive(Given), scan_hillis_steele(Given);
// builders_reductions.cpp
GraphSize reduce_size(Given), all_reduce_size(Given), broadcast_chain_size(Given), broadcast_tree_size(Given);
TaskGraph chain_reduce(Given), tree_reduce(Given), chain_all_reduce(Given), tree_all_reduce(Given),
    broadcast_chain(Given), broadcast_tree(Given);
// builders_exchanges.cpp
GraphSize recursive_doubling_size(Given), halving_doubling_size(Given);
TaskGraph recursive_doubling(Given), halving_doubling(Given);
// builders_rings.cpp
GraphSize reduce_scatter_ring_size(Given), all_gather_ring_size(Given), ring_all_reduce_size(Given),
    all_to_all_size(Given);
TaskGraph reduce_scatter_ring(Given), all_gather_ring(Given), ring_all_reduce(Given), all_to_all(Given);
// builders_algebra.cpp
GraphSize matmul_size(Given), cholesky_size(Given), newton_size(Given);
TaskGraph matmul(Given), cholesky(Given), newton(Given);
// builders_algorithms.cpp
GraphSize fft_size(Given), merge_sort_size(Given), stencil_size(Given);
TaskGraph fft(Given), merge_sort(Given), stencil(Given);

} // namespace headroom::laws::builders
