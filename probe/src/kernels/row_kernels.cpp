// Triad, sum, softmax and layer norm, compiled once for every instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_kernels.cpp"
#include "headroom/probe/row_kernels.hpp"

#include "vector/targets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

// Each needs the one before.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include <hwy/cache_control.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace headroom::probe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using V = hn::Vec<Lanes>;

HWY_INLINE float total(V lanes) { return hn::GetLane(hn::SumOfLanes(Lanes{}, lanes)); }

void triad_here(float* HWY_RESTRICT out, float const* HWY_RESTRICT a, float const* HWY_RESTRICT b, float s,
                std::size_t count) {
    Lanes const d;
    std::size_t const lanes = hn::Lanes(d);
    bool const aligned = reinterpret_cast<std::uintptr_t>(out) % (lanes * sizeof(float)) == 0;
    V const factor = hn::Set(d, s);
    std::size_t i = 0;
    if (aligned) {
        for (; i + lanes <= count; i += lanes) {
            hn::Stream(hn::MulAdd(factor, hn::LoadU(d, b + i), hn::LoadU(d, a + i)), d, out + i);
        }
        hwy::FlushStream();
    }
    for (; i < count; ++i) { out[i] = a[i] + s * b[i]; }
}

float sum_here(float const* HWY_RESTRICT values, std::size_t count) {
    Lanes const d;
    std::size_t const lanes = hn::Lanes(d);
    V first = hn::Zero(d), second = first, third = first, fourth = first;
    V fifth = first, sixth = first, seventh = first, eighth = first; // as many as hide an addition's latency
    std::size_t i = 0;
    for (; i + 8 * lanes <= count; i += 8 * lanes) {
        float const* const at = values + i;
        first = hn::Add(first, hn::LoadU(d, at));
        second = hn::Add(second, hn::LoadU(d, at + lanes));
        third = hn::Add(third, hn::LoadU(d, at + 2 * lanes));
        fourth = hn::Add(fourth, hn::LoadU(d, at + 3 * lanes));
        fifth = hn::Add(fifth, hn::LoadU(d, at + 4 * lanes));
        sixth = hn::Add(sixth, hn::LoadU(d, at + 5 * lanes));
        seventh = hn::Add(seventh, hn::LoadU(d, at + 6 * lanes));
        eighth = hn::Add(eighth, hn::LoadU(d, at + 7 * lanes));
    }
    V const low = hn::Add(hn::Add(first, second), hn::Add(third, fourth));
    V const high = hn::Add(hn::Add(fifth, sixth), hn::Add(seventh, eighth));
    float sum = total(hn::Add(low, high));
    for (; i < count; ++i) { sum += values[i]; }
    return sum;
}

HWY_INLINE float most_of(float const* HWY_RESTRICT row, std::size_t columns) {
    Lanes const d;
    std::size_t const lanes = hn::Lanes(d);
    float most = -std::numeric_limits<float>::infinity();
    std::size_t i = 0;
    if (columns >= lanes) {
        V all = hn::LoadU(d, row);
        for (i = lanes; i + lanes <= columns; i += lanes) { all = hn::Max(all, hn::LoadU(d, row + i)); }
        most = hn::GetLane(hn::MaxOfLanes(d, all));
    }
    for (; i < columns; ++i) { most = std::max(most, row[i]); }
    return most;
}

/// out = exp(scale x - most); returns their sum.
HWY_INLINE float exponentials(float const* row, float* out, std::size_t columns, float scale, float most) {
    Lanes const d;
    std::size_t const lanes = hn::Lanes(d);
    V const factor = hn::Set(d, scale), shift = hn::Set(d, most);
    V sums = hn::Zero(d);
    std::size_t i = 0;
    for (; i + lanes <= columns; i += lanes) {
        V const value = hn::Exp(d, hn::MulSub(factor, hn::LoadU(d, row + i), shift));
        hn::StoreU(value, d, out + i);
        sums = hn::Add(sums, value);
    }
    float sum = total(sums);
    for (; i < columns; ++i) {
        out[i] = std::exp(scale * row[i] - most);
        sum += out[i];
    }
    return sum;
}

HWY_INLINE void multiply_row(float* row, std::size_t columns, float by) {
    Lanes const d;
    std::size_t const lanes = hn::Lanes(d);
    V const factor = hn::Set(d, by);
    std::size_t i = 0;
    for (; i + lanes <= columns; i += lanes) { hn::StoreU(hn::Mul(hn::LoadU(d, row + i), factor), d, row + i); }
    for (; i < columns; ++i) { row[i] *= by; }
}

void softmax_here(float const* in, float* out, std::size_t rows, std::size_t columns) {
    for (std::size_t row = 0; row < rows; ++row, in += columns, out += columns) {
        float const sum = exponentials(in, out, columns, 1.0F, most_of(in, columns));
        multiply_row(out, columns, 1.0F / sum);
    }
}

HWY_INLINE float squares_about(float const* HWY_RESTRICT row, std::size_t columns, float mean) {
    Lanes const d;
    std::size_t const lanes = hn::Lanes(d);
    V const middle = hn::Set(d, mean);
    V sums = hn::Zero(d), more = sums;
    std::size_t i = 0;
    for (; i + 2 * lanes <= columns; i += 2 * lanes) {
        V const left = hn::Sub(hn::LoadU(d, row + i), middle), right = hn::Sub(hn::LoadU(d, row + i + lanes), middle);
        sums = hn::MulAdd(left, left, sums);
        more = hn::MulAdd(right, right, more);
    }
    float sum = total(hn::Add(sums, more));
    for (; i < columns; ++i) { sum += (row[i] - mean) * (row[i] - mean); }
    return sum;
}

void layer_norm_here(float const* in, float const* HWY_RESTRICT weight, float const* HWY_RESTRICT bias, float* out,
                     std::size_t rows, std::size_t columns) {
    constexpr float least_variance = 1e-5F;
    Lanes const d;
    std::size_t const lanes = hn::Lanes(d);
    float const share = 1.0F / static_cast<float>(columns);
    for (std::size_t row = 0; row < rows; ++row, in += columns, out += columns) {
        float const mean = sum_here(in, columns) * share;
        float const over = 1.0F / std::sqrt(squares_about(in, columns, mean) * share + least_variance);
        V const middle = hn::Set(d, mean), factor = hn::Set(d, over);
        std::size_t i = 0;
        for (; i + lanes <= columns; i += lanes) {
            V const normal = hn::Mul(hn::Sub(hn::LoadU(d, in + i), middle), factor);
            hn::StoreU(hn::MulAdd(normal, hn::LoadU(d, weight + i), hn::LoadU(d, bias + i)), d, out + i);
        }
        for (; i < columns; ++i) { out[i] = (in[i] - mean) * over * weight[i] + bias[i]; }
    }
}

void fold_in_here(OnlineSoftmax const& block) {
    for (std::size_t row = 0; row < block.rows; ++row) {
        float* const scores = block.scores + row * block.columns;
        float const before = block.most[row];
        float const most = std::max(before, block.scale * most_of(scores, block.columns));
        float const down = std::exp(before - most); // 0 of the first block, whose `before` is minus infinity
        float const sum = exponentials(scores, scores, block.columns, block.scale, most);
        block.sums[row] = down * block.sums[row] + sum;
        block.most[row] = most;
        if (down != 1.0F) { multiply_row(block.out + row * block.width, block.width, down); }
    }
}

void divide_here(float* out, float const* sums, std::size_t rows, std::size_t width) {
    for (std::size_t row = 0; row < rows; ++row) { multiply_row(out + row * width, width, 1.0F / sums[row]); }
}

} // namespace HWY_NAMESPACE
} // namespace headroom::probe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace headroom::probe {

HEADROOM_VECTOR_FUNCTION(triad_here);
HEADROOM_VECTOR_FUNCTION(sum_here);
HEADROOM_VECTOR_FUNCTION(softmax_here);
HEADROOM_VECTOR_FUNCTION(layer_norm_here);
HEADROOM_VECTOR_FUNCTION(fold_in_here);
HEADROOM_VECTOR_FUNCTION(divide_here);

void triad(float* out, float const* a, float const* b, float s, std::size_t count) {
    HEADROOM_OF_TARGET(triad_here)(out, a, b, s, count);
}

float sum_of(float const* values, std::size_t count) { return HEADROOM_OF_TARGET(sum_here)(values, count); }

void softmax_rows(float const* in, float* out, std::size_t rows, std::size_t columns) {
    HEADROOM_OF_TARGET(softmax_here)(in, out, rows, columns);
}

void layer_norm_rows(float const* in, float const* weight, float const* bias, float* out, std::size_t rows,
                     std::size_t columns) {
    HEADROOM_OF_TARGET(layer_norm_here)(in, weight, bias, out, rows, columns);
}

void fold_in(OnlineSoftmax const& block) { HEADROOM_OF_TARGET(fold_in_here)(block); }

void divide_rows(float* out, float const* sums, std::size_t rows, std::size_t width) {
    HEADROOM_OF_TARGET(divide_here)(out, sums, rows, width);
}

} // namespace headroom::probe

#endif
