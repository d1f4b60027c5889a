#include "stage_time.hpp"
#include "step_unroll.hpp"
#include "stream_order.hpp"
#include "training/traffic.hpp"

#include <algorithm>

namespace headroom::training {

using namespace headroom::laws;

namespace {

using namespace simulation;

/// Change of the work under way on a chip.
struct Event {
    Ticks at = 0;
    WorkKind kind = WorkKind::gemm;
    int change = 0;
};

/// Part of a run, from `begin` to `end`.
struct Window {
    Ticks begin = 0, end = 0;
};

/// Kinds of work in order of precedence: if several are under way, time counts as the first. Kernels are `gemm`.
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

    /// Time of a stage: over the whole run, or from the stage's first kernel to its last task. The latter includes weight
    /// gathers and copies before that kernel, which every step needs; in a pipeline they overlap with the wait for the
    /// first input. In a run without flush it is the measured part.
    [[nodiscard]] StageTime read(std::size_t chip, bool whole) const {
        Window const window = window_of(chip, whole);
        StageTime time;
        auto events = events_of(chip, window, time);
        std::ranges::sort(events, {}, &Event::at);
        sweep(events, window, time);
        if (!whole && steady_.empty()) { add_before_first_kernel(chip, time); }
        return time;
    }

private:
    [[nodiscard]] bool computes(TaskId task) const { return program_.streams[program_.stream[task]].computes; }

    [[nodiscard]] TaskId first_kernel(std::size_t chip) const {
        auto const found = std::ranges::find_if(by_chip_[chip], [this](TaskId task) { return computes(task); });
        return found == by_chip_[chip].end() ? no_task : *found;
    }

    [[nodiscard]] Window window_of(std::size_t chip, bool whole) const {
        if (!steady_.empty()) { return {run_.end[steady_[chip][0]], run_.end[steady_[chip][1]]}; }
        TaskId const first = first_kernel(chip);
        Window window{whole || first == no_task ? 0 : run_.begin[first], whole ? run_.makespan : 0};
        for (TaskId const task : by_chip_[chip]) {
            if (computes(task) || program_.kind[task] != WorkKind::pipeline) {
                window.end = std::max(window.end, run_.end[task]);
            }
        }
        return window;
    }

    /// Weights and copies that the first kernel waits for, under way from the start of the run.
    void add_before_first_kernel(std::size_t chip, StageTime& time) const {
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
        time[WorkKind::data] += weights;
        time[WorkKind::offload] += std::max<Ticks>(0, copies - weights);
    }

    /// Work that a stage has under way in the window; adds its kernels to `time`.
    std::vector<Event> events_of(std::size_t chip, Window const& window, StageTime& time) const {
        std::vector<Event> events;
        Ticks free = 0, launched = -1; // end of the last kernel, and of the launch of the next one
        for (TaskId const task : by_chip_[chip]) {
            if (program_.kind[task] == WorkKind::launch && !computes(task)) {
                launched = run_.end[task];
                continue;
            }
            if (computes(task)) { // a kernel that begins at the end of its launch has waited for it
                bool const measured = steady_.empty() || (free >= window.begin && launched <= window.end);
                if (launched == run_.begin[task] && launched > free && measured) {
                    events.push_back({std::max(free, window.begin), WorkKind::launch, 1});
                    events.push_back({launched, WorkKind::launch, -1});
                }
                free = run_.end[task];
                launched = -1;
            }
            Ticks const begin = std::max(run_.begin[task], window.begin), end = std::min(run_.end[task], window.end);
            bool const inside = steady_.empty() || (run_.begin[task] >= window.begin && run_.end[task] <= window.end);
            if (computes(task) && inside) {
                Ticks const cost = program_.cost[task];
                part_of(time, program_.kind[task]) += cost;
                time.slowed += run_.end[task] - run_.begin[task] - cost;
            }
            if (end <= begin) { continue; }
            WorkKind const kind = computes(task) ? WorkKind::gemm : program_.kind[task];
            events.push_back({begin, kind, 1});
            events.push_back({end, kind, -1});
        }
        return events;
    }

    /// Part of a stage's time that a task of its compute stream counts to.
    static Ticks& part_of(StageTime& time, WorkKind kind) {
        return kind == WorkKind::optimizer ? time.optimizer : kind == WorkKind::launch ? time[kind] : time.work;
    }

    static void sweep(std::vector<Event> const& events, Window const& window, StageTime& time) {
        std::array<int, work_kind_count> active{};
        Ticks now = window.begin;
        auto const spend = [&](Ticks until) {
            if (until <= now) { return; }
            auto const top = std::ranges::find_if(
                priorities, [&](WorkKind kind) { return active[static_cast<std::size_t>(kind)] > 0; });
            if (top == priorities.end()) {
                time.idle += until - now;
            } else if (*top != WorkKind::gemm) {
                time[*top] += until - now;
            }
            now = until;
        };
        for (Event const& event : events) {
            spend(event.at);
            active[static_cast<std::size_t>(event.kind)] += event.change;
        }
        spend(window.end);
    }

    StreamProgram const& program_;
    StreamRun const& run_;
    std::vector<std::array<TaskId, 2>> const& steady_; ///< by chip: kernels at the begin and the end of the measured
                                                       ///< part
    std::vector<std::vector<TaskId>> by_chip_;
};

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

/// Duration of one pass of a chunk: kernels and exposed collectives, block by block; none ends before the CPU has
/// launched it. The CPU launches the pass without a pause.
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

} // namespace

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
    bool const steady = !unrolled.steady.kernels.empty();
    bool const overlap = !steady && schedule_row(strategy.schedule()).validates_late;
    SpanReader const reader{unrolled, result.run};
    std::vector<StageTime> stages;
    for (std::size_t stage = 0; stage < unrolled.streams.size(); ++stage) {
        stages.push_back(reader.read(stage, !steady && !overlap));
    }
    StageTime const time = deciding_stage(stages, overlap).time;
    double const share = unrolled.steady.share;
    result.time = disturbed(parts_of(time, share, strategy.pp > 1), setting, strategy);
    result.makespan = share * seconds_of(time.all());
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
            // one pass overlaps with more traffic than its two halves
            if (!schedule_row(strategy.schedule()).splits_backward) {
                ticks.input = std::max<Ticks>(0, backward - ticks.weight);
            }
            ticks.weight += traffic.accumulate[static_cast<std::size_t>(chunk)];
            times.passes.push_back(ticks);
        }
    }
    Ticks const hop = ticks_of(hop_time(setting, strategy, place(strategy, setting.cluster.domain),
                                        calibrated_fabric(setting.cluster, setting.constants)));
    times.hop.assign(static_cast<std::size_t>(layout.shape.stages), hop);
    times.blocking = strategy.overlap[TrafficKind::pipeline] == Overlap::off;
    return times;
}

} // namespace headroom::training
