#pragma once

#include "document/document.hpp"
#include "document/json.hpp"
#include "gate.hpp"
#include "inference/inference_question.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// What decoding a batch takes when every sequence is half through its answer.
struct DecodeRow {
    int batch = 1;
    double context = 0.0; ///< tokens of one sequence
    ServingTime time;
    double tokens_per_second = 0.0;
    double cache_share = 0.0; ///< of the cache that such sequences take
};

/// A prompt alone on a replica, in chunks.
struct PrefillRow {
    int tokens = 0;
    int iterations = 1;
    Seconds seconds;
    ServingBound bound = ServingBound::compute; ///< of the largest chunk
};

/// The most that a replica gives in a steady state without chance: prompts come as fast as answers end.
struct SteadyRate {
    double batch = 0.0;               ///< sequences that decode together
    double requests_per_second = 0.0; ///< zero: no batch keeps the objectives
    Seconds iteration;
    double prefill_tokens = 0.0; ///< in an iteration
};

/// One degree of tensor parallelism, priced without arrivals.
struct PlanRow {
    ServingPlan plan;
    ServingMemory memory;
    int largest_batch = 0;            ///< whole requests that the cache holds at once, at most `most_sequences`
    Seconds prompt_alone;             ///< the least time to first token
    std::optional<SteadyRate> steady; ///< empty where nothing fits
    std::optional<double> dollars_per_million_output_tokens; ///< at that rate
    std::string why_not;                                     ///< it cannot serve, or not within the objectives
};

/// A point of the load curve.
struct LoadRow {
    double requests_per_second = 0.0;
    ServingResult result;
    bool meets = false;
};

/// What the answer would be were every iteration slower than priced.
struct MarginRow {
    double slower = 1.0;
    std::optional<int> replicas;
};

/// Another machine for the money that the chosen one costs an hour.
struct AgainstRow {
    int accelerators = 0; ///< that it rents; zero: not one
    std::vector<ServingChoice> choices;
    std::optional<std::size_t> best; ///< by p99 of whole answers
};

/// How far the constants behind a time leave it open: each at its slow and fast end, added in quadrature.
struct TimeInterval {
    Seconds low, value, high;
};

struct InferenceReport {
    InferenceQuestion question;
    std::vector<PlanRow> plans;
    std::optional<std::size_t> chosen_plan; ///< of `plans`: what the tables are of
    std::vector<DecodeRow> decode;
    std::vector<PrefillRow> prefill;
    std::optional<TimeInterval> decode_interval, prefill_interval; ///< largest row of decode; a mean prompt

    std::vector<ServingChoice> choices; ///< each degree, with the replicas asked for or found
    std::optional<std::size_t> chosen;  ///< of `choices`: the cheapest that meets
    std::vector<ServingChoice> same;    ///< as many accelerators, split in every way
    std::optional<AgainstRow> against;
    std::vector<LoadRow> load;  ///< of the chosen one
    double capacity = 0.0;      ///< requests a second that it gives in a steady state
    std::optional<double> knee; ///< the highest rate of the curve that keeps the objectives
    std::vector<MarginRow> margins;

    std::vector<GateOutcome> gates;
    std::optional<double> wall_seconds;

    [[nodiscard]] ServingChoice const* choice() const { return chosen ? &choices[*chosen] : nullptr; }
    [[nodiscard]] PlanRow const* plan() const { return chosen_plan ? &plans[*chosen_plan] : nullptr; }
    /// Whether there is an answer: something fits, and keeps the objectives where requests arrive.
    [[nodiscard]] bool feasible() const;
};

// ---- answering -----------------------------------------------------------------------------------------------------

/// The cache that a whole request takes at its end; half through its answer.
double tokens_at_end(InferenceQuestion const& question);
double tokens_on_average(InferenceQuestion const& question);

std::vector<DecodeRow> decode_rows(ServingPricer const& pricer, InferenceQuestion const& question, int largest);
std::vector<PrefillRow> prefill_rows(ServingPricer const& pricer, InferenceQuestion const& question);
/// A prompt of so many tokens, alone.
Seconds prefill_seconds(ServingPricer const& pricer, double tokens);
/// Sequences of a mean request that the cache holds at their ends.
int largest_batch(ServingMemory const& memory, ServingPlan const& plan, InferenceQuestion const& question);

/// The best steady state of at most `most` sequences. Of B sequences that give a token an iteration each, B / output end in
/// every one, and as many prompts must be computed; where those are more than a chunk, prompts set the pace. Batches whose
/// iteration is longer than the limit are left out.
SteadyRate steady_rate(ServingPricer const& pricer, InferenceQuestion const& question, int most,
                       std::optional<Seconds> iteration_limit = {});

/// Everything but the gates.
InferenceReport answer_inference(InferenceQuestion question, Executor const& executor);
/// The part that simulates.
void answer_arrivals(InferenceReport& report, Executor const& executor);
/// How far the constants leave the times of the chosen plan open.
void answer_intervals(InferenceReport& report);

// ---- showing -------------------------------------------------------------------------------------------------------

/// Quantile of a histogram; nothing where it is empty.
std::optional<double> quantile_of(LatencyHistogram const& histogram, double q);

std::vector<Metric> metrics_of(InferenceReport const* report);
Document document_of(InferenceReport const& report, bool page);
Json json_of(InferenceReport const& report);
Sheet sheet_of(InferenceReport const& report);

std::vector<Chart> charts_of(InferenceReport const& report, bool page);

/// Three digits without zeros at the end: what somebody gave reads as it was given.
std::string short_number(double value);

/// The answer in a sentence or two.
std::string verdict_of(InferenceReport const& report);
std::string scale_up_or_out(InferenceReport const& report);
/// Which machine has the shorter p99 for the same money; empty where none was named.
std::string against_words(InferenceReport const& report);
/// What nobody checked, in words.
std::string uncertainty_words(InferenceReport const& report);
/// Rows of a recorded trace that were left out, and how it was read; empty without one.
std::vector<std::string> trace_notes(InferenceReport const& report);

} // namespace headroom::cli
