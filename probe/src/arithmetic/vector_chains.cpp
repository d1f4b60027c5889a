// Multiply-adds of fp32 and fp64, compiled once for every instruction set that Highway knows on this architecture.

// SSE4 is below what these compilers take for granted nowhere, and is wanted all the same: what code without AVX gets.
#define HWY_WANT_SSE4 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arithmetic/vector_chains.cpp"
#include "arithmetic/chains.hpp"
#include "vector/targets.hpp"

#include <cstddef>
#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace headroom::probe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr std::size_t chains_of_target = 24; // 32 registers: two hold the constants
#else
constexpr std::size_t chains_of_target = 12; // 16 registers
#endif

/// x -> a x + b goes to b / (1 - a), so no value is ever subnormal or infinite. Every index is a constant: that keeps the
/// sums in registers.
template <class T, std::size_t... I> HWY_INLINE double run_chains(std::uint64_t rounds, std::index_sequence<I...>) {
    hn::ScalableTag<T> const d;
    using V = hn::Vec<decltype(d)>;
    V const factor = hn::Set(d, T(0.5)), term = hn::Set(d, T(0.75));
    V sums[] = {hn::Set(d, T(1) + T(I) / T(64))...};
    for (std::uint64_t round = 0; round < rounds; ++round) { ((sums[I] = hn::MulAdd(sums[I], factor, term)), ...); }
    V all = hn::Zero(d);
    ((all = hn::Add(all, sums[I])), ...);
    return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, all)));
}

double run_fp32(std::uint64_t rounds) {
    return run_chains<float>(rounds, std::make_index_sequence<chains_of_target>{});
}
double run_fp64(std::uint64_t rounds) {
#if HWY_HAVE_FLOAT64
    return run_chains<double>(rounds, std::make_index_sequence<chains_of_target>{});
#else
    return -1.0 - static_cast<double>(rounds);
#endif
}

ChainShape shape() { return {hn::Lanes(hn::ScalableTag<float>{}), chains_of_target, HWY_HAVE_FLOAT64 != 0}; }

} // namespace HWY_NAMESPACE
} // namespace headroom::probe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace headroom::probe {
namespace {

HEADROOM_VECTOR_FUNCTION(run_fp32);
HEADROOM_VECTOR_FUNCTION(run_fp64);
HEADROOM_VECTOR_FUNCTION(shape);

ArithmeticChain chain(char const* precision, std::int64_t target, std::size_t lanes, std::size_t chains) {
    ArithmeticChain one;
    one.precision = precision;
    one.instruction_set = hwy::TargetName(target);
    one.instruction = "multiply-add, " + std::to_string(lanes) + " lanes";
    one.operations = 2.0 * static_cast<double>(lanes * chains);
    return one;
}

} // namespace

/// Highway takes the best target it is allowed; each in turn is the only one.
void add_vector_chains(std::vector<ArithmeticChain>& chains) {
    std::int64_t const here = supported_targets() & HWY_TARGETS;
    for (std::int64_t left = here; left != 0; left &= left - 1) {
        std::int64_t const target = left & -left;
        if (target == HWY_EMU128 || target == HWY_SCALAR) { continue; } // whatever the compiler makes of it
        allow_targets(target);
        auto const of = HEADROOM_OF_TARGET(shape)();
        auto fp32 = chain("fp32", target, of.lanes, of.chains);
        fp32.run = &HEADROOM_OF_TARGET(run_fp32);
        chains.push_back(fp32);
        if (of.fp64) {
            auto fp64 = chain("fp64", target, of.lanes / 2, of.chains);
            fp64.run = &HEADROOM_OF_TARGET(run_fp64);
            chains.push_back(fp64);
        }
    }
    allow_targets(0);
}

} // namespace headroom::probe

#endif
