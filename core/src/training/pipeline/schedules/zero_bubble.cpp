#include "order_builder.hpp"
#include "schedules.hpp"

#include <algorithm>

namespace headroom::training::schedules {
namespace {

/// Writes `ahead` forward passes, then alternates a forward pass and an input gradient. A weight gradient follows each
/// input gradient from the `late`-th on.
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

/// Stage i runs `reach` (p-1-i) passes ahead and delays weight gradients by `reach` i passes, so that all stages hold
/// equally many micro-batches.
PipelineOrder zero_bubble_order(PipelineShape const& shape, int reach) {
    OrderBuilder order{shape, ChunkLayout::loop, 3};
    for (int stage = 0; stage < shape.stages; ++stage) {
        add_row(order, shape.micro_batches, reach * (shape.stages - 1 - stage), reach * stage);
    }
    return std::move(order).finish();
}

} // namespace

PipelineOrder zb_h1_order(PipelineShape const& shape) { return zero_bubble_order(shape, 1); }

double zb_h1_held(PipelineShape const& shape, int) { return std::min(shape.stages, shape.micro_batches); }

PipelineOrder zb_2p_order(PipelineShape const& shape) { return zero_bubble_order(shape, 2); }

double zb_2p_held(PipelineShape const& shape, int) { return std::min(2 * shape.stages - 1, shape.micro_batches); }

} // namespace headroom::training::schedules
