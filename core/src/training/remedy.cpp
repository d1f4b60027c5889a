#include "remedy.hpp"

#include "headroom/training/legality.hpp"
#include "headroom/training/optimizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace headroom::training {
namespace {

constexpr std::size_t most_remedies = 4; ///< named: more would hide the cheapest
constexpr std::size_t most_changes = 3;  ///< at once

/// Kinds of changes: of one kind a combination has one, and of two the later one saves more.
enum class Kind { zero, sequence, recompute, micro_batch, schedule, tensor, pipeline, optimizer, activations };

/// A change that saves memory, of steps that do; applied to a strategy that has it already, it changes nothing.
struct Remedy {
    std::string_view name;
    Kind kind;
    void (*apply)(Strategy&, StepSetting const&);
};

void use_schedule(Strategy& s, StepSetting const& setting, PipelineSchedule schedule) {
    if (s.pp > 1) { set_schedule(s, schedule, setting.model); }
}

/// More tensor ranks or stages out of the replicas, where the framework has them.
void from_replicas(Strategy& s, int Strategy::*degree, int times, bool offered) {
    if (!offered || s.dp % times != 0) { return; }
    s.dp /= times;
    s.*degree *= times;
}

template <int times> void more_tensor_ranks(Strategy& s, StepSetting const& setting) {
    from_replicas(s, &Strategy::tp, times, setting.framework.tensor_parallel);
}

template <int times> void more_stages(Strategy& s, StepSetting const& setting) {
    from_replicas(s, &Strategy::pp, times, setting.framework.pipeline);
}

template <PipelineSchedule schedule> void run_by(Strategy& s, StepSetting const& setting) {
    use_schedule(s, setting, schedule);
}

template <int stage> void shard_state(Strategy& s, StepSetting const& setting) {
    auto const& software = setting.framework;
    int const most = s.pp > 1 ? std::min(software.most_zero, software.pipeline_zero) : software.most_zero;
    if (stage <= most) { s.zero = std::max(s.zero, stage); }
}

template <Recompute kind> void recompute(Strategy& s, StepSetting const&) {
    if (s.recompute < kind) {
        s.recompute = kind;
        s.recomputed = 0;
    }
}

template <int times> void smaller_micro_batch(Strategy& s, StepSetting const&) {
    if (s.micro_batch % times == 0 && s.micro_batch > times) { s.micro_batch /= times; }
}

void offload_optimizer(Strategy& s, StepSetting const& setting) {
    bool const activations = offloads_activations(s.offload);
    if (offloads_optimizer(s.offload) || setting.cluster.host.bandwidth.base() <= 0.0) { return; }
    s.offload = activations ? Offload::both : Offload::optimizer;
}

void offload_activations(Strategy& s, StepSetting const& setting) {
    bool const optimizer = offloads_optimizer(s.offload);
    if (offloads_activations(s.offload) || offloads_parameters(s.offload)) { return; }
    if (setting.cluster.host.bandwidth.base() <= 0.0) { return; }
    s.offload = optimizer ? Offload::both : Offload::activations;
}

constexpr std::array remedies{
    Remedy{"ZeRO stage 1", Kind::zero, shard_state<1>},
    Remedy{"ZeRO stage 2", Kind::zero, shard_state<2>},
    Remedy{"ZeRO stage 3", Kind::zero, shard_state<3>},
    Remedy{"sequence parallelism", Kind::sequence,
           [](Strategy& s, StepSetting const&) { s.sequence_parallel = s.tp > 1; }},
    Remedy{"selective recomputation", Kind::recompute, recompute<Recompute::selective>},
    Remedy{"full recomputation", Kind::recompute, recompute<Recompute::full>},
    Remedy{"half the micro-batch", Kind::micro_batch, smaller_micro_batch<2>},
    Remedy{"a quarter of the micro-batch", Kind::micro_batch, smaller_micro_batch<4>},
    Remedy{"micro-batch 1", Kind::micro_batch, [](Strategy& s, StepSetting const&) { s.micro_batch = 1; }},
    Remedy{"1F1B", Kind::schedule, run_by<PipelineSchedule::one_f_one_b>},
    Remedy{"the V-Half schedule", Kind::schedule, run_by<PipelineSchedule::v_half>},
    Remedy{"the V-Min schedule", Kind::schedule, run_by<PipelineSchedule::v_min>},
    Remedy{"twice as many tensor ranks", Kind::tensor, more_tensor_ranks<2>},
    Remedy{"4 times as many tensor ranks", Kind::tensor, more_tensor_ranks<4>},
    Remedy{"8 times as many tensor ranks", Kind::tensor, more_tensor_ranks<8>},
    Remedy{"twice as many pipeline stages", Kind::pipeline, more_stages<2>},
    Remedy{"4 times as many pipeline stages", Kind::pipeline, more_stages<4>},
    Remedy{"optimizer state offloaded to host memory", Kind::optimizer, offload_optimizer},
    Remedy{"activations offloaded to host memory", Kind::activations, offload_activations},
};

/// Changes at once, as places in `remedies`, in order.
using Changes = std::vector<std::size_t>;

struct Cure {
    Changes changes;
    MemoryRemedy remedy;
};

/// The strategy after some changes; empty where one of them does nothing.
std::optional<Strategy> changed(Strategy strategy, Changes const& changes, StepSetting const& setting) {
    for (std::size_t const one : changes) {
        Strategy const before = strategy;
        remedies[one].apply(strategy, setting);
        if (strategy == before) { return {}; }
    }
    return strategy;
}

/// Whether each change of `fewer` is in `more`, or a stronger one of its kind.
bool includes(Changes const& more, Changes const& fewer) {
    return std::ranges::all_of(fewer, [&](std::size_t one) {
        return std::ranges::any_of(
            more, [&](std::size_t other) { return remedies[other].kind == remedies[one].kind && one <= other; });
    });
}

std::string name_of(Changes const& changes) {
    std::string name;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        name += i == 0 ? "" : i + 1 == changes.size() ? " and " : ", ";
        name += remedies[changes[i]].name;
    }
    return name;
}

/// Search for changes that make one strategy fit, fewer before more.
class Cures {
public:
    Cures(StepSetting const& setting, Strategy const& strategy, StepPrice const& price)
        : setting_{setting}, strategy_{strategy}, price_{price} {}

    std::vector<MemoryRemedy> cheapest() {
        for (std::size_t count = 1; count <= most_changes; ++count) {
            if (count > 2 && found_.size() >= most_remedies) { break; }
            add({}, count);
        }
        std::ranges::stable_sort(found_, {}, [](Cure const& one) { return one.remedy.step; });
        std::vector<MemoryRemedy> best;
        for (auto& one : found_) {
            if (best.size() < most_remedies) { best.push_back(std::move(one.remedy)); }
        }
        return best;
    }

private:
    void add(Changes const& changes, std::size_t more) { // NOLINT(misc-no-recursion): at most three deep
        if (more == 0) { return try_changes(changes); }
        for (std::size_t next = changes.empty() ? 0 : changes.back() + 1; next < remedies.size(); ++next) {
            if (!changes.empty() && remedies[changes.back()].kind == remedies[next].kind) { continue; }
            Changes with = changes;
            with.push_back(next);
            if (changed(strategy_, with, setting_)) { add(with, more - 1); }
        }
    }

    /// A change that is enough is not named again with a further one, nor a stronger one of its kind, unless that is faster.
    void try_changes(Changes const& changes) {
        bool const simple = changes.size() == 1;
        auto const enough = [&](Cure const& other) { return includes(changes, other.changes); };
        if (!simple && std::ranges::any_of(found_, enough)) { return; }
        auto const strategy = changed(strategy_, changes, setting_);
        if (!strategy || !illegal_because(*strategy, setting_.model, setting_.workload).empty()) { return; }
        auto const use = memory_use(setting_, *strategy);
        if (use.total() > usable_memory(setting_.cluster.accelerator, use)) { return; }
        if (!host_holds(use, setting_.cluster, strategy->workers())) { return; }
        auto const step = price_(*strategy);
        if (!std::isfinite(step.base())) { return; }
        bool const known = std::ranges::any_of(found_, [&](Cure const& other) {
            return other.remedy.strategy == *strategy || (enough(other) && other.remedy.step <= step);
        });
        if (!known) { found_.push_back({changes, {name_of(changes), *strategy, step, use.total(), use.footprint()}}); }
    }

    StepSetting const& setting_;
    Strategy const& strategy_;
    StepPrice const& price_;
    std::vector<Cure> found_;
};

/// "(+0.3 % step time, 61.2 GiB)"
std::string cost_words(Seconds step, MemoryRemedy const& with) {
    double const percent = (with.step / step - 1.0) * 100.0;
    std::string const peak = ", " + format_binary(with.footprint) + ")";
    long long const tenths = std::llround(std::abs(percent) * 10.0);
    if (tenths == 0) { return "(same step time" + peak; }
    std::string text = std::to_string(tenths / 10);
    if (tenths < 1000) { text += "." + std::to_string(tenths % 10); }
    return std::string{percent < 0.0 ? "(-" : "(+"} + text + " % step time" + peak;
}

/// Whether the strategy of a question fits.
bool fits(Question const& question) {
    static constexpr Calibration unused{}; // memory does not depend on time constants
    StepSetting const setting{question.model, question.cluster, question.framework, unused, question.workload};
    auto const use = memory_use(setting, question.strategy);
    return use.total() <= usable_memory(question.cluster.accelerator, use);
}

/// Whether it fits with sequences of a few tokens.
bool fits_shorter(Question question) {
    constexpr int few = 128;
    question.workload.sequence_length = std::min(question.workload.sequence_length, few);
    return fits(question);
}

/// "without gradient accumulation (--micro-batch 1 --global-batch 16)", "with frozen weights of 4 bits (--base nf4)": what
/// fits and changes the training; empty where neither does.
std::string other_training(Question const& question) {
    Question other = question;
    Strategy& s = other.strategy;
    for (int const micro_batch : {s.micro_batch, 1}) {
        s.micro_batch = micro_batch;
        other.workload.global_batch = s.dp * micro_batch;
        if (s.pp > 1 || other.workload.global_batch >= question.workload.global_batch || !fits(other)) { continue; }
        return "without gradient accumulation (--micro-batch " + std::to_string(micro_batch) + " --global-batch " +
               std::to_string(other.workload.global_batch) + ")";
    }
    auto const& vendor = question.cluster.accelerator.vendor;
    bool const wide = s.trained == Trained::lora && question.framework.frozen == FrozenFormat::sixteen_bit;
    if (!wide || s.tp > 1 || vendor == "Google" || vendor == "AWS") { return {}; } // no bitsandbytes
    other = question;
    other.framework = with_state(question.framework, {.frozen = FrozenFormat::nf4}, question.model);
    return fits(other) ? "with frozen weights of 4 bits (--base nf4)" : "";
}

} // namespace

std::vector<MemoryRemedy> remedies_that_fit(StepSetting const& setting, Strategy const& strategy,
                                            StepPrice const& price) {
    return Cures{setting, strategy, price}.cheapest();
}

std::string remedy_words(Question const& question, Seconds step, std::span<MemoryRemedy const> that_fit) {
    std::string const other = other_training(question);
    if (that_fit.empty()) {
        if (!other.empty()) { return "it would fit " + other; }
        if (question.framework.tensor_parallel || question.framework.pipeline) {
            return "more tensor or pipeline ranks are needed";
        }
        if (question.strategy.trained != Trained::lora) { return "more memory is needed, or LoRA (headroom finetune)"; }
        return fits_shorter(question) ? "more memory or a shorter sequence is needed" : "more memory is needed";
    }
    std::string text = "it would fit with ";
    for (std::size_t i = 0; i < that_fit.size(); ++i) {
        text += (i > 0 ? ", or " : "") + that_fit[i].change + " " + cost_words(step, that_fit[i]);
    }
    return other.empty() ? text : text + ", or " + other;
}

std::string memory_missing(MemoryUse const& memory, Bytes capacity) {
    return "needs " + format_binary(memory.footprint()) + " of " + format_binary(capacity) + " (" +
           format_binary(memory.footprint() - capacity) + " too much)";
}

} // namespace headroom::training
