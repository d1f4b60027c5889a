#include "legal.hpp"

#include "training/rules.hpp"

#include "headroom/error.hpp"
#include "headroom/training/assume.hpp"

#include <algorithm>
#include <utility>

namespace headroom::training::planner {

using namespace headroom::network;

namespace {

/// The rules in the order in which candidates meet them. When none is left, the furthest one met is the reason.
enum class Rule { tensor, pipeline, chunks, context, split, batch, experts, micro_batch, interleave, sequence, shard };

struct Zero {
    int stage = 0, shard = 0;
};

class Enumeration {
public:
    Enumeration(Model const& model, Cluster const& cluster, Framework const& framework, Workload const& workload,
                int workers, PartialStrategy const& fixed, Strategy const& held)
        : model_{model},
          cluster_{cluster},
          framework_{framework},
          workload_{workload},
          workers_{workers},
          fixed_{fixed},
          held_{held},
          recomputations_{recomputation_kinds()} {}

    std::vector<Strategy> all();
    [[nodiscard]] std::string none_because() const;

private:
    [[nodiscard]] std::vector<std::pair<Recompute, unsigned>> recomputation_kinds() const;
    [[nodiscard]] std::vector<int> tensor_degrees() const;
    [[nodiscard]] std::vector<int> pipeline_degrees() const;
    [[nodiscard]] std::vector<int> chunk_counts(int pp) const;
    [[nodiscard]] PipelineSchedule schedule_of(int pp) const;
    [[nodiscard]] std::vector<int> context_degrees() const;
    [[nodiscard]] std::vector<int> micro_batches(int dp) const;
    [[nodiscard]] std::vector<int> expert_degrees(Strategy const& strategy) const;
    [[nodiscard]] std::vector<Zero> sharding(Strategy const& strategy) const;
    [[nodiscard]] bool splits_sequence(Strategy const& strategy) const;
    void split(Strategy strategy);
    void add_batches(Strategy strategy);
    void add_variants(Strategy strategy);
    void add(Strategy const& strategy);
    void meet(Rule rule) { furthest_ = std::max(furthest_, rule); }

    Model const& model_;
    Cluster const& cluster_;
    Framework const& framework_;
    Workload const& workload_;
    int workers_;
    PartialStrategy const& fixed_;
    Strategy held_;                                              ///< carries what is not varied
    std::vector<std::pair<Recompute, unsigned>> recomputations_; ///< tried, in the order of decreasing memory
    Rule furthest_ = Rule::tensor;
    std::string refusal_; ///< of `illegal_because`, the last one
    std::vector<Strategy> found_;
};

std::vector<int> divisors(int number) {
    std::vector<int> found;
    for (int d = 1; d <= number; ++d) {
        if (rules::divides(d, number)) { found.push_back(d); }
    }
    return found;
}

/// Legal values of a field: the caller's if fixed, else those candidates that satisfy the rule.
template <class Legal> std::vector<int> choices(std::optional<int> fixed, std::vector<int> candidates, Legal legal) {
    if (fixed) { candidates = {*fixed}; }
    std::erase_if(candidates, [&](int value) { return value < 1 || !legal(value); });
    return candidates;
}

std::vector<std::pair<Recompute, unsigned>> Enumeration::recomputation_kinds() const {
    if (fixed_.recompute) { return {{*fixed_.recompute, held_.recomputed}}; }
    std::vector<std::pair<Recompute, unsigned>> kinds;
    for (Recompute const kind : recomputations) {
        if (kind == Recompute::full && held_.recompute_layers == 0) {
            for (auto const& further : framework_.recomputations) {
                if ((further.second & ~recompute_parts(model_)) == 0) { kinds.push_back(further); }
            }
        }
        if (kind != Recompute::none || held_.recompute_layers == 0) { kinds.emplace_back(kind, 0U); }
    }
    return kinds;
}

std::vector<int> Enumeration::tensor_degrees() const {
    bool const splits = model_.operators.empty() && framework_.tensor_parallel;
    std::vector<int> candidates = splits ? divisors(std::max(1, model_.heads)) : std::vector{1};
    std::erase_if(candidates, [&](int tp) { return tp > std::max(1, cluster_.domain); });
    return choices(fixed_.tp, std::move(candidates), [&](int tp) { return rules::tensor(tp, model_); });
}

std::vector<int> Enumeration::pipeline_degrees() const {
    // a schedule that is asked for makes a pipeline
    bool const scheduled = fixed_.pipeline.value_or(PipelineSchedule::one_f_one_b) != PipelineSchedule::one_f_one_b;
    return choices(fixed_.pp, framework_.pipeline ? divisors(workers_) : std::vector{1},
                   [&](int pp) { return rules::pipeline(pp, model_) && (pp > 1 || !scheduled); });
}

std::vector<int> Enumeration::chunk_counts(int pp) const {
    bool const one = pp == 1 || (fixed_.pipeline && *fixed_.pipeline != PipelineSchedule::interleaved);
    bool const several = pp > 1 && fixed_.pipeline == PipelineSchedule::interleaved;
    return choices(fixed_.virtual_pp, one ? std::vector{1} : divisors(rules::most_layers_of_a_stage(pp, model_)),
                   [&](int chunks) { return rules::chunks(chunks, pp, model_) && (chunks > 1 || !several); });
}

PipelineSchedule Enumeration::schedule_of(int pp) const {
    auto const asked = fixed_.pipeline.value_or(PipelineSchedule::one_f_one_b);
    // interleaved is 1F1B with several chunks; one stage has nothing to schedule
    return pp == 1 || asked == PipelineSchedule::interleaved ? PipelineSchedule::one_f_one_b : asked;
}

std::vector<int> Enumeration::context_degrees() const {
    int const length = workload_.sequence_length;
    std::vector<int> candidates;
    int const largest = framework_.context_parallel ? SearchBounds::largest_context : 1;
    for (int cp = 1; cp <= largest; cp *= 2) {
        if (cp == 1 || length / cp >= SearchBounds::shortest_local_sequence) { candidates.push_back(cp); }
    }
    return choices(fixed_.cp, std::move(candidates), [&](int cp) { return rules::context(cp, workload_); });
}

std::vector<int> Enumeration::micro_batches(int dp) const {
    int const replica_batch = workload_.global_batch / dp;
    std::vector<int> candidates;
    int const largest = std::max(SearchBounds::largest_micro_batch, model_.nominal_batch);
    for (int size = 1; size <= largest; size *= 2) { candidates.push_back(size); }
    if (replica_batch <= largest) { candidates.push_back(replica_batch); }
    std::ranges::sort(candidates);
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());

    std::optional<int> fixed = fixed_.micro_batch;
    if (!fixed && fixed_.grad_accum) {
        fixed = rules::divides(*fixed_.grad_accum, replica_batch) ? replica_batch / *fixed_.grad_accum : 0;
    }
    return choices(fixed, std::move(candidates), [&](int size) {
        return rules::micro_batch(size, dp, workload_) &&
               (!fixed_.grad_accum || replica_batch / size == *fixed_.grad_accum);
    });
}

std::vector<Zero> Enumeration::sharding(Strategy const& strategy) const {
    std::vector<int> stages{0, 1, 2, 3};
    stages.resize(static_cast<std::size_t>(framework_.most_zero) + 1);
    int const data_ranks = strategy.data_ranks();
    // compressed gradients and servers take whole ones, and the stacks of operator lists keep all state on every rank
    bool const whole = strategy.compression.kind != Compression::none || strategy.servers > 0;
    bool const alone = data_ranks == 1 && schedule_row(strategy.schedule()).weight_copies <= 1;
    if (alone || whole || !model_.operators.empty()) { stages = {0}; }
    if (auto const zero = running_zero(fixed_, framework_)) { stages = {*zero}; }
    std::vector<Zero> found;
    for (int const stage : stages) {
        if (!rules::zero_stage(stage) || (strategy.pp > 1 && stage > framework_.pipeline_zero)) { continue; }
        if (stage == 2 && strategy.pp > 1 && !fixed_.zero) { continue; } // whole gradients: as ZeRO 1
        if (fixed_.shard) {
            int const shard = shard_group_ranks(*fixed_.shard, strategy, cluster_.accelerators_per_node);
            if (rules::shard_group(shard, stage, data_ranks)) { found.push_back({stage, shard}); }
            continue;
        }
        found.push_back({stage, 0});
        int const inside = cluster_.domain / (strategy.tp * strategy.cp);
        if (stage == 3 && inside > 1 && inside < strategy.dp && rules::divides(inside, strategy.dp)) {
            found.push_back({stage, inside});
        }
    }
    return found;
}

bool Enumeration::splits_sequence(Strategy const& strategy) const {
    return !strategy.sequence_parallel || rules::sequence_parallel(strategy.tp, strategy.cp, workload_);
}

std::vector<Strategy> Enumeration::all() {
    Strategy strategy = held_;
    auto const contexts = context_degrees();
    for (int const tp : tensor_degrees()) {
        meet(Rule::pipeline);
        for (int const pp : pipeline_degrees()) {
            meet(Rule::chunks);
            strategy.pipeline = schedule_of(pp);
            for (int const chunks : chunk_counts(pp)) {
                meet(Rule::context);
                for (int const cp : contexts) {
                    strategy.tp = tp;
                    strategy.pp = pp;
                    strategy.virtual_pp = chunks;
                    strategy.cp = cp;
                    split(strategy);
                }
            }
        }
    }
    return std::move(found_);
}

void Enumeration::split(Strategy strategy) {
    std::int64_t const model_ranks = std::int64_t{strategy.tp} * strategy.pp * strategy.cp;
    if (workers_ % model_ranks != 0) { return meet(Rule::split); }
    strategy.dp = static_cast<int>(workers_ / model_ranks);
    if (fixed_.dp && *fixed_.dp != strategy.dp) { return meet(Rule::split); }
    if (!rules::replicas(strategy.dp, workload_)) { return meet(Rule::batch); }
    meet(Rule::experts);
    for (int const ep : expert_degrees(strategy)) {
        strategy.ep = ep;
        // experts on one rank each are whole; where every rank has all of them they are cut like the rest
        strategy.etp = fixed_.etp.value_or(ep == 1 && model_.moe.experts > 0 ? strategy.tp : 1);
        if (rules::experts(ep, strategy.etp, strategy.tp, strategy.data_ranks(), model_)) { add_batches(strategy); }
    }
}

std::vector<int> Enumeration::expert_degrees(Strategy const& strategy) const {
    bool const spreads = model_.moe.experts > 0 && framework_.expert_parallel;
    std::vector<int> const candidates = spreads ? divisors(model_.moe.experts) : std::vector{1};
    int const ranks = strategy.data_ranks() * strategy.tp;
    return choices(fixed_.ep, candidates, [&](int ep) { return ep == 1 || rules::divides(ep, ranks); });
}

void Enumeration::add_batches(Strategy strategy) {
    meet(Rule::micro_batch);
    for (int const size : micro_batches(strategy.dp)) {
        strategy.micro_batch = size;
        if (!rules::interleaving(strategy.virtual_pp, strategy.pp, whole_micro_batches(strategy, workload_))) {
            meet(Rule::interleave);
            continue;
        }
        add_variants(strategy);
    }
}

void Enumeration::add_variants(Strategy strategy) {
    auto const shards = sharding(strategy);
    for (bool const sequence_parallel : {false, true}) {
        if (fixed_.sequence_parallel.value_or(sequence_parallel) != sequence_parallel) { continue; }
        strategy.sequence_parallel = sequence_parallel;
        if (!splits_sequence(strategy)) {
            meet(Rule::sequence);
            continue;
        }
        meet(Rule::shard);
        for (auto const& [stage, shard] : shards) {
            strategy.zero = stage;
            strategy.shard = shard;
            for (auto const& [recompute, parts] : recomputations_) {
                strategy.recompute = recompute;
                strategy.recomputed = parts;
                add(strategy);
            }
        }
    }
}

/// The rules above spare candidates that cannot be legal; the last word is with the home of the rules.
void Enumeration::add(Strategy const& strategy) {
    std::string refusal = illegal_because(strategy, model_, workload_);
    if (refusal.empty()) {
        found_.push_back(strategy);
    } else {
        refusal_ = std::move(refusal);
    }
}

std::string Enumeration::none_because() const {
    if (!refusal_.empty()) { return refusal_; }
    auto const with = [](char const* name, std::optional<int> value) {
        std::string const degree{name};
        return value ? degree + " " + std::to_string(*value) + " does not divide "
                     : "no " + degree + " degree divides ";
    };
    std::string const workers = std::to_string(workers_);
    switch (furthest_) {
    case Rule::tensor:
        return with("tp", fixed_.tp) + "the " + std::to_string(model_.heads) + " heads, " +
               std::to_string(model_.kv_heads) + " key-value heads and the feed-forward width";
    case Rule::pipeline:
        return "pp " + std::to_string(fixed_.pp.value_or(1)) + " stages need a layer each, and there are " +
               std::to_string(model_.layers);
    case Rule::context:
        return with("cp", fixed_.cp) + "the sequence of " + std::to_string(workload_.sequence_length) +
               " tokens into two halves a rank";
    case Rule::split: return "no legal tp x pp x cp x dp makes " + workers + " workers";
    case Rule::batch:
        return "the global batch of " + std::to_string(workload_.global_batch) +
               " sequences does not divide over the replicas that " + workers + " workers leave";
    case Rule::experts:
        if (model_.moe.experts == 0) { return "expert parallelism needs a mixture of experts"; }
        return with("ep", fixed_.ep) + "the experts and the ranks of a stage";
    case Rule::micro_batch: return "no micro-batch with the size asked for divides the batch of one replica";
    case Rule::chunks: return with("virtual_pp", fixed_.virtual_pp) + "the layers of a stage (1 when pp is 1)";
    case Rule::interleave: return "interleaving needs micro-batches in multiples of pp";
    case Rule::sequence: return "sequence parallelism needs tp > 1 and a sequence that tp divides";
    case Rule::shard: return "a shard group needs ZeRO 1, 2 or 3 and has to divide the data-parallel ranks";
    }
    return {};
}

/// Fields that are not varied: as the caller fixed them, or as `assume` fills them.
Strategy held_strategy(Model const& model, Cluster const& cluster, Framework const& framework, Workload const& workload,
                       PartialStrategy const& fixed) {
    PartialStrategy single = fixed;
    single.shard = single.grad_accum = {};
    single.pipeline = {}; // of those with a pipeline only
    single.dp = single.tp = single.pp = single.virtual_pp = single.cp = single.ep = single.etp = single.micro_batch = 1;
    single.zero = 0;
    single.sequence_parallel = false;
    single.recompute = Recompute::none;
    return assume(single, model, cluster, framework, workload, 1).strategy;
}

void require_positive(char const* what, int value) {
    if (value >= 1) { return; }
    throw InputError{Fault::usage,
                     {.where = what, .problem = "is " + std::to_string(value), .why = "it has to be at least 1"}};
}

} // namespace

LegalSet legal_set(Model const& model, Cluster const& cluster, Framework const& framework, Workload const& workload,
                   int workers, PartialStrategy const& fixed) {
    require_positive("workers", workers);
    require_positive("global batch", workload.global_batch);
    require_positive("sequence length", workload.sequence_length);
    Enumeration enumeration{
        model, cluster, framework, workload, workers, fixed, held_strategy(model, cluster, framework, workload, fixed)};
    LegalSet set{enumeration.all(), {}};
    if (set.strategies.empty()) { set.none_because = enumeration.none_because(); }
    return set;
}

} // namespace headroom::training::planner

namespace headroom::training {

using namespace headroom::network;

std::vector<Strategy> legal_strategies(Model const& model, Cluster const& cluster, Framework const& framework,
                                       Workload const& workload, int workers, PartialStrategy const& fixed) {
    return planner::legal_set(model, cluster, framework, workload, workers, fixed).strategies;
}

} // namespace headroom::training
