#include "step_frame.hpp"

#include <algorithm>

namespace headroom {
namespace {

/// What the host adds to a block. Where it does not read from the chip (routing, a pipeline's transfers) it gets ahead
/// while the chip works on the ends of the model x, adds gradients up or waits for nothing it has to issue:
///
///     smooth maximum - max(chip, host) + [host - chip - x/n]+
template <class N> Seconds host_of_block(Frame<N> const& f) {
    auto const& block = f.costs.block;
    Seconds const excess = f.block_times.excess, chip = f.block_times.total - excess;
    if (host_waits(f.setting.model, f.strategy) || block.host <= chip) { return excess; }
    Seconds const beside = f.costs.embedding.total() + f.costs.head.total() + Seconds{f.accumulation};
    return std::max(excess - (block.host - chip), excess - beside / f.stage.layers);
}

} // namespace

template <class N> void compose_stage(Frame<N>& f, Parts<N>& parts) {
    auto const kernels_of = [](LayerCost const& c) { return (c.gemm + c.attention + c.memory + c.kernels).base(); };
    N const kernels = f.in("block_kernel_seconds", kernels_of(f.costs.block));
    N const host = f.in("block_host_excess_seconds", host_of_block(f).base());
    N const tensor = f.in("block_tensor_exposed_seconds", f.costs.block.tensor_exposed.base());
    N const context = f.in("block_context_exposed_seconds", f.costs.block.context_exposed.base());
    N const experts = f.in("block_experts_exposed_seconds", f.costs.block.experts_exposed.base());
    N const head_experts = f.in("head_experts_exposed_seconds", f.costs.head.experts_exposed.base());
    N const head = f.in("head_seconds", kernels_of(f.costs.head));
    N const embedding = f.in("embedding_seconds", kernels_of(f.costs.embedding));
    N const head_tensor = f.in("head_tensor_exposed_seconds", f.costs.head.tensor_exposed.base());
    N const embedding_tensor = f.in("embedding_tensor_exposed_seconds", f.costs.embedding.tensor_exposed.base());
    // the output projection is on the last stage (a V ends on the first), the embedding on the first
    auto const end_of = [&](N const& at_last, N const& at_first) {
        if (f.stage.head == f.stage.embedding) { // one stage, one in the middle, or both directions
            return f.stage.head == 1.0   ? at_last + at_first
                   : f.stage.head == 0.0 ? literal<N>(0.0)
                                         : f.stage.head * (at_last + at_first);
        }
        return f.stage.head > 0.0 ? at_last : at_first;
    };
    f.ends = f.record.term("ends_seconds", "s", end_of(head, embedding));
    f.ends_tensor = f.record.term("ends_tensor_seconds", "s", end_of(head_tensor, embedding_tensor));
    f.ends_experts = f.record.term("ends_experts_seconds", "s", end_of(head_experts, literal<N>(0.0)));
    N ends_context = literal<N>(0.0), ends_host = literal<N>(0.0), both_ends_host = literal<N>(0.0);
    if (f.host_gets_ahead()) { // the host issues blocks meanwhile
        N const head_ahead = f.in("head_host_ahead_seconds", f.stage.ahead.head.base());
        N const embedding_ahead = f.in("embedding_host_ahead_seconds", f.stage.ahead.embedding.base());
        ends_host = literal<N>(0.0) - end_of(head_ahead, embedding_ahead);
        both_ends_host = literal<N>(0.0) - (head_ahead + embedding_ahead);
    }
    if (f.setting.model.prediction_layers >
        0) { // blocks beside the head exchange keys and wait for the host as others do
        N const head_context = f.in("head_context_exposed_seconds", f.costs.head.context_exposed.base());
        N const head_host = f.in("head_host_excess_seconds", f.costs.head.host_excess().base());
        ends_context = end_of(head_context, literal<N>(0.0));
        ends_host = ends_host + end_of(head_host, literal<N>(0.0));
        both_ends_host = both_ends_host + head_context + head_host;
    }
    f.ends_ahead = ends_context + ends_host;
    f.block = f.record.term("block_seconds", "s", kernels + host + tensor + context + experts);
    parts.compute = f.record.term("compute_seconds", "s", f.micro_batches * (f.layers * kernels + f.ends));
    parts.host = f.record.term("host_seconds", "s",
                               f.with_ahead(f.micro_batches * f.layers * host, f.micro_batches * ends_host));
    parts.tensor = f.record.term("tensor_seconds", "s", f.micro_batches * (f.layers * tensor + f.ends_tensor));
    parts.context = f.record.term("context_seconds", "s",
                                  f.with_ahead(f.micro_batches * f.layers * context, f.micro_batches * ends_context));
    parts.experts = f.record.term("expert_seconds", "s", f.micro_batches * (f.layers * experts + f.ends_experts));
    parts.bubble = parts.pipeline = literal<N>(0.0);
    if (f.strategy.pp > 1) {
        compose_pipeline(f, f.with_ahead(head + embedding + head_tensor + embedding_tensor + head_experts, both_ends_host),
                         parts);
    }
}

template void compose_stage(Frame<double>& f, Parts<double>& parts);
template void compose_stage(Frame<Traced>& f, Parts<Traced>& parts);

} // namespace headroom
