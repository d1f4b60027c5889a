#pragma once

// Straight pieces through times over sizes: which rows belong to which piece, and how well they do.

#include "communication_line.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace headroom::fit {

/// Rows [first, last] of what was given, in rising order of size, and the line through them.
struct Piece {
    std::size_t first = 0, last = 0;
    Line line;
};

/// Rule for the number of segments; the defaults are justified by cross-validation (docs/guide/comm-fit.md).
struct PieceRule {
    std::size_t least_sizes = 2;  ///< of a piece, distinct
    std::size_t most_pieces = 8;  ///< of a group
    double price = 1.0;           ///< of one more piece, in units of ln(rows)
    double noise = 0.02;          ///< relative: what repeated runs differ by, and no piece needs to explain
    double most_counted = 0.4055; ///< ln 1.5: a row that is farther off costs no more than this
};

/// The pieces that a group is made of, non-decreasing across their seams: for each number of pieces the best split by
/// dynamic programming, then the number with the least
///
///     N ln(S / N + noise) + price (pieces - 1) ln N        S the sum of capped |ln(predicted / measured)|
///
/// `rows` rise with size and are not empty.
std::vector<Piece> best_pieces(std::span<TimedSize const> rows, PieceRule const& rule = {});

} // namespace headroom::fit
