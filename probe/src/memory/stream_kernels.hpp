#pragma once

#include "headroom/probe/memory_rates.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace headroom::probe {

/// Arrays of one thread, aligned to lines; see `MemoryKernel` for those that a kernel names.
struct StreamArrays {
    double const* a = nullptr;
    double const* b = nullptr;
    double* c = nullptr;
    std::size_t size = 0;
};
inline constexpr double stream_scalar = 3.0;

/// So many passes with the best instruction set that is allowed here; what `read` summed up in all of them, else 0.
/// Not of `chase`.
double stream_passes(MemoryKernel kernel, Stores stores, StreamArrays const& arrays, std::uint64_t passes);

/// The instruction set that `stream_passes` takes, as Highway calls it, and the bytes of its vectors.
struct StreamTarget {
    std::string name;
    std::size_t vector_bytes = 0;
};
StreamTarget stream_target();

/// One instruction set after the other is the only one allowed, while `work` is called; then the best again. For tests.
void for_each_stream_target(void (*work)(StreamTarget const&, void*), void* context);

} // namespace headroom::probe
