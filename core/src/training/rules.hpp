#pragma once

#include "headroom/training/model.hpp"
#include "headroom/training/pipeline.hpp"
#include "headroom/training/strategy.hpp"

#include <algorithm>
#include <cstdint>

/// The rules of legality.hpp, each on the degrees that it is about: `illegal_because` asks them of a whole
/// strategy, the planner's enumeration as soon as those degrees are chosen.
namespace headroom::training::rules {

constexpr bool divides(int divisor, int whole) { return divisor >= 1 && whole % divisor == 0; }

constexpr bool splits_heads(int tp, Model const& model) { return divides(tp, model.heads); }
/// Key-value heads are shared out, or each is held by several ranks.
constexpr bool splits_key_heads(int tp, Model const& model) {
    return divides(tp, model.kv_heads) || divides(model.kv_heads, tp);
}
/// Width of all shared experts together; a shared expert is as wide as a routed one by default.
constexpr int shared_width(Model const& model) {
    auto const& moe = model.moe;
    return moe.shared_experts * (moe.shared_ffn > 0 ? moe.shared_ffn : moe.ffn > 0 ? moe.ffn : model.ffn);
}
/// Experts are cut over etp ranks, not tp; those that every token passes are cut like a dense layer.
constexpr bool splits_feed_forward(int tp, Model const& model) {
    return divides(tp, model.ffn) && divides(tp, shared_width(model));
}
/// Groups are shared out, or each is held by several ranks.
constexpr bool splits_scan(int tp, Model const& model) {
    auto const& m = model.state_space;
    return m.heads == 0 || (divides(tp, m.heads) && (divides(tp, m.groups) || divides(m.groups, tp)));
}
/// Layers of other widths than the model's.
inline bool splits_plan(int tp, Model const& model) {
    return std::ranges::all_of(model.plan, [&](BlockKind const& kind) {
        auto const attention = attention_shape(model, kind);
        int const keys = static_cast<int>(attention.kv_heads);
        return divides(tp, static_cast<int>(attention.heads)) && (divides(tp, keys) || divides(keys, tp)) &&
               (kind.channel != Channel::dense || divides(tp, ffn_of(model, kind)));
    });
}
inline bool tensor(int tp, Model const& model) {
    return splits_heads(tp, model) && splits_key_heads(tp, model) && splits_feed_forward(tp, model) &&
           splits_scan(tp, model) && splits_plan(tp, model);
}

/// Every stage has a layer; where they do not come out even, the ends have fewer (`stage_layers`).
constexpr bool pipeline(int pp, Model const& model) {
    return pp == 1 || (pp >= 1 && pp <= model.layers && model.operators.empty());
}
constexpr int most_layers_of_a_stage(int pp, Model const& model) { return (model.layers + pp - 1) / pp; }

/// No chunk is empty: each holds a layer, the embedding, the head or a block that predicts later tokens. `pp` must be legal.
constexpr bool fills_chunks(int virtual_pp, int pp, Model const& model) {
    return virtual_pp == 1 || std::int64_t{virtual_pp} * pp <= std::int64_t{model.layers} + model.prediction_layers + 2;
}
/// `pp` must be legal.
constexpr bool chunks(int virtual_pp, int pp, Model const& model) {
    return divides(virtual_pp, most_layers_of_a_stage(pp, model)) && (pp > 1 || virtual_pp == 1) &&
           fills_chunks(virtual_pp, pp, model);
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

/// Experts are spread over the ranks of a stage, each whole or cut like the other products.
constexpr bool experts(int ep, int etp, int tp, int data_ranks, Model const& model) {
    if (ep == 1 && etp == 1) { return true; }
    auto const& moe = model.moe;
    bool const cut = etp == 1 || (etp == tp && divides(etp, moe.ffn));
    return moe.experts > 0 && cut && divides(ep, moe.experts) && divides(ep * etp, data_ranks * tp);
}

/// Trading heads for tokens needs a head for every rank.
constexpr bool trades_heads(int cp, int tp, Model const& model) { return divides(cp * tp, model.heads); }

/// Both halves of a V have as many layers on every stage: both ends of the model are on the first.
constexpr bool halves(ChunkLayout layout, int pp, Model const& model) {
    return layout != ChunkLayout::v || divides(2 * pp, model.layers);
}

constexpr bool interleaving(int virtual_pp, int pp, int micro_batches) {
    return virtual_pp == 1 || divides(pp, micro_batches);
}

constexpr bool zero_stage(int zero) { return zero >= 0 && zero <= 3; }

/// 0 stands for all data ranks.
constexpr bool shard_group(int shard, int zero, int data_ranks) {
    return shard == 0 || (zero >= 1 && divides(shard, data_ranks));
}

/// `cp` must be legal.
constexpr bool sequence_parallel(int tp, int cp, Workload const& workload) {
    return tp > 1 && divides(tp, workload.sequence_length / cp);
}

} // namespace headroom::training::rules
