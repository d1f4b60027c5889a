#include "step_unroll.hpp"

#include "training/traffic.hpp"

#include "headroom/placement.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace headroom::simulation {
namespace {

constexpr TaskId no_task = std::numeric_limits<TaskId>::max();

/// Which streams a strategy needs, and which of them leave the chip by its adapter.
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
    set(Role::receive, pipeline && strategy.overlap == Overlap::off, false); // the other way on a link of both
    set(Role::data, true, placement.data.domains() > 1);
    set(Role::copies, strategy.offload != Offload::none, false);
    return use;
}

constexpr std::array<std::string_view, role_count> role_names{"compute",       "launch",     "tensor",    "context",
                                                              "experts",       "send",       "send back", "receive",
                                                              "data parallel", "host copies"};

/// What a stage has written so far.
struct StageState {
    std::size_t next = 0;              ///< of its row
    TaskId compute = no_task;          ///< its last kernel
    TaskId before_visit = no_task;     ///< its last kernel when the visit before this one began
    TaskId host_waits = no_task;       ///< what the next launch waits for
    std::vector<TaskId> pending;       ///< what the next kernel waits for beside the last one
    std::vector<TaskId> kernels;       ///< of the visit under way
    std::vector<TaskId> sent_blocking; ///< transfers that the next pass waits for
    // gradients that wait for their bucket to be full
    Ticks bucket = 0, held_back = 0;
    double bucket_elements = 0.0;
    TaskId data = no_task;               ///< the last task of gradients
    std::size_t gathered = 0, visit = 0; ///< of ZeRO 3: visits whose weights are on their way; visits begun
};

/// One pass of one unit of ZeRO 3, by number.
struct Visit {
    Ticks gather = 0;
};

/// The block that a unit of a chunk is; -1 for the ends of the model.
std::int32_t layer_of(ChunkWork const& work, std::size_t unit) {
    int const block = static_cast<int>(unit) - (work.embedding ? 1 : 0);
    return block >= 0 && block < work.blocks ? work.first_block + block : -1;
}

class Unroller {
public:
    Unroller(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
             SimulationOptions const& options)
        : setting_{setting},
          strategy_{strategy},
          options_{options},
          layout_{step_layout(setting, strategy)},
          blocks_{block_order(setting, strategy)},
          units_{step_units(setting, strategy, costs, blocks_, options.detail)},
          rules_{data_rules(setting, strategy)},
          hop_{ticks_of(hop_time(setting, strategy, calibrated_fabric(setting.cluster, setting.constants)))},
          blocking_{strategy.overlap == Overlap::off},
          last_share_{1.0 - (whole_micro_batches(strategy, setting.workload) -
                             micro_batch_count(strategy, setting.workload))} {}

    UnrolledStep run() && {
        auto const& shape = layout_.shape;
        auto const& row = schedule_row(strategy_.schedule());
        result_.refused = impossible_because(strategy_.schedule(), shape);
        if (!result_.refused.empty()) { return std::move(result_); }
        order_ = row.order(shape);
        write_streams();
        name_tasks();
        prepare();
        if (!result_.refused.empty()) { return std::move(result_); }
        if (!unroll()) { return std::move(result_); }
        for (int stage = 0; stage < shape.stages; ++stage) { finish(stage); }
        result_.program.names = units_.names.all();
        return std::move(result_);
    }

private:
    // ---- streams and sizes -----------------------------------------------------------------------------------------

    void write_streams() {
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
            }
        }
        result_.program.slowdown = rules_.slowdown;
    }

    void name_tasks() {
        send_name_ = units_.names.index("to the next stage");
        back_name_ = units_.names.index("to the stage before");
        receive_name_ = units_.names.index("receive");
        launch_name_ = units_.names.index("launch");
        beside_name_ = units_.names.index("behind products");
        reduce_name_ = units_.names.index("gradients");
        gather_name_ = units_.names.index("weights");
        accumulate_name_ = units_.names.index("accumulate gradients");
        update_name_ = units_.names.index("update");
        compress_name_ = units_.names.index("compress gradients");
        blocking_name_ = units_.names.index("synchronise");
        copy_name_ = units_.names.index("copy to and from the host");
        host_name_ = units_.names.index("update on the host");
    }

    [[nodiscard]] std::size_t place_of(int stage, int chunk) const {
        return static_cast<std::size_t>(stage) * static_cast<std::size_t>(layout_.shape.chunks) +
               static_cast<std::size_t>(chunk);
    }

    void prepare() {
        auto const places = layout_.chunks.size();
        auto const micro_batches = static_cast<std::size_t>(layout_.shape.micro_batches);
        for (ChunkWork const& work : layout_.chunks) { chunk_units_.push_back(units_of(work, blocks_, units_)); }
        stages_.resize(static_cast<std::size_t>(layout_.shape.stages));
        for (int stage = 0; stage < layout_.shape.stages; ++stage) {
            traffic_.push_back(stage_traffic(setting_, strategy_, layout_, stage));
            stages_[static_cast<std::size_t>(stage)].next = order_.first[static_cast<std::size_t>(stage)];
        }
        forward_.assign(places * micro_batches, no_task);
        back_.assign(places * micro_batches, no_task);
        done_forward_.assign(places * micro_batches, false);
        done_back_.assign(places * micro_batches, false);
        find_last_passes(places);
        std::int64_t const tasks = count_tasks();
        if (tasks > options_.most_tasks) {
            result_.refused = std::to_string(tasks) + " tasks are more than the " +
                              std::to_string(options_.most_tasks) + " that are simulated";
            return;
        }
        auto const size = static_cast<std::size_t>(tasks);
        result_.program.cost.reserve(size);
        result_.program.stream.reserve(size);
        result_.program.kind.reserve(size);
        result_.program.name.reserve(size);
        result_.program.edges.reserve(2 * size);
        if (rules_.sharded) { list_visits(); }
    }

    static bool makes_gradients(PassKind kind) {
        return kind == PassKind::backward || kind == PassKind::weight_gradient;
    }

    /// The pass of each place after which its gradients are whole, and the first forward pass.
    void find_last_passes(std::size_t places) {
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

    [[nodiscard]] std::int64_t count_tasks() const {
        std::int64_t tasks = 0;
        for (int stage = 0; stage < layout_.shape.stages; ++stage) {
            std::vector<std::array<std::int64_t, 4>> of_chunk(static_cast<std::size_t>(layout_.shape.chunks));
            for (int chunk = 0; chunk < layout_.shape.chunks; ++chunk) {
                for (std::size_t kind = 0; kind < 4; ++kind) {
                    std::int64_t sum = 2; // a transfer and the adding up
                    for (Unit const* unit : chunk_units_[place_of(stage, chunk)]) {
                        sum += static_cast<std::int64_t>(unit->passes[kind].tasks()) + (rules_.sharded ? 2 : 0);
                    }
                    of_chunk[static_cast<std::size_t>(chunk)][kind] = sum;
                }
            }
            for (Pass const& pass : order_.row(stage)) {
                tasks += of_chunk[pass.chunk][static_cast<std::size_t>(pass.kind)];
            }
        }
        return tasks;
    }

    /// Weights that ZeRO 3 gathers, visit by visit in the order of the row.
    void list_visits() {
        for (std::size_t i = 0; i < order_.passes.size(); ++i) {
            Pass const& pass = order_.passes[i];
            auto const& units = traffic_[0].units[pass.chunk];
            bool const forward = pass.kind == PassKind::forward;
            bool const gathers =
                rules_.every_micro_batch || i == (forward ? first_forward_ : last_gradient_)[place_of(0, pass.chunk)];
            for (std::size_t u = 0; u < units.size(); ++u) {
                Ticks const whole = units[forward ? u : units.size() - 1 - u].gather;
                double const times = forward ? 1.0 : rules_.backward_gathers;
                visits_.push_back({gathers ? static_cast<Ticks>(static_cast<double>(whole) * times) : 0});
            }
        }
    }

    // ---- rows ------------------------------------------------------------------------------------------------------

    /// Writes every row as far as its inputs have been written, round and round: numbers are in an order of time.
    bool unroll() {
        std::size_t done = 0;
        while (done < order_.passes.size()) {
            std::size_t const before = done;
            for (int stage = 0; stage < layout_.shape.stages; ++stage) {
                auto& state = stages_[static_cast<std::size_t>(stage)];
                std::size_t const end = order_.first[static_cast<std::size_t>(stage) + 1];
                while (state.next < end && row_is_ready(stage, state.next, end)) {
                    if (options_.stop.stop_requested()) {
                        result_.complete = false;
                        return false;
                    }
                    std::size_t const passes = order_.passes[state.next].joined && state.next + 1 < end ? 2 : 1;
                    write_passes(stage, state, state.next, passes);
                    state.next += passes, done += passes;
                }
            }
            if (done == before) {
                result_.refused = "the stages of the schedule wait for each other";
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] std::size_t slot(std::size_t place, int micro_batch) const {
        return place * static_cast<std::size_t>(layout_.shape.micro_batches) + static_cast<std::size_t>(micro_batch);
    }

    [[nodiscard]] std::optional<ChunkPlace> source_of(int stage, Pass const& pass) const {
        switch (pass.kind) {
        case PassKind::forward: return previous_place(layout_.shape, layout_.layout, {stage, pass.chunk});
        case PassKind::weight_gradient: return std::nullopt;
        default: return next_place(layout_.shape, layout_.layout, {stage, pass.chunk});
        }
    }

    [[nodiscard]] bool ready(int stage, Pass const& pass) const {
        auto const here = slot(place_of(stage, pass.chunk), pass.micro_batch);
        if (pass.kind == PassKind::weight_gradient) { return done_back_[here]; }
        bool const forward = pass.kind == PassKind::forward;
        if (!forward && !done_forward_[here]) { return false; }
        auto const from = source_of(stage, pass);
        if (!from) { return true; }
        auto const there = slot(place_of(from->stage, from->chunk), pass.micro_batch);
        return forward ? done_forward_[there] : done_back_[there];
    }

    /// Whether the next pass can be written; of two that run as one both.
    [[nodiscard]] bool row_is_ready(int stage, std::size_t next, std::size_t end) const {
        Pass const& pass = order_.passes[next];
        if (!ready(stage, pass)) { return false; }
        return !pass.joined || next + 1 == end || ready(stage, order_.passes[next + 1]);
    }

    /// A pass, or two that run as one: they take all their inputs before and hand on what they made after both.
    void write_passes(int stage, StageState& state, std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) { receive(stage, state, order_.passes[i]); }
        for (std::size_t i = first; i < first + count; ++i) { write_pass(stage, state, i); }
        for (std::size_t i = first; i < first + count; ++i) { send(stage, state, order_.passes[i]); }
    }

    /// The tasks that follow are of this pass.
    void note(Pass const& pass) {
        at_ = {.micro_batch = pass.micro_batch, .layer = -1, .phase = pass.kind, .chunk = pass.chunk};
    }

    void write_pass(int stage, StageState& state, std::size_t index) {
        Pass const& pass = order_.passes[index];
        share_ = pass.micro_batch == layout_.shape.micro_batches - 1 ? last_share_ : 1.0;
        note(pass);
        auto const& units = chunk_units_[place_of(stage, pass.chunk)];
        bool const forward = pass.kind == PassKind::forward;
        for (std::size_t i = 0; i < units.size(); ++i) {
            std::size_t const u = forward ? i : units.size() - 1 - i;
            at_.layer = layer_of(layout_.at(stage, pass.chunk), u);
            begin_visit(stage, state, index, u);
            write_unit(stage, state, (*units[u])[pass.kind]);
            end_visit(stage, state, index, u);
        }
        at_.layer = -1;
        if (makes_gradients(pass.kind)) { accumulate(stage, state, pass); }
    }

    // ---- tasks -----------------------------------------------------------------------------------------------------

    [[nodiscard]] StreamId stream(int stage, Role role) const {
        return result_.streams[static_cast<std::size_t>(stage)][static_cast<std::size_t>(role)];
    }
    TaskId add(int stage, Role role, WorkKind kind, Ticks cost, std::uint32_t name) {
        if (options_.places) { result_.places.push_back(at_); }
        return result_.program.add(stream(stage, role), kind, cost, name);
    }
    void wait(TaskId task, TaskId for_task) {
        if (for_task != no_task) { result_.program.wait(task, for_task); }
    }
    /// After the last kernel and all that the next one waits for.
    void wait_for_work(TaskId task, StageState const& state) {
        wait(task, state.compute);
        for (TaskId const one : state.pending) { wait(task, one); }
    }
    [[nodiscard]] Ticks scaled(Ticks cost) const {
        return share_ == 1.0 ? cost : static_cast<Ticks>(static_cast<double>(cost) * share_);
    }

    TaskId kernel(int stage, StageState& state, WorkKind kind, Ticks cost, std::uint32_t name) {
        TaskId const task = add(stage, Role::compute, kind, cost, name);
        for (TaskId const one : state.pending) { wait(task, one); }
        state.pending.clear();
        state.compute = task;
        return task;
    }

    void write_unit(int stage, StageState& state, UnitPass const& unit) {
        state.kernels.clear();
        for (PassItem const& item : unit.items) {
            if (item.role == Role::compute) {
                write_kernel(stage, state, item);
            } else {
                TaskId const task = add(stage, item.role, item.kind, scaled(item.cost), item.name);
                wait_for_work(task, state);
                state.pending.assign(1, task);
            }
        }
    }

    void write_kernel(int stage, StageState& state, PassItem const& item) {
        TaskId const launch =
            item.launch > 0 ? add(stage, Role::host, WorkKind::launch, scaled(item.launch), launch_name_) : no_task;
        if (launch != no_task) { wait(launch, std::exchange(state.host_waits, no_task)); }
        beside_.clear();
        for (std::size_t g = 0; g < group3_count; ++g) {
            if (item.beside[g] == 0) { continue; }
            constexpr std::array roles{Role::tensor, Role::context, Role::experts};
            constexpr std::array kinds{WorkKind::tensor, WorkKind::context, WorkKind::experts};
            TaskId const task = add(stage, roles[g], kinds[g], scaled(item.beside[g]), beside_name_);
            wait_for_work(task, state);
            beside_.push_back(task);
        }
        TaskId const task = kernel(stage, state, item.kind, scaled(item.cost), item.name);
        wait(task, launch);
        state.kernels.push_back(task);
        state.pending = beside_;
    }

    // ---- between stages --------------------------------------------------------------------------------------------

    void receive(int stage, StageState& state, Pass const& pass) {
        note(pass);
        state.pending.insert(state.pending.end(), state.sent_blocking.begin(), state.sent_blocking.end());
        state.sent_blocking.clear();
        auto const from = source_of(stage, pass);
        if (!from || from->stage == stage) { return; }
        auto const there = slot(place_of(from->stage, from->chunk), pass.micro_batch);
        TaskId const made = (pass.kind == PassKind::forward ? forward_ : back_)[there];
        if (made == no_task) { return; }
        if (!blocking_) {
            state.pending.push_back(made);
            return;
        }
        // `made` is what the sender computed last: both ends are busy with the transfer
        TaskId const task = add(stage, Role::receive, WorkKind::pipeline, hop_, receive_name_);
        wait(task, made);
        wait(task, state.compute);
        state.pending.push_back(task);
    }

    void send(int stage, StageState& state, Pass const& pass) {
        note(pass);
        if (pass.kind == PassKind::weight_gradient) { return; }
        bool const forward = pass.kind == PassKind::forward;
        auto const here = slot(place_of(stage, pass.chunk), pass.micro_batch);
        (forward ? done_forward_ : done_back_)[here] = true;
        ChunkPlace const at{stage, pass.chunk};
        auto const to =
            forward ? next_place(layout_.shape, layout_.layout, at) : previous_place(layout_.shape, layout_.layout, at);
        if (!to || to->stage == stage) { return; }
        TaskId const task = add(stage, forward ? Role::send_forward : Role::send_backward, WorkKind::pipeline, hop_,
                                forward ? send_name_ : back_name_);
        wait_for_work(task, state);
        (forward ? forward_ : back_)[here] = blocking_ ? state.compute : task;
        if (blocking_) { state.sent_blocking.push_back(task); }
    }

    // ---- data parallel ---------------------------------------------------------------------------------------------

    [[nodiscard]] UnitTraffic const& unit_traffic(int stage, Pass const& pass, std::size_t unit) const {
        return traffic_[static_cast<std::size_t>(stage)].units[pass.chunk][unit];
    }

    void begin_visit(int stage, StageState& state, std::size_t index, std::size_t unit) {
        Pass const& pass = order_.passes[index];
        UnitTraffic const& traffic = unit_traffic(stage, pass, unit);
        if (rules_.sharded) { gather_ahead(stage, state); }
        bool const first = pass.kind == PassKind::forward && index == first_forward_[place_of(stage, pass.chunk)];
        if (rules_.gathers && first && traffic.gather > 0) { gather_updated(stage, state, traffic.gather); }
        if (first && traffic.host_up > 0 && offloads_optimizer(strategy_.offload)) {
            state.pending.push_back(add(stage, Role::copies, WorkKind::offload, traffic.host_up, copy_name_));
        }
        bool const keeps_elsewhere = offloads_activations(strategy_.offload) && traffic.kept_copy > 0;
        if (keeps_elsewhere && (pass.kind == PassKind::backward || pass.kind == PassKind::input_gradient)) {
            TaskId const task = add(stage, Role::copies, WorkKind::offload, scaled(traffic.kept_copy), copy_name_);
            wait(task, blocking_ ? state.compute : state.before_visit);
            state.pending.push_back(task);
        }
        // a host that reads from the chip, or waits for transfers to be through, is a block ahead of it at most
        bool const close = strategy_.pp > 1 || chunk_units_[place_of(stage, pass.chunk)][unit]->routed;
        state.host_waits = close ? state.before_visit : no_task;
        state.before_visit = state.compute;
    }

    /// Weights of this visit and of those that may be gathered while it works.
    void gather_ahead(int stage, StageState& state) {
        std::size_t const ahead =
            rules_.in_the_way ? 0 : static_cast<std::size_t>(std::max(0, options_.gathered_ahead));
        for (; state.gathered < visits_.size() && state.gathered <= state.visit + ahead; ++state.gathered) {
            if (visits_[state.gathered].gather == 0) {
                gather_tasks_.push_back(no_task);
                continue;
            }
            TaskId const task = add(stage, Role::data, WorkKind::data, visits_[state.gathered].gather, gather_name_);
            if (rules_.in_the_way) {
                wait_for_work(task, state);
            } else {
                wait(task, state.compute);
            }
            gather_tasks_.push_back(task);
        }
        if (TaskId const task = gather_tasks_[state.visit]; task != no_task) { state.pending.push_back(task); }
        ++state.visit;
    }

    /// Updated weights of a unit before its first forward pass; what of them shows is under way since the step began.
    void gather_updated(int stage, StageState& state, Ticks cost) {
        double const shown = rules_.in_the_way ? 1.0 : rules_.shown;
        if (shown > 0.0 && state.compute == no_task) { gather_before(stage, state, shown); }
        Ticks const behind = cost - static_cast<Ticks>(shown * static_cast<double>(cost));
        if (behind > 0) { state.pending.push_back(add(stage, Role::data, WorkKind::data, behind, gather_name_)); }
    }

    /// The share of all weights of a stage that its first pass waits for.
    void gather_before(int stage, StageState& state, double share) {
        Ticks all = 0;
        for (auto const& chunk : traffic_[static_cast<std::size_t>(stage)].units) {
            for (UnitTraffic const& unit : chunk) {
                all += static_cast<Ticks>(share * static_cast<double>(unit.gather));
            }
        }
        if (all > 0) { state.pending.push_back(add(stage, Role::data, WorkKind::data, all, gather_name_)); }
    }

    void end_visit(int stage, StageState& state, std::size_t index, std::size_t unit) {
        Pass const& pass = order_.passes[index];
        UnitTraffic const& traffic = unit_traffic(stage, pass, unit);
        if (pass.kind == PassKind::forward) {
            if (offloads_activations(strategy_.offload) && traffic.kept_copy > 0) {
                TaskId const task = add(stage, Role::copies, WorkKind::offload, scaled(traffic.kept_copy), copy_name_);
                wait_for_work(task, state);
                if (blocking_) { state.pending.push_back(task); }
            }
            return;
        }
        if (!makes_gradients(pass.kind)) { return; }
        bool const whole = index == last_gradient_[place_of(stage, pass.chunk)];
        if (!whole && !rules_.every_micro_batch) { return; }
        if (traffic.compress > 0) {
            kernel(stage, state, WorkKind::optimizer, traffic.compress, compress_name_);
            state.kernels.push_back(state.compute);
        }
        if (traffic.reduce > 0) { reduce(stage, state, traffic); }
        if (whole && traffic.host_down > 0 && offloads_optimizer(strategy_.offload)) {
            TaskId const task = add(stage, Role::copies, WorkKind::offload, traffic.host_down, copy_name_);
            wait(task, state.data);
            wait(task, state.compute);
        }
    }

    /// Gradients of a unit: on their way when their bucket is full; a unit of several buckets sends them while it works.
    void reduce(int stage, StageState& state, UnitTraffic const& traffic) {
        if (rules_.in_the_way && rules_.sharded) {
            TaskId const task = add(stage, Role::data, WorkKind::data, traffic.reduce, reduce_name_);
            wait_for_work(task, state);
            state.pending.push_back(task);
            state.data = task;
            return;
        }
        double const shown = rules_.in_the_way ? 1.0 : rules_.shown;
        auto const later = static_cast<Ticks>(shown * static_cast<double>(traffic.reduce));
        state.held_back += later;
        state.bucket += traffic.reduce - later;
        state.bucket_elements += traffic.elements;
        if (rules_.sharded) { return flush(stage, state); } // block by block, as weights are gathered
        if (state.bucket_elements < options_.bucket_elements) { return; }
        auto const pieces = static_cast<std::size_t>(std::max(1.0, traffic.elements / options_.bucket_elements));
        Ticks left = state.bucket;
        for (std::size_t piece = 1; piece < pieces && state.kernels.size() > pieces; ++piece) {
            Ticks const part = state.bucket / static_cast<Ticks>(pieces);
            send_bucket(stage, state, part, state.kernels[state.kernels.size() * piece / pieces - 1]);
            left -= part;
        }
        state.bucket = left;
        flush(stage, state);
    }

    void send_bucket(int stage, StageState& state, Ticks cost, TaskId ready) {
        if (cost <= 0) { return; }
        state.data = add(stage, Role::data, WorkKind::data, cost, reduce_name_);
        wait(state.data, ready);
    }
    void flush(int stage, StageState& state) {
        send_bucket(stage, state, std::exchange(state.bucket, 0), state.compute);
        state.bucket_elements = 0.0;
    }

    void accumulate(int stage, StageState& state, Pass const& pass) {
        auto const cost = traffic_[static_cast<std::size_t>(stage)].accumulate[pass.chunk];
        if (cost > 0) { kernel(stage, state, WorkKind::optimizer, scaled(cost), accumulate_name_); }
        if (rules_.every_micro_batch) { flush(stage, state); }
    }

    /// What follows the last pass of a stage.
    void finish(int stage) {
        StageState& state = stages_[static_cast<std::size_t>(stage)];
        StageTraffic const& traffic = traffic_[static_cast<std::size_t>(stage)];
        at_ = {};
        flush(stage, state);
        if (state.held_back > 0) { send_bucket(stage, state, state.held_back, state.compute); }
        if (traffic.blocking > 0) {
            TaskId const task = add(stage, Role::data, WorkKind::data, traffic.blocking, blocking_name_);
            wait_for_work(task, state);
            state.data = task;
        }
        if (state.data != no_task) { state.pending.push_back(state.data); }
        if (traffic.host_update > 0) {
            TaskId const task = add(stage, Role::copies, WorkKind::offload, traffic.host_update, host_name_);
            wait_for_work(task, state);
            state.pending.push_back(task);
        }
        if (traffic.update > 0) { kernel(stage, state, WorkKind::optimizer, traffic.update, update_name_); }
    }

    StepSetting const& setting_;
    Strategy const& strategy_;
    SimulationOptions const& options_;
    StepLayout layout_;
    BlockOrder blocks_;
    StepUnits units_;
    DataRules rules_;
    Ticks hop_;
    bool blocking_;
    double last_share_, share_ = 1.0; ///< of a micro-batch: of the last one, of the one being written
    PipelineOrder order_;
    std::vector<std::vector<Unit const*>> chunk_units_; ///< by place, in the order of the forward pass
    std::vector<StageTraffic> traffic_;                 ///< by stage
    std::vector<StageState> stages_;
    std::vector<TaskId> forward_, back_; ///< by place and micro-batch: what brings its output
    std::vector<bool> done_forward_, done_back_;
    std::vector<std::size_t> last_gradient_, first_forward_; ///< by place: index of a pass
    std::vector<Visit> visits_;
    std::vector<TaskId> gather_tasks_; ///< by visit
    std::vector<TaskId> beside_;
    TaskPlace at_; ///< what is being written
    std::uint32_t send_name_ = 0, back_name_ = 0, receive_name_ = 0, launch_name_ = 0, beside_name_ = 0;
    std::uint32_t reduce_name_ = 0, gather_name_ = 0, accumulate_name_ = 0, update_name_ = 0, compress_name_ = 0;
    std::uint32_t blocking_name_ = 0, copy_name_ = 0, host_name_ = 0;
    UnrolledStep result_;
};

} // namespace

UnrolledStep unroll_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                         SimulationOptions const& options) {
    return Unroller{setting, strategy, costs, options}.run();
}

} // namespace headroom::simulation
