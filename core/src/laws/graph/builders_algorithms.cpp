#include "builders.hpp"

#include <algorithm>

namespace headroom::laws::builders {

GraphSize fft_size(Given given) {
    auto const n = static_cast<double>(given[0]);
    double const stages = levels_of(given[0]);
    return {.tasks = stages * n / 2.0, .edges = std::max(stages - 1.0, 0.0) * n};
}

/// Fast Fourier transform of N points, radix 2: log2 N stages of N/2 butterflies.
///
///     W = N/2 log2 N,   D = log2 N
///
/// Holds for:  N a power of two.
/// Assumes:    a butterfly is one operation of the graph (ten floating-point operations).
/// Source:     [CooleyTukey1965]
TaskGraph fft(Given given) {
    Sketch sketch{fft_size(given), {"butterfly"}};
    auto const half_points = static_cast<TaskId>(given[0] / 2);
    for (int stage = 0; stage < levels_of(given[0]); ++stage) {
        TaskId const half = TaskId{1} << stage, before = half_points * static_cast<TaskId>(stage - 1);
        for (TaskId butterfly = 0; butterfly < half_points; ++butterfly) {
            TaskId const task = sketch.add();
            if (stage == 0) { continue; }
            TaskId const top = ((butterfly >> stage) << (stage + 1)) + (butterfly & (half - 1));
            for (TaskId const point : {top, top + half}) { // the butterfly of the stage before that wrote this point
                sketch.after(task, before + (point >> stage) * (half / 2) + (point & (half / 2 - 1)));
            }
        }
    }
    sketch.note("one operation is a butterfly: ten floating-point operations");
    return std::move(sketch).finish();
}

GraphSize merge_sort_size(Given given) { return sum_chain_size(given); }

namespace {

/// Sorts `count` numbers; the task that has them sorted, if it takes one.
std::optional<TaskId> sort(Sketch& sketch, std::int64_t count) { // NOLINT(misc-no-recursion): log2 N deep
    if (count < 2) { return std::nullopt; }
    auto const left = sort(sketch, count - count / 2), right = sort(sketch, count / 2);
    TaskId const merge = sketch.add(0, count);
    sketch.after(merge, left);
    sketch.after(merge, right);
    return merge;
}

} // namespace

/// Halves sorted side by side and merged by one worker.
///
///     W = N L - 2^L + N,   D = sum of N, ceil(N/2), ceil(N/4), ... above 1      L = ceil(log2 N)
///
/// For N a power of two W = N log2 N and D = 2N-2: the last merges are the chain.
/// Holds for:  N >= 1.
/// Assumes:    a merge of m numbers is m operations; splitting is free.
/// Source:     [Cormen2009]
TaskGraph merge_sort(Given given) {
    Sketch sketch{merge_sort_size(given), {"merge"}};
    sort(sketch, given[0]);
    sketch.note("a merge of m numbers is one task of m operations; splitting is free");
    return std::move(sketch).finish();
}

GraphSize stencil_size(Given given) {
    auto const points = static_cast<double>(given[0]), steps = static_cast<double>(given[1]);
    return {.tasks = points * steps, .edges = (steps - 1.0) * (3.0 * points - 2.0)};
}

/// Each point of a line from itself and its two neighbours, step after step.
///
///     W = N S,   D = S
///
/// Holds for:  N points, S steps, both >= 1; the points at the ends have one neighbour.
/// Assumes:    a point's update is one operation.
/// Source:     [FrigoStrumpen2005]
TaskGraph stencil(Given given) {
    Sketch sketch{stencil_size(given), {"point"}};
    auto const points = static_cast<TaskId>(given[0]);
    for (std::int64_t step = 0; step < given[1]; ++step) {
        for (TaskId point = 0; point < points; ++point) {
            TaskId const task = sketch.add();
            if (step == 0) { continue; }
            if (point > 0) { sketch.after(task, task - points - 1); }
            sketch.after(task, task - points);
            if (point + 1 < points) { sketch.after(task, task - points + 1); }
        }
    }
    return std::move(sketch).finish();
}

} // namespace headroom::laws::builders
