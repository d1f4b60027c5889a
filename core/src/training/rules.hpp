#pragma once

#include "headroom/model.hpp"
#include "headroom/strategy.hpp"

/// The rules of legality.hpp, each on the degrees that it is about: `illegal_because` asks them of a whole
/// strategy, the planner's enumeration as soon as those degrees are chosen.
namespace headroom::rules {

constexpr bool divides(int divisor, int whole) { return divisor >= 1 && whole % divisor == 0; }

constexpr bool splits_heads(int tp, Model const& model) { return divides(tp, model.heads); }
/// Key-value heads are shared out, or each is held by several ranks.
constexpr bool splits_key_heads(int tp, Model const& model) {
    return divides(tp, model.kv_heads) || divides(model.kv_heads, tp);
}
constexpr bool splits_feed_forward(int tp, Model const& model) {
    return divides(tp, model.ffn) && divides(tp, model.moe.ffn);
}
constexpr bool tensor(int tp, Model const& model) {
    return splits_heads(tp, model) && splits_key_heads(tp, model) && splits_feed_forward(tp, model);
}

constexpr bool pipeline(int pp, Model const& model) { return divides(pp, model.layers); }

/// `pp` must be legal.
constexpr bool chunks(int virtual_pp, int pp, Model const& model) {
    return divides(virtual_pp, model.layers / pp) && (pp > 1 || virtual_pp == 1);
}

/// 2 cp divides the sequence; written so that no degree overflows.
constexpr bool context(int cp, Workload const& workload) {
    return cp == 1 || (divides(cp, workload.sequence_length) && workload.sequence_length / cp % 2 == 0);
}

constexpr bool replicas(int dp, Workload const& workload) { return divides(dp, workload.global_batch); }

/// `dp` must be legal.
constexpr bool micro_batch(int size, int dp, Workload const& workload) {
    return divides(size, workload.global_batch / dp);
}

constexpr bool experts(int ep, int dp, Model const& model) {
    return ep == 1 || (model.moe.experts > 0 && divides(ep, dp) && divides(ep, model.moe.experts));
}

constexpr bool interleaving(int virtual_pp, int pp, int micro_batches) {
    return virtual_pp == 1 || divides(pp, micro_batches);
}

/// With a pipeline, gradients sharded by ZeRO 2 and 3 would be reduced every micro-batch.
constexpr bool zero_stage(int zero, int pp) { return zero >= 0 && zero <= 3 && (zero < 2 || pp == 1); }

/// 0 stands for all data ranks.
constexpr bool shard_group(int shard, int zero, int data_ranks) {
    return shard == 0 || (zero == 3 && divides(shard, data_ranks));
}

/// `cp` must be legal.
constexpr bool sequence_parallel(int tp, int cp, Workload const& workload) {
    return tp > 1 && divides(tp, workload.sequence_length / cp);
}

} // namespace headroom::rules
