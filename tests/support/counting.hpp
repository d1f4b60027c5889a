#pragma once

// Totals of a step program, summed operation by operation: the reference that closed forms are compared with.

#include "headroom/network/collective.hpp"
#include "headroom/training/operation.hpp"

namespace headroom::counting {

inline bool is_product(training::Operation const& operation) {
    return operation.kind == training::OperationKind::gemm || operation.kind == training::OperationKind::grouped_gemm;
}
inline bool is_core(training::Operation const& operation) {
    return operation.kind == training::OperationKind::attention ||
           operation.kind == training::OperationKind::unfused_attention;
}

/// Operations of matrix products with the model's own weights, or with LoRA matrices.
inline double product_flops(training::LayerProgram const& program, training::Phase phase, bool lora = false) {
    double sum = 0.0;
    for (auto const& o : program.operations()) {
        bool const counts = is_product(o) && o.phase == phase && (o.name == "lora") == lora;
        if (counts) { sum += 2.0 * o.m * o.n * o.k * o.times; }
    }
    return sum;
}

/// Operations of attention cores: scores and context for every key that a query sees.
inline double core_flops(training::LayerProgram const& program, training::Phase phase) {
    double sum = 0.0;
    for (auto const& o : program.operations()) {
        if (is_core(o) && o.phase == phase) { sum += 4.0 * o.m * o.n * o.keys * o.d * o.times; }
    }
    return sum;
}

/// Share of a collective's vector that one rank puts on the wire, by ring formulas.
inline double sent_share(network::Collective collective, Ranks ranks) {
    double const p = ranks.count();
    if (collective == network::Collective::all_reduce) { return 2.0 * (p - 1.0) / p; }
    return collective == network::Collective::point_to_point ? 1.0 : (p - 1.0) / p;
}

/// Bytes that one rank puts on the wire for one kind of traffic.
inline double wire_bytes(training::LayerProgram const& program, training::Phase phase, training::Traffic traffic,
                         Ranks ranks) {
    double sum = 0.0;
    for (auto const& o : program.operations()) {
        if (o.phase != phase || o.traffic != traffic) { continue; }
        if (o.kind == training::OperationKind::collective) {
            sum += sent_share(o.collective, ranks) * o.bytes.base() * o.times;
        } else if (o.kind == training::OperationKind::exchange) { // m tokens of so many bytes to n experts
            sum += sent_share(network::Collective::all_to_all, ranks) * o.bytes.base() * o.m * o.n;
        }
    }
    return sum;
}

/// A count of one layer's program, over all blocks of one micro-batch.
template <class Count> double over_blocks(training::StepProgram const& program, Count count) {
    double sum = 0.0;
    for (auto const& run : program.blocks) { sum += run.count * count(run.program); }
    return sum;
}

/// Total with the ends of the model and the multi-token-prediction blocks.
template <class Count> double over_model(training::StepProgram const& program, Count count) {
    double sum = over_blocks(program, count) + program.heads_run * count(program.head) + count(program.embedding);
    for (auto const& run : program.prediction) { sum += run.count * count(run.program); }
    return sum;
}

} // namespace headroom::counting
