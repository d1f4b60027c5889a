#pragma once

#include "headroom/calibration.hpp"
#include "headroom/framework.hpp"
#include "headroom/machine.hpp"
#include "headroom/model.hpp"
#include "headroom/precision.hpp"
#include "headroom/quantity.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

// ---- one replica ---------------------------------------------------------------------------------------------------

/// How a replica serves a model: an engine with continuous batching.
struct ServingPlan {
    int tp = 1; ///< accelerators of a replica, which share every layer
    Precision weights = Precision::bf16;
    Precision cache = Precision::bf16; ///< of keys and values
    int most_sequences = 256;          ///< in one batch
    int prefill_chunk = 2048;          ///< prompt tokens at most in one iteration; decoding sequences go along
    double memory_share = 0.9;         ///< of the accelerator's memory that the engine may take
};

/// What a replica holds.
struct ServingMemory {
    Bytes weights;         ///< of one accelerator
    Bytes activations;     ///< of the largest iteration
    Bytes cache;           ///< what is left for keys and values
    Bytes cache_per_token; ///< of one accelerator: 2 layers kv-heads head-dim bytes / tp, latent caches by their width
    Bytes capacity;
    double cache_tokens = 0.0; ///< that fit, of all sequences together
    bool fits = true;
    std::string why_not;
};

/// Errors: InputError{usage} where a degree does not divide the heads, or a model has no keys and values.
/// Source: [Kwon2023] (paged cache), [Pope2022]
ServingMemory serving_memory(Model const& model, Cluster const& cluster, ServingPlan const& plan);

/// What one iteration works on.
struct ServingBatch {
    int decoding = 0;             ///< sequences that get one token each
    double decode_context = 0.0;  ///< tokens in the cache that they read, all together
    double prefill_tokens = 0.0;  ///< new tokens of prompts
    double prefill_context = 0.0; ///< sum over those tokens of the keys that each sees
};

/// What bounds an iteration.
enum class ServingBound { compute, memory, communication, host };
std::string_view name_of(ServingBound bound);

/// What one iteration takes: the roofline, operation by operation.
struct ServingTime {
    Seconds products, attention, memory, communication, host;
    Seconds total;
    Bytes read; ///< weights and cache, of one accelerator
    Flops flops;
    ServingBound bound = ServingBound::memory;
};

/// Prices iterations of one replica: everything that does not depend on the batch is found once.
///
///     product      max(2 m n k / rate(m), bytes / bandwidth)          weights are read once an iteration, m = tokens in it
///     attention    max(flops / rate, cache bytes / bandwidth)
///     collectives  2 all-reduces a layer over tp ranks
///     host         what issuing the kernels takes: none where they are replayed as a graph
///
/// Source: [Pope2022], [Kwon2023], [AgrawalSarathi2024]
class ServingPricer {
public:
    ServingPricer(Model const& model, Cluster const& cluster, Framework const& framework, Calibration const& constants,
                  ServingPlan const& plan);
    ~ServingPricer();
    ServingPricer(ServingPricer&&) noexcept;

    [[nodiscard]] ServingTime price(ServingBatch const& batch) const;
    /// The same number alone, from tables: what the simulation calls millions of times.
    [[nodiscard]] Seconds iteration(ServingBatch const& batch) const;
    [[nodiscard]] ServingMemory const& memory() const;

private:
    struct Tables;
    std::unique_ptr<Tables const> tables_;
};

// ---- requests ------------------------------------------------------------------------------------------------------

/// One request.
struct ServingRequest {
    double arrives = 0.0;       ///< seconds
    int prompt = 0, output = 0; ///< tokens
};

/// What arrives when no trace is given.
struct ServingTraffic {
    double requests_per_second = 0.0;
    double burstiness = 1.0; ///< squared coefficient of variation of gaps (gamma); 1: Poisson
    double prompt_tokens = 1024.0, output_tokens = 256.0; ///< means
    double prompt_variation = 0.0,
           output_variation = 0.0; ///< squared coefficients of variation (lognormal); 0: all alike
    Seconds duration{600.0};
    std::uint64_t seed = 1;
};
std::vector<ServingRequest> draw_requests(ServingTraffic const& traffic);

/// Objectives: a request counts towards goodput where it meets each that is given.
struct ServingObjectives {
    std::optional<Seconds> first_token, per_token, whole;
    double share = 0.99; ///< of requests that must
};

} // namespace headroom
