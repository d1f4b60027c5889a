#pragma once

#include "step_frame.hpp"

namespace headroom::training {

/// Parameters of one block and of the embedding.
struct Units {
    StageParameters block, table;
};

/// Blocks whose backward passes are over when the first bucket is full.
double blocks_of_first_bucket(double elements_of_block, double blocks);

/// A backward pass of a mean block that the chip waits for, if the host is slower: it issues for so long, and waits as the chip does.
template <class N> double issued_backward(Frame<N> const& f);

/// What a step loses to gradients and weights that leave block by block, one bucket when so many elements are there.
struct BesideBlocks {
    double backward = 0.0;         ///< by kernels of all backward passes, and of the forward passes between
    double drained = 0.0;          ///< by those of the last backward pass of a stage without ends
    double last = 0.0;             ///< under way when the last backward pass of blocks is over
    double last_when_issued = 0.0; ///< the same of a pass that takes what issuing it takes the host
    double unsent = 0.0;           ///< of the first backward pass: until its first bucket is full
    double gathering = 0.0;        ///< updated weights before and beside the first forward pass
    double collectives_backward = 1.0, collectives_forward = 1.0; ///< how many traffic meets, over the mean
};
/// Every backward pass that reduces has before it what the one before left, less what the forward pass between had time
/// for. The first block waits for its updated weights, the rest are gathered beside the blocks before.
template <class N>
BesideBlocks beside_blocks(Frame<N> const& f, Units const& units, HostIdle const& idle, double reductions);

} // namespace headroom::training
