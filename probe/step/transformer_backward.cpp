#include "transformer.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {

template <class Real> void Transformer<Real>::backward(Finished const& finished) {
    std::size_t const hidden = shape_.hidden, vocabulary = shape_.vocabulary;
    auto const tell = [&finished](std::size_t place) {
        if (finished) { finished(place); }
    };
    Real const* const projection = parameters_.data() + places_.projection;
    gemm_.multiply<Real>({vocabulary, hidden, rows_}, {logits_.data(), vocabulary, Transpose::yes},
                         {last_.out.data(), hidden}, Real{}, gradients_.data() + places_.projection, hidden);
    if (!shape_.tied) { tell(places_.projection); }
    narrow_.resize(rows_ * hidden);
    gemm_.multiply<Real>({rows_, hidden, vocabulary}, {logits_.data(), vocabulary}, {projection, hidden}, Real{},
                         narrow_.data(), hidden);
    slope_.assign(rows_ * hidden, Real{});
    back_norm(last_, places_.norm, narrow_, slope_);
    tell(places_.norm);
    for (std::size_t i = shape_.layers; i-- > 0;) {
        back_perceptron(kept_[i], places_.blocks[i]);
        tell(places_.blocks[i].norm2);
        back_mixing(kept_[i], places_.blocks[i]);
        tell(places_.blocks[i].norm1);
    }
    back_embedding();
    tell(0);
}

template <class Real>
void Transformer<Real>::back_norm(Norm const& norm, std::size_t place, std::vector<Real> const& grown,
                                  std::vector<Real>& to) {
    std::size_t const hidden = shape_.hidden;
    Real const* const gain = parameters_.data() + place;
    Real* const of_gain = gradients_.data() + place;
    Real* const of_bias = of_gain + hidden;
    std::fill(of_gain, of_gain + 2 * hidden, Real{});
    for (std::size_t row = 0; row < rows_; ++row) {
        Real const* const slope = grown.data() + row * hidden;
        Real const* const normal = norm.normal.data() + row * hidden;
        Real mean{}, along{};
        for (std::size_t i = 0; i < hidden; ++i) {
            of_gain[i] += slope[i] * normal[i];
            of_bias[i] += slope[i];
            mean += slope[i] * gain[i];
            along += slope[i] * gain[i] * normal[i];
        }
        mean /= static_cast<Real>(hidden);
        along /= static_cast<Real>(hidden);
        for (std::size_t i = 0; i < hidden; ++i) {
            to[row * hidden + i] += norm.scale[row] * (slope[i] * gain[i] - mean - normal[i] * along);
        }
    }
}

template <class Real>
void Transformer<Real>::back_apply(std::vector<Real> const& in, std::size_t place, std::size_t k, std::size_t n,
                                   std::vector<Real> const& grown, std::vector<Real>& to) {
    gemm_.multiply<Real>({k, n, rows_}, {in.data(), k, Transpose::yes}, {grown.data(), n}, Real{},
                         gradients_.data() + place, n);
    to.resize(rows_ * k);
    gemm_.multiply<Real>({rows_, k, n}, {grown.data(), n}, {parameters_.data() + place, n, Transpose::yes}, Real{},
                         to.data(), k);
}

template <class Real> void Transformer<Real>::back_perceptron(Kept& kept, ParameterPlaces::Block const& places) {
    std::size_t const hidden = shape_.hidden, wide = kept.up.size() / rows_;
    back_apply(kept.active, places.down, wide, hidden, slope_, wide_);
    for (std::size_t i = 0; i < wide_.size(); ++i) {
        Real const up = kept.up[i], share = Real{1} / (Real{1} + std::exp(-up));
        wide_[i] *= share * (Real{1} + up * (Real{1} - share));
    }
    back_apply(kept.norm2.out, places.up, hidden, wide, wide_, narrow_);
    back_norm(kept.norm2, places.norm2, narrow_, slope_);
}

template <class Real> void Transformer<Real>::back_mixing(Kept const& kept, ParameterPlaces::Block const& places) {
    std::size_t const hidden = shape_.hidden;
    back_apply(kept.mixed, places.output, hidden, hidden, slope_, narrow_);
    back_attention(kept);
    back_apply(kept.norm1.out, places.query_key_value, hidden, 3 * hidden, wide_, narrow_);
    back_norm(kept.norm1, places.norm1, narrow_, slope_);
}

/// From the gradient of what heads put out (narrow_) to that of queries, keys and values (wide_).
template <class Real> void Transformer<Real>::back_attention(Kept const& kept) {
    std::size_t const hidden = shape_.hidden, length = shape_.sequence, width = hidden / shape_.heads;
    Real const shrink = Real{1} / std::sqrt(static_cast<Real>(width));
    wide_.resize(rows_ * 3 * hidden);
    scores_.resize(length * length);
    for (std::size_t pair = 0; pair < rows_ / length * shape_.heads; ++pair) {
        std::size_t const sequence = pair / shape_.heads, head = pair % shape_.heads;
        std::size_t const place = sequence * length * 3 * hidden + head * width;
        Real const* const query = kept.query_key_value.data() + place;
        Real const* const weights = kept.weights.data() + pair * length * length;
        Real const* const out = narrow_.data() + sequence * length * hidden + head * width;
        Real* const to = wide_.data() + place;
        gemm_.multiply<Real>({length, width, length}, {weights, length, Transpose::yes}, {out, hidden}, Real{},
                             to + 2 * hidden, 3 * hidden);
        gemm_.multiply<Real>({length, length, width}, {out, hidden}, {query + 2 * hidden, 3 * hidden, Transpose::yes},
                             Real{}, scores_.data(), length);
        for (std::size_t i = 0; i < length; ++i) {
            Real* const row = scores_.data() + i * length;
            Real const* const weight = weights + i * length;
            Real sum{};
            for (std::size_t j = 0; j <= i; ++j) { sum += row[j] * weight[j]; }
            for (std::size_t j = 0; j < length; ++j) { row[j] = j <= i ? weight[j] * (row[j] - sum) * shrink : Real{}; }
        }
        gemm_.multiply<Real>({length, width, length}, {scores_.data(), length}, {query + hidden, 3 * hidden}, Real{},
                             to, 3 * hidden);
        gemm_.multiply<Real>({length, width, length}, {scores_.data(), length, Transpose::yes}, {query, 3 * hidden},
                             Real{}, to + hidden, 3 * hidden);
    }
}

template <class Real> void Transformer<Real>::back_embedding() {
    std::size_t const hidden = shape_.hidden;
    Real* const embedding = gradients_.data() + places_.embedding;
    Real* const positions = gradients_.data() + places_.positions;
    if (!shape_.tied) { std::fill(embedding, embedding + shape_.vocabulary * hidden, Real{}); }
    std::fill(positions, positions + shape_.sequence * hidden, Real{});
    for (std::size_t row = 0; row < rows_; ++row) {
        Real* const token = embedding + batch_.inputs[row] * hidden;
        Real* const position = positions + row % shape_.sequence * hidden;
        for (std::size_t i = 0; i < hidden; ++i) {
            token[i] += slope_[row * hidden + i];
            position[i] += slope_[row * hidden + i];
        }
    }
}

template void Transformer<float>::backward(Finished const&);
template void Transformer<double>::backward(Finished const&);

} // namespace headroom::training
