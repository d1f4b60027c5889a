#include "builders.hpp"

namespace headroom::laws::builders {

GraphSize matmul_size(Given given) {
    auto const n = static_cast<double>(given[0]);
    return {.tasks = n * n * (2.0 * n - 1.0), .edges = n * n * (2.0 * n - 2.0)};
}

/// Two N x N matrices multiplied: N^2 dot products side by side.
///
///     W = N^3 + N^2 (N-1),   D = 1 + ceil(log2 N)
///
/// Holds for:  N >= 1.
/// Assumes:    a multiplication and an addition are one operation each; no block is shared.
/// Source:     [JaJa1992]
TaskGraph matmul(Given given) {
    std::int64_t const n = given[0];
    Sketch sketch{matmul_size(given), {"multiply", "add"}};
    for (std::int64_t cell = 0; cell < n * n; ++cell) {
        TaskId const products = sketch.add(0);
        for (std::int64_t i = 1; i < n; ++i) { sketch.add(0); }
        add_up(sketch, products, n, 1);
    }
    return std::move(sketch).finish();
}

// ---- Newton -------------------------------------------------------------------------------------------------------

GraphSize newton_size(Given given) {
    auto const iterations = static_cast<double>(given[0]), points = static_cast<double>(given[1]);
    return {.tasks = iterations * 4.0 * points,
            .edges = iterations * (4.0 * (points - 1.0) + 3.0) + (iterations - 1.0) * 2.0 * points};
}

/// N iterations x <- x - f(x)/f'(x), f and f' side by side, each the sum of M evaluations by a tree.
///
///     W = N (2(2M-1) + 2),   D = N (1 + ceil(log2 M) + 2)
///
/// Parallelism is that of one iteration: iterations are a chain.
/// Holds for:  N, M >= 1.
/// Assumes:    an evaluation, addition, division and subtraction are one operation each.
/// Source:     [BertsekasTsitsiklis1989]
TaskGraph newton(Given given) {
    enum Kind : std::uint16_t { f, derivative, sum, divide, subtract };
    std::int64_t const points = given[1];
    Sketch sketch{newton_size(given), {"f", "f'", "sum", "divide", "subtract"}};
    std::optional<TaskId> x;
    for (std::int64_t iteration = 0; iteration < given[0]; ++iteration) {
        std::array<TaskId, 2> first{};
        for (std::uint16_t const kind : {f, derivative}) {
            for (std::int64_t point = 0; point < points; ++point) {
                TaskId const evaluation = sketch.add(kind);
                if (point == 0) { first[kind] = evaluation; }
                sketch.after(evaluation, x);
            }
        }
        TaskId const value = add_up(sketch, first[f], points, sum),
                     slope = add_up(sketch, first[derivative], points, sum);
        TaskId const step = sketch.add(divide);
        sketch.after(step, value);
        sketch.after(step, slope);
        x = sketch.add(subtract);
        sketch.after(*x, step);
    }
    return std::move(sketch).finish();
}

// ---- Cholesky -----------------------------------------------------------------------------------------------------

GraphSize cholesky_size(Given given) {
    auto const t = static_cast<double>(given[0]);
    double const below = t * (t - 1.0) / 2.0, inside = below * (t - 2.0) / 3.0; // tiles; triples of tiles
    double const later_tiles = (t - 1.0) * (t - 2.0) / 2.0, later_inside = later_tiles * (t - 3.0) / 3.0;
    return {.tasks = t + 2.0 * below + inside,
            .edges = (t - 1.0) + 2.0 * (below + later_tiles) + 2.0 * inside + later_inside};
}

/// Cholesky factorisation of T x T tiles of b x b, right-looking: column k is factored, then all to its right updated.
///
///     W = T^3,   D = 9T - 10 (1 when T = 1)      in units of b^3/3
///
/// POTRF 1, TRSM 3, SYRK 3, GEMM 6 units; the longest path runs TRSM, GEMM, TRSM, GEMM, ... down the columns.
/// Holds for:  T >= 1.
/// Assumes:    a task's cost is its operations, lower order terms of b left out.
/// Source:     [Buttari2009]; work and depth [QuachLangou2015]
TaskGraph cholesky(Given given) {
    enum Kind : std::uint16_t { potrf, trsm, syrk, gemm };
    auto const tiles = static_cast<std::size_t>(given[0]);
    Sketch sketch{cholesky_size(given), {"POTRF", "TRSM", "SYRK", "GEMM"}};
    std::vector<std::optional<TaskId>> written(tiles * tiles); // the last task that wrote tile (row, column)
    auto const tile = [&](std::size_t row, std::size_t column) -> auto& { return written[row * tiles + column]; };
    auto const update = [&](Kind kind, Ticks cost, std::size_t row, std::size_t column) {
        TaskId const task = sketch.add(kind, cost);
        sketch.after(task, tile(row, column));
        tile(row, column) = task;
        return task;
    };
    for (std::size_t k = 0; k < tiles; ++k) {
        update(potrf, 1, k, k);
        for (std::size_t row = k + 1; row < tiles; ++row) { sketch.after(update(trsm, 3, row, k), tile(k, k)); }
        for (std::size_t row = k + 1; row < tiles; ++row) {
            for (std::size_t column = k + 1; column < row; ++column) {
                TaskId const product = update(gemm, 6, row, column);
                sketch.after(product, tile(row, k));
                sketch.after(product, tile(column, k));
            }
            sketch.after(update(syrk, 3, row, row), tile(row, k));
        }
    }
    sketch.graph().unit = "b^3/3 operations";
    sketch.note("costs are in units of b^3/3 operations, for tiles of b x b: POTRF 1, TRSM 3, SYRK 3, GEMM 6");
    return std::move(sketch).finish();
}

} // namespace headroom::laws::builders
