// Loops of STREAM and two more, compiled once for every instruction set that Highway knows on this architecture.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/stream_kernels.cpp"
#include "memory/stream_kernels.hpp"

#include "vector/targets.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headroom::probe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_FLOAT64
using Tag = hn::ScalableTag<double>;
using Vector = hn::Vec<Tag>;
/// Vectors a turn: a line of 64 bytes, or one vector. With two or four lines of each array a turn memory gives a tenth less
/// (Zen 4), and in a cache it is no faster.
constexpr std::size_t unroll = HWY_MAX_BYTES >= 64 ? 1 : 64 / HWY_MAX_BYTES;

/// c[i] = of(a[i], b[i]); the remainder by single elements, so that any length is right.
template <bool past_caches, class OfVectors, class OfOne>
HWY_INLINE void each(double* HWY_RESTRICT c, std::size_t size, OfVectors of_vectors, OfOne of_one) {
    Tag const d;
    std::size_t const lanes = hn::Lanes(d);
    auto const put = [&](Vector v, std::size_t i) HWY_ATTR {
        if constexpr (past_caches) {
            hn::Stream(v, d, c + i);
        } else {
            hn::Store(v, d, c + i);
        }
    };
    std::size_t i = 0;
    for (; i + unroll * lanes <= size; i += unroll * lanes) {
        for (std::size_t at = i; at < i + unroll * lanes; at += lanes) { put(of_vectors(at), at); }
    }
    for (; i < size; ++i) { c[i] = of_one(i); }
    if constexpr (past_caches) { hwy::FlushStream(); }
}

/// Eight sums at a time: an addition takes several cycles.
HWY_INLINE double sum_of(double const* HWY_RESTRICT a, std::size_t size) {
    Tag const d;
    std::size_t const lanes = hn::Lanes(d);
    Vector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    std::size_t i = 0;
    for (; i + 8 * lanes <= size; i += 8 * lanes) {
        s0 = hn::Add(s0, hn::Load(d, a + i)), s1 = hn::Add(s1, hn::Load(d, a + i + lanes));
        s2 = hn::Add(s2, hn::Load(d, a + i + 2 * lanes)), s3 = hn::Add(s3, hn::Load(d, a + i + 3 * lanes));
        s4 = hn::Add(s4, hn::Load(d, a + i + 4 * lanes)), s5 = hn::Add(s5, hn::Load(d, a + i + 5 * lanes));
        s6 = hn::Add(s6, hn::Load(d, a + i + 6 * lanes)), s7 = hn::Add(s7, hn::Load(d, a + i + 7 * lanes));
    }
    auto const left = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), right = hn::Add(hn::Add(s4, s5), hn::Add(s6, s7));
    double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(left, right)));
    for (; i < size; ++i) { sum += a[i]; }
    return sum;
}

template <bool past_caches> HWY_INLINE void store_pass(MemoryKernel kernel, StreamArrays const& arrays) {
    Tag const d;
    double const s = stream_scalar;
    auto const scalar = hn::Set(d, s);
    double const* HWY_RESTRICT a = arrays.a;
    double const* HWY_RESTRICT b = arrays.b;
    auto const whole = [&](auto of_vectors, auto of_one)
                           HWY_ATTR { each<past_caches>(arrays.c, arrays.size, of_vectors, of_one); };
    switch (kernel) {
    case MemoryKernel::write:
        whole([&](std::size_t) HWY_ATTR { return scalar; }, [&](std::size_t) { return s; });
        break;
    case MemoryKernel::copy:
        whole([&](std::size_t i) HWY_ATTR { return hn::Load(d, a + i); }, [&](std::size_t i) { return a[i]; });
        break;
    case MemoryKernel::scale:
        whole([&](std::size_t i) HWY_ATTR { return hn::Mul(scalar, hn::Load(d, a + i)); },
              [&](std::size_t i) { return s * a[i]; });
        break;
    case MemoryKernel::add:
        whole([&](std::size_t i) HWY_ATTR { return hn::Add(hn::Load(d, a + i), hn::Load(d, b + i)); },
              [&](std::size_t i) { return a[i] + b[i]; });
        break;
    case MemoryKernel::triad:
        whole([&](std::size_t i) HWY_ATTR { return hn::MulAdd(scalar, hn::Load(d, b + i), hn::Load(d, a + i)); },
              [&](std::size_t i) { return a[i] + s * b[i]; });
        break;
    case MemoryKernel::read:
    case MemoryKernel::chase: break;
    }
}

HWY_INLINE double pass(MemoryKernel kernel, Stores stores, StreamArrays const& arrays) {
    if (kernel == MemoryKernel::read) { return sum_of(arrays.a, arrays.size); }
    stores == Stores::past_caches ? store_pass<true>(kernel, arrays) : store_pass<false>(kernel, arrays);
    return 0.0;
}

std::size_t vector_bytes() { return 8 * hn::Lanes(Tag{}); }

#else // no doubles in vectors: one by one

HWY_INLINE double pass(MemoryKernel kernel, Stores, StreamArrays const& arrays) {
    auto const [a, b, c, size] = arrays;
    double sum = 0.0, s = stream_scalar;
    for (std::size_t i = 0; i < size; ++i) {
        switch (kernel) {
        case MemoryKernel::read: sum += a[i]; break;
        case MemoryKernel::write: c[i] = s; break;
        case MemoryKernel::copy: c[i] = a[i]; break;
        case MemoryKernel::scale: c[i] = s * a[i]; break;
        case MemoryKernel::add: c[i] = a[i] + b[i]; break;
        case MemoryKernel::triad: c[i] = a[i] + s * b[i]; break;
        case MemoryKernel::chase: break;
        }
    }
    return sum;
}

std::size_t vector_bytes() { return 8; }

#endif

double run_passes(MemoryKernel kernel, Stores stores, StreamArrays const& arrays, std::uint64_t passes) {
    double sum = 0.0;
    for (std::uint64_t i = 0; i < passes; ++i) {
        sum += pass(kernel, stores, arrays);
        asm volatile("" ::: "memory"); // one pass is not known to do again what the one before did
    }
    return sum;
}

} // namespace HWY_NAMESPACE
} // namespace headroom::probe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace headroom::probe {
namespace {

HEADROOM_VECTOR_FUNCTION(run_passes);
HEADROOM_VECTOR_FUNCTION(vector_bytes);

/// Best set of instructions compiled in that this CPU has; a smaller bit is a better set.
std::int64_t best_target() {
    std::int64_t const here = supported_targets() & HWY_TARGETS;
    return here & -here;
}

} // namespace

double stream_passes(MemoryKernel kernel, Stores stores, StreamArrays const& arrays, std::uint64_t passes) {
    return HEADROOM_OF_TARGET(run_passes)(kernel, stores, arrays, passes);
}

StreamTarget stream_target() { return {hwy::TargetName(best_target()), HEADROOM_OF_TARGET(vector_bytes)()}; }

void for_each_stream_target(void (*work)(StreamTarget const&, void*), void* context) {
    std::int64_t const here = supported_targets() & HWY_TARGETS;
    for (std::int64_t left = here; left != 0; left &= left - 1) {
        allow_targets(left & -left);
        work(stream_target(), context);
    }
    allow_targets(0);
}

} // namespace headroom::probe

#endif
