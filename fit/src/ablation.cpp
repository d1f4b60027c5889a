#include "headroom/fit/ablation.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::fit {
namespace {

using enum Constant;

constexpr double nothing = 1e-9; // constants are positive: their logarithms are fitted

// ---- questions without an element ---------------------------------------------------------------------------------

void without_recomputation(Question& q) {
    q.strategy.recompute = Recompute::none;
    q.strategy.recompute_layers = 0;
}

/// A stage on its own: its share of the blocks, with both ends of the model.
void without_pipeline(Question& q) {
    auto& s = q.strategy;
    if (s.pp == 1) { return; }
    q.model.layers = std::max(1, q.model.layers / s.pp);
    s.pp = s.virtual_pp = 1;
    s.pipeline = PipelineSchedule::one_f_one_b;
}

void without_interleaving(Question& q) { q.strategy.virtual_pp = 1; }

/// One replica with its share of the batch.
void without_data_parallel(Question& q) {
    auto& s = q.strategy;
    if (q.model.moe.experts > 0) { return; } // experts are spread over these ranks
    q.workload.global_batch = std::max(1, q.workload.global_batch / s.dp);
    s.dp = 1;
    s.zero = s.shard = 0;
}

void without_fused_attention(Question& q) { q.framework.attention = AttentionKernel::unfused; }
void with_one_attention_kernel(Question& q) {
    if (q.framework.attention != AttentionKernel::unfused) { q.framework.attention = AttentionKernel::flash3; }
}
void with_fused_attention_alone(Question& q) { q.framework.attention = AttentionKernel::flash3; }
void in_16_bits(Question& q) {
    if (q.strategy.precision != Precision::fp32 && q.strategy.precision != Precision::tf32) {
        bool const has_bf16 = q.cluster.accelerator.peak.bf16.base() > 0.0;
        q.strategy.precision = has_bf16 ? Precision::bf16 : Precision::fp16;
    }
}
void without_waves(Question& q) { q.cluster.accelerator.units = 0; }
void without_output_projection(Question& q) { q.model.vocab = 1; }
void with_one_link(Question& q) { q.cluster.scale_out.bandwidth = q.cluster.scale_up.bandwidth; }

/// The runs of the fit as another model asks them.
std::vector<PublishedRun> asked(std::span<PublishedRun const> runs, void (*change)(Question&)) {
    std::vector<PublishedRun> kept;
    std::ranges::copy_if(runs, std::back_inserter(kept),
                         [](PublishedRun const& run) { return run.question && !run.question->framework.paced; });
    if (change != nullptr) {
        for (PublishedRun& run : kept) { change(*run.question); }
    }
    return kept;
}

ErrorSummary of_kind(Validation const& validation, std::string_view kind) {
    auto const found = std::ranges::find_if(
        validation.groups, [kind](ErrorGroup const& group) { return group.by == "kind" && group.name == kind; });
    return found == validation.groups.end() ? ErrorSummary{} : found->summary;
}

} // namespace

std::vector<Ablation> ablations() {
    return {
        {"whole model", "-"},
        {"recomputation", "no work is done again", without_recomputation},
        {"pipeline", "a stage on its own: no waits, no transfers", without_pipeline},
        {"interleaving", "one chunk a stage", without_interleaving},
        {"data-parallel traffic", "one replica with its share of the batch", without_data_parallel},
        {"tensor-parallel traffic",
         "all of it hidden",
         nullptr,
         {{tensor_exposed, nothing}, {tensor_exposed_old, nothing}}},
        {"output projection", "a vocabulary of one token", without_output_projection},
        {"unfused attention", "every stack has the best fused kernel", with_fused_attention_alone},
        {"fused attention", "every stack multiplies whole scores", without_fused_attention},
        {"generations of fused kernels", "one kernel for all stacks", with_one_attention_kernel},
        {"attention rises with length", "its asymptote at any length", nullptr, {{attention_half_length, nothing}}},
        {"small heads, backward pass of attention",
         "rate of the forward pass, of any head",
         nullptr,
         {{attention_small_head, 1.0}, {attention_backward, 1.0}}},
        {"heads of odd width", "as aligned ones", nullptr, {{misaligned_head, 1.0}}},
        {"formats of 8 and 4 bits", "all products in 16 bits", in_16_bits},
        {"rates by generation",
         "one fraction of the peak for all data-centre GPUs",
         nullptr,
         {{gemm_volta, 0.7},
          {gemm_ampere, 0.7},
          {gemm_ada, 0.7},
          {gemm_hopper, 0.7},
          {gemm_blackwell, 0.7},
          {gemm_blackwell_ultra, 0.7}}},
        {"tiles and waves", "operations over rate", without_waves},
        {"start-up of a tile", "none", nullptr, {{gemm_prologue, nothing}}},
        {"element-wise traffic",
         "none",
         nullptr,
         {{bytes_hidden, nothing}, {bytes_sharded, nothing}, {bytes_ffn, nothing}}},
        {"conversions to 8 bits", "none", nullptr, {{cast_bytes, nothing}}},
        {"loss", "no traffic of logits", nullptr, {{bytes_logit, nothing}}},
        {"host",
         "kernels are issued in no time",
         nullptr,
         {{host_eager, nothing}, {host_modern, nothing}, {host_experts, nothing}}},
        {"gaps between kernels", "none", nullptr, {{kernel_gap, nothing}}},
        {"kernels slowed by traffic",
         "not slowed",
         nullptr,
         {{gradients_exposed, nothing}, {shard_overlap_loss, nothing}}},
        {"two kinds of links", "the network as fast as the links inside a node", with_one_link},
        {"adding gradients up", "none", nullptr, {{accumulate_bytes, nothing}}},
        {"update", "none", nullptr, {{optimizer_traffic, nothing}}},
        {"fixed time of a step", "none", nullptr, {{step_overhead, nothing}}},
        {"slower with more nodes", "not slower", nullptr, {{straggler, nothing}}},
        {"products of experts", "as fast as one product", nullptr, {{grouped_gemm, 1.0}}},
        {"sorting of tokens", "none", nullptr, {{routing_bytes, nothing}}},
        {"exchange of tokens", "all of it hidden", nullptr, {{experts_exposed, nothing}}},
    };
}

AblationResult without_element(Ablation const& ablation, std::span<PublishedRun const> runs,
                               CalibrationSet const& independent, FitSettings const& settings) {
    CalibrationSet start = independent;
    for (auto const& [id, value] : ablation.held) {
        auto& constant = start.constant[static_cast<std::size_t>(id)];
        constant.value = constant.independent = value;
        constant.spread = 0.0;
    }
    auto const changed = asked(runs, ablation.change);
    // errors to a tenth of a percent need no constants to the ninth digit
    FitSettings whole = settings, fold = settings;
    whole.iterations = 8;
    fold.iterations = 6;
    fold.by_mixture = false;
    auto const set = fit_training(changed, start, whole);
    auto const folds = leave_one_source_out(changed, set, start, fold);
    auto const in_sample = validate(changed, set), left_out = validate_left_out(changed, set, folds);
    auto const free = std::ranges::count_if(start.constant, [](auto const& one) { return one.spread > 0.0; });
    return {.name = ablation.name,
            .instead = ablation.instead,
            .free_constants = static_cast<int>(free),
            .dense = of_kind(in_sample, "dense"),
            .dense_left_out = of_kind(left_out, "dense"),
            .mixtures = of_kind(in_sample, "moe"),
            .mixtures_left_out = of_kind(left_out, "moe")};
}

} // namespace headroom::fit
