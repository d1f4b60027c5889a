#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headroom::probe {

/// One way in which a core can do arithmetic as fast as it can: chains of multiply-adds that need no memory.
struct ArithmeticChain {
    std::string precision;       ///< "fp64", "fp32", "fp16", "bf16" (products, sums in fp32), "int8" (sums in int32)
    std::string instruction_set; ///< "SSE4", "AVX2", "AVX3" as Highway calls them, or the extension: "AVX512-BF16"
    std::string instruction;     ///< instructions that do the work, in words: "multiply-add, 16 lanes"
    double operations = 0.0;     ///< of one round on one thread: two for each lane's multiply-add
    /// Does so many rounds; the return value depends on every one of them. Below zero or not finite: it went wrong.
    double (*run)(std::uint64_t rounds) = nullptr;
};

/// Every chain that runs on this processor: each instruction set that Highway compiles for, then dot products of narrow
/// formats. Enough chains are interleaved that latency is hidden: 12 where there are 16 registers, else 24.
///
///     operations of a round = 2 x lanes x chains
///
/// Assumes:    a fused multiply-add counts two, as peaks of datasheets do; without one (SSE4) both are executed.
/// Source:     [Williams2009]
std::vector<ArithmeticChain> arithmetic_chains();

/// Units of this processor that no chain here drives, in words; their precisions may have higher peaks than are
/// measured: tiles (AMX), for one.
std::vector<std::string> undriven_units();

} // namespace headroom::probe
