#pragma once

#include "headroom/fields.hpp"
#include "headroom/serving/request_record.hpp"
#include "headroom/serving/serving.hpp"
#include "headroom/serving/serving_simulation.hpp"
#include "headroom/training/training_answers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::serving {

// ---- the question -------------------------------------------------------------------------------------------------

/// A model, a machine, an engine, the requests that arrive, and the objectives that they are to keep.
struct InferenceQuestion {
    training::Model model;
    Cluster cluster;
    training::Framework framework;
    training::CalibrationSet calibration;
    ServingPlan plan = {};         ///< all of it but the degree
    Engine engine = {};            ///< whose law is in the plan
    ServingBands bands = {};       ///< of its times
    bool engine_measured = false;  ///< its published runs are in the fit
    BatchEvidence evidence = {};   ///< of the overhead of its sequences
    std::vector<int> degrees = {}; ///< of tensor parallelism
    bool degrees_given = false;
    std::vector<int> replicas = {}; ///< numbers to answer; empty: the fewest that keep the objectives
    ServingTraffic traffic = {};    ///< lengths always; a rate where requests are drawn
    std::optional<RequestRecord> trace = {};
    std::vector<ServingRequest> requests = {}; ///< that arrive at the whole fleet; empty: none are asked about
    std::optional<Cluster> against = {};       ///< another machine, for the same money
    ServingExperiment experiment = {};         ///< all of it but the replicas
    std::vector<training::Assumption> assumptions = {};

    [[nodiscard]] bool simulates() const { return !requests.empty(); }
    /// Whether all requests are there at the start.
    [[nodiscard]] bool is_burst() const { return simulates() && requests.back().arrives <= 0.0 && !is_closed(); }
    /// Whether a number of users send requests, each the next one when the one before is answered.
    [[nodiscard]] bool is_closed() const { return experiment.concurrency > 0; }
    /// Whether requests arrive at a rate that does not depend on the answers.
    [[nodiscard]] bool is_open() const { return simulates() && !is_burst() && !is_closed(); }
    /// Requests a second that arrive at the fleet; zero where they do not come at a rate of their own.
    [[nodiscard]] double arrivals() const;
    /// Tokens of a mean request at its end; half through its answer.
    [[nodiscard]] double tokens_at_end() const { return traffic.prompt_tokens + traffic.output_tokens; }
    [[nodiscard]] double tokens_on_average() const { return traffic.prompt_tokens + traffic.output_tokens / 2.0; }
};

// ---- the answer ---------------------------------------------------------------------------------------------------

/// Time to decode a batch when every sequence is half through its answer.
struct DecodeRow {
    int batch = 1;
    double context = 0.0; ///< tokens of one sequence
    ServingTime time;
    double tokens_per_second = 0.0; ///< of the replica: of every batch in flight, all tokens that are accepted
    double cache_share = 0.0;       ///< of the cache that such sequences take
};

/// A prompt alone on a replica, in chunks.
struct PrefillRow {
    int tokens = 0;
    int iterations = 1;
    Seconds seconds;
    ServingBound bound = ServingBound::compute; ///< of the largest chunk
};

/// The highest rate of a replica in a steady state without chance: prompts come as fast as answers end.
struct SteadyRate {
    double batch = 0.0;               ///< sequences that decode together in a stage
    double requests_per_second = 0.0; ///< zero: no batch keeps the objectives
    Seconds iteration;
    double prefill_tokens = 0.0; ///< in an iteration
};

/// Reasons why a degree does not serve, or not within the objectives.
enum class ServingObstacle {
    memory, ///< the model does not fit
    cache,  ///< one request does not fit the cache
    token,  ///< no batch gives a token in time
    prompt, ///< a prompt alone takes too long
};

/// One degree of tensor parallelism, priced without arrivals.
struct PlanRow {
    ServingPlan plan;
    ServingMemory memory = {};
    int largest_batch = 0;                 ///< whole requests that the cache holds at once, of one batch in flight
    Seconds prompt_alone = {};             ///< the least time to first token
    std::optional<SteadyRate> steady = {}; ///< empty where nothing fits
    std::optional<double> dollars_per_million_output_tokens = {}; ///< at that rate
    std::optional<ServingObstacle> obstacle = {};
    std::string why_not = {}; ///< the obstacle in words; left to whoever shows it, as all words here
};

/// A point of the load curve.
struct LoadRow {
    double requests_per_second = 0.0;
    ServingResult result;
    bool meets = false;
    std::optional<double> of_capacity = {};
};

/// The replicas that would be needed were every iteration slower than priced.
struct MarginRow {
    double slower = 1.0;
    std::optional<int> replicas;
};

/// Another machine for the money that the chosen one costs an hour.
struct AgainstRow {
    Cluster cluster;
    int accelerators = 0; ///< that it rents; zero: not one
    std::vector<ServingChoice> choices = {};
    std::optional<std::size_t> best = {}; ///< by p99 of whole answers
    std::string verdict = {};
};

/// Range of a time in which 90 % of published runs lie, each predicted by constants that never saw its family.
struct TimeInterval {
    Seconds low, value, high;
};

/// Range of a rate, by the same.
struct RateInterval {
    double low = 0.0, value = 0.0, high = 0.0;
};

/// Accelerators of the last node that nobody asked for.
struct IdleAccelerators {
    int idle = 0, nodes = 0, all = 0;
};

struct InferenceAnswer {
    InferenceQuestion question;
    std::vector<PlanRow> plans = {};
    std::optional<std::size_t> chosen_plan = {}; ///< of `plans`: the tables are of it
    std::vector<DecodeRow> decode = {};
    std::vector<PrefillRow> prefill = {};
    std::optional<TimeInterval> decode_interval = {}, prefill_interval = {}; ///< largest row of decode; a mean prompt
    std::optional<RateInterval> rate_interval = {};                          ///< output tokens a second of a replica
    std::optional<TimeInterval> finish_interval = {}; ///< of all requests, where they come together

    std::vector<ServingChoice> choices = {}; ///< each degree, with the replicas asked for or found
    std::optional<std::size_t> chosen = {};  ///< of `choices`: the cheapest that meets
    std::vector<ServingChoice> same = {};    ///< as many accelerators, split in every way
    std::optional<AgainstRow> against = {};
    std::vector<LoadRow> load = {};  ///< of the chosen one
    double capacity = 0.0;           ///< requests a second that it gives in a steady state
    std::optional<double> knee = {}; ///< the highest rate of the curve that keeps the objectives
    std::vector<MarginRow> margins = {};
    std::optional<ServingChoice> plateau = {}; ///< twice the replicas, where even these hardly keep the objectives
    std::optional<IdleAccelerators> idle = {};
    std::vector<training::ConstantValue> constants = {};
    std::string verdict = {}, scale_verdict = {}, uncertainty = {};
    std::vector<std::string> notes = {}; ///< remarks on the input
    bool complete = true;                ///< false after an interruption: what was not simulated is missing

    [[nodiscard]] ServingChoice const* choice() const { return chosen ? &choices[*chosen] : nullptr; }
    [[nodiscard]] PlanRow const* row() const { return chosen_plan ? &plans[*chosen_plan] : nullptr; }
    /// Whether there is an answer: something fits, and keeps the objectives where requests arrive.
    [[nodiscard]] bool feasible() const;
};

/// Prices every degree, and serves the requests where some arrive.
/// Errors: InputError{usage} on a degree that was given and that the model does not allow.
InferenceAnswer answer_inference(InferenceQuestion question, Executor const& executor);

/// Quantile of a histogram; nothing where it is empty.
std::optional<double> quantile_of(LatencyHistogram const& histogram, double q);

// ---- its fields ---------------------------------------------------------------------------------------------------

FieldTable const& field_table_of(InferenceAnswer const*);
FieldTable const& field_table_of(PlanRow const*);
FieldTable const& field_table_of(DecodeRow const*);
FieldTable const& field_table_of(PrefillRow const*);
FieldTable const& field_table_of(ServingChoice const*);

/// A row of CSV where requests arrive: a choice, or a point of the load curve.
struct ServedRow {
    std::string kind;
    double requests_per_second = 0.0;
    ServingChoice choice = {};
};
FieldTable const& field_table_of(ServedRow const*);
std::vector<ServedRow> served_rows(InferenceAnswer const& answer);

/// A row of CSV where none arrive.
struct DecodedRow {
    int tp = 1;
    DecodeRow row = {};
};
FieldTable const& field_table_of(DecodedRow const*);
std::vector<DecodedRow> decoded_rows(InferenceAnswer const& answer);

} // namespace headroom::serving
