#include "headroom/fit/ablation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

namespace headroom::fit {

using namespace headroom::training;

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

/// Absolute errors of runs, summed.
struct Errors {
    int runs = 0;
    AblationResult::Means fitted, left_out;
    void add(Errors const& one) {
        runs += one.runs;
        fitted.whole += one.fitted.whole, fitted.without += one.fitted.without;
        left_out.whole += one.left_out.whole, left_out.without += one.left_out.without;
    }
};

/// Errors of a run that counts and is predicted by all four models.
std::optional<Errors> errors_at(std::size_t row, FittedModel const& model, FittedModel const& whole) {
    auto const &fitted = whole.fitted.rows.at(row), &left_out = whole.left_out.rows.at(row);
    auto const &without = model.fitted.rows.at(row), &left_out_without = model.left_out.rows.at(row);
    for (auto const* one : {&fitted, &left_out, &without, &left_out_without}) {
        if (!one->relative_error || !one->run->counts()) { return std::nullopt; }
    }
    return Errors{1,
                  {std::abs(*fitted.relative_error), std::abs(*without.relative_error)},
                  {std::abs(*left_out.relative_error), std::abs(*left_out_without.relative_error)}};
}

void add_moved(AblationResult& result, Ablation const& ablation, FittedModel const& model, FittedModel const& whole) {
    auto const alone = validate(model.runs, holding(whole.set, ablation)); // nothing else makes up for it
    Errors all;
    std::map<std::string_view, Errors> by_source;
    for (std::size_t i = 0; i < alone.rows.size(); ++i) {
        auto const errors = errors_at(i, model, whole);
        if (!errors || !alone.rows[i].relative_error) { continue; }
        double const with = 1.0 + *whole.fitted.rows[i].relative_error, out = 1.0 + *alone.rows[i].relative_error;
        if (std::abs(out - with) <= moved_by * with) { continue; }
        all.add(*errors);
        by_source[alone.rows[i].run->source].add(*errors);
    }
    for (auto const& [source, errors] : by_source) {
        double const worse = (errors.left_out.without - errors.left_out.whole) / errors.runs;
        result.sources_worse += worse > 1e-3 ? 1 : 0, result.sources_better += worse < -1e-3 ? 1 : 0;
    }
    result.moved = all.runs;
    if (all.runs == 0) { return; }
    auto const mean = [&all](AblationResult::Means const& sum) {
        return AblationResult::Means{sum.whole / all.runs, sum.without / all.runs};
    };
    result.moved_fitted = mean(all.fitted), result.moved_left_out = mean(all.left_out);
}

ErrorSummary of_kind(Validation const& validation, std::string_view kind) {
    auto const found = std::ranges::find_if(
        validation.groups, [kind](ErrorGroup const& group) { return group.by == "kind" && group.name == kind; });
    return found == validation.groups.end() ? ErrorSummary{} : found->summary;
}

} // namespace

CalibrationSet holding(CalibrationSet set, Ablation const& ablation) {
    for (auto const& [id, value] : ablation.held) {
        set[id].value = set[id].independent = value;
        set[id].spread = 0.0;
    }
    return set;
}

std::vector<Ablation> ablations() {
    return {
        {"whole model", "-"},
        {"recomputation", "no work is done again", without_recomputation},
        {"pipeline", "a stage on its own: no waits, no transfers", without_pipeline},
        {"interleaving", "one chunk a stage", without_interleaving},
        {"data-parallel traffic", "one replica with its share of the batch", without_data_parallel},
        {"tensor-parallel traffic", "all of it hidden", nullptr, {{tensor_exposed, nothing}}},
        {"output projection", "a vocabulary of one token", without_output_projection},
        {"unfused attention", "every framework has the best fused kernel", with_fused_attention_alone},
        {"fused attention", "every framework multiplies whole scores", without_fused_attention},
        {"generations of fused kernels", "one kernel for all frameworks", with_one_attention_kernel},
        {"attention rises with length", "its asymptote at any length", nullptr, {{attention_half_length, nothing}}},
        {"small heads, backward pass of attention",
         "rate of the forward pass, of any head",
         nullptr,
         {{attention_small_head, 1.0}, {attention_backward, 1.0}}},
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
        {"element-wise traffic", "none", nullptr, {{bytes_elementwise, nothing}}},
        {"loss", "no traffic of logits", nullptr, {{bytes_logit, nothing}}},
        {"host",
         "kernels are issued in no time",
         nullptr,
         {{host_eager, nothing}, {host_modern, nothing}, {host_experts, nothing}}},
        {"kernels slowed by traffic",
         "not slowed",
         nullptr,
         {{gradients_exposed, nothing}, {shard_overlap_loss, nothing}}},
        {"two kinds of links", "the network as fast as the links inside a node", with_one_link},
        {"adding gradients up", "none", nullptr, {{accumulate_bytes, nothing}}},
        {"update", "none", nullptr, {{optimizer_traffic, nothing}}},
        {"fixed time of a step", "none", nullptr, {{step_overhead, nothing}}},
        {"products of experts", "as fast as one product", nullptr, {{grouped_gemm, 1.0}}},
        {"exchange of tokens", "all of it hidden", nullptr, {{experts_exposed, nothing}}},
    };
}

FittedModel fitted_without(Ablation const& ablation, std::span<PublishedRun const> runs,
                           CalibrationSet const& independent, FitSettings const& settings) {
    auto const start = holding(independent, ablation);
    // errors to a tenth of a percent need no constants to the ninth digit; far from the least a wide difference finds the way
    FitSettings whole = settings, fold = settings;
    whole.iterations = 20, fold.iterations = 8;
    whole.step = fold.step = 0.03;
    fold.by_mixture = false;
    FittedModel model{.runs = asked(runs, ablation.change), .set = {}, .fitted = {}, .left_out = {}};
    model.set = fit_training(model.runs, start, whole);
    auto const folds = leave_one_source_out(model.runs, model.set, start, fold);
    model.fitted = validate(model.runs, model.set);
    model.left_out = validate_left_out(model.runs, model.set, folds);
    return model;
}

AblationResult without_element(Ablation const& ablation, FittedModel const& whole, std::span<PublishedRun const> runs,
                               CalibrationSet const& independent, FitSettings const& settings) {
    bool const nothing_out = ablation.change == nullptr && ablation.held.empty();
    auto const own = nothing_out ? std::optional<FittedModel>{}
                                 : std::optional{fitted_without(ablation, runs, independent, settings)};
    FittedModel const& model = own ? *own : whole;
    AblationResult result{.name = ablation.name,
                          .instead = ablation.instead,
                          .dense = of_kind(model.fitted, "dense"),
                          .dense_left_out = of_kind(model.left_out, "dense"),
                          .mixtures = of_kind(model.fitted, "moe"),
                          .mixtures_left_out = of_kind(model.left_out, "moe")};
    add_moved(result, ablation, model, whole);
    return result;
}

} // namespace headroom::fit
