#pragma once

#include "serving/serving_tables.hpp"

namespace headroom::serving {

/// Times of one batch, by operation and by the resource that binds.
struct ServingParts {
    double products = 0.0, attention = 0.0, memory = 0.0, communication = 0.0; ///< seconds
    double read = 0.0, flops = 0.0;
    double by_compute = 0.0, by_memory = 0.0; ///< seconds of products and attention that each binds
    void add(ServingParts const& other, double times);
    [[nodiscard]] double seconds() const { return products + attention + memory + communication; }
};

/// All that does not depend on contexts, of so many tokens in a batch: the blocks and the embedding.
ServingParts linear_parts(ServingPricer::Tables const& tables, double tokens);
/// Output projection and sampling of so many sequences.
ServingParts head_parts(ServingPricer::Tables const& tables, double sequences);
/// Scans of one token of a prompt, a block.
double scan_seconds(ServingPricer::Tables const& tables, ServedBlock const& block);

} // namespace headroom::serving
