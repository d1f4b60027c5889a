#include "headroom/legality.hpp"

#include "rules.hpp"

namespace headroom {
namespace {

std::string text(int value) { return std::to_string(value); }

std::string model_parallel_fault(Strategy const& s, Model const& model) {
    if (!rules::splits_heads(s.tp, model)) {
        return "tp " + text(s.tp) + " does not divide " + text(model.heads) + " attention heads";
    }
    if (!rules::splits_key_heads(s.tp, model)) {
        return "tp " + text(s.tp) + " and " + text(model.kv_heads) + " key-value heads do not divide each other";
    }
    if (!rules::splits_feed_forward(s.tp, model)) {
        return "tp " + text(s.tp) + " does not divide the feed-forward width " +
               text(rules::divides(s.tp, model.ffn) ? model.moe.ffn : model.ffn);
    }
    if (!rules::pipeline(s.pp, model)) {
        return "pp " + text(s.pp) + " does not divide " + text(model.layers) + " layers";
    }
    if (s.virtual_pp > 1 && s.pp == 1) { return "virtual stages need a pipeline (pp > 1)"; }
    if (!rules::chunks(s.virtual_pp, s.pp, model)) {
        return "virtual_pp " + text(s.virtual_pp) + " does not divide " + text(model.layers / s.pp) +
               " layers of a stage";
    }
    return {};
}

std::string batch_fault(Strategy const& s, Model const& model, Workload const& workload) {
    if (s.cp > 1 && !rules::context(s.cp, workload)) {
        return "context parallelism cuts the sequence in 2 cp = " + std::to_string(2LL * s.cp) +
               " pieces, which do not divide " + text(workload.sequence_length);
    }
    if (s.cp < 1 || s.dp < 1 || s.ep < 1) { return "degrees must be at least 1"; }
    if (!rules::experts(s.ep, s.dp, model)) {
        if (model.moe.experts == 0) { return "expert parallelism needs a mixture of experts"; }
        return "ep " + text(s.ep) + " does not divide " + text(model.moe.experts) + " experts and dp " + text(s.dp);
    }
    if (!rules::replicas(s.dp, workload) || !rules::micro_batch(s.micro_batch, s.dp, workload)) {
        return "micro-batch " + text(s.micro_batch) + " x dp " + text(s.dp) + " does not divide the batch of " +
               text(workload.global_batch);
    }
    int const micro_batches = whole_micro_batches(s, workload);
    if (!rules::interleaving(s.virtual_pp, s.pp, micro_batches)) {
        return "interleaving needs micro-batches (" + text(micro_batches) + ") in multiples of pp " + text(s.pp);
    }
    return {};
}

std::string sharding_fault(Strategy const& s, Workload const& workload) {
    if (s.zero < 0 || s.zero > 3) { return "ZeRO has stages 0 to 3"; }
    if (!rules::zero_stage(s.zero, s.pp)) {
        return "ZeRO stage " + text(s.zero) + " with a pipeline would reduce gradients every micro-batch";
    }
    if (s.sequence_parallel && s.tp == 1) { return "sequence parallelism needs tp > 1"; }
    if (s.sequence_parallel && !rules::sequence_parallel(s.tp, s.cp, workload)) {
        return "sequence parallelism cuts " + text(workload.sequence_length / s.cp) + " tokens in " + text(s.tp) +
               " unequal parts";
    }
    if (!rules::shard_group(s.shard, s.zero, s.data_ranks())) {
        return "a shard group must divide the data-parallel ranks of ZeRO stage 3";
    }
    return {};
}

} // namespace

std::string illegal_because(Strategy const& strategy, Model const& model, Workload const& workload) {
    if (std::string fault = model_parallel_fault(strategy, model); !fault.empty()) { return fault; }
    if (std::string fault = batch_fault(strategy, model, workload); !fault.empty()) { return fault; }
    return sharding_fault(strategy, workload);
}

} // namespace headroom
