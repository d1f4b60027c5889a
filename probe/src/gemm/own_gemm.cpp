// A product of matrices, blocked for three levels of cache and compiled once for every instruction set: tiles of C stay in
// registers, panels of A in the first cache, those of B and blocks of A in the second, blocks of B in the third.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/own_gemm.cpp"
#include "gemm/gemm_call.hpp"
#include "vector/targets.hpp"

#include <algorithm>
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace headroom::probe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using V = hn::Vec<Lanes>;

#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr std::size_t tile_rows = 12; // 24 sums, 2 of B, 1 of A, of 32 registers
#else
constexpr std::size_t tile_rows = 6; // 12 sums, 2 of B, 1 of A, of 16 registers
#endif
constexpr std::size_t tile_vectors = 2;
constexpr std::size_t steps_ahead = 8; ///< of which the row of B is fetched

HWY_INLINE std::size_t tile_columns() { return tile_vectors * hn::Lanes(Lanes{}); }

HWY_INLINE void put(V sum, float* at, bool add) {
    Lanes const d;
    hn::StoreU(add ? hn::Add(hn::LoadU(d, at), sum) : sum, d, at);
}

/// One tile of C: `k` steps, each an outer product of a column of A and a row of B. Every index is a constant.
template <std::size_t... I>
HWY_INLINE void tile(std::size_t k, float const* HWY_RESTRICT a, float const* HWY_RESTRICT b, Matrix c, bool add,
                     std::index_sequence<I...>) {
    Lanes const d;
    std::size_t const lanes = hn::Lanes(d);
    V sums[] = {(static_cast<void>(I), hn::Zero(d))...};
    (hwy::Prefetch(c.data + I / tile_vectors * c.stride + I % tile_vectors * lanes), ...); // wanted at the end
    for (std::size_t step = 0; step < k; ++step) {
        V const row[tile_vectors] = {hn::Load(d, b), hn::Load(d, b + lanes)};
        ((sums[I] = hn::MulAdd(hn::Set(d, a[I / tile_vectors]), row[I % tile_vectors], sums[I])), ...);
        hwy::Prefetch(b + steps_ahead * tile_vectors * lanes);
        hwy::Prefetch(b + (steps_ahead * tile_vectors + 1) * lanes);
        a += tile_rows;
        b += tile_vectors * lanes;
    }
    (put(sums[I], c.data + I / tile_vectors * c.stride + I % tile_vectors * lanes, add), ...);
}

/// A tile that hangs over the edge of C is made in a buffer; its part inside is copied.
HWY_INLINE void edge_tile(std::size_t k, float const* a, float const* b, Matrix c, bool add, std::size_t rows,
                          std::size_t columns, float* HWY_RESTRICT edge) {
    tile(k, a, b, {edge, tile_columns()}, false, std::make_index_sequence<tile_rows * tile_vectors>{});
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            float const value = edge[row * tile_columns() + column];
            float& at = c.data[row * c.stride + column];
            at = add ? at + value : value;
        }
    }
}

/// Rows of A next to each other, a tile high; zeros below the last.
HWY_INLINE void pack_a(ConstMatrix a, std::size_t rows, std::size_t k, float* HWY_RESTRICT to) {
    for (std::size_t first = 0; first < rows; first += tile_rows) {
        std::size_t const there = std::min(tile_rows, rows - first);
        for (std::size_t row = 0; row < tile_rows; ++row) {
            float const* from = a.data + (first + row) * a.stride;
            for (std::size_t step = 0; step < k; ++step) {
                to[step * tile_rows + row] = row < there ? from[step] : 0.0F;
            }
        }
        to += tile_rows * k;
    }
}

/// Columns of B, a tile wide; zeros behind the last.
HWY_INLINE void pack_b(ConstMatrix b, std::size_t columns, std::size_t k, float* HWY_RESTRICT to) {
    Lanes const d;
    std::size_t const lanes = hn::Lanes(d), wide = tile_columns();
    for (std::size_t first = 0; first < columns; first += wide) {
        std::size_t const there = std::min(wide, columns - first);
        for (std::size_t step = 0; step < k; ++step, to += wide) {
            float const* from = b.data + step * b.stride + first;
            if (there == wide) {
                hn::Store(hn::LoadU(d, from), d, to);
                hn::Store(hn::LoadU(d, from + lanes), d, to + lanes);
                continue;
            }
            for (std::size_t column = 0; column < wide; ++column) { to[column] = column < there ? from[column] : 0.0F; }
        }
    }
}

/// All tiles of a block of C whose factors are packed.
HWY_INLINE void block(GemmCall const& call, std::size_t rows, std::size_t columns, std::size_t k, Matrix c, bool add) {
    std::size_t const wide = tile_columns();
    for (std::size_t column = 0; column < columns; column += wide) {
        float const* const b = call.packed_b + column * k;
        for (std::size_t row = 0; row < rows; row += tile_rows) {
            float const* const a = call.packed_a + row * k;
            Matrix const at{c.data + row * c.stride + column, c.stride};
            if (row + tile_rows <= rows && column + wide <= columns) {
                tile(k, a, b, at, add, std::make_index_sequence<tile_rows * tile_vectors>{});
            } else {
                edge_tile(k, a, b, at, add, std::min(tile_rows, rows - row), std::min(wide, columns - column),
                          call.edge);
            }
        }
    }
}

void multiply(GemmCall const& call) {
    constexpr std::size_t block_rows = gemm_block_rows / tile_rows * tile_rows;
    for (std::size_t column = 0; column < call.n; column += gemm_block_columns) {
        std::size_t const columns = std::min(gemm_block_columns, call.n - column);
        for (std::size_t step = 0; step < call.k; step += gemm_block_depth) {
            std::size_t const depth = std::min(gemm_block_depth, call.k - step);
            pack_b({call.b.data + step * call.b.stride + column, call.b.stride}, columns, depth, call.packed_b);
            for (std::size_t row = 0; row < call.m; row += block_rows) {
                std::size_t const rows = std::min(block_rows, call.m - row);
                pack_a({call.a.data + row * call.a.stride + step, call.a.stride}, rows, depth, call.packed_a);
                block(call, rows, columns, depth, {call.c.data + row * call.c.stride + column, call.c.stride},
                      step > 0 || call.into == ProductInto::adds);
            }
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace headroom::probe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace headroom::probe {

HEADROOM_VECTOR_FUNCTION(multiply);

void multiply_here(GemmCall const& call) { HEADROOM_OF_TARGET(multiply)(call); }

} // namespace headroom::probe

#endif
