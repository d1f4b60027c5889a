#include "order_builder.hpp"
#include "schedules.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace headroom::training::schedules {
namespace {

constexpr int period = 6; ///< slots from one micro-batch to the next: three passes of two chunks

/// The passes of a micro-batch on a stage in the order of time, without weight gradients.
enum Step : std::uint8_t { down_forward, up_forward, up_backward, down_backward, step_count };
constexpr bool is_forward(int step) { return step <= up_forward; }
constexpr int chunk_of(int step) { return step == up_forward || step == up_backward ? 1 : 0; }

/// Slots in which a stage runs the four passes of micro-batch 0; those of micro-batch k are 6 k slots later.
using Block = std::array<std::int64_t, step_count>;

Block v_min_block(int stages, int stage) {
    std::int64_t const p = stages, i = stage;
    std::int64_t const shift = stages % 3 == 0 ? 2 : 0; // else passes of two micro-batches meet in a slot
    return {i, 2 * p - i - 1, 2 * p + shift + i, 4 * p + shift - i - 1};
}

Block v_half_block(int stages, int stage) {
    std::int64_t const p = stages, i = stage;
    std::int64_t const shift = stages % 2 == 0 ? 3 : 0;
    return {2 * i, 3 * p - i - 2, 3 * p + shift + 2 * i - 1, 6 * p + shift - i - 2};
}

/// Progress of writing one stage's order of passes.
struct RowState {
    std::array<int, step_count> done{};
    int weights = 0;           ///< weight gradients done; they go in the order of input gradients
    std::array<int, 2> held{}; ///< chunk activations
    std::vector<Pass> row;

    [[nodiscard]] int held_in_all() const { return held[0] + held[1]; }
    [[nodiscard]] int input_gradients() const { return done[up_backward] + done[down_backward]; }
};

/// Appends passes to a stage's order. Weight gradients follow the order of its input gradients.
class StageRow {
public:
    explicit StageRow(int micro_batches) { state_.row.reserve(static_cast<std::size_t>(micro_batches) * period); }

    [[nodiscard]] RowState const& state() const { return state_; }
    [[nodiscard]] bool has_weights_left() const { return state_.weights < state_.input_gradients(); }

    void add(int step) {
        int const chunk = chunk_of(step);
        auto const kind = is_forward(step) ? PassKind::forward : PassKind::input_gradient;
        state_.row.push_back(
            {kind, static_cast<std::uint8_t>(chunk), false, state_.done[static_cast<std::size_t>(step)]++});
        if (is_forward(step)) { ++state_.held[static_cast<std::size_t>(chunk)]; }
    }

    void add_weight() {
        while (state_.row[next_input_].kind != PassKind::input_gradient) { ++next_input_; }
        Pass pass = state_.row[next_input_++];
        pass.kind = PassKind::weight_gradient;
        state_.row.push_back(pass);
        ++state_.weights;
        --state_.held[pass.chunk];
    }

private:
    RowState state_;
    std::size_t next_input_ = 0; ///< in the stage's order: the input gradient whose weight gradient is due
};

/// The pass that the block has first, among those with micro-batches left.
int due_first(Block const& block, RowState const& state, int micro_batches) {
    int first = step_count;
    std::int64_t slot = std::numeric_limits<std::int64_t>::max();
    for (int step = 0; step < step_count; ++step) {
        auto const s = static_cast<std::size_t>(step);
        if (state.done[s] == micro_batches) { continue; }
        std::int64_t const due = block[s] + std::int64_t{period} * state.done[s];
        if (due < slot) { slot = due, first = step; }
    }
    return first;
}

/// The block repeated for every micro-batch; weight gradients fill the slots between as soon as they can.
StageRow repeated(Block const& block, int micro_batches) {
    StageRow row{micro_batches};
    std::int64_t slot = 0;
    for (;;) {
        int const step = due_first(block, row.state(), micro_batches);
        if (step == step_count) { break; }
        auto const s = static_cast<std::size_t>(step);
        std::int64_t const due = block[s] + std::int64_t{period} * row.state().done[s];
        for (; slot < due && row.has_weights_left(); ++slot) { row.add_weight(); }
        row.add(step);
        slot = due + 1;
    }
    while (row.has_weights_left()) { row.add_weight(); }
    return row;
}

void append(OrderBuilder& order, StageRow const& row) {
    for (Pass const& pass : row.state().row) { order.add(pass); }
    order.end_row();
}

/// Peak activations of a stage: of each chunk, and in total.
struct MostHeld {
    std::array<int, 2> chunk{};
    int all = 0;
};

MostHeld most_held(std::vector<Pass> const& row) {
    MostHeld most;
    std::array<int, 2> held{};
    for (Pass const& pass : row) {
        held[pass.chunk] += pass.kind == PassKind::forward ? 1 : pass.kind == PassKind::weight_gradient ? -1 : 0;
        most.chunk[pass.chunk] = std::max(most.chunk[pass.chunk], held[pass.chunk]);
        most.all = std::max(most.all, held[0] + held[1]);
    }
    return most;
}

int v_half_chunks(int stages) { return 2 * ((stages + 2) / 2); }

/// Orders of passes of all stages, slot by slot: each stage runs the first pass of its block that is ready and fits into
/// the memory of the repeated block, else a weight gradient.
class PulledAhead {
public:
    explicit PulledAhead(PipelineShape const& shape) : shape_{shape} {
        // no more micro-batches than that are under way at once
        int const enough = std::min(shape.micro_batches, 2 * shape.stages + 4);
        for (int stage = 0; stage < shape.stages; ++stage) {
            blocks_.push_back(v_half_block(shape.stages, stage));
            limits_.push_back(most_held(repeated(blocks_.back(), enough).state().row));
            limits_.back().all = v_half_chunks(shape.stages);
            rows_.emplace_back(shape.micro_batches);
        }
        chosen_.resize(blocks_.size());
        while (slot()) {}
    }

    [[nodiscard]] std::vector<StageRow> const& rows() const { return rows_; }

private:
    static constexpr int weight = step_count, nothing = step_count + 1;

    /// Fills one slot of every stage; false if no stage had a pass to run.
    bool slot() {
        for (std::size_t stage = 0; stage < rows_.size(); ++stage) { chosen_[stage] = choose(stage); }
        bool any = false;
        for (std::size_t stage = 0; stage < rows_.size(); ++stage) {
            if (chosen_[stage] == nothing) { continue; }
            any = true;
            if (chosen_[stage] == weight) {
                rows_[stage].add_weight();
            } else {
                rows_[stage].add(chosen_[stage]);
            }
        }
        return any;
    }

    [[nodiscard]] int choose(std::size_t stage) const {
        int best = rows_[stage].has_weights_left() ? weight : nothing;
        std::int64_t slot = std::numeric_limits<std::int64_t>::max();
        for (int step = 0; step < step_count; ++step) {
            auto const s = static_cast<std::size_t>(step);
            std::int64_t const due = blocks_[stage][s] + std::int64_t{period} * rows_[stage].state().done[s];
            if (due < slot && is_ready(stage, step) && fits(stage, step)) { slot = due, best = step; }
        }
        return best;
    }

    [[nodiscard]] int done(std::size_t stage, int step) const {
        return rows_[stage].state().done[static_cast<std::size_t>(step)];
    }

    /// Whether the place before has gone on to the micro-batch whose turn it is.
    [[nodiscard]] bool is_ready(std::size_t stage, int step) const {
        int const turn = done(stage, step);
        if (turn == shape_.micro_batches) { return false; }
        bool const goes_down = step == down_forward || step == up_backward;
        std::size_t const end = goes_down ? 0 : rows_.size() - 1;
        if (stage == end) { return step == down_forward || done(stage, step - 1) > turn; }
        bool const came = done(goes_down ? stage - 1 : stage + 1, step) > turn;
        return came && (is_forward(step) || done(stage, step == up_backward ? up_forward : down_forward) > turn);
    }

    /// The way down leaves room for the way up, so that what has gone down can always come back.
    [[nodiscard]] bool fits(std::size_t stage, int step) const {
        if (!is_forward(step)) { return true; }
        auto const& state = rows_[stage].state();
        auto const& limit = limits_[stage];
        auto const chunk = static_cast<std::size_t>(chunk_of(step));
        if (state.held[chunk] >= limit.chunk[chunk] || state.held_in_all() >= limit.all) { return false; }
        return step == up_forward || state.held_in_all() + 1 < limit.all || state.held[1] > 0;
    }

    PipelineShape shape_;
    std::vector<Block> blocks_;
    std::vector<MostHeld> limits_;
    std::vector<StageRow> rows_;
    std::vector<int> chosen_;
};

/// Writes a stage's order of passes in ZBV, by the number of passes of each kind so far.
class ZbvRow {
public:
    ZbvRow(OrderBuilder& order, int micro_batches) : order_{order}, micro_batches_{micro_batches} {}

    void write(int stages, int stage) {
        for (int k = 0; k < 2 * (stages - stage) - 1; ++k) { add(PassKind::forward, 0); }
        for (int k = 0; k < stage; ++k) { add(PassKind::forward, 1), add(PassKind::forward, 0); }
        for (int k = 0; k < stages - stage; ++k) { add_all(1); }
        while (count(PassKind::forward, 1) < micro_batches_) {
            add(PassKind::forward, 0);
            add(PassKind::input_gradient, 0);
            add(PassKind::weight_gradient, 0);
            add_all(1);
        }
        for (int k = 0; k < stage; ++k) { add(PassKind::input_gradient, 0), add(PassKind::input_gradient, 1); }
        for (int k = 0; k < stages - stage; ++k) {
            add(PassKind::input_gradient, 0);
            add(PassKind::weight_gradient, 0);
        }
        for (int const chunk : {1, 0}) {
            for (int k = 0; k < micro_batches_; ++k) { add(PassKind::weight_gradient, chunk); }
        }
        order_.end_row();
    }

private:
    [[nodiscard]] int& count(PassKind kind, int chunk) {
        return counts_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(chunk)];
    }
    /// The next pass of its kind; none when all micro-batches have had theirs, and no weight gradient before its input's.
    void add(PassKind kind, int chunk) {
        int const most = kind == PassKind::weight_gradient ? count(PassKind::input_gradient, chunk) : micro_batches_;
        if (count(kind, chunk) < most) { order_.add(kind, chunk, count(kind, chunk)++); }
    }
    void add_all(int chunk) {
        add(PassKind::forward, chunk);
        add(PassKind::input_gradient, chunk);
        add(PassKind::weight_gradient, chunk);
    }

    OrderBuilder& order_;
    int micro_batches_;
    std::array<std::array<int, 2>, 4> counts_{}; ///< by kind, then chunk
};

} // namespace

PipelineOrder zbv_order(PipelineShape const& shape) {
    OrderBuilder order{shape, ChunkLayout::v, period};
    for (int stage = 0; stage < shape.stages; ++stage) {
        ZbvRow{order, shape.micro_batches}.write(shape.stages, stage);
    }
    return std::move(order).finish();
}

double zbv_held(PipelineShape const& shape, int stage) {
    int const down = std::min(2 * shape.stages - 1 - stage, shape.micro_batches);
    int const up = std::min(stage + 1, shape.micro_batches);
    return (down + up) / 2.0;
}

PipelineOrder v_half_order(PipelineShape const& shape) {
    OrderBuilder order{shape, ChunkLayout::v, period};
    PulledAhead const pulled{shape};
    for (StageRow const& row : pulled.rows()) { append(order, row); }
    return std::move(order).finish();
}

double v_half_held(PipelineShape const& shape, int) {
    return std::min(v_half_chunks(shape.stages) / 2, shape.micro_batches);
}

PipelineOrder v_min_order(PipelineShape const& shape) {
    OrderBuilder order{shape, ChunkLayout::v, period};
    for (int stage = 0; stage < shape.stages; ++stage) {
        append(order, repeated(v_min_block(shape.stages, stage), shape.micro_batches));
    }
    return std::move(order).finish();
}

double v_min_held(PipelineShape const& shape, int) { return std::min((shape.stages + 4) / 3, shape.micro_batches); }

} // namespace headroom::training::schedules
