#pragma once

#include "headroom/serving/serving.hpp"
#include "headroom/training/model.hpp"
#include "headroom/training/operation.hpp"

#include <vector>

namespace headroom::serving {

/// Guesses, in the order of `serving_guesses`.
inline constexpr double thin_columns = 8.0;
inline constexpr double logit_traffic = 10.0;
inline constexpr double scan_state_bytes = 4.0;

/// Work of one kind of block for each token that passes through it, on one accelerator of a replica.
struct ServedBlock {
    double count = 0.0;
    double issue = 1.0;                           ///< kernels relative to a transformer block's
    std::vector<training::Operation> linear = {}; ///< sizes of one token: products, element-wise work, collectives
    std::vector<training::Operation> scans =
        {};                    ///< operations of scans, for prompts alone: a decode step updates its state
    int window = 0;            ///< keys that a query sees; 0: all
    double cache_bytes = 0.0;  ///< of a token
    double state_bytes = 0.0;  ///< of a sequence
    double decode_work = 0.0;  ///< operations for each key that a decoding sequence reads
    double prefill_work = 0.0; ///< operations for each pair of a query and a key
    bool small_head = false;   ///< of the attention core
    bool grouped = false;      ///< several queries share keys and values
    bool wide = false;         ///< more than kernels of tensor cores compute together
};

/// Sizes from which price and memory are computed.
struct ServedModel {
    training::LayerShape shape; ///< one token
    std::vector<ServedBlock> blocks;
    double vocabulary = 0.0; ///< as laid out
};

/// Writes it down from the forward pass of a training step.
/// Errors: as serving_memory.
ServedModel served_model(training::Model const& model, Accelerator const& accelerator,
                         training::Framework const& framework, ServingPlan const& plan);

/// Share of the layers in the largest stage: a batch spends as long in every stage as in that one.
double stage_share(training::Model const& model, ServingPlan const& plan);

/// Elements of the matrices of all blocks, on one accelerator.
double matrix_elements(ServedModel const& served);

/// Bytes that an element takes in memory, its share of a block's scales included.
double stored_bytes(Precision precision);
/// Bytes of an element of the matrices of a plan.
double weight_bytes(ServingPlan const& plan);

/// Format of the arithmetic of products: that of the weights where the chip has it, else 16 bits with weights that are
/// widened as they are read.
Precision computed_in(Accelerator const& accelerator, Precision weights);

} // namespace headroom::serving
