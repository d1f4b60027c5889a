#include "serving/inference_parts.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::serving {
namespace {

/// Keys that the tokens [from, to) of a prompt see, all together: the i-th sees i of them, itself among them.
double keys_seen(double from, double to) { return (to * (to + 1.0) - from * (from + 1.0)) / 2.0; }

ServingBatch chunk_of(double from, double to) {
    return {.prefill_tokens = to - from, .prefill_context = keys_seen(from, to)};
}

/// Tokens of a mean prompt that a cache of prefixes holds.
double cached_of(double tokens, double prefix_hits) {
    return std::max(0.0, std::min(tokens - 1.0, std::floor(prefix_hits * tokens)));
}

ServingBatch steady_batch(InferenceQuestion const& question, double decoding, double prompts) {
    double const prompt = question.traffic.prompt_tokens, cached = cached_of(prompt, question.traffic.prefix_hits);
    return {.decoding = static_cast<int>(std::lround(decoding)),
            .decode_context = decoding * question.tokens_on_average(),
            .prefill_tokens = prompts * (prompt - cached),
            .prefill_context = prompts * keys_seen(cached, prompt)};
}

} // namespace

ServingPricer pricer_of(InferenceQuestion const& question, ServingPlan const& plan) {
    return ServingPricer{question.model, question.cluster, question.framework, question.calibration.values(), plan};
}

std::vector<DecodeRow> decode_rows(ServingPricer const& pricer, InferenceQuestion const& question, int largest) {
    std::vector<int> batches;
    for (int batch = 1; batch < largest; batch *= 2) { batches.push_back(batch); }
    batches.push_back(std::max(1, largest));
    double const context = question.tokens_on_average();
    double const given = pricer.plan().pp * pricer.plan().speculation.tokens();
    std::vector<DecodeRow> rows;
    for (int const batch : batches) {
        ServingTime const time = pricer.price({.decoding = batch, .decode_context = batch * context});
        Bytes const held = batch * pricer.memory().of_sequence(context);
        rows.push_back({.batch = batch,
                        .context = context,
                        .time = time,
                        .tokens_per_second = given * batch / time.total.base(),
                        .cache_share = pricer.memory().cache > Bytes{} ? held / pricer.memory().cache : 0.0});
    }
    return rows;
}

Seconds prefill_seconds(ServingPricer const& pricer, double tokens, double prefix_hits) {
    Seconds sum;
    double const chunk = pricer.plan().prefill_chunk;
    for (double from = cached_of(tokens, prefix_hits); from < tokens; from += chunk) {
        sum += pricer.price(chunk_of(from, std::min(tokens, from + chunk))).total;
    }
    return sum;
}

std::vector<PrefillRow> prefill_rows(ServingPricer const& pricer, InferenceQuestion const& question) {
    constexpr int shortest = 128;
    int const longest_context = question.model.max_positions > 0 ? question.model.max_positions : 131'072;
    int const own = std::max(1, static_cast<int>(std::lround(question.traffic.prompt_tokens)));
    std::vector<int> lengths{own};
    int const longest = std::clamp(16 * own, shortest, std::max(own, longest_context));
    for (int length = shortest; length <= longest; length *= 4) { lengths.push_back(length); }
    std::ranges::sort(lengths);
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    std::vector<PrefillRow> rows;
    int const chunk = pricer.plan().prefill_chunk;
    for (int const length : lengths) {
        double const cached = cached_of(length, question.traffic.prefix_hits),
                     end = std::min<double>(length, cached + chunk);
        rows.push_back({.tokens = length,
                        .iterations = (length - static_cast<int>(cached) - 1) / chunk + 1,
                        .seconds = prefill_seconds(pricer, length, question.traffic.prefix_hits),
                        .bound = pricer.price(chunk_of(cached, end)).bound});
    }
    return rows;
}

int largest_batch(ServingMemory const& memory, ServingPlan const& plan, InferenceQuestion const& question) {
    if (!memory.fits) { return 0; }
    Bytes const each = memory.of_sequence(question.tokens_at_end());
    if (each <= Bytes{}) { return plan.lane_sequences(); }
    return static_cast<int>(std::min(memory.cache / each, static_cast<double>(plan.lane_sequences())));
}

SteadyRate steady_rate(ServingPricer const& pricer, InferenceQuestion const& question, int most,
                       std::optional<Seconds> iteration_limit) {
    double const prompt = question.traffic.prompt_tokens, output = question.traffic.output_tokens;
    ServingPlan const& plan = pricer.plan();
    double const computed = prompt - cached_of(prompt, question.traffic.prefix_hits), given = plan.speculation.tokens();
    double const most_prompts = plan.prefill_chunk / computed; // in one iteration
    SteadyRate best;
    // Every batch to 4,096, for times have steps: a coarser search would find less where the cache holds more.
    for (double batch = 1.0; batch <= most;
         batch = batch < most ? std::min<double>(most, batch + std::max(1.0, std::floor(batch / 4096.0)))
                              : most + 1.0) {
        double const prompts = std::min(batch * given / output, most_prompts);
        double const decoding = std::min(batch, prompts * output / given);
        Seconds const iteration = pricer.price(steady_batch(question, decoding, prompts)).total;
        if (iteration_limit && iteration > given * *iteration_limit) { continue; }
        double const rate = plan.pp * prompts / iteration.base();
        if (rate > best.requests_per_second) { best = {decoding, rate, iteration, prompts * computed}; }
    }
    return best;
}

} // namespace headroom::serving
