#include "step_unroller.hpp"
#include "training/traffic.hpp"

#include "headroom/training/placement.hpp"

#include <algorithm>
#include <utility>

namespace headroom::training::simulation {
namespace {

/// Streams that a strategy needs, and those among them that use the NIC.
struct RoleUse {
    std::array<bool, role_count> used{}, leaves{};
};

RoleUse role_use(StepSetting const& setting, Strategy const& strategy) {
    auto const placement = place(strategy, setting.cluster.domain);
    RoleUse use;
    auto const set = [&use](Role role, bool used, bool leaves) {
        use.used[static_cast<std::size_t>(role)] = used;
        use.leaves[static_cast<std::size_t>(role)] = leaves;
    };
    bool const pipeline = strategy.pp > 1;
    bool const crosses = placement.pipeline_leaves_domain;
    set(Role::compute, true, false);
    set(Role::host, setting.framework.host != HostPace::native || setting.model.moe.experts > 0, false);
    set(Role::tensor, strategy.tp > 1, placement.tensor.domains() > 1);
    set(Role::context, strategy.cp > 1, placement.context.domains() > 1);
    set(Role::experts, strategy.ep > 1, placement.experts.domains() > 1);
    set(Role::send_forward, pipeline, crosses);
    set(Role::send_backward, pipeline, crosses);
    bool const blocks = pipeline && strategy.overlap[TrafficKind::pipeline] == Overlap::off;
    set(Role::receive, blocks, false); // the other way on a link of both
    set(Role::receive_back, blocks, false);
    set(Role::data, true, placement.data.domains() > 1);
    set(Role::copies_out, strategy.offload != Offload::none, false);
    set(Role::copies_in, strategy.offload != Offload::none, false);
    return use;
}

constexpr std::array<std::string_view, role_count> role_names{
    "compute",   "launch",  "tensor",       "context",       "experts",        "send",
    "send back", "receive", "receive back", "data parallel", "to host memory", "from host memory"};

/// Warm-up rounds of p micro-batches before the measured ones, and the most that are measured.
constexpr int rounds_before = 2, most_rounds = 64;

std::optional<LongRun> long_run_of(StepSetting const& setting, Strategy const& strategy) {
    auto const shape = pipeline_shape(strategy, setting.workload);
    if (shape.stages == 1 || !schedule_row(strategy.schedule()).asynchronous) { return std::nullopt; }
    int const rounds = std::min(most_rounds, (shape.micro_batches + shape.stages - 1) / shape.stages);
    return LongRun{.before = rounds_before * shape.stages, .measured = rounds * shape.stages, .after = shape.stages};
}

StepLayout layout_of(StepSetting const& setting, Strategy const& strategy, std::optional<LongRun> const& run,
                     int micro_batches) {
    auto layout = step_layout(setting, strategy);
    if (micro_batches > 0) { layout.shape.micro_batches = micro_batches; }
    if (run) { layout.shape.micro_batches = run->all(); }
    return layout;
}

/// Size of the last micro-batch over that of the others; 1 in a long run.
double last_share(StepSetting const& setting, Strategy const& strategy, std::optional<LongRun> const& run) {
    double const missing =
        whole_micro_batches(strategy, setting.workload) - micro_batch_count(strategy, setting.workload);
    return run ? 1.0 : 1.0 - missing;
}

} // namespace

Unroller::Unroller(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                   SimulationOptions const& options, StepRecurrence* recurrence)
    : setting_{setting},
      strategy_{strategy},
      options_{options},
      recurrence_{recurrence},
      messages_{options.collectives == CollectiveDetail::messages
                    ? std::make_unique<StepMessages>(setting, strategy, options.stop)
                    : nullptr},
      long_run_{long_run_of(setting, strategy)},
      layout_{layout_of(setting, strategy, long_run_, options.micro_batches)},
      blocks_{block_order(setting, strategy)},
      units_{step_units(setting, strategy, costs, blocks_, options.detail, messages_.get())},
      rules_{data_rules(setting, strategy)},
      hop_{ticks_of(transfer_time())},
      blocking_{strategy.overlap[TrafficKind::pipeline] == Overlap::off},
      copies_block_{strategy.overlap[TrafficKind::offload] == Overlap::off},
      may_be_plain_{strategy.pp > 1 && !rules_.sharded && !long_run_ && strategy.offload == Offload::none},
      last_share_{last_share(setting, strategy, long_run_)} {
    if (!long_run_) { return; }
    result_.steady.share = micro_batch_count(strategy, setting.workload) / long_run_->measured;
    result_.steady.kernels.assign(static_cast<std::size_t>(layout_.shape.stages), {no_task, no_task});
}

UnrolledStep Unroller::run() && {
    write();
    if (messages_) {
        result_.stood_in = messages_->stood_in();
        result_.complete = result_.complete && messages_->complete();
    }
    return std::move(result_);
}

void Unroller::write() {
    auto const& shape = layout_.shape;
    auto const& row = schedule_row(strategy_.schedule());
    result_.refused = impossible_because(strategy_.schedule(), shape);
    if (!result_.refused.empty()) { return; }
    order_ = row.order(shape);
    write_streams();
    name_tasks();
    prepare();
    if (!result_.refused.empty()) { return; }
    if (!unroll()) { return; }
    for (int stage = 0; stage < shape.stages && !long_run_; ++stage) { finish(stage); }
    result_.program.names = units_.names.all();
}

Seconds Unroller::transfer_time() const {
    Seconds const closed = hop_time(setting_, strategy_, place(strategy_, setting_.cluster.domain),
                                    calibrated_fabric(setting_.cluster, setting_.constants));
    return messages_ ? closed * messages_->of_transfer() : closed;
}

void Unroller::write_streams() {
    auto const use = role_use(setting_, strategy_);
    for (int stage = 0; stage < layout_.shape.stages; ++stage) {
        auto& ids = result_.streams.emplace_back();
        ids.fill(no_stream);
        for (std::size_t role = 0; role < role_count; ++role) {
            if (!use.used[role]) { continue; }
            ids[role] = static_cast<StreamId>(result_.program.streams.size());
            result_.program.streams.push_back(
                {.name = "stage " + std::to_string(stage) + " " + std::string{role_names[role]},
                 .chip = static_cast<std::uint16_t>(stage),
                 .link = use.leaves[role] && options_.share_links ? static_cast<LinkIndex>(stage) : no_link,
                 .computes = static_cast<Role>(role) == Role::compute,
                 .network = static_cast<Role>(role) == Role::data});
            if (recurrence_ != nullptr) { recurrence_->add_stream(result_.program.streams.back()); }
        }
    }
    result_.program.slowdown = rules_.slowdown;
}

void Unroller::name_tasks() {
    send_name_ = units_.names.index("to the next stage");
    back_name_ = units_.names.index("to the stage before");
    receive_name_ = units_.names.index("receive");
    launch_name_ = units_.names.index("launch");
    overlapping_name_ = units_.names.index("overlaps with products");
    reduce_name_ = units_.names.index("gradients");
    gather_name_ = units_.names.index("weights");
    accumulate_name_ = units_.names.index("accumulate gradients");
    update_name_ = units_.names.index("update");
    compress_name_ = units_.names.index("compress gradients");
    blocking_name_ = units_.names.index("synchronise");
    out_name_ = units_.names.index("copy to host memory");
    in_name_ = units_.names.index("copy from host memory");
    host_name_ = units_.names.index("update on the CPU");
}

void Unroller::prepare() {
    auto const places = layout_.chunks.size();
    auto const micro_batches = static_cast<std::size_t>(layout_.shape.micro_batches);
    for (ChunkWork const& work : layout_.chunks) { chunk_units_.push_back(units_of(work, blocks_, units_)); }
    stages_.resize(static_cast<std::size_t>(layout_.shape.stages));
    next_ = order_.first;
    for (int stage = 0; stage < layout_.shape.stages; ++stage) {
        traffic_.push_back(stage_traffic(setting_, strategy_, layout_, stage, messages_.get()));
    }
    forward_.assign(places * micro_batches, no_task);
    back_.assign(places * micro_batches, no_task);
    if (offloads_activations(strategy_.offload)) { away_.assign(places * micro_batches, no_task); }
    done_forward_.assign(places * micro_batches, 0);
    done_back_.assign(places * micro_batches, 0);
    plain_.resize(4 * places);
    find_alike();
    if (recurrence_ != nullptr) { find_runs(); }
    for (int stage = 0; stage < layout_.shape.stages; ++stage) {
        for (int chunk = 0; chunk < layout_.shape.chunks; ++chunk) {
            auto const neighbour = [&](std::optional<ChunkPlace> const& place) {
                return place ? Neighbour{place_of(place->stage, place->chunk), place->stage != stage} : Neighbour{};
            };
            neighbours_.push_back({.before = neighbour(previous_place(layout_.shape, layout_.layout, {stage, chunk})),
                                   .after = neighbour(next_place(layout_.shape, layout_.layout, {stage, chunk}))});
        }
    }
    find_last_passes(places);
    std::int64_t const tasks = count_tasks();
    if (tasks > options_.most_tasks) {
        result_.refused = std::to_string(tasks) + " tasks are more than the " + std::to_string(options_.most_tasks) +
                          " that are simulated";
        return;
    }
    auto const size = static_cast<std::size_t>(tasks);
    if (recurrence_ != nullptr) {
        recurrence_->reserve(std::min(size, 4 * order_.passes.size())); // plain passes have at most four
    } else {
        result_.program.reserve(size);
    }
    if (rules_.sharded) { list_visits(); }
}

void Unroller::find_alike() {
    auto const chunks = static_cast<std::size_t>(layout_.shape.chunks);
    auto const accumulated = [&](std::size_t place) { return traffic_[place / chunks].accumulate[place % chunks]; };
    for (std::size_t place = 0; place < chunk_units_.size(); ++place) {
        std::size_t first = 0;
        while (chunk_units_[first] != chunk_units_[place] || accumulated(first) != accumulated(place)) { ++first; }
        alike_.push_back(first);
        sends_gradients_.push_back(
            std::ranges::any_of(traffic_[place / chunks].units[place % chunks],
                                [](UnitTraffic const& unit) { return unit.reduce > 0 || unit.compress > 0; }));
    }
}

void Unroller::find_last_passes(std::size_t places) {
    last_gradient_.assign(places, 0);
    first_forward_.assign(places, order_.passes.size());
    for (int stage = 0; stage < layout_.shape.stages; ++stage) {
        auto const s = static_cast<std::size_t>(stage);
        for (std::size_t i = order_.first[s]; i < order_.first[s + 1]; ++i) {
            Pass const& pass = order_.passes[i];
            auto const place = place_of(stage, pass.chunk);
            if (makes_gradients(pass.kind)) { last_gradient_[place] = i; }
            if (pass.kind == PassKind::forward) { first_forward_[place] = std::min(first_forward_[place], i); }
        }
    }
}

std::int64_t Unroller::count_tasks() const {
    std::vector<std::array<std::int64_t, 4>> of_place(chunk_units_.size());
    for (std::size_t place = 0; place < of_place.size(); ++place) {
        for (std::size_t kind = 0; kind < 4; ++kind) {
            std::int64_t& all = of_place[place][kind] = 2; // a transfer and the adding up
            std::int64_t tasks = 0;
            PassUnit const* before = nullptr;
            for (PassUnit const* unit : chunk_units_[place]) {
                if (unit != before) { tasks = static_cast<std::int64_t>(unit->passes[kind].tasks()); }
                all += tasks + (rules_.sharded ? 2 : 0);
                before = unit;
            }
        }
    }
    std::int64_t tasks = 0;
    for (int stage = 0; stage < layout_.shape.stages; ++stage) {
        for (Pass const& pass : order_.row(stage)) {
            tasks += of_place[place_of(stage, pass.chunk)][static_cast<std::size_t>(pass.kind)];
        }
    }
    return tasks;
}

void Unroller::list_visits() {
    for (int stage = 0; stage < layout_.shape.stages; ++stage) {
        auto const s = static_cast<std::size_t>(stage);
        auto& visits = visits_.emplace_back();
        for (std::size_t i = order_.first[s]; i < order_.first[s + 1]; ++i) {
            Pass const& pass = order_.passes[i];
            auto const& units = traffic_[s].units[pass.chunk];
            bool const forward = pass.kind == PassKind::forward;
            bool const first_or_last = i == (forward ? first_forward_ : last_gradient_)[place_of(stage, pass.chunk)];
            bool const gathers = pass.kind != PassKind::weight_gradient && // it reads no weights
                                 (rules_.gathers_each_micro_batch || first_or_last);
            double const times = !gathers ? 0.0 : forward ? 1.0 : rules_.backward_gathers;
            for (std::size_t u = 0; u < units.size(); ++u) {
                auto const whole = static_cast<double>(units[forward ? u : units.size() - 1 - u].gather);
                visits.push_back(static_cast<Ticks>(times * whole));
            }
        }
    }
}

UnrolledStep unroll_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                         SimulationOptions const& options, StepRecurrence* recurrence) {
    return Unroller{setting, strategy, costs, options, recurrence}.run();
}

} // namespace headroom::training::simulation
