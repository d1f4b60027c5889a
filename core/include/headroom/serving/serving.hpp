#pragma once

#include "headroom/machine.hpp"
#include "headroom/precision.hpp"
#include "headroom/quantity.hpp"
#include "headroom/serving/engine.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/model.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::serving {

// ---- one replica ---------------------------------------------------------------------------------------------------

/// Beyond these a plan is refused.
inline constexpr int most_batch_sequences = 1 << 20, longest_prefill_chunk = 1 << 22;

/// Format of weights that are kept in few bits and widened as they are read: products compute in the plan's precision.
struct WeightFormat {
    std::string_view name;
    double bytes = 0.0; ///< of an element of a matrix, its share of scales included
    std::string_view layout;
};
/// int8 (a scale a column), int4 (groups of 128 with a 16-bit scale and a 4-bit zero: AWQ, GPTQ), mxfp4 (an 8-bit scale for 32),
/// q8_0 and q4_k (GGUF). Widening takes no time of its own. Source: [FrantarGptq2023], [LinAwq2024], [OcpMx2023]
std::span<WeightFormat const> weight_formats();

/// Beyond these a plan is refused.
inline constexpr int most_draft_tokens = 64, most_stages = 1024;

/// Tokens that are drafted and then verified by the model in one iteration.
struct Speculation {
    int draft_tokens = 0;    ///< k, of one sequence in an iteration; 0: none are drafted
    double acceptance = 0.7; ///< a, the probability that a drafted token is accepted after those before it were
    std::shared_ptr<training::Model const> draft = {}; ///< the model that drafts them; empty: they cost nothing

    /// Tokens that an iteration gives a sequence on average.
    ///
    ///     E = 1 + a + ... + a^k = (1 - a^(k + 1)) / (1 - a)
    ///
    /// Assumes: each token is accepted with the same probability, independently of the others.
    /// Source: [Leviathan2023]
    [[nodiscard]] double tokens() const;
    /// Tokens of a sequence that the model computes in an iteration: k drafted ones and the one before.
    [[nodiscard]] int verified() const { return draft_tokens + 1; }
};

/// Parameters of a replica that serves a model: an engine with continuous batching.
struct ServingPlan {
    int tp = 1;                          ///< accelerators that share every layer
    int pp = 1;                          ///< stages of layers; as many batches are in flight, one in each stage
    Precision weights = Precision::bf16; ///< and of products
    WeightFormat const* kept = nullptr;  ///< format in which matrices are kept; nullptr: that of products
    Precision cache = Precision::bf16;   ///< of keys and values
    int most_sequences = 256;            ///< in one batch
    int prefill_chunk = 2048;            ///< prompt tokens at most in one iteration; decoding sequences go along
    double memory_share = 0.9;           ///< of the accelerator's memory that the engine may take
    bool graphs = true;                  ///< kernels are replayed as a graph, so that the host is not in the way
    ServingLaw law = {};                 ///< of the engine
    Speculation speculation = {};

    /// Accelerators of a replica.
    [[nodiscard]] int accelerators() const { return tp * pp; }
    /// Sequences in the batch of one stage: each of the batches in flight has its share.
    [[nodiscard]] int lane_sequences() const { return std::max(1, most_sequences / pp); }
};

/// Memory of an accelerator of a replica. With pipeline parallelism the KV cache is that of one of
/// the concurrent batches, over all stages.
struct ServingMemory {
    Bytes weights;
    Bytes activations;         ///< of the largest iteration
    Bytes cache;               ///< remainder for keys and values
    Bytes cache_per_token;     ///< while a sequence is shorter than a window
    Bytes window_per_token;    ///< of it, in layers with a window: no more than `window` tokens of a sequence
    Bytes state_per_sequence;  ///< of scans, whatever the length
    int window = 0;            ///< 0: no such layers
    Bytes capacity;            ///< of the accelerator
    Bytes usable;              ///< of it, what the engine may take
    Bytes runtime;             ///< of that, context, collective buffers and workspaces
    double cache_tokens = 0.0; ///< that fit, of all sequences together
    bool fits = true;
    std::string why_not = {}; ///< in words; left to whoever shows it

    /// Whether the weights alone are too large; else weights and activations leave no room for a token.
    [[nodiscard]] bool weights_alone_exceed() const { return weights >= usable - runtime; }

    /// Cache of one sequence of `tokens` tokens, bytes.
    [[nodiscard]] Bytes of_sequence(double tokens) const;
};

/// Memory of one accelerator of a replica.
///
///     weights   matrices of the blocks / tp in `weights`, the rest in 16 bits; all experts; keys' and values' matrices
///               are held by several ranks where tp > kv-heads
///     cache     2 max(1, kv-heads / tp) head-dim bytes a token and layer;  latent attention (rank + rope) bytes, whole
///               on every rank;  a scan's state is as large for any length
///
/// With pipeline parallelism over s stages a stage holds ceil(layers / s) layers and the KV cache of s concurrent batches:
/// it caches as many tokens of one batch as an accelerator without pipeline parallelism caches over all layers. Weights and
/// KV cache of a draft model are on the same accelerators.
///
/// Llama-3-8B: 131,072 bytes a token in 16 bits; DeepSeek-V3: 70,272.
/// Assumes: embedding and output projection are split over the ranks, and stay in 16 bits as norms do.
/// Errors: InputError{usage} where a degree does not divide the heads, a model is not a decoder of blocks, or a figure of
///         the plan is out of range.
/// Source: [Kwon2023] (paged cache), [Pope2022], [DeepSeek2024] (latent cache)
ServingMemory serving_memory(training::Model const& model, Cluster const& cluster, ServingPlan const& plan);

/// Sequences and tokens of one iteration.
struct ServingBatch {
    int decoding = 0;             ///< sequences that get one token each
    double decode_context = 0.0;  ///< tokens in the cache that they read, all together
    double prefill_tokens = 0.0;  ///< new tokens of prompts
    double prefill_context = 0.0; ///< sum over those tokens of the keys that each sees
    /// Contexts limited to the window, for layers with a window; empty: as if all sequences were of one length.
    std::optional<double> decode_window_context = {}, prefill_window_context = {};
};

/// Resource that bounds an iteration.
enum class ServingBound { compute, memory, communication, host };
std::string_view name_of(ServingBound bound);

/// An iteration as the step model has it, before an engine's law.
struct ServingLoad {
    Seconds products, memory;         ///< element-wise work and sampling in `memory`
    Seconds prefill_attention;        ///< of prompts, and their scans
    Seconds decode_work, decode_read; ///< attention of decoding: by its operations, by its reads at the rate of streams
    Seconds wide_work; ///< by operations where more than 16 queries share a key, at the rate of tensor cores
    Seconds window_work, window_read; ///< in layers with a window
    Seconds states;                   ///< of scans, read and written
    Seconds communication;            ///< by the library
    Seconds exchange_floors;          ///< of it, what exchanges of one token take that the engine's own kernels can do
    double exchanges = 0.0;           ///< number of these
    Seconds peer_traffic, peer_rate;  ///< of it, traffic over PCIe to cards' memory: by the library, at the link's rate
    double layers = 0.0;              ///< relative to a transformer block
    double sequences = 0.0;           ///< that decode
    double prefill_share = 0.0;       ///< of the tokens
    bool grouped = false;             ///< queries share keys
};

/// Time of one iteration by the roofline, operation by operation.
struct ServingTime {
    Seconds products, attention, memory, communication;
    Seconds gaps;  ///< that the engine adds: between kernels, and of the host for each sequence
    Seconds draft; ///< of a draft model
    Seconds host;  ///< time to issue its kernels; the longer of it and of all others counts
    Seconds total;
    Bytes read;  ///< weights and cache, of one accelerator
    Flops flops; ///< of products and attention, of one accelerator
    ServingBound bound = ServingBound::memory;
};

/// Prices iterations of one replica: everything that does not depend on the batch is found once.
///
///     product      max(2 m n k / rate(m), bytes / bandwidth)          weights are read once an iteration, m = tokens in it
///     experts      E (1 - (1 - k/E)^m) of E are read, each for its part of the m k pairs
///     attention    max(flops / rate, cache bytes / bandwidth)
///     collectives  2 all-reduces a layer over tp ranks (1 where attention and feed-forward layer are side by side), not
///                  hidden; logits are gathered
///     engine       layers x overhead + sequences x overhead
///     host         what issuing the kernels takes: none where they are replayed as a graph
///     stages       s ceil(layers / s) layers, and s - 1 sends of the hidden states between them
///     drafts       k steps of the draft model, then one iteration with k + 1 tokens of every sequence, whose cache is read
///                  once; a draft model computes prompts, too
///
/// Rates and shares are those of the step model (`kernel_rates`, `OperationPricer`), with the factors and overheads of
/// `ServingPlan::law` (`law_time`); what neither knows is in `serving_guesses`.
/// Assumes: uniform routing; a decode step reads the latent cache itself (absorbed projections), a prefill of latent
///          attention does not count that earlier chunks are projected up again; draft layers are not used.
/// Source: [Pope2022], [Kwon2023], [AgrawalSarathi2024], [Leviathan2023] (drafts), [Huang2019] (stages)
class ServingPricer {
public:
    ServingPricer(training::Model const& model, Cluster const& cluster, training::Framework const& framework,
                  training::Calibration const& constants, ServingPlan const& plan);
    ~ServingPricer();
    ServingPricer(ServingPricer&&) noexcept;
    ServingPricer& operator=(ServingPricer&&) noexcept;

    [[nodiscard]] ServingTime price(ServingBatch const& batch) const;
    /// The iteration before the law.
    [[nodiscard]] ServingLoad load(ServingBatch const& batch) const;
    /// Time of one iteration alone, from tables; the simulation calls it millions of times.
    [[nodiscard]] Seconds iteration(ServingBatch const& batch) const;
    /// Time in which every decoding sequence gets n tokens, one longer each time. A sum in closed form.
    [[nodiscard]] Seconds iterations(ServingBatch const& first, std::int64_t n) const;
    [[nodiscard]] ServingMemory const& memory() const;
    [[nodiscard]] ServingPlan const& plan() const;

    struct Tables;
    [[nodiscard]] Tables const& tables() const { return *tables_; }

private:
    std::unique_ptr<Tables const> tables_;
};

/// Time of an iteration without the host, by a law.
///
///     f (products + element-wise) + attention + exchanges + layers x overhead + sequences x overhead
///
///     f          1 - (1 - prefill factor) x share of prompt tokens
///     attention  decode max(work + wide work / wide share, read / share) + states + factor x prefill
///     exchanges  library's time - max(0, floors of the library - floors of the engine's kernels)
///                - (traffic over PCIe to cards' memory by the library - the same at the link's rate / peer share)
Seconds law_time(ServingLoad const& load, ServingLaw const& law);

/// Constant of the price that no measurement supports.
struct ServingGuess {
    std::string_view name;
    double value;
    std::string_view unit, why;
};
std::span<ServingGuess const> serving_guesses();

// ---- requests ------------------------------------------------------------------------------------------------------

/// One request.
struct ServingRequest {
    double arrives = 0.0;       ///< seconds
    int prompt = 0, output = 0; ///< tokens
    /// Tokens of the prompt whose keys and values a cache of prefixes holds: not computed again. All: computed elsewhere, the
    /// first token with it.
    int cached = 0;
};

/// Arrivals when no trace is given.
struct ServingTraffic {
    double requests_per_second = 0.0;
    double burstiness = 1.0; ///< squared coefficient of variation of gaps (gamma); 1: Poisson
    double prompt_tokens = 1024.0, output_tokens = 256.0; ///< means
    double prompt_variation = 0.0,
           output_variation = 0.0; ///< squared coefficients of variation (lognormal); 0: all alike
    double prefix_hits = 0.0;      ///< share of a prompt that a cache of prefixes holds
    Seconds duration{600.0};
    std::uint64_t seed = 1;
};
/// Requests from time 0 to the duration, in order; the same seed gives the same ones.
/// Errors: InputError{usage} on figures that are negative or not finite, no rate, lengths below one token, more than 10^9
///         expected requests.
std::vector<ServingRequest> draw_requests(ServingTraffic const& traffic);
/// So many requests at time 0, with the lengths of the traffic.
/// Errors: InputError{usage} on lengths as above, none or more than 10^9.
std::vector<ServingRequest> draw_burst(ServingTraffic const& traffic, std::uint64_t requests);
/// Tokens of a prompt that a cache of prefixes holds: all but one at most, which gives the first token.
int cached_tokens(int prompt, double prefix_hits);

/// Objectives: a request counts towards goodput where it meets each that is given.
struct ServingObjectives {
    std::optional<Seconds> first_token = {}, per_token = {}, whole = {};
    double share = 0.99; ///< of requests that must
};

} // namespace headroom::serving
