#include "order_builder.hpp"
#include "schedules.hpp"

#include <algorithm>
#include <array>
#include <deque>

namespace headroom::training::schedules {
namespace {

/// Position of a stage in both directions: direction 0 is the one whose micro-batches reach it first.
struct StageSetting {
    int half = 1;                  ///< number of stages from an end to the fold
    int depth = 0;                 ///< number of stages between this one and the end, 0 up to half - 1
    int micro_batches = 0;         ///< of each direction
    std::array<int, 2> chunk{};    ///< of each direction
    std::array<int, 2> first_of{}; ///< its first micro-batch
};

/// Writes the order of passes of a stage. Passes of a direction are numbered.
class RowWriter {
public:
    RowWriter(OrderBuilder& order, StageSetting const& stage) : order_{order}, stage_{stage} {}

    void write() {
        int const to_fold = stage_.half - 1 - stage_.depth;
        for (int k = 0; k < 2 * to_fold; ++k) { forward(0); }
        for (int k = 0; k <= stage_.depth; ++k) { forward(0), forward(1); }
        for (int k = 0; k < to_fold; ++k) { input_gradient(1), weight_gradient(), forward(1); }
        steady();
        for (int k = 0; k < to_fold; ++k) { backward(1), pair(1, 0); }
        drain();
        for (int k = 0; k < to_fold; ++k) { weight_gradient(), input_gradient(0); }
        while (!late_.empty()) { weight_gradient(); }
        order_.end_row();
    }

private:
    /// Alternates forward and backward passes of opposite directions; at the fold the first two are not merged, which
    /// is faster.
    void steady() {
        int const turns = stage_.micro_batches - 2 * stage_.half + stage_.depth + 1;
        for (int k = 0; k < turns; ++k) {
            if (k == 0 && stage_.depth == stage_.half - 1) {
                forward(0), backward(1);
            } else {
                pair(0, 1);
            }
            pair(1, 0);
        }
    }

    /// Alternates the directions of backward passes; the second half of them leave weight gradients for the end.
    void drain() {
        int const passes = 2 * (stage_.depth + 1);
        int const whole = stage_.depth + 1; // of them, in one
        for (int k = 0; k < passes; ++k) {
            int const direction = k % 2 == 0 ? 1 : 0;
            if (k < whole) {
                backward(direction);
            } else {
                input_gradient(direction);
            }
        }
    }

    void add(PassKind kind, int direction, int k, bool joined = false) {
        auto const d = static_cast<std::size_t>(direction);
        order_.add({kind, static_cast<std::uint8_t>(stage_.chunk[d]), joined, stage_.first_of[d] + k});
    }
    void forward(int direction, bool joined = false) {
        add(PassKind::forward, direction, forwards_[static_cast<std::size_t>(direction)]++, joined);
    }
    int next_back(int direction) { return backwards_[static_cast<std::size_t>(direction)]++; }
    void backward(int direction) { add(PassKind::backward, direction, next_back(direction)); }
    void pair(int forward_direction, int backward_direction) {
        forward(forward_direction, true);
        backward(backward_direction);
    }
    void input_gradient(int direction) {
        int const k = next_back(direction);
        add(PassKind::input_gradient, direction, k);
        late_.push_back({direction, k});
    }
    void weight_gradient() {
        add(PassKind::weight_gradient, late_.front().direction, late_.front().micro_batch);
        late_.pop_front();
    }

    struct Late {
        int direction, micro_batch;
    };

    OrderBuilder& order_;
    StageSetting stage_;
    std::array<int, 2> forwards_{}, backwards_{};
    std::deque<Late> late_; ///< weight gradients, the oldest first
};

std::string too_few(PipelineShape const& shape, std::string_view title) {
    if (shape.micro_batches >= 2 * shape.stages) { return {}; }
    return std::string{title} + " needs twice as many micro-batches as stages, " + std::to_string(2 * shape.stages) +
           ", not " + std::to_string(shape.micro_batches);
}

} // namespace

std::string dualpipe_impossible(PipelineShape const& shape) {
    if (shape.stages % 2 != 0) {
        return "DualPipe meets in the middle of an even number of stages, not " + std::to_string(shape.stages);
    }
    if (shape.micro_batches % 2 != 0) {
        return "DualPipe has as many micro-batches in both directions, an even number, not " +
               std::to_string(shape.micro_batches);
    }
    return too_few(shape, "DualPipe");
}

PipelineOrder dualpipe_order(PipelineShape const& shape) {
    OrderBuilder order{shape, ChunkLayout::bidirectional, 3};
    int const each = shape.micro_batches / 2;
    for (int stage = 0; stage < shape.stages; ++stage) {
        bool const late_half = stage >= shape.stages / 2; // its micro-batches come from the last stage first
        StageSetting setting{shape.stages / 2, std::min(stage, shape.stages - 1 - stage), each, {0, 1}, {0, each}};
        if (late_half) {
            setting.chunk = {1, 0};
            setting.first_of = {each, 0};
        }
        RowWriter{order, setting}.write();
    }
    return std::move(order).finish();
}

double dualpipe_held(PipelineShape const& shape, int) { return shape.stages + 1; }

std::string dualpipe_v_impossible(PipelineShape const& shape) { return too_few(shape, "DualPipeV"); }

PipelineOrder dualpipe_v_order(PipelineShape const& shape) {
    OrderBuilder order{shape, ChunkLayout::v, 6};
    for (int stage = 0; stage < shape.stages; ++stage) {
        RowWriter{order, {shape.stages, stage, shape.micro_batches, {0, 1}, {0, 0}}}.write();
    }
    return std::move(order).finish();
}

double dualpipe_v_held(PipelineShape const& shape, int) { return shape.stages + 0.5; }

} // namespace headroom::training::schedules
