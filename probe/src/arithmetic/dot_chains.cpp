// Dot products of narrow formats, and fp16 arithmetic: extensions that Highway does not reach. Each function is compiled
// for its extension alone and listed where the processor and the system have it.

#include "arithmetic/chains.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HEADROOM_DOT_X86 1
#include <cpuid.h>
#include <immintrin.h>
#if (defined(__clang__) && __clang_major__ >= 16) || (!defined(__clang__) && __GNUC__ >= 12)
#define HEADROOM_DOT_FP16 1
#endif
#endif

namespace headroom::probe {

#ifdef HEADROOM_DOT_X86
namespace {

struct Extensions {
    bool avx512_bf16 = false, avx512_fp16 = false, avx512_vnni = false, avx_vnni = false;
    bool tiles = false; ///< AMX of any kind
};

/// The registers that the operating system saves: without that an instruction is no use, whatever the processor says.
unsigned long long saved_registers() {
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (static_cast<unsigned long long>(high) << 32) | low;
}

Extensions extensions() {
    constexpr unsigned long long avx_state = 0x6, avx512_state = 0xe6;
    unsigned a = 0, b = 0, c = 0, d = 0;
    Extensions found;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & (1U << 27)) == 0) { return found; } // no OSXSAVE
    unsigned long long const saved = saved_registers();
    bool const avx = (saved & avx_state) == avx_state, avx512 = (saved & avx512_state) == avx512_state;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) { return found; }
    bool const foundation = avx512 && (b & (1U << 16)) != 0 && (b & (1U << 30)) != 0; // F and BW
    found.avx512_vnni = foundation && (c & (1U << 11)) != 0;
    found.avx512_fp16 = foundation && (d & (1U << 23)) != 0;
    found.tiles = (d & (1U << 24)) != 0;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0) { return found; }
    found.avx512_bf16 = foundation && (a & (1U << 5)) != 0;
    found.avx_vnni = avx && (a & (1U << 4)) != 0;
    return found;
}

/// The first 32 bits of a register that was written to memory.
double first_of(void const* all) {
    std::uint32_t first = 0;
    std::memcpy(&first, all, sizeof first);
    return static_cast<double>(first);
}

template <std::size_t Count> using Chains = std::make_index_sequence<Count>;
constexpr std::size_t wide_chains = 24, narrow_chains = 12;

// A function is inlined into one of the same target alone: each loop is written out.
#define HEADROOM_TARGET(names) __attribute__((target(names), flatten))

template <std::size_t... I>
HEADROOM_TARGET("avx512f,avx512bw,avx512bf16")
double bf16_dot(std::uint64_t rounds, std::index_sequence<I...>) {
    __m512bh const left = (__m512bh)_mm512_set1_epi16(0x3f00);  // 0.5
    __m512bh const right = (__m512bh)_mm512_set1_epi16(0x3a00); // about 0.0005
    __m512 sums[] = {_mm512_set1_ps(1.0F + static_cast<float>(I))...};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        ((sums[I] = _mm512_dpbf16_ps(sums[I], left, right)), ...);
    }
    __m512 all = _mm512_setzero_ps();
    ((all = _mm512_add_ps(all, sums[I])), ...);
    float first = 0.0F;
    std::memcpy(&first, &all, sizeof first);
    return static_cast<double>(first);
}
double run_bf16_dot(std::uint64_t rounds) { return bf16_dot(rounds, Chains<wide_chains>{}); }

/// As an instruction: of the intrinsic g++ 12 makes one that keeps every sum in memory as well, four times slower.
HEADROOM_TARGET("avx512f,avx512bw,avx512vnni") inline void add_dot(__m512i& sum, __m512i left, __m512i right) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
}

/// Sums wrap around as two's complement does; only that they depend on every round matters.
template <std::size_t... I>
HEADROOM_TARGET("avx512f,avx512bw,avx512vnni")
double int8_dot(std::uint64_t rounds, std::index_sequence<I...>) {
    __m512i const left = _mm512_set1_epi8(3), right = _mm512_set1_epi8(1);
    __m512i sums[] = {_mm512_set1_epi32(static_cast<int>(I))...};
    for (std::uint64_t round = 0; round < rounds; ++round) { (add_dot(sums[I], left, right), ...); }
    __m512i all = _mm512_setzero_si512();
    ((all = _mm512_add_epi32(all, sums[I])), ...);
    return first_of(&all);
}
double run_int8_dot(std::uint64_t rounds) { return int8_dot(rounds, Chains<wide_chains>{}); }

HEADROOM_TARGET("avx2,avxvnni") inline void add_narrow_dot(__m256i& sum, __m256i left, __m256i right) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(left), "x"(right));
}

template <std::size_t... I>
HEADROOM_TARGET("avx2,avxvnni")
double int8_narrow_dot(std::uint64_t rounds, std::index_sequence<I...>) {
    __m256i const left = _mm256_set1_epi8(3), right = _mm256_set1_epi8(1);
    __m256i sums[] = {_mm256_set1_epi32(static_cast<int>(I))...};
    for (std::uint64_t round = 0; round < rounds; ++round) { (add_narrow_dot(sums[I], left, right), ...); }
    __m256i all = _mm256_setzero_si256();
    ((all = _mm256_add_epi32(all, sums[I])), ...);
    return first_of(&all);
}
double run_int8_narrow_dot(std::uint64_t rounds) { return int8_narrow_dot(rounds, Chains<narrow_chains>{}); }

#ifdef HEADROOM_DOT_FP16
template <std::size_t... I>
HEADROOM_TARGET("avx512f,avx512bw,avx512vl,avx512fp16")
double fp16_fma(std::uint64_t rounds, std::index_sequence<I...>) {
    __m512h const factor = _mm512_castsi512_ph(_mm512_set1_epi16(0x3800)); // 0.5
    __m512h const term = _mm512_castsi512_ph(_mm512_set1_epi16(0x3a00));   // 0.75
    __m512h sums[] = {_mm512_castsi512_ph(_mm512_set1_epi16(static_cast<short>(0x3c00 + I)))...};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        ((sums[I] = _mm512_fmadd_ph(sums[I], factor, term)), ...);
    }
    __m512i all = _mm512_setzero_si512();
    ((all = _mm512_add_epi32(all, _mm512_castph_si512(sums[I]))), ...);
    return first_of(&all);
}
double run_fp16_fma(std::uint64_t rounds) { return fp16_fma(rounds, Chains<wide_chains>{}); }
#endif

} // namespace

void add_dot_chains(std::vector<ArithmeticChain>& chains) {
    Extensions const here = extensions();
    constexpr double wide = 2.0 * wide_chains, narrow = 2.0 * narrow_chains;
#ifdef HEADROOM_DOT_FP16
    if (here.avx512_fp16) {
        chains.push_back({"fp16", "AVX512-FP16", "multiply-add, 32 lanes", 32 * wide, run_fp16_fma});
    }
#endif
    if (here.avx512_bf16) {
        chains.push_back({"bf16", "AVX512-BF16", "dot products of two, 16 sums in fp32", 32 * wide, run_bf16_dot});
    }
    if (here.avx_vnni) {
        chains.push_back(
            {"int8", "AVX-VNNI", "dot products of four, 8 sums in int32", 32 * narrow, run_int8_narrow_dot});
    }
    if (here.avx512_vnni) {
        chains.push_back({"int8", "AVX512-VNNI", "dot products of four, 16 sums in int32", 64 * wide, run_int8_dot});
    }
}

std::vector<std::string> undriven_units() {
    if (!extensions().tiles) { return {}; }
    return {"tiles (AMX): bf16 and int8 may be faster than the peaks measured here; a library's product shows it"};
}

#else

void add_dot_chains(std::vector<ArithmeticChain>&) {}

std::vector<std::string> undriven_units() {
    return {"dot products of bf16 and int8, and fp16 arithmetic: measured on x86-64 alone"};
}

#endif

std::vector<ArithmeticChain> arithmetic_chains() {
    std::vector<ArithmeticChain> chains;
    add_vector_chains(chains);
    add_dot_chains(chains);
    return chains;
}

} // namespace headroom::probe
