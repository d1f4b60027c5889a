#pragma once

#include "serving/serving_tables.hpp"

namespace headroom::serving {

/// Times of one batch, by operation and by the resource that binds.
struct ServingParts {
    double products = 0.0, memory = 0.0, communication = 0.0; ///< seconds
    double exchange_floors = 0.0, exchanges = 0.0; ///< seconds and number of exchanges that own kernels can do
    double peer_traffic = 0.0, peer_rate = 0.0;    ///< seconds of traffic over PCIe: by the library, at the link's rate
    double read = 0.0, flops = 0.0;
    double by_compute = 0.0, by_memory = 0.0; ///< seconds of products that each binds
    void add(ServingParts const& other, double times);
    /// Computation, before the law.
    [[nodiscard]] double computed() const { return products + memory; }
    /// Exchanges, by the law.
    [[nodiscard]] double exchanged(ServingFactors const& factors) const;
};

/// Seconds of exchanges by the law, in a load of the same names.
double exchanged_seconds(ServingLoad const& load, ServingFactors const& factors);

/// All that does not depend on contexts, of so many tokens in a batch: the blocks and the embedding.
ServingParts linear_parts(ServingPricer::Tables const& tables, double tokens);
/// Output projection and sampling of so many sequences.
ServingParts head_parts(ServingPricer::Tables const& tables, double sequences);
/// Scans of one token of a prompt, a block.
double scan_seconds(ServingPricer::Tables const& tables, ServedBlock const& block);

} // namespace headroom::serving
