#include "support/published_bubbles.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace headroom::test {

using namespace headroom::training;

namespace {

/// Gradients of inputs take longest, those of weights least: attention has no weights, and what is computed again is
/// computed before the gradients of inputs.
bool are_of_transformers(StageTimes const& times) {
    return times.input >= times.forward && times.forward >= times.weight;
}

/// Chain of waiting passes: numbers of chunk passes of each kind in excess of the stage's own.
struct Chain {
    double forward, input, weight;
};

double longest(std::span<Chain const> chains, StageTimes const& times) {
    double most = 0.0;
    for (Chain const& chain : chains) {
        most = std::max(most, chain.forward * times.forward + chain.input * times.input + chain.weight * times.weight);
    }
    return most / 2.0; // a chunk is half a stage
}

std::array<Chain, 3> v_half_chains_of_two(PipelineShape const& shape) {
    double const n = 2.0 * shape.micro_batches;
    return {{{-1.0, 3.0, -2.0}, {5.0 - n, n - 3.0, 4.0 - n}, {4.0 - n, n - 2.0, 2.0 - n}}};
}

std::array<Chain, 3> v_half_chains_of_odd(PipelineShape const& shape) {
    double const p = shape.stages, n = 2.0 * shape.micro_batches;
    return {
        {{p - 1.0, 3.0 * p - 3.0, -p}, {p - 3.0, 3.0 * p - 1.0, -p - 1.0}, {2.0 * p - n, n + 2.0 * p - 4.0, 2.0 - n}}};
}

std::array<Chain, 6> v_half_chains_of_even(PipelineShape const& shape) {
    double const p = shape.stages, n = 2.0 * shape.micro_batches;
    return {{{2.0, 5.0 * p - 10.0, 1.0 - 2.0 * p},
             {0.0, 5.0 * p - 9.0, 2.0 - 2.0 * p},
             {2.0 * p + 2.0 - n, n + 3.0 * p - 11.0, 4.0 - n},
             {2.0 * p + 1.0 - n, n + 3.0 * p - 10.0, 2.0 - n},
             {2.0 * p + 4.0 - n, n + 3.0 * p - 12.0, 3.0 - n},
             {2.0 * p + 3.0 - n, n + 3.0 * p - 11.0, 1.0 - n}}};
}

std::array<Chain, 2> v_min_chains_of_two(PipelineShape const& shape) {
    double const m = shape.micro_batches;
    return {{{3.0 - m, 2.0 * m, -m}, {m + 1.0, m + 1.0, 1.0 - 2.0 * m}}};
}

std::array<Chain, 2> v_min_chains_of_three(PipelineShape const& shape) {
    double const p = shape.stages, m = shape.micro_batches;
    return {{{2.0 * p + 4.0 - 2.0 * m, 4.0 * m + 2.0 * p - 8.0, 1.0 - 2.0 * m},
             {2.0 * p + 1.0 - 2.0 * m, 4.0 * m + 2.0 * p - 6.0, 1.0 - 2.0 * m}}};
}

std::array<Chain, 1> v_min_chains(PipelineShape const& shape) {
    double const p = shape.stages, m = shape.micro_batches;
    return {{{2.0 * p - 2.0 * m, 4.0 * m + 2.0 * p - 6.0, 1.0 - 2.0 * m}}};
}

std::optional<double> zbv_bubble(PipelineShape const& shape, StageTimes const& times) {
    if (shape.stages == 1) { return 0.0; }
    if (shape.micro_batches < 2 * shape.stages - 1 || !are_of_transformers(times)) { return std::nullopt; }
    return (shape.stages - 1) * (times.input - times.weight);
}

std::optional<double> v_half_bubble(PipelineShape const& shape, StageTimes const& times) {
    int const p = shape.stages;
    if (p == 1) { return 0.0; }
    if (shape.micro_batches < p + 2 || !are_of_transformers(times) || p > 64) { return std::nullopt; }
    if (p == 2) { return longest(v_half_chains_of_two(shape), times); }
    if (p % 2 == 1) { return longest(v_half_chains_of_odd(shape), times); }
    if (p <= 12) { return longest(v_half_chains_of_even(shape), times); }
    if (times.forward != times.input || times.input != times.weight) { return std::nullopt; }
    return (3 * p - 5) * times.all() / 6;
}

std::optional<double> v_min_bubble(PipelineShape const& shape, StageTimes const& times) {
    int const p = shape.stages;
    if (p == 1) { return 0.0; }
    if (shape.micro_batches < p + (p <= 2 ? 1 : 0) || !are_of_transformers(times)) { return std::nullopt; }
    if (p == 2) { return longest(v_min_chains_of_two(shape), times); }
    return p % 3 == 0 ? longest(v_min_chains_of_three(shape), times) : longest(v_min_chains(shape), times);
}

/// `to_fold` stages are between the first one and the fold. No form is known of weight gradients that take longest.
std::optional<double> dualpipe_bubble(int to_fold, StageTimes const& chunk) {
    if (chunk.weight > std::min(chunk.forward, chunk.input)) { return std::nullopt; }
    double const k = to_fold;
    double const by_forward = k * (2.0 * chunk.forward + chunk.input - chunk.weight);
    double const by_gradients = (k - 1.0) * chunk.forward + k * (2.0 * chunk.input - chunk.weight);
    return to_fold == 0 ? by_forward : std::max(by_forward, by_gradients);
}

std::optional<double> zb_h1_bubble(PipelineShape const& shape, StageTimes const& times) {
    if (shape.micro_batches < shape.stages) { return std::nullopt; }
    double const least = std::min({times.weight, times.forward, times.input});
    return (shape.stages - 1.0) * (times.forward + times.input - least);
}

std::optional<double> zb_2p_bubble(PipelineShape const& shape, StageTimes const& times) {
    if (shape.micro_batches < 2 * shape.stages - 1) { return std::nullopt; }
    return (shape.stages - 1) *
           std::max({0.0, times.forward + times.input - 2.0 * times.weight, times.input - times.forward});
}

} // namespace

std::optional<double> published_bubble(PipelineSchedule id, PipelineShape const& shape, StageTimes const& times) {
    switch (id) {
    case PipelineSchedule::one_f_one_b:
    case PipelineSchedule::gpipe:
    case PipelineSchedule::interleaved: return (shape.stages - 1) * times.all() / shape.chunks;
    case PipelineSchedule::zb_h1: return zb_h1_bubble(shape, times);
    case PipelineSchedule::zb_2p: return zb_2p_bubble(shape, times);
    case PipelineSchedule::zbv: return zbv_bubble(shape, times);
    case PipelineSchedule::v_half: return v_half_bubble(shape, times);
    case PipelineSchedule::v_min: return v_min_bubble(shape, times);
    case PipelineSchedule::dualpipe: return dualpipe_bubble(shape.stages / 2 - 1, times);
    case PipelineSchedule::dualpipe_v:
        return dualpipe_bubble(shape.stages - 1, {times.forward / 2.0, times.input / 2.0, times.weight / 2.0});
    case PipelineSchedule::pipedream:
    case PipelineSchedule::count_: break;
    }
    return std::nullopt;
}

} // namespace headroom::test
