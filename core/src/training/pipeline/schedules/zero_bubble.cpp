#include "zero_bubble.hpp"

#include "order_builder.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training::schedules {
namespace {

/// One forward, one input gradient in turn, so many forward passes ahead; weight gradients follow so many input
/// gradients late, one in each turn.
void add_row(OrderBuilder& order, int micro_batches, int ahead, int late) {
    for (int k = 0; k < std::min(ahead, micro_batches); ++k) { order.add(PassKind::forward, 0, k); }
    for (int k = 0; k < micro_batches; ++k) {
        if (k < micro_batches - ahead) { order.add(PassKind::forward, 0, k + ahead); }
        order.add(PassKind::input_gradient, 0, k);
        if (k >= late) { order.add(PassKind::weight_gradient, 0, k - late); }
    }
    for (int k = std::max(0, micro_batches - late); k < micro_batches; ++k) {
        order.add(PassKind::weight_gradient, 0, k);
    }
    order.end_row();
}

/// Stage i runs `reach` (p-1-i) passes ahead and leaves `reach` i weight gradients for later, so that all stages hold as
/// much.
PipelineOrder zero_bubble_order(PipelineShape const& shape, int reach) {
    OrderBuilder order{shape, ChunkLayout::loop, 3};
    for (int stage = 0; stage < shape.stages; ++stage) {
        add_row(order, shape.micro_batches, reach * (shape.stages - 1 - stage), reach * stage);
    }
    return std::move(order).finish();
}

/// Waiting time of the first stage of ZB-H1: the largest of three chains, bound while the pipeline fills and drains by
/// all passes, by forward passes, or by gradients of inputs.
double zb_h1_wait(PipelineShape const& shape, StageTimes const& times, double hop) {
    double const p = shape.stages, m = shape.micro_batches;
    double const least = std::min(times.forward, times.input);
    double const all = times.forward + times.input - times.weight;
    if (m == p && times.weight <= least) { return (p - 1.0) * all + (4.0 * (p - 1.0) - 2.0) * hop; }
    double const steady = std::max(0.0, m - p - 1.0);
    double const rounds = (steady - std::ceil(steady / p)) * std::max(0.0, 2.0 * hop - times.weight);
    return std::max({(p - 1.0) * (all + 4.0 * hop) + rounds, (p - 1.0) * (times.forward + 3.0 * hop),
                     (p - 1.0) * (times.input + 2.0 * hop)});
}

/// Waiting time of the first stage of ZB-2P in its period.
double zb_2p_wait(PipelineShape const& shape, StageTimes const& times, double hop) {
    double const round_trip = times.forward + times.input + 2.0 * hop;
    return (shape.stages - 1) *
           std::max({0.0, round_trip - 2.0 * times.weight, times.input - times.forward + 2.0 * hop});
}

} // namespace

PipelineOrder zb_h1_order(PipelineShape const& shape) { return zero_bubble_order(shape, 1); }

std::optional<double> zb_h1_bubble(PipelineShape const& shape, StageTimes const& times) {
    if (shape.micro_batches < shape.stages) { return std::nullopt; }
    return zb_h1_wait(shape, times, 0.0);
}

double zb_h1_held(PipelineShape const& shape, int) { return std::min(shape.stages, shape.micro_batches); }

PipelineOrder zb_2p_order(PipelineShape const& shape) { return zero_bubble_order(shape, 2); }

std::optional<double> zb_2p_bubble(PipelineShape const& shape, StageTimes const& times) {
    if (shape.micro_batches < 2 * shape.stages - 1) { return std::nullopt; }
    return zb_2p_wait(shape, times, 0.0);
}

double zb_2p_held(PipelineShape const& shape, int) { return std::min(2 * shape.stages - 1, shape.micro_batches); }

} // namespace headroom::training::schedules
