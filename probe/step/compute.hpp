#pragma once

#include "adam.hpp"
#include "pace.hpp"
#include "profile.hpp"
#include "transformer.hpp"

#include <optional>

namespace headroom::training {

/// Computing of one worker: its share of a batch through the model.
template <class Real> class RealCompute {
public:
    RealCompute(TransformerShape const& shape, Gemm gemm) : model_{shape, std::move(gemm)}, adam_{shape.parameters()} {}

    double forward(Batch const& batch, double tokens) { return model_.forward(batch, tokens); }
    void backward(Finished const& finished) { model_.backward(finished); }
    void optimize() { adam_.step(model_.parameters(), model_.gradients()); }
    std::span<Real> gradients() { return model_.gradients(); }

private:
    Transformer<Real> model_;
    Adam<Real> adam_;
};

/// Sleeps in place of computing, as long as one worker took, in proportion to the sequences. Gradients are there, and move.
template <class Real> class ReplayedCompute {
public:
    ReplayedCompute(StepProfile const& profile, std::size_t share)
        : profile_{profile},
          scale_{static_cast<double>(share) / static_cast<double>(profile.batch)},
          gradients_(profile.shape.parameters()) {}

    double forward(Batch const& /*batch*/, double /*tokens*/) {
        sleeper_.until(seconds_now() + profile_.forward * scale_);
        return 0.0;
    }
    void backward(Finished const& finished) {
        double const begin = seconds_now();
        for (auto const& mark : profile_.marks) {
            sleeper_.until(begin + mark.seconds * scale_);
            finished(mark.place);
        }
        sleeper_.until(begin + profile_.backward * scale_);
    }
    void optimize() { sleeper_.until(seconds_now() + profile_.optimizer); }
    std::span<Real> gradients() { return gradients_; }
    [[nodiscard]] double overshoot() const { return sleeper_.overshoot(); }

private:
    StepProfile profile_;
    double scale_;
    std::vector<Real> gradients_;
    Sleeper sleeper_;
};

} // namespace headroom::training
