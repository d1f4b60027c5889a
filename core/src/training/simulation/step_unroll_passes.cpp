#include "step_unroller.hpp"

namespace headroom::training::simulation {

using namespace headroom::laws;

namespace {

/// The block that a unit of a chunk is; -1 for the ends of the model.
std::int32_t layer_of(ChunkWork const& work, std::size_t unit) {
    int const block = static_cast<int>(unit) - (work.embedding ? 1 : 0);
    return block >= 0 && block < work.blocks ? work.first_block + block : -1;
}

} // namespace

bool Unroller::unroll() {
    std::size_t done = 0;
    while (done < order_.passes.size()) {
        std::size_t const before = done;
        for (int stage = 0; stage < layout_.shape.stages; ++stage) {
            auto& state = stages_[static_cast<std::size_t>(stage)];
            std::size_t& next = next_[static_cast<std::size_t>(stage)];
            std::size_t const end = order_.first[static_cast<std::size_t>(stage) + 1];
            while (next < end && next_is_ready(stage, next, end)) {
                if (options_.stop.stop_requested()) {
                    result_.complete = false;
                    return false;
                }
                std::size_t const passes = order_.passes[next].joined && next + 1 < end ? 2 : 1;
                write_passes(stage, state, next, passes);
                next += passes, done += passes;
            }
        }
        if (done == before) {
            result_.refused = "the stages of the schedule wait for each other";
            return false;
        }
    }
    return true;
}

Unroller::Neighbour Unroller::source_of(int stage, Pass const& pass) const {
    switch (pass.kind) {
    case PassKind::forward: return neighbours_[place_of(stage, pass.chunk)].before;
    case PassKind::weight_gradient: return {};
    default: return neighbours_[place_of(stage, pass.chunk)].after;
    }
}

bool Unroller::ready(int stage, Pass const& pass) const {
    auto const here = slot(place_of(stage, pass.chunk), pass.micro_batch);
    if (pass.kind == PassKind::weight_gradient) { return done_back_[here] != 0; }
    bool const forward = pass.kind == PassKind::forward;
    if (!forward && done_forward_[here] == 0) { return false; }
    auto const from = source_of(stage, pass);
    if (from.place == nowhere) { return true; }
    return (forward ? done_forward_ : done_back_)[slot(from.place, pass.micro_batch)] != 0;
}

bool Unroller::next_is_ready(int stage, std::size_t next, std::size_t end) const {
    Pass const& pass = order_.passes[next];
    if (!ready(stage, pass)) { return false; }
    return !pass.joined || next + 1 == end || ready(stage, order_.passes[next + 1]);
}

void Unroller::write_passes(int stage, StageState& state, std::size_t first, std::size_t count) {
    arriving_.swap(state.sent_blocking);
    for (std::size_t i = first; i < first + count; ++i) { receive(stage, state, order_.passes[i]); }
    state.pending.insert(state.pending.end(), arriving_.begin(), arriving_.end());
    arriving_.clear();
    for (std::size_t i = first; i < first + count; ++i) { write_pass(stage, state, i); }
    for (std::size_t i = first; i < first + count; ++i) { send(stage, state, order_.passes[i]); }
    if (long_run_) {
        for (std::size_t i = first; i < first + count; ++i) { update_between(stage, state, i); }
    }
}

void Unroller::note(Pass const& pass) {
    at_ = {.micro_batch = pass.micro_batch, .layer = -1, .phase = pass.kind, .chunk = pass.chunk};
}

void Unroller::write_pass(int stage, StageState& state, std::size_t index) {
    Pass const& pass = order_.passes[index];
    share_ = pass.micro_batch == layout_.shape.micro_batches - 1 ? last_share_ : 1.0;
    note(pass);
    if (recurrence_ != nullptr && is_plain(stage, index) &&
        recurrence_->queue_is_empty(static_cast<std::size_t>(stage))) {
        write_plain_pass(stage, state, index);
    } else {
        write_blocks(stage, state, index);
    }
    int const after = pass.micro_batch - options_.marked, round = layout_.shape.stages;
    bool const marked = options_.marked >= 0 && after >= 0 && after <= 2 * round && after % round == 0;
    if (marked && makes_gradients(pass.kind) && pass.chunk == 0) {
        recurrence_->mark(static_cast<std::size_t>(stage), state.buckets.held_back + state.buckets.ticks);
    }
}

void Unroller::write_blocks(int stage, StageState& state, std::size_t index) {
    Pass const& pass = order_.passes[index];
    if (strategy_.pp > 1) { // the host waits until transfers are through and the stage is idle [MegatronLM]
        state.host_waits = state.pending;
        if (state.last.any != no_task) { state.host_waits.push_back(state.last.any); }
    }
    auto const& units = chunk_units_[place_of(stage, pass.chunk)];
    bool const repeats = may_repeat(stage, index);
    visits_known_ = 0;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (repeats) { i += repeated(stage, state, index, i); }
        std::size_t const u = pass.kind == PassKind::forward ? i : units.size() - 1 - i;
        at_.layer = layer_of(layout_.at(stage, pass.chunk), u);
        begin_visit(stage, state, index, u);
        write_unit(stage, state, (*units[u])[pass.kind]);
        end_visit(stage, state, index, u);
    }
    at_.layer = -1;
    if (makes_gradients(pass.kind)) { accumulate(stage, state, pass); }
}

bool Unroller::is_plain(int stage, std::size_t index) const {
    if (!may_be_plain_ || share_ != 1.0) { return false; }
    Pass const& pass = order_.passes[index];
    auto const place = place_of(stage, pass.chunk);
    bool const first = pass.kind == PassKind::forward && index == first_forward_[place];
    return !first && !(sends_gradients_[place] && reduces_after(stage, index));
}

void Unroller::write_plain_pass(int stage, StageState& state, std::size_t index) {
    Pass const& pass = order_.passes[index];
    auto& price = plain_[4 * alike_[place_of(stage, pass.chunk)] + static_cast<std::size_t>(pass.kind)];
    if (!price.known) {
        recurrence_->begin_pass(static_cast<std::size_t>(stage));
        write_blocks(stage, state, index);
        price = recurrence_->end_pass(static_cast<std::size_t>(stage), state.pending);
        return;
    }
    auto const [kernels, after] = recurrence_->add(stream(stage, Role::compute), price, state.pending);
    state.last.any = state.last.made = state.last.before_visit = kernels;
    state.pending.clear();
    if (after != no_task) { state.pending.push_back(after); }
}

void Unroller::write_unit(int stage, StageState& state, UnitPass const& unit) {
    for (PassItem const& item : unit.items) {
        if (item.role == Role::compute) {
            write_kernel(stage, state, item);
        } else if (item.role == Role::host) {
            add(stage, Role::host, item.kind, scaled(item.launch), item.name);
        } else {
            TaskId const task = add(stage, item.role, item.kind, scaled(item.cost), item.name);
            wait_for_work(task, state);
            state.pending.assign(1, task);
        }
    }
}

void Unroller::write_kernel(int stage, StageState& state, PassItem const& item) {
    TaskId const launch =
        item.launch > 0 ? add(stage, Role::host, WorkKind::launch, scaled(item.launch), launch_name_) : no_task;
    if (launch != no_task) {
        for (TaskId const one : state.host_waits) { wait(launch, one); }
        state.host_waits.clear();
    }
    overlapping_.clear();
    for (std::size_t g = 0; g < layer_group_count; ++g) {
        if (item.overlapping[g] == 0) { continue; }
        TaskId const task = add(stage, group_roles[g], group_kinds[g], scaled(item.overlapping[g]), overlapping_name_);
        wait_for_work(task, state);
        overlapping_.push_back(task);
    }
    TaskId const task = kernel(stage, state, item.kind, scaled(item.cost), item.name);
    wait(task, launch);
    state.pending = overlapping_;
    send_full_buckets(stage, state);
}

void Unroller::receive(int stage, StageState& state, Pass const& pass) {
    note(pass);
    auto const from = source_of(stage, pass);
    if (!from.transfers) { return; }
    TaskId const made = (pass.kind == PassKind::forward ? forward_ : back_)[slot(from.place, pass.micro_batch)];
    Role const role = pass.kind == PassKind::forward ? Role::receive : Role::receive_back;
    if (!blocking_) { return state.pending.push_back(made); }
    arriving_.push_back(receive_blocking(stage, state, role, made));
}

TaskId Unroller::receive_blocking(int stage, StageState const& state, Role role, TaskId made) {
    TaskId const task = add(stage, role, WorkKind::pipeline, hop_, receive_name_);
    for (std::size_t i = made + std::size_t{1}; made_[i] != no_task; ++i) { wait(task, made_[i]); }
    wait_for_work(task, state);
    arriving_.push_back(made_[made]); // where links are shared sending takes longer
    return task;
}

TaskId Unroller::made_by(StageState const& state, TaskId sent) {
    auto const first = static_cast<TaskId>(made_.size());
    made_.push_back(sent);
    if (state.last.any != no_task) { made_.push_back(state.last.any); }
    made_.insert(made_.end(), state.pending.begin(), state.pending.end());
    made_.push_back(no_task);
    return first;
}

void Unroller::send(int stage, StageState& state, Pass const& pass) {
    note(pass);
    if (pass.kind == PassKind::weight_gradient) { return; }
    bool const forward = pass.kind == PassKind::forward;
    auto const here = slot(place_of(stage, pass.chunk), pass.micro_batch);
    (forward ? done_forward_ : done_back_)[here] = 1;
    auto const& [before, after] = neighbours_[place_of(stage, pass.chunk)];
    if (!(forward ? after : before).transfers) { return; }
    TaskId const task = add(stage, forward ? Role::send_forward : Role::send_backward, WorkKind::pipeline, hop_,
                            forward ? send_name_ : back_name_);
    wait_for_work(task, state);
    (forward ? forward_ : back_)[here] = blocking_ ? made_by(state, task) : task;
    if (blocking_) { state.sent_blocking.push_back(task); }
}

} // namespace headroom::training::simulation
