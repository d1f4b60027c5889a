#include "transformer.hpp"

#include "headroom/counter_random.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {
namespace {

constexpr std::size_t widening = 4; ///< of the perceptron
constexpr double smallest_variance = 1e-5;

/// Streams of random numbers with neighbouring seeds would be shifts of each other.
CounterRandom stream(std::uint64_t seed) { return CounterRandom{CounterRandom{seed}.next()}; }

} // namespace

std::size_t TransformerShape::parameters() const { return ParameterPlaces{*this}.all; }

ParameterPlaces::ParameterPlaces(TransformerShape const& shape) {
    std::size_t const square = shape.hidden * shape.hidden;
    auto const next = [this](std::size_t size) {
        std::size_t const here = all;
        all += size;
        return here;
    };
    embedding = next(shape.vocabulary * shape.hidden);
    positions = next(shape.sequence * shape.hidden);
    for (std::size_t i = 0; i < shape.layers; ++i) {
        Block block{};
        block.norm1 = next(2 * shape.hidden);
        block.query_key_value = next(3 * square);
        block.output = next(square);
        block.norm2 = next(2 * shape.hidden);
        block.up = next(widening * square);
        block.down = next(widening * square);
        blocks.push_back(block);
    }
    norm = next(2 * shape.hidden);
    projection = shape.tied ? embedding : next(shape.vocabulary * shape.hidden);
}

Batch make_batch(TransformerShape const& shape, std::size_t step, std::size_t first, std::size_t last) {
    Batch batch;
    std::uint64_t const vocabulary = shape.vocabulary;
    for (std::size_t sequence = first; sequence < last; ++sequence) {
        CounterRandom random = stream((static_cast<std::uint64_t>(step) << 32U) + sequence);
        std::uint64_t token = random.next() % vocabulary;
        for (std::size_t i = 0; i < shape.sequence; ++i) {
            batch.inputs.push_back(static_cast<std::uint32_t>(token));
            bool const follows = random.next() % 8 != 0;
            token = follows ? (5 * token + 1) % vocabulary : random.next() % vocabulary;
            batch.targets.push_back(static_cast<std::uint32_t>(token));
        }
    }
    return batch;
}

template <class Real>
Transformer<Real>::Transformer(TransformerShape const& shape, Gemm gemm, std::uint64_t seed)
    : shape_{shape},
      places_{shape},
      gemm_{std::move(gemm)},
      parameters_(places_.all),
      gradients_(places_.all),
      kept_(shape.layers) {
    CounterRandom random = stream(seed);
    double const width = 1.0 / std::sqrt(static_cast<double>(shape.hidden));
    for (Real& value : parameters_) { value = static_cast<Real>(width * (random.uniform() - 0.5)); }
    auto const begin_norm = [this](std::size_t place) {
        auto const at = parameters_.begin() + static_cast<std::ptrdiff_t>(place);
        auto const middle = at + static_cast<std::ptrdiff_t>(shape_.hidden);
        std::fill(at, middle, Real{1});
        std::fill(middle, middle + static_cast<std::ptrdiff_t>(shape_.hidden), Real{});
    };
    begin_norm(places_.norm);
    for (auto const& block : places_.blocks) {
        begin_norm(block.norm1);
        begin_norm(block.norm2);
    }
}

template <class Real> double Transformer<Real>::forward(Batch const& batch, double tokens) {
    batch_ = batch;
    rows_ = batch.inputs.size();
    embed();
    for (std::size_t i = 0; i < shape_.layers; ++i) { run_block(kept_[i], places_.blocks[i]); }
    run_norm(last_, stream_, places_.norm);
    return run_loss(tokens);
}

template <class Real> void Transformer<Real>::embed() {
    std::size_t const hidden = shape_.hidden;
    stream_.resize(rows_ * hidden);
    for (std::size_t row = 0; row < rows_; ++row) {
        Real const* const token = parameters_.data() + places_.embedding + batch_.inputs[row] * hidden;
        Real const* const position = parameters_.data() + places_.positions + row % shape_.sequence * hidden;
        for (std::size_t i = 0; i < hidden; ++i) { stream_[row * hidden + i] = token[i] + position[i]; }
    }
}

template <class Real> void Transformer<Real>::run_norm(Norm& norm, std::vector<Real> const& in, std::size_t place) {
    std::size_t const hidden = shape_.hidden;
    norm.out.resize(in.size());
    norm.normal.resize(in.size());
    norm.scale.resize(rows_);
    Real const* const gain = parameters_.data() + place;
    Real const* const bias = gain + hidden;
    for (std::size_t row = 0; row < rows_; ++row) {
        Real const* const x = in.data() + row * hidden;
        Real mean{}, variance{};
        for (std::size_t i = 0; i < hidden; ++i) { mean += x[i]; }
        mean /= static_cast<Real>(hidden);
        for (std::size_t i = 0; i < hidden; ++i) { variance += (x[i] - mean) * (x[i] - mean); }
        Real const scale =
            Real{1} / std::sqrt(variance / static_cast<Real>(hidden) + static_cast<Real>(smallest_variance));
        norm.scale[row] = scale;
        for (std::size_t i = 0; i < hidden; ++i) {
            Real const normal = (x[i] - mean) * scale;
            norm.normal[row * hidden + i] = normal;
            norm.out[row * hidden + i] = normal * gain[i] + bias[i];
        }
    }
}

template <class Real>
void Transformer<Real>::apply(std::vector<Real> const& in, std::size_t place, std::size_t k, std::size_t n,
                              std::vector<Real>& out, bool adds) {
    out.resize(rows_ * n);
    gemm_.multiply<Real>({rows_, n, k}, {in.data(), k}, {parameters_.data() + place, n}, adds ? Real{1} : Real{},
                         out.data(), n);
}

template <class Real> void Transformer<Real>::run_attention(Kept& kept) {
    std::size_t const hidden = shape_.hidden, length = shape_.sequence, width = hidden / shape_.heads;
    Real const shrink = Real{1} / std::sqrt(static_cast<Real>(width));
    kept.mixed.resize(rows_ * hidden);
    kept.weights.resize(rows_ * shape_.heads * length);
    for (std::size_t pair = 0; pair < rows_ / length * shape_.heads; ++pair) {
        std::size_t const sequence = pair / shape_.heads, head = pair % shape_.heads;
        Real const* const query = kept.query_key_value.data() + sequence * length * 3 * hidden + head * width;
        Real* const weights = kept.weights.data() + pair * length * length;
        gemm_.multiply<Real>({length, length, width}, {query, 3 * hidden}, {query + hidden, 3 * hidden, Transpose::yes},
                             Real{}, weights, length);
        for (std::size_t i = 0; i < length; ++i) {
            Real* const row = weights + i * length;
            Real const most = *std::max_element(row, row + i + 1);
            Real sum{};
            for (std::size_t j = 0; j <= i; ++j) {
                row[j] = std::exp((row[j] - most) * shrink);
                sum += row[j];
            }
            for (std::size_t j = 0; j <= i; ++j) { row[j] /= sum; }
            std::fill(row + i + 1, row + length, Real{}); // what comes later is not seen
        }
        gemm_.multiply<Real>({length, width, length}, {weights, length}, {query + 2 * hidden, 3 * hidden}, Real{},
                             kept.mixed.data() + sequence * length * hidden + head * width, hidden);
    }
}

template <class Real> void Transformer<Real>::run_block(Kept& kept, ParameterPlaces::Block const& places) {
    std::size_t const hidden = shape_.hidden, wide = widening * hidden;
    run_norm(kept.norm1, stream_, places.norm1);
    apply(kept.norm1.out, places.query_key_value, hidden, 3 * hidden, kept.query_key_value, false);
    run_attention(kept);
    apply(kept.mixed, places.output, hidden, hidden, stream_, true);
    run_norm(kept.norm2, stream_, places.norm2);
    apply(kept.norm2.out, places.up, hidden, wide, kept.up, false);
    kept.active.resize(kept.up.size());
    for (std::size_t i = 0; i < kept.up.size(); ++i) {
        kept.active[i] = kept.up[i] / (Real{1} + std::exp(-kept.up[i]));
    }
    apply(kept.active, places.down, wide, hidden, stream_, true);
}

/// Mean cross entropy; leaves the gradient of the logits in their place.
template <class Real> double Transformer<Real>::run_loss(double tokens) {
    std::size_t const vocabulary = shape_.vocabulary, hidden = shape_.hidden;
    logits_.resize(rows_ * vocabulary);
    gemm_.multiply<Real>({rows_, vocabulary, hidden}, {last_.out.data(), hidden},
                         {parameters_.data() + places_.projection, hidden, Transpose::yes}, Real{}, logits_.data(),
                         vocabulary);
    double loss = 0.0;
    for (std::size_t row = 0; row < rows_; ++row) {
        Real* const logits = logits_.data() + row * vocabulary;
        Real const most = *std::max_element(logits, logits + vocabulary);
        Real const wanted = logits[batch_.targets[row]];
        Real sum{};
        for (std::size_t i = 0; i < vocabulary; ++i) {
            logits[i] = std::exp(logits[i] - most);
            sum += logits[i];
        }
        loss += std::log(static_cast<double>(sum)) + static_cast<double>(most - wanted);
        Real const scale = static_cast<Real>(1.0 / (static_cast<double>(sum) * tokens));
        for (std::size_t i = 0; i < vocabulary; ++i) { logits[i] *= scale; }
        logits[batch_.targets[row]] -= static_cast<Real>(1.0 / tokens);
    }
    return loss / tokens;
}

template Transformer<float>::Transformer(TransformerShape const&, Gemm, std::uint64_t);
template Transformer<double>::Transformer(TransformerShape const&, Gemm, std::uint64_t);
template double Transformer<float>::forward(Batch const&, double);
template double Transformer<double>::forward(Batch const&, double);

} // namespace headroom::training
