#pragma once

#include "headroom/executor.hpp"
#include "headroom/serving/latency_histogram.hpp"
#include "headroom/serving/queue_simulation.hpp"
#include "headroom/serving/serving.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::serving {

struct ServingExperiment {
    int replicas = 1;
    Dispatch dispatch = Dispatch::shortest_line; ///< by requests present; `shared_line` is not one of an engine's
    ServingObjectives objectives = {};
    int concurrency = 0; ///< users, each of whom sends the next request when the one before is answered; 0: requests
                         ///< arrive at their times
    int prefill_replicas = 0; ///< that compute prompts alone and send the cache to the others; 0: all do both
    Seconds warm_up = {};     ///< requests that arrive earlier are served but not counted
    std::uint64_t seed = 1;   ///< of random dispatch
    bool one_by_one = false;  ///< adds no iterations up: slower, the same figures
    std::stop_token stop = {};
};

/// Latencies, throughput and load of a fleet of replicas. Rates and means over time are of the span from the end of
/// warming up to the last arrival; to the last answer where all have come before the first is out.
struct ServingResult {
    Seconds span;
    std::uint64_t requests = 0; ///< counted ones
    std::uint64_t unfinished =
        0;                     ///< of a fleet that does not keep up: still there at the last arrival; served after it
    std::uint64_t refused = 0; ///< longer than the cache of a replica
    LatencyHistogram first_token, per_token, whole; ///< seconds; per token: (whole - first) / (output - 1)
    double goodput_per_second = 0.0;                ///< requests that met all objectives
    double met = 0.0;                               ///< their share
    double output_tokens_per_second = 0.0, prompt_tokens_per_second = 0.0;
    double mean_present = 0.0, mean_waiting = 0.0; ///< requests in the fleet; of them, in lines
    double mean_batch = 0.0;                       ///< sequences that decode together in a busy replica, over time
    double busy = 0.0;                             ///< share of time that a replica has work
    double cache_use = 0.0, cache_peak = 0.0;      ///< shares of the cache: mean over time, greatest
    std::uint64_t preemptions = 0;                 ///< sequences that were thrown out for want of cache and start again
    std::uint64_t iterations = 0, events = 0;
    bool stable = true; ///< no more than half as many again are present in the second half of the span as in the first
};

/// Serves the requests, iteration by iteration: each takes what waits as long as sequences, tokens and cache have room
/// (prompts in chunks along with decoding), and all sequences of a batch get a token. Iterations between two changes of
/// the batch are added up at once, to the same figures.
///
/// Lines are first come, first served. A prompt's cache is taken when it is admitted, and a token's as it comes; where
/// there is none for the next tokens the sequence that was admitted last gives its own back and waits, first in line, to
/// compute its prompt and what it had answered so far again. What a replica could never hold is refused.
/// All requests are served to the end, also those that wait when the last has come.
///
/// A replica with s pipeline stages runs s concurrent batches, each with 1/s of the sequences and of the KV cache: it is
/// simulated as s replicas without pipeline parallelism. Of users the requests arrive as answers come, whatever their times; the first fifth
/// of them and the first of every user are not counted.
///
/// With prefill replicas a request is served twice: its prompt by one of them, which gives the first token, and after its
/// cache was sent the other tokens by one of the replicas. Figures of batches, cache and load are those of the latter.
///
///     sent    latency + prompt x cache of a token / bandwidth, each accelerator by its own NIC
///
/// Assumes: a cache is sent when its prompt is computed, as a whole, and sends do not meet. Source: [ZhongDistServe2024]
///
/// Replicas do not see each other after dispatch, so they are simulated side by side where dispatch does not ask for
/// their state; the same bytes either way.
/// Errors: InputError{usage} on no requests or more than 10^9, requests out of order or without tokens, a plan that does
///         not fit, no replica, a shared line; InputError{insufficient} where none arrives after warming up.
/// Source: [YuOrca2022], [Kwon2023], [AgrawalSarathi2024]
/// Errors: Interrupted once a stop was requested.
ServingResult simulate_serving(std::span<ServingRequest const> requests, ServingPricer const& pricer,
                               ServingExperiment const& experiment, Executor const& executor = {});

// ---- choices -------------------------------------------------------------------------------------------------------

/// Reasons why a choice cannot serve at all.
enum class ChoiceObstacle {
    memory, ///< the model does not fit
    degree, ///< the model does not divide so
};

/// One way to serve.
struct ServingChoice {
    ServingPlan plan = {};
    int replicas = 1;
    int prefill_replicas = 0; ///< further ones, for prompts alone
    int accelerators = 1;
    std::optional<DollarsPerSecond> price = {}; ///< of all accelerators; empty where the cluster has none
    ServingResult result = {};
    std::optional<double> dollars_per_million_output_tokens = {};
    bool meets = false;                          ///< the objectives, stable, and none refused
    std::optional<ChoiceObstacle> obstacle = {}; ///< it cannot serve at all; then there is no result
    ServingMemory memory = {};                   ///< where that is the obstacle
    std::string why_not =
        {}; ///< the obstacle in words: of a degree the refusal of the model, else left to whoever shows it
    [[nodiscard]] bool serves() const { return !obstacle; }
};

/// Serves with so many replicas of this plan; `obstacle` where it does not fit.
ServingChoice serve(training::Model const& model, Cluster const& cluster, training::Framework const& framework,
                    training::Calibration const& constants, ServingPlan const& plan,
                    std::span<ServingRequest const> requests, ServingExperiment const& experiment,
                    Executor const& executor = {});

/// The fewest replicas of this plan that meet the objectives, by bisection over simulations; nothing where no number
/// up to `most` does.
/// Assumes: more replicas do not do worse.
std::optional<ServingChoice> replicas_for(training::Model const& model, Cluster const& cluster,
                                          training::Framework const& framework, training::Calibration const& constants,
                                          ServingPlan const& plan, std::span<ServingRequest const> requests,
                                          ServingExperiment experiment, int most = 1024, Executor const& executor = {});

/// Scale-up against scale-out: the same accelerators as few wide replicas or many narrow ones. One choice for each tp, in
/// powers of two up to the accelerators, whose degree the model allows; accelerators / tp replicas, those left over idle
/// and paid for. With several clusters for the same money: `accelerators_for` each, and their choices together.
/// Errors: as simulate_serving; InputError{usage} where no accelerator is asked about.
/// Source: [Pope2022]
std::vector<ServingChoice> serving_choices(training::Model const& model, Cluster const& cluster,
                                           training::Framework const& framework, training::Calibration const& constants,
                                           ServingPlan const& plan, int accelerators,
                                           std::span<ServingRequest const> requests,
                                           ServingExperiment const& experiment, Executor const& executor = {});

/// Accelerators that this much money rents, rounded down; nothing where the cluster has no price.
std::optional<int> accelerators_for(Cluster const& cluster, DollarsPerSecond money);

/// Latency by which choices are compared.
enum class ServingMeasure { first_token, per_token, whole };
/// The place of the choice with the least quantile of a time; those that keep up before those that do not, and the cheaper
/// of equals. Nothing where none serves.
std::optional<std::size_t> best_choice(std::span<ServingChoice const> choices, ServingMeasure measure, double q = 0.99);

} // namespace headroom::serving
