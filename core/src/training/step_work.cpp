#include "step_frame.hpp"

#include <algorithm>
#include <tuple>

namespace headroom::training {
namespace {

/// What the passes of a stage wait for a host that is late now and then: smooth maximum - max(chip, host).
Seconds uneven(PassCost const& pass) { return pass.total() - std::max(pass.chip, pass.host); }

PassCost both_passes(LayerCost const& block) { return {.chip = block.chip(), .host = block.host}; }

/// What a pass of n blocks takes longer than its chip, data-parallel traffic d and the ends of the model that the host issues
/// blocks beside.
double late(PassCost const& pass, double blocks, Seconds ahead, double traffic) {
    return std::max(0.0, (blocks * std::max(pass.host - pass.chip, Seconds{}) - ahead).base() - traffic);
}

/// What the host adds to a block of a pipeline, and what an uneven one adds to that of one stage.
template <class N> Seconds host_of_block(Frame<N> const& f) {
    auto const& block = f.costs.block;
    if (block.host.base() <= 0.0) { return Seconds{}; }
    if (f.strategy.pp > 1) { return std::max(Seconds{}, f.block_times.total - block.chip()); }
    bool const waits = host_waits(f.setting.model, f.strategy);
    return waits ? uneven(block.forward_pass()) + uneven(block.backward_pass()) : uneven(both_passes(block));
}

/// What a host adds that reads how many tokens each expert has, and so waits in every pass.
///
///     m ([n (H_f - C_f) - e - d_f]+ + [n (H_b - C_b) - h - d_b]+)
///
/// e, h: what it gains while the chip works on the ends of the model (`EndsAhead`); d: beside traffic of ZeRO 3 (`LateBeside`).
template <class N> double late_in_every_pass(Frame<N> const& f) {
    double const n = f.stage.layers;
    auto const& block = f.costs.block;
    double const forward = late(block.forward_pass(), n, f.stage.ahead.embedding - n * block.apart_forward,
                                f.late_beside.forward),
                 backward = late(block.backward_pass(), n, f.stage.ahead.head - n * block.apart_backward,
                                 f.late_beside.backward);
    return f.micro_batch_count * (forward + backward);
}

/// What a host adds that never waits for the chip. The chip ends when it has worked off all that is left from any moment at
/// which it had caught up with the host: the first forward pass, the last one, or the end.
///
///     max(0, n H_f + h + n C_b + e_b + a + (m - 1) max(n C + x, n H), m n H + e_b + a + d') - m (n C + x) - d
///
/// n blocks of C and H; h the head, x both ends and adding up a; d data-parallel traffic, d' what of it follows all kernels.
template <class N> double late_over_all(Frame<N> const& f, double data) {
    auto const& [block, head, embedding] = std::tie(f.costs.block, f.costs.head, f.costs.embedding);
    double const m = f.micro_batch_count, n = f.stage.layers;
    auto const forward = block.forward_pass(), backward = block.backward_pass();
    double const behind = (embedding.total() - embedding.forward()).base() + f.accumulation;
    double const chip = n * block.chip().base() + (head.total() + embedding.forward()).base() + behind;
    double const host = n * block.host.base();
    double const to_the_end = m * host + behind + f.after_kernels;
    double const to_backward = (n * (forward.host + backward.chip) + head.total()).base() + behind +
                               (m - 1.0) * std::max(chip, host) + f.after_kernels;
    return std::max(0.0, std::max(to_the_end, to_backward) - m * chip - data);
}

} // namespace

BlockTimes block_times(StepSetting const& setting, Strategy const& strategy, LayerCost const& block) {
    bool const waits = host_waits(setting.model, strategy);
    if (block.host.base() <= 0.0 || (waits && (strategy.pp > 1 || strategy.zero < 3))) {
        // kinds of block of which the host is slower than some are late by themselves
        Seconds const forward = waits ? block.apart_forward : Seconds{},
                      backward = waits ? block.apart_backward : Seconds{};
        bool const told = strategy.pp > 1; // stages have their own kinds
        return told ? BlockTimes{block.total(), block.forward()}
                    : BlockTimes{block.total() + forward + backward, block.forward() + forward};
    }
    PassCost const forward = block.forward_pass(), backward = block.backward_pass();
    if (waits) { return {block.chip() + uneven(forward) + uneven(backward), forward.chip + uneven(forward)}; }
    double const slower = 1.0 + uneven(both_passes(block)) / block.chip();
    return {block.chip() * slower, forward.chip * slower};
}

template <class N> void compose_host(Frame<N>& f, Parts<N>& parts) {
    if (f.costs.block.host.base() <= 0.0) { return; }
    double const data = value_of(parts.data);
    bool const waits = host_waits(f.setting.model, f.strategy);
    // what waits for copies gives the host time, but where these hid behind passes that are as long as it takes already
    double const copies = waits && f.strategy.zero < 3 ? 0.0 : f.shown_copies;
    double const slower = waits ? std::max(0.0, late_in_every_pass(f) - copies) : late_over_all(f, data + copies);
    parts.host = f.record.term("host_seconds", "s", parts.host + f.in("host_slower_seconds", slower));
}

template <class N> void compose_stage(Frame<N>& f, Parts<N>& parts) {
    auto const kernels_of = [](LayerCost const& c) { return (c.gemm + c.attention + c.memory).base(); };
    N const kernels = f.in("block_kernel_seconds", kernels_of(f.costs.block));
    bool const later = f.strategy.pp == 1 && f.costs.block.host.base() > 0.0; // `compose_host` completes it
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
    parts.host = f.record.term(later ? "host_uneven_seconds" : "host_seconds", "s",
                               f.with_ahead(f.micro_batches * f.layers * host, f.micro_batches * ends_host));
    parts.tensor = f.record.term("tensor_seconds", "s", f.micro_batches * (f.layers * tensor + f.ends_tensor));
    parts.context = f.record.term("context_seconds", "s",
                                  f.with_ahead(f.micro_batches * f.layers * context, f.micro_batches * ends_context));
    parts.experts = f.record.term("expert_seconds", "s", f.micro_batches * (f.layers * experts + f.ends_experts));
    parts.bubble = parts.pipeline = literal<N>(0.0);
    if (f.strategy.pp > 1) {
        compose_pipeline(
            f, f.with_ahead(head + embedding + head_tensor + embedding_tensor + head_experts, both_ends_host), parts);
    }
}

template void compose_host(Frame<double>& f, Parts<double>& parts);
template void compose_host(Frame<Traced>& f, Parts<Traced>& parts);
template void compose_stage(Frame<double>& f, Parts<double>& parts);
template void compose_stage(Frame<Traced>& f, Parts<Traced>& parts);

} // namespace headroom::training
