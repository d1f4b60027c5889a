#pragma once

#include "headroom/probe/arithmetic.hpp"

#include <cstddef>

namespace headroom::probe {

/// Chains of one instruction set.
struct ChainShape {
    std::size_t lanes = 0; ///< of fp32
    std::size_t chains = 0;
    bool fp64 = false;
};

void add_vector_chains(std::vector<ArithmeticChain>& chains);
void add_dot_chains(std::vector<ArithmeticChain>& chains);

} // namespace headroom::probe
