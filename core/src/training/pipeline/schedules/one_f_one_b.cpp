#include "order_builder.hpp"
#include "schedules.hpp"

#include <algorithm>
#include <string>

namespace headroom::training::schedules {
namespace {

/// Chunk and micro-batch of a pass.
struct Turn {
    int chunk, micro_batch;
};

/// The k-th forward pass of a stage: p micro-batches go through one chunk, then through the next.
Turn forward_turn(PipelineShape const& shape, int k) {
    if (shape.chunks == 1) { return {0, k}; }
    int const p = shape.stages;
    return {k / p % shape.chunks, k / (p * shape.chunks) * p + k % p};
}

/// Writes `ahead` forward passes, then alternates one forward and one backward pass.
void add_row(OrderBuilder& order, PipelineShape const& shape, int ahead) {
    int const all = shape.micro_batches * shape.chunks;
    auto const forward = [&](int k) {
        auto const [chunk, micro_batch] = forward_turn(shape, k);
        order.add(PassKind::forward, chunk, micro_batch);
    };
    auto const backward = [&](int k) {
        auto const [chunk, micro_batch] = forward_turn(shape, k);
        order.add(PassKind::backward, shape.chunks - 1 - chunk, micro_batch);
    };
    int const warm_up = std::min(ahead, all);
    for (int k = 0; k < warm_up; ++k) { forward(k); }
    for (int k = warm_up; k < all; ++k) {
        forward(k);
        backward(k - warm_up);
    }
    for (int k = all - warm_up; k < all; ++k) { backward(k); }
    order.end_row();
}

int interleaved_ahead(PipelineShape const& shape, int stage) {
    return 2 * (shape.stages - 1 - stage) + (shape.chunks - 1) * shape.stages;
}

} // namespace

PipelineOrder one_f_one_b_order(PipelineShape const& shape) {
    OrderBuilder order{shape, ChunkLayout::loop, 2};
    for (int stage = 0; stage < shape.stages; ++stage) { add_row(order, shape, shape.stages - 1 - stage); }
    return std::move(order).finish();
}

double one_f_one_b_held(PipelineShape const& shape, int stage) {
    return std::min(shape.stages - stage, shape.micro_batches);
}

std::string interleaved_impossible(PipelineShape const& shape) {
    if (shape.micro_batches % shape.stages == 0) { return {}; }
    return std::to_string(shape.micro_batches) + " micro-batches are no multiple of " + std::to_string(shape.stages) +
           " stages, by which interleaved 1F1B goes round its chunks";
}

PipelineOrder interleaved_order(PipelineShape const& shape) {
    OrderBuilder order{shape, ChunkLayout::loop, 2 * shape.chunks};
    for (int stage = 0; stage < shape.stages; ++stage) { add_row(order, shape, interleaved_ahead(shape, stage)); }
    return std::move(order).finish();
}

double interleaved_held(PipelineShape const& shape, int stage) {
    double const all = static_cast<double>(shape.micro_batches) * shape.chunks; // more than are ever unrolled
    return std::min(interleaved_ahead(shape, stage) + 1.0, all) / shape.chunks;
}

} // namespace headroom::training::schedules
