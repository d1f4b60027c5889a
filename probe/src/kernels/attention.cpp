#include "headroom/probe/attention.hpp"

#include "headroom/probe/row_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::probe {
namespace {

float scale_of(AttentionCall const& call) { return 1.0F / std::sqrt(static_cast<float>(call.width)); }

/// A row at a time: the folding of a single block into nothing, and the quotient while the row is near.
void scaled_softmax(AttentionCall const& call, float* scores) {
    for (std::size_t row = 0; row < call.queries; ++row, scores += call.length) {
        float most = -std::numeric_limits<float>::infinity(), sum = 0.0F;
        fold_in({scores, 1, call.length, scale_of(call), &most, &sum, nullptr, 0});
        divide_rows(scores, &sum, 1, call.length);
    }
}

} // namespace

void attention_unfused(AttentionCall const& call, float* scores, OwnGemm& gemm) {
    gemm.multiply(call.queries, call.length, call.width, {call.query, call.width}, {call.keys, call.length},
                  {scores, call.length});
    scaled_softmax(call, scores);
    gemm.multiply(call.queries, call.width, call.length, {scores, call.length}, {call.values, call.width},
                  {call.out, call.width});
}

TiledSpace::TiledSpace(std::size_t length)
    : scores(rows * std::min(most_columns, length)), most(rows), sums(rows) {}

void attention_tiled(AttentionCall const& call, TiledSpace& space, OwnGemm& gemm) {
    for (std::size_t first = 0; first < call.queries; first += TiledSpace::rows) {
        std::size_t const rows = std::min(TiledSpace::rows, call.queries - first);
        float* const out = call.out + first * call.width;
        std::fill_n(out, rows * call.width, 0.0F);
        std::ranges::fill(space.most, -std::numeric_limits<float>::infinity());
        std::ranges::fill(space.sums, 0.0F);
        for (std::size_t key = 0; key < call.length; key += TiledSpace::most_columns) {
            std::size_t const columns = std::min(TiledSpace::most_columns, call.length - key);
            gemm.multiply(rows, columns, call.width, {call.query + first * call.width, call.width},
                          {call.keys + key, call.length}, {space.scores.data(), columns});
            fold_in({space.scores.data(), rows, columns, scale_of(call), space.most.data(), space.sums.data(), out,
                     call.width});
            gemm.multiply(rows, call.width, columns, {space.scores.data(), columns},
                          {call.values + key * call.width, call.width}, {out, call.width}, ProductInto::adds);
        }
        divide_rows(out, space.sums.data(), rows, call.width);
    }
}

} // namespace headroom::probe
