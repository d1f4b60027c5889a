#pragma once

#include "headroom/training/pipeline.hpp"

#include <cstddef>
#include <utility>

namespace headroom::training::schedules {

/// Writes the orders of passes of the stages one after another, beginning with stage 0.
class OrderBuilder {
public:
    /// Each micro-batch has `passes` passes on each stage.
    OrderBuilder(PipelineShape const& shape, ChunkLayout layout, int passes) : order_{shape, layout, {}, {}} {
        order_.first.reserve(static_cast<std::size_t>(shape.stages) + 1);
        order_.passes.reserve(static_cast<std::size_t>(shape.stages) * static_cast<std::size_t>(shape.micro_batches) *
                              static_cast<std::size_t>(passes));
        order_.first.push_back(0);
    }

    void add(PassKind kind, int chunk, int micro_batch) {
        add({kind, static_cast<std::uint8_t>(chunk), false, micro_batch});
    }
    void add(Pass const& pass) { order_.passes.push_back(pass); }
    void end_row() { order_.first.push_back(order_.passes.size()); }
    PipelineOrder finish() && { return std::move(order_); }

private:
    PipelineOrder order_;
};

} // namespace headroom::training::schedules
