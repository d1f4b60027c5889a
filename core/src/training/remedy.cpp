#include "remedy.hpp"

#include "headroom/training/legality.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace headroom::training {
namespace {

constexpr std::size_t most_remedies = 4; ///< named: more would hide the cheapest

/// A change that saves memory, of steps that do; applied to a strategy that has it already, it changes nothing.
struct Remedy {
    std::string_view name;
    void (*apply)(Strategy&, StepSetting const&);
    std::string_view includes = {}; ///< in the name of a simpler one: where that is enough, this says nothing new
};

void use_schedule(Strategy& s, StepSetting const& setting, PipelineSchedule schedule) {
    if (s.pp > 1) { set_schedule(s, schedule, setting.model); }
}

/// Twice the tensor ranks or stages out of half the replicas.
void from_replicas(Strategy& s, int Strategy::*degree, int times) {
    if (s.dp % times != 0) { return; }
    s.dp /= times;
    s.*degree *= times;
}

constexpr std::string_view sharded = "ZeRO stage 3", recomputed = "full recomputation";
constexpr std::string_view tensor = "as many tensor ranks", stages = "as many pipeline stages";

constexpr std::array remedies{
    Remedy{"ZeRO stage 1", [](Strategy& s, StepSetting const&) { s.zero = std::max(s.zero, 1); }},
    Remedy{"ZeRO stage 2", [](Strategy& s, StepSetting const&) { s.zero = std::max(s.zero, 2); }, "ZeRO stage"},
    Remedy{"sequence parallelism", [](Strategy& s, StepSetting const&) { s.sequence_parallel = s.tp > 1; }},
    Remedy{"selective recomputation",
           [](Strategy& s, StepSetting const&) {
               if (s.recompute == Recompute::none) { s.recompute = Recompute::selective; }
           }},
    Remedy{recomputed, [](Strategy& s, StepSetting const&) { s.recompute = Recompute::full; },
           "selective recomputation"},
    Remedy{"micro-batch 1", [](Strategy& s, StepSetting const&) { s.micro_batch = 1; }},
    Remedy{"full recomputation with micro-batch 1",
           [](Strategy& s, StepSetting const&) {
               s.recompute = Recompute::full;
               s.micro_batch = 1;
           },
           recomputed},
    Remedy{"1F1B",
           [](Strategy& s, StepSetting const& setting) { use_schedule(s, setting, PipelineSchedule::one_f_one_b); }},
    Remedy{"the V-Half schedule",
           [](Strategy& s, StepSetting const& setting) { use_schedule(s, setting, PipelineSchedule::v_half); }},
    Remedy{"the V-Min schedule",
           [](Strategy& s, StepSetting const& setting) { use_schedule(s, setting, PipelineSchedule::v_min); }},
    Remedy{"twice as many tensor ranks", [](Strategy& s, StepSetting const&) { from_replicas(s, &Strategy::tp, 2); }},
    Remedy{"4 times as many tensor ranks", [](Strategy& s, StepSetting const&) { from_replicas(s, &Strategy::tp, 4); },
           tensor},
    Remedy{"8 times as many tensor ranks", [](Strategy& s, StepSetting const&) { from_replicas(s, &Strategy::tp, 8); },
           tensor},
    Remedy{"twice as many pipeline stages",
           [](Strategy& s, StepSetting const&) { from_replicas(s, &Strategy::pp, 2); }},
    Remedy{"4 times as many pipeline stages",
           [](Strategy& s, StepSetting const&) { from_replicas(s, &Strategy::pp, 4); }, stages},
    Remedy{"optimizer state offloaded to host memory",
           [](Strategy& s, StepSetting const& setting) {
               bool const activations = offloads_activations(s.offload);
               if (offloads_optimizer(s.offload)) { return; }
               if (setting.cluster.host.bandwidth.base() <= 0.0) { return; }
               s.offload = activations ? Offload::both : Offload::optimizer;
           }},
    Remedy{"activations offloaded to host memory",
           [](Strategy& s, StepSetting const& setting) {
               bool const optimizer = offloads_optimizer(s.offload);
               if (offloads_activations(s.offload) || offloads_parameters(s.offload)) { return; }
               if (setting.cluster.host.bandwidth.base() <= 0.0) { return; }
               s.offload = optimizer ? Offload::both : Offload::activations;
           }},
    Remedy{sharded, [](Strategy& s, StepSetting const&) { s.zero = 3; }, "ZeRO stage"},
    Remedy{"ZeRO stage 3 with full recomputation",
           [](Strategy& s, StepSetting const&) {
               s.zero = 3;
               s.recompute = Recompute::full;
           },
           sharded},
    Remedy{"ZeRO stage 3 with full recomputation and micro-batch 1",
           [](Strategy& s, StepSetting const&) {
               s.zero = 3;
               s.recompute = Recompute::full;
               s.micro_batch = 1;
           },
           "ZeRO stage 3 with full recomputation"},
};

std::optional<MemoryRemedy> applied(Remedy const& remedy, StepSetting const& setting, Strategy const& strategy,
                                    StepPrice const& price) {
    Strategy changed = strategy;
    remedy.apply(changed, setting);
    if (changed == strategy || !illegal_because(changed, setting.model, setting.workload).empty()) { return {}; }
    auto const use = memory_use(setting, changed);
    if (use.total() > usable_memory(setting.cluster.accelerator, use)) { return {}; }
    auto const step = price(changed);
    if (!std::isfinite(step.base())) { return {}; }
    return MemoryRemedy{std::string{remedy.name}, changed, step, use.total()};
}

/// Whether a simpler change does as well, or this one has been found under another name.
bool is_redundant(Remedy const& remedy, MemoryRemedy const& one, std::span<MemoryRemedy const> found) {
    return std::ranges::any_of(found, [&](MemoryRemedy const& other) {
        bool const simpler = !remedy.includes.empty() && other.change.find(remedy.includes) != std::string::npos;
        return other.strategy == one.strategy || (simpler && other.step <= one.step);
    });
}

/// "(+0.3 % step time)"
std::string cost_words(Seconds step, Seconds with) {
    double const percent = (with / step - 1.0) * 100.0;
    long long const tenths = std::llround(std::abs(percent) * 10.0);
    if (tenths == 0) { return "(same step time)"; }
    std::string text = std::to_string(tenths / 10);
    if (tenths < 1000) { text += "." + std::to_string(tenths % 10); }
    return std::string{percent < 0.0 ? "(-" : "(+"} + text + " % step time)";
}

} // namespace

std::vector<MemoryRemedy> remedies_that_fit(StepSetting const& setting, Strategy const& strategy,
                                            StepPrice const& price) {
    std::vector<MemoryRemedy> found;
    for (auto const& remedy : remedies) {
        auto one = applied(remedy, setting, strategy, price);
        if (one && !is_redundant(remedy, *one, found)) { found.push_back(std::move(*one)); }
    }
    std::ranges::stable_sort(found, {}, &MemoryRemedy::step);
    found.resize(std::min(found.size(), most_remedies));
    return found;
}

std::string why_it_does_not_fit(MemoryUse const& memory, Bytes usable, Seconds step,
                                std::span<MemoryRemedy const> that_fit) {
    std::string text = "needs " + format_binary(memory.total()) + " of " + format_binary(usable) + " usable (" +
                       format_binary(memory.total() - usable) + " too much)";
    if (that_fit.empty()) { return text + "; more tensor or pipeline ranks are needed"; }
    text += "; it would fit with ";
    for (std::size_t i = 0; i < that_fit.size(); ++i) {
        text += (i > 0 ? ", or " : "") + that_fit[i].change + " " + cost_words(step, that_fit[i].step);
    }
    return text;
}

} // namespace headroom::training
