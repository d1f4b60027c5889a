#include "step_unroll.hpp"
#include "stream_order.hpp"
#include "training/traffic.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {

using namespace headroom::laws;

namespace {

using namespace simulation;

constexpr double seconds_per_tick = 1e-12;
Seconds seconds_of(Ticks ticks) { return Seconds{static_cast<double>(ticks) * seconds_per_tick}; }

/// Begin and end of a stage's span, and its time by kind of work. Where several kinds are under way, computation counts
/// first, then communication in the order of `WorkKind`, then launch waits, then host copies.
struct StageSpan {
    Ticks begin = 0, end = 0;
    Ticks work = 0;                               ///< kernels of passes, at their own rate
    Ticks optimizer = 0;                          ///< accumulation and update, at their own rate
    Ticks slowed = 0;                             ///< slowdown of kernels by network traffic
    std::array<Ticks, work_kind_count> exposed{}; ///< exposed time by kind
    Ticks idle = 0;
    [[nodiscard]] Ticks all() const { return end - begin; }
};

/// Change of the work under way on a chip.
struct Event {
    Ticks at = 0;
    WorkKind kind = WorkKind::gemm;
    int change = 0;
};

/// Computation on top, the host at the bottom.
constexpr std::array priorities{WorkKind::gemm,     WorkKind::tensor, WorkKind::context, WorkKind::experts,
                                WorkKind::pipeline, WorkKind::data,   WorkKind::launch,  WorkKind::offload};

class SpanReader {
public:
    SpanReader(UnrolledStep const& step, StreamRun const& run)
        : program_{step.program}, run_{run}, steady_{step.steady.kernels} {
        for (std::size_t task = 0; task < program_.size(); ++task) {
            auto const chip = program_.streams[program_.stream[task]].chip;
            if (by_chip_.size() <= chip) { by_chip_.resize(chip + 1U); }
            by_chip_[chip].push_back(static_cast<TaskId>(task));
        }
    }

    /// Span of a stage: the whole run, or from the stage's first kernel to its last task. The latter includes weight
    /// gathers and copies before that kernel, which every step needs; in a pipeline they overlap with the wait for the
    /// first input. In a run without flush it is the measured part.
    [[nodiscard]] StageSpan read(std::size_t chip, bool whole) const {
        StageSpan span;
        if (!steady_.empty()) {
            span.begin = run_.end[steady_[chip][0]];
            span.end = run_.end[steady_[chip][1]];
            auto events = events_of(chip, span);
            std::ranges::sort(events, {}, &Event::at);
            sweep(events, span);
            return span;
        }
        TaskId const first = first_kernel(chip);
        span.begin = whole || first == no_task ? 0 : run_.begin[first];
        for (TaskId const task : by_chip_[chip]) {
            if (computes(task) || program_.kind[task] != WorkKind::pipeline) {
                span.end = std::max(span.end, run_.end[task]);
            }
        }
        if (whole) { span.end = std::max(span.end, run_.makespan); }
        auto events = events_of(chip, span);
        std::ranges::sort(events, {}, &Event::at);
        sweep(events, span);
        if (!whole) { add_before_first_kernel(chip, span); }
        return span;
    }

private:
    [[nodiscard]] bool computes(TaskId task) const { return program_.streams[program_.stream[task]].computes; }

    [[nodiscard]] TaskId first_kernel(std::size_t chip) const {
        auto const found = std::ranges::find_if(by_chip_[chip], [this](TaskId task) { return computes(task); });
        return found == by_chip_[chip].end() ? no_task : *found;
    }

    /// Weights and copies that the first kernel waits for, under way from the start of the run.
    void add_before_first_kernel(std::size_t chip, StageSpan& span) const {
        Ticks weights = 0, copies = 0;
        TaskId const first = first_kernel(chip);
        for (Edge const& edge : program_.edges) {
            WorkKind const waits = program_.kind[edge.to];
            bool const of_chip =
                program_.streams[program_.stream[edge.to]].chip == program_.streams[program_.stream[first]].chip;
            if (!of_chip || run_.begin[edge.to] > run_.begin[first]) { continue; }
            if (waits == WorkKind::data || waits == WorkKind::offload) { continue; }
            WorkKind const kind = program_.kind[edge.from];
            if (kind == WorkKind::data) { weights = std::max(weights, run_.end[edge.from]); }
            if (kind == WorkKind::offload) { copies = std::max(copies, run_.end[edge.from]); }
        }
        span.exposed[static_cast<std::size_t>(WorkKind::data)] += weights;
        span.exposed[static_cast<std::size_t>(WorkKind::offload)] += std::max<Ticks>(0, copies - weights);
        span.begin -= std::max(weights, copies);
    }

    std::vector<Event> events_of(std::size_t chip, StageSpan& span) const {
        std::vector<Event> events;
        Ticks free = 0, launched = -1; // end of the last kernel, and of the launch of the next one
        for (TaskId const task : by_chip_[chip]) {
            if (program_.kind[task] == WorkKind::launch && !computes(task)) {
                launched = run_.end[task];
                continue;
            }
            if (computes(task)) { // the host is in the way where a kernel begins as soon as it is launched
                bool const measured = steady_.empty() || (free >= span.begin && launched <= span.end);
                if (launched == run_.begin[task] && launched > free && measured) {
                    events.push_back({std::max(free, span.begin), WorkKind::launch, 1});
                    events.push_back({launched, WorkKind::launch, -1});
                }
                free = run_.end[task];
                launched = -1;
            }
            Ticks const begin = std::max(run_.begin[task], span.begin), end = std::min(run_.end[task], span.end);
            bool const inside = steady_.empty() || (run_.begin[task] >= span.begin && run_.end[task] <= span.end);
            if (computes(task) && inside) {
                Ticks const cost = program_.cost[task];
                part_of(span, program_.kind[task]) += cost;
                span.slowed += run_.end[task] - run_.begin[task] - cost;
            }
            if (end <= begin) { continue; }
            WorkKind const kind = computes(task) ? WorkKind::gemm : program_.kind[task];
            events.push_back({begin, kind, 1});
            events.push_back({end, kind, -1});
        }
        return events;
    }

    /// Where the time of a kernel goes, or of a wait between kernels.
    static Ticks& part_of(StageSpan& span, WorkKind kind) {
        switch (kind) {
        case WorkKind::optimizer: return span.optimizer;
        case WorkKind::launch: return span.exposed[static_cast<std::size_t>(WorkKind::launch)];
        default: return span.work;
        }
    }

    static void sweep(std::vector<Event> const& events, StageSpan& span) {
        std::array<int, work_kind_count> active{};
        Ticks now = span.begin;
        auto const spend = [&](Ticks until) {
            if (until <= now) { return; }
            auto const top = std::ranges::find_if(
                priorities, [&](WorkKind kind) { return active[static_cast<std::size_t>(kind)] > 0; });
            if (top == priorities.end()) {
                span.idle += until - now;
            } else if (*top != WorkKind::gemm) {
                span.exposed[static_cast<std::size_t>(*top)] += until - now;
            }
            now = until;
        };
        for (Event const& event : events) {
            spend(event.at);
            active[static_cast<std::size_t>(event.kind)] += event.change;
        }
        spend(span.end);
    }

    StreamProgram const& program_;
    StreamRun const& run_;
    std::vector<std::array<TaskId, 2>> const& steady_; ///< by chip: kernels at the begin and the end of the measured
                                                       ///< part
    std::vector<std::vector<TaskId>> by_chip_;
};

/// Part of the run whose duration is the step time.
enum class Measured : std::uint8_t {
    run,    ///< the longest span of a stage: stages continue with the next step
    span,   ///< a part of a long run without flush
    steady, ///< a part of a long run that no flush interrupts
};
Measured measured_of(UnrolledStep const& step, Strategy const& strategy) {
    if (!step.steady.kernels.empty()) { return Measured::steady; }
    return schedule_row(strategy.schedule()).validates_late ? Measured::span : Measured::run;
}

/// Time in which a stage does not wait for another stage.
Ticks not_waiting(StageSpan const& span) {
    return span.all() - span.idle - span.exposed[static_cast<std::size_t>(WorkKind::pipeline)];
}

/// Span of the stage that determines the step: the one that works longest, where steps overlap with the time of the longest
/// span; in a long run, where all spans are equal, the one that waits least for others.
StageSpan deciding_span(SpanReader const& reader, StreamRun const& run, std::size_t stages, Measured measured) {
    StageSpan longest;
    Ticks period = 0;
    for (std::size_t stage = 0; stage < stages; ++stage) {
        StageSpan const span = reader.read(stage, measured == Measured::run);
        period = std::max(period, span.all());
        if (stage == 0 || not_waiting(span) > not_waiting(longest)) { longest = span; }
    }
    if (measured == Measured::span) {
        Ticks const waits = period - longest.all();
        longest.end += waits;
        longest.idle += waits;
    }
    if (measured == Measured::run) { longest.end = std::max(longest.end, run.makespan); }
    return longest;
}

/// Parts of a step from the span of the deciding stage; they sum to the step's share of the span.
StepTime parts_of(StageSpan const& span, double share, bool pipeline) {
    auto const of_step = [share](Ticks ticks) { return share * seconds_of(ticks); };
    auto const exposed = [&](WorkKind kind) { return of_step(span.exposed[static_cast<std::size_t>(kind)]); };
    StepTime time;
    time.compute = of_step(span.work);
    time.optimizer = of_step(span.optimizer);
    time.tensor_communication = exposed(WorkKind::tensor);
    time.context_communication = exposed(WorkKind::context);
    time.expert_communication = exposed(WorkKind::experts);
    time.pipeline_communication = exposed(WorkKind::pipeline);
    time.data_communication = exposed(WorkKind::data) + of_step(span.slowed);
    time.offload = exposed(WorkKind::offload);
    time.host = exposed(WorkKind::launch);
    (pipeline ? time.pipeline_bubble : time.host) += of_step(span.idle);
    return time;
}

std::vector<SimulatedStage> stages_of(StreamRun const& run) {
    std::vector<SimulatedStage> stages;
    for (ChipUse const& chip : run.chips) {
        SimulatedStage stage{.computing = seconds_of(chip.computing), .idle = seconds_of(chip.idle)};
        for (std::size_t kind = 0; kind < work_kind_count; ++kind) {
            stage.busy[kind] = seconds_of(chip.busy[kind]);
            stage.exposed[kind] = seconds_of(chip.exposed[kind]);
        }
        stages.push_back(stage);
    }
    return stages;
}

} // namespace

namespace simulation {

Ticks pass_ticks(std::vector<PassUnit const*> const& units, PassKind kind) {
    Ticks chip = 0, host = 0;
    auto const run = [&](UnitPass const& pass) {
        host += pass.host();
        chip = std::max(chip + pass.chip(), host);
    };
    if (kind == PassKind::forward) {
        for (PassUnit const* unit : units) { run((*unit)[kind]); }
    } else {
        for (std::size_t i = units.size(); i-- > 0;) { run((*units[i])[kind]); }
    }
    return chip;
}

} // namespace simulation

SimulatedStep simulate_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                            SimulationOptions const& options) {
    SimulatedStep result;
    auto unrolled = unroll_step(setting, strategy, costs, options);
    result.refused = std::move(unrolled.refused);
    result.stood_in = std::move(unrolled.stood_in);
    result.run.complete = unrolled.complete;
    if (!result.refused.empty() || !unrolled.complete) { return result; }
    result.run = run_streams(unrolled.program, options.stop);
    if (!result.run.complete) { return result; }
    Measured const measured = measured_of(unrolled, strategy);
    auto const span = deciding_span(SpanReader{unrolled, result.run}, result.run, unrolled.streams.size(), measured);
    double const share = unrolled.steady.share;
    result.time = parts_of(span, share, strategy.pp > 1);
    add_disturbance(result.time, setting, strategy);
    result.makespan = share * seconds_of(measured == Measured::run ? result.run.makespan : span.all());
    result.stages = stages_of(result.run);
    for (std::size_t kind = 0; kind < work_kind_count; ++kind) {
        result.critical[kind] = seconds_of(result.run.critical[kind]);
    }
    result.critical_stretch = seconds_of(result.run.critical_stretch);
    result.program = std::move(unrolled.program);
    result.places = std::move(unrolled.places);
    return result;
}

PipelineTimes pipeline_times(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    auto const layout = step_layout(setting, strategy);
    auto const blocks = block_order(setting, strategy);
    auto const units = step_units(setting, strategy, costs, blocks, StepDetail::block);
    PipelineTimes times;
    for (int stage = 0; stage < layout.shape.stages; ++stage) {
        auto const traffic = stage_traffic(setting, strategy, layout, stage);
        for (int chunk = 0; chunk < layout.shape.chunks; ++chunk) {
            auto const all = units_of(layout.at(stage, chunk), blocks, units);
            Ticks const backward = pass_ticks(all, PassKind::backward);
            PassTicks ticks{.forward = pass_ticks(all, PassKind::forward),
                            .input = pass_ticks(all, PassKind::input_gradient),
                            .weight = pass_ticks(all, PassKind::weight_gradient)};
            // one pass hides more than its two halves
            if (!schedule_row(strategy.schedule()).splits_backward) {
                ticks.input = std::max<Ticks>(0, backward - ticks.weight);
            }
            ticks.weight += traffic.accumulate[static_cast<std::size_t>(chunk)];
            times.passes.push_back(ticks);
        }
    }
    Ticks const hop = ticks_of(hop_time(setting, strategy, calibrated_fabric(setting.cluster, setting.constants)));
    times.hop.assign(static_cast<std::size_t>(layout.shape.stages), hop);
    times.blocking = strategy.overlap[TrafficKind::pipeline] == Overlap::off;
    return times;
}

} // namespace headroom::training
