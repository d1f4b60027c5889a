#include "headroom/training/legality.hpp"

#include "rules.hpp"

#include <utility>

namespace headroom::training {

using namespace headroom::network;
using std::to_string;

namespace {

std::string model_parallel_fault(Strategy const& s, Model const& model) {
    if (!rules::splits_heads(s.tp, model)) {
        return "tp " + to_string(s.tp) + " does not divide " + to_string(model.heads) + " attention heads";
    }
    if (!rules::splits_key_heads(s.tp, model)) {
        return "tp " + to_string(s.tp) + " and " + to_string(model.kv_heads) +
               " key-value heads do not divide each other";
    }
    if (!rules::splits_feed_forward(s.tp, model)) {
        return "tp " + to_string(s.tp) + " does not divide the feed-forward width " +
               to_string(rules::divides(s.tp, model.ffn) ? rules::shared_width(model) : model.ffn);
    }
    if (!rules::splits_scan(s.tp, model)) {
        return "tp " + to_string(s.tp) + " does not divide " + to_string(model.state_space.heads) + " heads and " +
               to_string(model.state_space.groups) + " groups of the state space";
    }
    if (!rules::splits_plan(s.tp, model)) {
        return "tp " + to_string(s.tp) + " does not divide the heads or the feed-forward width of every layer";
    }
    if (!rules::pipeline(s.pp, model)) {
        return "pp " + to_string(s.pp) + " stages need a layer each, and there are " + to_string(model.layers);
    }
    if (s.virtual_pp > 1 && s.pp == 1) { return "virtual stages need a pipeline (pp > 1)"; }
    if (!rules::fills_chunks(s.virtual_pp, s.pp, model)) {
        return "pp " + to_string(s.pp) + " x virtual_pp " + to_string(s.virtual_pp) + " chunks are more than " +
               to_string(model.layers) + " layers, the embedding and the head fill";
    }
    if (!rules::chunks(s.virtual_pp, s.pp, model)) {
        return "virtual_pp " + to_string(s.virtual_pp) + " does not divide " +
               to_string(rules::most_layers_of_a_stage(s.pp, model)) + " layers of a stage";
    }
    return {};
}

std::string expert_fault(Strategy const& s, Model const& model) {
    if (rules::experts(s.ep, s.etp, s.tp, s.data_ranks(), model)) { return {}; }
    if (model.moe.experts == 0) { return "expert parallelism needs a mixture of experts"; }
    if (!rules::divides(s.ep, model.moe.experts)) {
        return "ep " + to_string(s.ep) + " does not divide " + to_string(model.moe.experts) + " experts";
    }
    if (s.etp != 1 && s.etp != s.tp) {
        return "etp " + to_string(s.etp) + " is neither 1 nor tp " + to_string(s.tp) +
               ": experts are whole, or cut like the rest";
    }
    if (!rules::divides(s.etp, model.moe.ffn)) {
        return "etp " + to_string(s.etp) + " does not divide the width " + to_string(model.moe.ffn) + " of an expert";
    }
    return "ep " + to_string(s.ep) + " x etp " + to_string(s.etp) +
           " does not divide the dp x cp x tp = " + to_string(s.data_ranks() * s.tp) + " ranks of a stage";
}

/// A list of operators is trained by data parallelism alone.
std::string operator_fault(Strategy const& s, Model const& model) {
    bool const split = s.tp > 1 || s.pp > 1 || s.cp > 1 || s.ep > 1;
    if (model.operators.empty() || !split) { return {}; }
    return model.name + " is a list of operators: it runs data parallel only (tp, pp, cp and ep of 1)";
}

std::string length_fault(Strategy const& s, Model const& model, Workload const& workload) {
    if (s.cp > 1 && !rules::context(s.cp, workload)) {
        return "context parallelism cuts the sequence in 2 cp = " + to_string(2LL * s.cp) +
               " segments, which do not divide " + to_string(workload.sequence_length);
    }
    if (s.cp < 1 || s.dp < 1 || s.ep < 1 || s.etp < 1) { return "degrees must be at least 1"; }
    if (s.cp > 1 && s.exchange == ContextExchange::all_to_all && !rules::trades_heads(s.cp, s.tp, model)) {
        return "context parallelism by all-to-all needs heads for every rank: cp " + to_string(s.cp) + " x tp " +
               to_string(s.tp) + " does not divide " + to_string(model.heads);
    }
    return {};
}

std::string micro_batch_fault(Strategy const& s, Workload const& workload) {
    if (rules::replicas(s.dp, workload) && rules::micro_batch(s.micro_batch, s.dp, workload)) { return {}; }
    return "micro-batch " + to_string(s.micro_batch) + " x dp " + to_string(s.dp) + " does not divide the batch of " +
           to_string(workload.global_batch);
}

std::string interleaving_fault(Strategy const& s, Workload const& workload) {
    int const micro_batches = whole_micro_batches(s, workload);
    if (rules::interleaving(s.virtual_pp, s.pp, micro_batches)) { return {}; }
    return "interleaving needs micro-batches (" + to_string(micro_batches) + ") in multiples of pp " + to_string(s.pp);
}

/// Violated requirement of a schedule other than plain 1F1B on stages, chunks, layers or micro-batches; else empty.
std::string schedule_fault(Strategy const& s, Model const& model, Workload const& workload) {
    if (s.pipeline == PipelineSchedule::one_f_one_b) { return {}; }
    auto const& row = schedule_row(s.pipeline);
    std::string const name{row.name};
    if (s.pp == 1) { return "the schedule " + name + " needs a pipeline (pp > 1)"; }
    if (s.pipeline == PipelineSchedule::interleaved) {
        if (s.virtual_pp > 1) { return {}; }
        return "interleaving needs two chunks a stage or more (virtual_pp), and " +
               to_string(rules::most_layers_of_a_stage(s.pp, model)) + " layers of a stage are to be cut";
    }
    if (s.virtual_pp > 1) {
        return "the schedule " + name + " has " + to_string(row.chunks) + (row.chunks == 1 ? " chunk" : " chunks") +
               " a stage of its own: virtual_pp " + to_string(s.virtual_pp) + " is for interleaved";
    }
    if (!rules::halves(row.layout, s.pp, model)) {
        return "the schedule " + name + " cuts the layers in 2 pp = " + to_string(2 * s.pp) +
               " equal chunks, which do not divide " + to_string(model.layers);
    }
    return impossible_because(s.pipeline, pipeline_shape(s, workload));
}

std::string sharding_fault(Strategy const& s, Workload const& workload) {
    if (!rules::zero_stage(s.zero)) { return "ZeRO has stages 0 to 3"; }
    if (s.zero >= 2 && s.pp > 1 && schedule_row(s.pipeline).asynchronous) {
        return "ZeRO stage " + to_string(s.zero) + " with " + std::string{name_of(s.pipeline)} +
               ": it updates several versions of whole weights, one after each micro-batch (ZeRO 0 or 1)";
    }
    if (s.sequence_parallel && s.tp == 1) { return "sequence parallelism needs tp > 1"; }
    if (s.sequence_parallel && !rules::sequence_parallel(s.tp, s.cp, workload)) {
        return "sequence parallelism cuts " + to_string(workload.sequence_length / s.cp) + " tokens in " +
               to_string(s.tp) + " unequal parts";
    }
    if (!rules::shard_group(s.shard, s.zero, s.data_ranks())) {
        if (s.zero == 0) { return "a shard group of " + to_string(s.shard) + " ranks needs ZeRO stage 1, 2 or 3"; }
        return "a shard group of " + to_string(s.shard) +
               " ranks does not divide the dp x cp = " + to_string(s.data_ranks()) + " data-parallel ranks";
    }
    return {};
}

/// Violated rule on trained weights, recomputation, gradient communication or offload; else empty.
std::string saving_fault(Strategy const& s, Model const& model) {
    if (s.trained == Trained::last_layers && (s.trained_layers < 1 || s.trained_layers > model.layers)) {
        return "of " + to_string(model.layers) + " layers " + to_string(s.trained_layers) +
               " cannot be the last ones trained";
    }
    if (s.recompute_layers > 0 && (s.recompute == Recompute::none || s.recompute_layers > model.layers)) {
        return "recomputation of " + to_string(s.recompute_layers) +
               " layers needs selective or full recomputation and " + "no more layers than the model's " +
               to_string(model.layers);
    }
    if (unsigned const lacked = s.recomputed & ~recompute_parts(model);
        s.recompute == Recompute::modules && lacked != 0) {
        for (auto const& [name, part] : recompute_modules) {
            if ((lacked & part) != 0) { return "no block has the part " + std::string{name} + " to recompute"; }
        }
    }
    bool const compresses = s.compression.kind != Compression::none;
    if ((compresses || s.servers > 0) && s.zero != 0) {
        return "compressed gradients and parameter servers need whole gradients on every rank (ZeRO 0)";
    }
    if (static_cast<int>(compresses) + static_cast<int>(s.servers > 0) + static_cast<int>(s.local_steps > 1) > 1) {
        return "compressed gradients, parameter servers and local updates exclude each other";
    }
    if (s.local_steps > 1 && s.zero != 0 && (s.zero != 3 || s.shard_ranks() == s.data_ranks())) {
        return "local updates need workers with a state of their own: ZeRO 0, or ZeRO 3 with shard groups";
    }
    // ranks that share a sequence or experts of a layer sum their gradients every step: they are one worker
    int const worker = s.zero == 3 ? s.shard_ranks() : 1;
    if (s.local_steps > 1 && (!rules::divides(s.cp, worker) || !rules::divides(s.ep * s.etp, worker * s.tp))) {
        return "local updates need workers that hold whole sequences and all experts: cp " + to_string(s.cp) +
               " and ep " + to_string(s.ep) + " x etp " + to_string(s.etp) + " have to divide the " +
               to_string(worker) + " data ranks (x tp " + to_string(s.tp) + ") of one";
    }
    return {};
}

} // namespace

unsigned recompute_parts(Model const& model) {
    namespace part = recompute_module;
    auto const& moe = model.moe;
    unsigned parts = part::core_attn | part::layernorm;
    if (model.latent.kv_rank > 0) { parts |= part::mla_up_proj; }
    if (moe.experts > 0) { parts |= part::moe | part::moe_act; }
    if (moe.experts > 0 && moe.shared_experts > 0) { parts |= part::shared_experts; }
    bool const listed = !model.plan.empty() || !model.pattern.empty();
    if (moe.experts == 0 || listed || moe.first_dense > 0 || moe.every > 1) { parts |= part::mlp; }
    return parts;
}

std::optional<Illegality> illegality_of(Strategy const& strategy, Model const& model, Workload const& workload) {
    std::optional<Illegality> found;
    auto const breaks = [&found](LegalityRule rule, std::string fault) {
        if (!fault.empty()) { found = {rule, std::move(fault)}; }
        return found.has_value();
    };
    static_cast<void>(breaks(LegalityRule::operators, operator_fault(strategy, model)) ||
                      breaks(LegalityRule::model_parallel, model_parallel_fault(strategy, model)) ||
                      breaks(LegalityRule::sequence, length_fault(strategy, model, workload)) ||
                      breaks(LegalityRule::experts, expert_fault(strategy, model)) ||
                      breaks(LegalityRule::micro_batch, micro_batch_fault(strategy, workload)) ||
                      breaks(LegalityRule::schedule, interleaving_fault(strategy, workload)) ||
                      breaks(LegalityRule::schedule, schedule_fault(strategy, model, workload)) ||
                      breaks(LegalityRule::sharding, sharding_fault(strategy, workload)) ||
                      breaks(LegalityRule::savings, saving_fault(strategy, model)));
    return found;
}

std::string illegal_because(Strategy const& strategy, Model const& model, Workload const& workload) {
    auto illegality = illegality_of(strategy, model, workload);
    return illegality ? std::move(illegality->words) : std::string{};
}

std::string contradiction_of(PartialStrategy const& partial) {
    if (!partial.pipeline || !partial.virtual_pp) { return {}; }
    int const chunks = *partial.virtual_pp;
    if (*partial.pipeline == PipelineSchedule::interleaved) {
        return chunks > 1 ? std::string{} : "interleaving needs two chunks a stage or more, and virtual_pp is 1";
    }
    if (chunks <= 1) { return {}; }
    return std::string{name_of(*partial.pipeline)} + " is not interleaved, and virtual_pp is " + to_string(chunks);
}

int fewest_chunks(int pp, Model const& model) {
    int const layers = rules::most_layers_of_a_stage(pp, model);
    for (int chunks = 2; chunks <= layers; ++chunks) {
        if (rules::chunks(chunks, pp, model)) { return chunks; }
    }
    return 1;
}

void set_schedule(Strategy& strategy, PipelineSchedule schedule, Model const& model) {
    strategy.pipeline = schedule;
    if (schedule != PipelineSchedule::interleaved) {
        strategy.virtual_pp = 1;
        return;
    }
    if (strategy.virtual_pp == 1) { strategy.virtual_pp = fewest_chunks(strategy.pp, model); }
    // one way of saying it, so that equal strategies are equal
    if (strategy.virtual_pp > 1) { strategy.pipeline = PipelineSchedule::one_f_one_b; }
}

} // namespace headroom::training
