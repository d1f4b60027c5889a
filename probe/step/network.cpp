#include "network.hpp"

#include "headroom/counter_random.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::step_example {
namespace {

/// C (m x n) += A (m x k) B (k x n), all by rows; a few rows of C at a time, by blocks of B that stay in the caches.
template <class Real>
void add_product(std::size_t m, std::size_t n, std::size_t k, Real const* a, Real const* b, Real* c) {
    constexpr std::size_t depth = 64, together = 4;
    for (std::size_t first = 0; first < k; first += depth) {
        std::size_t const last = std::min(first + depth, k);
        for (std::size_t i = 0; i < m; ++i) {
            std::size_t p = first;
            for (; p + together <= last; p += together) {
                Real const *const at = a + i * k + p, *const from = b + p * n;
                for (std::size_t j = 0; j < n; ++j) {
                    c[i * n + j] +=
                        at[0] * from[j] + at[1] * from[n + j] + (at[2] * from[2 * n + j] + at[3] * from[3 * n + j]);
                }
            }
            for (; p < last; ++p) {
                for (std::size_t j = 0; j < n; ++j) { c[i * n + j] += a[i * k + p] * b[p * n + j]; }
            }
        }
    }
}

template <class Real> std::vector<Real> transposed(std::size_t rows, std::size_t columns, Real const* values) {
    std::vector<Real> result(rows * columns);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) { result[j * rows + i] = values[i * columns + j]; }
    }
    return result;
}

/// Streams of random numbers with neighbouring seeds would be shifts of each other.
CounterRandom stream_of(std::uint64_t seed) { return CounterRandom{CounterRandom{seed}.next()}; }

template <class Real> Real sigmoid(Real x) { return Real{1} / (Real{1} + std::exp(-x)); }

} // namespace

template <class Real>
std::vector<Real> make_batch(NetworkShape const& shape, std::size_t step, std::size_t first, std::size_t last) {
    std::vector<Real> batch;
    for (std::size_t sequence = first; sequence < last; ++sequence) {
        CounterRandom random = stream_of((static_cast<std::uint64_t>(step) << 32U) + sequence);
        for (std::size_t i = 0; i < shape.sequence * shape.hidden; ++i) {
            batch.push_back(static_cast<Real>(random.uniform() - 0.5));
        }
    }
    return batch;
}

template <class Real>
Network<Real>::Network(NetworkShape const& shape)
    : shape_{shape},
      parameters_(shape.parameters()),
      gradients_(shape.parameters()),
      first_(shape.parameters()),
      second_(shape.parameters()),
      kept_(shape.layers) {
    CounterRandom random = stream_of(1);
    double const width = 1.0 / std::sqrt(static_cast<double>(shape.hidden));
    for (Real& value : parameters_) { value = static_cast<Real>(width * (random.uniform() - 0.5)); }
}

template <class Real> double Network<Real>::forward(std::vector<Real> batch, double tokens) {
    std::size_t const hidden = shape_.hidden, rows = batch.size() / hidden;
    std::vector<Real> stream = std::move(batch);
    for (std::size_t layer = 0; layer < shape_.layers; ++layer) {
        Kept& kept = kept_[layer];
        kept.in = stream;
        kept.product.assign(stream.size(), Real{});
        add_product(rows, hidden, hidden, stream.data(), parameters_.data() + layer * hidden * hidden,
                    kept.product.data());
        std::ranges::transform(stream, kept.product, stream.begin(), [](Real x, Real y) { return x + y * sigmoid(y); });
    }
    double const count = tokens * static_cast<double>(hidden);
    double sum = 0.0;
    slope_.resize(stream.size());
    for (std::size_t i = 0; i < stream.size(); ++i) {
        Real const missed = stream[i] - kept_.front().in[i % hidden == 0 ? i + hidden - 1 : i - 1];
        sum += static_cast<double>(missed) * static_cast<double>(missed);
        slope_[i] = missed * static_cast<Real>(2.0 / count);
    }
    return sum / count;
}

template <class Real> void Network<Real>::backward(Finished const& finished) {
    std::size_t const hidden = shape_.hidden, rows = slope_.size() / hidden;
    std::vector<Real> through(slope_.size());
    for (std::size_t layer = shape_.layers; layer-- > 0;) {
        std::size_t const place = layer * hidden * hidden;
        std::ranges::transform(slope_, kept_[layer].product, through.begin(), [](Real slope, Real y) {
            Real const share = sigmoid(y);
            return slope * share * (Real{1} + y * (Real{1} - share));
        });
        Real* const gradients = gradients_.data() + place;
        std::fill(gradients, gradients + hidden * hidden, Real{});
        add_product(hidden, hidden, rows, transposed(rows, hidden, kept_[layer].in.data()).data(), through.data(),
                    gradients);
        finished(place);
        if (layer == 0) { return; }
        add_product(rows, hidden, hidden, through.data(), transposed(hidden, hidden, parameters_.data() + place).data(),
                    slope_.data());
    }
}

template <class Real> void Network<Real>::optimize() {
    constexpr Real a = Real(0.9), b = Real(0.99), rate = Real(1e-3), least = Real(1e-6);
    ++steps_;
    Real const of_first = Real(1.0 / (1.0 - std::pow(0.9, steps_)));
    Real const of_second = Real(1.0 / (1.0 - std::pow(0.99, steps_)));
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        first_[i] = a * first_[i] + (Real{1} - a) * gradients_[i];
        second_[i] = b * second_[i] + (Real{1} - b) * gradients_[i] * gradients_[i];
        parameters_[i] -= rate * first_[i] * of_first / (std::sqrt(second_[i] * of_second) + least);
    }
}

template class Network<float>;
template class Network<double>;
template std::vector<float> make_batch(NetworkShape const&, std::size_t, std::size_t, std::size_t);
template std::vector<double> make_batch(NetworkShape const&, std::size_t, std::size_t, std::size_t);

} // namespace headroom::step_example
