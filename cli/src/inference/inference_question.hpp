#pragma once

#include "setting.hpp"

#include "headroom/io/request_trace.hpp"
#include "headroom/serving.hpp"
#include "headroom/serving_simulation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// What is asked: a model, a machine, how an engine serves, what arrives, and what is good enough.
struct InferenceQuestion {
    Setting setting;
    ServingPlan plan;         ///< all of it but the degree
    std::vector<int> degrees; ///< of tensor parallelism
    bool degrees_given = false;
    std::vector<int> replicas; ///< numbers to answer; empty: the fewest that keep the objectives
    ServingTraffic traffic;    ///< lengths always; a rate where requests are drawn
    std::optional<io::RequestTrace> trace;
    std::string trace_file;
    std::vector<ServingRequest> requests; ///< that arrive at the whole fleet; empty: none are asked about
    std::optional<Cluster> against;       ///< another machine, for the same money
    ServingExperiment experiment;         ///< all of it but the replicas
    std::vector<Assumption> assumptions;

    [[nodiscard]] bool simulates() const { return !requests.empty(); }
    /// Requests a second that arrive at the fleet.
    [[nodiscard]] double arrivals() const;
};

std::span<Option const> inference_options();

/// Errors: InputError{usage} on what contradicts itself; InputError{insufficient} where too few requests would be counted
/// for the share that the objectives name.
InferenceQuestion read_inference(Arguments const& arguments);

/// "ttft_p99<=500ms,tpot_p99<=50ms,latency_p99<=10s": one share for all.
ServingObjectives parse_objectives(std::string_view text, std::string_view where);

/// The longest wait that an objective allows: a line may grow for so long before anybody is late.
Seconds longest_objective(ServingObjectives const& objectives);

/// A share of 99 % needs a hundred requests to be seen at all, and a time far longer than its limits.
/// Errors: InputError{insufficient}.
void check_enough(InferenceQuestion const& question, std::string const& where);

/// What is longer than the model can read is no request to it; of requests that vary, how many are is told.
/// Errors: InputError{usage} where the mean one is.
void check_positions(InferenceQuestion& question, std::string const& where);

/// "TTFT <= 500 ms and TPOT <= 50 ms for 99 % of requests"
std::string objectives_words(ServingObjectives const& objectives);

} // namespace headroom::cli
