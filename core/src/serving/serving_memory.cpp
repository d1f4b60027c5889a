#include "serving/serving_work.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>

namespace headroom::serving {

using namespace headroom::training;

namespace {

constexpr double sixteen_bits = 2.0;
/// Logits as they come, and the 32-bit copy that is sampled from.
constexpr double logit_bytes = 6.0;

/// Matrices in their format; norms, biases and tables of every block whole on every rank, in 16 bits.
double weight_bytes(Model const& model, Accelerator const& accelerator, Framework const& framework,
                    ServingPlan const& plan, ServedModel const& served) {
    auto const count = count_parameters(model);
    ServingPlan whole = plan;
    whole.tp = 1;
    double const all = count.total - count.embedding - count.head;
    double const matrices =
        plan.tp == 1 ? matrix_elements(served) : matrix_elements(served_model(model, accelerator, framework, whole));
    return stored_bytes(plan.weights) * matrix_elements(served) + sixteen_bits * std::max(0.0, all - matrices) +
           sixteen_bits * (count.embedding + count.head) / plan.tp;
}

/// The residual, the input of a product and its output, as wide as the widest block has; and what is sampled from.
double activation_bytes(Model const& model, ServedModel const& served, ServingPlan const& plan) {
    double const tokens = static_cast<double>(plan.most_sequences) + plan.prefill_chunk;
    double widest = 0.0;
    for (auto const& block : served.blocks) {
        for (auto const& o : block.linear) {
            bool const product = o.kind == OperationKind::gemm || o.kind == OperationKind::grouped_gemm;
            if (product) { widest = std::max(widest, o.m * o.times * (o.n + o.k)); }
        }
    }
    return tokens * sixteen_bits * (2.0 * model.hidden + widest) +
           logit_bytes * plan.most_sequences * served.vocabulary;
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
    memory.weights = Bytes{weight_bytes(model, cluster.accelerator, framework, plan, served)};
    memory.activations = Bytes{activation_bytes(model, served, plan)};
    for (auto const& block : served.blocks) {
        Bytes const token{block.count * block.cache_bytes};
        memory.cache_per_token += token;
        if (block.window > 0) { memory.window_per_token += token, memory.window = block.window; }
        memory.state_per_sequence += Bytes{block.count * block.state_bytes};
    }
    memory.capacity = cluster.accelerator.memory;
    memory.usable = memory.capacity * plan.memory_share;
    memory.cache = std::max(Bytes{}, memory.usable - memory.weights - memory.activations);
    // of scans alone: tokens are no measure, sequences are
    Bytes const least = memory.of_sequence(1.0);
    memory.fits = memory.cache >= least;
    if (memory.cache_per_token.base() > 0.0) { memory.cache_tokens = memory.cache / memory.cache_per_token; }
    return memory;
}

} // namespace headroom::serving
