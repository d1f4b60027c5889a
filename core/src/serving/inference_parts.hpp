#pragma once

#include "headroom/serving/inference_answer.hpp"

namespace headroom::serving {

/// Pricer of one degree of the question.
ServingPricer pricer_of(InferenceQuestion const& question, ServingPlan const& plan);

std::vector<DecodeRow> decode_rows(ServingPricer const& pricer, InferenceQuestion const& question, int largest);
std::vector<PrefillRow> prefill_rows(ServingPricer const& pricer, InferenceQuestion const& question);
/// Time of a prompt of so many tokens, alone; of a share of it a cache of prefixes holds keys and values.
Seconds prefill_seconds(ServingPricer const& pricer, double tokens, double prefix_hits);
/// Sequences of a mean request that the cache holds at their ends, in one batch in flight.
int largest_batch(ServingMemory const& memory, ServingPlan const& plan, InferenceQuestion const& question);

/// The best steady state of at most `most` sequences. Of B sequences that an iteration gives E tokens each, E B / output end
/// in every one, and as many prompts must be computed; where those are more than a chunk, prompts set the pace. Batches whose
/// token takes longer than the limit are left out. With s stages s batches are in flight.
///
///     rate    s max over B of min(E B / output, chunk / (prompt - cached)) / iteration
///
SteadyRate steady_rate(ServingPricer const& pricer, InferenceQuestion const& question, int most,
                       std::optional<Seconds> iteration_limit = {});

/// Adds the figures that are simulated.
void answer_arrivals(InferenceAnswer& answer, Executor const& executor);
/// Adds the ranges of decoding, of a prompt and of the rate, by the bands of the engine.
void answer_intervals(InferenceAnswer& answer);

} // namespace headroom::serving
