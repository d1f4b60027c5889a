#pragma once

#include "headroom/executor.hpp"
#include "headroom/latency_histogram.hpp"
#include "headroom/queue_simulation.hpp"
#include "headroom/serving.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headroom {

struct ServingExperiment {
    int replicas = 1;
    Dispatch dispatch = Dispatch::shortest_line; ///< by requests present; `shared_line` is not one of an engine's
    ServingObjectives objectives;
    Seconds warm_up; ///< requests that arrive earlier are served but not counted
    std::uint64_t seed = 1;
};

/// What a fleet of replicas did.
struct ServingResult {
    std::uint64_t requests = 0;                     ///< counted ones
    std::uint64_t unfinished = 0;                   ///< still there at the end of a fleet that does not keep up
    std::uint64_t refused = 0;                      ///< longer than the cache of a replica
    LatencyHistogram first_token, per_token, whole; ///< seconds; per token: (whole - first) / (output - 1)
    double goodput_per_second = 0.0;                ///< requests that met all objectives
    double met = 0.0;                               ///< their share
    double output_tokens_per_second = 0.0, prompt_tokens_per_second = 0.0;
    double mean_batch = 0.0;                  ///< sequences that decode together, over time
    double busy = 0.0;                        ///< share of time that a replica has work
    double cache_use = 0.0, cache_peak = 0.0; ///< shares of the cache: mean over time, greatest
    std::uint64_t preemptions = 0;            ///< sequences that were thrown out for want of cache and start again
    std::uint64_t iterations = 0, events = 0;
    bool stable = true; ///< lines do not grow from the first half to the second
};

/// Serves the requests, iteration by iteration: each takes what waits as long as sequences, tokens and cache have room
/// (prompts in chunks beside decoding), and all sequences of a batch get a token. Iterations between two changes of the
/// batch are added up at once, to the same figures.
///
/// Replicas do not see each other after dispatch, so they are simulated side by side where dispatch does not ask for
/// their state; the same bytes either way.
/// Errors: InputError{usage} on requests out of order, without tokens, more than 10^9.
/// Source: [YuOrca2022], [Kwon2023], [AgrawalSarathi2024]
ServingResult simulate_serving(std::span<ServingRequest const> requests, ServingPricer const& pricer,
                               ServingExperiment const& experiment, Executor const& executor = {});

// ---- choices -------------------------------------------------------------------------------------------------------

/// One way to serve.
struct ServingChoice {
    ServingPlan plan;
    int replicas = 1;
    int accelerators = 1;
    DollarsPerSecond price;
    ServingResult result;
    double dollars_per_million_output_tokens = 0.0;
    bool meets = false;
    std::string why_not;
};

/// The fewest replicas of this plan that meet the objectives, by bisection over simulations; nothing where no number
/// does.
std::optional<ServingChoice> replicas_for(Model const& model, Cluster const& cluster, Framework const& framework,
                                          Calibration const& constants, ServingPlan const& plan,
                                          std::span<ServingRequest const> requests, ServingExperiment experiment,
                                          int most = 1024, Executor const& executor = {});

} // namespace headroom
