#pragma once

// What a step program asks for, summed up operation by operation: the reference that closed forms are compared with.

#include "headroom/collective.hpp"
#include "headroom/operation.hpp"

namespace headroom::counting {

inline bool is_product(Operation const& operation) {
    return operation.kind == OperationKind::gemm || operation.kind == OperationKind::grouped_gemm;
}
inline bool is_core(Operation const& operation) {
    return operation.kind == OperationKind::attention || operation.kind == OperationKind::unfused_attention;
}

/// Operations of matrix products.
inline double product_flops(LayerProgram const& program, Phase phase) {
    double sum = 0.0;
    for (auto const& o : program.operations()) {
        if (is_product(o) && o.phase == phase) { sum += 2.0 * o.m * o.n * o.k * o.times; }
    }
    return sum;
}

/// Operations of attention cores: scores and context for every key that a query sees.
inline double core_flops(LayerProgram const& program, Phase phase) {
    double sum = 0.0;
    for (auto const& o : program.operations()) {
        if (is_core(o) && o.phase == phase) { sum += 4.0 * o.m * o.n * o.keys * o.d * o.times; }
    }
    return sum;
}

/// Share of a collective's vector that one rank puts on the wire, by ring formulas.
inline double sent_share(Collective collective, Ranks ranks) {
    double const p = ranks.count();
    if (collective == Collective::all_reduce) { return 2.0 * (p - 1.0) / p; }
    return collective == Collective::point_to_point ? 1.0 : (p - 1.0) / p;
}

/// Bytes that one rank puts on the wire for one kind of traffic.
inline double wire_bytes(LayerProgram const& program, Phase phase, Traffic traffic, Ranks ranks) {
    double sum = 0.0;
    for (auto const& o : program.operations()) {
        if (o.phase != phase || o.traffic != traffic) { continue; }
        if (o.kind == OperationKind::collective) {
            sum += sent_share(o.collective, ranks) * o.bytes.base() * o.times;
        } else if (o.kind == OperationKind::exchange) { // m tokens of so many bytes to n experts
            sum += sent_share(Collective::all_to_all, ranks) * o.bytes.base() * o.m * o.n;
        }
    }
    return sum;
}

/// A count of one layer's program, over all blocks of one micro-batch.
template <class Count> double over_blocks(StepProgram const& program, Count count) {
    double sum = 0.0;
    for (auto const& run : program.blocks) { sum += run.count * count(run.program); }
    return sum;
}

/// The same with the ends of the model and the blocks that predict later tokens.
template <class Count> double over_model(StepProgram const& program, Count count) {
    double sum = over_blocks(program, count) + program.heads_run * count(program.head) + count(program.embedding);
    for (auto const& run : program.prediction) { sum += run.count * count(run.program); }
    return sum;
}

} // namespace headroom::counting
