#pragma once

#include "headroom/serving/serving.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace headroom::serving {

/// Order in which the requests of a published run come.
enum class RequestSchedule {
    together,  ///< a static batch: all sequences start at once; those that memory does not hold wait for the others
    saturated, ///< there is always another one: the engine is as full as its memory allows
    refilled,  ///< so many at a time, each followed by another
    rounds,    ///< so many at a time whose answers are of one length, so that the next ones come at about the same time
};
std::string_view name_of(RequestSchedule schedule);

/// A published measurement of an engine, with the question that it answers.
struct PublishedServing {
    std::string id, family, engine, engine_version, model_name, accelerator, source;
    std::size_t line = 0;
    RequestSchedule schedule = RequestSchedule::together;
    std::optional<double> batch = {};    ///< sequences that come together, or at a time
    std::optional<double> requests = {}; ///< of the whole run, refilled; the first `batch` of them come together
    double prompt_tokens = 0.0, output_tokens = 0.0;
    std::optional<Seconds> first_token = {}, per_token = {}; ///< mean or median, as published
    std::optional<double> tokens_per_second = {};            ///< that come out, of the whole replica
    std::optional<training::Model> model = {};
    std::optional<Cluster> cluster = {};
    training::Framework framework = {}; ///< whose kernels are taken
    ServingPlan plan = {};
    std::optional<double> prompt_chunk = {}; ///< prompt tokens that the engine computes in one iteration at most
    std::string skipped_reason = {};         ///< empty where it can be predicted
};

/// The largest batch of an engine that states none and is kept full.
inline constexpr double saturated_batch = 2048.0;

/// Figures of a published run as predicted.
struct ServedFigures {
    Seconds first_token, per_token;
    double tokens_per_second = 0.0;
};

/// Loads of a run, before an engine's law.
struct ServedLoads {
    ServingLoad step = {};              ///< half through the answers
    ServingLoad first = {}, alone = {}; ///< prompts of all that memory holds, and of one
    ServingLoad joined = {};            ///< a decode step with the prompt of one
    ServingLoad others = {};            ///< prompts of all that are admitted but one
    double batch = 0.0;                 ///< sequences that memory holds at once
    double admitted = 0.0;              ///< of those that come, whose prompts memory holds at once
    Bytes read = {};                    ///< by an iteration of decoding: weights and cache
    Bytes weights_read = {};            ///< of it, weights that one token needs
};
/// Nothing where the cache does not hold one request.
std::optional<ServedLoads> served_loads(PublishedServing const& run, ServingPricer const& pricer);

/// Composes a run from prompts of b sequences in one iteration and from decode steps half through the answers.
///
///     b       min(batch, cache / (I + O))                         whole sequences
///     wave    prefill(b) + (O - 1) decode(b)                      of b sequences
///     rate    b O / wave
///     TTFT    prefill(b)                                          together, of those that memory holds
///             prefill(1) + (a - 1) / a prefill(a - 1) + waves     rounds: the first to arrive is computed alone, then the
///                                                                 others; a = min(batch, cache / I) are admitted, the
///                                                                 rest wait for one wave after the other
///             2 decode(b) + (1 + 2 b / O) e + b / requests prefill(b)
///                                                                 refilled: the iteration that runs ends first, then one
///                                                                 computes the prompt; e is what a prompt adds to either,
///                                                                 b / O the others that come; the first b come together
///
/// Assumes: all sequences as long as the mean; a prompt of one token is a decode step.
ServedFigures served_figures(PublishedServing const& run, ServedLoads const& loads, ServingLaw const& law);

/// Reason for which a measurement is impossible: an iteration that reads its weights and caches faster than the memory's
/// peak bandwidth; empty for all others. Looks at what was measured and the datasheet, not at a predicted time.
std::string impossible_serving(PublishedServing const& run, ServedLoads const& loads);

} // namespace headroom::serving
