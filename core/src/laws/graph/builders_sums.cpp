#include "builders.hpp"

#include <algorithm>

namespace headroom::laws::builders {
namespace {

double sums(Given given) { return static_cast<double>(given[0] - 1); }

} // namespace

GraphSize sum_chain_size(Given given) { return {.tasks = sums(given), .edges = std::max(sums(given) - 1.0, 0.0)}; }

/// N numbers added to one accumulator.
///
///     W = N-1,   D = N-1
///
/// Holds for:  N >= 1.
/// Assumes:    the numbers are there; an addition is one operation.
/// Source:     [JaJa1992]
TaskGraph sum_chain(Given given) {
    Sketch sketch{sum_chain_size(given), {"add"}};
    std::optional<TaskId> before;
    for (std::int64_t i = 1; i < given[0]; ++i) {
        TaskId const sum = sketch.add();
        sketch.after(sum, before);
        before = sum;
    }
    return std::move(sketch).finish();
}

GraphSize sum_tree_size(Given given) { return sum_chain_size(given); }

/// N numbers added up by pairs, and their sums by pairs; the odd one of a level is carried up.
///
///     W = N-1,   D = ceil(log2 N)
///
/// Holds for:  N >= 1.
/// Assumes:    the numbers are there; an addition is one operation.
/// Source:     [JaJa1992]
TaskGraph sum_tree(Given given) {
    auto const inputs = static_cast<TaskId>(given[0]);
    Sketch sketch{sum_tree_size(given), {"add"}};
    carry_tree(given[0], [&](TaskId, TaskId left, TaskId right) {
        TaskId const sum = sketch.add();
        if (left >= inputs) { sketch.after(sum, left - inputs); }
        if (right >= inputs) { sketch.after(sum, right - inputs); }
    });
    return std::move(sketch).finish();
}

GraphSize dot_size(Given given) { return {.tasks = 2.0 * sums(given) + 1.0, .edges = 2.0 * sums(given)}; }

/// The dot product of two vectors of N: N products, added up by a tree.
///
///     W = 2N-1,   D = 1 + ceil(log2 N)
///
/// Holds for:  N >= 1.
/// Assumes:    a multiplication and an addition are one operation each.
/// Source:     [JaJa1992]
TaskGraph dot(Given given) {
    Sketch sketch{dot_size(given), {"multiply", "add"}};
    for (std::int64_t i = 0; i < given[0]; ++i) { sketch.add(0); }
    add_up(sketch, 0, given[0], 1);
    return std::move(sketch).finish();
}

} // namespace headroom::laws::builders
