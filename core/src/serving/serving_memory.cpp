#include "serving/serving_work.hpp"

#include "headroom/quantity.hpp"
#include "headroom/training/memory.hpp"

#include <algorithm>

namespace headroom::serving {

using namespace headroom::training;

namespace {

constexpr double sixteen_bits = 2.0;
/// Logits as they come, and the 32-bit copy that is sampled from.
constexpr double logit_bytes = 6.0;

/// Matrices in their format; norms, biases and tables of every block whole on every rank, in 16 bits.
double all_weight_bytes(Model const& model, Accelerator const& accelerator, Framework const& framework,
                        ServingPlan const& plan, ServedModel const& served) {
    auto const count = count_parameters(model);
    ServingPlan whole = plan;
    whole.tp = whole.pp = 1;
    double const all = count.total - count.embedding - count.head;
    bool const one = plan.accelerators() == 1;
    double const matrices =
        one ? matrix_elements(served) : matrix_elements(served_model(model, accelerator, framework, whole));
    double const tables = plan.pp == 1 ? count.embedding + count.head : std::max(count.embedding, count.head);
    return weight_bytes(plan) * matrix_elements(served) / plan.pp +
           sixteen_bits * std::max(0.0, all - matrices) * stage_share(model, plan) + sixteen_bits * tables / plan.tp;
}

/// The residual, the input of a product and its output, as wide as the widest block has; and what is sampled from.
double activation_bytes(Model const& model, ServedModel const& served, ServingPlan const& plan) {
    double const verified = static_cast<double>(plan.lane_sequences()) * plan.speculation.verified();
    double const tokens = verified + plan.prefill_chunk;
    double widest = 0.0;
    for (auto const& block : served.blocks) {
        for (auto const& o : block.linear) {
            bool const product = o.kind == OperationKind::gemm || o.kind == OperationKind::grouped_gemm;
            if (product) { widest = std::max(widest, o.m * o.times * (o.n + o.k)); }
        }
    }
    return tokens * sixteen_bits * (2.0 * model.hidden + widest) + logit_bytes * verified * served.vocabulary;
}

/// Weights and cache of a draft model; its activations come when the model's are gone.
void add_draft(ServingMemory& memory, Cluster const& cluster, ServingPlan const& plan) {
    if (plan.speculation.draft_tokens == 0 || !plan.speculation.draft) { return; }
    ServingPlan drafting = plan;
    drafting.speculation = {}, drafting.pp = 1, drafting.kept = nullptr;
    auto const draft = serving_memory(*plan.speculation.draft, cluster, drafting);
    memory.weights += draft.weights;
    memory.cache_per_token += draft.cache_per_token;
    memory.window_per_token += draft.window_per_token;
    memory.state_per_sequence += draft.state_per_sequence;
}

} // namespace

Bytes ServingMemory::of_sequence(double tokens) const {
    double const seen = window > 0 ? std::min(tokens, static_cast<double>(window)) : tokens;
    return state_per_sequence + (cache_per_token - window_per_token) * tokens + window_per_token * seen;
}

ServingMemory serving_memory(Model const& model, Cluster const& cluster, ServingPlan const& plan) {
    Framework const framework; // says nothing about what is held
    auto const served = served_model(model, cluster.accelerator, framework, plan);
    ServingMemory memory;
    memory.weights = Bytes{all_weight_bytes(model, cluster.accelerator, framework, plan, served)};
    memory.activations = Bytes{activation_bytes(model, served, plan)};
    for (auto const& block : served.blocks) {
        Bytes const token{block.count * block.cache_bytes};
        memory.cache_per_token += token;
        if (block.window > 0) { memory.window_per_token += token, memory.window = block.window; }
        memory.state_per_sequence += Bytes{block.count * block.state_bytes};
    }
    add_draft(memory, cluster, plan);
    memory.capacity = cluster.accelerator.memory;
    memory.usable = memory.capacity * plan.memory_share;
    memory.runtime = runtime_of(cluster.accelerator);
    memory.cache = std::max(Bytes{}, memory.usable - memory.runtime - memory.weights - memory.activations);
    // of scans alone: tokens are no measure, sequences are
    Bytes const least = memory.of_sequence(1.0);
    memory.fits = memory.cache >= least;
    if (memory.cache_per_token.base() > 0.0) { memory.cache_tokens = memory.cache / memory.cache_per_token; }
    return memory;
}

} // namespace headroom::serving
