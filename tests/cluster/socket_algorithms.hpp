#pragma once

#include "mesh.hpp"

#include <span>
#include <string_view>

namespace headroom::cluster {

/// Data of an operation: the vector, and room of the same size for incoming data.
struct Buffers {
    std::span<float> own, other;
};

/// One operation that is timed; `bytes` of a measurement is the size of `own`, counted as Headroom counts
/// (`TotalBytes`): the whole vector for an all-gather, what one rank holds for all ranks for an all-to-all.
struct Operation {
    std::string_view collective, algorithm;
    void (*run)(Mesh&, Buffers);
    /// Whether `own` is right afterwards, having been filled with rank + 1.
    bool (*right)(Mesh const&, Buffers) = nullptr;
    double share = 1.0; ///< of what was timed that one message stands for: a ping-pong is two
};
std::span<Operation const> operations();

/// own += other, the addition of all reductions.
void add(std::span<float> own, std::span<float const> other);

} // namespace headroom::cluster
