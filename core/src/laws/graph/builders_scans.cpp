#include "builders.hpp"

#include <algorithm>

namespace headroom::laws::builders {
namespace {

enum Kind : std::uint16_t { up_sweep, down_sweep, last_add };

/// The two sweeps over a tree of N leaves. Task u of the way up has its mirror image 2N-3-u on the way down, which hands
/// its prefix to the left child, and the prefix and the left child's sum to the right one; edges that others imply are
/// left out. `leaf(i, parent)`, if wanted, receives each leaf's task on the way down.
template <class Leaf> void sweeps(Sketch& sketch, std::int64_t n, Leaf leaf) {
    auto const leaves = static_cast<TaskId>(n), inner = leaves - 1;
    std::vector<TaskId> parent(inner); // of each task of the way up
    carry_tree(n, [&](TaskId node, TaskId left, TaskId right) {
        TaskId const task = sketch.add(up_sweep);
        for (TaskId const child : {left, right}) {
            if (child < leaves) {
                leaf(child, 2 * inner - 1 - (node - leaves));
            } else {
                sketch.after(task, child - leaves);
                parent[child - leaves] = task;
            }
        }
    });
    for (TaskId mirrored = 0; mirrored < inner; ++mirrored) {
        TaskId const task = sketch.add(down_sweep), up = inner - 1 - mirrored;
        sketch.after(task, mirrored == 0 ? up : 2 * inner - 1 - parent[up]);
    }
}

void note_uneven(Sketch& sketch, std::int64_t n) {
    if ((n & (n - 1)) == 0) { return; }
    sketch.note(std::to_string(n) + " is not a power of two: the odd one of a level is carried up instead of padded, " +
                "so work stays 2(N-1) and depth is 2 ceil(log2 N)");
}

} // namespace

GraphSize scan_naive_size(Given given) { return sum_chain_size(given); }

/// Each prefix sum from the one before it.
///
///     W = N-1,   D = N-1
///
/// Holds for:  N >= 1.
/// Assumes:    an addition is one operation.
/// Source:     [Blelloch1990]
TaskGraph scan_naive(Given given) { return sum_chain(given); }

GraphSize scan_blelloch_size(Given given) {
    double const inner = static_cast<double>(given[0] - 1);
    return {.tasks = 2.0 * inner, .edges = std::max(2.0 * inner - 1.0, 0.0)};
}

/// Exclusive prefix sums: sums up a balanced tree, then prefixes down it.
///
///     W = 2(N-1),   D = 2 ceil(log2 N)
///
/// Holds for:  N >= 1; other N than powers of two carry the odd one of a level up.
/// Assumes:    an addition is one operation; the way down begins when the way up has ended.
/// Source:     [Blelloch1990]
TaskGraph scan_blelloch(Given given) {
    Sketch sketch{scan_blelloch_size(given), {"up-sweep", "down-sweep"}};
    sweeps(sketch, given[0], [](TaskId, TaskId) {});
    note_uneven(sketch, given[0]);
    return std::move(sketch).finish();
}

GraphSize scan_blelloch_inclusive_size(Given given) {
    GraphSize const exclusive = scan_blelloch_size(given);
    auto const n = static_cast<double>(given[0]);
    return {.tasks = exclusive.tasks + n, .edges = exclusive.edges + (n > 1.0 ? n : 0.0)};
}

/// Inclusive scan by Blelloch's sweeps: each number is added to its exclusive prefix.
///
///     W = 2(N-1) + N,   D = 2 ceil(log2 N) + 1
///
/// Holds for:  N >= 1.
/// Assumes:    as `scan_blelloch`.
/// Source:     [Blelloch1990]
TaskGraph scan_blelloch_inclusive(Given given) {
    Sketch sketch{scan_blelloch_inclusive_size(given), {"up-sweep", "down-sweep", "add"}};
    std::vector<TaskId> parent(static_cast<std::size_t>(given[0]));
    sweeps(sketch, given[0], [&](TaskId leaf, TaskId task) { parent[leaf] = task; });
    for (TaskId const task : parent) {
        TaskId const sum = sketch.add(last_add);
        if (given[0] > 1) { sketch.after(sum, task); }
    }
    note_uneven(sketch, given[0]);
    return std::move(sketch).finish();
}

GraphSize scan_hillis_steele_size(Given given) {
    GraphSize size;
    for (std::int64_t distance = 1; distance < given[0]; distance *= 2) {
        auto const tasks = static_cast<double>(given[0] - distance);
        size.tasks += tasks;
        if (distance > 1) { size.edges += 2.0 * tasks - 1.0; }
    }
    return size;
}

/// Inclusive prefix sums: x[i] += x[i-d] for all i at once, d = 1, 2, 4, ...
///
///     W = sum over d of (N-d) = N L - (2^L - 1),   D = L = ceil(log2 N)
///
/// Holds for:  N >= 1.
/// Assumes:    an addition is one operation; every step reads what the one before it left.
/// Source:     [HillisSteele1986]
TaskGraph scan_hillis_steele(Given given) {
    std::int64_t const n = given[0];
    Sketch sketch{scan_hillis_steele_size(given), {"add"}};
    std::vector<TaskId> last(static_cast<std::size_t>(n)); // the task that made x[i]; x[0] is given
    TaskId made = 0;
    for (std::int64_t distance = 1; distance < n; distance *= 2) {
        for (std::int64_t i = distance; i < n; ++i) {
            TaskId const sum = sketch.add();
            if (distance > 1) { sketch.after(sum, last[i]); }
            if (distance > 1 && i > distance) { sketch.after(sum, last[i - distance]); }
        }
        for (std::int64_t i = distance; i < n; ++i) { last[i] = made++; } // all of a step read before any is replaced
    }
    return std::move(sketch).finish();
}

} // namespace headroom::laws::builders
