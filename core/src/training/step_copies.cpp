#include "step_frame.hpp"

#include <algorithm>
#include <utility>

namespace headroom::training {
namespace {

template <class N> double chunks_of(Frame<N> const& f) {
    return pipeline_shape(f.strategy, f.setting.workload).chunks * 1.0;
}

/// Passes of one block of a stage and the copies that hide behind them, seconds.
struct BlockCopies {
    double kept = 0.0; ///< activations, one way
    double forward = 0.0, backward = 0.0;
    double blocks = 1.0;

    /// How much longer a pass is than its computation where copies take longer.
    [[nodiscard]] double late_forward() const { return std::max(0.0, kept - forward); }
    [[nodiscard]] double late_backward() const { return std::max(0.0, kept - backward); }
};

/// What passes of one micro-batch wait for kept activations. Two blocks' may be on their way, so the first two are
/// computed at once and every other one when the block two before it has gone; the last block is back when it has gone
/// and come, which hides behind the head.
///
///     n >= 2   (n-2) [a - f]+  +  [max(a + [a - f]+, h_f) + a - h]+  +  (n-1) [a - b]+
///     n < 2    [max(a, h_f) + a - h]+: the mean chunk of an uneven pipeline may have less than a block
double shown_of_turn(BlockCopies const& c, double head_forward, double head) {
    double const gone = c.kept + (c.blocks >= 2.0 ? c.late_forward() : 0.0);
    return std::max(0.0, c.blocks - 2.0) * c.late_forward() +
           std::max(0.0, std::max(gone, head_forward) + c.kept - head) +
           std::max(0.0, c.blocks - 1.0) * c.late_backward();
}

/// The same of blocks that differ, one after the other.
double shown_of_turn(BlockCopies const& c, LayerCosts const& costs, double head_forward, double head) {
    double t = 0.0, gone = 0.0, gone_before = 0.0, work = head; // ends of computation and of copies
    std::size_t const blocks = costs.until.size() - 1;
    auto const share = [&](std::size_t i) { return costs.blocks_between(i, i + 1); };
    for (std::size_t i = 0; i < blocks; ++i) {
        double const forward = c.forward * share(i);
        t = std::max(t, gone_before) + forward;
        gone_before = std::exchange(gone, std::max(gone, t) + c.kept);
        work += forward;
    }
    double back = std::max(gone, t + head_forward) + c.kept;
    t += head;
    for (std::size_t i = blocks; i-- > 0;) {
        double const backward = c.backward * share(i), next = std::max(back, t) + c.kept;
        t = std::max(t, back) + backward;
        back = next;
        work += backward;
    }
    return std::max(0.0, t - work); // whose sums are rounded
}

/// The same of equal blocks where other micro-batches are between: the last block comes back behind the forward pass of another one. No
/// stage is done before its copies of one way are.
///
///     max((n-1) ([a - f]+ + [a - b]+), n (a - f - b))
double shown_in_between(BlockCopies const& c) {
    double const late =
        std::max(1.0, c.blocks - 1.0) * c.late_forward() + std::max(0.0, c.blocks - 1.0) * c.late_backward();
    return std::max(late, c.blocks * (c.kept - c.forward - c.backward));
}

/// The same of a stage that waited before both passes: nothing is on its way, and two blocks are back already.
double shown_while_filling(BlockCopies const& c) {
    return std::max(0.0, c.blocks - 2.0) * (c.late_forward() + c.late_backward());
}

/// Blocks of a pass: a chunk's of the mean stage. Traffic of ZeRO 3 stands beside every one of them, and what it shows is
/// time to copy in.
template <class N> BlockCopies block_copies(Frame<N> const& f, double data) {
    BlockCopies c{.kept = kept_block_transfer(f.setting, f.strategy).base(),
                  .forward = f.block_times.forward.base(),
                  .backward = (f.block_times.total - f.block_times.forward).base(),
                  .blocks = f.stage.layers};
    if (f.strategy.pp > 1) {
        c.blocks = depth_of(f.setting.model) / (f.strategy.pp * chunks_of(f));
        return c;
    }
    bool const every_pass = reductions_per_step(f.strategy, f.setting.framework, f.micro_batch_count) > 1.0;
    if (f.strategy.zero == 3 && (every_pass || f.micro_batch_count <= 1.0)) {
        double const gather = f.traffic.gather().base(), gathers = gathers_per_pass(f.strategy, f.setting.framework);
        double const all = gathers * gather + f.traffic.reduce().base();
        double const beside = data / (f.micro_batch_count * c.blocks), first = all > 0.0 ? gather / all : 0.0;
        c.forward += beside * first;
        c.backward += beside * (1.0 - first);
    }
    return c;
}

/// What all micro-batches wait for kept activations. Of a pipeline the stage with the head has every micro-batch turn
/// there, with its last chunk; the step is as much longer as its slowest stage is, and as all are that it passes while it
/// fills and drains.
///
///     one stage   m e_t
///     p stages    e_t + (p-1) e_f + (m-1) (max(t + e) - max(t))     e: of a stage without the head, e_t: of that with it
template <class N> double shown_activations(Frame<N> const& f, BlockCopies const& copies) {
    if (copies.kept <= 0.0) { return 0.0; }
    auto const& head = f.costs.head;
    double const m = f.micro_batch_count, head_forward = head.forward().base(), whole_head = head.total().base();
    if (f.strategy.pp == 1 && !f.costs.until.empty()) {
        return m * shown_of_turn(copies, f.costs, head_forward, whole_head);
    }
    double const turn = shown_of_turn(copies, head_forward, whole_head);
    if (f.strategy.pp == 1) { return m * turn; }
    if (f.strategy.schedule() == PipelineSchedule::gpipe) { // all forward passes, then all backward passes
        double const one = copies.blocks * (copies.late_forward() + copies.late_backward());
        return turn + (m - 1.0) * one + (f.strategy.pp - 1.0) * shown_while_filling(copies);
    }
    double const chunks = chunks_of(f), between = shown_in_between(copies);
    double const others = chunks * between, with_head = others - between + turn;
    bool const returns = schedule_row(f.strategy.schedule()).layout == ChunkLayout::v;
    StageGroups stages = f.stage.stages;
    auto const groups = stages.groups();
    double slowest = 0.0, late = 0.0;
    for (EqualStages const& group : groups) {
        bool const turns = returns ? &group == &groups.front() : &group == &groups.back();
        slowest = std::max(slowest, group.time);
        late = std::max(late, group.time + (turns ? with_head : others));
    }
    return with_head + (f.strategy.pp - 1.0) * shown_while_filling(copies) + (m - 1.0) * (late - slowest);
}

/// Copies of a stage's state that go one way, its table's and one block's first or last of all.
struct StateCopies {
    double table = 0.0, block = 0.0, all = 0.0;
};

/// How long copies outlast the passes that they run beside: those of the table before its own pass, of a block before or
/// after each, at their own pace.
///
///     max(t, t + u - e, t + n u - e - (n-1) c, all - e - n c)     c: a block's pass, e: the table's
double outlasting(StateCopies const& s, double ends, double block, double blocks) {
    double const first = s.table + s.block - ends;
    double const most =
        std::max({s.table, first, first + (blocks - 1.0) * (s.block - block), s.all - ends - blocks * block, 0.0});
    return std::min(most, s.all);
}

/// State of the first stage: weights come up before its first forward pass and gradients go down behind its last backward
/// pass; of several chunks the first one's do, the others' have all passes between. What gathering shows hides weights,
/// what reducing shows gradients. Where only the last blocks are trained it is theirs, of the stage that is through last.
template <class N> double shown_state(Frame<N> const& f, BlockCopies const& copies, double data) {
    bool const whole = f.strategy.pp == 1, some = f.costs.frozen_blocks > 0;
    auto const of = [&](StageShare const& share) {
        auto const trained = some ? TrainedParts{} : f.holding.trained;
        return state_with_the_host(f.setting, f.strategy, stage_parameters(f.setting, f.strategy, share), trained)
            .optimizer_transfer.base();
    };
    double const blocks =
        some    ? f.holding.trained_blocks
        : whole ? f.stage.layers
                : stage_layers(depth_of(f.setting.model), f.strategy.pp, StagePlace::first) / chunks_of(f);
    bool const last = some ? f.holding_stage == f.strategy.pp - 1 : whole;
    StateCopies const both{.table = some ? 0.0 : of({.first = true}),
                           .block = of({.blocks = 1.0}),
                           .all = of({.blocks = blocks, .first = !some, .last = last})};
    auto const widths = state_widths(f.setting.framework, f.strategy.precision);
    double const down = widths.gradients / (widths.gradients + widths.weights);
    auto const part = [&](double share) {
        return StateCopies{both.table * share, both.block * share, both.all * share};
    };
    double const before = some ? f.holding.frozen_blocks * copies.forward : 0.0; // weights come up behind these too
    double const table_forward = f.costs.embedding.forward().base() + before;
    double const table_backward = (f.costs.embedding.total() - f.costs.embedding.forward()).base();
    double const up = outlasting(part(1.0 - down), table_forward, copies.forward + copies.late_forward(), blocks);
    double const after = outlasting(part(down), table_backward, copies.backward + copies.late_backward(), blocks);
    double const gather = f.traffic.gather().base(), all = gather + f.traffic.reduce().base();
    double const gathered = all > 0.0 ? data * gather / all : 0.0;
    return std::max(0.0, up - gathered) + std::max(0.0, after - (data - gathered));
}

/// What transfers to and from the host show. They have a queue each way, so activations that leave, activations that come
/// back, weights and gradients wait for what they hide behind and for nothing else. Without overlap all of it shows.
template <class N> double shown_copies(Frame<N> const& f, HostTraffic const& host, double data) {
    if (f.strategy.overlap == Overlap::off) {
        double const filling = (f.strategy.pp - 1.0) / chunks_of(f);
        return host.optimizer_transfer.base() + host.activation_transfer.base() * (1.0 + filling / f.micro_batch_count);
    }
    auto const copies = block_copies(f, std::max(0.0, data - f.traffic.blocking.base())); // that is behind all passes
    double const activations = shown_activations(f, copies);
    return offloads_optimizer(f.strategy.offload) ? activations + shown_state(f, copies, data) : activations;
}

} // namespace

template <class N> void compose_offload(Frame<N>& f, Parts<N>& parts) {
    parts.offload = literal<N>(0.0);
    if (f.strategy.offload == Offload::none) { return; }
    auto const host = host_traffic(f.setting, f.strategy);
    f.shown_copies = shown_copies(f, host, value_of(parts.data));
    double const updates = updates_per_step(f.strategy, f.micro_batch_count);
    parts.offload = f.record.term("offload_seconds", "s",
                                  f.in("shown_copies_seconds", f.shown_copies) +
                                      f.in("host_update_seconds", host.update.base() * updates));
}

template void compose_offload(Frame<double>& f, Parts<double>& parts);
template void compose_offload(Frame<Traced>& f, Parts<Traced>& parts);

} // namespace headroom::training
