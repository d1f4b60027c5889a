#include "headroom/serving/published_serving.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::serving {
namespace {

/// So many iterations that are alike.
ServingLoad times(ServingLoad load, double n) {
    for (Seconds* part : {&load.products, &load.memory, &load.prefill_attention, &load.decode_work, &load.wide_work,
                          &load.decode_read, &load.window_work, &load.window_read, &load.states, &load.communication,
                          &load.exchange_floors, &load.peer_traffic, &load.peer_rate}) {
        *part *= n;
    }
    for (double* part : {&load.exchanges, &load.layers, &load.sequences}) { *part *= n; }
    return load;
}

/// An iteration with the prompts of so many sequences.
ServingBatch prompts_of(double sequences, double tokens) {
    return {.prefill_tokens = sequences * tokens, .prefill_context = sequences * tokens * (tokens + 1.0) / 2.0};
}

} // namespace

std::string_view name_of(RequestSchedule schedule) {
    switch (schedule) {
    case RequestSchedule::together: return "together";
    case RequestSchedule::saturated: return "saturated";
    case RequestSchedule::refilled: return "refilled";
    case RequestSchedule::rounds: return "rounds";
    }
    return "together";
}

std::optional<ServedLoads> served_loads(PublishedServing const& run, ServingPricer const& pricer) {
    double const input = run.prompt_tokens, output = run.output_tokens, come = run.batch.value_or(saturated_batch);
    auto const room = [&](double tokens) {
        return std::floor(pricer.memory().cache / pricer.memory().of_sequence(tokens));
    };
    double const held = std::min(come, room(input + output));
    if (!(held >= 1.0)) { return std::nullopt; }
    ServingBatch const decoding{.decoding = static_cast<int>(held), .decode_context = held * (input + output / 2.0)};
    ServedLoads loads{.step = pricer.load(decoding), .batch = held, .admitted = std::min(come, room(input + 1.0))};
    auto const prompts = [&](double sequences) {
        bool const decoded = input <= 1.0; // a prompt of one token
        if (decoded) { return pricer.load({.decoding = static_cast<int>(sequences), .decode_context = sequences}); }
        double const tokens = sequences * input;
        double const chunks = std::max(1.0, std::ceil(tokens / run.prompt_chunk.value_or(std::max(1.0, tokens))));
        ServingBatch batch = prompts_of(sequences, input);
        batch.prefill_tokens /= chunks, batch.prefill_context /= chunks;
        return times(pricer.load(batch), chunks);
    };
    loads.first = input > 1.0 ? prompts(held) : loads.step;
    loads.alone = prompts(1.0), loads.others = prompts(loads.admitted - 1.0);
    ServingBatch joined = prompts_of(1.0, input);
    joined.decoding = decoding.decoding, joined.decode_context = decoding.decode_context;
    loads.joined = pricer.load(joined);
    loads.read = pricer.price(decoding).read;
    loads.weights_read = pricer.price(prompts_of(1.0, 1.0)).read;
    return loads;
}

namespace {

/// Waves that a sequence waits for in the mean, where so many come and so many start at once.
double waves_before(double come, double admitted, double held) {
    double const rest = std::max(0.0, come - admitted), whole = std::floor(rest / held);
    double const last = rest - whole * held;
    return (held * whole * (whole + 1.0) / 2.0 + last * (whole + 1.0)) / come;
}

} // namespace

ServedFigures served_figures(PublishedServing const& run, ServedLoads const& loads, ServingLaw const& law) {
    Seconds const step = law_time(loads.step, law), first = law_time(loads.first, law);
    Seconds const wave = first + (run.output_tokens - 1.0) * step;
    ServedFigures figures{
        .first_token = first, .per_token = step, .tokens_per_second = loads.batch * run.output_tokens / wave.base()};
    if (run.schedule == RequestSchedule::refilled) {
        Seconds const added = std::max(Seconds{}, law_time(loads.joined, law) - step);
        double const coming = std::min(1.0, loads.batch / run.output_tokens);
        double const together = run.requests ? std::min(1.0, loads.batch / *run.requests) : 0.0;
        figures.first_token = 2.0 * step + (1.0 + 2.0 * coming) * added + together * first;
    }
    if (run.schedule == RequestSchedule::rounds) {
        double const a = loads.admitted;
        double const waves = waves_before(run.batch.value_or(a), a, loads.batch);
        figures.first_token = law_time(loads.alone, law) + (a - 1.0) / a * law_time(loads.others, law) + waves * wave;
    }
    return figures;
}

std::string impossible_serving(PublishedServing const& run, ServedLoads const& loads) {
    BytesPerSecond const peak = run.cluster->accelerator.memory_bandwidth;
    Seconds const least = loads.read / peak;
    auto const faster = [](char const* what, Seconds measured, Seconds needed) {
        return std::string{what} + " of " + format(measured) + ": reading alone takes " + format(needed) +
               " at the memory's peak";
    };
    if (run.per_token && *run.per_token < least) { return faster("a token", *run.per_token, least); }
    Seconds const weights = loads.weights_read / peak;
    if (run.first_token && *run.first_token < weights) { return faster("a first token", *run.first_token, weights); }
    if (run.tokens_per_second && run.output_tokens > 1.0) {
        Seconds const iteration{loads.batch / *run.tokens_per_second};
        if (iteration < least) { return faster("an iteration", iteration, least); }
    }
    return {};
}

} // namespace headroom::serving
