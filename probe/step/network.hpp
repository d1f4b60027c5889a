#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace headroom::step_example {

/// A residual network of square layers: x = x + silu(x W), a row a token. What it learns is to move each token's values
/// one place on; the loss is the mean square of what it misses them by.
struct NetworkShape {
    std::size_t layers = 16, hidden = 256, sequence = 16;

    /// They lie in one vector, layer after layer: gradients are finished from the end to the beginning.
    [[nodiscard]] std::size_t parameters() const { return layers * hidden * hidden; }
    bool operator==(NetworkShape const&) const = default;
};

constexpr std::size_t most_side = std::size_t{1} << 20U, most_parameters = std::size_t{1} << 30U;

/// Tokens of sequences first to last (excluded) of the batch of a step: the same numbers whoever makes them.
template <class Real>
std::vector<Real> make_batch(NetworkShape const& shape, std::size_t step, std::size_t first, std::size_t last);

/// The gradients from this place to the end of the vector are finished.
using Finished = std::function<void(std::size_t)>;

template <class Real> class Network {
public:
    /// Parameters are drawn alike in every process.
    explicit Network(NetworkShape const& shape);

    /// The loss of a batch as its share of that of `tokens`: those of all workers, so that losses and gradients of
    /// workers add up.
    double forward(std::vector<Real> batch, double tokens);
    /// Gradients of the last `forward`; `finished` is called as they become final.
    void backward(Finished const& finished);
    /// One step of Adam on all parameters.
    ///
    ///     m = a m + (1-a) g,  v = b v + (1-b) g^2,  w = w - r (m / (1-a^t)) / (sqrt(v / (1-b^t)) + e)
    ///
    /// Holds for:  a = 0.9, b = 0.99, r = 0.001, e = 1e-6; t counts steps from 1.
    /// Source:     [KingmaBa2015]
    void optimize();

    [[nodiscard]] std::span<Real> parameters() { return parameters_; }
    [[nodiscard]] std::span<Real> gradients() { return gradients_; }

private:
    /// Inputs of a layer that the backward pass needs: x and x W.
    struct Kept {
        std::vector<Real> in, product;
    };

    NetworkShape shape_;
    std::vector<Real> parameters_, gradients_, first_, second_; ///< the last two: Adam's moments
    int steps_ = 0;
    std::vector<Kept> kept_;
    std::vector<Real> slope_; ///< of the loss in the stream
};

} // namespace headroom::step_example
