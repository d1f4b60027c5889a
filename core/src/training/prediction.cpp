#include "headroom/training/prediction.hpp"

#include "base/statistics/normal.hpp"
#include "lora_matrices.hpp"
#include "remedy.hpp"

#include "headroom/error.hpp"
#include "headroom/order_statistics.hpp"
#include "headroom/training/warm_start.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom::training {
namespace {

/// Arithmetic that the chip does not have.
void require_computable(Question const& question, FlopsPerSecond peak) {
    if (peak.base() <= 0.0) {
        throw InputError{Fault::usage,
                         {.where = question.cluster.accelerator.name,
                          .problem = "has no " + std::string{name_of(question.strategy.precision)} + " arithmetic",
                          .hint = "choose another --precision"}};
    }
}

/// The costs of a strategy with the pace that the answer has.
LayerCosts costs_of(StepSetting const& setting, Strategy const& strategy, double pace) {
    auto const shape = shape_of(strategy, setting.workload);
    auto costs = layer_costs(step_program(setting.model, shape, setting.framework), shape, setting.cluster,
                             setting.framework, setting.constants);
    costs.pace(pace);
    return costs;
}

/// A step with other constants, and with other latencies of the cluster's links.
Seconds step_with(Question const& question, Cluster const& cluster, Calibration const& constants, double pace) {
    Cluster const now = congested(cluster, question.disturbance.congestion, question.strategy.workers());
    StepSetting const setting = step_setting(question, now, constants);
    return price_step(setting, question.strategy, costs_of(setting, question.strategy, pace)).total();
}

/// Steps with one measured quantity at either end of its interval.
struct Ends {
    Seconds low, high;
};

/// Constants and latencies that were measured, each at the ends of its interval.
std::vector<Ends> measured_ends(Question const& question, CalibrationSet const& calibration, double pace) {
    std::vector<Ends> all;
    Calibration const constants = calibration.values();
    for (ConstantInfo const& info : headroom::training::constants()) {
        CalibratedConstant const& one = calibration[info.id];
        if (one.provenance != Provenance::measured || !(one.low < one.high)) { continue; }
        Calibration low = constants, high = constants;
        low[info.id] = one.low;
        high[info.id] = one.high;
        all.push_back(
            {step_with(question, question.cluster, low, pace), step_with(question, question.cluster, high, pace)});
    }
    auto const add_latency = [&](std::optional<network::MeasuredLink> const& link, Link Cluster::*level) {
        if (!link || !(link->latency_seconds.low < link->latency_seconds.high)) { return; }
        Cluster low = question.cluster, high = question.cluster;
        (low.*level).latency = Seconds{link->latency_seconds.low};
        (high.*level).latency = Seconds{link->latency_seconds.high};
        all.push_back({step_with(question, low, constants, pace), step_with(question, high, constants, pace)});
    };
    if (question.cluster.domain > 1) { add_latency(calibration.network.scale_up, &Cluster::scale_up); }
    add_latency(calibration.network.scale_out, &Cluster::scale_out);
    return all;
}

/// Scales of a framework, which is a guess where it is among the assumptions.
MemoryScale const& scale_of(MemorySpread const& spread, Framework const& framework,
                            std::span<Assumption const> assumptions) {
    return spread.of(framework.name, std::ranges::any_of(assumptions, [](Assumption const& assumption) {
                         return assumption.field == "framework";
                     }));
}

MemoryOdds odds_of(Prediction const& p, MemorySpread const& spread) {
    Bytes const footprint = p.memory.footprint(), uncertain = uncertain_bytes(spread, footprint, p.memory.state());
    auto const& scale = scale_of(spread, p.question.framework, p.question.assumptions);
    return {memory_range(scale, footprint, uncertain),
            probability_within(scale, footprint, uncertain, p.memory_capacity)};
}

void add_memory(Prediction& p, StepSetting const& setting, std::optional<MemorySpread> const& spread,
                Remedies remedies) {
    Accelerator const& chip = setting.cluster.accelerator;
    p.memory = memory_use(setting, p.question.strategy);
    p.memory_capacity = chip.memory;
    p.memory_usable = usable_memory(chip, p.memory);
    p.fits = p.memory.total() <= p.memory_usable;
    if (spread) { p.odds = odds_of(p, *spread); }
    p.host_needed = host_need(p.memory, setting.cluster, p.workers);
    if (p.fits && !host_holds(p.memory, setting.cluster, p.workers)) {
        p.fits = false;
        p.why_not = "needs " + format_binary(p.host_needed) + " of host memory a machine, which has " +
                    format_binary(setting.cluster.host_memory) + "; more machines, or less offloaded";
        if (p.odds) { p.odds->fits = 0.0; }
        return;
    }
    if (p.fits || remedies == Remedies::left_out) { return; }
    auto const price = [&](Strategy const& strategy) {
        return price_step(setting, strategy, costs_of(setting, strategy, p.pace)).total();
    };
    p.remedies = remedies_that_fit(setting, p.question.strategy, price);
    p.why_not = memory_missing(p.memory, p.memory_capacity) + "; " + remedy_words(p.question, p.step(), p.remedies);
}

void add_utilization(Prediction& p) {
    auto const& model = p.question.model;
    auto const& workload = p.question.workload;
    auto const& strategy = p.question.strategy;
    double const sequences = workload.global_batch;
    auto const forward = forward_flops(model, workload.tokens(), workload.attended(), p.convention);
    auto const in_full = forward_flops(model, workload.tokens(), workload.attended(), AttentionConvention::full);
    auto const share = [&p](Flops work) { return flops_utilization(work, p.step(), p.workers, p.peak); };
    p.tokens_per_second = sequences * workload.tokens() / p.step().base();
    RecomputedWork const again = recomputed_work(strategy, model);
    double const tokens = sequences * workload.tokens();
    p.model_flops =
        sequences * training_flops(forward, trained_work(strategy, model)) + tokens * lora_flops(model, strategy);
    p.hardware_flops = sequences * hardware_flops(forward, trained_work(strategy, model), again) +
                       tokens * lora_flops(model, strategy, again.matrix);
    p.mfu = share(p.model_flops);
    p.hfu = share(p.hardware_flops);
    p.mfu_full_attention = share(sequences * training_flops(in_full, trained_work(strategy, model)) +
                                 tokens * lora_flops(model, strategy));
}

void add_communication(Prediction& p, StepSetting const& setting, PricedStep const& priced) {
    p.communication = communication_rows(setting, p.question.strategy, p.costs, priced);
    Seconds all;
    for (auto const& row : p.communication) { all += row.seconds; }
    p.gamma = communication_to_computation(all, p.time.compute);
    // Serial fraction: exposed communication, bubble, stragglers and the fixed time do not shrink when workers are
    // added.
    Seconds const fixed = p.time.exposed_communication() + p.time.pipeline_bubble + p.time.stragglers + p.time.overhead;
    p.serial = {fixed / p.step(), p.workers};
    p.speedup_ceiling = p.serial.value > 0.0 ? 1.0 / p.serial.value : 0.0;
}

/// Adds the properties of the whole run: failures, and the effect of the critical batch.
void add_run(Prediction& p) {
    auto const& question = p.question;
    if (question.failures) {
        p.goodput =
            goodput_of(*question.failures, checkpoint_state(question.model, question.framework, question.strategy),
                       Ranks{p.workers}, Ranks{question.cluster.accelerators_per_node});
    }
    if (question.critical_batch) {
        p.statistics = statistics_of(*question.critical_batch, question.workload, question.tokens);
    }
}

} // namespace

Interval interval_of(Seconds step, Question const& question, CalibrationSet const& calibration, double pace) {
    Extrapolation const kind = extrapolation_of(question, calibration.seen);
    Band const band = band_of(calibration.bands, kind);
    CountRange const counted = question.model.range; // time grows with the weights that it may have more of
    double below = 0.0, above = 0.0;                 // sums of squares
    for (Ends const& one : measured_ends(question, calibration, pace)) {
        double const ends[] = {std::log(one.low / step), std::log(one.high / step)};
        below += std::pow(std::min({0.0, ends[0], ends[1]}), 2);
        above += std::pow(std::max({0.0, ends[0], ends[1]}), 2);
    }
    auto const widening = [](double end, double squares) {
        double const distance = std::abs(std::log(end));
        return std::exp(std::sqrt(distance * distance + squares) - distance);
    };
    return {step * band.low / widening(band.low, below) * counted.low,
            step * band.high * widening(band.high, above) * counted.high, band.coverage, kind};
}

double pace_of(Framework const& framework, Model const& model, CalibrationSet const& calibration,
               Accelerator const& chip, std::optional<Precision> precision) {
    auto const known = calibration.pace.find(framework.paced ? framework.name : framework.image_kernels);
    if (!runs_own_kernels(framework, model) || known == calibration.pace.end()) { return 1.0; }
    return std::max(known->second.factor,
                    least_pace(chip, precision.value_or(framework.precision), framework, calibration.values()));
}

double expected_slowest(Disturbance const& disturbance, Framework const& framework, int workers) {
    return disturbance.spread || framework.paced ? expected_maximum_normal(Ranks{workers}) : 0.0;
}

StepSetting step_setting(Question const& question, Cluster const& cluster, Calibration const& constants) {
    auto const& disturbance = question.disturbance;
    auto const& strategy = question.strategy;
    StepSetting setting{.model = question.model,
                        .cluster = cluster,
                        .framework = question.framework,
                        .constants = constants,
                        .workload = question.workload,
                        .disturbance = disturbance,
                        .expected_slowest = expected_slowest(disturbance, question.framework, strategy.workers())};
    if (disturbance.uneven) { setting.fullest_of[strategy.dp] = largest_over_mean(disturbance, strategy.dp); }
    return setting;
}

std::optional<Seconds> productive_time(Prediction const& p) {
    if (!p.question.tokens) { return std::nullopt; }
    double const needed = p.statistics ? p.statistics->samples_over_fewest() : 1.0;
    return Seconds{*p.question.tokens * needed / p.tokens_per_second};
}

std::optional<double> run_steps(Prediction const& p) {
    auto const work = productive_time(p);
    return work ? std::optional{*work / p.step()} : std::nullopt;
}

std::optional<Seconds> run_time(Prediction const& p) {
    auto const work = productive_time(p);
    if (!work || !p.progresses()) { return std::nullopt; }
    return *work * (p.goodput ? p.goodput->time_over_work : 1.0);
}

std::string fits_words(double probability) {
    constexpr double surely = 0.95;
    if (probability >= surely) { return "yes"; }
    if (probability < 1.0 - surely) { return "no"; }
    std::string const percent = std::to_string(std::lround(100.0 * probability)) + " %";
    return (probability < 0.5 ? "probably not (" : "probably (") + percent + ")";
}

std::string host_words(Prediction const& prediction) {
    if (prediction.host_needed.base() <= 0.0) { return {}; }
    Bytes const there = prediction.question.cluster.host_memory;
    return format_binary(prediction.host_needed) + " of host memory a machine" +
           (there.base() > 0.0 ? ", of " + format_binary(there) : ", which must be there");
}

std::string odds_words(MemoryOdds const& odds, Bytes capacity) {
    return fits_words(odds.fits) + ", " + format_binary(odds.footprint.low) + " to " +
           format_binary(odds.footprint.high) + " of " + format_binary(capacity);
}

MemoryMargin memory_margin(CalibrationSet const& calibration, Framework const& framework,
                           std::span<Assumption const> assumptions, double risk) {
    if (!calibration.memory) { return {}; }
    auto const& spread = *calibration.memory;
    return memory_margin(spread, scale_of(spread, framework, assumptions), risk);
}

Prediction predict(Question const& question, CalibrationSet const& calibration, Remedies remedies) {
    auto const& strategy = question.strategy;
    FlopsPerSecond const peak = peak_rate(question.cluster.accelerator, strategy.precision);
    require_computable(question, peak);
    Calibration const constants = calibration.values();
    auto const& disturbance = question.disturbance;
    Cluster const cluster = congested(question.cluster, disturbance.congestion, strategy.workers());
    StepSetting const setting = step_setting(question, cluster, constants);

    Prediction p;
    p.question = question;
    p.pace = question.pace.value_or(
        pace_of(question.framework, question.model, calibration, question.cluster.accelerator, strategy.precision));
    p.costs = costs_of(setting, strategy, p.pace);
    PricedStep const priced = price_step(setting, strategy, p.costs);
    p.time = priced.time;
    p.interval = interval_of(p.time.total(), question, calibration, p.pace);
    p.workers = strategy.workers();
    p.micro_batches = whole_micro_batches(strategy, question.workload);
    p.peak = peak;
    add_memory(p, setting, calibration.memory, remedies);
    add_utilization(p);
    add_communication(p, setting, priced);
    add_run(p);
    apply_warm_start(p, calibration);
    return p;
}

double probability_within(Prediction const& prediction, Seconds limit) {
    if (limit.base() <= 0.0) { return 0.0; }
    Interval const& interval = prediction.interval;
    double const distance = std::log(limit / prediction.step());
    if (distance == 0.0) { return 0.5; }
    double const side = std::log((distance > 0.0 ? interval.high : interval.low) / prediction.step());
    if (side == 0.0) { return distance > 0.0 ? 1.0 : 0.0; }
    double const at_end = normal_exceeded_by(0.5 * (1.0 - interval.coverage));
    double const beyond = normal_beyond(at_end * std::abs(distance / side));
    return distance > 0.0 ? 1.0 - beyond : beyond;
}

} // namespace headroom::training
