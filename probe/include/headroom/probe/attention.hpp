#pragma once

#include "headroom/probe/gemm.hpp"

#include <cstddef>
#include <vector>

namespace headroom::probe {

/// One head of attention, nothing masked: softmax(Q K^T / sqrt(width)) V, for `queries` rows of Q. The keys lie transposed
/// (width x length), values and queries in rows of `width`. 4 x queries x length x width operations; its softmax, which is
/// not counted, is 5 x queries x length besides.
struct AttentionCall {
    std::size_t queries = 0, length = 0, width = 0;
    float const *query = nullptr, *keys = nullptr, *values = nullptr;
    float* out = nullptr;
};

/// Three kernels, as textbooks have it; all scores pass through memory: `scores` has queries x length.
void attention_unfused(AttentionCall const& call, float* scores, OwnGemm& gemm);

/// Working memory of the tiled attention.
class TiledSpace {
public:
    explicit TiledSpace(std::size_t length);
    static constexpr std::size_t rows = 96, most_columns = 384;
    std::vector<float> scores, most, sums;
};

/// A block of queries against a block of keys at a time; scores stay in the second cache.
/// Source:     [Dao2022]
void attention_tiled(AttentionCall const& call, TiledSpace& space, OwnGemm& gemm);

} // namespace headroom::probe
