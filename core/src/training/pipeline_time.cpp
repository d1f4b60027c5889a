#include "pipeline_time.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {
namespace {

constexpr double ticks_per_second = 1e12;

Ticks ticks_of(double seconds) { return static_cast<Ticks>(std::llround(seconds * ticks_per_second)); }

PipelineShape shape_of(PipelineWork const& work, double micro_batches) {
    return {.stages = work.stages, .chunks = work.chunks, .micro_batches = static_cast<int>(micro_batches)};
}

/// A figure that schedules give for whole micro-batches, in between of two of them.
template <class Figure> double at_micro_batches(double micro_batches, Figure figure) {
    double const below = std::floor(micro_batches);
    double const rest = micro_batches - below;
    double const low = figure(below);
    return rest > 0.0 ? low + rest * (figure(below + 1.0) - low) : low;
}

/// Passes of every place, of equal stages where they are not known one by one.
std::vector<PassTicks> places_of(PipelineWork const& work, PipelineShape const& shape, StageTimes const& stage) {
    auto const ticks = [](StageTimes const& times, double share) {
        return PassTicks{.forward = ticks_of(times.forward * share),
                         .input = ticks_of(times.input * share),
                         .weight = ticks_of(times.weight * share)};
    };
    std::vector<PassTicks> passes;
    for (StageTimes const& place : work.places) { passes.push_back(ticks(place, 1.0)); }
    if (!passes.empty()) { return passes; }
    double const share = work.schedule.layout == ChunkLayout::bidirectional ? 1.0 : 1.0 / shape.chunks;
    passes.assign(static_cast<std::size_t>(shape.stages) * static_cast<std::size_t>(shape.chunks), ticks(stage, share));
    return passes;
}

/// Traffic in ticks.
TrafficBeside beside_of(PipelineWork const& work) {
    TrafficBeside beside = work.beside;
    for (ChunkTraffic& chunk : beside.chunks) {
        for (double ChunkTraffic::*part : {&ChunkTraffic::gather, &ChunkTraffic::reduce, &ChunkTraffic::update}) {
            chunk.*part *= ticks_per_second;
        }
    }
    return beside;
}

/// The rows of so many whole micro-batches: alone, with transfers, and with traffic.
RowsRun run_of_rows(PipelineWork const& work, double micro_batches, double hop, bool blocking) {
    auto const shape = shape_of(work, micro_batches);
    if (!impossible_because(work.schedule.id, shape).empty()) { return {}; } // a ragged count of micro-batches
    auto const order = work.schedule.order(shape);
    PipelineTimes times{.passes = places_of(work, shape, work.slowest), .hop = {}};
    auto const length = [&](TrafficBeside const& beside) {
        auto const run = run_beside(order, times, beside);
        return static_cast<double>(work.schedule.validates_late ? run.longest : run.end) / ticks_per_second;
    };
    double const alone = length({});
    times.hop.assign(static_cast<std::size_t>(shape.stages), ticks_of(hop));
    times.blocking = blocking;
    double const handed_on = hop > 0.0 ? length({}) : alone;
    double const all = work.beside.chunks.empty() ? handed_on : length(beside_of(work)) - work.update;
    return {.bubble = std::max(0.0, alone - micro_batches * work.slowest.all()),
            .transfers = std::max(0.0, handed_on - alone),
            .data = std::max(0.0, all - handed_on)};
}

constexpr double most_run = 1 << 20; ///< passes; of more the wait is continued

double unrolled_wait(PipelineWork const& work, PipelineShape const& shape, StageTimes const& stage, double hop,
                     bool blocking);

/// The wait of a long step, from two shorter ones: by then rows are in step with themselves, and every further round of
/// micro-batches waits as long as the one before.
double continued_wait(PipelineWork const& work, PipelineShape shape, StageTimes const& stage, double hop,
                      bool blocking) {
    int const micro_batches = shape.micro_batches, round = 2 * shape.stages; // what every schedule goes round by
    double const rounds = most_run / (3.0 * shape.stages * shape.chunks * round);
    int const far = round * std::max(8, static_cast<int>(rounds)),
              near = round * std::max(4, static_cast<int>(rounds / 2));
    auto const wait = [&](int count) {
        shape.micro_batches = count;
        return unrolled_wait(work, shape, stage, hop, blocking);
    };
    double const there = wait(far);
    return there + (there - wait(near)) / (far - near) * (micro_batches - far);
}

/// What running the rows takes beside the work of one stage.
double unrolled_wait(PipelineWork const& work, PipelineShape const& shape, StageTimes const& stage, double hop,
                     bool blocking) {
    double const passes = 3.0 * shape.stages * shape.chunks * shape.micro_batches;
    if (passes > most_run && shape.micro_batches > 16 * shape.stages) {
        return continued_wait(work, shape, stage, hop, blocking);
    }
    if (!impossible_because(work.schedule.id, shape).empty()) { return 0.0; } // a ragged count of micro-batches
    auto const run = run_pipeline(work.schedule.order(shape),
                                  {.passes = places_of(work, shape, stage),
                                   .hop = std::vector<Ticks>(static_cast<std::size_t>(shape.stages), ticks_of(hop)),
                                   .blocking = blocking});
    if (!run) { return 0.0; }
    bool const by_period = work.schedule.asynchronous || work.schedule.validates_late;
    auto const length = static_cast<double>(by_period ? run->period : run->makespan) / ticks_per_second;
    return std::max(0.0, length - shape.micro_batches * stage.all());
}

double bubble_of(PipelineWork const& work, double micro_batches) {
    auto const shape = shape_of(work, micro_batches);
    if (!work.places.empty()) { return unrolled_wait(work, shape, work.slowest, 0.0, false); }
    auto const known = work.schedule.bubble ? work.schedule.bubble(shape, work.others) : std::nullopt;
    return known ? *known : unrolled_wait(work, shape, work.others, 0.0, false);
}

/// Transfers of interleaved 1F1B that are longer than those for which the table has a form: the same, and a round trip over
/// the stages every p micro-batches for what exceeds the mean pass of a chunk; where transfers block, the table's own.
double long_hops(PipelineWork const& work, PipelineShape const& shape, double hop, bool blocking) {
    double const p = shape.stages, m = shape.micro_batches, v = shape.chunks;
    auto const& stage = work.slowest;
    double const shorter = std::min(stage.forward, stage.input + stage.weight) / v, mean = stage.all() / (2.0 * v);
    if (blocking) {
        double const each = p == 2.0 ? (2.0 * v - 0.5) * m : 2.0 * v * m + 2.0 * p - 6.0;
        return std::max(
            {((2.0 * v - 1.0) * m + 2.0 * p - 3.0) * hop, each * hop - 2.0 * shorter, (each + 1.0) * hop - 2.0 * mean});
    }
    return 2.0 * (p * v - 1.0) * hop + std::max(0.0, m - p) * (v - 1.0) * std::max(0.0, hop - shorter) +
           (p - 1.0) * m / p * std::max(0.0, hop - mean);
}

double hops_of(PipelineWork const& work, double micro_batches, double hop, bool blocking) {
    auto const shape = shape_of(work, micro_batches);
    bool const as_they_are = !work.places.empty();
    auto const known =
        !as_they_are && work.schedule.hops ? work.schedule.hops(shape, work.slowest, hop, blocking) : std::nullopt;
    if (known) { return *known; }
    if (work.schedule.id == PipelineSchedule::interleaved) { return long_hops(work, shape, hop, blocking); }
    return std::max(0.0, unrolled_wait(work, shape, work.slowest, hop, blocking) -
                             unrolled_wait(work, shape, work.slowest, 0.0, blocking));
}

} // namespace

PassCost weight_pass(LayerCost const& cost) {
    if (cost.weight_gradient.base() <= 0.0) { return {}; }
    return {.chip = cost.weight_gradient, .host = cost.host_forward};
}

StageTimes passes_of(LayerCost const& cost, double total) {
    auto const backward = cost.backward_pass();
    auto const weight = weight_pass(cost);
    double const forward = std::min(total, cost.forward().base()), back = total - forward;
    double const share = backward.chip.base() > 0.0 ? std::min(1.0, weight.chip / backward.chip) : 0.0;
    return {.forward = forward, .input = back * (1.0 - share), .weight = back * share};
}

StageTimes split_passes_of(LayerCost const& cost) {
    auto const backward = cost.backward_pass();
    auto const weight = weight_pass(cost);
    PassCost const input{.chip = backward.chip - weight.chip, .host = backward.host - weight.host};
    return {.forward = cost.forward().base(), .input = input.total().base(), .weight = weight.total().base()};
}

RowsRun run_of_rows(PipelineWork const& work, double hop, bool blocking) {
    double const below = std::floor(work.micro_batches), rest = work.micro_batches - below;
    RowsRun low = run_of_rows(work, below, hop, blocking);
    if (rest <= 0.0) { return low; }
    RowsRun const high = run_of_rows(work, below + 1.0, hop, blocking);
    for (double RowsRun::*part : {&RowsRun::bubble, &RowsRun::transfers, &RowsRun::data}) {
        low.*part += rest * (high.*part - low.*part);
    }
    return low;
}

double pipeline_bubble_seconds(PipelineWork const& work) {
    return at_micro_batches(work.micro_batches, [&](double m) { return bubble_of(work, m); });
}

PipelineHops pipeline_hops(PipelineWork const& work, double hop, bool blocking) {
    if (hop <= 0.0) { return {}; }
    double const all =
        at_micro_batches(work.micro_batches, [&](double m) { return hops_of(work, m, hop, blocking); }) / hop;
    double const filling = work.schedule.asynchronous ? 0.0 : std::min(all, 2.0 * (work.stages - 1));
    double const v = work.chunks;
    bool const turns = work.schedule.id == PipelineSchedule::interleaved; // waits only while it fills and drains
    return {.filling = filling,
            .steady = all - filling,
            .spare = !work.places.empty() ? 0.0
                     : turns              ? work.stages * (v - 1.0) / v
                                          : std::max(0.0, work.micro_batches - 1.0)};
}

} // namespace headroom::training
