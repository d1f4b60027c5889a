#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace headroom::probe {

struct FreeWhole {
    void* whole = nullptr; ///< all that was allocated
    void operator()(float const*) const { std::free(whole); }
};

/// Elements that begin at a pair of cache lines.
using AlignedFloats = std::unique_ptr<float[], FreeWhole>;

/// Null where there is no memory. Arrays made one after the other begin at different lines of a page, so that loops over several do not
/// take loads for those of stores before.
AlignedFloats aligned_floats(std::size_t count);

} // namespace headroom::probe
