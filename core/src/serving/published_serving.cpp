#include "headroom/serving/published_serving.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::serving {
namespace {

/// An iteration with the prompts of so many sequences.
ServingBatch prompts_of(double sequences, double tokens) {
    return {.prefill_tokens = sequences * tokens, .prefill_context = sequences * tokens * (tokens + 1.0) / 2.0};
}

} // namespace

std::string_view name_of(RequestSchedule schedule) {
    switch (schedule) {
    case RequestSchedule::together: return "together";
    case RequestSchedule::saturated: return "saturated";
    case RequestSchedule::in_turn: return "in turn";
    }
    return "together";
}

std::optional<ServedFigures> served_figures(PublishedServing const& run, ServingPricer const& pricer) {
    double const input = run.prompt_tokens, output = run.output_tokens;
    double const batch = run.batch.value_or(saturated_batch);
    double const room = std::floor(pricer.memory().cache / pricer.memory().of_sequence(input + output));
    if (!(room >= 1.0)) { return std::nullopt; }
    ServedFigures figures;
    figures.batch = std::min(batch, room);
    double const held = figures.batch;
    ServingTime const step =
        pricer.price({.decoding = static_cast<int>(held), .decode_context = held * (input + output / 2.0)});
    auto const prefill = [&](double sequences) {
        return input > 1.0 ? pricer.price(prompts_of(sequences, input)).total : step.total;
    };
    Seconds const first = prefill(held), wave = first + (output - 1.0) * step.total;
    figures.per_token = step.total;
    figures.tokens_per_second = held * output / wave.base();
    figures.first_token = first;
    if (run.schedule == RequestSchedule::in_turn) {
        double const together = run.requests ? std::min(1.0, held / *run.requests) : 0.0;
        figures.first_token = prefill(1.0) + step.total + together * first;
    }
    figures.read = step.read;
    figures.weights_read = pricer.price(prompts_of(1.0, 1.0)).read;
    return figures;
}

std::string impossible_serving(PublishedServing const& run, ServedFigures const& figures) {
    BytesPerSecond const peak = run.cluster->accelerator.memory_bandwidth;
    Seconds const least = figures.read / peak;
    auto const faster = [](char const* what, Seconds measured, Seconds needed) {
        return std::string{what} + " of " + format(measured) + ": reading alone takes " + format(needed) +
               " at the memory's peak";
    };
    if (run.per_token && *run.per_token < least) { return faster("a token", *run.per_token, least); }
    Seconds const weights = figures.weights_read / peak;
    if (run.first_token && *run.first_token < weights) { return faster("a first token", *run.first_token, weights); }
    if (run.tokens_per_second && run.output_tokens > 1.0) {
        Seconds const iteration{figures.batch / *run.tokens_per_second};
        if (iteration < least) { return faster("an iteration", iteration, least); }
    }
    return {};
}

} // namespace headroom::serving
