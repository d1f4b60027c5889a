#include "headroom/prediction.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Forward, and twice that backward; frozen weights have no gradient, so their products run backward once.
Flops training_flops(SequenceFlops const& forward, Strategy const& strategy) {
    if (strategy.trained == Trained::adapters) {
        return 2.0 * (forward.matrix + forward.head) + 3.0 * forward.attention;
    }
    return 3.0 * forward.total();
}

/// Hardware operations of one sequence: model operations plus what is computed again.
Flops hardware_flops_of(Model const& model, Strategy const& strategy, int sequence_length,
                        AttentionConvention convention) {
    auto const forward = forward_flops(model, sequence_length, convention);
    Flops const training = training_flops(forward, strategy);
    switch (strategy.recompute) {
    case Recompute::full: return training + forward.matrix + forward.attention;
    case Recompute::selective: return training + forward.attention;
    case Recompute::none: return training;
    }
    return training;
}

std::string gib(Bytes size) { return format_binary(size); }

/// In words: by how much a plan is too large and which change would make it fit, cheapest first.
std::string why_it_does_not_fit(StepSetting const& setting, Strategy const& strategy, MemoryUse const& memory) {
    Bytes const usable = usable_memory(setting.cluster.accelerator);
    std::string why = "needs " + gib(memory.total()) + " of " + gib(usable) + " usable (" +
                      gib(memory.total() - usable) + " too much)";
    auto const fits = [&](Strategy const& change) {
        return illegal_because(change, setting.model, setting.workload).empty() &&
               memory_use(setting, change).total() <= usable;
    };
    std::vector<std::string> cures;
    auto const try_change = [&](std::string name, auto edit) {
        Strategy change = strategy;
        edit(change);
        if (!(change == strategy) && fits(change)) { cures.push_back(std::move(name)); }
    };
    try_change("ZeRO stage 1", [](Strategy& s) { s.zero = std::max(s.zero, 1); });
    try_change("sequence parallelism", [](Strategy& s) { s.sequence_parallel = s.tp > 1; });
    try_change("selective recomputation", [](Strategy& s) {
        if (s.recompute == Recompute::none) { s.recompute = Recompute::selective; }
    });
    try_change("micro-batch 1", [](Strategy& s) { s.micro_batch = 1; });
    try_change("full recomputation", [](Strategy& s) { s.recompute = Recompute::full; });
    try_change("full recomputation with micro-batch 1", [](Strategy& s) {
        s.recompute = Recompute::full;
        s.micro_batch = 1;
    });
    try_change("ZeRO stage 3 with full recomputation", [](Strategy& s) {
        if (s.pp == 1) {
            s.zero = 3;
            s.recompute = Recompute::full;
            s.micro_batch = 1;
        }
    });
    std::erase_if(cures, [&](std::string const& cure) { // a cure that holds a simpler one says nothing new
        return std::ranges::any_of(cures,
                                   [&](std::string const& other) { return cure != other && cure.starts_with(other); });
    });
    if (cures.empty()) { return why + "; more tensor or pipeline ranks are needed"; }
    why += "; fits with " + cures.front();
    for (std::size_t i = 1; i < std::min<std::size_t>(cures.size(), 3); ++i) { why += ", or " + cures[i]; }
    return why;
}

Interval interval_of(Seconds step, std::vector<Assumption> const& assumptions, CalibrationSet const& calibration) {
    bool const structural = std::ranges::any_of(assumptions, &Assumption::structural);
    Band const& band = structural ? calibration.assumed : calibration.stated;
    return {step * band.low, step * band.high, band.coverage};
}

} // namespace

Prediction predict(Question const& question, CalibrationSet const& calibration) {
    if (question.model.moe.experts > 0) {
        throw InputError{Fault::usage,
                         {.where = question.model.name,
                          .problem = "mixtures of experts are counted but not timed yet",
                          .hint = "dense transformers are covered"}};
    }
    auto const& strategy = question.strategy;
    FlopsPerSecond const peak = peak_rate(question.cluster.accelerator, strategy.precision);
    if (peak.base() <= 0.0) {
        throw InputError{Fault::usage,
                         {.where = question.cluster.accelerator.name,
                          .problem = "has no " + std::string{name_of(strategy.precision)} + " arithmetic",
                          .hint = "choose another --precision"}};
    }
    Calibration const constants = calibration.values();
    StepSetting const setting{question.model, question.cluster, question.framework, constants, question.workload};
    auto const shape = shape_of(strategy, question.workload.sequence_length);

    Prediction p;
    p.question = question;
    p.costs = layer_costs(step_program(question.model, shape, question.framework), shape, question.cluster,
                          question.framework, constants);
    p.time = step_time(setting, strategy, p.costs);
    p.interval = interval_of(p.time.total(), question.assumptions, calibration);
    p.memory = memory_use(setting, strategy);
    p.memory_capacity = question.cluster.accelerator.memory;
    p.memory_usable = usable_memory(question.cluster.accelerator);
    p.fits = p.memory.total() <= p.memory_usable;
    if (!p.fits) { p.why_not = why_it_does_not_fit(setting, strategy, p.memory); }
    p.workers = strategy.workers();
    p.micro_batches = static_cast<int>(micro_batch_count(strategy, question.workload));
    p.peak = peak;

    double const sequences = question.workload.global_batch;
    int const length = question.workload.sequence_length;
    p.tokens_per_second = sequences * length / p.step().base();
    p.model_flops = sequences * training_flops(forward_flops(question.model, length, p.convention), strategy);
    p.hardware_flops = sequences * hardware_flops_of(question.model, strategy, length, p.convention);
    p.mfu = flops_utilization(p.model_flops, p.step(), p.workers, peak);
    p.hfu = flops_utilization(p.hardware_flops, p.step(), p.workers, peak);
    p.mfu_full_attention = flops_utilization(
        sequences * training_flops(forward_flops(question.model, length, AttentionConvention::full), strategy),
        p.step(), p.workers, peak);

    p.communication = communication_rows(setting, strategy, p.costs);
    Seconds communication;
    for (auto const& row : p.communication) { communication += row.seconds; }
    p.gamma = communication_to_computation(communication, p.time.compute);
    // What stays when workers are added: exposed communication, bubble and the fixed part.
    Seconds const fixed = p.time.exposed_communication() + p.time.pipeline_bubble + p.time.overhead;
    p.serial = {fixed / p.step(), p.workers};
    p.speedup_ceiling = p.serial.value > 0.0 ? 1.0 / p.serial.value : 0.0;
    return p;
}

} // namespace headroom
