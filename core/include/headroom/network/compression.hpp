#pragma once

#include "headroom/network/gradient_compression.hpp"
#include "headroom/network/library_collectives.hpp"

#include <span>
#include <vector>

namespace headroom::network {

/// Gradients of `count` equal matrices; a vector has one column.
struct GradientMatrix {
    double rows = 0.0, columns = 0.0;
    double count = 1.0;
};

/// One collective of a step with compressed gradients.
struct SentCollective {
    Collective collective;
    TotalBytes bytes;
    double steps = 1.0; ///< share of the steps that have it
};

/// Traffic, kernels and memory of compressed gradients, in place of one all-reduce; averages over steps.
struct CompressedGradients {
    std::vector<SentCollective> sent; ///< one after another
    double rounds = 0.0;              ///< collectives a step
    double byte_ratio = 1.0;          ///< bytes that a rank sends, over those that it would send uncompressed
    /// Bytes read and written for each parameter to compress and decompress, one kernel an operation.
    double touched_per_parameter = 0.0;
    double kept_per_parameter = 0.0; ///< bytes of error feedback
    Flops products;                  ///< matrix products of low_rank
};

/// Collectives sent for N = sum of rows x columns gradients of w bytes each, over p ranks. By kind of compression:
///
///     none       all-reduce N w
///     low_rank   all-reduce sum n r w, then all-reduce sum m r w; before them all-reduce of matrices left whole
///     quantised  all-to-all N bits/8, then all-gather N bits/8
///     top_k      all-gather p share N (w + 4): a value and a 4-byte place for each, from every rank
///     one_bit    1 - warm_up of the steps: all-to-all N/8 + 4 p, then all-gather N/8 + 4 p; the others as none
///
/// A rank sends 2(p-1)/p of an all-reduce and (p-1)/p of the others, so the byte ratio is sum r(n + m) / N, bits/(8 w),
/// p share (w + 4)/(2 w) (above one when many ranks take part) and warm_up + (1 - warm_up)/(8 w).
/// Memory passes, w a gradient or error read or written:
///
///     low_rank   9 w   add the error (3), two products (2), rebuild (1), new error (3); error w
///     quantised  2 w + 4 bits/8 + bits/8/p
///     top_k      7 w + (p + 1) share (w + 4)   momentum and sum (5), threshold (1), rebuild (1); two sums 2 w
///     one_bit    4 w + 3/8 in steps that compress; errors of worker and server w + w/p
///
/// Holds for:  any p >= 1; rank at most the smaller side of a matrix.
/// Assumes:    no kernel is fused with the backward pass; scales of quantised blocks (4 bytes in some thousand elements)
///             are not counted; places of different ranks differ in top_k.
/// Source:     [PowerSGD], [ZeroPlusPlus], [Lin2018], [OneBitAdam]
CompressedGradients compressed_gradients(GradientCompression const& compression,
                                         std::span<GradientMatrix const> matrices, double bytes_per_element, Ranks p);

/// Compressed gradients of one flat size, taken as one square matrix of side sqrt(elements). Only low_rank depends on
/// shapes: for it this is the least that any matrices of as many elements need, far below the traffic of a model of
/// many layers.
CompressedGradients compressed_gradients(GradientCompression const& compression, double elements,
                                         double bytes_per_element, Ranks p);

/// Time of the collectives of a step, each by its fastest algorithm, one after another.
CollectiveTime compressed_time(CompressedGradients const& gradients, Group group, Fabric fabric);

} // namespace headroom::network
