#include "headroom/training/assume.hpp"

#include "rules.hpp"

#include "headroom/error.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/legality.hpp"
#include "headroom/training/memory.hpp"

#include <algorithm>
#include <cstdint>

namespace headroom::training {

using namespace headroom::network;
using std::to_string;

namespace {

constexpr int most_assumed_chunks = 8;       ///< a stage: more only adds transfers
constexpr int most_adapter_tensor_ranks = 4; ///< LoRA leaves memory free; beyond this degree, sequences are split
constexpr int fused_attention_year = 2023;   ///< frameworks of earlier A100 runs had no FlashAttention

/// Fills one gap after another; later choices see the earlier ones.
class Filler {
public:
    Filler(PartialStrategy const& partial, Model const& model, Cluster const& cluster, Framework const& framework,
           Workload const& workload, int workers)
        : partial_{partial},
          model_{model},
          cluster_{cluster},
          framework_{framework},
          workload_{workload},
          workers_{workers} {}

    AssumedStrategy fill() {
        formats();
        recompute_ = partial_.recompute ? partial_.recompute : framework_.recompute;
        bool const asks = strategy().recompute_layers > 0 && recompute_.value_or(Recompute::none) == Recompute::none;
        if (!partial_.recompute && asks) { recompute_ = Recompute::full; }
        strategy().recompute = recompute_.value_or(Recompute::none);
        strategy().zero = running_zero(partial_, framework_).value_or(needs_whole_gradients() ? 0 : framework_.zero);
        degrees();
        experts();
        sharding();
        micro_batch();
        recomputation();
        interleaving();
        return std::move(result_);
    }

private:
    Strategy& strategy() { return result_.strategy; }

    void note(std::string field, std::string value, std::string reason, bool structural = false) {
        result_.assumptions.push_back({std::move(field), std::move(value), std::move(reason), structural});
    }

    /// Formats that the chip does not compute give way to the next: fp8 and fp32 to bf16, bf16 to fp16.
    void formats() {
        auto& s = strategy();
        s.trained = partial_.trained.value_or(Trained::all);
        s.overlap = partial_.overlap.value_or(Overlap::on);
        s.ep = partial_.ep.value_or(1);
        s.etp = partial_.etp.value_or(1);
        s.exchange = partial_.exchange.value_or(ContextExchange::gather);
        s.offload = partial_.offload.value_or(Offload::none);
        s.adapter_rank = partial_.adapter_rank.value_or(s.adapter_rank);
        s.recomputed =
            partial_.recompute ? partial_.recomputed.value_or(0) : framework_.recomputed & recompute_parts(model_);
        s.adapter_modules = partial_.adapter_modules.value_or(s.adapter_modules);
        s.trained_layers = partial_.trained_layers.value_or(0);
        s.capacity = partial_.capacity.value_or(0.0);
        s.local_steps = partial_.local_steps.value_or(1);
        s.servers = partial_.servers.value_or(0);
        s.compression = partial_.compression.value_or(GradientCompression{});
        s.recompute_layers = partial_.recompute_layers.value_or(0);
        // what fits depends on it; interleaving waits for its chunks
        if (asks_schedule() && partial_.pipeline != PipelineSchedule::interleaved) { s.pipeline = *partial_.pipeline; }
        s.precision = partial_.precision.value_or(framework_.precision);
        if (!partial_.precision) {
            if (peak_rate(cluster_.accelerator, s.precision).base() <= 0.0) { s.precision = Precision::bf16; }
            if (s.precision == Precision::bf16 && cluster_.accelerator.peak.bf16.base() <= 0.0) {
                s.precision = cluster_.accelerator.peak.fp16.base() > 0.0 ? Precision::fp16 : Precision::fp32;
            }
            note("precision", std::string{name_of(s.precision)}, "default of " + framework_.name);
        }
    }

    /// Fills the degrees: given ones are kept, and dp is the quotient of the workers by the others.
    void degrees() {
        auto& s = strategy();
        if (partial_.trained == Trained::lora && !partial_.tp && !partial_.pp && !partial_.cp && !partial_.dp) {
            return adapter_degrees();
        }
        if (!model_.operators.empty()) { return operator_degrees(); }
        s.cp = partial_.cp.value_or(ranks_beyond_the_batch());
        if (partial_.tp && partial_.pp) {
            s.tp = *partial_.tp;
            s.pp = *partial_.pp;
        } else {
            model_parallel_degrees();
        }
        replicas();
        if (!partial_.dp) { note("dp", to_string(s.dp), "workers / (tp pp cp)"); }
        if (!partial_.cp) {
            note("cp", to_string(s.cp),
                 s.cp > 1 ? "more ranks than sequences: each sequence is split"
                          : "no context parallelism unless asked for",
                 s.cp > 1);
        }
    }

    /// A list of operators has no layers to cut and no sequence to split.
    void operator_degrees() {
        auto& s = strategy();
        constexpr char const* why = "a list of operators runs data parallel only";
        s.tp = partial_.tp.value_or(1);
        s.pp = partial_.pp.value_or(1);
        s.cp = partial_.cp.value_or(1);
        replicas();
        if (!partial_.dp) { note("dp", to_string(s.dp), why); }
    }

    /// Sets dp to the quotient of the workers by the other degrees.
    void replicas() {
        auto& s = strategy();
        std::int64_t const inside = std::int64_t{s.tp} * s.pp * s.cp;
        if (!partial_.dp && workers_ % inside != 0) {
            throw InputError{Fault::usage,
                             {.where = "workers",
                              .problem = to_string(workers_) + " workers cannot be divided by tp " + to_string(s.tp) +
                                         " x pp " + to_string(s.pp) + " x cp " + to_string(s.cp),
                              .why = to_string(inside) + " accelerators make one replica",
                              .hint = "use a multiple of " + to_string(inside)}};
        }
        s.dp = partial_.dp.value_or(static_cast<int>(workers_ / inside));
        if (s.dp * inside != workers_) {
            throw InputError{Fault::usage,
                             {.where = "strategy",
                              .problem = "dp " + to_string(s.dp) + " x tp " + to_string(s.tp) + " x pp " +
                                         to_string(s.pp) + " x cp " + to_string(s.cp) + " is " +
                                         to_string(s.dp * inside) + ", not " + to_string(workers_) + " workers",
                              .hint = "leave one degree out and it is derived"}};
        }
        if (s.dp > workload_.global_batch) {
            throw InputError{
                Fault::usage,
                {.where = "global batch",
                 .problem = to_string(workload_.global_batch) + " sequences cannot be shared by " + to_string(s.dp) +
                            " data-parallel replicas",
                 .why = "the batch is smaller than dp",
                 .hint = "raise the batch to a multiple of " + to_string(s.dp) + ", or raise tp, pp or cp"}};
        }
    }

    /// Context-parallel degree of frameworks that shard all state over data ranks and have no pipeline: ranks in excess
    /// of the batch split the sequence.
    [[nodiscard]] int ranks_beyond_the_batch() const {
        bool const open =
            framework_.context_parallel && !partial_.tp && !partial_.pp && !partial_.dp && model_.operators.empty();
        bool const excess = workers_ > workload_.global_batch && workers_ % workload_.global_batch == 0;
        return framework_.zero == 3 && open && excess ? workers_ / workload_.global_batch : 1;
    }

    /// Fills the degrees for LoRA, which needs little memory: a few tensor ranks, then the sequence is split.
    void adapter_degrees() {
        auto& s = strategy();
        int const micro_steps = partial_.grad_accum.value_or(1);
        s.dp = std::clamp(workload_.global_batch / std::max(1, micro_steps), 1, workers_);
        while (workers_ % s.dp != 0 || workload_.global_batch % s.dp != 0) { --s.dp; }
        int const rest = workers_ / s.dp;
        s.tp = 1;
        while (framework_.tensor_parallel && s.tp < most_adapter_tensor_ranks && rest % (s.tp * 2) == 0 &&
               model_.heads % (s.tp * 2) == 0) {
            s.tp *= 2;
        }
        s.cp = framework_.context_parallel ? rest / s.tp : 1;
        s.pp = 1;
        replicas();
        note("dp", to_string(s.dp), "batch / accumulation steps", true);
        note("tp", to_string(s.tp), "up to " + to_string(most_adapter_tensor_ranks) + " for LoRA", true);
        note("cp", to_string(s.cp), "the remaining ranks split the sequence", true);
    }

    /// The smallest tensor degree, then the smallest pipeline depth, whose weights and state fit.
    void model_parallel_degrees() {
        auto& s = strategy();
        s.tp = partial_.tp.value_or(1);
        s.pp = partial_.pp.value_or(asks_schedule() ? 2 : 1);
        s.micro_batch = 1;
        std::int64_t const outside = std::int64_t{partial_.dp.value_or(0)} * s.cp;
        if (partial_.dp && workers_ % outside == 0) {
            int const rest = static_cast<int>(workers_ / outside);
            if (partial_.tp) {
                s.pp = std::max(1, rest / s.tp);
            } else if (partial_.pp) {
                s.tp = std::max(1, rest / s.pp);
            } else {
                s.tp = 1;
                while (s.tp * 2 <= cluster_.accelerators_per_node && rest % (s.tp * 2) == 0 &&
                       model_.heads % (s.tp * 2) == 0) {
                    s.tp *= 2;
                }
                s.pp = rest / s.tp;
            }
        } else {
            smallest_that_fits();
        }
        if (!partial_.tp) { note("tp", to_string(s.tp), reason("smallest degree that fits in memory"), true); }
        if (!partial_.pp) { note("pp", to_string(s.pp), reason("smallest depth that fits in memory"), true); }
    }

    [[nodiscard]] char const* reason(char const* when_it_fits) const {
        if (partial_.dp) { return "follows from the given dp"; }
        return fits_ ? when_it_fits : "every degree that was tried needs more memory";
    }

    void smallest_that_fits() {
        auto& s = strategy();
        bool const cuts = model_.operators.empty() && framework_.tensor_parallel; // a list is not cut
        int const widest = cuts ? cluster_.accelerators_per_node : 1;
        int const deepest = framework_.pipeline ? std::max(1, model_.layers) : s.pp;
        for (int pp = s.pp; pp <= deepest; ++pp) {
            if (partial_.pp && pp != *partial_.pp) { break; }
            if (pp > 1 && partial_.zero.value_or(0) > framework_.pipeline_zero) { break; }
            if (workers_ % pp != 0 && !partial_.pp) { continue; }
            for (int tp = s.tp; tp <= std::max(s.tp, widest); tp *= 2) {
                if (partial_.tp && tp != *partial_.tp) { break; }
                std::int64_t const inside = std::int64_t{tp} * pp * s.cp;
                if (inside > workers_ || workers_ % inside != 0 || model_.heads % tp != 0) { continue; }
                Strategy trial = s;
                trial.tp = tp;
                trial.pp = pp;
                trial.dp = static_cast<int>(workers_ / inside);
                if (workload_.global_batch % trial.dp != 0) { continue; }
                if (!partial_.ep) { trial.ep = expert_ranks(trial); }
                trial.etp = partial_.etp.value_or(trial.ep == 1 ? trial.tp : 1);
                if (pp > 1 && !partial_.zero) { trial.zero = std::min(trial.zero, 1); }
                trial.sequence_parallel = tp > 1 && partial_.sequence_parallel.value_or(framework_.sequence_parallel);
                if (!recompute_) { trial.recompute = Recompute::full; }
                if (fits(trial)) {
                    s.tp = tp;
                    s.pp = pp;
                    fits_ = true;
                    return;
                }
            }
        }
    }

    /// Ranks of the shard group that was asked for.
    [[nodiscard]] int shard_of(Strategy const& s, int otherwise) const {
        return shard_group_ranks(partial_.shard.value_or(otherwise), s, cluster_.accelerators_per_node);
    }

    /// Experts are spread as far as they go inside the scale-up domain, and further only when they do not fit.
    [[nodiscard]] int expert_ranks(Strategy const& s) const {
        auto const& moe = model_.moe;
        if (moe.experts == 0 || !framework_.expert_parallel) { return 1; }
        // a worker of local updates holds all experts
        std::int64_t const data = s.local_steps > 1 ? std::int64_t{shard_of(s, 1)} : std::int64_t{s.dp} * s.cp;
        std::int64_t const ranks = std::max<std::int64_t>(1, data) * s.tp;
        int best = 1;
        for (int ep = 1; ep <= moe.experts && ep <= ranks; ++ep) {
            if (moe.experts % ep != 0 || ranks % ep != 0) { continue; }
            Strategy smaller = s;
            smaller.ep = best;
            if (ep > cluster_.domain && fits(smaller)) { break; }
            best = ep;
        }
        return best;
    }

    void experts() {
        auto& s = strategy();
        if (model_.moe.experts == 0) { return; }
        if (!partial_.ep) {
            s.ep = expert_ranks(s);
            note("ep", to_string(s.ep),
                 framework_.expert_parallel
                     ? "experts are spread inside the scale-up domain, further if memory requires it"
                     : framework_.name + " does not spread experts",
                 framework_.expert_parallel);
        }
        if (!partial_.etp) {
            s.etp = s.ep == 1 ? s.tp : 1;
            if (s.tp > 1) { note("etp", to_string(s.etp), "experts that are spread over ranks are not split"); }
        }
    }

    /// Whether a requested method needs gradients that are not sharded. Source: legality.hpp
    [[nodiscard]] bool needs_whole_gradients() const {
        return partial_.compression.value_or(GradientCompression{}).kind != Compression::none ||
               partial_.servers.value_or(0) > 0 || (partial_.local_steps.value_or(1) > 1 && !partial_.shard);
    }

    void sharding() {
        auto& s = strategy();
        if (!partial_.zero) {
            if (s.pp > 1) { s.zero = std::min(s.zero, 1); }
            note("zero", to_string(s.zero),
                 needs_whole_gradients() ? "compression, servers and local steps need unsharded gradients"
                                         : "default of " + framework_.name);
        } else if (s.zero != *partial_.zero) {
            note("zero", to_string(s.zero),
                 "the bf16 optimizer of " + framework_.name + " shards its state without ZeRO");
        }
        s.shard = shard_of(s, 0);
        s.sequence_parallel = partial_.sequence_parallel.value_or(s.tp > 1 && framework_.sequence_parallel);
        if (!partial_.sequence_parallel && s.tp > 1) {
            note("sequence_parallel", s.sequence_parallel ? "on" : "off", "default of " + framework_.name);
        }
    }

    /// From the accumulation steps, else 1 with a pipeline, else the largest that fits.
    void micro_batch() {
        auto& s = strategy();
        int const per_replica = workload_.global_batch / s.dp;
        if (partial_.micro_batch) {
            s.micro_batch = *partial_.micro_batch;
            return;
        }
        if (partial_.grad_accum && *partial_.grad_accum > 0 && per_replica % *partial_.grad_accum == 0) {
            s.micro_batch = per_replica / *partial_.grad_accum;
            note("micro_batch", to_string(s.micro_batch), "batch / (dp x accumulation steps)");
            return;
        }
        if (s.pp > 1) {
            s.micro_batch = 1;
            note("micro_batch", "1", "the smallest keeps the pipeline full", true);
            return;
        }
        s.micro_batch = per_replica;
        while (s.micro_batch > 1 && !fits(s)) { s.micro_batch = largest_divisor_below(per_replica, s.micro_batch); }
        note("micro_batch", to_string(s.micro_batch), "the largest share of the replica's batch that fits", true);
    }

    static int largest_divisor_below(int whole, int bound) {
        int best = 1;
        for (int small = 1; small <= whole / small; ++small) { // divisors come in pairs around the square root
            if (whole % small != 0) { continue; }
            for (int const candidate : {small, whole / small}) {
                if (candidate < bound) { best = std::max(best, candidate); }
            }
        }
        return best;
    }

    void recomputation() {
        auto& s = strategy();
        if (partial_.recompute) { return; }
        if (recompute_) {
            note("recompute", std::string{name_of(s.recompute)},
                 recompute_ == framework_.recompute ? "default of " + framework_.name
                                                    : "follows from the given recompute_layers",
                 true);
            return;
        }
        for (Recompute const candidate : recomputations) {
            s.recompute = candidate;
            if (fits(s)) { break; }
        }
        note("recompute", std::string{name_of(s.recompute)}, "the least recomputation that fits in memory", true);
    }

    /// Whether the requested schedule needs a pipeline.
    [[nodiscard]] bool asks_schedule() const {
        return partial_.pipeline.value_or(PipelineSchedule::one_f_one_b) != PipelineSchedule::one_f_one_b;
    }

    /// Sets the chunks a stage: the number that a requested schedule needs; else as many as the layers of a stage
    /// allow, if the framework interleaves and the stages divide the micro-batches.
    void interleaving() {
        auto& s = strategy();
        s.virtual_pp = partial_.virtual_pp.value_or(1);
        if (partial_.pipeline) {
            set_schedule(s, *partial_.pipeline, model_);
            bool const took = s.virtual_pp > 1 && !partial_.virtual_pp;
            if (took) { note("virtual_pp", to_string(s.virtual_pp), "the fewest chunks that interleave", true); }
            return;
        }
        if (partial_.virtual_pp) { return; }
        int const micro_batches = whole_micro_batches(s, workload_);
        if (s.pp > 1 && framework_.interleaves && micro_batches % s.pp == 0) {
            int const per_stage = (model_.layers + s.pp - 1) / s.pp; // of the fullest stage
            int v = std::clamp(per_stage, 1, most_assumed_chunks);
            while (!rules::chunks(v, s.pp, model_)) { --v; }
            s.virtual_pp = v;
        }
        if (s.pp < 2) { return; }
        if (framework_.never_interleaves) {
            note("virtual_pp", "1", "the pipeline of " + framework_.name + " does not interleave");
        } else {
            note("virtual_pp", to_string(s.virtual_pp), "default of " + framework_.name, true);
        }
    }

    [[nodiscard]] bool fits(Strategy const& candidate) const {
        static constexpr Calibration unused{}; // memory does not depend on time constants
        StepSetting const setting{model_, cluster_, framework_, unused, workload_};
        auto const use = memory_use(setting, candidate);
        return use.total() <= usable_memory(cluster_.accelerator, use);
    }

    PartialStrategy const& partial_;
    Model const& model_;
    Cluster const& cluster_;
    Framework const& framework_;
    Workload const& workload_;
    int workers_;
    std::optional<Recompute> recompute_; ///< given or usual; empty: the least that fits
    bool fits_ = false;
    AssumedStrategy result_;
};

void require_degree(std::optional<int> const& value, char const* name, int least = 1) {
    if (value && (*value < least || *value > largest_degree)) {
        throw InputError{Fault::usage,
                         {.where = name,
                          .problem = to_string(*value) + " is out of range",
                          .why = "it must be from " + to_string(least) + " to " + to_string(largest_degree)}};
    }
}

void require_workload(Workload const& workload) {
    if (workload.global_batch < 1) {
        throw InputError{Fault::usage,
                         {.where = "global batch",
                          .problem = "must be at least 1 sequence, not " + to_string(workload.global_batch)}};
    }
    if (workload.sequence_length < 1) {
        throw InputError{Fault::usage,
                         {.where = "sequence length",
                          .problem = "must be at least 1 token, not " + to_string(workload.sequence_length)}};
    }
}

} // namespace

AssumedStrategy assume(PartialStrategy const& partial, Model const& model, Cluster const& cluster,
                       Framework const& framework, Workload const& workload, int workers) {
    require_workload(workload);
    require_degree(partial.dp, "dp");
    require_degree(partial.tp, "tp");
    require_degree(partial.pp, "pp");
    require_degree(partial.cp, "cp");
    require_degree(partial.ep, "ep");
    require_degree(partial.etp, "etp");
    require_degree(partial.recompute_layers, "recompute_layers", 0);
    require_degree(partial.trained_layers, "trained_layers", 0);
    require_degree(partial.adapter_rank, "adapter_rank");
    require_degree(partial.local_steps, "local_steps");
    require_degree(partial.servers, "servers", 0);
    require_degree(partial.virtual_pp, "virtual_pp");
    require_degree(partial.micro_batch, "micro_batch");
    require_degree(partial.grad_accum, "grad_accum");
    require_degree(partial.shard, "shard", shard_in_replica);
    require_degree(partial.zero, "zero", 0);
    require_degree(workers, "workers");
    if (std::string fault = contradiction_of(partial); !fault.empty()) {
        throw InputError{Fault::usage,
                         {.where = "schedule",
                          .problem = std::move(fault),
                          .why = {},
                          .hint = "leave virtual_pp out, or change one of them"}};
    }
    if (partial.zero.value_or(0) > 3) {
        throw InputError{Fault::usage,
                         {.where = "zero", .problem = "ZeRO has stages 0 to 3, not " + to_string(*partial.zero)}};
    }
    return Filler{partial, model, cluster, framework, workload, workers}.fill();
}

std::optional<int> running_zero(PartialStrategy const& stated, Framework const& framework) {
    bool const bf16 = stated.precision.value_or(framework.precision) == Precision::bf16;
    return stated.zero == 0 && bf16 && framework.bf16_gradient_bytes ? 1 : stated.zero;
}

std::string likely_framework(Model const& model, Cluster const& cluster, PartialStrategy const& given,
                             std::optional<int> year) {
    Generation const generation = cluster.accelerator.generation;
    std::string_view const chip = name_of(generation), links = cluster.scale_up_name;
    bool const consumer = generation == Generation::ada_consumer || generation == Generation::blackwell_consumer;
    bool const cards = consumer || links.starts_with("pcie") || links.ends_with("-bridge");
    bool const splits = given.tp.value_or(1) > 1 || given.pp.value_or(1) > 1 || given.ep.value_or(1) > 1;
    bool const lora = given.trained == Trained::lora, sharded = given.zero == 3;
    if (chip.starts_with("tpu")) { return "maxtext"; }
    if (chip.starts_with("gaudi")) { return "optimum-habana"; }
    if (chip.starts_with("trainium")) { return "neuronx-distributed"; }
    if (!splits && (lora || cards || !model.is_decoder())) {
        return sharded ? "hf-fsdp" : lora ? "hf-trainer" : "pytorch";
    }
    if (sharded || (!splits && given.compiled)) {
        // 32-bit weights, gradients and moments of Adam
        constexpr double state_bytes = 16.0, left_for_activations = 0.25;
        Bytes const state{state_bytes * count_parameters(model).total};
        bool const fits_whole = state <= (1.0 - left_for_activations) * cluster.accelerator.memory;
        return sharded || !fits_whole ? "pytorch-fsdp" : "pytorch";
    }
    bool const volta = generation == Generation::volta || generation == Generation::turing;
    bool const early = generation == Generation::ampere && year.value_or(fused_attention_year) < fused_attention_year;
    return volta || early ? "megatron-2021" : "megatron-core";
}

} // namespace headroom::training
