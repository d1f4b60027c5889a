#include "step_frame.hpp"

#include <algorithm>

namespace headroom {
namespace {

/// Copies of a step to and from the host, seconds, and what they hide behind: a stage's passes of one micro-batch.
struct HostCopies {
    double up = 0.0, down = 0.0; ///< updated weights before the first forward pass, gradients in the last backward pass
    double kept = 0.0;           ///< activations of one micro-batch, one way
    double blocks = 1.0;
    double forward = 0.0, head = 0.0, backward = 0.0;

    /// Kept activations of the last block come back as soon as they have gone, with the head between.
    [[nodiscard]] double between(double window) const {
        return std::max(0.0, std::max(kept / blocks, kept - window) + kept / blocks - head);
    }
    [[nodiscard]] double after(double more, double window) const {
        return std::max(0.0, kept * (1.0 - 1.0 / blocks) + more - window);
    }
};

/// Blocks whose copies and computation stand for a stage's: its own, in a pipeline those of the mean stage. The slowest
/// would count its window for the others, too, which have less of it.
template <class N> double copied_blocks(Frame<N> const& f) {
    if (f.strategy.pp == 1) { return f.stage.layers; }
    double const models = schedule_row(f.strategy.schedule()).layout == ChunkLayout::bidirectional ? 2.0 : 1.0;
    return models * depth_of(f.setting.model) / f.strategy.pp;
}

/// What transfers to and from the host show: those of a pass hide behind its computation.
///
///     a micro-batch   [max(a/n, a - forward) + a/n - head]+ + [a (n - 1)/n - backward]+     a: kept, one way
///     the first       weights come up before: [up - forward]+, and activations have the rest of the pass
///     the last        gradients go down behind it
///
/// Weights and gradients hide behind what the network shows of theirs, too.
/// A pipeline fills and drains past p - 1 more micro-batches of a chunk; of its stages the mean one is told, without the
/// head, which one stage has. Without overlap all of it shows.
template <class N> double shown_copies(Frame<N> const& f, HostTraffic const& host, double data) {
    double const m = f.micro_batch_count, chunks = pipeline_shape(f.strategy, f.setting.workload).chunks;
    double const filling = (f.strategy.pp - 1.0) / chunks;
    double const optimizer = host.optimizer_transfer.base(), activations = host.activation_transfer.base();
    if (f.strategy.overlap == Overlap::off) { return optimizer + activations * (1.0 + filling / m); }
    auto const& block = f.costs.block;
    auto const& framework = f.setting.framework;
    double const down = framework.gradient_bytes / (framework.gradient_bytes + framework.parameter_bytes);
    bool const whole = f.strategy.pp == 1;
    double const blocks = copied_blocks(f);
    double const copied =
        whole ? 1.0 : blocks / stage_layers(depth_of(f.setting.model), f.strategy.pp, StagePlace::middle);
    HostCopies c{.up = optimizer * (1.0 - down),
                 .down = optimizer * down,
                 .kept = copied * activations / (2.0 * m),
                 .blocks = std::max(1.0, blocks),
                 .forward = blocks * block.forward().base(),
                 .head = whole ? f.stage.head * f.costs.head.total().base() : 0.0};
    c.backward = blocks * block.total().base() - c.forward;
    double const each = c.between(c.forward) + c.after(0.0, c.backward);
    double const ends = c.between(std::max(0.0, c.forward - c.up)) + c.after(0.0, c.backward);
    double const weights = std::max(0.0, c.up - c.forward);
    double const gradients = c.after(c.down, c.backward) - c.after(0.0, c.backward);
    return (m - 1.0 + filling) * each + ends + std::max(0.0, weights + gradients - data);
}

} // namespace

template <class N> void compose_offload(Frame<N>& f, Parts<N>& parts) {
    parts.offload = literal<N>(0.0);
    if (f.strategy.offload == Offload::none) { return; }
    auto const host = host_traffic(f.setting, f.strategy);
    double const updates = updates_per_step(f.strategy, f.micro_batch_count);
    parts.offload = f.record.term("offload_seconds", "s",
                                  f.in("shown_copies_seconds", shown_copies(f, host, value_of(parts.data))) +
                                      f.in("host_update_seconds", host.update.base() * updates));
}

template void compose_offload(Frame<double>& f, Parts<double>& parts);
template void compose_offload(Frame<Traced>& f, Parts<Traced>& parts);

} // namespace headroom
