#include "order_builder.hpp"
#include "schedules.hpp"

namespace headroom::training::schedules {

PipelineOrder gpipe_order(PipelineShape const& shape) {
    OrderBuilder order{shape, ChunkLayout::loop, 2};
    for (int stage = 0; stage < shape.stages; ++stage) {
        for (int k = 0; k < shape.micro_batches; ++k) { order.add(PassKind::forward, 0, k); }
        for (int k = shape.micro_batches; k-- > 0;) { order.add(PassKind::backward, 0, k); }
        order.end_row();
    }
    return std::move(order).finish();
}

double gpipe_held(PipelineShape const& shape, int) { return shape.micro_batches; }

} // namespace headroom::training::schedules
