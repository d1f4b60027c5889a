#include "vector/targets.hpp"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace headroom::probe {

#if HWY_ARCH_X86
namespace {

/// Sets that compilers have no word for.
struct MoreSets {
    bool lzcnt = false, f16c = false, vaes = false;
};

MoreSets more_sets() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    auto const bit = [&c](unsigned number) { return (c >> number & 1U) != 0; };
    MoreSets more;
    more.f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && bit(29);
    more.lzcnt = __get_cpuid(0x80000001U, &a, &b, &c, &d) != 0 && bit(5);
    more.vaes = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && bit(9);
    return more;
}

} // namespace

// The compiler's question also asks whether the system keeps such registers.
std::int64_t supported_targets() {
    __builtin_cpu_init();
    MoreSets const more = more_sets();
    std::int64_t targets = HWY_SCALAR | HWY_EMU128;
    if (!__builtin_cpu_supports("ssse3")) { return targets; }
    targets |= HWY_SSSE3;
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("aes") || !__builtin_cpu_supports("pclmul")) {
        return targets;
    }
    targets |= HWY_SSE4;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !more.lzcnt || !more.f16c) {
        return targets;
    }
    targets |= HWY_AVX2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw")) {
        return targets;
    }
    targets |= HWY_AVX3;
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("vpclmulqdq") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
        __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bitalg") && more.vaes) {
        targets |= HWY_AVX3_DL;
    }
    return targets;
}
#else
std::int64_t supported_targets() { return hwy::SupportedTargets(); }
#endif

hwy::ChosenTarget& chosen_target() {
    static hwy::ChosenTarget chosen;
    static bool const first = [] { return chosen.Update(supported_targets()), true; }();
    static_cast<void>(first);
    return chosen;
}

void allow_targets(std::int64_t targets) { chosen_target().Update(targets != 0 ? targets : supported_targets()); }

} // namespace headroom::probe
